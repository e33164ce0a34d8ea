"""A step of a framework as a handoff: made or found again, and waited for."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from dataclasses import replace
from typing import Any, Literal, TypeAlias

from ..agent import Agent
from ..delegating.ending import DeltaEvent, HandoffResult, ProgressEvent, QuestionEvent
from ..delegating.handle import HandoffHandle
from ..protocol.encoding import digest_of
from ..protocol.error import WaybillError
from ..protocol.ids import handoff_id_of
from ..protocol.session import is_session_id
from ..serving.work import current_work
from ..tracing.api import tracer
from .files import loaded
from .trace import current_traceparent

OnProgress = Callable[[ProgressEvent], Awaitable[None]]
OnDelta = Callable[[DeltaEvent], Awaitable[None]]
OnQuestion = Callable[[QuestionEvent], Awaitable[Any]]
OnResult = Callable[[HandoffResult], None]
"""Gets the whole result, as it was received. It is for code: its messages may impersonate anybody.
"""

CallSession: TypeAlias = "str | dict[str, Any] | Literal[True] | None"
"""The session in which a framework's step hands off. True uses the framework's own conversation, if
it has one. By default there is none, so nothing is shared without being asked for.
"""

failed_parts: ContextVar[list[WaybillError] | None] = ContextVar("failed_parts", default=None)
"""The failures of handoffs made inside this work. Frameworks keep only a failure's text, and some
not even that.
"""


async def refuse_question(question: QuestionEvent) -> Any:
    """Refuses every question, for a framework that has nobody to ask."""
    raise WaybillError(
        499, f"Nobody here can answer the question of {question.by}: {question.text or question.id}"
    )


def session_for(asked: CallSession, conversation: str | None) -> str | dict[str, Any] | None:
    """The session of a handoff, from the option and the framework's own name for its conversation."""
    if asked is not True:
        return asked
    if conversation is None or is_session_id(conversation):
        return conversation
    # Too long or with spaces: the hash of the name identifies the same conversation.
    return digest_of(conversation).removeprefix("sha256:")


def dispatch(
    agent: Agent, capability: str, *, run: str, step: str, **options: Any
) -> HandoffHandle:
    """Hands off for a step, or finds the handoff that the step made earlier.

    Inside served work it is a child: the same job, the same trace, and no later.
    """
    handoff_id = handoff_id_of(agent.id, run, step)
    work = current_work.get()
    if work is None:
        # With an SDK the handoff carries the span in which it is sent.
        if tracer() is None:
            options = {"traceparent": current_traceparent(), **options}
        return agent.hand_off(capability, handoff_id=handoff_id, **options)
    if work.agent == agent.id:
        return work.hand_off(capability, handoff_id=handoff_id, **options)
    same_job: dict[str, Any] = {
        name: work.envelope[name]
        for name in ("correlation_id", "traceparent", "tracestate")
        if name in work.envelope
    }
    if options.get("timeout") is None:
        options["deadline"] = options.get("deadline") or work.deadline
    return agent.hand_off(capability, handoff_id=handoff_id, **{**same_job, **options})


async def settle(
    handle: HandoffHandle,
    *,
    on_progress: OnProgress | None = None,
    on_delta: OnDelta | None = None,
    on_question: OnQuestion = refuse_question,
) -> HandoffResult:
    """Waits for the end, and lets a framework take part until then.

    Without `on_delta`, deltas go to the delegator of the served run, and outside of one to
    `on_progress`.

    Cancelling the run cancels the handoff. A WaybillError of `on_question` is a refusal and cancels
    the handoff; any other error passes through and leaves the handoff as it is.
    """
    listening = [asyncio.ensure_future(_answer(handle, on_question))]
    if on_progress is not None:
        listening.append(asyncio.ensure_future(_show(handle, on_progress)))
    if on_delta is not None or on_progress is not None or current_work.get() is not None:
        listening.append(asyncio.ensure_future(_write(handle, on_delta, on_progress)))
    ending = asyncio.ensure_future(handle.result())
    try:
        waiting: set[asyncio.Future[Any]] = {ending, *listening}
        while not ending.done():
            done, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            for each in done - {ending}:
                await each
        # Everything that came before the end is shown before the end.
        await asyncio.gather(*listening)
        result = await ending
        return replace(result, artifacts=await loaded(result.artifacts))
    except asyncio.CancelledError:
        # The run stops now; the cancellation is sent in the background.
        handle.cancel_beside("The run that it was a part of was cancelled.")
        raise
    except WaybillError as error:
        parts = failed_parts.get()
        if parts is not None:
            parts.append(error)
        raise
    finally:
        for each in (*listening, ending):
            each.cancel()


async def _show(handle: HandoffHandle, on_progress: OnProgress) -> None:
    async for event in handle.progress:
        await on_progress(event)


async def _write(
    handle: HandoffHandle, on_delta: OnDelta | None, on_progress: OnProgress | None
) -> None:
    work = current_work.get()
    async for delta in handle.deltas:
        if on_delta is not None:
            await on_delta(delta)
        elif work is not None:
            work.delta(delta.text)
        elif on_progress is not None:
            await on_progress(ProgressEvent(delta.by, delta.attempt, message=delta.text))


async def _answer(handle: HandoffHandle, on_question: OnQuestion) -> None:
    async for question in handle.questions:
        try:
            answer = await on_question(question)
        except WaybillError as error:
            await handle.cancel(error.message)
            raise
        except BaseException:
            # A repeated step is asked again, also in this process.
            handle.questions.put_back(question)
            raise
        try:
            await handle.answer(question.id, answer)
        except WaybillError as error:
            # The question was answered already, or its attempt is over.
            if error.status != 410:
                raise
