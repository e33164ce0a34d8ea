"""Signed manifests, and the rules from one to the next (WB-60 to WB-65, WB-200 to WB-205)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from . import jws
from .envelope import KeyRecord
from .error import WaybillError
from .instant import format_time, now_ms, parse_time
from .json_text import parse_json, stringify_json
from .key import PrivateKey, PublicKey
from .manifest_shape import is_recovery, read_key, read_manifest
from .possession import check_possession
from .recovery import is_agreed
from .trust import TrustPolicy


@dataclass(frozen=True)
class VerifiedManifest:
    text: str
    digest: str
    kid: str
    """The key that signed it."""
    manifest: dict[str, Any]
    at: int
    keys: Mapping[str, KeyRecord]
    """The keys that it lists, except the recovery key."""
    recovery: PublicKey | None
    """The key that signs recoveries of the agent, and nothing else."""
    retired: Mapping[str, KeyRecord]
    """Keys of earlier manifests that it no longer lists."""
    trusted_by: str | None

    @property
    def agent(self) -> str:
        return str(self.manifest["agent_id"])


def verify_manifest(
    text: str,
    *,
    previous: VerifiedManifest | None = None,
    at: int | None = None,
    known_keys: Mapping[str, str] | None = None,
    trust: TrustPolicy | None = None,
    from_first: bool = False,
    vouched: Callable[[str], bool] | None = None,
) -> VerifiedManifest:
    """Accepts the first manifest of an agent, or the one that follows `previous`.

    `from_first`: the reader has accepted every manifest of the agent from the first one on, as a
    hub does (WB-91). `vouched`: a trusted party vouches for a key that `previous` does not list
    (WB-114).
    """
    at = now_ms() if at is None else at
    compact = jws.read_compact(text)
    if previous is not None and text == previous.text:
        return previous
    # A first manifest contains its own keys, so they are read before it is verified. A removed key
    # may have signed a manifest that is replayed: that is a rollback, and not an unknown key.
    signers = (
        _keys_of(_opened(compact.payload), at)
        if previous is None
        else {**previous.retired, **previous.keys}
    )
    is_vouched = vouched is not None and vouched(compact.kid)
    is_new = previous is not None and compact.kid not in previous.keys
    claimed = _opened(compact.payload) if is_new else {}
    may_recover = "recovery" in claimed and not _is_rollback(claimed, previous)
    if is_new and (is_vouched or may_recover):
        signers = _keys_of(claimed, at)
    signer = signers.get(compact.kid)
    if signer is None:
        raise WaybillError(
            401,
            f"The manifest is signed by {compact.kid}, which "
            f"{'it does not list' if previous is None else 'the manifest before it does not list'}.",
        )
    jws.verify(compact, signer.key)
    if previous is not None:
        _refuse_rollback(_opened(compact.payload), previous)
    if not signer.is_valid_at(at):
        raise WaybillError(
            401,
            f"The key {compact.kid} that signed the manifest is not valid at {format_time(at)}.",
        )
    payload = _opened(compact.payload)
    manifest = read_manifest(payload)
    digest = compact.digest
    recovery = _recovery_key_of(manifest)
    if previous is not None:
        is_consented = is_agreed(manifest, previous.recovery)
        _follow(manifest, previous)
        _check_recovery_key(manifest, recovery, previous, is_consented or is_vouched)
        if is_new and not is_vouched:
            _check_old_keys_gone(manifest, previous)
    elif from_first and manifest["sequence"] != 1:
        raise WaybillError(
            409,
            f"No manifest of {manifest['agent_id']} is known here, and this is number {manifest['sequence']}: the "
            "first one must come first.",
            at="/sequence",
        )
    keys = _keys_of(payload, at)
    check_possession(manifest, compact.kid)
    for kid in keys:
        owner = (known_keys or {}).get(kid, manifest["agent_id"])
        if owner != manifest["agent_id"]:
            raise WaybillError(
                409, f"The key {kid} is one of {owner}: every agent needs its own key."
            )
    trusted_by = None if trust is None else trust.decide(manifest["agent_id"], compact.kid, digest)
    retired = _retired(previous, keys, at)
    return VerifiedManifest(
        text, digest, compact.kid, manifest, at, keys, recovery, retired, trusted_by
    )


def _opened(payload: bytes) -> dict[str, Any]:
    value = parse_json(payload)
    if not isinstance(value, dict) or value.get("kind") != "manifest":
        raise WaybillError(400, "This is not a manifest.", at="/kind")
    if isinstance(value.get("waybill"), bool) or value.get("waybill") != 1:
        raise WaybillError(400, "This is not a manifest of version 1.", at="/waybill")
    return value


def _keys_of(payload: dict[str, Any], at: int) -> dict[str, KeyRecord]:
    listed, agent = payload.get("keys", []), payload.get("agent_id")
    if not isinstance(listed, list) or not isinstance(agent, str):
        raise WaybillError(400, "A manifest must have an agent_id and a list of keys.")
    keys = {}
    for index, jwk in enumerate(listed):
        key = read_key(jwk, f"/keys/{index}")
        if is_recovery(jwk):
            continue
        times = (
            parse_time(jwk.get(member)) for member in ("not_before", "not_after", "retired_at")
        )
        keys[key.kid] = KeyRecord(agent, key, *times)
    return keys


def _recovery_key_of(manifest: dict[str, Any]) -> PublicKey | None:
    listed = [read_key(jwk, "/keys") for jwk in manifest["keys"] if is_recovery(jwk)]
    return listed[0] if listed else None


def _check_recovery_key(
    manifest: dict[str, Any],
    recovery: PublicKey | None,
    previous: VerifiedManifest,
    may_change: bool,
) -> None:
    """A stolen signing key must not be able to remove the key that revokes it (WB-204)."""
    agent, before = manifest["agent_id"], previous.recovery
    is_changed = before is not None and (recovery is None or recovery.kid != before.kid)
    if before is not None and is_changed and not may_change:
        raise WaybillError(
            401,
            f"The manifest of {agent} lacks its recovery key {before.kid}, or changes it, and that key has not "
            "signed this: list it again, or sign with it (sign_recovery).",
            at="/keys",
        )
    listed = {read_key(jwk, "/keys").kid for jwk in manifest["keys"]}
    was_recovery = before is not None and is_changed and before.kid in listed
    if was_recovery or (recovery is not None and recovery.kid in previous.keys):
        raise WaybillError(
            409,
            f"The manifest of {agent} lists a key for a different use than the previous manifest: "
            "a signing key can't be a recovery key.",
            at="/keys",
        )


def _check_old_keys_gone(manifest: dict[str, Any], previous: VerifiedManifest) -> None:
    """A recovery is made because the old keys are lost or stolen (WB-203)."""
    for index, jwk in enumerate(manifest["keys"]):
        kid = read_key(jwk, f"/keys/{index}").kid
        if kid in previous.keys:
            raise WaybillError(
                400,
                f"The recovery of {manifest['agent_id']} lists {kid}, a key of the previous manifest: "
                "a recovery ends all of them.",
                at=f"/keys/{index}",
            )


def _is_rollback(payload: dict[str, Any], previous: VerifiedManifest | None) -> bool:
    sequence = payload.get("sequence", 1)
    return (
        previous is not None
        and isinstance(sequence, int)
        and sequence <= previous.manifest["sequence"]
    )


def _refuse_rollback(payload: dict[str, Any], previous: VerifiedManifest) -> None:
    sequence, newest = payload.get("sequence", 1), previous.manifest["sequence"]
    if isinstance(sequence, int) and sequence <= newest:
        raise WaybillError(
            409,
            f"Number {newest} of {previous.agent} is known: an older one, or a different one with that number, is not accepted.",
        )


def _follow(manifest: dict[str, Any], previous: VerifiedManifest) -> None:
    before = previous.manifest
    is_next = (
        manifest["sequence"] == before["sequence"] + 1
        and manifest.get("previous") == previous.digest
    )
    if manifest["agent_id"] != before["agent_id"] or not is_next:
        raise WaybillError(
            409,
            f"This is not the manifest that follows number {before['sequence']} of {before['agent_id']}: "
            "its number, its agent or its previous manifest differs.",
        )


def _retired(
    previous: VerifiedManifest | None, keys: Mapping[str, KeyRecord], at: int
) -> dict[str, KeyRecord]:
    if previous is None:
        return {}
    gone = {kid: record for kid, record in previous.retired.items() if kid not in keys}
    for kid, record in previous.keys.items():
        if kid not in keys:
            ends = min(at, record.retired_at) if record.retired_at is not None else at
            gone[kid] = replace(record, retired_at=ends)
    return gone


def keyring(manifests: Iterable[VerifiedManifest]) -> dict[str, KeyRecord]:
    """The keys of the newest manifest of each agent, and those that were removed on the way to it."""
    ring: dict[str, KeyRecord] = {}
    for each in manifests:
        ring.update(each.retired)
        ring.update(each.keys)
    return ring


def check_chain(known: VerifiedManifest, shown: Sequence[str]) -> None:
    """Rejects an agent's history, given by the digests of its manifests, that does not contain the
    manifest that was trusted before (WB-205)."""
    if known.digest in shown:
        return
    raise WaybillError(
        401,
        f"The hub shows a different history of {known.agent} than before: manifest number "
        f"{known.manifest['sequence']}, "
        "which is known here, is not in it. Either the hub lost its record, or somebody is impersonating the "
        "agent. If you know the agent's new key, pass it in trust (pins), or restart to believe the hub.",
        at="/previous",
    )


def check_domain(domain: str, chain: Sequence[VerifiedManifest]) -> None:
    """A hub's manifests, by sequence, begin with the key that names its custody domain (WB-86)."""
    first = chain[0] if chain else None
    if first is not None and first.manifest["sequence"] == 1 and first.kid == domain:
        return
    raise WaybillError(
        401,
        f"The hub claims that its custody domain is {domain}, but its first manifest does not prove it.",
        at="/domain",
    )


def sign_manifest(manifest: dict[str, Any], key: PrivateKey) -> str:
    """Signs an agent's manifest. By default, `keys` lists the signing key only.

    Every other key is listed as `proven_key` returns it.
    """
    payload = {"waybill": 1, "kind": "manifest", **manifest}
    payload.setdefault("keys", [key.jwk])
    payload.setdefault("sequence", 1)
    check_possession(read_manifest(payload), key.kid)
    return jws.sign(stringify_json(payload), key)
