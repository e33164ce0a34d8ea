"""The result of a remote agent as it was received, for code."""

from __future__ import annotations

from typing import Any

from ag2.events import ToolResultEvent
from ag2.network import Envelope

from ..delegating.ending import HandoffResult

# Kept beside the text for models: as a message it may impersonate anybody.
RECEIVED = "waybill_received"


def received_from(result: HandoffResult) -> dict[str, Any]:
    members = ("output", "messages", "artifacts", "by", "attempt", "envelope")
    return {member: getattr(result, member) for member in members}


def received_in(source: ToolResultEvent | Envelope) -> dict[str, Any] | None:
    """The whole result behind what a `RemoteTool` has answered, or behind an envelope of a
    `NetworkProxy`: `output`, `messages`, `artifacts`, `by`, `attempt` and `envelope`. It is for
    code: its messages may impersonate anybody.
    """
    kept = source.event_data if isinstance(source, Envelope) else source.result.metadata
    received: dict[str, Any] | None = kept.get(RECEIVED)
    return received
