"""Tracks what an agent is sending: it waits for the hub's receipts before it disconnects."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any, TypeVar

from ..protocol.error import WaybillError

Value = TypeVar("Value")

_UNANSWERED = frozenset((503, 504))


@dataclass(frozen=True)
class Unconfirmed:
    """Something that an agent has sent and that its hub has not confirmed."""

    kind: str
    handoff_id: str


class Outgoing:
    def __init__(self) -> None:
        self._pending: dict[asyncio.Task[Any], Unconfirmed] = {}
        # What the hub did not confirm while the agent was stopping.
        self._failed: list[Unconfirmed] = []

    def start(
        self, kind: str, handoff_id: str, work: Coroutine[Any, Any, Value]
    ) -> asyncio.Task[Value]:
        """Counts as being sent until the work has ended, whoever waits for it."""
        task = asyncio.get_running_loop().create_task(work)
        self._pending[task] = Unconfirmed(kind, handoff_id)
        task.add_done_callback(self._ended)
        return task

    async def send(self, kind: str, handoff_id: str, work: Coroutine[Any, Any, Value]) -> Value:
        """The same, and waits for it. If the wait is cancelled, it is sent all the same."""
        return await asyncio.shield(self.start(kind, handoff_id, work))

    def _ended(self, task: asyncio.Task[Any]) -> None:
        said = self._pending.pop(task)
        error = None if task.cancelled() else task.exception()
        # Every other error is the hub's answer: a refusal.
        if isinstance(error, WaybillError) and error.status in _UNANSWERED:
            self._failed.append(said)

    async def settle(self, within_s: float) -> list[Unconfirmed]:
        """Waits until the hub has answered everything; returns what it has not confirmed in time."""
        loop = asyncio.get_running_loop()
        until = loop.time() + within_s
        self._failed.clear()
        while self._pending and (left := until - loop.time()) > 0:
            await asyncio.wait(list(self._pending), timeout=left)
            # Finished entries are removed by a callback, which may still be pending.
            await asyncio.sleep(0)
        return list(dict.fromkeys([*self._failed, *self._pending.values()]))

    async def cancel(self) -> None:
        pending = list(self._pending)
        for task in pending:
            task.cancel()
        await asyncio.gather(*pending, return_exceptions=True)
