"""The attempts that this process works on. Duplicates run once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..context import Context
from ..link.tasks import log
from ..protocol.error import WaybillError
from .capability import Served
from .run import Run

if TYPE_CHECKING:
    from ..delegating.handle import HandoffHandle

_KEPT = 10_000


class Serving:
    def __init__(
        self, context: Context, served: list[Served], hand_off: Callable[..., HandoffHandle]
    ) -> None:
        self._context = context
        self._served = served
        self._hand_off = hand_off
        self._runs: dict[tuple[str, int], tuple[Run, asyncio.Task[None]]] = {}
        self._finished: dict[tuple[str, int], None] = {}
        # Handoffs that were countered here: the same work gets no second counter-offer.
        self._countered: set[str] = set()
        self._is_stopping = False

    def offered(self, offer: dict[str, Any]) -> None:
        link = self._context.link
        link.seen(offer["id"])
        name = (offer["handoff_id"], offer["attempt"])
        is_known = name in self._runs or name in self._finished
        if self._is_stopping and not is_known:
            return
        if not offer["is_accepted"]:
            link.taken(*name)
        if not is_known:
            run = Run(offer, self._context, self._served, self._hand_off, self._countered)
            self._runs[name] = (run, self._context.tasks.start(self._work(name, run)))
        elif name in self._runs:
            # A hub that took an answer while this agent was not attached sends it with the offer.
            for answer in offer["answers"]:
                self._context.tasks.start(
                    self._runs[name][0].answered(answer, offer["received_at"])
                )

    async def _work(self, name: tuple[str, int], run: Run) -> None:
        try:
            await run.work()
        finally:
            self._runs.pop(name, None)
            self._finished[name] = None
            if len(self._finished) > _KEPT:
                del self._finished[next(iter(self._finished))]

    def stopped(self, stop: dict[str, Any]) -> None:
        found = self._runs.get((stop["handoff_id"], stop["attempt"]))
        if found is not None:
            log.info(
                "%s: %s/%s is stopped: %s",
                self._context.id,
                stop["handoff_id"],
                stop["attempt"],
                stop["reason"],
            )
            found[0].close(WaybillError(stop["status"], stop["reason"]))

    async def answered(self, delivery: dict[str, Any]) -> bool:
        """Passes an answer to the attempt that waits for it."""
        runs = [run for run, _ in self._runs.values() if run.handoff_id == delivery["handoff_id"]]
        for run in runs:
            await run.answered(delivery["envelope"], delivery["received_at"])
        return len(runs) > 0

    async def finish(self) -> None:
        """Waits until the work is done. Its results may still be on their way."""
        self._is_stopping = True
        await asyncio.gather(*(run.worked() for run, _ in self._runs.values()))

    async def release(self, reason: str) -> None:
        """Returns the work to the hub. That may still be on its way."""
        self._is_stopping = True
        for run, _ in list(self._runs.values()):
            self._context.tasks.start(run.release(reason))
        # Each begins to send its release.
        await asyncio.sleep(0)

    def abandon(self, reason: WaybillError) -> None:
        self._is_stopping = True
        for run, _ in self._runs.values():
            run.close(reason)
