"""Cancels the handoffs that CrewAI no longer waits for.

A tool runs in a thread, and a thread is not told when what waits for it is cancelled. Four things show it:
the asyncio task that runs the step has ended, the step itself has ended in a task that goes on (after
`asyncio.wait_for`, from Python 3.12 on), CrewAI reports that the agent failed, as it does when
`max_execution_time` is over, or asyncio cancels the future of the thread in which the crew runs without async
(`asyncio.to_thread`, `kickoff_async`)."""

from __future__ import annotations

import asyncio
import concurrent.futures
import sys
import weakref
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import datetime, timezone
from threading import Lock
from typing import Any

from crewai.events import crewai_event_bus
from crewai.events.types.agent_events import AgentExecutionErrorEvent
from crewai.hooks.dispatch import InterceptionPoint, register

from ..adapter.threads import cancel_after

Future = concurrent.futures.Future[Any]


@dataclass(eq=False)
class _Step:
    runs_in: asyncio.Task[Any]
    futures: set[Future] = field(default_factory=set)
    is_over: bool = False

    def cancel_at_end(self, future: Future) -> None:
        cancel_after(self.runs_in, future)
        self.futures.add(future)
        future.add_done_callback(self.futures.discard)
        if self.is_over:
            future.cancel()

    def end(self) -> None:
        self.is_over = True
        for each in list(self.futures):
            each.cancel()


@dataclass(eq=False)
class _Pooled:
    """A crew in a thread of a pool."""

    job: Future
    waiting: set[Future] = field(default_factory=set)
    is_over: bool = False

    def __post_init__(self) -> None:
        cancel = self.job.cancel

        def heard() -> bool:
            self.is_over = True
            for each in list(self.waiting):
                each.cancel()
            return cancel()

        # A job that runs can't be cancelled, and so nobody else hears that it was tried.
        self.job.cancel = heard  # type: ignore[method-assign]

    def cancel_at_end(self, future: Future) -> None:
        self.waiting.add(future)
        future.add_done_callback(self.waiting.discard)
        if self.is_over:
            future.cancel()


_step: ContextVar[_Step | None] = ContextVar("step", default=None)
_pooled: ContextVar[_Pooled | None] = ContextVar("pooled", default=None)
_task: ContextVar[Any | None] = ContextVar("task", default=None)


@dataclass(eq=False)
class _Waiting:
    future: Future
    task: Any
    since: datetime = field(default_factory=lambda: datetime.now(timezone.utc))


_waiting: set[_Waiting] = set()
_lock = Lock()


def cancel_when_abandoned(future: Future) -> None:
    """For the thread of a tool or a member, before it waits for this future."""
    step, task = _step.get(), _task.get()
    if step is not None:
        step.cancel_at_end(future)
    _note_thread()
    pooled = _pooled.get()
    if pooled is not None:
        pooled.cancel_at_end(future)
    if task is None:
        return
    waiting = _Waiting(future, task)
    with _lock:
        _waiting.add(waiting)
    future.add_done_callback(lambda _: _forget(waiting))


def _forget(waiting: _Waiting) -> None:
    with _lock:
        _waiting.discard(waiting)


def _note_step(context: Any) -> None:
    try:
        runs_in = asyncio.current_task()
    except RuntimeError:
        # In a thread: the threads that it starts get a copy of its context.
        _note_thread()
        return
    if runs_in is None:
        return
    step = _Step(runs_in)
    _step.set(step)
    # CrewAI has a hook for the end of a step that succeeded only. It keeps this object while the step runs.
    weakref.finalize(context, step.end).atexit = False


def _note_thread() -> None:
    known = _pooled.get()
    # `run_in_executor` gives the jobs of one thread one context.
    if known is not None and not known.job.done():
        return
    job = _job_here()
    if job is not None:
        _pooled.set(_Pooled(job))


def _job_here() -> Future | None:
    """What a thread of a pool works at: it stands in the first of its frames, and nowhere else."""
    frame = sys._getframe()
    while frame.f_back is not None:
        frame = frame.f_back
        if frame.f_code.co_name == "run":
            job = getattr(frame.f_locals.get("self"), "future", None)
            if isinstance(job, concurrent.futures.Future):
                return job
    return None


def running_task() -> Any | None:
    """The task that the tool in this thread was called for."""
    return _task.get()


def _note_tool(context: Any) -> None:
    _task.set(context.task)


def _cancel_failed(_source: Any, event: AgentExecutionErrorEvent) -> None:
    with _lock:
        # The agent may have begun again before this handler runs: what came after the event is of its next try.
        over = [
            each for each in _waiting if each.task is event.task and each.since <= event.timestamp
        ]
    for each in over:
        each.future.cancel()


# The thread of a tool gets a copy of the context of the asyncio task that waits for it.
register(InterceptionPoint.PRE_STEP, _note_step)
register(InterceptionPoint.PRE_TOOL_CALL, _note_tool)
crewai_event_bus.on(AgentExecutionErrorEvent)(_cancel_failed)
