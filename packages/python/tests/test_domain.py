"""Hubs are identified by their custody domain, and not by the name that they claim (WB-85, WB-86)."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from waybill_sdk import WaybillError
from waybill_sdk.link.address import address_of
from waybill_sdk.link.hub import Hub
from waybill_sdk.link.link import Link
from waybill_sdk.link.peers import Peers
from waybill_sdk.protocol.envelope import create_handoff, sign_envelope
from waybill_sdk.protocol.instant import format_time, now_ms
from waybill_sdk.protocol.jws import digest_of_jws
from waybill_sdk.protocol.key import PrivateKey, generate_key
from waybill_sdk.protocol.manifest import sign_manifest
from waybill_sdk.protocol.possession import proven_key

FIRST, SECOND, OTHER = generate_key(), generate_key(), generate_key()


def manifest(key: PrivateKey, keys: list[PrivateKey], previous: str | None = None) -> str:
    said: dict[str, Any] = {
        "agent_id": "hub",
        "capabilities": [],
        "keys": [proven_key("hub", each) for each in keys],
    }
    if previous is not None:
        said |= {"sequence": 2, "previous": digest_of_jws(previous)}
    return sign_manifest(said, key)


BEGUN = manifest(FIRST, [FIRST, SECOND])
ROTATED = manifest(SECOND, [SECOND], BEGUN)


class Shown(Hub):
    """A hub that claims whatever the test says."""

    def __init__(self, pinned: str | None = None) -> None:
        super().__init__(address_of("http://127.0.0.1:1"), pinned)
        self.says: tuple[str, list[str]] = ("", [])

    async def _request(self, method: str, path: str, body: Any = None) -> Any:
        domain, manifests = self.says
        if path == "/.well-known/waybill":
            return {"hub": "hub", "domain": domain, "manifest": manifests[-1]}
        at = format_time(now_ms())
        return {"manifests": [{"manifest": each, "at": at} for each in manifests]}

    async def shows(self, domain: str, *manifests: str) -> None:
        self.says = (domain, list(manifests))
        await self.meet()


async def refused(hub: Shown, domain: str, *manifests: str) -> None:
    with pytest.raises(WaybillError) as caught:
        await hub.shows(domain, *manifests)
    assert caught.value.status == 401


async def test_a_hub_belongs_to_the_domain_whose_key_signed_its_first_manifest() -> None:
    hub = Shown()
    await hub.shows(FIRST.kid, BEGUN, ROTATED)
    assert hub.domain == FIRST.kid
    await refused(Shown(), SECOND.kid, BEGUN, ROTATED)
    await refused(Shown(), OTHER.kid, BEGUN)
    await refused(Shown(), FIRST.kid, manifest(OTHER, [OTHER]))


async def test_a_known_hub_keeps_its_domain() -> None:
    hub = Shown()
    await hub.shows(FIRST.kid, BEGUN)
    await hub.shows(FIRST.kid, BEGUN, ROTATED)
    await refused(hub, OTHER.kid, BEGUN, ROTATED)
    await refused(hub, OTHER.kid, manifest(OTHER, [OTHER]))
    assert hub.domain == FIRST.kid


async def test_a_pinned_domain_holds_after_the_hub_changes_its_keys() -> None:
    await Shown(FIRST.kid).shows(FIRST.kid, BEGUN, ROTATED)
    await Shown(SECOND.kid).shows(FIRST.kid, BEGUN, ROTATED)
    await refused(Shown(FIRST.kid), OTHER.kid, manifest(OTHER, [OTHER]))


async def test_a_handoff_that_was_meant_for_another_domain_is_refused() -> None:
    owner = generate_key()
    said = sign_manifest({"agent_id": "owner", "capabilities": []}, owner)

    async def manifests(_agent: str) -> list[tuple[str, int]]:
        return [(said, now_ms())]

    link = SimpleNamespace(hub=SimpleNamespace(domain=FIRST.kid), manifests=manifests)
    peers = Peers(cast(Link, link), None)

    def handoff(domain: str) -> str:
        body = {"capability": "work"}
        made = create_handoff(sender="owner", domain=domain, to="worker", body=body, timeout=60)
        return sign_envelope(made, owner)

    assert (await peers.verify(handoff(FIRST.kid))).envelope["domain"] == FIRST.kid
    with pytest.raises(WaybillError) as caught:
        await peers.verify(handoff(OTHER.kid))
    assert (caught.value.status, caught.value.at) == (403, "/domain")
