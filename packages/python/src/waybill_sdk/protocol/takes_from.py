"""The delegators from which a capability takes work (WB-210)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def principal_of(handoff: dict[str, Any]) -> str:
    """For whom a handoff is made: its delegator, or somebody for whom that acts (WB-215)."""
    name = handoff.get("on_behalf_of")
    return str(handoff["from"]) if name is None else f"{handoff['from']}/{name}"


def takes_from(
    capability: dict[str, Any], agent: str, kid: str | None, is_in: Callable[[str], bool]
) -> bool:
    """Whether a capability takes work from a principal, or from an agent that signs with this key. Only a hub knows the
    members of groups, so a recipient leaves that check to its hub."""
    given = capability.get("from")
    if given is None:
        return True
    return (
        agent in given.get("agents", [])
        or kid in given.get("keys", [])
        or any(is_in(group) for group in given.get("groups", []))
    )
