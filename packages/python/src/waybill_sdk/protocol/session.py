"""Sessions: conversations that several handoffs share (WB-220 to WB-223)."""

from __future__ import annotations

import re
from typing import Any, Literal

from .encoding import digest_of
from .error import WaybillError
from .limits import SESSION_WAIT_SECONDS

SessionState = Literal["begun", "continued", "lost"]
"""The state of a session: it is new, it is continued, or it was lost and starts again."""

SESSION_ID = r"[!-~]{1,128}"


def session_key(principal: str, id: str) -> str:
    """The key for what a recipient keeps for a session: 64 hexadecimal digits.

    The principal is a part of it, so that a guessed id gives no access to the session of another
    delegator, or of somebody else for whom the delegator acts.
    """
    check_session_id(id)
    return digest_of(f"waybill session 1\n{principal}\n{id}").removeprefix("sha256:")


def is_session_id(id: Any) -> bool:
    return isinstance(id, str) and re.fullmatch(SESSION_ID, id) is not None


def check_session_id(id: Any) -> None:
    if not is_session_id(id):
        raise WaybillError(
            400,
            "A session id must have 1 to 128 visible ASCII characters without spaces; use another id, or a hash of it.",
            at="/session/id",
        )


def session_of(given: str | dict[str, Any] | None) -> dict[str, Any] | None:
    """The session as the envelope has it. An invalid one is rejected here, and not only by the hub."""
    if given is None:
        return None
    session: dict[str, Any] = {"id": given} if isinstance(given, str) else given
    check_session_id(session.get("id"))
    wait: Any = session.get("wait_seconds", 0)
    is_number = isinstance(wait, (int, float)) and not isinstance(wait, bool)
    if not is_number or not 0 <= wait <= SESSION_WAIT_SECONDS:
        raise WaybillError(
            400,
            f"A handoff can't wait {wait!r} s for the agent that holds its session: give a number from 0 to "
            f"{SESSION_WAIT_SECONDS}.",
            at="/session/wait_seconds",
        )
    return session


def session_found(offered: SessionState, had_conversation: bool) -> SessionState:
    """The session state for the result, from the hub's state and what the recipient has found."""
    if had_conversation:
        return "continued"
    return "begun" if offered == "begun" else "lost"
