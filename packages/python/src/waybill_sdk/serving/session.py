"""The conversation that a handoff belongs to, as its handler sees it."""

from __future__ import annotations

from ..protocol.envelope import Envelope
from ..protocol.session import SessionState, session_found, session_key
from ..protocol.takes_from import principal_of


class WorkSession:
    """Present as `work.session` if the handoff names a session."""

    def __init__(self, principal: str, id: str, offered: SessionState) -> None:
        self.id = id
        """The delegator's id for it. Only together with the delegator does it identify a
        conversation: use `key`.
        """
        self.key = session_key(principal, id)
        """Identifies the conversation here: 64 hexadecimal digits, derived from the
        principal and the id.
        """
        self.offered: SessionState = offered
        """What the hub knew when it offered the handoff: `begun` if nobody holds the session,
        `continued` if this agent holds it, `lost` if another one held it.
        """
        self.state: SessionState | None = None
        """What the result says; None if the handler keeps no conversations."""

    def found(self, had_conversation: bool) -> None:
        """Reports whether the conversation was found: the delegator sees it in the result."""
        self.state = session_found(self.offered, had_conversation)


def session_in(handoff: Envelope, offered: SessionState | None) -> WorkSession | None:
    session = handoff.get("session")
    if session is None:
        return None
    return WorkSession(principal_of(handoff), session["id"], offered or "begun")
