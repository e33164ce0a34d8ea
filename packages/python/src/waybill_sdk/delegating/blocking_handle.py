"""The handle of a handoff for code without async: every call waits for the loop of the agent."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass, field, fields, replace
from typing import Any, Generic, TypeVar

from ..artifacts.received import BlockingArtifact
from ..protocol.usage import Usage
from .ending import DeltaEvent, HandoffResult, ProgressEvent, QuestionEvent, Receipt
from .handle import HandoffHandle as AsyncHandle
from .stream import Stream

Value = TypeVar("Value")


class InLoop:
    """Runs something in another thread's loop, and waits for it."""

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


@dataclass(frozen=True)
class BlockingResult(HandoffResult):
    """A result whose files are read without async."""

    artifacts: list[BlockingArtifact] = field(default_factory=list)  # type: ignore[assignment]


def blocking_result(result: HandoffResult, loop: InLoop) -> BlockingResult:
    members = {each.name: getattr(result, each.name) for each in fields(result)}
    files = [BlockingArtifact(each, loop) for each in result.artifacts]
    return BlockingResult(**{**members, "artifacts": files})


def blocking_all(results: list[Any], loop: InLoop) -> list[Any]:
    """The results of a fan-out, settled or not."""
    return [_blocking(each, loop) for each in results]


def _blocking(each: Any, loop: InLoop) -> Any:
    if isinstance(each, HandoffResult):
        return blocking_result(each, loop)
    return each if each.result is None else replace(each, result=_blocking(each.result, loop))


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

    def result(self) -> BlockingResult:
        return blocking_result(self._loop.wait(self._handle.result()), self._loop)

    def cancel(self, reason: str | None = None) -> bool:
        return self._loop.wait(self._handle.cancel(reason))

    def answer(self, question_id: str, answer: Any) -> None:
        self._loop.wait(self._handle.answer(question_id, answer))

    def acknowledge(self) -> None:
        self._loop.wait(self._handle.acknowledge())


class Events(Generic[Value]):
    """The events, in order; ends with the handoff."""

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
