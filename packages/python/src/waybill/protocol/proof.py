"""How an agent proves that it is there (WB-79), and that a request is its own (WB-80 to WB-82)."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from typing import Any

from . import jws
from .envelope import KeyRecord, present
from .error import WaybillError
from .ids import new_id
from .instant import format_time, now_ms, parse_time
from .json_text import parse_json, stringify_json
from .key import PrivateKey
from .limits import CLOCK_SKEW_MS
from .shape import agent_id, constant, digest, handoff_id, instant, kid, record, text

_hello = record(
    {
        "waybill": constant(1),
        "kind": constant("hello"),
        "from": agent_id,
        "to": text(),
        "domain": kid,
        "instance": text(256, 1),
        "id": handoff_id,
        "at": instant,
    },
    {"nonce": text()},
)
_request = record(
    {
        "waybill": constant(1),
        "kind": constant("request"),
        "from": agent_id,
        "to": text(),
        "domain": kid,
        "id": handoff_id,
        "at": instant,
        "method": text(),
        "path": text(),
    },
    {"body_digest": digest},
)
_SCHEME = re.compile(r"Waybill ([!-~]+)", re.IGNORECASE | re.ASCII)


def sign_hello(
    *, sender: str, hub: str, domain: str, instance: str, nonce: str | None, key: PrivateKey
) -> str:
    payload = present(
        waybill=1,
        kind="hello",
        **{"from": sender},
        to=hub,
        domain=domain,
        instance=instance,
        id=new_id(),
        at=format_time(now_ms()),
        nonce=nonce,
    )
    return jws.sign(stringify_json(payload), key)


def check_hello(
    payload: str | bytes, *, hub: str, domain: str, nonce: str, at: int
) -> dict[str, Any]:
    value = parse_json(payload)
    _hello(value, "")
    if (value["to"], value["domain"], value.get("nonce")) != (hub, domain, nonce):
        raise WaybillError(
            401, "The hello is for another hub, another custody domain, or another socket."
        )
    _check_age(value, at)
    return dict(value)


def sign_request(
    *,
    sender: str,
    hub: str,
    domain: str,
    method: str,
    path: str,
    body: bytes | None,
    key: PrivateKey,
) -> str:
    """The value of the header `Authorization`."""
    payload = present(
        waybill=1,
        kind="request",
        **{"from": sender},
        to=hub,
        domain=domain,
        id=new_id(),
        at=format_time(now_ms()),
        method=method,
        path=path,
        body_digest=None if body is None else _digest(body),
    )
    return f"Waybill {jws.sign(stringify_json(payload), key)}"


def check_request(
    authorization: str,
    *,
    hub: str,
    domain: str,
    method: str,
    path: str,
    body: bytes | None,
    at: int,
    key_of: Callable[[str], KeyRecord | None],
) -> dict[str, Any]:
    found = _SCHEME.fullmatch(authorization)
    if found is None:
        raise WaybillError(401, "Authorization is not: Waybill, one space, a JWS.")
    try:
        compact = jws.read_compact(found[1])
        record_of_key = key_of(compact.kid)
        if record_of_key is None or not record_of_key.is_valid_at(at):
            raise WaybillError(
                401, f"The key {compact.kid} is no current key of anybody known here."
            )
        jws.verify(compact, record_of_key.key)
        value = parse_json(compact.payload)
        _request(value, "")
    except WaybillError as error:
        raise WaybillError(
            401, f"The proof of this request can't be read: {error.message}", cause=error
        ) from error
    if value["from"] != record_of_key.agent:
        raise WaybillError(
            401, f"The request is from {value['from']}, and was signed by {record_of_key.agent}."
        )
    about = (value["to"], value["domain"], value["method"], value["path"])
    if about != (hub, domain, method, path):
        raise WaybillError(401, "The proof is for another hub, custody domain, method or path.")
    _check_age(value, at)
    if value.get("body_digest") != (None if body is None else _digest(body)):
        raise WaybillError(401, "The proof is for another body.")
    return dict(value)


def _digest(body: bytes) -> str:
    return "sha256:" + hashlib.sha256(body).hexdigest()


def _check_age(value: dict[str, Any], at: int) -> None:
    if abs(at - (parse_time(value["at"]) or 0)) > CLOCK_SKEW_MS:
        raise WaybillError(401, "The proof is not from within 60 seconds: check the clock.")
