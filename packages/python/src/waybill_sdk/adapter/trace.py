"""The trace of a framework's run, if OpenTelemetry is installed: frameworks depend on it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..tracing.api import opentelemetry


def current_traceparent() -> str | None:
    trace = _opentelemetry()
    if trace is None:
        return None
    context = trace.get_current_span().get_span_context()
    if not context.is_valid:
        return None
    return f"00-{context.trace_id:032x}-{context.span_id:016x}-{int(context.trace_flags):02x}"


@contextmanager
def in_trace(traceparent: str | None) -> Iterator[None]:
    """Spans that a framework records inside this belong to the handoff's trace."""
    trace = _opentelemetry()
    if trace is None or traceparent is None:
        yield
        return
    _, trace_id, span_id, flags = traceparent.split("-")[:4]
    if trace.get_current_span().get_span_context().trace_id == int(trace_id, 16):
        # The span of the attempt, which belongs to it already.
        yield
        return
    context = trace.SpanContext(
        int(trace_id, 16), int(span_id, 16), True, trace.TraceFlags(int(flags, 16))
    )
    with trace.use_span(trace.NonRecordingSpan(context), record_exception=False):
        yield


def _opentelemetry() -> Any:
    api = opentelemetry()
    return None if api is None else api.trace
