"""The frames of a socket (WB-76, WB-78)."""

from __future__ import annotations

import json
from typing import Any, Literal

from .error import WaybillError
from .json_text import parse_json
from .limits import DELTA_CHARACTERS
from .problem import check_problem
from .schema import utf16_length
from .shape import (
    Check,
    anything,
    boolean,
    constant,
    fault,
    instant,
    integer,
    listed,
    mapping,
    one_of,
    pointer,
    record,
    status,
    tagged,
    text,
)

Frame = dict[str, Any]
_count = integer(0)
_attempt = integer(1)
_about: dict[str, Check] = {"handoff_id": text(), "attempt": _attempt}


def _delta_text(value: Any, at: str) -> None:
    text()(value, at)
    if not 1 <= utf16_length(value) <= DELTA_CHARACTERS:
        raise fault(at, f"must have 1 to {DELTA_CHARACTERS} characters.")


def is_next_delta(last: tuple[int, int] | None, delta: tuple[int, int]) -> bool:
    """Whether a delta follows the last one, each by its attempt and its number (WB-247)."""
    return last is None or delta > last


_delta: dict[str, Check] = {**_about, "number": _count, "text": _delta_text}

check_delivery: Check = tagged(
    "type",
    {
        "offer": record(
            {
                "id": text(),
                **_about,
                "envelope": text(),
                "remaining_ms": _count,
                "lease_ms": _count,
                "is_accepted": boolean,
                "answers": listed(text()),
                "received_at": mapping(instant),
            },
            {"resume": text(), "session": one_of("begun", "continued", "lost")},
        ),
        "envelope": record(
            {
                "id": text(),
                "handoff_id": text(),
                "envelope": text(),
                "received_at": mapping(instant),
            }
        ),
        "stop": record({**_about, "status": status, "reason": text()}),
    },
)


def _says_something(value: Any, at: str) -> None:
    if "value" not in value and "problem" not in value:
        raise fault(pointer(at, "value"), "is missing, and there is no problem either.")


_of_agent: Check = tagged(
    "type",
    {
        "hello": record({"proof": text(), "credit": _count}),
        "call": record(
            {
                "number": _count,
                "call": one_of("submit", "publish", "manifests", "find", "handoff"),
                "params": mapping(),
            }
        ),
        "taken": record(_about),
        "heartbeat": record(_about),
        "delta": record(_delta),
        "seen": record({"id": text()}),
        "credit": record({"credit": _count}),
        "ping": record(),
        "pong": record(),
    },
)
_of_hub: Check = tagged(
    "type",
    {
        "challenge": record(
            {
                "waybill": constant(1),
                "hub": text(),
                "domain": text(),
                "nonce": text(),
                "limits": record({"message_characters": integer(1), "envelope_bytes": integer(1)}),
            }
        ),
        "attached": record({"ping_ms": integer(1)}),
        "closed": record({"problem": check_problem}),
        "reply": record(
            {"number": _count},
            {"also": listed(_count), "problem": check_problem, "value": anything},
            also=_says_something,
        ),
        "delivery": record({"delivery": check_delivery}),
        "delta": record({**_delta, "by": text()}),
        "ping": record(),
        "pong": record(),
    },
)


def read_frames(
    message: str, *, to: Literal["hub", "agent"], characters: int | None = None
) -> list[Frame]:
    """A message is one frame or an array of them."""
    if characters is not None and len(message) > characters:
        raise WaybillError(
            413, f"A message of {len(message)} characters, and at most {characters} are taken."
        )
    value = parse_json(message)
    check = _of_agent if to == "hub" else _of_hub
    if isinstance(value, list):
        listed(check)(value, "")
        return value
    check(value, "")
    return [value]


def write_frame(frame: Frame) -> str:
    return json.dumps(frame, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
