"""A crew that runs without async, in a thread that asyncio waits for: cancellations and stops reach
it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from conftest import Cast, Hanging
from crewai import Crew
from crews import action, crew, final, member, task

from waybill_sdk import Agent, WaybillError
from waybill_sdk.crewai import RemoteMember, RemoteTool

INPUTS = {"instruction": "tides"}


def as_member(owner: Agent) -> Crew:
    remote = RemoteMember(role="looker", agent=owner, capability="research", to="worker")
    return crew(task(remote))


def with_tool(owner: Agent) -> Crew:
    look = RemoteTool(
        agent=owner, capability="research", to="worker", name="look", description="Looks."
    )
    return crew(task(member("poet", action("look", request="tides"), final("-"), tools=[look])))


async def in_thread(made: Crew) -> Any:
    return await asyncio.to_thread(made.kickoff, inputs=INPUTS)


async def by_crewai(made: Crew) -> Any:
    return await made.kickoff_async(inputs=INPUTS)


async def in_executor(made: Crew) -> Any:
    return await asyncio.get_running_loop().run_in_executor(None, made.kickoff, INPUTS)


Made = Callable[[Agent], Crew]
Run = Callable[[Crew], Coroutine[Any, Any, Any]]
BOTH = pytest.mark.parametrize("made", [as_member, with_tool])
EACH = pytest.mark.parametrize("run", [in_thread, by_crewai, in_executor])


async def started(cast: Cast) -> tuple[Agent, Hanging]:
    worker, owner = await cast.agent("worker"), await cast.agent("owner")
    work = Hanging(worker, "research")
    await worker.start()
    await owner.start()
    return owner, work


@BOTH
@EACH
async def test_cancelling_the_caller_cancels_its_handoffs(cast: Cast, made: Made, run: Run) -> None:
    owner, work = await started(cast)
    running = asyncio.ensure_future(run(made(owner)))
    await work.has_begun.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    await asyncio.wait_for(work.has_stopped.wait(), 20)


@BOTH
async def test_stopping_the_agent_ends_the_run_and_its_handoffs(cast: Cast, made: Made) -> None:
    owner, work = await started(cast)
    running = asyncio.ensure_future(in_thread(made(owner)))
    await work.has_begun.wait()
    await owner.stop("release")
    await asyncio.wait_for(work.has_stopped.wait(), 20)
    if made is as_member:
        with pytest.raises(WaybillError) as caught:
            await asyncio.wait_for(running, 20)
        assert caught.value.status == 499
    else:
        # A tool tells its model of the failure, and the crew continues.
        (record,) = (await asyncio.wait_for(running, 20)).tasks_output[0].tool_failures
        assert record.failure.details["status"] == 499
