"""How a handoff ended, by the envelope that says so."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..artifacts.artifacts import Artifacts
from ..artifacts.received import ReceivedArtifact
from ..protocol.envelope import VerifiedEnvelope
from ..protocol.error import WaybillError
from ..protocol.session import SessionState
from ..protocol.status import STATUSES
from ..protocol.usage import Usage


@dataclass(frozen=True)
class HandoffResult:
    status: int
    output: Any
    by: str
    attempt: int
    envelope: str
    """The result as its recipient signed it."""
    digest: str
    messages: list[dict[str, Any]] = field(default_factory=list)
    artifacts: list[ReceivedArtifact] = field(default_factory=list)
    """Files that came with it. Those that are stored at the hub are read on demand."""
    effects: str | None = None
    usage: Usage | None = None
    """What it has used, if its recipient reports it: requests, tokens and cost, including children.
    """
    session: SessionState | None = None
    """If the handoff names a session: whether its conversation was `continued`, has `begun`, or was
    `lost` and begins again. None if the recipient keeps no conversations.
    """


@dataclass(frozen=True)
class Receipt:
    by: str
    attempt: int | None
    digest: str
    text: str
    session: SessionState | None = None
    """In an acceptance of a handoff with a session: what the hub knew about the session."""


@dataclass(frozen=True)
class ProgressEvent:
    by: str
    attempt: int
    message: str | None = None
    fraction: float | None = None
    data: Any = None


@dataclass(frozen=True)
class DeltaEvent:
    """A piece of the text that a recipient is writing: unsigned, at most once, and for display
    only.

    The result has the whole text. Another attempt begins again.
    """

    by: str
    attempt: int
    number: int
    """The number of the piece within its attempt, counted from 0: a gap means that a piece was
    lost.
    """
    text: str


@dataclass(frozen=True)
class QuestionEvent:
    id: str
    by: str
    attempt: int
    is_paused: bool
    text: str | None = None
    data: Any = None
    schema: Any = None


def ending_of(verified: VerifiedEnvelope, files: Artifacts) -> HandoffResult | WaybillError | None:
    """A result, the error that it ended with, or None for an envelope that ends nothing."""
    envelope = verified.envelope
    kind, body, by = envelope["kind"], envelope["body"], envelope["from"]
    if kind == "result":
        if body["status"] == 200:
            return HandoffResult(
                200,
                body.get("output"),
                by,
                envelope["attempt"],
                verified.text,
                verified.digest,
                body.get("messages", []),
                files.received(body.get("artifacts", [])),
                body.get("effects"),
                Usage.read(body.get("usage")),
                body.get("session"),
            )
        error = body["error"]
        return WaybillError(
            body["status"],
            error["message"],
            cause=error.get("cause"),
            retryable=error.get("retryable"),
            retry_after_ms=error.get("retry_after_ms"),
        )
    if kind == "receipt" and body["status"] >= 400:
        reason = body.get("reason") or STATUSES[body["status"]].meaning
        cause = (
            {"counter": body["counter"], "by": by, "reason": reason} if "counter" in body else None
        )
        return WaybillError(body["status"], f"{by} rejected it: {reason}", cause=cause)
    if kind == "notice":
        return WaybillError(body["status"], body["reason"], cause=body.get("data"))
    if kind == "cancel":
        return WaybillError(499, body.get("reason") or STATUSES[499].meaning)
    return None
