"""Many inputs to one capability, a bounded number at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from ..protocol.error import WaybillError
from ..protocol.ids import new_id
from .ending import HandoffResult
from .handle import HandoffHandle

DEFAULT_CONCURRENCY = 16
"""How many handoffs of one fan-out are under way at once by default."""


@dataclass(frozen=True)
class Settled:
    """How one handoff of a fan-out has ended: with a result or with an error."""

    handoff_id: str
    result: HandoffResult | None
    error: WaybillError | None


HandOff = Callable[..., HandoffHandle]


async def fan_out(
    hand_off: HandOff,
    capability: str,
    inputs: Iterable[Any],
    *,
    concurrency: int = DEFAULT_CONCURRENCY,
    settled: bool = False,
    handoff_id: Callable[[Any, int], str] | None = None,
    on_handoff: Callable[[HandoffHandle, int], None] | None = None,
    **options: Any,
) -> list[Any]:
    """Keeps a bounded number of handoffs under way until all inputs are done, or one has failed."""
    if concurrency < 1:
        raise WaybillError(
            400, f"A concurrency of {concurrency} would hand nothing off: give 1 or more."
        )
    given = list(enumerate(inputs))
    endings: list[Any] = [None] * len(given)
    waiting = iter(given)
    under_way: set[HandoffHandle] = set()
    shared = {"correlation_id": new_id(), **options}

    async def hand_off_one(index: int, value: Any) -> None:
        ids = {} if handoff_id is None else {"handoff_id": handoff_id(value, index)}
        handle = hand_off(capability, input=value, **shared, **ids)
        under_way.add(handle)
        if on_handoff is not None:
            on_handoff(handle, index)
        try:
            result = await handle.result()
        except WaybillError as error:
            under_way.discard(handle)
            if not settled:
                raise
            endings[index] = Settled(handle.id, None, error)
        else:
            under_way.discard(handle)
            endings[index] = Settled(handle.id, result, None) if settled else result

    async def work() -> None:
        for index, value in waiting:
            await hand_off_one(index, value)

    workers = [asyncio.ensure_future(work()) for _ in range(min(concurrency, len(given)))]
    try:
        await asyncio.gather(*workers)
    except BaseException as error:
        for worker in workers:
            worker.cancel()
        is_cancelled = isinstance(error, asyncio.CancelledError)
        why = "The fan-out was cancelled." if is_cancelled else "Another one of it has failed."
        for handle in under_way:
            handle.cancel_beside(why)
        await asyncio.gather(*workers, return_exceptions=True)
        raise
    return endings
