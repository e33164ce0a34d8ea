"""Public signature vectors. They are not part of this repository; without them these tests are
skipped."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from waybill_sdk.protocol.error import WaybillError
from waybill_sdk.protocol.key import private_key_from_seed, public_key_from_bytes

FOLDER = Path(
    os.environ.get("WAYBILL_SIGNATURE_VECTORS") or Path(__file__).parents[4] / "shared" / "vectors"
)
SKIP = pytest.mark.skipif(
    not FOLDER.is_dir(), reason=f"there are no signature vectors of others in {FOLDER}"
)


def verdict(public: bytes, message: bytes, signature: bytes) -> bool:
    try:
        return public_key_from_bytes(public).verifies(signature, message)
    except WaybillError:
        return False


@SKIP
def test_rfc_8032() -> None:
    loaded = json.loads((FOLDER / "rfc8032-ed25519.json").read_text("utf-8"))
    assert loaded
    for case in loaded:
        seed, public, message, signature = (
            bytes.fromhex(case[name]) for name in ("priv", "pub", "msg", "sig")
        )
        assert private_key_from_seed(seed[:32]).sign(message) == signature
        assert verdict(public, message, signature)


@SKIP
def test_wycheproof() -> None:
    loaded = json.loads((FOLDER / "wycheproof-ed25519.json").read_text("utf-8"))
    count = 0
    for group in loaded["testGroups"]:
        public = bytes.fromhex(group["publicKey"]["pk"])
        for case in group["tests"]:
            found = verdict(public, bytes.fromhex(case["msg"]), bytes.fromhex(case["sig"]))
            assert found == (case["result"] == "valid"), f"{case['tcId']}: {case['comment']}"
            count += 1
    assert count > 100
