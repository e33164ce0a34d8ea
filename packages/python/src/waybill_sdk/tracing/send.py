"""The span of a handoff that is sent."""

from __future__ import annotations

from typing import Any

from ..protocol.envelope import Envelope
from ..protocol.tracing import send_span
from .api import (
    carried,
    context_of,
    context_within,
    opentelemetry,
    span_context_of,
    start_span,
    tracer,
)


def sending(envelope: Envelope, *, is_given: bool, scope: Any = None) -> tuple[Envelope, Any]:
    """Starts the span of a handoff that is about to be sent, and puts its context into the handoff.

    `is_given`: a context that the application passes is not changed. `scope`: the parent's position
    in its trace.
    """
    by = tracer()
    if by is None:
        return envelope, None
    if is_given:
        given, made = context_of(envelope), span_context_of(envelope)
        return envelope, start_span(by, send_span(envelope, False), given, made)
    is_part = scope is not None or "traceparent" in envelope
    within = scope if scope is not None else context_of(envelope)
    parent = context_within(within) if is_part else opentelemetry().context.get_current()
    span = start_span(by, send_span(envelope, True), parent)
    own = {name: each for name, each in envelope.items() if name not in _CARRIED}
    context = carried(span)
    return ({**own, **context} if context else envelope), span


_CARRIED = ("traceparent", "tracestate")
