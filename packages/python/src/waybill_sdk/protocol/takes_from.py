"""The delegators from which a capability takes work (WB-210)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def takes_from(
    capability: dict[str, Any], agent: str, kid: str, is_in: Callable[[str], bool]
) -> bool:
    """Whether a capability takes work from an agent that signs with this key. Only a hub knows the
    members of groups, so a recipient leaves that check to its hub."""
    given = capability.get("from")
    if given is None:
        return True
    return (
        agent in given.get("agents", [])
        or kid in given.get("keys", [])
        or any(is_in(group) for group in given.get("groups", []))
    )
