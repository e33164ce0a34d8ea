"""A handoff that has failed, as a tool of CrewAI tells of it."""

from __future__ import annotations

from crewai.tools.tool_failure import ToolFailure

from ..protocol.error import WaybillError


def tool_failure(error: WaybillError) -> ToolFailure:
    return ToolFailure(
        message=error.message,
        code=f"{error.status} {error.code}",
        retryable=error.retryable,
        details={"status": error.status, "remedy": error.remedy},
    )
