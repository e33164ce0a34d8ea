"""What code without async gets of a handoff: every call waits for the loop of the agent."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from typing import Any, Generic, TypeVar

from ..protocol.usage import Usage
from .ending import DeltaEvent, HandoffResult, ProgressEvent, QuestionEvent, Receipt
from .handle import HandoffHandle as AsyncHandle
from .stream import Stream

Value = TypeVar("Value")


class InLoop:
    """Runs something in a loop that another thread turns, and waits for it."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop

    def wait(self, work: Coroutine[Any, Any, Value]) -> Value:
        future = asyncio.run_coroutine_threadsafe(work, self.loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def call(self, work: Callable[[], Value]) -> Value:
        async def run() -> Value:
            return work()

        return self.wait(run())


class HandoffHandle:
    def __init__(self, handle: AsyncHandle, loop: InLoop) -> None:
        self._handle = handle
        self._loop = loop
        self.progress: Events[ProgressEvent] = Events(handle.progress, loop)
        self.questions: Events[QuestionEvent] = Events(handle.questions, loop)

    @property
    def deltas(self) -> Events[DeltaEvent]:
        return Events(self._loop.call(lambda: self._handle.deltas), self._loop)

    @property
    def id(self) -> str:
        return self._handle.id

    @property
    def envelope(self) -> dict[str, Any]:
        return self._handle.envelope

    @property
    def usage(self) -> Usage | None:
        return self._handle.usage

    def custody(self) -> Receipt:
        return self._loop.wait(self._handle.custody())

    def accepted(self) -> Receipt:
        return self._loop.wait(self._handle.accepted())

    def result(self) -> HandoffResult:
        return self._loop.wait(self._handle.result())

    def cancel(self, reason: str | None = None) -> bool:
        return self._loop.wait(self._handle.cancel(reason))

    def answer(self, question_id: str, answer: Any) -> None:
        self._loop.wait(self._handle.answer(question_id, answer))

    def acknowledge(self) -> None:
        self._loop.wait(self._handle.acknowledge())


class Events(Generic[Value]):
    """What happens, in order; ends with the handoff."""

    def __init__(self, stream: Stream[Value], loop: InLoop) -> None:
        self._stream = stream
        self._loop = loop

    def __iter__(self) -> Iterator[Value]:
        return self

    def __next__(self) -> Value:
        try:
            return self._loop.wait(self._stream.__anext__())
        except StopAsyncIteration:
            raise StopIteration from None
