"""Which manifests are trusted: pin, allow-list, registry, first use, in this order (WB-70)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .error import WaybillError


@dataclass(frozen=True)
class TrustPolicy:
    """Each maps an agent's id to what is vouched for: `kids`, `digest`, both or neither."""

    pins: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    allow_list: Mapping[str, Mapping[str, Any]] | None = None
    registry: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    first_use: bool = False

    def decide(self, agent: str, kid: str, digest: str) -> str:
        """The source that vouches for it; raises if there is none."""
        if agent in self.pins:
            return _vouched("pin", self.pins[agent], agent, kid, digest)
        if self.allow_list is not None:
            if agent not in self.allow_list:
                raise WaybillError(403, f"The allow-list does not contain {agent}.")
            return _vouched("allow_list", self.allow_list[agent], agent, kid, digest)
        if agent in self.registry:
            return _vouched("registry", self.registry[agent], agent, kid, digest)
        if self.first_use:
            return "first_use"
        raise WaybillError(
            401, f"Nothing vouches for the key {kid} of {agent}: pin it, or list the agent."
        )


def vouches_for_key(policy: TrustPolicy, agent: str, kid: str) -> bool:
    """Whether a policy names exactly this key of an agent, so that its manifest may change to it."""
    if agent in policy.pins:
        return kid in policy.pins[agent].get("kids", ())
    sources = (policy.allow_list or {}, policy.registry)
    return any(kid in source.get(agent, {}).get("kids", ()) for source in sources)


def _vouched(by: str, vouch: Mapping[str, Any], agent: str, kid: str, digest: str) -> str:
    if "kids" in vouch and kid not in vouch["kids"]:
        raise WaybillError(
            401,
            f"The {by} vouches for a different key of {agent} than {kid}. Either somebody is impersonating {agent}, or it has changed its key.",
        )
    if "digest" in vouch and vouch["digest"] != digest:
        raise WaybillError(
            403,
            f"The manifest of {agent} is not the one that the {by} vouches for: it was changed.",
        )
    return by
