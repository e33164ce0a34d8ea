"""The effect of an envelope on its handoff."""

from __future__ import annotations

from .envelope import Envelope, deadline_ms, present, start_ms
from .lifecycle import Event


def event_of(envelope: Envelope, digest: str, at: int) -> Event | None:
    """The event of an envelope; None if it changes nothing."""
    kind, body, by = envelope["kind"], envelope["body"], envelope["from"]
    attempt, re = envelope.get("attempt"), envelope.get("re")
    if kind == "handoff":
        return {
            "type": "submit",
            "at": at,
            "by": by,
            "id": envelope["handoff_id"],
            "digest": digest,
            **_submitted(envelope),
        }
    if kind == "cancel":
        return {"type": "cancel", "at": at, "by": by, "digest": digest}
    if kind == "answer":
        return {
            "type": "answer",
            "at": at,
            "by": by,
            "question": body["question_id"],
            "digest": digest,
        }
    about = {"at": at, "by": by, "attempt": attempt, "re": re}
    if kind == "progress":
        return {"type": "progress", **about}
    if kind == "question":
        asked = [each["id"] for each in body["questions"]]
        return {"type": "pause" if "state" in body else "question", **about, "questions": asked}
    if kind == "result":
        error = body.get("error", {})
        flags = present(
            is_retryable=error.get("retryable"), retry_after_ms=error.get("retry_after_ms")
        )
        return {"type": "result", **about, "status": body["status"], "digest": digest, **flags}
    return _receipt(envelope, digest, about) if kind == "receipt" else None


def _submitted(envelope: Envelope) -> Event:
    contract = envelope["body"].get("contract", {})
    lease = contract.get("lease_seconds")
    terms = present(
        max_attempts=contract.get("max_attempts"),
        lease_ms=None if lease is None else int(lease * 1000),
    )
    to = envelope["to"]
    return {
        "recipient": to if isinstance(to, str) else None,
        "deadline": deadline_ms(envelope),
        **present(not_before=start_ms(envelope)),
        "terms": terms,
    }


def _receipt(envelope: Envelope, digest: str, about: Event) -> Event | None:
    status = envelope["body"]["status"]
    if "also" in envelope["body"]:
        # Each handoff of a list gets an event of its own from the hub, which may refuse some of them.
        return None
    if about["attempt"] is None:
        is_acknowledgement = status == 200
        return (
            {"type": "acknowledge", "at": about["at"], "by": about["by"], "outcome": about["re"]}
            if is_acknowledgement
            else None
        )
    if status == 101:
        return {"type": "accept", **about}
    if status in (300, 301):
        wait = present(retry_after_ms=envelope["body"].get("retry_after_ms"))
        return {"type": "release", **about, "status": status, **wait}
    return (
        {"type": "reject", **about, "status": status, "digest": digest} if status >= 400 else None
    )
