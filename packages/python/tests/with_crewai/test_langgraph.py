"""A real crew delegates to a real LangGraph graph, and vice versa, with a served hub."""

from __future__ import annotations

import asyncio
import time

import pytest
from conftest import Cast
from crews import action, crew, final, member, task
from processes import Place, Process

from waybill_sdk import Agent, WaybillError
from waybill_sdk.crewai import RemoteMember, serve

SUPERVISOR = "../../../packages/adapter-langgraph/src/supervisor-fixture"
INPUTS = {"instruction": "Write about the sea."}


async def graph(place: Place) -> Process:
    worker = await place.typescript("graph-recipient", "worker")
    await worker.until("ready")
    return worker


async def starting(cast: Cast) -> Agent:
    owner = await cast.agent("owner")
    await owner.start()
    return owner


def researcher(owner: Agent, **options: object) -> RemoteMember:
    return RemoteMember(
        agent=owner, capability="research", role="researcher", to="worker", **options
    )


async def test_a_member_delegates_to_it(place: Place, cast: Cast) -> None:
    await graph(place)
    owner = await starting(cast)
    told = {"task": "tides", "context": "It is for a poem.", "coworker": "researcher"}
    says = [action("delegate_work_to_coworker", **told), final("A poem.")]
    poet = member("poet", *says, allow_delegation=True)
    ended = await crew(task(poet), agents=[poet, researcher(owner)]).akickoff(inputs=INPUTS)
    assert ended.raw == "A poem."
    assert ended.tasks_output[0].tool_failures == []
    assert "all about tides" in poet.llm.asked[1]


async def test_a_graph_that_is_killed_is_replaced_by_another(place: Place, cast: Cast) -> None:
    worker = await graph(place)
    owner = await starting(cast)
    made = crew(task(researcher(owner), "hang once"))
    running = asyncio.ensure_future(made.akickoff(inputs=INPUTS))
    await worker.until("hanging")
    await worker.kill()
    await graph(place)
    assert "all about hang once" in (await running).raw


async def test_an_exceeded_deadline_ends_the_task(place: Place, cast: Cast) -> None:
    worker = await graph(place)
    owner = await starting(cast)
    made = crew(task(researcher(owner, timeout=2), "hang"))
    started = time.monotonic()
    with pytest.raises(WaybillError) as caught:
        await asyncio.to_thread(made.kickoff, inputs=INPUTS)
    assert caught.value.status == 504
    assert time.monotonic() - started < 30
    await worker.until("stopped")


async def test_cancelling_a_run_stops_the_graph(place: Place, cast: Cast) -> None:
    worker = await graph(place)
    owner = await starting(cast)
    made = crew(task(researcher(owner), "hang"))
    running = asyncio.ensure_future(made.akickoff(inputs=INPUTS))
    await worker.until("hanging")
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    await worker.until("stopped")


async def test_a_crew_that_is_killed_finds_its_handoff_and_its_question_again(
    place: Place,
) -> None:
    await graph(place)
    first = await place.python("with_crewai/delegator_crewai", "crew", "ask")
    assert (await first.line()) == "ready"
    assert "Which sea?" in await first.line()
    await first.kill()
    second = await place.python("with_crewai/delegator_crewai", "crew", "ask", "North Sea")
    assert (await second.line()) == "ready"
    assert "Which sea?" in await second.line()
    said = await second.line()
    assert said.startswith("ended A poem. []")
    assert "all about North Sea" in said


async def test_a_supervisor_sends_a_crew_the_task_without_its_own_transfer(
    place: Place, cast: Cast
) -> None:
    worker = await cast.agent("worker")
    poet = member("poet", final("High at noon."))
    serve(worker, "write", lambda _: crew(task(poet, "{instruction} [{history}]")))
    await worker.start()
    supervisor = await place.typescript(SUPERVISOR, "owner")
    state = await supervisor.json()
    assert "Current Task: Write a poem about the tides. []" in poet.llm.asked[0]
    assert "ransfer" not in poet.llm.asked[0]
    assert {"name": "remote_crew", "text": "High at noon."} in state["said"]
