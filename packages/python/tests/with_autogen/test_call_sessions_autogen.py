"""A remote agent that keeps the conversation of a team's member, or of an agent of the core
runtime."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from autogen_core import AgentId, SingleThreadedAgentRuntime
from conftest import Cast
from teams import assistant, round_robin

from waybill_sdk import Agent, Work
from waybill_sdk.adapter.words import text_of
from waybill_sdk.autogen import RemoteAgent, remote_core_agent


class Keeping:
    """Records what it was told, session by session."""

    def __init__(self, worker: Agent, capability: str = "chat") -> None:
        self.told: dict[str | None, list[list[str]]] = {}
        worker.serve(capability)(self._keep)

    async def _keep(self, work: Work) -> Any:
        key = None if work.session is None else work.session.key
        if work.session is not None:
            work.session.found(key in self.told)
        given = [text_of(each) for each in work.body.get("messages", [])] or [work.input["words"]]
        turns = self.told.setdefault(key, [])
        turns.append(given)
        return {"words": f"reply {len(turns)}"} if work.input is not None else f"reply {len(turns)}"


async def test_a_member_sends_what_is_new_and_continues_from_its_saved_state(cast: Cast) -> None:
    worker, owner = await cast.agent("worker"), await cast.agent("owner")
    keeping = Keeping(worker)
    await worker.start()

    def made() -> Any:
        remote = RemoteAgent("remote", agent=owner, capability="chat", to="worker", session=True)
        return round_robin(remote, assistant("planner", *["Noted."] * 3))

    team = made()
    await team.run(task="one")
    await team.run(task="two")
    again = made()
    await again.load_state(await team.save_state())
    await again.run(task="three")
    assert [*keeping.told.values()] == [[["one"], ["Noted.", "two"], ["Noted.", "three"]]]
    # Another team is another conversation, and so is a team after a reset.
    other = made()
    await other.run(task="four")
    await other.reset()
    await other.run(task="five")
    assert [turns[0] for turns in keeping.told.values()] == [["one"], ["four"], ["five"]]


async def test_a_member_sends_everything_again_once_its_session_is_lost(cast: Cast) -> None:
    worker, owner = await cast.agent("worker"), await cast.agent("owner")
    keeping = Keeping(worker)
    await worker.start()
    remote = RemoteAgent("remote", agent=owner, capability="chat", to="worker", session=True)
    team = round_robin(remote)
    await team.run(task="one")
    keeping.told.clear()
    await team.run(task="two")
    await team.run(task="three")
    assert [*keeping.told.values()] == [
        [["two"], ["one", "reply 1", "two", "reply 1", "three"]],
    ]


@dataclass
class Words:
    words: str = field(default="")


async def test_an_agent_of_the_core_runtime_has_a_session_of_its_own(cast: Cast) -> None:
    worker, owner = await cast.agent("worker"), await cast.agent("owner")
    keeping = Keeping(worker)
    await worker.start()
    runtime = SingleThreadedAgentRuntime()
    options: dict[str, Any] = {"takes": Words, "gives": Words, "to": "worker"}
    kind = remote_core_agent(owner, "chat", session=True, **options)
    await kind.register(runtime, "remote", kind)
    runtime.start()
    for key, words in (("a room", "one"), ("a room", "two"), ("other", "three")):
        await runtime.send_message(Words(words), AgentId("remote", key.replace(" ", "_")))
    await runtime.stop()
    assert [*keeping.told.values()] == [[["one"], ["two"]], [["three"]]]


async def test_without_a_session_no_conversation_is_shared(cast: Cast) -> None:
    worker, owner = await cast.agent("worker"), await cast.agent("owner")
    keeping = Keeping(worker)
    await worker.start()
    team = round_robin(RemoteAgent("remote", agent=owner, capability="chat", to="worker"))
    await team.run(task="one")
    await team.run(task="two")
    assert keeping.told == {None: [["one"], ["one", "reply 1", "two"]]}
