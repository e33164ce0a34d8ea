"""Adds up what one attempt uses, including its children."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from ..protocol.envelope_shape import usage_row
from ..protocol.limits import FAN_OUT
from ..protocol.usage import Usage, UsageRow, merge_usage

if TYPE_CHECKING:
    from ..delegating.handle import HandoffHandle


class Tally:
    def __init__(self) -> None:
        # A handler in a thread, and a framework with threads of its own, add at any time.
        self._lock = threading.Lock()
        self._own: list[UsageRow] = []
        self._earlier: list[UsageRow] = []
        self._children: list[UsageRow] = []
        # A child that is found again counts once.
        self._counted: dict[str, None] = {}

    def add(self, row: UsageRow) -> None:
        usage_row(row, "")
        with self._lock:
            self._own = merge_usage([*self._own, row])

    def go_on_from(self, usage: Usage) -> None:
        """Continues from the usage that the pause has recorded."""
        self._earlier = merge_usage([*usage.earlier, *usage.own])
        self._children = merge_usage(usage.children)
        self._counted = dict.fromkeys(usage.handoffs)

    def count(self, child: HandoffHandle) -> None:
        """Counts a child once it has ended."""
        child.when_ended(lambda: self._count(child))

    def _count(self, child: HandoffHandle) -> None:
        usage = child.usage
        if usage is None or child.id in self._counted:
            return
        self._counted[child.id] = None
        self._children = merge_usage([*self._children, *usage.rows])

    @property
    def own(self) -> list[UsageRow]:
        """What the attempt itself has used so far."""
        return self._own

    @property
    def usage(self) -> dict[str, Any] | None:
        """The form of a result; None if nothing is known."""
        counted = list(self._counted)[:FAN_OUT]
        return Usage(self._own, self._earlier, self._children, counted).as_wire()
