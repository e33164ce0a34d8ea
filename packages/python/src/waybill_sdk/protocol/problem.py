"""Errors as HTTP and sockets carry them (WB-77)."""

from __future__ import annotations

from typing import Any

from .error import WaybillError
from .json_text import parse_json
from .shape import boolean, integer, listed, record, status, text, wait_ms
from .status import STATUSES

_refusal = record(
    {
        "agent_id": text(),
        "capability": text(),
        "version": text(),
        "issues": listed(record({"at": text(), "message": text()})),
    }
)
_problem = record(
    {
        "type": text(),
        "title": text(),
        "status": integer(400, 599),
        "detail": text(),
        "waybill_status": status,
        "code": text(),
        "retryable": boolean,
        "remedy": text(),
    },
    {"at": text(), "retry_after_ms": wait_ms, "refusals": listed(_refusal), "received": integer()},
)
check_problem = _problem

# Statuses of HTTP itself, from a proxy: the failure may be temporary.
_PASSING = frozenset((408, 425, 429, 500, 502, 503, 504))


def read_problem(value: Any) -> WaybillError:
    _problem(value, "")
    return WaybillError(
        int(value["waybill_status"]),
        value["detail"],
        at=value.get("at"),
        retryable=value["retryable"],
        retry_after_ms=value.get("retry_after_ms"),
        refusals=value.get("refusals"),
        received=value.get("received"),
    )


def error_of_response(http_status: int, body: str) -> WaybillError:
    """The error in a response that is not a success."""
    try:
        return read_problem(parse_json(body))
    except WaybillError:
        pass
    said = " ".join(body.split())[:200]
    message = f"It was answered with HTTP {http_status} by something that is no hub" + (
        f": {said}" if said else "."
    )
    if http_status in _PASSING:
        return WaybillError(503, message)
    is_failure = http_status in STATUSES and http_status >= 400
    return WaybillError(http_status if is_failure else 500, message)
