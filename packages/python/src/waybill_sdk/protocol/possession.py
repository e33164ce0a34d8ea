"""Proofs that an agent holds the keys that it lists (WB-89, WB-90, WB-200)."""

from __future__ import annotations

from typing import Any

from .encoding import from_base64url, to_base64url
from .error import WaybillError
from .key import PrivateKey, PublicKey
from .manifest_shape import is_recovery, read_key


def purpose_of(jwk: dict[str, Any]) -> str:
    return "recover" if is_recovery(jwk) else "sign"


def _claim(agent: str, kid: str, purpose: str) -> bytes:
    return f"waybill key 1\n{agent}\n{kid}\n{purpose}".encode()


def proven_key(agent: str, key: PrivateKey, **validity: str) -> dict[str, Any]:
    """A key for the manifest of an agent, with the proof that the agent holds it.

    The key that signs the manifest proves itself; every other key needs this proof. `validity`
    has `not_before`, `not_after` and `retired_at`.
    """
    return {
        "kid": key.kid,
        **key.jwk,
        **validity,
        "proof": to_base64url(key.sign(_claim(agent, key.kid, "sign"))),
    }


def proven_recovery_key(agent: str, key: PrivateKey) -> dict[str, Any]:
    """A recovery key for the manifest of an agent. Keep it offline. It signs recoveries only, with
    which the agent keeps its name if its other keys are lost or stolen."""
    proof = to_base64url(key.sign(_claim(agent, key.kid, "recover")))
    return {"kid": key.kid, **key.jwk, "use": "recovery", "proof": proof}


def check_possession(manifest: dict[str, Any], signer: str) -> None:
    """Rejects a manifest that lists a key without a proof that the agent holds it."""
    agent = manifest["agent_id"]
    for index, jwk in enumerate(manifest["keys"]):
        key = read_key(jwk, f"/keys/{index}")
        if key.kid == signer:
            continue
        if not is_signed(jwk.get("proof"), _claim(agent, key.kid, purpose_of(jwk)), key):
            raise WaybillError(
                401,
                f"The manifest of {agent} lists the key {key.kid} without a valid proof that {agent} holds it. Every key "
                "except the one that signs the manifest needs its own signature: list it as returned by "
                f"{'proven_recovery_key' if is_recovery(jwk) else 'proven_key'}(agent, key).",
                at=f"/keys/{index}/proof",
            )


def is_signed(proof: Any, claim: bytes, key: PublicKey) -> bool:
    if not isinstance(proof, str):
        return False
    try:
        return key.verifies(from_base64url(proof), claim)
    except WaybillError:
        return False
