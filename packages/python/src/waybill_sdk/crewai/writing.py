"""What the models of a run write, as they write it."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar

from crewai.events.event_bus import crewai_event_bus
from crewai.events.types.llm_events import LLMStreamChunkEvent

writes: ContextVar[Callable[[str], object] | None] = ContextVar("writes", default=None)
"""Gets the text that the models of this run stream, piece by piece. The calls of their tools are left out."""


def _write(_source: object, event: LLMStreamChunkEvent) -> None:
    write = writes.get()
    if write is not None and event.tool_call is None and event.chunk:
        write(event.chunk)


# CrewAI calls handlers of this event in order, in the context of whoever streams.
crewai_event_bus.on(LLMStreamChunkEvent)(_write)
