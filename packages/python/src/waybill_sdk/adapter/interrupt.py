"""Ctrl-C while a framework waits for tasks that it does not cancel."""

from __future__ import annotations

import asyncio
import functools
import signal
import threading
from types import FrameType
from typing import Any

_waiting: dict[asyncio.Future[Any], asyncio.AbstractEventLoop] = {}
_before: Any = None


def cancel_at_interrupt(work: asyncio.Future[Any]) -> None:
    """Cancels this work at a Ctrl-C that `asyncio.run` or Python itself handles, before they do.

    Both then behave as usual. A program with a handler of its own decides itself what to stop, and
    so does one whose loop is not in the main thread.
    """
    global _before
    if threading.current_thread() is not threading.main_thread():
        return
    if not _waiting:
        handler = signal.getsignal(signal.SIGINT)
        if handler is not _interrupted:
            if not _is_default(handler):
                return
            _before = handler
            signal.signal(signal.SIGINT, _interrupted)
    _waiting[work] = work.get_loop()
    work.add_done_callback(_forget)


def _is_default(handler: Any) -> bool:
    """Whether it is Python's own handler, or that of `asyncio.run`, which has one from Python 3.11
    on.
    """
    if handler is signal.default_int_handler:
        return True
    runner = getattr(asyncio, "Runner", None)
    owner = (
        getattr(handler.func, "__self__", None) if isinstance(handler, functools.partial) else None
    )
    return runner is not None and isinstance(owner, runner)


def _interrupted(number: int, frame: FrameType | None) -> None:
    for work, loop in list(_waiting.items()):
        if not loop.is_closed():
            loop.call_soon_threadsafe(work.cancel)
    _before(number, frame)


def _forget(work: asyncio.Future[Any]) -> None:
    _waiting.pop(work, None)
    in_main = threading.current_thread() is threading.main_thread()
    if not _waiting and in_main and signal.getsignal(signal.SIGINT) is _interrupted:
        signal.signal(signal.SIGINT, _before)
