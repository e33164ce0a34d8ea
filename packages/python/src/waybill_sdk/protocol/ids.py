"""Ids of envelopes and handoffs (WB-04), and of agents (WB-05)."""

from __future__ import annotations

import hashlib
import json
import os
import re
import threading
import time

from .encoding import to_base64url

_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", re.ASCII)
_AGENT_ID = re.compile(r"[a-z0-9](?:[a-z0-9._-]{0,126}[a-z0-9])?", re.ASCII)
_last = (0, 0)
_lock = threading.Lock()


def is_id(value: object) -> bool:
    return isinstance(value, str) and _ID.fullmatch(value) is not None


def is_agent_id(value: object) -> bool:
    return isinstance(value, str) and _AGENT_ID.fullmatch(value) is not None


def id_time(value: str) -> int:
    """The milliseconds since 1970 in an id."""
    return int(value[:8] + value[9:13], 16)


def new_id() -> str:
    """A UUIDv7. The ids of one process are ordered by their creation."""
    global _last
    with _lock:
        now, count = time.time_ns() // 1_000_000, 0
        if now <= _last[0]:
            now, count = _last[0], _last[1] + 1
            if count > 0xFFF:
                now, count = now + 1, 0
        _last = (now, count)
    return _spell(now, count, int.from_bytes(os.urandom(8), "big"))


def new_salt() -> str:
    """128 random bits for one envelope, which are erased with its contents (WB-105)."""
    return to_base64url(os.urandom(16))


def handoff_id_of(agent: str, run: str, step: str) -> str:
    """The handoff id of a framework's step. It is always the same, so that a repeated step finds
    its own handoff. Its time comes from the run, if that is named by an id."""
    words = json.dumps(
        ["waybill step", agent, run, step], separators=(",", ":"), ensure_ascii=False
    )
    name = hashlib.sha256(words.encode("utf-8")).hexdigest()
    variant = f"{8 | int(name[3], 16) & 3:x}"
    head = f"{id_time(run) if is_id(run) else 0:012x}"
    return f"{head[:8]}-{head[8:]}-7{name[:3]}-{variant}{name[4:7]}-{name[7:19]}"


def _spell(ms: int, count: int, chance: int) -> str:
    head = f"{ms:012x}"
    tail = f"{1 << 63 | chance & (1 << 62) - 1:016x}"
    return f"{head[:8]}-{head[8:]}-7{count:03x}-{tail[:4]}-{tail[4:]}"
