"""The recovery key's signature, with which an agent continues when its other keys are lost (WB-200
to WB-204)."""

from __future__ import annotations

from typing import Any

from .encoding import to_base64url
from .error import WaybillError
from .key import PrivateKey, PublicKey
from .manifest_shape import read_key, read_manifest
from .possession import is_signed, purpose_of


def _claim(manifest: dict[str, Any]) -> bytes:
    listed = [f"{purpose_of(jwk)} {read_key(jwk, '/keys').kid}" for jwk in manifest["keys"]]
    head = [manifest["agent_id"], str(manifest["sequence"]), manifest["previous"]]
    return "\n".join(["waybill recovery 1", *head, *listed]).encode()


def sign_recovery(manifest: dict[str, Any], key: PrivateKey) -> dict[str, Any]:
    """Adds the recovery key's signature to an update: the agent continues with the keys listed
    here. The update needs it to continue with a new key only, or to change or remove the
    recovery key."""
    members = {name: each for name, each in manifest.items() if name != "recovery"}
    read = read_manifest(members)
    if "previous" not in read:
        raise WaybillError(
            400,
            f"A recovery key signs an update, but this is the first manifest of {read['agent_id']}.",
            at="/previous",
        )
    return {**members, "recovery": to_base64url(key.sign(_claim(read)))}


def is_agreed(manifest: dict[str, Any], recovery_key: PublicKey | None) -> bool:
    """Whether the recovery key of the previous manifest agrees to this one. Rejects the signature
    of another key."""
    if "recovery" not in manifest:
        return False
    if recovery_key is not None and is_signed(manifest["recovery"], _claim(manifest), recovery_key):
        return True
    raise WaybillError(
        401,
        f"The recovery in manifest number {manifest['sequence']} of {manifest['agent_id']} is not "
        "valid: the recovery key of the previous manifest has not signed it for exactly these keys.",
        at="/recovery",
    )
