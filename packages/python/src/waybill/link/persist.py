"""What fails in passing is tried again, with waits that grow and are left to chance in part."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import TypeVar

from ..protocol.error import WaybillError

Value = TypeVar("Value")

_FIRST_S = 0.05
_MOST_S = 5.0
_PASSING = frozenset((301, 503))


def backoff(failures: int) -> float:
    """Half of it is chance, so that the agents of a hub that comes back do not all come back at once."""
    most = min(_MOST_S, _FIRST_S * 2.0 ** max(0, failures - 1))
    return most / 2 + random.random() * most / 2


async def persist(ask: Callable[[], Awaitable[Value]], until: float) -> Value:
    """Asks until it is answered, at most until this time of the running loop; then gives the last failure."""
    loop = asyncio.get_running_loop()
    failures = 0
    while True:
        try:
            return await ask()
        except WaybillError as error:
            failures += 1
            wait = backoff(failures)
            if error.status not in _PASSING or loop.time() + wait >= until:
                raise
            await asyncio.sleep(wait)
