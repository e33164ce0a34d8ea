"""How an agent proves that it was invited, without sending the invitation (WB-110 to WB-113)."""

from __future__ import annotations

import hmac
import re
from typing import Any

from .encoding import from_base64url, to_base64url
from .error import WaybillError
from .json_text import parse_json, stringify_json
from .jws import read_compact
from .shape import constant, digest, kid, record, text

_INVITATION = re.compile(r"([\w-]{43})\.([\w-]{22})\.[\w-]{43}", re.ASCII)
_PROOF = re.compile(r"(([\w-]{22})\.([\w-]+))\.([\w-]{43})", re.ASCII)
_enrolment = record(
    {
        "waybill": constant(1),
        "kind": constant("enrolment"),
        "domain": kid,
        "agent": text(),
        "kid": kid,
        "manifest": digest,
    }
)


def invitation_domain(invitation: str) -> str | None:
    """The custody domain of the invitation; None for a text that is not an invitation."""
    found = _INVITATION.fullmatch(invitation)
    return None if found is None else found[1]


def sign_enrolment(manifest: str, invitation: str) -> str:
    """The proof for the first manifest of an agent: it is keyed with the invitation and does not
    contain it."""
    found = _INVITATION.fullmatch(invitation)
    if found is None:
        raise WaybillError(
            400,
            "This is not an invitation: it must be a custody domain, an id and a secret "
            "in base64url, separated by dots, as `waybill invite` prints it.",
        )
    signed = read_compact(manifest)
    claim = {
        "waybill": 1,
        "kind": "enrolment",
        "domain": found[1],
        "agent": parse_json(signed.payload)["agent_id"],
        "kid": signed.kid,
        "manifest": signed.digest,
    }
    given = f"{found[2]}.{to_base64url(stringify_json(claim).encode('utf-8'))}"
    return f"{given}.{to_base64url(_mac(given, invitation))}"


def check_enrolment(proof: str, *, manifest: str, invitation: str, domain: str) -> dict[str, Any]:
    """Checks the proof that came with a manifest, at the hub of this domain that has issued the
    invitation."""
    found = _PROOF.fullmatch(proof)
    if found is None:
        raise WaybillError(401, "The proof of an invitation is not <id>.<payload>.<mac>.")
    try:
        if not hmac.compare_digest(from_base64url(found[4]), _mac(found[1], invitation)):
            raise WaybillError(401, "It was not made with this invitation.")
        value = parse_json(from_base64url(found[3]))
        _enrolment(value, "")
    except WaybillError as error:
        raise WaybillError(
            401, f"The proof of the invitation is not valid: {error.message}", cause=error
        ) from error
    signed = read_compact(manifest)
    wanted = {
        "domain": domain,
        "agent": parse_json(signed.payload)["agent_id"],
        "kid": signed.kid,
        "manifest": signed.digest,
    }
    if any(value[member] != other for member, other in wanted.items()):
        raise WaybillError(401, "The proof is for another domain, agent, key or manifest.")
    return dict(value)


def _mac(given: str, invitation: str) -> bytes:
    message = f"waybill invitation 1\n{given}"
    return hmac.digest(invitation.encode("utf-8"), message.encode("utf-8"), "sha256")
