"""The usage of an attempt: requests, tokens and cost (WB-230 to WB-233)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from .limits import SAFE_INTEGER, USAGE_ROWS

UsageRow = dict[str, Any]
"""The usage of one model, with its wire names."""

USAGE_COUNTS = (
    "requests",
    "input_tokens",
    "cached_input_tokens",
    "output_tokens",
    "reasoning_tokens",
)
_DECIMALS = 12
_MOST_UNITS = 10 ** (15 + _DECIMALS) - 1


@dataclass(frozen=True)
class UsageTotal:
    """The sum of rows. A member that no row has is 0."""

    requests: int = 0
    input_tokens: int = 0
    cached_input_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int = 0
    costs: list[dict[str, str]] = field(default_factory=list)
    """One amount for each currency."""


@dataclass(frozen=True)
class Usage:
    """The usage of a handoff, as its recipient reports it."""

    own: list[UsageRow] = field(default_factory=list)
    """The usage of the attempt itself, without the handoffs that it has made."""
    earlier: list[UsageRow] = field(default_factory=list)
    """The usage of the paused attempts that this one continues."""
    children: list[UsageRow] = field(default_factory=list)
    """The usage of the handoff's children, each counted once."""
    handoffs: list[str] = field(default_factory=list)
    """The ids of the children whose usage is in `children`."""

    @property
    def rows(self) -> list[UsageRow]:
        """The total usage, with one row for each model and currency."""
        return merge_usage([*self.own, *self.earlier, *self.children])

    @property
    def total(self) -> UsageTotal:
        """The sum of the total usage."""
        return sum_usage(self.rows)

    @staticmethod
    def read(wire: dict[str, Any] | None) -> Usage | None:
        """The usage in the body of a result, if there is one."""
        names = ("own", "earlier", "children", "handoffs")
        return None if wire is None else Usage(*(wire.get(name, []) for name in names))

    def as_wire(self) -> dict[str, Any] | None:
        """The usage as it is in a result; None if there is none."""
        lists = {
            "own": self.own,
            "earlier": self.earlier,
            "children": self.children,
            "handoffs": self.handoffs,
        }
        return {name: each for name, each in lists.items() if each} or None


def merge_usage(rows: Iterable[UsageRow]) -> list[UsageRow]:
    """Merges rows into one for each model and currency (WB-232).

    If there are more than 64, those after the 32nd become one row without a model for each
    currency.
    """
    merged = _merged_by(rows, lambda row: (row.get("model"), _currency(row)))
    if len(merged) <= USAGE_ROWS:
        return merged
    kept, others = merged[: USAGE_ROWS // 2], merged[USAGE_ROWS // 2 :]
    # No provider has so many currencies; if a recipient invents more, the rest is lost.
    rest = _merged_by(
        ({name: each for name, each in row.items() if name != "model"} for row in others),
        _currency,
    )
    return [*kept, *rest][:USAGE_ROWS]


def sum_usage(rows: Iterable[UsageRow]) -> UsageTotal:
    """The sum of rows, whatever their models."""
    counts = dict.fromkeys(USAGE_COUNTS, 0)
    costs: dict[str, dict[str, str]] = {}
    for row in rows:
        for name in USAGE_COUNTS:
            counts[name] = min(counts[name] + row.get(name, 0), SAFE_INTEGER)
        cost = row.get("cost")
        if cost is not None:
            known = costs.get(cost["currency"])
            costs[cost["currency"]] = cost if known is None else _add_money(known, cost)
    return UsageTotal(**counts, costs=list(costs.values()))


def is_more_money(one: dict[str, str], other: dict[str, str]) -> bool | None:
    """Whether an amount is more than another; None if their currencies differ."""
    if one["currency"] != other["currency"]:
        return None
    return _units(one["amount"]) > _units(other["amount"])


def _currency(row: UsageRow) -> str | None:
    return row["cost"]["currency"] if "cost" in row else None


def _merged_by(rows: Iterable[UsageRow], key_of: Callable[[UsageRow], Any]) -> list[UsageRow]:
    merged: dict[Any, UsageRow] = {}
    for row in rows:
        key = key_of(row)
        merged[key] = _add_rows(merged[key], row) if key in merged else dict(row)
    return list(merged.values())


def _add_rows(one: UsageRow, other: UsageRow) -> UsageRow:
    counts = {
        name: min(one.get(name, 0) + other.get(name, 0), SAFE_INTEGER)
        for name in USAGE_COUNTS
        if name in one or name in other
    }
    cost = {"cost": _add_money(one["cost"], other["cost"])} if "cost" in one else {}
    return {**one, **counts, **cost}


def _add_money(one: dict[str, str], other: dict[str, str]) -> dict[str, str]:
    units = min(_units(one["amount"]) + _units(other["amount"]), _MOST_UNITS)
    whole, fraction = divmod(units, 10**_DECIMALS)
    decimals = f"{fraction:0{_DECIMALS}d}".rstrip("0")
    return {
        "amount": f"{whole}.{decimals}" if decimals else str(whole),
        "currency": one["currency"],
    }


def _units(amount: str) -> int:
    whole, _, fraction = amount.partition(".")
    return int(whole + fraction.ljust(_DECIMALS, "0"))
