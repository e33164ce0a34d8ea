"""A failed handoff, as a tool of CrewAI reports it."""

from __future__ import annotations

from typing import Any

from crewai.tools.tool_failure import ToolFailure

from ..adapter.as_data import failure_as_data, marked_as_data
from ..protocol.envelope import present
from ..protocol.error import WaybillError


class _Told(ToolFailure):
    """For code the failure as it came, for a model data."""

    told: str

    def as_agent_message(self) -> str:
        return self.told


def tool_failure(error: WaybillError, by: str) -> ToolFailure:
    return _Told(
        told=marked_as_data(by, failure_as_data(error)),
        message=error.message,
        code=f"{error.status} {error.code}",
        retryable=error.retryable,
        details=present(status=error.status, remedy=error.remedy, cause=_cause_told(error.cause)),
    )


def _cause_told(cause: Any) -> Any:
    """What the recipient has said about it; an exception of this side is in the log."""
    return None if isinstance(cause, BaseException) else cause
