"""The addressee of an envelope about a handoff (WB-88)."""

from __future__ import annotations

from .envelope import Envelope
from .lifecycle import Handoff


def is_addressed(envelope: Envelope, handoff: Handoff, hub: str) -> bool:
    """Whether the `to` of a party's envelope names the party for which it is meant."""
    kind: str = envelope["kind"]
    to: object = envelope["to"]
    if kind == "cancel":
        return to in (handoff.recipient, hub)
    if kind == "answer":
        question = handoff.questions.get(envelope["body"]["question_id"])
        # The lifecycle rejects an answer without a question.
        return question is None or to == handoff.attempts[question.attempt - 1].recipient
    if kind == "receipt" and envelope["body"]["status"] == 200:
        return to == hub
    is_of_recipient = kind in ("progress", "question", "result") or "attempt" in envelope
    return to == handoff.delegator if is_of_recipient else True
