"""Spans of this process, kept in memory. Only CrewAI's environment has an OpenTelemetry SDK."""

from __future__ import annotations

import asyncio
import os
from typing import Any

from opentelemetry import metrics, trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

_PATIENCE_S = 60.0


class _Watched(SimpleSpanProcessor):
    """Notifies waiting tasks that a span has ended, in any thread."""

    def __init__(self) -> None:
        super().__init__(exporter)
        self.waiting: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []

    def on_end(self, span: ReadableSpan) -> None:
        super().on_end(span)
        waiting, self.waiting = self.waiting, []
        for loop, event in waiting:
            loop.call_soon_threadsafe(event.set)


exporter = InMemorySpanExporter()
reader = InMemoryMetricReader()
processor = _Watched()


def register() -> None:
    """Once for the process, as the SDK requires."""
    if isinstance(trace.get_tracer_provider(), TracerProvider):
        return
    # It silences CrewAI's own telemetry, but providers that are created under it make no spans.
    disabled = os.environ.pop("OTEL_SDK_DISABLED", None)
    try:
        provider = TracerProvider()
        provider.add_span_processor(processor)
        trace.set_tracer_provider(provider)
        metrics.set_meter_provider(MeterProvider(metric_readers=[reader]))
    finally:
        if disabled is not None:
            os.environ["OTEL_SDK_DISABLED"] = disabled


async def ended(name: str, count: int = 1) -> None:
    """A span may end shortly after the result of its work has arrived."""
    while len(spans(name)) < count:
        event = asyncio.Event()
        processor.waiting.append((asyncio.get_running_loop(), event))
        if len(spans(name)) < count:
            await asyncio.wait_for(event.wait(), _PATIENCE_S)


def spans(name: str) -> list[ReadableSpan]:
    """All ended spans of this name, in the order of their start."""
    found = [each for each in exporter.get_finished_spans() if each.name == name]
    return sorted(found, key=lambda each: each.start_time or 0)


def span(name: str) -> ReadableSpan:
    [found] = spans(name)
    return found


def id_of(found: ReadableSpan) -> str:
    return f"{found.context.span_id:016x}"


def trace_of(found: ReadableSpan) -> str:
    return f"{found.context.trace_id:032x}"


def parent_of(found: ReadableSpan) -> str | None:
    return None if found.parent is None else f"{found.parent.span_id:016x}"


def told(found: ReadableSpan) -> dict[str, Any]:
    return {
        "kind": found.kind.name,
        "attributes": dict(found.attributes or {}),
        "status": found.status.status_code.name,
        "description": found.status.description,
    }
