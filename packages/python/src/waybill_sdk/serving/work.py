"""One attempt, as its handler sees it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, Protocol, overload

from ..artifacts.given import GivenArtifact
from ..artifacts.received import BlockingArtifact, ReceivedArtifact
from ..delegating.blocking_handle import HandoffHandle as BlockingHandle
from ..delegating.blocking_handle import InLoop, blocking_all
from ..delegating.fan_out import Settled, fan_out
from ..protocol.envelope import Envelope, present
from .outcome import Finished, Paused
from .session import WorkSession

if TYPE_CHECKING:
    from ..delegating.ending import HandoffResult
    from ..delegating.handle import HandoffHandle
    from ..protocol.usage import UsageRow


@dataclass(frozen=True)
class Resume:
    """Where an earlier attempt has paused, and the answers by question id."""

    state: str
    questions: list[dict[str, Any]]
    answers: Mapping[str, Any]


class Speaks(Protocol):
    """The methods of an attempt."""

    async def progress(self, body: dict[str, Any]) -> None: ...
    def delta(self, text: str) -> None: ...
    async def ask(self, question: dict[str, Any]) -> Any: ...
    def name(self, question: dict[str, Any]) -> dict[str, Any]: ...
    def hand_off(self, capability: str, options: dict[str, Any]) -> HandoffHandle: ...
    def add_usage(self, row: UsageRow) -> None: ...


@dataclass(frozen=True)
class Work:
    """When the work is not wanted any more its task is cancelled, and `stopped` is set."""

    agent: str
    envelope: Envelope
    handoff_id: str
    """The idempotency key of the work: the same in every attempt. Pass it to everything that has
    effects.
    """
    attempt: int
    deadline: datetime
    stopped: asyncio.Event
    resume: Resume | None
    session: WorkSession | None
    """Present if the handoff names a session."""
    artifacts: list[ReceivedArtifact]
    """Files that came with the handoff. Those that are stored at the hub are read on demand."""
    _speaks: Speaks

    @property
    def body(self) -> dict[str, Any]:
        body = dict(self.envelope["body"])
        return {**body, "artifacts": self.artifacts} if "artifacts" in body else body

    @property
    def input(self) -> Any:
        return self.body.get("input")

    async def progress(
        self, message: str | None = None, *, fraction: float | None = None, data: Any = None
    ) -> None:
        said = {"message": message, "fraction": fraction, "data": data}
        await self._speaks.progress({name: each for name, each in said.items() if each is not None})

    def delta(self, text: str) -> None:
        """Shows the delegator what is being written, as it is written: the tokens of a model.

        Pieces in quick succession are sent together, unsigned, at most once, and are never on
        record: the result has to contain the whole text.
        """
        self._speaks.delta(text)

    async def ask(
        self,
        text: str | None = None,
        *,
        id: str | None = None,
        data: Any = None,
        schema: Any = None,
    ) -> Any:
        """Asks, and waits for the answer. A question that was answered in an earlier attempt is not
        asked again.
        """
        return await self._speaks.ask(_question(text, id, data, schema))

    def question(
        self,
        text: str | None = None,
        *,
        id: str | None = None,
        data: Any = None,
        schema: Any = None,
    ) -> dict[str, Any]:
        """For `pause`. Without an id it is the n-th question of this agent."""
        return self._speaks.name(_question(text, id, data, schema))

    def pause(self, *questions: str | dict[str, Any], state: str) -> Paused:
        """`return work.pause(…)`: nothing stays in memory, and the answers start the next attempt with the state."""
        asked = [
            self.question(each) if isinstance(each, str) else self._speaks.name(each)
            for each in questions
        ]
        return Paused(asked, state)

    def add_usage(
        self,
        *,
        model: str | None = None,
        requests: int | None = None,
        input_tokens: int | None = None,
        cached_input_tokens: int | None = None,
        output_tokens: int | None = None,
        reasoning_tokens: int | None = None,
        cost: dict[str, str] | None = None,
    ) -> None:
        """Adds to the usage of the attempt, which its result or failure reports.

        Cached tokens are part of the input tokens, and reasoning tokens part of the output tokens.
        A cost is an amount and a currency: `{"amount": "0.0042", "currency": "USD"}`. The usage of
        children is added automatically.
        """
        self._speaks.add_usage(
            present(
                model=model,
                requests=requests,
                input_tokens=input_tokens,
                cached_input_tokens=cached_input_tokens,
                output_tokens=output_tokens,
                reasoning_tokens=reasoning_tokens,
                cost=cost,
            )
        )

    def result(
        self,
        output: Any = None,
        *,
        messages: list[dict[str, Any]] | None = None,
        artifacts: Sequence[GivenArtifact] | None = None,
        effects: str | None = None,
    ) -> Finished:
        """`return work.result(…)`: for messages, artifacts and effects besides the output."""
        return Finished(output, messages, artifacts, effects)

    def hand_off(self, capability: str, **options: Any) -> HandoffHandle:
        """Hands off a child: same job and trace, and no later than this handoff's deadline."""
        return self._speaks.hand_off(capability, options)

    @overload
    async def hand_off_all(
        self, capability: str, inputs: Iterable[Any], *, settled: Literal[True], **options: Any
    ) -> list[Settled]: ...

    @overload
    async def hand_off_all(
        self,
        capability: str,
        inputs: Iterable[Any],
        *,
        settled: Literal[False] = False,
        **options: Any,
    ) -> list[HandoffResult]: ...

    async def hand_off_all(
        self, capability: str, inputs: Iterable[Any], **options: Any
    ) -> list[Any]:
        """Hands off children, as `Agent.hand_off_all` does."""
        return await fan_out(self.hand_off, capability, inputs, **options)


class BlockingWork:
    """The same for a handler that is a plain function: it runs in a thread of its own, and every call waits."""

    def __init__(self, work: Work, loop: asyncio.AbstractEventLoop) -> None:
        self._work = work
        self._loop = InLoop(loop)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._work, name)

    @property
    def artifacts(self) -> list[BlockingArtifact]:
        return [BlockingArtifact(each, self._loop) for each in self._work.artifacts]

    @property
    def body(self) -> dict[str, Any]:
        body = self._work.body
        return {**body, "artifacts": self.artifacts} if "artifacts" in body else body

    def progress(
        self, message: str | None = None, *, fraction: float | None = None, data: Any = None
    ) -> None:
        self._loop.wait(self._work.progress(message, fraction=fraction, data=data))

    def delta(self, text: str) -> None:
        self._loop.loop.call_soon_threadsafe(self._work.delta, text)

    def ask(
        self,
        text: str | None = None,
        *,
        id: str | None = None,
        data: Any = None,
        schema: Any = None,
    ) -> Any:
        return self._loop.wait(self._work.ask(text, id=id, data=data, schema=schema))

    def hand_off(self, capability: str, **options: Any) -> BlockingHandle:
        """Hands off a child, as `Work.hand_off` does, with a handle for code without async."""
        handle = self._loop.call(lambda: self._work.hand_off(capability, **options))
        return BlockingHandle(handle, self._loop)

    @overload
    def hand_off_all(
        self, capability: str, inputs: Iterable[Any], *, settled: Literal[True], **options: Any
    ) -> list[Settled]: ...

    @overload
    def hand_off_all(
        self,
        capability: str,
        inputs: Iterable[Any],
        *,
        settled: Literal[False] = False,
        **options: Any,
    ) -> list[HandoffResult]: ...

    def hand_off_all(self, capability: str, inputs: Iterable[Any], **options: Any) -> list[Any]:
        """Hands off children, as `Agent.hand_off_all` does, and waits for them."""
        results = self._loop.wait(self._work.hand_off_all(capability, inputs, **options))
        return blocking_all(results, self._loop)


current_work: ContextVar[Work | None] = ContextVar("current_work", default=None)
"""The attempt inside which code runs."""


def _question(text: str | None, id: str | None, data: Any, schema: Any) -> dict[str, Any]:
    said = {"id": id, "text": text, "data": data, "schema": schema}
    return {name: each for name, each in said.items() if each is not None}
