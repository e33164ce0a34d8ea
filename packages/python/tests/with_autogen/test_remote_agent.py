"""A remote agent as a member of real AutoGen teams, and as an agent of the core runtime."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

import pytest
import recipient
from autogen_agentchat.base import Handoff, TaskResult
from autogen_agentchat.conditions import HandoffTermination, TextMentionTermination
from autogen_agentchat.messages import HandoffMessage, ModelClientStreamingChunkEvent, TextMessage
from autogen_agentchat.teams import RoundRobinGroupChat
from autogen_core import AgentId, CancellationToken, SingleThreadedAgentRuntime
from autogen_core.models import RequestUsage
from conftest import Cast, Hanging
from processes import Place
from teams import assistant, round_robin, selector, swarm, transfer_to

from waybill_sdk import Agent, HandoffResult, WaybillError
from waybill_sdk.adapter.media import artifact_of
from waybill_sdk.autogen import RemoteAgent, remote_core_agent, serve


async def researching(cast: Cast, seen: list[Any] | None = None) -> Agent:
    worker = await cast.agent("worker")

    @worker.serve({"name": "research", "takes": "conversation"})
    async def research(work: Any) -> str:
        if seen is not None:
            said = [
                (each.get("name"), each["content"][0]["text"]) for each in work.body["messages"]
            ]
            seen.append((work.handoff_id, said))
        await work.progress("reading")
        return "all about tides"

    await worker.start()
    return worker


def said(result: TaskResult) -> list[tuple[str, str]]:
    return [
        (each.source, each.to_text()) for each in result.messages if hasattr(each, "to_model_text")
    ]


@pytest.mark.parametrize("team", [round_robin, selector])
async def test_it_takes_its_turn_and_is_told_everything_that_was_said(
    cast: Cast, team: Any
) -> None:
    seen: list[Any] = []
    await researching(cast, seen)
    owner = await cast.agent("owner")
    planner = assistant("planner", "Look up tides.")
    remote = RemoteAgent("remote", agent=owner, capability="research", to="worker")
    result = await team(planner, remote).run(task="Write about the sea.")
    assert said(result)[-1] == ("remote", "all about tides")
    assert seen[0][1] == [("user", "Write about the sea."), ("planner", "Look up tides.")]


async def test_a_swarm_hands_the_turn_to_it_and_gets_it_back(cast: Cast) -> None:
    await researching(cast)
    owner = await cast.agent("owner")
    planner = assistant(
        "planner", transfer_to("remote"), "final: DONE", handoffs=[Handoff(target="remote")]
    )
    remote = RemoteAgent(
        "remote", agent=owner, capability="research", to="worker", back_to="planner"
    )
    result = await swarm(planner, remote).run(task="tides")
    assert [("remote", "all about tides"), ("planner", "final: DONE")] == said(result)[-2:]


async def test_its_progress_is_in_the_stream_of_the_team(cast: Cast) -> None:
    await researching(cast)
    owner = await cast.agent("owner")
    remote = RemoteAgent("remote", agent=owner, capability="research", to="worker")
    chunks = [
        each.content
        async for each in round_robin(remote).run_stream(task="tides")
        if isinstance(each, ModelClientStreamingChunkEvent)
    ]
    assert chunks == ["reading"]


async def test_a_repeated_step_finds_its_own_handoff(cast: Cast) -> None:
    seen: list[Any] = []
    await researching(cast, seen)
    owner = await cast.agent("owner")
    asked = TextMessage(source="user", content="tides")
    for _ in range(2):
        remote = RemoteAgent("remote", agent=owner, capability="research", to="worker")
        response = await remote.on_messages([asked], CancellationToken())
        assert response.chat_message.to_text() == "all about tides"
    assert len(seen) == 1


async def failing(cast: Cast) -> Agent:
    worker = await cast.agent("worker")

    @worker.serve("research")
    async def research(work: Any) -> str:
        raise WaybillError(500, "The library is closed.", retryable=False)

    await worker.start()
    return await cast.agent("owner")


async def test_a_failure_is_raised(cast: Cast) -> None:
    owner = await failing(cast)
    remote = RemoteAgent("remote", agent=owner, capability="research", to="worker")
    with pytest.raises(RuntimeError, match="The library is closed"):
        await round_robin(remote).run(task="tides")
    # The team has only the text of the failure; the member has the error.
    assert remote.failure is not None
    assert (remote.failure.status, remote.failure.retryable) == (500, False)


async def test_a_failure_can_become_a_message(cast: Cast) -> None:
    owner = await failing(cast)
    remote = RemoteAgent(
        "remote", agent=owner, capability="research", to="worker", on_failure="message"
    )
    result = await round_robin(remote, assistant("planner", "Then not.")).run(task="tides")
    assert "500 TASK_FAILED: The library is closed." in said(result)[1][1]
    assert said(result)[2] == ("planner", "Then not.")


async def test_a_dead_letter_can_become_a_message(cast: Cast) -> None:
    worker, owner = await cast.agent("worker"), await cast.agent("owner")

    @worker.serve("research")
    async def research(work: Any) -> None:
        await asyncio.Event().wait()

    await worker.start()
    remote = RemoteAgent(
        "remote", agent=owner, capability="research", to="worker", timeout=1, on_failure="message"
    )
    result = await round_robin(remote).run(task="tides")
    assert "504 DEADLINE_EXCEEDED" in said(result)[-1][1]


async def test_the_token_of_the_run_cancels_the_handoff(cast: Cast) -> None:
    worker, owner = await cast.agent("worker"), await cast.agent("owner")
    work = Hanging(worker, "research")
    await worker.start()
    token = CancellationToken()
    team = round_robin(RemoteAgent("remote", agent=owner, capability="research", to="worker"))
    running = asyncio.ensure_future(team.run(task="tides", cancellation_token=token))
    await work.has_begun.wait()
    token.cancel()
    with pytest.raises((asyncio.CancelledError, RuntimeError)):
        await running
    await work.has_stopped.wait()


async def asking(cast: Cast) -> Agent:
    worker = await cast.agent("worker")

    @worker.serve("research")
    async def research(work: Any) -> Any:
        if work.resume is None:
            return work.pause({"id": "where", "text": "Which sea?"}, state="s")
        return f"all about the {work.resume.answers['where']} DONE"

    await worker.start()
    return await cast.agent("owner")


async def test_its_question_is_answered_by_a_function(cast: Cast) -> None:
    owner = await asking(cast)

    async def answer(question: Any) -> Any:
        assert question.text == "Which sea?"
        return "North Sea"

    remote = RemoteAgent(
        "remote", agent=owner, capability="research", to="worker", on_question=answer
    )
    assert (
        said(await round_robin(remote).run(task="tides"))[-1][1] == "all about the North Sea DONE"
    )


async def test_its_question_is_answered_by_the_teams_user_after_a_restart(cast: Cast) -> None:
    owner = await asking(cast)

    def team() -> RoundRobinGroupChat:
        remote = RemoteAgent(
            "remote", agent=owner, capability="research", to="worker", ask_user="user"
        )
        stop = HandoffTermination(target="user") | TextMentionTermination("DONE")
        return RoundRobinGroupChat([remote], termination_condition=stop)

    first = team()
    result = await first.run(task="tides")
    last = result.messages[-1]
    assert isinstance(last, HandoffMessage)
    assert (last.target, last.content) == ("user", "Which sea?")
    second = team()
    await second.load_state(await first.save_state())
    result = await second.run(task=HandoffMessage(source="user", target="remote", content="Baltic"))
    assert said(result)[-1][1] == "all about the Baltic DONE"


async def test_an_unanswered_question_cancels_it(cast: Cast) -> None:
    owner = await asking(cast)
    team = round_robin(RemoteAgent("remote", agent=owner, capability="research", to="worker"))
    with pytest.raises(RuntimeError, match="Which sea"):
        await team.run(task="tides")


async def test_an_agent_in_typescript_is_a_member(place: Place, cast: Cast) -> None:
    worker = await place.typescript("recipient", "worker")
    await worker.until("ready")
    owner = await cast.agent("owner")
    owner_side = await cast.agent("translator")

    # The program in TypeScript requires a structured input, which an intermediate step creates.
    @owner_side.serve("research")
    async def research(work: Any) -> Any:
        part = work.hand_off("work", to="worker", input={"kind": "echo", "value": "tides"})
        return (await part.result()).output["value"]

    await owner_side.start()
    remote = RemoteAgent("remote", agent=owner, capability="research", to="translator")
    assert said(await round_robin(remote).run(task="tides"))[-1] == ("remote", "tides")


@dataclass
class Ask:
    kind: str
    value: str


@dataclass
class Reply:
    value: str
    by: str
    attempt: int


async def test_a_core_agent_takes_and_returns_messages(cast: Cast) -> None:
    worker, owner = await cast.agent("worker"), await cast.agent("owner")
    recipient.serve(worker)
    await worker.start()
    runtime = SingleThreadedAgentRuntime()
    kind = remote_core_agent(owner, "work", takes=Ask, gives=Reply, to="worker")
    await kind.register(runtime, "remote", kind)
    runtime.start()
    reply = await runtime.send_message(Ask("echo", "hi"), AgentId("remote", "default"))
    assert reply == Reply("hi", "worker", 1)
    with pytest.raises(WaybillError, match="The oven is cold"):
        await runtime.send_message(Ask("fail", ""), AgentId("remote", "default"))
    await runtime.stop()


async def test_code_gets_the_complete_result_of_a_core_agents_message(cast: Cast) -> None:
    worker, owner = await cast.agent("worker"), await cast.agent("owner")
    page = artifact_of("page.txt", "text/plain", b"a page")
    messages = [{"role": "assistant", "content": [{"type": "text", "text": "Here it is."}]}]

    @worker.serve("find")
    async def find(work: Any) -> Any:
        output = {"value": "found", "by": "worker", "attempt": 1}
        return work.result(output, messages=messages, artifacts=[page])

    await worker.start()
    runtime = SingleThreadedAgentRuntime()
    got: list[HandoffResult] = []
    options: dict[str, Any] = {"takes": Ask, "gives": Reply, "on_result": got.append}
    kind = remote_core_agent(owner, "find", **options)
    await kind.register(runtime, "remote", kind)
    runtime.start()
    reply = await runtime.send_message(Ask("find", "-"), AgentId("remote", "default"))
    await runtime.stop()
    assert reply.value == "found"
    (result,) = got
    assert (result.messages, result.by) == (messages, "worker")
    assert await result.artifacts[0].bytes() == b"a page"


async def test_its_usage_is_on_its_messages_and_counts_once_if_the_team_is_served(
    cast: Cast,
) -> None:
    worker, lead, owner = [await cast.agent(name) for name in ("worker", "lead", "owner")]

    @worker.serve({"name": "research", "takes": "conversation"})
    async def research(work: Any) -> str:
        work.add_usage(model="m", requests=2, input_tokens=1200, output_tokens=80)
        return "all about tides"

    shown: list[Any] = []

    def made(_work: Any) -> RoundRobinGroupChat:
        remote = RemoteAgent("remote", agent=lead, capability="research", to="worker")

        class Watched(RoundRobinGroupChat):
            async def run_stream(self, **options: Any) -> Any:  # type: ignore[override]
                async for event in super().run_stream(**options):
                    shown.append(getattr(event, "models_usage", None))
                    yield event

        return Watched([remote, assistant("writer", "written")], max_turns=2)

    serve(lead, "report", made)
    await worker.start()
    await lead.start()
    asked = {"role": "user", "content": [{"type": "text", "text": "Write about tides."}]}
    result = await owner.hand_off("report", to="lead", messages=[asked]).result()
    assert RequestUsage(prompt_tokens=1200, completion_tokens=80) in shown
    assert result.usage is not None
    child = {"model": "m", "requests": 2, "input_tokens": 1200, "output_tokens": 80}
    assert result.usage.children == [child]
    [own] = result.usage.own
    assert own["requests"] == 1
    assert 0 < own["input_tokens"] < 1200
