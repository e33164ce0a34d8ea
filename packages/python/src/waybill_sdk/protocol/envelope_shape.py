"""The members of an envelope, for each kind (WB-26 to WB-29, WB-34 to WB-39, WB-248, WB-249)."""

from __future__ import annotations

from typing import Any

from .encoding import from_base64url
from .error import WaybillError
from .limits import (
    ALSO_LISTED,
    ARTIFACTS,
    FAN_OUT,
    HOPS,
    PAUSED_STATE_BYTES,
    SESSION_WAIT_SECONDS,
    USAGE_ROWS,
)
from .session import SESSION_ID
from .shape import (
    PROSE,
    Check,
    agent_id,
    anything,
    boolean,
    capability_name,
    constant,
    digest,
    fault,
    handoff_id,
    instant,
    integer,
    kid,
    limited,
    listed,
    mapping,
    name,
    number,
    one_of,
    pointer,
    prose,
    record,
    status,
    tagged,
    text,
    wait_ms,
)
from .usage import USAGE_COUNTS

_TRACEPARENT = r"00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}"
_SECONDS_AT_MOST = 31_622_400


def _base64url(value: Any, at: str) -> None:
    text()(value, at)
    try:
        from_base64url(value)
    except WaybillError as error:
        raise fault(at, "is not strict base64url.") from error


def _web_url(value: Any, at: str) -> None:
    text(pattern=r"https?://[^\s/?#]+\S*")(value, at)


def _data_or_url(value: Any, at: str) -> None:
    if ("data" in value) == ("url" in value):
        raise fault(at, "needs either data or url, and not both.")


def _one_content(value: Any, at: str) -> None:
    if sum(each in value for each in ("data", "url", "size")) != 1:
        raise fault(at, "needs exactly one of data, url and size.")


def _group_adds_up(value: Any, at: str) -> None:
    size = value["size"]
    if value["index"] >= size:
        raise fault(pointer(at, "index"), f"is no place in a group of {size}.")
    if (value["join"] == "quorum") != ("quorum" in value):
        raise fault(pointer(at, "quorum"), "is there exactly where join is quorum.")
    if value.get("quorum", 1) > size:
        raise fault(pointer(at, "quorum"), f"is more than the {size} of the group.")


def _ends(value: Any, at: str) -> None:
    code = value["status"]
    if code != 200 and code < 400:
        raise fault(pointer(at, "status"), "of a result is 200, or 400 and above.")
    if code >= 400 and "error" not in value:
        raise fault(pointer(at, "error"), "is missing: a failure says what went wrong.")


def _each_by_its_id(value: Any, at: str) -> None:
    ids = [each["id"] for each in value]
    if len(set(ids)) < len(ids):
        raise fault(at, "ask two questions under one id.")


def _state(value: Any, at: str) -> None:
    text()(value, at)
    if len(value.encode("utf-8")) > PAUSED_STATE_BYTES:
        raise fault(
            at,
            f"has more than {PAUSED_STATE_BYTES} bytes: keep large state elsewhere, and its place here.",
            413,
        )


def _questions(value: Any, at: str) -> None:
    question = record({"id": name}, {"text": prose, "data": anything, "schema": anything})
    listed(question, FAN_OUT, 1, over=413)(value, at)
    _each_by_its_id(value, at)


def _parts_fit(value: Any, at: str) -> None:
    """Cached tokens are part of the input tokens, and reasoning tokens part of the output tokens."""
    parts = {"cached_input_tokens": "input_tokens", "reasoning_tokens": "output_tokens"}
    for part, whole in parts.items():
        if value.get(part, 0) > value.get(whole, 0):
            raise fault(at, f"has more {part} than {whole}, and they are part of them.")


_money = record(
    {
        "amount": text(pattern=r"(?:0|[1-9][0-9]{0,14})(?:\.[0-9]{1,12})?"),
        "currency": text(pattern=r"[A-Z]{3}"),
    }
)
usage_row: Check = record(
    optional={
        "model": name,
        **{count: integer() for count in USAGE_COUNTS},
        "cost": _money,
    },
    also=_parts_fit,
)
_usage_rows = listed(usage_row, USAGE_ROWS, over=413)
_usage = record(
    optional={
        "own": _usage_rows,
        "earlier": _usage_rows,
        "children": _usage_rows,
        "handoffs": listed(handoff_id, FAN_OUT, over=413),
    }
)
contract: Check = record(
    optional={
        "timeout_seconds": number(0, _SECONDS_AT_MOST, is_least_out=True),
        "lease_seconds": number(0, 86_400, is_least_out=True),
        "max_attempts": integer(1, 32),
        "max_tokens": integer(),
        "max_cost": _money,
        "output_schema": anything,
    }
)
_MEDIA_TYPES = frozenset(("image", "audio", "file"))
_media = record(
    {"media_type": name},
    {"name": name, "data": _base64url, "url": _web_url},
    also=_data_or_url,
)


def _media_is_whole(value: Any, at: str) -> None:
    """A part of an unknown type may hold anything."""
    if value["type"] in _MEDIA_TYPES:
        _media(value, at)


_part = record({"type": name}, {"text": text()}, also=_media_is_whole)
_messages = listed(
    record(
        {
            "role": one_of("system", "developer", "user", "assistant", "tool"),
            "content": listed(_part),
        },
        {"name": name},
    )
)
_artifact = record(
    {"name": name, "media_type": name, "digest": digest},
    {"data": _base64url, "url": _web_url, "size": integer()},
    also=_one_content,
)
_artifacts = listed(_artifact, ARTIFACTS, over=413)
_group = record(
    {
        "id": handoff_id,
        "index": integer(0),
        "size": limited(FAN_OUT, integer(1)),
        "join": one_of("all", "any", "quorum"),
    },
    {"quorum": integer(1), "on_failure": one_of("cancel", "wait")},
    also=_group_adds_up,
)
_wanted = record(
    {"capability": capability_name},
    {"version": name, "tags": listed(name), "min_reliability": number(0, 1)},
)


def _to_agent_or_capability(value: Any, at: str) -> None:
    (_wanted if isinstance(value, dict) else agent_id)(value, at)


_session = record(
    {"id": text(pattern=SESSION_ID)}, {"wait_seconds": number(0, SESSION_WAIT_SECONDS)}
)
_session_state = one_of("begun", "continued", "lost")

_bodies: dict[str, Check] = {
    "handoff": record(
        {"capability": capability_name},
        {
            "version": name,
            "input": anything,
            "brief": record({"instruction": prose}, {"expected_output": prose}),
            "messages": _messages,
            "artifacts": _artifacts,
            "contract": contract,
            "metadata": mapping(),
        },
    ),
    "cancel": record(optional={"reason": prose}),
    "answer": record({"question_id": name, "answer": anything}),
    "receipt": record(
        {"status": status},
        {
            "reason": prose,
            "counter": contract,
            "retry_after_ms": wait_ms,
            "session": _session_state,
            "also": listed(
                record({"handoff_id": handoff_id, "re": digest}), ALSO_LISTED, 1, over=413
            ),
            "refused": listed(record({"handoff_id": handoff_id, "status": status}), least=1),
        },
    ),
    "progress": record(optional={"message": prose, "fraction": number(0, 1), "data": anything}),
    "question": record({"questions": _questions}, {"state": _state, "usage": _usage}),
    "result": record(
        {"status": status},
        {
            "output": anything,
            "messages": _messages,
            "artifacts": _artifacts,
            "error": record(
                {"message": prose},
                {"retryable": boolean, "retry_after_ms": wait_ms, "cause": anything},
            ),
            "effects": one_of("none", "possible", "done"),
            "usage": _usage,
            "session": _session_state,
        },
        also=_ends,
    ),
    "notice": record({"status": status, "reason": text(PROSE)}, {"data": anything}),
}


_common: dict[str, Check] = {
    "id": handoff_id,
    "from": agent_id,
    "handoff_id": handoff_id,
    "correlation_id": handoff_id,
    "issued_at": instant,
    "salt": text(pattern=r"[A-Za-z0-9_-]{21}[AQgw]"),
}
_attempt = integer(1, 65_535)
_own: dict[str, tuple[dict[str, Check], dict[str, Check]]] = {
    "handoff": (
        {"domain": kid, "to": _to_agent_or_capability, "deadline": instant},
        {
            "on_behalf_of": text(pattern=r"[!-~]{1,128}"),
            "parent_id": handoff_id,
            "hop": limited(HOPS, integer(0)),
            "group": _group,
            "session": _session,
            "replay_of": handoff_id,
            "not_before": instant,
            "priority": integer(0, 9),
        },
    ),
    "cancel": ({"to": agent_id}, {}),
    "answer": ({"to": agent_id, "re": digest}, {}),
    "receipt": ({"to": agent_id, "re": digest}, {"attempt": _attempt}),
    "progress": ({"to": agent_id, "attempt": _attempt, "re": digest}, {}),
    "question": ({"to": agent_id, "attempt": _attempt, "re": digest}, {}),
    "result": ({"to": agent_id, "attempt": _attempt, "re": digest}, {}),
    "notice": ({"to": agent_id}, {"attempt": _attempt, "re": digest}),
}


def _lists_each_once(value: Any, at: str) -> None:
    """Custody receipts and acknowledgements list other handoffs, each of them once (WB-106, 108)."""
    body = value["body"]
    if "also" not in body:
        return
    place = pointer(pointer(at, "body"), "also")
    if body["status"] not in (100, 200):
        raise fault(place, f"is not for a receipt of status {body['status']}.")
    ids = [value["handoff_id"], *(each["handoff_id"] for each in body["also"])]
    if len(set(ids)) < len(ids):
        raise fault(place, "names a handoff twice.")


_traced: dict[str, Check] = {"traceparent": text(pattern=_TRACEPARENT), "tracestate": text(512)}

_critical = listed(text(256), 32, 1)

_version = record({"waybill": constant(1)})
_shapes = {
    kind: record(
        {**_common, **required, "body": _bodies[kind]},
        {**_traced, "critical": _critical, **optional},
        also=_lists_each_once if kind == "receipt" else None,
    )
    for kind, (required, optional) in _own.items()
}
_kinds = tagged("kind", _shapes)
_known = {
    kind: {"/waybill", "/kind", *(at for at, _ in shape.members())}
    for kind, shape in _shapes.items()
}
# The only member that is either a text or an object.
_known["handoff"] |= {at for at, _ in _wanted.members("/to")}


def _check_critical(envelope: dict[str, Any]) -> None:
    """Rejects an envelope that requires its readers to know what this one does not (WB-104)."""
    for index, at in enumerate(envelope.get("critical", [])):
        if at not in _known[envelope["kind"]] or not _is_present(envelope, at):
            raise fault(
                f"/critical/{index}",
                f"requires this reader to know {at!r}, and it does not, or the member is missing.",
            )


def _is_present(value: Any, at: str) -> bool:
    """The pointer is a known one, so none of its names is escaped."""
    for member in at[1:].split("/"):
        if not isinstance(value, dict) or member not in value:
            return False
        value = value[member]
    return True


def check_envelope(value: Any) -> None:
    """Rejects what is not an envelope of this version."""
    _version(value, "")
    _kinds(value, "")
    _check_critical(value)
