"""Sessions of real agents and teams of AutoGen: their saved states."""

from __future__ import annotations

import asyncio
import threading
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from autogen_agentchat.agents import AssistantAgent
from autogen_agentchat.base import Handoff
from autogen_agentchat.conditions import HandoffTermination, TextMentionTermination
from autogen_agentchat.teams import Swarm
from conftest import Cast
from processes import Place
from teams import Counting, assistant, counting, round_robin, transfer_to

from waybill_sdk import Agent, HandoffResult, SessionStore, Work, new_id
from waybill_sdk.autogen import serve


@pytest.fixture
def session() -> str:
    # The hub is shared by a module and remembers the holder of a session.
    return new_id()


async def say(owner: Agent, words: str, session: str | None) -> HandoffResult:
    return await owner.hand_off("chat", input=words, session=session, timeout=90).result()


@pytest.mark.parametrize("is_team", [False, True])
async def test_an_agent_with_a_model_is_shown_the_earlier_turns(
    cast: Cast, is_team: bool, session: str
) -> None:
    worker, owner = await cast.agent("worker"), await cast.agent("owner")
    models: list[Counting] = []

    def made(work: Work) -> Any:
        models.append(Counting())
        agent = AssistantAgent("counter", model_client=models[-1])
        return round_robin(agent) if is_team else agent

    serve(worker, "chat", made)
    await worker.start()
    first = await say(owner, "Bergen", session)
    second = await say(owner, "Where?", session)
    assert models[1].shown == ["Bergen", "heard 1", "Where?"]
    assert (first.session, second.session) == ("begun", "continued")
    # Earlier turns are not part of the result.
    assert [each["content"][0]["text"] for each in second.messages] == ["heard 3"]
    assert (await say(owner, "And now?", session=None)).output == "heard 1"


async def test_a_turn_needs_no_thread_of_its_loops_executor(cast: Cast, session: str) -> None:
    worker, owner = await cast.agent("worker"), await cast.agent("owner")
    serve(worker, "chat", lambda _: counting("counter"))
    await worker.start()
    let_go = threading.Event()
    loop = asyncio.get_running_loop()
    # Like crews without async, each in a thread that waits for another agent.
    busy = [loop.run_in_executor(None, let_go.wait) for _ in range(64)]
    try:
        assert (await say(owner, "one", session)).output == "heard 1"
    finally:
        let_go.set()
        await asyncio.gather(*busy)


async def test_a_conversation_that_waits_for_an_answer_admits_no_other_turn(
    cast: Cast, session: str
) -> None:
    worker, owner = await cast.agent("worker"), await cast.agent("owner")

    def plan(work: Work) -> Swarm:
        asks = work.resume is None and work.input == "plan"
        says = [transfer_to("user")] if asks else ["It is settled. DONE"]
        handoffs = [Handoff(target="user", message="Which city?")]
        planner = assistant("planner", *says, handoffs=handoffs)
        stop = HandoffTermination(target="user") | TextMentionTermination("DONE")
        return Swarm([planner], termination_condition=stop)

    looked_at: dict[str, asyncio.Event] = defaultdict(asyncio.Event)
    loop = asyncio.get_running_loop()

    class Seen(SessionStore):
        def read(self, thread: str, handoff_id: str) -> Any:
            read = super().read(thread, handoff_id)
            loop.call_soon_threadsafe(lambda: looked_at[handoff_id].set())
            return read

    serve(worker, {"name": "plan", "max_attempts": 32}, plan, sessions=Seen())
    await worker.start()
    asking = owner.hand_off("plan", input="plan", session=session)
    question = await anext(asking.questions)
    other = owner.hand_off("plan", input="more", session=session, timeout=60)
    await looked_at[other.id].wait()
    await asking.answer(question.id, "Lisbon")
    assert (await asking.result()).session == "begun"
    result = await other.result()
    assert result.session == "continued"
    assert result.attempt > 1


@pytest.mark.parametrize("when", ["before", "after"])
async def test_a_turn_whose_process_is_killed_while_storing_it_is_in_the_session_once(
    place: Place, cast: Cast, tmp_path: Path, when: str, session: str
) -> None:
    owner = await cast.agent("owner")
    program = "with_autogen/recipient_sessions_autogen"
    worker = await place.python(program, "worker", str(tmp_path), when)
    await worker.until("ready")
    assert (await say(owner, "one", session)).output == "heard 1"
    second = asyncio.ensure_future(say(owner, "two", session))
    await worker.ended()
    again = await place.python(program, "worker", str(tmp_path), when)
    await again.until("ready")
    result = await second
    assert (result.output, result.session) == ("heard 3", "continued")
    assert (await say(owner, "three", session)).output == "heard 5"
