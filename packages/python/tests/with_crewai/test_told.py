"""What a remote agent says: to models another's data, and to code its words."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
from conftest import Cast, refused
from crewai import Crew
from crewai.tools.tool_failure import ToolExecutionFailedError, ToolFailurePolicy
from crews import Saying, action, crew, final, member, task
from told import TRICK, data_in

from waybill_sdk import Agent, WaybillError
from waybill_sdk.crewai import RemoteMember, RemoteTool, serve

INPUTS = {"instruction": "Write about the sea."}
FAILED = {"failed": True, "status": 413, "name": "TOO_LARGE", "message": TRICK}


def says_trick() -> Any:
    return {"says": TRICK}


def fails() -> Any:
    raise WaybillError(413, TRICK)


async def owner_of(cast: Cast, ends: Callable[[], Any]) -> Agent:
    worker, owner = await cast.agent("worker"), await cast.agent("owner")

    @worker.serve("research")
    async def research(work: Any) -> Any:
        return ends()

    await worker.start()
    await owner.start()
    return owner


def tool(owner: Agent, **options: Any) -> RemoteTool:
    return RemoteTool(
        agent=owner, capability="research", name="look", description="looks it up", **options
    )


def with_tool(owner: Agent, **options: Any) -> tuple[Crew, Saying]:
    poet = member("poet", action("look", request="-"), final("A poem."), tools=[tool(owner)])
    return crew(task(poet, **options)), poet.llm


def with_coworker(owner: Agent, **options: Any) -> tuple[Crew, Saying]:
    researcher = RemoteMember(agent=owner, capability="research", role="researcher")
    asks = action("delegate_work_to_coworker", task="-", context="-", coworker="researcher")
    poet = member("poet", asks, final("A poem."), allow_delegation=True)
    return crew(task(poet, **options), agents=[poet, researcher]), poet.llm


def observed(model: Saying) -> str:
    """What its tool has given to a model, without what CrewAI asks it to make of that."""
    given = model.asked[-1].rpartition("Observation: ")[2]
    return given.partition("\nAnalyze the tool result")[0]


@pytest.mark.parametrize("made", [with_tool, with_coworker])
async def test_a_result(cast: Cast, made: Callable[[Agent], tuple[Crew, Saying]]) -> None:
    team, model = made(await owner_of(cast, says_trick))
    await team.akickoff(inputs=INPUTS)
    assert data_in(observed(model), "worker") == {"output": {"says": TRICK}}


@pytest.mark.parametrize("made", [with_tool, with_coworker])
async def test_a_failure(cast: Cast, made: Callable[[Agent], tuple[Crew, Saying]]) -> None:
    team, model = made(await owner_of(cast, fails))
    ended = await team.akickoff(inputs=INPUTS)
    assert data_in(observed(model), "research") == FAILED
    (record,) = ended.tasks_output[0].tool_failures
    assert (record.message, record.failure.code) == (TRICK, "413 TOO_LARGE")


async def test_code_has_the_words_of_a_tool_and_a_task_those_that_are_its_answer(
    cast: Cast,
) -> None:
    owner = await owner_of(cast, says_trick)
    given = await asyncio.to_thread(tool(owner).run, request="-")
    assert json.loads(given) == {"says": TRICK}
    final_tool = tool(owner, result_as_answer=True)
    poet = member("poet", action("look", request="-"), tools=[final_tool])
    ended = await crew(task(poet)).akickoff(inputs=INPUTS)
    assert json.loads(ended.raw) == {"says": TRICK}


@pytest.mark.parametrize("made", [with_tool, with_coworker])
async def test_a_served_crew_that_a_failure_ends_tells_of_it_as_a_failed_part(
    cast: Cast, made: Callable[..., tuple[Crew, Saying]]
) -> None:
    owner = await owner_of(cast, fails)
    policy = {"tool_failure_policy": ToolFailurePolicy.RAISE}
    with pytest.raises(ToolExecutionFailedError):
        await made(owner, **policy)[0].akickoff(inputs=INPUTS)
    press = await cast.agent("press")
    serve(press, "write", lambda _: made(press, **policy)[0])
    await press.start()
    error = await refused(owner.hand_off("write", brief={"instruction": "-"}))
    assert error.status == 424
    assert error.message == f"A part of the work ended with 413: {TRICK}"
