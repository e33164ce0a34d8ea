"""A remote agent as a member, a coworker and a tool of real crews."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

import pytest
import recipient
from conftest import Cast, Hanging
from crewai import Process
from crewai.tools.tool_failure import ToolFailure
from crews import Saying, action, crew, final, member, task
from processes import Place
from pydantic import BaseModel

from waybill_sdk import Agent, WaybillError, blocking, load_key
from waybill_sdk.crewai import RemoteMember, RemoteTool

INPUTS = {"instruction": "Write about the sea."}


async def researching(cast: Cast, seen: list[Any] | None = None) -> Agent:
    worker = await cast.agent("worker")

    @worker.serve({"name": "research", "takes": "delegation"})
    async def research(work: Any) -> str:
        if seen is not None:
            said = [each["content"][0]["text"] for each in work.body.get("messages", [])]
            seen.append((work.body["brief"], said))
        return "all about tides"

    await worker.start()
    owner = await cast.agent("owner")
    await owner.start()
    return owner


async def failing(cast: Cast, retryable: bool = False) -> Agent:
    worker = await cast.agent("worker")

    @worker.serve("research")
    async def research(work: Any) -> str:
        raise WaybillError(500, "The library is closed.", retryable=retryable)

    await worker.start()
    owner = await cast.agent("owner")
    await owner.start()
    return owner


def remote(owner: Agent, **options: Any) -> RemoteMember:
    options = {"capability": "research", "role": "researcher", "to": "worker", **options}
    return RemoteMember(agent=owner, **options)


async def test_it_does_a_task_of_the_crew_with_the_earlier_results(cast: Cast) -> None:
    seen: list[Any] = []
    researcher = remote(await researching(cast, seen))
    planner = member("planner", final("Look up tides."))
    made = crew(task(planner), task(researcher, "Do as planned."))
    ended = await made.akickoff(inputs=INPUTS)
    assert ended.raw == "all about tides"
    brief, said = seen[0]
    assert brief == {"instruction": "Do as planned.", "expected_output": "a line"}
    assert said == ["Look up tides."]


async def test_kickoff_without_async_works_from_a_thread(cast: Cast) -> None:
    made = crew(task(remote(await researching(cast))))
    ended = await asyncio.to_thread(made.kickoff, inputs=INPUTS)
    assert ended.raw == "all about tides"


async def test_kickoff_without_async_in_the_agents_loop_is_refused_with_the_reason(
    cast: Cast,
) -> None:
    owner = await researching(cast)
    made = crew(task(remote(owner)))
    with pytest.raises(WaybillError, match="kickoff"):
        made.kickoff(inputs=INPUTS)
    # So that there is a history to check.
    await owner.hand_off("research", to="worker", brief={"instruction": "?"}).result()


async def test_it_works_with_an_agent_without_async(place: Place, cast: Cast) -> None:
    await researching(cast)

    def run() -> str:
        with blocking.connect(place.url) as hub:
            key = load_key(place.key("editor"))
            with blocking.Agent("editor", key=key, hub=hub) as editor:
                researcher = remote(editor)
                return str(crew(task(researcher)).kickoff(inputs=INPUTS).raw)

    assert await asyncio.to_thread(run) == "all about tides"


@pytest.mark.parametrize("tool", ["delegate_work_to_coworker", "ask_question_to_coworker"])
async def test_a_coworker_delegates_to_it_and_asks_it(cast: Cast, tool: str) -> None:
    seen: list[Any] = []
    researcher = remote(await researching(cast, seen))
    about = "task" if tool.startswith("delegate") else "question"
    arguments = {about: "Look up tides.", "context": "It is for a poem.", "coworker": "researcher"}
    says = [action(tool, **arguments), final("A poem about tides.")]
    poet = member("poet", *says, allow_delegation=True)
    made = crew(task(poet), agents=[poet, researcher])
    ended = await made.akickoff(inputs=INPUTS)
    assert ended.raw == "A poem about tides."
    assert seen[0][0]["instruction"] == "Look up tides."
    assert seen[0][1] == ["It is for a poem."]
    assert "all about tides" in poet.llm.asked[1]


async def test_a_manager_delegates_to_it(cast: Cast) -> None:
    researcher = remote(await researching(cast))
    arguments = {"task": "Look up tides.", "context": "-", "coworker": "researcher"}
    manager = Saying(action("delegate_work_to_coworker", **arguments), final("It is done."))
    planned = task(None)
    made = crew(planned, agents=[researcher], process=Process.hierarchical, manager_llm=manager)
    assert (await made.akickoff(inputs=INPUTS)).raw == "It is done."
    assert "all about tides" in manager.asked[1]


async def test_a_failed_delegation_is_recorded_as_a_failure(cast: Cast) -> None:
    researcher = remote(await failing(cast))
    arguments = {"task": "Look up tides.", "context": "-", "coworker": "researcher"}
    says = [action("delegate_work_to_coworker", **arguments), final("Nothing found.")]
    poet = member("poet", *says, allow_delegation=True)
    ended = await crew(task(poet), agents=[poet, researcher]).akickoff(inputs=INPUTS)
    (record,) = ended.tasks_output[0].tool_failures
    assert (record.failure.code, record.failure.retryable) == ("500 TASK_FAILED", False)
    assert "The library is closed." in record.message


async def test_a_failed_task_ends_the_crew(cast: Cast) -> None:
    made = crew(task(remote(await failing(cast))))
    with pytest.raises(WaybillError, match="The library is closed"):
        await made.akickoff(inputs=INPUTS)


async def test_its_deadline_holds_although_kickoff_has_none(cast: Cast) -> None:
    worker, owner = await cast.agent("worker"), await cast.agent("owner")

    @worker.serve("research")
    async def research(work: Any) -> None:
        await asyncio.Event().wait()

    await worker.start()
    await owner.start()
    made = crew(task(remote(owner, timeout=1)))
    started = time.monotonic()
    with pytest.raises(WaybillError) as caught:
        await asyncio.to_thread(made.kickoff, inputs=INPUTS)
    assert caught.value.status == 504
    assert time.monotonic() - started < 15


def with_tool(owner: Agent, **options: Any) -> Any:
    look = RemoteTool(
        agent=owner, capability="research", to="worker", name="look", description="looks it up"
    )
    says = [action("look", request="tides"), final("A poem.")]
    return crew(task(member("poet", *says, tools=[look], **options)))


def with_coworker(owner: Agent, **options: Any) -> Any:
    arguments = {"task": "Look up tides.", "context": "-", "coworker": "researcher"}
    says = [action("delegate_work_to_coworker", **arguments), final("A poem.")]
    poet = member("poet", *says, allow_delegation=True, **options)
    return crew(task(poet), agents=[poet, remote(owner)])


@pytest.mark.parametrize(
    "made", [lambda owner: crew(task(remote(owner))), with_tool, with_coworker]
)
async def test_cancelling_a_run_cancels_the_handoff(
    cast: Cast, made: Callable[[Agent], Any]
) -> None:
    worker, owner = await cast.agent("worker"), await cast.agent("owner")
    work = Hanging(worker, "research")
    await worker.start()
    await owner.start()
    running = asyncio.ensure_future(made(owner).akickoff(inputs=INPUTS))
    await work.has_begun.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    await asyncio.wait_for(work.has_stopped.wait(), 20)


@pytest.mark.parametrize("made", [with_tool, with_coworker])
async def test_a_member_that_times_out_cancels_the_handoff_of_its_tool(
    cast: Cast, made: Callable[..., Any]
) -> None:
    worker, owner = await cast.agent("worker"), await cast.agent("owner")
    work = Hanging(worker, "research")
    await worker.start()
    await owner.start()
    with pytest.raises(TimeoutError):
        # Long enough for the tool to be called on a busy machine.
        await made(owner, max_execution_time=4, max_retry_limit=0).akickoff(inputs=INPUTS)
    assert work.has_begun.is_set()
    await asyncio.wait_for(work.has_stopped.wait(), 20)


async def test_a_caller_that_times_out_cancels_the_handoff_of_a_tool(
    cast: Cast,
) -> None:
    worker, owner = await cast.agent("worker"), await cast.agent("owner")
    work = Hanging(worker, "research")
    await worker.start()
    await owner.start()
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(with_tool(owner).akickoff(inputs=INPUTS), 4)
    assert work.has_begun.is_set()
    await asyncio.wait_for(work.has_stopped.wait(), 20)


async def test_its_question_is_answered_by_a_function(cast: Cast) -> None:
    worker, owner = await cast.agent("worker"), await cast.agent("owner")

    @worker.serve("research")
    async def research(work: Any) -> str:
        return f"all about the {await work.ask('Which sea?', id='where')}"

    async def answer(question: Any) -> Any:
        assert question.text == "Which sea?"
        return "North Sea"

    await worker.start()
    await owner.start()
    ended = await crew(task(remote(owner, on_question=answer))).akickoff(inputs=INPUTS)
    assert ended.raw == "all about the North Sea"


async def test_a_run_with_a_name_finds_its_handoffs_again(cast: Cast) -> None:
    seen: list[Any] = []
    owner = await researching(cast, seen)
    for _ in range(2):
        ended = await crew(task(remote(owner, run="sea"))).akickoff(inputs=INPUTS)
        assert ended.raw == "all about tides"
    assert len(seen) == 1


async def test_a_tool_hands_off_its_request(cast: Cast) -> None:
    seen: list[Any] = []
    owner = await researching(cast, seen)
    look = RemoteTool(
        agent=owner, capability="research", to="worker", name="look", description="looks it up"
    )
    poet = member("poet", action("look", request="tides"), final("A poem."), tools=[look])
    assert (await crew(task(poet)).akickoff(inputs=INPUTS)).raw == "A poem."
    assert seen[0][0] == {"instruction": "tides"}
    assert "all about tides" in poet.llm.asked[1]


class Asked(BaseModel):
    kind: str
    value: str


async def test_a_tool_with_a_schema_sends_a_structured_input(cast: Cast) -> None:
    worker, owner = await cast.agent("worker"), await cast.agent("owner")
    recipient.serve(worker)
    await worker.start()
    await owner.start()
    work = RemoteTool(
        agent=owner, capability="work", name="work", description="works", args_schema=Asked
    )
    given = await asyncio.to_thread(work.run, kind="echo", value="hi")
    assert given == '{"value": "hi", "by": "worker", "attempt": 1}'


@pytest.mark.parametrize("retryable", [True, False])
async def test_a_failed_tool_reports_the_reason(cast: Cast, retryable: bool) -> None:
    owner = await failing(cast, retryable)
    look = RemoteTool(
        agent=owner, capability="research", to="worker", name="look", description="looks it up"
    )
    given = await asyncio.to_thread(look.run, request="tides")
    assert isinstance(given, ToolFailure)
    assert given.code is not None
    assert given.details["status"] in (500, 508)
    assert "The library is closed." in given.message or given.details["status"] == 508
    poet = member("poet", action("look", request="tides"), final("Nothing."), tools=[look])
    ended = await crew(task(poet)).akickoff(inputs=INPUTS)
    (record,) = ended.tasks_output[0].tool_failures
    assert record.tool_name == "look"


async def test_an_agent_in_typescript_is_a_tool(place: Place, cast: Cast) -> None:
    worker = await place.typescript("recipient", "worker")
    await worker.until("ready")
    owner = await cast.agent("owner")
    await owner.start()
    work = RemoteTool(
        agent=owner, capability="work", name="work", description="works", args_schema=Asked
    )
    says = [action("work", kind="echo", value="hi"), final("It said hi.")]
    poet = member("poet", *says, tools=[work])
    assert (await crew(task(poet)).akickoff(inputs=INPUTS)).raw == "It said hi."
    assert '{"output":{"value":"hi"' in poet.llm.asked[1]


async def test_its_usage_counts_in_the_crews_usage_metrics(cast: Cast) -> None:
    worker, owner = await cast.agent("worker"), await cast.agent("owner")

    @worker.serve({"name": "research", "takes": "delegation"})
    async def research(work: Any) -> str:
        work.add_usage(
            requests=2, input_tokens=1200, cached_input_tokens=1000, output_tokens=80, model="m"
        )
        return "all about tides"

    await worker.start()
    await owner.start()
    asked = crew(task(remote(owner)), task(member("writer", final("written"))))
    ended = await asked.akickoff(inputs=INPUTS)
    used = ended.token_usage
    assert (used.prompt_tokens, used.cached_prompt_tokens) == (1200, 1000)
    assert (used.completion_tokens, used.successful_requests) == (80, 2)
