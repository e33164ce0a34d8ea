"""Without a signature of the old key, a new key is accepted only from a pin, by a reader without an
earlier key (WB-114), or with the recovery key (WB-203)."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from waybill_sdk import WaybillError
from waybill_sdk.link.link import Link
from waybill_sdk.link.peers import Peers
from waybill_sdk.protocol.envelope import create_handoff, sign_envelope
from waybill_sdk.protocol.instant import now_ms
from waybill_sdk.protocol.jws import digest_of_jws
from waybill_sdk.protocol.key import PrivateKey, generate_key
from waybill_sdk.protocol.manifest import sign_manifest
from waybill_sdk.protocol.possession import proven_recovery_key
from waybill_sdk.protocol.recovery import sign_recovery
from waybill_sdk.protocol.trust import TrustPolicy

LOST, NEXT = generate_key(), generate_key()
DOMAIN = generate_key().kid
FIRST = sign_manifest({"agent_id": "anna", "capabilities": []}, LOST)
PINNED = sign_manifest(
    {"agent_id": "anna", "capabilities": [], "sequence": 2, "previous": digest_of_jws(FIRST)}, NEXT
)


class Shown:
    """The hub's manifests of anna, as many as the test lets it show."""

    def __init__(self, *manifests: str) -> None:
        self.hub = SimpleNamespace(domain=DOMAIN)
        self.published = [(each, now_ms()) for each in manifests]

    async def manifests(self, _agent: str) -> list[tuple[str, int]]:
        return self.published


def peers(shown: Shown, trust: TrustPolicy | None = None) -> Peers:
    return Peers(cast(Link, shown), trust)


def said(key: PrivateKey) -> str:
    body: dict[str, Any] = {"capability": "x"}
    envelope = create_handoff(
        sender="anna", to="ben", domain=DOMAIN, body=body, deadline=now_ms() + 60_000
    )
    return sign_envelope(envelope, key)


async def test_a_reader_that_knows_another_key_refuses_the_new_one() -> None:
    shown = Shown(FIRST)
    knowing = peers(shown)
    await knowing.verify(said(LOST))
    shown.published.append((PINNED, now_ms()))
    with pytest.raises(WaybillError) as caught:
        await knowing.verify(said(NEXT))
    assert caught.value.status == 401


async def test_a_reader_with_a_pin_or_without_an_earlier_key_accepts_it() -> None:
    shown = Shown(FIRST, PINNED)
    await peers(shown).verify(said(NEXT))
    await peers(shown, TrustPolicy(pins={"anna": {"kids": [NEXT.kid]}})).verify(said(NEXT))
    with pytest.raises(WaybillError) as caught:
        await peers(shown, TrustPolicy(first_use=True)).verify(said(NEXT))
    assert caught.value.status == 401


OFFLINE = generate_key()
KEPT = proven_recovery_key("anna", OFFLINE)


def after(text: str, sequence: int, *keys: dict[str, Any]) -> dict[str, Any]:
    follows = {"sequence": sequence, "previous": digest_of_jws(text)}
    return {"agent_id": "anna", "capabilities": [], "keys": list(keys), **follows}


async def test_a_reader_that_knows_the_old_key_follows_a_recovery() -> None:
    kept = sign_manifest(after(FIRST, 2, LOST.jwk, KEPT), LOST)
    recovered = sign_manifest(sign_recovery(after(kept, 3, NEXT.jwk, KEPT), OFFLINE), NEXT)
    shown = Shown(FIRST, kept)
    knowing = peers(shown)
    await knowing.verify(said(LOST))
    shown.published.append((recovered, now_ms()))
    await knowing.verify(said(NEXT))
    with pytest.raises(WaybillError) as caught:
        await knowing.verify(said(LOST))
    assert caught.value.status == 401


async def test_a_reader_that_knows_an_agent_refuses_another_history_of_it() -> None:
    kept = sign_manifest(after(FIRST, 2, LOST.jwk, KEPT), LOST)
    shown = Shown(FIRST, kept)
    knowing = peers(shown)
    await knowing.verify(said(LOST))
    other = sign_manifest({"agent_id": "anna", "capabilities": []}, NEXT)
    for published in ([other], [FIRST]):
        shown.published = [(each, now_ms()) for each in published]
        with pytest.raises(WaybillError) as caught:
            await knowing.verify(said(NEXT))
        assert caught.value.status == 401
        assert "a different history of anna" in caught.value.message
