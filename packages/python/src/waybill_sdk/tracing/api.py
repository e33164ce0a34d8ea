"""OpenTelemetry's API if it is installed and an SDK is registered; otherwise nothing is created for
it.

The SDK is looked up each time, because an application may register its provider late. Whether the
API is installed is checked once.
"""

from __future__ import annotations

import importlib
from functools import lru_cache
from typing import Any

from ..protocol.envelope import Envelope
from ..protocol.status import STATUSES
from ..protocol.tracing import SCHEMA_URL, TRACESTATE_CHARACTERS, SpanShape, failure_attributes

NAME = "waybill_sdk"


@lru_cache(maxsize=1)
def opentelemetry() -> Any:
    """The package, with the parts that are used; None if it is not installed."""
    try:
        api = importlib.import_module("opentelemetry")
        for name in ("context", "metrics", "trace", "trace.status"):
            importlib.import_module(f"opentelemetry.{name}")
    except ImportError:
        return None
    return api


def tracer() -> Any:
    """None if the application has no tracing SDK."""
    api = opentelemetry()
    if api is None:
        return None
    provider = api.trace.get_tracer_provider()
    if isinstance(provider, api.trace.ProxyTracerProvider):
        return None
    return provider.get_tracer(NAME, schema_url=SCHEMA_URL)


def start_span(by: Any, shape: SpanShape, parent: Any, linked: Any = None) -> Any:
    """A span below a context, with a link to where the handoff was made."""
    trace = opentelemetry().trace
    links = [] if linked is None else [trace.Link(linked)]
    return by.start_span(
        shape.name,
        context=parent,
        kind=trace.SpanKind[shape.kind],
        attributes=shape.attributes,
        links=links,
    )


def end_span(span: Any, status: int) -> None:
    """Ends a span with the outcome of its work: only the status, never any content."""
    if status >= 400:
        trace = opentelemetry().trace
        span.set_attributes(failure_attributes(status))
        span.set_status(trace.Status(trace.StatusCode.ERROR, STATUSES[status].name))
    span.end()


def span_context_of(envelope: Envelope) -> Any:
    """The span context in an envelope; None if it has none."""
    traceparent = envelope.get("traceparent")
    if traceparent is None:
        return None
    trace = opentelemetry().trace
    _, trace_id, span_id, flags = traceparent.split("-")
    states = [envelope["tracestate"]] if "tracestate" in envelope else []
    return trace.SpanContext(
        int(trace_id, 16),
        int(span_id, 16),
        True,
        trace.TraceFlags(int(flags, 16)),
        trace.TraceState.from_header(states),
    )


def context_of(envelope: Envelope) -> Any:
    """The trace context of an envelope; an envelope without one starts a new trace."""
    api, place = opentelemetry(), span_context_of(envelope)
    root = api.context.Context()
    if place is None:
        return root
    return api.trace.set_span_in_context(api.trace.NonRecordingSpan(place), root)


def context_within(scope: Any) -> Any:
    """The parent span of a child handoff: the active span, unless it belongs to another job."""
    api = opentelemetry()
    active = api.context.get_current()
    return active if _trace_id(active) == _trace_id(scope) else scope


def _trace_id(context: Any) -> int:
    return int(opentelemetry().trace.get_current_span(context).get_span_context().trace_id)


def carried(span: Any) -> dict[str, str]:
    """The trace members of a handoff from the span in which it was sent."""
    place = span.get_span_context()
    if not place.is_valid:
        return {}
    flags = int(place.trace_flags) & 0xFF
    made = {"traceparent": f"00-{place.trace_id:032x}-{place.span_id:016x}-{flags:02x}"}
    states = place.trace_state.to_header()
    if states and len(states) <= TRACESTATE_CHARACTERS:
        made["tracestate"] = states
    return made
