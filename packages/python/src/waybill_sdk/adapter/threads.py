"""Blocking frameworks: they run beside the loop of the agent, and reach it from their threads."""

from __future__ import annotations

import asyncio
import concurrent.futures
import threading
from collections.abc import Callable, Coroutine
from contextvars import copy_context
from typing import Any, TypeVar

from ..protocol.error import WaybillError

Value = TypeVar("Value")

# A loop that is busy for longer than this must not delay a Ctrl-C.
_HEARD_WITHIN_S = 2.0


async def in_own_loop(make: Callable[[], Coroutine[Any, Any, Value]]) -> Value:
    """Runs a framework in a thread with a loop of its own, so that heartbeats go on whatever blocks
    in it.

    A cancellation cancels the run, and does not wait for one that ignores it.
    """
    outer = asyncio.get_running_loop()
    ended: asyncio.Future[Value] = outer.create_future()
    started: list[tuple[asyncio.AbstractEventLoop, asyncio.Task[Value]]] = []
    is_unwanted = threading.Event()

    def settle(value: Any, error: BaseException | None) -> None:
        if ended.done():
            return
        if error is None:
            ended.set_result(value)
        else:
            ended.set_exception(error)

    async def run() -> Value:
        task = asyncio.ensure_future(make())
        started.append((asyncio.get_running_loop(), task))
        # It may have been cancelled before the thread started.
        if is_unwanted.is_set():
            task.cancel()
        return await task

    def main() -> None:
        value: Any = None
        error: BaseException | None = None
        try:
            value = asyncio.run(run())
        except asyncio.CancelledError:
            error = WaybillError(499, "The run was cancelled.")
        except BaseException as raised:
            error = raised
        if not outer.is_closed():
            outer.call_soon_threadsafe(settle, value, error)

    context = copy_context()
    threading.Thread(target=context.run, args=(main,), name="waybill-run", daemon=True).start()
    try:
        return await ended
    except asyncio.CancelledError:
        is_unwanted.set()
        for loop, task in started:
            if not loop.is_closed():
                loop.call_soon_threadsafe(task.cancel)
        raise


def wait_in(
    loop: asyncio.AbstractEventLoop,
    work: Coroutine[Any, Any, Value],
    watch: Callable[[concurrent.futures.Future[Any]], None] | None = None,
) -> Value:
    """For a thread: waits for work in the loop of the agent.

    A thread does not notice a cancellation: `watch` gets the future, and cancels it when nobody
    waits any more.
    """
    if _running() is loop:
        work.close()
        raise WaybillError(
            403,
            "This call would deadlock: the framework runs synchronously in the agent's own event loop. Run it "
            "in a thread, or with its async kickoff.",
        )
    has_ended = threading.Event()
    waiting = asyncio.run_coroutine_threadsafe(_to_its_end(work, has_ended), loop)
    if watch is not None:
        watch(waiting)
    try:
        return waiting.result()
    except concurrent.futures.CancelledError as error:
        raise WaybillError(499, "The run was cancelled.", cause=error) from error
    except (KeyboardInterrupt, SystemExit):
        waiting.cancel()
        # Otherwise the agent could stop before it notices.
        has_ended.wait(_HEARD_WITHIN_S)
        raise


async def _to_its_end(work: Coroutine[Any, Any, Value], has_ended: threading.Event) -> Value:
    try:
        return await work
    finally:
        has_ended.set()


def cancel_after(step: asyncio.Task[Any], waiting: concurrent.futures.Future[Any]) -> None:
    """Cancels what a thread waits for when the task that waits for the thread has ended."""
    try:
        step.get_loop().call_soon_threadsafe(step.add_done_callback, lambda _: waiting.cancel())
    except RuntimeError:
        # Its loop is closed already.
        waiting.cancel()


async def await_in(loop: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, Value]) -> Value:
    """The same for a coroutine of any loop."""
    if _running() is loop:
        return await work
    return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, loop))


def _running() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
