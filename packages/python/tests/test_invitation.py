"""An invitation is a key: an agent sends a proof for its own manifest at the inviting hub."""

from __future__ import annotations

import pytest

from waybill_sdk import WaybillError
from waybill_sdk.link.invitation import enrolment_at
from waybill_sdk.protocol.invitation import check_enrolment, invitation_domain
from waybill_sdk.protocol.key import generate_key
from waybill_sdk.protocol.manifest import sign_manifest

HERE, ELSEWHERE = generate_key().kid, generate_key().kid
MANIFEST = sign_manifest({"agent_id": "anna", "capabilities": []}, generate_key())


def invitation(domain: str, secret: str = "s") -> str:
    return f"{domain}.{'i' * 22}.{secret * 43}"


def test_the_proof_does_not_contain_the_invitation() -> None:
    proof = enrolment_at(HERE, MANIFEST, invitation(HERE))
    assert proof is not None
    assert "s" * 43 not in proof
    check_enrolment(proof, manifest=MANIFEST, invitation=invitation(HERE), domain=HERE)
    with pytest.raises(WaybillError) as caught:
        check_enrolment(proof, manifest=MANIFEST, invitation=invitation(HERE, "t"), domain=HERE)
    assert caught.value.status == 401


def test_an_invitation_to_another_hub_is_rejected() -> None:
    with pytest.raises(WaybillError) as caught:
        enrolment_at(HERE, MANIFEST, invitation(ELSEWHERE))
    assert caught.value.status == 401
    assert "nothing was sent" in caught.value.message


def test_the_environment_may_contain_the_invitations_of_several_hubs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert enrolment_at(HERE, MANIFEST, None) is None
    monkeypatch.setenv("WAYBILL_INVITATION", f"{invitation(ELSEWHERE)} {invitation(HERE)}")
    proof = enrolment_at(HERE, MANIFEST, None)
    assert proof is not None
    check_enrolment(proof, manifest=MANIFEST, invitation=invitation(HERE), domain=HERE)
    monkeypatch.setenv("WAYBILL_INVITATION", invitation(ELSEWHERE))
    assert enrolment_at(HERE, MANIFEST, None) is None
    assert invitation_domain("x") is None
