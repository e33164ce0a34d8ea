"""A crew or a flow as a capability."""

from __future__ import annotations

import asyncio
import inspect
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any

from crewai import Crew, Flow
from crewai.core.providers.human_input import set_provider
from crewai.hooks.contexts import StepContext
from crewai.hooks.dispatch import InterceptionPoint, register_scoped, scoped_hooks
from crewai.types.streaming import CrewStreamingOutput, FlowStreamingOutput

from ..adapter.call import failed_parts
from ..adapter.failure import failure_from
from ..adapter.threads import in_own_loop, wait_in
from ..adapter.trace import in_trace
from ..agent import Agent
from ..protocol.error import WaybillError
from ..protocol.manifest_shape import read_capability
from ..serving.outcome import Finished
from ..serving.work import Work
from .asking import FeedbackAsked, InputAsked, review_flows, review_wanted, reviewer
from .ended import finished, words_ended
from .inputs import WORDS, inputs_of
from .step import steps_made
from .usage import listen, settle_counts

Runner = Crew | Flow[Any]
Factory = Callable[[Work], "Runner | Awaitable[Runner]"]

_MESSAGE_LENGTH = 65_536


def schema_of(crew: Crew) -> dict[str, str]:
    """The inputs that a crew's agents and tasks have places for, as the schema of a capability."""
    return dict.fromkeys(sorted(crew.fetch_inputs() - WORDS), "string")


def serve(agent: Agent, capability: str | dict[str, Any], factory: Factory) -> None:
    """Serves what the factory makes, anew for every attempt, in a thread of its own.

    An input that is an object is the crew's inputs; there are besides `instruction` (the brief, or what
    was said last), `expected_output` and `history`. What its tasks and methods give is its progress;
    where a task wants human input, or a flow asks or wants human feedback, the delegator is asked, and the
    run waits in memory.
    Whatever limit the crew ignores, the handoff's deadline holds."""
    offered = {"name": capability} if isinstance(capability, str) else capability
    offered = {"takes": "delegation", **offered}
    output_schema = read_capability(offered)["output_schema"]
    listen()

    async def run(work: Work) -> Finished:
        parts: list[WaybillError] = []
        failed_parts.set(parts)
        steps_made.set(Counter())
        loop = asyncio.get_running_loop()
        try:
            made = factory(work)
            runner = await made if inspect.isawaitable(made) else made
            inputs = inputs_of(work, output_schema, _names_in(runner))
            try:
                with in_trace(work.envelope.get("traceparent")):
                    ended = await in_own_loop(lambda: _kickoff(runner, inputs, work, loop))
            finally:
                await asyncio.to_thread(settle_counts)
            return finished(ended, output_schema)
        except Exception as error:
            raise failure_from(error, parts) from error

    agent.serve(offered, run)


def _names_in(runner: Runner) -> list[str]:
    return [each.role for each in runner.agents] if isinstance(runner, Crew) else []


async def _kickoff(
    runner: Runner, inputs: dict[str, Any], work: Work, loop: asyncio.AbstractEventLoop
) -> Any:
    set_provider(FeedbackAsked(work, loop))
    review_flows()
    review_wanted.set(reviewer(work, loop))
    if isinstance(runner, Flow) and runner.input_provider is None:
        runner.input_provider = InputAsked(work, loop)

    def told(step: StepContext) -> None:
        # What executes an agent is a flow as well, of CrewAI's own.
        if step.kind != "task" and step.flow is not runner:
            return
        about = {"step": step.step_name, "agent": step.agent_role}
        said = words_ended(step.output)[:_MESSAGE_LENGTH]
        try:
            wait_in(loop, work.progress(said, data=about))
        except WaybillError:
            # The attempt is over, which its cancellation says too; lost progress is no failure of the work.
            pass

    with scoped_hooks():
        register_scoped(InterceptionPoint.POST_STEP, told)
        ended = await runner.akickoff(inputs=inputs)
        if isinstance(ended, CrewStreamingOutput | FlowStreamingOutput):
            async for _ in ended:
                pass
            return ended.result
        return ended
