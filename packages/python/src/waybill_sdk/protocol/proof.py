"""Proofs that an agent is connected (WB-79) and that a request is its own (WB-80 to WB-82).

Also the proofs of operators (WB-94 to WB-96).
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Callable
from typing import Any

from . import jws
from .encoding import from_base64url, to_base64url
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
_operator_request = record(
    {
        "waybill": constant(1),
        "kind": constant("operator_request"),
        "domain": text(),
        "id": handoff_id,
        "at": instant,
        "method": text(),
        "path": text(),
    },
    {"host": text(), "body_digest": digest},
)
_TOKEN = re.compile(r"([\w-]{43})\.[\w-]{43}", re.ASCII)
_OPERATOR_SCHEME = re.compile(r"Waybill-Operator ([\w-]+)\.([\w-]+)", re.IGNORECASE | re.ASCII)
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
        raise WaybillError(401, "The Authorization header must be: Waybill, one space, a JWS.")
    try:
        compact = jws.read_compact(found[1])
        record_of_key = key_of(compact.kid)
        if record_of_key is None or not record_of_key.is_valid_at(at):
            raise WaybillError(
                401, f"The key {compact.kid} is not a current key of any agent known here."
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
            401, f"The request is from {value['from']}, but it was signed by {record_of_key.agent}."
        )
    about = (value["to"], value["domain"], value["method"], value["path"])
    if about != (hub, domain, method, path):
        raise WaybillError(401, "The proof is for another hub, custody domain, method or path.")
    _check_age(value, at)
    if value.get("body_digest") != (None if body is None else _digest(body)):
        raise WaybillError(401, "The proof is for another body.")
    return dict(value)


def operator_token_domain(token: str) -> str:
    """The custody domain for which an operator token was made."""
    found = _TOKEN.fullmatch(token)
    if found is None:
        raise WaybillError(
            400, "An operator token must be a custody domain, a dot and 43 characters of base64url."
        )
    return found[1]


def sign_operator_request(
    *, host: str, method: str, path: str, body: bytes | None, token: str
) -> str:
    """The value of the header `Authorization`: it is keyed with the token and does not contain it."""
    payload = present(
        waybill=1,
        kind="operator_request",
        domain=operator_token_domain(token),
        host=host,
        id=new_id(),
        at=format_time(now_ms()),
        method=method,
        path=path,
        body_digest=None if body is None else _digest(body),
    )
    encoded = to_base64url(stringify_json(payload).encode("utf-8"))
    return f"Waybill-Operator {encoded}.{to_base64url(_mac(encoded, token))}"


def check_operator_request(
    authorization: str,
    *,
    method: str,
    path: str,
    body: bytes | None,
    at: int,
    token: str,
) -> dict[str, Any]:
    found = _OPERATOR_SCHEME.fullmatch(authorization)
    if found is None:
        raise WaybillError(
            401, "The Authorization header must be: Waybill-Operator, one space, payload.mac."
        )
    try:
        given = from_base64url(found[2])
        if not hmac.compare_digest(given, _mac(found[1], token)):
            raise WaybillError(401, "It was not made with the operator token of this hub.")
        value = parse_json(from_base64url(found[1]))
        _operator_request(value, "")
    except WaybillError as error:
        raise WaybillError(
            401, f"The operator's proof is not valid: {error.message}", cause=error
        ) from error
    wanted = (operator_token_domain(token), method, path)
    if (value["domain"], value["method"], value["path"]) != wanted:
        raise WaybillError(401, "The proof is for another custody domain, method or path.")
    _check_age(value, at)
    if value.get("body_digest") != (None if body is None else _digest(body)):
        raise WaybillError(401, "The proof is for another body.")
    return dict(value)


def _mac(encoded: str, token: str) -> bytes:
    message = f"waybill operator 1\n{encoded}"
    return hmac.digest(token.encode("utf-8"), message.encode("utf-8"), "sha256")


def _digest(body: bytes) -> str:
    return "sha256:" + hashlib.sha256(body).hexdigest()


def _check_age(value: dict[str, Any], at: int) -> None:
    if abs(at - (parse_time(value["at"]) or 0)) > CLOCK_SKEW_MS:
        raise WaybillError(401, "The proof is more than 60 seconds off: check the clock.")
