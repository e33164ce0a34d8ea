"""Real AG2 agents as capabilities, beyond what the suite of adapters asks."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated, Any

import ag2
import pytest
from ag2 import Context, Inject
from ag2.config import OpenAIConfig
from ag2.events import (
    BinaryResult,
    ModelMessage,
    ModelMessageChunk,
    ModelResponse,
    ToolCallEvent,
    Usage,
)
from ag2.testing import TestConfig
from conftest import Cast, refused
from listening import Listening

from waybill_sdk import Agent, SessionStore, WaybillError
from waybill_sdk.ag2 import RemoteTool, ServedRun, serve
from waybill_sdk.protocol.encoding import from_base64url


async def served(cast: Cast, runner: Any, capability: Any = "research") -> Agent:
    worker = await cast.agent("worker")
    serve(worker, capability, runner)
    await worker.start()
    return await cast.agent("owner")


async def test_what_the_model_streams_is_shown_while_it_is_written(cast: Cast) -> None:
    says = TestConfig(
        ModelMessageChunk("all about "), ModelMessageChunk("tides"), "all about tides"
    )
    owner = await served(cast, ag2.Agent("reader", config=says))
    handle = owner.hand_off("research", to="worker", brief={"instruction": "tides"})
    deltas = handle.deltas
    assert (await handle.result()).output == "all about tides"
    assert "".join([each.text async for each in deltas]) == "all about tides"


async def test_one_agent_serves_concurrent_handoffs(cast: Cast) -> None:
    waiting: list[asyncio.Future[None]] = []

    async def meet() -> str:
        # Neither continues before the other has started.
        arrived: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        waiting.append(arrived)
        if len(waiting) == 2:
            for each in waiting:
                each.set_result(None)
        await arrived
        return "met"

    says = Listening(ToolCallEvent("meet"), ToolCallEvent("meet"), "done", "done")
    owner = await served(cast, ag2.Agent("reader", config=says, tools=[meet]))
    handles = [owner.hand_off("research", to="worker", brief={"instruction": "go"}) for _ in "ab"]
    ended = await asyncio.gather(*(each.result() for each in handles))
    assert [each.output for each in ended] == ["done", "done"]


async def test_a_tool_asks_the_delegator(cast: Cast) -> None:
    async def ask(context: Context) -> str:
        return f"{await context.input('Which sea?')}, {await context.input('Which sea?')}"

    says = Listening(ToolCallEvent("ask"), "done")
    owner = await served(cast, ag2.Agent("reader", config=says, tools=[ask]))
    handle = owner.hand_off("research", to="worker", brief={"instruction": "tides"})
    answers = iter(("North", "East"))
    ids = set()
    async for question in handle.questions:
        assert question.text == "Which sea?"
        ids.add(question.id)
        await handle.answer(question.id, next(answers))
    assert (await handle.result()).output == "done"
    assert len(ids) == 2
    assert says.seen[-1][-1] == ("tool", "North, East")


async def test_an_agent_with_its_own_hook_asks_that(cast: Cast) -> None:
    async def ask(context: Context) -> str:
        return await context.input("Which sea?")

    says = Listening(ToolCallEvent("ask"), "done")
    reader = ag2.Agent("reader", config=says, tools=[ask], hitl_hook=lambda: "North")
    owner = await served(cast, reader)
    handle = owner.hand_off("research", to="worker", brief={"instruction": "tides"})
    assert (await handle.result()).output == "done"
    assert says.seen[-1][-1] == ("tool", "North")


async def test_tokens_are_counted_by_model_and_those_of_a_subtask_once(cast: Cast) -> None:
    def spoke(text: str, **tokens: int) -> ModelResponse:
        return ModelResponse(ModelMessage(text), usage=Usage(**tokens), model="big", provider="x")

    helper = ag2.Agent(
        "helper",
        config=TestConfig(
            ModelResponse(
                ModelMessage("helped"),
                usage=Usage(prompt_tokens=5, completion_tokens=2, cache_read_input_tokens=3),
                model="small",
                provider="anthropic",
            )
        ),
    )
    asks = ToolCallEvent("task_helper", arguments='{"objective": "help"}')
    says = TestConfig(asks, spoke("done", prompt_tokens=100, completion_tokens=10))
    reader = ag2.Agent("reader", config=says, tools=[helper.as_tool(description="Helps.")])
    owner = await served(cast, reader)
    handle = owner.hand_off("research", to="worker", brief={"instruction": "tides"})
    usage = (await handle.result()).usage
    assert usage is not None
    assert {
        each["model"]: (each["input_tokens"], each["output_tokens"]) for each in usage.rows
    } == {
        "big": (100, 10),
        "small": (8, 2),
    }


async def test_the_usage_of_a_remote_tool_counts_once(cast: Cast) -> None:
    other = await cast.agent("other")

    @other.serve("lookup")
    async def lookup(work: Any) -> str:
        work.add_usage(model="far", requests=1, input_tokens=7, output_tokens=3)
        return "found"

    await other.start()
    worker = await cast.agent("worker")
    asks = ToolCallEvent("lookup", arguments='{"task": "look"}')
    reader = ag2.Agent(
        "reader", config=TestConfig(asks, "done"), tools=[RemoteTool(worker, "lookup")]
    )
    serve(worker, "research", reader)
    await worker.start()
    owner = await cast.agent("owner")
    result = await owner.hand_off("research", to="worker", brief={"instruction": "tides"}).result()
    assert result.usage is not None
    assert (result.usage.total.input_tokens, result.usage.total.output_tokens) == (7, 3)
    assert result.usage.own == []


async def test_a_history_that_does_not_end_with_a_question_is_continued(cast: Cast) -> None:
    says = Listening("done")
    owner = await served(cast, ag2.Agent("reader", config=says))
    said = [
        {"role": "user", "name": "anna", "content": [{"type": "text", "text": "tides?"}]},
        {"role": "assistant", "content": [{"type": "text", "text": "I look."}]},
    ]
    await owner.hand_off("research", to="worker", messages=said).result()
    assert says.seen == [
        [("user", "anna: tides?"), ("assistant", "owner: I look."), ("user", "Go on.")]
    ]


async def test_a_session_continues_in_another_process(cast: Cast, tmp_path: Path) -> None:
    painted = BinaryResult(b"png", {"filename": "sea.png", "media_type": "image/png"})
    says = Listening(
        ToolCallEvent("clock", id="c1"), ModelResponse(ModelMessage("At noon."), files=[painted])
    )

    async def clock() -> dict[str, int]:
        return {"hour": 12}

    worker, owner = await cast.agent("worker"), await cast.agent("owner")
    store = SessionStore(tmp_path / "sessions.db")
    serve(worker, "research", ag2.Agent("reader", config=says, tools=[clock]), sessions=store)
    await worker.start()
    first = owner.hand_off("research", to="worker", session="sea", brief={"instruction": "When?"})
    assert (await first.result()).session == "begun"
    await worker.stop()
    store.close()
    # The worker, restarted.
    again, says = await cast.agent("worker"), Listening("At noon, I said.")
    store = SessionStore(tmp_path / "sessions.db")
    serve(again, "research", ag2.Agent("reader", config=says), sessions=store)
    await again.start()
    second = owner.hand_off("research", to="worker", session="sea", brief={"instruction": "When?"})
    assert (await second.result()).session == "continued"
    assert says.seen == [
        [
            ("user", "When?"),
            ("assistant", None),
            ("tool", '{"hour":12}'),
            ("assistant", "At noon."),
            ("user", "When?"),
        ]
    ]


async def test_files_of_the_model_and_of_tools_are_in_the_result(cast: Cast) -> None:
    async def draw(run: Annotated[ServedRun, Inject("waybill")]) -> str:
        run.attach("sea.txt", "text/plain", b"waves")
        return "drawn"

    painted = BinaryResult(b"png", {"filename": "sea.png", "media_type": "image/png"})
    says = TestConfig(ToolCallEvent("draw"), ModelResponse(ModelMessage("done"), files=[painted]))
    owner = await served(cast, ag2.Agent("painter", config=says, tools=[draw]))
    handle = owner.hand_off("research", to="worker", brief={"instruction": "paint"})
    files = {each["name"]: each for each in (await handle.result()).artifacts}
    assert from_base64url(files["sea.txt"]["data"]) == b"waves"
    assert (from_base64url(files["sea.png"]["data"]), files["sea.png"]["media_type"]) == (
        b"png",
        "image/png",
    )


async def test_a_recording_that_the_agents_models_do_not_accept_is_refused(cast: Cast) -> None:
    config = OpenAIConfig("m", api_key="none", base_url="http://127.0.0.1:9/v1", max_retries=0)
    owner = await served(cast, ag2.Agent("reader", config=config))
    sound = {"type": "audio", "media_type": "audio/ogg", "data": "T2dnUw"}
    said = [{"role": "user", "content": [sound]}]
    error = await refused(owner.hand_off("research", to="worker", messages=said))
    assert error.status == 422
    assert "audio/ogg" in error.message and "OpenAIConfig" in error.message


@pytest.mark.parametrize(
    "part", [{"type": "video", "of": "a cat"}, {"type": "input_file", "file_id": "file-1"}]
)
async def test_a_part_that_no_model_can_be_shown_is_refused(
    cast: Cast, part: dict[str, str]
) -> None:
    says = Listening("never")
    owner = await served(cast, ag2.Agent("reader", config=says))
    said = [{"role": "user", "content": [{"type": "text", "text": "?"}, part]}]
    error = await refused(owner.hand_off("research", to="worker", messages=said))
    assert error.status == 422 and part["type"] in error.message
    assert says.seen == []


async def test_an_unreachable_host_is_a_retryable_failure_with_a_cause(cast: Cast) -> None:
    nowhere = OpenAIConfig("m", api_key="none", base_url="http://127.0.0.1:9/v1", max_retries=0)
    owner = await served(cast, ag2.Agent("reader", config=nowhere))
    error = await refused(owner.hand_off("research", to="worker", brief={"instruction": "x"}))
    assert error.status == 500
    assert "APIConnectionError" in str(error.cause)


async def test_only_the_model_is_told_of_a_tool_that_fails(cast: Cast) -> None:
    async def fail() -> str:
        raise WaybillError(413, "too large")

    says = Listening(ToolCallEvent("fail"), "I could not.")
    owner = await served(cast, ag2.Agent("reader", config=says, tools=[fail]))
    result = await owner.hand_off("research", to="worker", brief={"instruction": "x"}).result()
    assert result.output == "I could not."
