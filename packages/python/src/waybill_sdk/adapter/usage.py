"""The counts of frameworks, as rows of usage."""

from __future__ import annotations

from typing import Any

from ..protocol.limits import SAFE_INTEGER
from ..protocol.usage import USAGE_COUNTS, UsageRow
from ..serving.work import current_work

_PARTS = (("cached_input_tokens", "input_tokens"), ("reasoning_tokens", "output_tokens"))
_MODEL_LENGTH = 256


def usage_row(model: Any = None, **counted: Any) -> UsageRow | None:
    """Makes a row of usage from a framework's counts. Invalid counts are left out, and a row
    without any is None: work never fails because a provider counts oddly.
    """
    row: UsageRow = {
        name: counted[name] for name in USAGE_COUNTS if name in counted and _is_count(counted[name])
    }
    if not any(row.values()):
        return None
    for part, whole in _PARTS:
        if row.get(part, 0) > row.get(whole, 0):
            row[whole] = row[part]
    return (
        {"model": model[:_MODEL_LENGTH], **row} if isinstance(model, str) and model != "" else row
    )


def count_usage(model: Any = None, **counted: Any) -> None:
    """Adds a model's usage to the work inside which this code runs; outside of served work nothing
    is counted.
    """
    row, work = usage_row(model, **counted), current_work.get()
    if row is not None and work is not None:
        work.add_usage(**row)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= SAFE_INTEGER
