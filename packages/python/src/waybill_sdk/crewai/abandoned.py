"""Cancels the handoffs that CrewAI no longer waits for.

A tool runs in a thread, and a thread is not told when what waits for it is cancelled. Three things show it:
the asyncio task that runs the step has ended, the step itself has ended in a task that goes on (after
`asyncio.wait_for`, from Python 3.12 on), or CrewAI reports that the agent failed, as it does when
`max_execution_time` is over."""

from __future__ import annotations

import asyncio
import concurrent.futures
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


_step: ContextVar[_Step | None] = ContextVar("step", default=None)
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
        # In a thread, whose context was set when it began.
        return
    if runs_in is None:
        return
    step = _Step(runs_in)
    _step.set(step)
    # CrewAI has a hook for the end of a step that succeeded only. It keeps this object while the step runs.
    weakref.finalize(context, step.end).atexit = False


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
