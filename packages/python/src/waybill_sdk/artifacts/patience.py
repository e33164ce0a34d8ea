"""How long to wait for the bytes of a blob. By the same rules as in TypeScript."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable
from typing import TypeVar

from ..protocol.error import WaybillError

Value = TypeVar("Value")

_IDLE_S = 60.0
"""How long a hub may send no bytes of a blob."""
_FLOOR_BYTES_PER_S = 64_000
"""The slowest rate, averaged over a blob, at which a hub may send it."""


class Patience:
    """Bounds the gap between two pieces, and the total by their number, so that a hub that drips
    bytes is given up too. Time that the reader spends on the bytes counts only for its own
    `timeout`.
    """

    def __init__(self, name: str, size: int, timeout: float | None) -> None:
        now = asyncio.get_running_loop().time()
        self._name, self._size = name, size
        self._until = math.inf if timeout is None else now + timeout
        self._received = 0
        self._waited = self._idle = 0.0

    def received(self, octets: int) -> None:
        """Records that this many more bytes have arrived."""
        self._received += octets
        self._idle = 0.0

    async def during(self, answer: Awaitable[Value], cause: WaybillError | None = None) -> Value:
        loop = asyncio.get_running_loop()
        asked = loop.time()
        idle, left = _IDLE_S - self._idle, self._most - self._waited
        try:
            return await asyncio.wait_for(answer, min(idle, left, self._until - asked))
        except asyncio.TimeoutError as error:
            raise self._over(idle, left, self._until - asked, cause) from (cause or error)
        finally:
            self._waited += loop.time() - asked
            self._idle += loop.time() - asked

    @property
    def _most(self) -> float:
        return _IDLE_S + self._size / _FLOOR_BYTES_PER_S

    def _over(
        self, idle: float, left: float, given: float, cause: WaybillError | None
    ) -> WaybillError:
        so_far = f"The artifact {self._name} was not read in time: {self._received} of {self._size} bytes came from the hub"
        if given <= min(idle, left):
            how = " within the given time. Read it again, with more time."
        elif idle <= left:
            how = f", and then none for {_IDLE_S:.0f} s. Read it again later; if the hub is yours, look at its log."
            how += "" if cause is None else f" The last failure: {cause.message}"
        else:
            how = (
                f" in {self._most:.0f} s, which is too slow. Check the network between this agent and the hub, "
                "and read it again."
            )
        return WaybillError(504, so_far + how, cause=cause)
