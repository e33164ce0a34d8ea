"""Whom an envelope about a handoff is for (WB-88)."""

from __future__ import annotations

from .envelope import Envelope
from .lifecycle import Handoff


def is_addressed(envelope: Envelope, handoff: Handoff, hub: str) -> bool:
    """Whether what a party says names in `to` the party that it is meant for."""
    kind: str = envelope["kind"]
    to: object = envelope["to"]
    if kind == "cancel":
        return to in (handoff.recipient, hub)
    if kind == "answer":
        question = handoff.questions.get(envelope["body"]["question_id"])
        # That nobody has asked, the lifecycle says.
        return question is None or to == handoff.attempts[question.attempt - 1].recipient
    if kind == "receipt" and envelope["body"]["status"] == 200:
        return to == hub
    is_of_recipient = kind in ("progress", "question", "result") or "attempt" in envelope
    return to == handoff.delegator if is_of_recipient else True
