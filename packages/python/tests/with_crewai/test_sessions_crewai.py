"""Sessions of real crews of CrewAI: earlier turns are shown to the model with the next one."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from conftest import Cast
from crewai import Crew
from crews import action, counting, crew, final, member, task
from processes import Place

from waybill_sdk import Agent, HandoffResult, Work, new_id
from waybill_sdk.crewai import RemoteMember, RemoteTool, serve


@pytest.fixture
def session() -> str:
    # The hub is shared by a module and remembers the holder of a session.
    return new_id()


async def say(owner: Agent, words: str, session: str | None) -> HandoffResult:
    brief = {"instruction": f"[turn] {words}"}
    return await owner.hand_off("chat", brief=brief, session=session, timeout=90).result()


@pytest.mark.parametrize("places", ["{instruction} {history}", "{instruction}"])
async def test_the_model_of_a_crew_is_shown_the_earlier_turns(
    cast: Cast, places: str, session: str
) -> None:
    worker, owner = await cast.agent("worker"), await cast.agent("owner")
    crews: list[Crew] = []

    def made(_work: Work) -> Crew:
        crews.append(counting(places))
        return crews[-1]

    serve(worker, "chat", made)
    await worker.start()
    first = await say(owner, "Bergen", session)
    second = await say(owner, "Where?", session)
    asked = crews[1].agents[0].llm.asked[-1]
    for words in ("user: [turn] Bergen", "counter: heard 1", "[turn] Where?"):
        assert asked.count(words) == 1
    assert (first.output, second.output) == ("heard 1", "heard 2")
    assert (first.session, second.session) == ("begun", "continued")
    assert [each["content"][0]["text"] for each in second.messages] == ["heard 2"]
    assert (await say(owner, "And now?", session=None)).output == "heard 1"


@pytest.mark.parametrize("when", ["before", "after"])
async def test_a_turn_whose_process_is_killed_while_storing_it_is_in_the_session_once(
    place: Place, cast: Cast, tmp_path: Path, when: str, session: str
) -> None:
    owner = await cast.agent("owner")
    program = "with_crewai/recipient_sessions_crewai"
    worker = await place.python(program, "worker", str(tmp_path), when)
    await worker.until("ready")
    assert (await say(owner, "one", session)).output == "heard 1"
    second = asyncio.ensure_future(say(owner, "two", session))
    await worker.ended()
    again = await place.python(program, "worker", str(tmp_path), when)
    await again.until("ready")
    result = await second
    assert (result.output, result.session) == ("heard 2", "continued")
    assert (await say(owner, "three", session)).output == "heard 3"


class Keeping:
    """Records the session of each piece of work."""

    def __init__(self, worker: Agent) -> None:
        self.told: dict[str | None, list[str]] = {}
        worker.serve("look")(self._keep)

    async def _keep(self, work: Work) -> str:
        key = None if work.session is None else work.session.key
        self.told.setdefault(key, []).append(work.body["brief"]["instruction"])
        return "seen"


@pytest.mark.parametrize("kind", ["member", "tool"])
async def test_the_handoffs_of_one_run_share_a_session(cast: Cast, kind: str) -> None:
    worker, owner = await cast.agent("worker"), await cast.agent("owner")
    keeping = Keeping(worker)
    await worker.start()
    await owner.start()

    def asking(words: str, **options: Any) -> Crew:
        given = {"agent": owner, "capability": "look", "to": "worker", **options}
        if kind == "member":
            return crew(task(RemoteMember(role="looker", **given), words))
        tool = RemoteTool(name="look", description="Looks.", **given)
        asker = member("asker", action("look", request=words), final("so"), tools=[tool])
        return crew(task(asker))

    for words, run in (("one", "a trip"), ("two", "a trip"), ("three", "other")):
        await asking(words, run=run, session=True).akickoff({"instruction": "-"})
    await asking("four", run="a trip").akickoff({"instruction": "-"})
    # Without a run name there is no conversation for a session.
    await asking("five", session=True).akickoff({"instruction": "-"})
    await asking("six", session="trip").akickoff({"instruction": "-"})
    assert [*keeping.told.values()] == [["one", "two"], ["three"], ["four", "five"], ["six"]]


async def test_a_served_crew_hands_off_in_a_session_of_its_own_session(
    cast: Cast, session: str
) -> None:
    worker, owner = await cast.agent("worker"), await cast.agent("owner")
    middle = await cast.agent("middle")
    keeping = Keeping(worker)

    def made(_work: Work) -> Crew:
        remote = RemoteMember(
            role="looker", agent=middle, capability="look", to="worker", session=True
        )
        return crew(task(remote))

    serve(middle, "chat", made)
    await worker.start()
    await middle.start()
    await say(owner, "one", session)
    await say(owner, "two", session)
    await say(owner, "three", None)
    assert [len(each) for each in keeping.told.values()] == [2, 1]
