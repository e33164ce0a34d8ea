"""A handoff that has failed, as a tool of CrewAI tells of it."""

from __future__ import annotations

from typing import Any

from crewai.tools.tool_failure import ToolFailure

from ..protocol.envelope import present
from ..protocol.error import WaybillError


def tool_failure(error: WaybillError) -> ToolFailure:
    return ToolFailure(
        message=error.message,
        code=f"{error.status} {error.code}",
        retryable=error.retryable,
        details=present(status=error.status, remedy=error.remedy, cause=_told(error.cause)),
    )


def _told(cause: Any) -> Any:
    """What the recipient has said of it; an exception of this side is in the log."""
    return None if isinstance(cause, BaseException) else cause
