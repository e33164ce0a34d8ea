"""The invitation that admits an agent to a hub that requires one."""

from __future__ import annotations

import os

from ..protocol.error import WaybillError
from ..protocol.invitation import invitation_domain, sign_enrolment

_VARIABLE = "WAYBILL_INVITATION"


def enrolment_at(domain: str, manifest: str, given: str | None) -> str | None:
    """The proof for a first manifest, if the agent was invited to this hub. The invitation is not
    sent.

    By default it is the one for this domain in the environment, of several separated by spaces.
    """
    if given is None:
        for each in os.environ.get(_VARIABLE, "").split():
            if invitation_domain(each) == domain:
                return sign_enrolment(manifest, each)
        return None
    wanted = invitation_domain(given) or domain
    if wanted != domain:
        raise WaybillError(
            401,
            f"The invitation is for a hub of the custody domain {wanted}, and this hub is of {domain}: nothing was sent. "
            "Connect to the hub that issued the invitation, or ask the operator of this hub for one.",
        )
    return sign_enrolment(manifest, given)
