"""The members of a manifest, read with their defaults (WB-28, WB-66)."""

from __future__ import annotations

from typing import Any

from .error import WaybillError
from .instant import parse_time
from .key import PublicKey, enrol
from .limits import ENVELOPE_BYTES
from .schema import Allowance, compile_schema
from .shape import (
    agent_id,
    anything,
    capability_name,
    digest,
    fault,
    instant,
    integer,
    listed,
    number,
    one_of,
    record,
    text,
)

_WORDS = text(8_192)
_LABEL = text(128, 1)
_example = record(optional={"description": _WORDS, "input": anything, "output": anything})
_from = record(
    optional={
        "agents": listed(agent_id, 32, over=413),
        "keys": listed(text(pattern=r"[A-Za-z0-9_-]{43}"), 16, over=413),
        "groups": listed(text(pattern=r"[a-z0-9]([a-z0-9._-]{0,62}[a-z0-9])?"), 16, over=413),
    }
)
_NAMES_IN_FROM = 1_024
_capability = record(
    {"name": capability_name},
    {
        "version": _LABEL,
        "description": _WORDS,
        "tags": listed(_LABEL, 64),
        "examples": listed(_example, 32),
        "takes": one_of("structured", "conversation", "delegation"),
        "input_schema": anything,
        "output_schema": anything,
        "effects": one_of("none", "possible", "done"),
        "timeout_seconds": number(0, 31_622_400, is_least_out=True),
        "lease_seconds": number(0, 86_400, is_least_out=True),
        "max_attempts": integer(1, 32),
        "concurrency": integer(1),
        "max_input_bytes": integer(1),
        "reliability_sla": number(0, 1),
        "from": _from,
    },
)
_manifest = record(
    {"agent_id": agent_id, "capabilities": listed(_capability, 256)},
    {
        "version": _LABEL,
        "description": _WORDS,
        "discovery_endpoint": text(2_048, pattern=r"https?://[!-~]+"),
        "keys": listed(anything, 16),
        "sequence": integer(1),
        "previous": digest,
        "recovery": text(),
    },
)
_validity = record(
    optional={
        "not_before": instant,
        "not_after": instant,
        "retired_at": instant,
        "kid": text(),
        "use": one_of("sig", "recovery"),
        "proof": text(),
    }
)

DEFAULTS: dict[str, Any] = {
    "version": "1",
    "tags": [],
    "examples": [],
    "takes": "structured",
    "input_schema": {},
    "output_schema": {},
    "effects": "possible",
    "timeout_seconds": 300,
    "lease_seconds": 30,
    "max_attempts": 3,
    "max_input_bytes": ENVELOPE_BYTES,
    "reliability_sla": 0,
}


def read_manifest(value: Any) -> dict[str, Any]:
    """A manifest with every default filled in, and its schemas as JSON Schema."""
    _manifest(value, "")
    manifest = {**value, "keys": value.get("keys", []), "sequence": value.get("sequence", 1)}
    if (manifest["sequence"] > 1) != ("previous" in manifest):
        raise fault("/previous", "is there exactly where the sequence is above 1.")
    if "recovery" in manifest and "previous" not in manifest:
        raise fault("/recovery", "is there, and no manifest before it whose key could sign it.")
    # One allowance for all of them: each schema alone is bounded, but five hundred would not be.
    allowance = Allowance()
    manifest["capabilities"] = [
        read_capability(each, f"/capabilities/{index}", allowance)
        for index, each in enumerate(value["capabilities"])
    ]
    offered = [(each["name"], each["version"]) for each in manifest["capabilities"]]
    if len(set(offered)) < len(offered):
        raise fault("/capabilities", "have one name twice in the same version.")
    recovery_keys = 0
    named = 0
    for index, each in enumerate(manifest["capabilities"]):
        named += sum(len(names) for names in _named_in(each.get("from", {})))
        if named > _NAMES_IN_FROM:
            raise fault(f"/capabilities/{index}/from", "is one name too many for a manifest.", 413)
    for index, jwk in enumerate(manifest["keys"]):
        read_key(jwk, f"/keys/{index}")
        if not is_recovery(jwk):
            continue
        recovery_keys += 1
        if recovery_keys > 1:
            raise fault(f"/keys/{index}", "is a second recovery key, and there is one at most.")
        if any(member in jwk for member in ("not_before", "not_after", "retired_at")):
            raise fault(f"/keys/{index}", "is a recovery key, which has no time of validity.")
    return manifest


def is_recovery(jwk: Any) -> bool:
    """Whether a key that a manifest lists signs recoveries only (WB-200)."""
    return isinstance(jwk, dict) and jwk.get("use") == "recovery"


def read_capability(value: Any, at: str = "", allowance: Allowance | None = None) -> dict[str, Any]:
    _capability(value, at)
    if "from" in value and not any(_named_in(value["from"])):
        raise fault(f"{at}/from", "names nobody: to take work from everybody, leave it out.")
    capability = {**DEFAULTS, **value}
    for member in ("input_schema", "output_schema"):
        try:
            capability[member] = compile_schema(capability[member], allowance).schema
        except WaybillError as error:
            raise WaybillError(
                error.status,
                f"The {member} of {value['name']} can't be used: {error.message}",
                at=f"{at}/{member}",
                cause=error,
            ) from error
    return capability


def _named_in(given: dict[str, list[str]]) -> list[list[str]]:
    return [given.get(each, []) for each in ("agents", "keys", "groups")]


def read_key(jwk: Any, at: str) -> PublicKey:
    key = enrol(jwk)
    _validity(jwk, at)
    if jwk.get("kid", key.kid) != key.kid:
        raise fault(f"{at}/kid", "is not the thumbprint of this key.")
    starts, ends = parse_time(jwk.get("not_before")), parse_time(jwk.get("not_after"))
    if starts is not None and ends is not None and ends <= starts:
        raise fault(f"{at}/not_after", "is not later than not_before.")
    return key
