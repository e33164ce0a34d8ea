"""Any AgentChat agent or team as a capability."""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from autogen_agentchat.base import ChatAgent, Response, TaskResult, Team
from autogen_agentchat.messages import (
    BaseAgentEvent,
    BaseChatMessage,
    HandoffMessage,
    ModelClientStreamingChunkEvent,
)
from autogen_core import CancellationToken

from ..adapter.call import failed_parts
from ..adapter.failure import failure_from
from ..adapter.files import loaded
from ..adapter.in_session import Ending, in_session
from ..adapter.session_store import SessionStore
from ..adapter.speaker import unnamed
from ..adapter.speech import heard
from ..adapter.trace import in_trace
from ..adapter.usage import count_usage
from ..adapter.words import asked_of, output_of
from ..agent import Agent
from ..protocol.error import WaybillError
from ..protocol.manifest_shape import read_capability
from ..protocol.schema import compile_schema
from ..serving.outcome import Finished, Paused
from ..serving.work import Work
from .messages import (
    HANDOFF_ID,
    assert_showable,
    from_wire,
    said_in,
    to_wire,
    with_files,
)

Runner = ChatAgent | Team
Factory = Callable[[Work], "Runner | Awaitable[Runner]"]


def serve(
    agent: Agent,
    capability: str | dict[str, Any],
    factory: Factory,
    *,
    user: str = "user",
    sessions: SessionStore | None = None,
) -> None:
    """Serves what the factory makes: a team can't run twice at once, so every attempt gets one of
    its own.

    The work comes as a conversation, the messages of the run are its progress, the chunks that a
    model streams are its deltas, and the last one is its output. A run that ends with a handoff to
    `user` asks: the attempt is paused with the state of the run, and the answer resumes it, in
    another process too.

    In a session each run begins with the state that the previous one has saved. `sessions` keeps
    these states; by default they are in the memory of the process.
    """
    offered = {"name": capability} if isinstance(capability, str) else capability
    offered = {"takes": "conversation", **offered}
    read = read_capability(offered)
    output_schema = read["output_schema"]
    compiled = compile_schema(output_schema)
    store = SessionStore() if sessions is None else sessions

    async def turn(work: Work, before: Any) -> Ending:
        parts: list[WaybillError] = []
        failed_parts.set(parts)
        try:
            runner = await _made(factory, work)
            task = await _task(runner, work, output_schema, user, before)
            with in_trace(work.envelope.get("traceparent")):
                result = await _run(runner, task, work)
        except Exception as error:
            raise failure_from(error, parts) from error
        said = said_in(result.messages)[len(task) :]
        last = said[-1] if said else None
        if isinstance(last, HandoffMessage) and last.target == user:
            state = {"run": await runner.save_state(), "asked_by": last.source}
            question = work.question(last.content, id=f"{work.agent}/{last.source}/{work.attempt}")
            return work.pause(question, state=json.dumps(state)), None
        output = output_of("" if last is None else last.to_text(), output_schema)
        finished = work.result(output, messages=[to_wire(each) for each in said])
        return finished, None if work.session is None else await runner.save_state()

    async def run(work: Work) -> Finished | Paused:
        return await in_session(
            store, work, read["name"], compiled, lambda before: turn(work, before)
        )

    agent.serve(offered, run)


def user_input(work: Work) -> Callable[[str, CancellationToken | None], Awaitable[str]]:
    """The `input_func` of a UserProxyAgent: the delegator is asked, and the run waits in memory."""

    async def ask(prompt: str, _token: CancellationToken | None = None) -> str:
        answer = await work.ask(prompt)
        return answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)

    return ask


async def _made(factory: Factory, work: Work) -> Runner:
    made = factory(work)
    return await made if inspect.isawaitable(made) else made


async def _task(
    runner: Runner, work: Work, output_schema: Any, user: str, before: Any
) -> list[BaseChatMessage]:
    if work.resume is None:
        if before is not None:
            await runner.load_state(before)
        names = _names_in(runner)
        body = heard(work, names)
        asked = with_files(asked_of(body, output_schema), await loaded(work.artifacts))
        assert_showable(asked)
        return from_wire(asked, unnamed(names, work.envelope["from"]))
    state = json.loads(work.resume.state)
    await runner.load_state(state["run"])
    # The answers of the latest pause: the state contains earlier ones.
    answer = work.resume.answers[work.resume.questions[-1]["id"]]
    content = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)
    return [HandoffMessage(source=user, target=state["asked_by"], content=content)]


def _names_in(runner: Runner) -> list[str]:
    """The name of an agent, or the names of a team and its participants."""
    participants = getattr(runner, "_participant_names", [])
    return [runner.name, *participants]


async def _run(runner: Runner, task: Sequence[BaseChatMessage], work: Work) -> TaskResult:
    token = CancellationToken()
    running = asyncio.ensure_future(_stream(runner, task, token, work))
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        if running.cancelled():
            raise WaybillError(499, "The run has cancelled itself.") from None
        # A team ends its stream only once its members have ended, and those react to the token
        # only.
        token.cancel()
        running.add_done_callback(lambda done: done.cancelled() or done.exception())
        raise


async def _stream(
    runner: Runner, task: Sequence[BaseChatMessage], token: CancellationToken, work: Work
) -> TaskResult:
    result: TaskResult | None = None
    given = {each.id for each in task}
    async for event in runner.run_stream(task=list(task), cancellation_token=token):
        if isinstance(event, TaskResult):
            result = event
        elif isinstance(event, Response):
            continue
        elif isinstance(event, ModelClientStreamingChunkEvent):
            work.delta(event.content)
        elif event.id not in given:
            _count(event)
            await _report(event, work)
    if result is None:
        raise WaybillError(500, "The run ended without a result.", retryable=False)
    return result


def _count(event: BaseAgentEvent | BaseChatMessage) -> None:
    """A remote agent's usage is added by the agent that hands off, and not here."""
    used = event.models_usage
    if used is not None and HANDOFF_ID not in event.metadata:
        count_usage(
            requests=1, input_tokens=used.prompt_tokens, output_tokens=used.completion_tokens
        )


async def _report(event: BaseAgentEvent | BaseChatMessage, work: Work) -> None:
    try:
        await work.progress(
            event.to_text()[:65_536], data={"source": event.source, "type": type(event).__name__}
        )
    except WaybillError:
        # The attempt is over, and its cancellation says so too. Lost progress does not fail the
        # work.
        pass
