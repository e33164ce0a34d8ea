"""A crew or a flow as a capability."""

from __future__ import annotations

import asyncio
import inspect
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import Any

from crewai import Crew, Flow
from crewai.agents.agent_builder.base_agent import BaseAgent
from crewai.core.providers.human_input import set_provider
from crewai.hooks.contexts import StepContext
from crewai.hooks.dispatch import InterceptionPoint, register_scoped, scoped_hooks
from crewai.types.streaming import AsyncStreamSession, CrewStreamingOutput

from ..adapter.call import failed_parts
from ..adapter.failure import failure_from
from ..adapter.files import loaded
from ..adapter.in_session import Ending, in_session
from ..adapter.session_store import SessionStore
from ..adapter.speech import heard
from ..adapter.threads import in_own_loop, wait_in
from ..adapter.trace import in_trace
from ..adapter.words import Message, asked_of
from ..agent import Agent
from ..protocol.error import WaybillError
from ..protocol.manifest_shape import read_capability
from ..protocol.schema import compile_schema
from ..serving.outcome import Finished, Paused
from ..serving.work import Work
from .asking import FeedbackAsked, InputAsked, review_flows, review_wanted, reviewer
from .ended import finished, said_in, words_ended
from .files import ShownFiles
from .inputs import WORDS, inputs_of, with_history_told
from .step import steps_made
from .usage import listen, settle_counts
from .writing import writes

Runner = Crew | Flow[Any]
Factory = Callable[[Work], "Runner | Awaitable[Runner]"]

_MESSAGE_LENGTH = 65_536


def schema_of(crew: Crew) -> dict[str, str]:
    """The inputs for which a crew's agents and tasks have placeholders, as the schema of a
    capability.
    """
    return dict.fromkeys(sorted(crew.fetch_inputs() - WORDS), "string")


def serve(
    agent: Agent,
    capability: str | dict[str, Any],
    factory: Factory,
    *,
    names: Sequence[str] = (),
    sessions: SessionStore | None = None,
) -> None:
    """Serves what the factory makes, separately for every attempt, in a thread of its own.

    An input that is an object is the crew's inputs; besides there are `instruction` (the brief, or
    the last turn), `expected_output` and `history`. The outputs of its tasks and methods are its
    progress, and its models' streams its deltas. If a task needs human input, or a flow asks or
    needs human feedback, the delegator is asked, and the run waits in memory. Whatever limit the
    crew ignores, the handoff's deadline holds.

    Images, recordings and files of its messages are files of the crew, and each of its models must
    take them: a file that one of them does not take is refused. Both need
    `crewai[file-processing]`. Artifacts are shown to models that take them, and described to others
    by name and type.

    In a session, its earlier turns are in `history`. `sessions` keeps them; by default they are in
    the memory of the process. A crew without a place for `{history}` has them in `{instruction}`.
    """
    offered = {"name": capability} if isinstance(capability, str) else capability
    offered = {"takes": "delegation", **offered}
    read = read_capability(offered)
    output_schema = read["output_schema"]
    compiled = compile_schema(output_schema)
    declared = _members_in(read["input_schema"])
    store = SessionStore() if sessions is None else sessions
    listen()

    async def turn(work: Work, before: list[Message]) -> Ending:
        parts: list[WaybillError] = []
        failed_parts.set(parts)
        steps_made.set(Counter())
        loop = asyncio.get_running_loop()
        try:
            made = factory(work)
            runner = await made if inspect.isawaitable(made) else made
            own = [*names, *_names_in(runner)]
            inputs = inputs_of(work, output_schema, own, before, declared)
            shown = await _files_in(work, runner, before)
            if not _tells_history(runner):
                inputs = with_history_told(inputs)
            try:
                with in_trace(work.envelope.get("traceparent")):
                    ended = await in_own_loop(lambda: _kickoff(runner, inputs, shown, work, loop))
            finally:
                await asyncio.to_thread(settle_counts)
            result = finished(ended, output_schema)
            return result, [*before, *asked_of(heard(work, own), output_schema), *said_in(result)]
        except Exception as error:
            raise failure_from(error, parts) from error

    async def run(work: Work) -> Finished | Paused:
        return await in_session(
            store, work, read["name"], compiled, lambda before: turn(work, before or [])
        )

    agent.serve(offered, run)


async def _files_in(work: Work, runner: Runner, before: list[Message]) -> ShownFiles:
    files = await loaded(work.artifacts)
    shown = ShownFiles([*before, *work.body.get("messages", [])], files)
    if isinstance(runner, Crew):
        shown.assert_shown_by(runner)
    return shown


def _tells_history(runner: Runner) -> bool:
    return not isinstance(runner, Crew) or "history" in runner.fetch_inputs()


def _names_in(runner: Runner) -> list[str]:
    """The names of a crew's members, or of a flow, its methods, and the members of its crews."""
    if isinstance(runner, Crew):
        members = [*runner.agents, *([runner.manager_agent] if runner.manager_agent else [])]
        return [each.role for each in members]
    held = [each for each in vars(runner).values() if isinstance(each, Crew | BaseAgent)]
    roles = [each.role for each in held if isinstance(each, BaseAgent)]
    crews = [role for each in held if isinstance(each, Crew) for role in _names_in(each)]
    return [runner.name or type(runner).__name__, *map(str, runner._methods), *roles, *crews]


def _members_in(schema: Any) -> Collection[str]:
    return schema.get("properties", ()) if isinstance(schema, dict) else ()


async def _kickoff(
    runner: Runner,
    inputs: dict[str, Any],
    shown: ShownFiles,
    work: Work,
    loop: asyncio.AbstractEventLoop,
) -> Any:
    set_provider(FeedbackAsked(work, loop))
    review_flows()
    review_wanted.set(reviewer(work, loop))
    writes.set(lambda text: loop.call_soon_threadsafe(work.delta, text))
    if isinstance(runner, Flow) and runner.input_provider is None:
        runner.input_provider = InputAsked(work, loop)

    def told(step: StepContext) -> None:
        # CrewAI's executor of an agent is a flow as well.
        if step.kind != "task" and step.flow is not runner:
            return
        about = {"step": step.step_name, "agent": step.agent_role}
        said = words_ended(step.output)[:_MESSAGE_LENGTH]
        try:
            wait_in(loop, work.progress(said, data=about))
        except WaybillError:
            # The attempt is over, and its cancellation says so too. Lost progress does not fail the
            # work.
            pass

    with scoped_hooks():
        register_scoped(InterceptionPoint.POST_STEP, told)
        register_scoped(InterceptionPoint.PRE_STEP, shown.before_task)
        register_scoped(InterceptionPoint.PRE_MODEL_CALL, shown.before_model_call)
        try:
            ended = await runner.akickoff(inputs=inputs, input_files=shown.files or None)
            if isinstance(ended, CrewStreamingOutput | AsyncStreamSession):
                # `writes` has its pieces already, as it has those of models that stream by
                # themselves.
                async for _ in ended:
                    pass
                return ended.result
            return ended
        except Exception as error:
            if shown.refused is not None:
                raise shown.refused from error
            if _is_without_a_word(runner):
                return None
            raise


def _is_without_a_word(runner: Runner) -> bool:
    """CrewAI does not report a run in which every task has ended without an output."""
    return isinstance(runner, Crew) and all(
        each.output is not None and not each.output.raw for each in runner.tasks
    )
