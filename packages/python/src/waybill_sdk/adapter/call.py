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
"""Hears all of a result, as it was received. It is for code: its messages may pose as anybody."""

CallSession: TypeAlias = "str | dict[str, Any] | Literal[True] | None"
"""Which session a framework's step hands off in. True: that of the framework's own conversation, where it has
one. None: none, so that nothing is shared that was not asked for."""

failed_parts: ContextVar[list[WaybillError] | None] = ContextVar("failed_parts", default=None)
"""How the handoffs have failed that were made in the course of this work. Frameworks keep a failure's
words alone, and some of them not even those."""


async def refuse_question(question: QuestionEvent) -> Any:
    """For a framework that has nobody to ask."""
    raise WaybillError(
        499, f"Nobody here can answer the question of {question.by}: {question.text or question.id}"
    )


def session_for(asked: CallSession, conversation: str | None) -> str | dict[str, Any] | None:
    """The session for a handoff, by what was asked for and what the framework calls its conversation."""
    if asked is not True:
        return asked
    if conversation is None or is_session_id(conversation):
        return conversation
    # Too long, or with spaces: its hash names the same.
    return digest_of(conversation).removeprefix("sha256:")


def dispatch(
    agent: Agent, capability: str, *, run: str, step: str, **options: Any
) -> HandoffHandle:
    """Hands a step off, or finds the handoff that it was given to before.

    In the course of work it is a part of that: same job, same trace, no later."""
    handoff_id = handoff_id_of(agent.id, run, step)
    work = current_work.get()
    if work is None:
        # With an SDK the handoff carries the span that it is sent in.
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
    """Waits for the end, and lets a framework take part in what happens until then.

    Without `on_delta`, deltas go on to whoever the run is served for, and elsewhere to `on_progress`.

    Where its run is cancelled, so is the handoff. A WaybillError of `on_question` is a refusal: it cancels
    the handoff; whatever else it raises passes through, and the handoff stays as it is."""
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
        # Everything that came before the end is shown before it.
        await asyncio.gather(*listening)
        result = await ending
        return replace(result, artifacts=await loaded(result.artifacts))
    except asyncio.CancelledError:
        # The run stops now; that the handoff is cancelled is told beside it.
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
            # A step that is run again is asked again, also in this process.
            handle.questions.put_back(question)
            raise
        try:
            await handle.answer(question.id, answer)
        except WaybillError as error:
            # Somebody has answered it already, or nobody waits for it any more.
            if error.status != 410:
                raise
