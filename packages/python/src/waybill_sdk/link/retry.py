"""Retries temporary failures with exponential backoff and jitter."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import Literal, TypeVar

from ..protocol.error import WaybillError

Value = TypeVar("Value")

_FIRST_S = 0.05
_MOST_S = 5.0
# How long to wait for the only answer to a call that is made after its deadline.
_LAST_ANSWER_S = 30.0
_PASSING = frozenset((301, 503))


def backoff(failures: int) -> float:
    """Half of it is jitter, so that the agents of a hub that restarts do not all come back at once."""
    most = min(_MOST_S, _FIRST_S * 2.0 ** max(0, failures - 1))
    return most / 2 + random.random() * most / 2


async def retry(
    ask: Callable[[], Awaitable[Value]], until: float, *, silence: Literal[503, 504] = 503
) -> Value:
    """Retries until there is an answer, at the latest until this time of the running loop; then
    raises the last failure.

    A reachable hub that does not answer is given up then as well, with the status `silence`.
    """
    left = until - asyncio.get_running_loop().time()
    try:
        return await asyncio.wait_for(_retry(ask, until), left if left > 0 else _LAST_ANSWER_S)
    except asyncio.TimeoutError as error:
        raise WaybillError(
            silence,
            "The hub has not answered, so the outcome is unknown. It is safe to retry: the hub applies the same "
            "request once.",
        ) from error


async def _retry(ask: Callable[[], Awaitable[Value]], until: float) -> Value:
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
