"""Times: RFC 3339 in UTC on the wire, milliseconds since 1970 in memory (WB-06)."""

from __future__ import annotations

import re
import time
from datetime import datetime, timedelta, timezone

_TIME = re.compile(r"(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,9}))?Z", re.ASCII)
_EPOCH = datetime(1970, 1, 1)
_LAST_MS = 253_402_300_799_999


def parse_time(value: object) -> int | None:
    """The time, truncated to milliseconds; None if it is invalid."""
    found = _TIME.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        return None
    *whole, fraction = found.groups()
    year, month, day, hour, minute, second = map(int, whole)
    if year == 0:
        # RFC 3339 has a year 0, Python has not: the year 400 has the same calendar.
        moved = parse_time("0400" + str(value)[4:])
        return None if moved is None else moved - 146_097 * 86_400_000
    try:
        since = datetime(year, month, day, hour, minute, second) - _EPOCH
    except ValueError:
        return None
    return since // timedelta(milliseconds=1) + int((fraction or "").ljust(3, "0")[:3])


def format_time(ms: int) -> str:
    moment = _EPOCH + timedelta(milliseconds=min(max(ms, 0), _LAST_MS))
    return moment.isoformat(timespec="milliseconds") + "Z"


def as_datetime(ms: int) -> datetime:
    return datetime.fromtimestamp(0, timezone.utc) + timedelta(milliseconds=ms)


def now_ms() -> int:
    return time.time_ns() // 1_000_000
