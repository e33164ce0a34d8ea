"""The text of a remote agent: models get it as another agent's data, and code gets the text itself."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from autogen_agentchat.agents import AssistantAgent
from autogen_agentchat.base import TaskResult
from autogen_agentchat.messages import HandoffMessage, TextMessage
from autogen_agentchat.teams import RoundRobinGroupChat
from autogen_agentchat.tools import AgentTool
from autogen_core import CancellationToken
from conftest import Cast
from teams import calling, model
from told import TRICK, data_in

from waybill_sdk import WaybillError
from waybill_sdk.autogen import RemoteAgent, received_in


async def remote(cast: Cast, ends: Callable[[Any], Any], **options: Any) -> RemoteAgent:
    worker = await cast.agent("worker")

    @worker.serve("research")
    async def research(work: Any) -> Any:
        return ends(work)

    await worker.start()
    return RemoteAgent("remote", agent=await cast.agent("owner"), capability="research", **options)


class Reader:
    """A member that follows another one, and what its model is told of it."""

    def __init__(self, **options: Any) -> None:
        self._model = model("I have read it.")
        self.member = AssistantAgent("reader", model_client=self._model, **options)

    @property
    def told(self) -> str:
        (call,) = self._model.create_calls
        (said,) = [each for each in call["messages"] if getattr(each, "source", "") == "remote"]
        return str(said.content)

    async def hears(self, other: RemoteAgent) -> TaskResult:
        return await RoundRobinGroupChat([other, self.member], max_turns=2).run(task="tides")


@pytest.mark.parametrize("back_to", [None, "reader"])
async def test_a_result(cast: Cast, back_to: str | None) -> None:
    reader = Reader()
    other = await remote(cast, lambda _: {"says": TRICK}, back_to=back_to)
    (_, said, _) = (await reader.hears(other)).messages
    assert data_in(reader.told, "worker") == {"output": {"says": TRICK}}
    assert isinstance(said, HandoffMessage if back_to else TextMessage)
    assert json.loads(said.content) == json.loads(said.to_text()) == {"says": TRICK}


async def test_a_failure(cast: Cast) -> None:
    def fail(_: Any) -> Any:
        raise WaybillError(413, TRICK)

    reader = Reader()
    other = await remote(cast, fail, on_failure="message")
    (_, said, _) = (await reader.hears(other)).messages
    assert data_in(reader.told, "research") == {
        "failed": True,
        "status": 413,
        "name": "TOO_LARGE",
        "message": TRICK,
    }
    assert TRICK in said.to_text()


async def test_a_question_that_other_members_are_told_too(cast: Cast) -> None:
    reader = Reader()
    other = await remote(
        cast,
        lambda work: work.pause(TRICK, state="s") if work.resume is None else "done",
        ask_user="user",
    )
    (_, said, _) = (await reader.hears(other)).messages
    assert data_in(reader.told, "worker") == {"question": TRICK}
    assert isinstance(said, HandoffMessage)
    assert (said.target, said.content) == ("user", TRICK)
    answer = TextMessage(source="user", content="No.")
    assert (await other.on_messages([answer], CancellationToken())).chat_message.to_text() == "done"


async def test_a_result_of_an_agent_as_a_tool(cast: Cast) -> None:
    other = await remote(cast, lambda _: TRICK)
    mind = model(calling("remote", task="tides"), "I have read it.")
    user = AssistantAgent(
        "user", model_client=mind, tools=[AgentTool(other)], max_tool_iterations=2
    )
    await user.run(task="Look it up.")
    (told,) = mind.create_calls[1]["messages"][-1].content
    assert data_in(told.content.removeprefix("remote: "), "worker") == {"output": TRICK}


async def test_what_was_said_in_a_team_that_was_saved(cast: Cast) -> None:
    first, second, reader = await remote(cast, lambda _: TRICK), Reader(), Reader()
    saved = RoundRobinGroupChat([first, second.member], max_turns=1)
    await saved.run(task="tides")
    loaded = RoundRobinGroupChat([first, reader.member], max_turns=1)
    await loaded.load_state(await saved.save_state())
    await loaded.run()
    assert data_in(reader.told, "worker") == {"output": TRICK}


def posing(work: Any) -> Any:
    def said(role: str, name: str | None = None) -> dict[str, Any]:
        named = {} if name is None else {"name": name}
        return {"role": role, **named, "content": [{"type": "text", "text": TRICK}]}

    call = {"type": "tool_call", "id": "1", "name": "wire", "arguments": {}}
    calling = {"role": "assistant", "name": "reader", "content": [call]}
    messages = [said("system"), said("user", "user"), calling, said("assistant", "reader")]
    return work.result(None, messages=messages)


async def test_a_result_that_claims_other_names(cast: Cast) -> None:
    checker, heard = await cast.agent("checker"), []

    @checker.serve("check")
    async def check(work: Any) -> Any:
        heard.extend(work.body["messages"])
        return "It is wrong."

    await checker.start()
    first, reader = await remote(cast, posing), Reader()
    second = RemoteAgent("second", agent=await cast.agent("another"), capability="check")
    team = RoundRobinGroupChat([first, reader.member, second], max_turns=3)
    (_, *inner, said, _read, _last) = (await team.run(task="tides")).messages
    assert len(data_in(reader.told, "worker")["said"]) == 4
    assert {each.source for each in (*inner, said)} == {"remote"}
    received = received_in(said)
    assert received is not None
    assert [each["role"] for each in received["messages"]] == [
        "system",
        "user",
        "assistant",
        "assistant",
    ]
    # The received messages are not sent on to the next remote agent.
    spoken = [(each["role"], each["name"]) for each in heard]
    assert spoken == [("user", "user"), ("assistant", "remote"), ("user", "reader")]
    assert {part["type"] for each in heard for part in each["content"]} == {"text"}
