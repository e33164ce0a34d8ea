"""Real AutoGen agents and teams as capabilities."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from autogen_agentchat.agents import BaseChatAgent, UserProxyAgent
from autogen_agentchat.messages import TextMessage
from conftest import Cast, refused
from processes import Place
from teams import assistant, hesitating, round_robin, transfer_to, writers

from waybill_sdk import WaybillError, Work
from waybill_sdk.autogen import RemoteAgent, serve, user_input

HERE = Path(__file__).parent


def text(message: dict[str, Any]) -> str:
    return str(message["content"][0]["text"])


async def test_an_agent_replies(cast: Cast) -> None:
    worker, owner = await cast.agent("worker"), await cast.agent("owner")
    serve(worker, "greet", lambda _: assistant("greeter", "hello"))
    await worker.start()
    result = await owner.hand_off(
        "greet", to="worker", brief={"instruction": "Say hello."}
    ).result()
    assert result.output == "hello"
    assert [(each["name"], text(each)) for each in result.messages] == [("greeter", "hello")]


async def test_a_team_shows_its_turns_as_progress_and_in_the_result(cast: Cast) -> None:
    worker, owner = await cast.agent("worker"), await cast.agent("owner")
    serve(worker, "write", lambda _: writers())
    await worker.start()
    handle = owner.hand_off("write", to="worker", input="tides")
    told = [(each.data["source"], each.message) async for each in handle.progress]
    assert told == [("writer", "a draft"), ("critic", "a better draft")]
    result = await handle.result()
    assert result.output == "a better draft"
    assert [each["name"] for each in result.messages] == ["writer", "critic"]


async def test_the_chunks_of_a_stream_are_deltas_across_hops_and_not_recorded(cast: Cast) -> None:
    writer, editor = await cast.agent("writer"), await cast.agent("editor")
    owner = await cast.agent("owner")

    async def write(work: Work) -> str:
        work.delta("a ")
        work.delta("draft")
        return "a draft"

    writer.serve("write", write)
    remote = RemoteAgent("remote", agent=editor, capability="write", to="writer")
    serve(editor, "edit", lambda _: remote)
    await writer.start()
    await editor.start()
    handle = owner.hand_off("edit", to="editor", input="tides")
    shown = "".join([each.text async for each in handle.deltas])
    result = await handle.result()
    assert shown == result.output == "a draft"
    told = [each.data["type"] async for each in handle.progress]
    assert "ModelClientStreamingChunkEvent" not in told


async def test_concurrent_attempts_have_a_team_each(cast: Cast) -> None:
    worker, owner = await cast.agent("worker"), await cast.agent("owner")
    serve(worker, "write", lambda _: writers())
    await worker.start()
    handles = [owner.hand_off("write", to="worker", input=number) for number in range(5)]
    results = await asyncio.gather(*(each.result() for each in handles))
    assert [each.output for each in results] == ["a better draft"] * 5


async def test_the_whole_history_reaches_the_run(cast: Cast) -> None:
    worker, owner = await cast.agent("worker"), await cast.agent("owner")
    seen: list[list[tuple[str, str]]] = []

    class Listener(Quiet):
        async def on_messages(self, messages: Any, cancellation_token: Any) -> Any:
            seen.append([(each.source, each.to_text()) for each in messages])
            return self.say("heard")

    serve(worker, "listen", lambda _: Listener("listener", "listens"))
    await worker.start()
    history = [
        {"role": "user", "name": "ann", "content": [{"type": "text", "text": "Tides?"}]},
        {
            "role": "assistant",
            "content": [
                {"type": "tool_call", "id": "1", "name": "look", "arguments": {"at": "sea"}}
            ],
        },
    ]
    brief = {"instruction": "Go on."}
    await owner.hand_off("listen", to="worker", messages=history, brief=brief).result()
    assert seen == [
        [("ann", "Tides?"), ("owner", '[calls look with {"at":"sea"}]'), ("user", "Go on.")]
    ]


@pytest.mark.parametrize(
    "part", [{"type": "video", "of": "a cat"}, {"type": "input_file", "file_id": "file-1"}]
)
async def test_a_part_that_no_model_can_be_shown_is_refused(
    cast: Cast, part: dict[str, str]
) -> None:
    worker, owner = await cast.agent("worker"), await cast.agent("owner")
    serve(worker, "look", lambda _: assistant("viewer", "never"))
    await worker.start()
    said = [{"role": "user", "content": [{"type": "text", "text": "?"}, part]}]
    error = await refused(owner.hand_off("look", to="worker", messages=said))
    assert error.status == 422 and part["type"] in error.message


async def test_a_participant_with_the_name_of_a_role_is_not_confused_with_it(cast: Cast) -> None:
    worker, owner = await cast.agent("worker"), await cast.agent("owner")
    seen: list[list[tuple[str, str]]] = []

    class Listener(Quiet):
        async def on_messages(self, messages: Any, cancellation_token: Any) -> Any:
            seen.append([(each.source, each.to_text()) for each in messages])
            return self.say("heard")

    serve(worker, "listen", lambda _: Listener("user", "listens"))
    await worker.start()
    history = [
        {"role": role, "content": [{"type": "text", "text": "Pay."}]}
        for role in ("user", "assistant")
    ]
    brief = {"instruction": "Go on."}
    await owner.hand_off("listen", to="worker", messages=history, brief=brief).result()
    assert seen == [[("owner", "Pay."), ("owner", "Pay."), ("owner", "Go on.")]]


async def test_a_handoff_to_the_user_is_a_question_whose_answer_continues_the_run(
    cast: Cast,
) -> None:
    worker, owner = await cast.agent("worker"), await cast.agent("owner")
    made: list[int] = []

    def plan(work: Any) -> Any:
        made.append(work.attempt)
        return hesitating(
            *([transfer_to("user")] if work.resume is None else ["Lisbon it is. DONE"])
        )

    serve(worker, "plan", plan)
    await worker.start()
    handle = owner.hand_off("plan", to="worker", input="a trip")
    question = await anext(handle.questions)
    assert (question.text, question.is_paused) == ("Which city?", True)
    await handle.answer(question.id, "Lisbon")
    assert (await handle.result()).output == "Lisbon it is. DONE"
    assert made == [1, 2]


async def test_a_user_proxy_asks_and_waits(cast: Cast) -> None:
    worker, owner = await cast.agent("worker"), await cast.agent("owner")
    serve(
        worker,
        "ask",
        lambda work: round_robin(UserProxyAgent("human", input_func=user_input(work))),
    )
    await worker.start()
    handle = owner.hand_off("ask", to="worker", input="?")
    await handle.answer((await anext(handle.questions)).id, "because")
    assert (await handle.result()).output == "because"


async def test_an_output_matches_its_declared_schema(cast: Cast) -> None:
    worker, owner = await cast.agent("worker"), await cast.agent("owner")
    form = {"total": "int"}
    says = iter(['```json\n{"total": 3}\n```', "three"])
    serve(worker, {"name": "add", "output_schema": form}, lambda _: assistant("adder", next(says)))
    await worker.start()
    assert (await owner.hand_off("add", to="worker", input=[1, 2]).result()).output == {"total": 3}
    error = await refused(
        owner.hand_off("add", to="worker", input=[1, 2], contract={"max_attempts": 1})
    )
    assert error.status == 520


async def test_a_failure_contains_the_original_message(cast: Cast) -> None:
    worker, owner = await cast.agent("worker"), await cast.agent("owner")

    class Broken(Quiet):
        async def on_messages(self, messages: Any, cancellation_token: Any) -> Any:
            raise ValueError("The oven is cold.")

    serve(worker, "bake", lambda _: round_robin(Broken("baker", "bakes")))
    await worker.start()
    error = await refused(owner.hand_off("bake", to="worker", input="bread"))
    assert error.status == 500
    assert "The oven is cold." in error.message


async def test_a_run_that_cancels_itself_is_cancelled(cast: Cast) -> None:
    worker, owner = await cast.agent("worker"), await cast.agent("owner")

    class Leaving(Quiet):
        async def on_messages(self, messages: Any, cancellation_token: Any) -> Any:
            raise asyncio.CancelledError

    serve(worker, "leave", lambda _: Leaving("leaver", "leaves"))
    await worker.start()
    error = await refused(owner.hand_off("leave", to="worker", input="?"))
    assert error.status == 499
    assert "cancelled itself" in error.message


async def test_a_run_without_a_reply_is_a_failure(cast: Cast) -> None:
    worker, owner = await cast.agent("worker"), await cast.agent("owner")
    serve(worker, "mumble", lambda _: assistant("mumbler", " "))
    await worker.start()
    handle = owner.hand_off("mumble", to="worker", input="?", contract={"max_attempts": 1})
    assert (await refused(handle)).status == 520


@pytest.mark.parametrize("how", ["cancel", "deadline"])
async def test_a_run_is_stopped_when_its_handoff_ends(cast: Cast, how: str) -> None:
    worker, owner = await cast.agent("worker"), await cast.agent("owner")
    has_begun, has_stopped = asyncio.Event(), asyncio.Event()

    class Slow(Quiet):
        async def on_messages(self, messages: Any, cancellation_token: Any) -> Any:
            waiting = asyncio.ensure_future(asyncio.Event().wait())
            cancellation_token.link_future(waiting)
            has_begun.set()
            try:
                await waiting
            finally:
                has_stopped.set()

    serve(worker, "wait", lambda _: round_robin(Slow("slow", "waits")))
    await worker.start()
    handle = owner.hand_off("wait", to="worker", input="?", timeout=30 if how == "cancel" else 2)
    await has_begun.wait()
    if how == "cancel":
        assert await handle.cancel("not wanted")
    assert (await refused(handle)).status == (499 if how == "cancel" else 504)
    await has_stopped.wait()


async def test_a_failed_child_is_a_424_of_the_same_job(cast: Cast) -> None:
    worker, owner, helper = [await cast.agent(each) for each in ("worker", "owner", "helper")]
    jobs: list[str] = []

    async def fail(work: Any) -> Any:
        jobs.append(work.envelope["correlation_id"])
        raise WaybillError(500, "Out of flour.", retryable=False)

    helper.serve("grind", fail)
    await helper.start()

    def miller(_: Any) -> Any:
        return round_robin(RemoteAgent("miller", agent=worker, capability="grind", to="helper"))

    serve(worker, "bake", miller)
    await worker.start()
    handle = owner.hand_off("bake", to="worker", input="bread")
    error = await refused(handle)
    assert error.status == 424
    assert "Out of flour." in error.message
    assert jobs == [handle.envelope["correlation_id"]]


@pytest.mark.parametrize("capability", ["hang", "plan"])
async def test_a_killed_process_is_replaced_by_another(
    place: Place, cast: Cast, capability: str
) -> None:
    owner = await cast.agent("owner")
    worker = await place.python("with_autogen/recipient_autogen", "worker")
    await worker.until("ready")
    handle = owner.hand_off(capability, to="worker", input="?", timeout=90)
    question = None
    if capability == "hang":
        await worker.until("hanging")
        # Before that the same attempt would be offered again.
        await handle.accepted()
    else:
        question = await anext(handle.questions)
    await worker.kill()
    again = await place.python("with_autogen/recipient_autogen", "worker")
    await again.until("ready")
    if question is not None:
        await handle.answer(question.id, "Lisbon")
    result = await handle.result()
    assert result.output == ("done after all" if capability == "hang" else "It is settled. DONE")
    assert result.attempt == 2


async def test_an_agent_in_typescript_hands_off_to_a_team(place: Place) -> None:
    worker = await place.python("with_autogen/recipient_autogen", "worker")
    await worker.until("ready")
    brief = {"instruction": "Say hello."}
    told = await place.handed_off({"to": "worker", "capability": "greet", "brief": brief})
    assert (told[-1]["type"], told[-1]["output"]) == ("result", "hello from autogen")


class Quiet(BaseChatAgent):
    @property
    def produced_message_types(self) -> Any:
        return (TextMessage,)

    def say(self, words: str) -> Any:
        from autogen_agentchat.base import Response

        return Response(chat_message=TextMessage(source=self.name, content=words))

    async def on_messages(self, messages: Any, cancellation_token: Any) -> Any:
        raise NotImplementedError

    async def on_reset(self, cancellation_token: Any) -> None:
        pass
