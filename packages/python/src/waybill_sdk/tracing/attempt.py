"""One attempt in the trace of its handoff: the span `process`, and in it `invoke_agent`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ..protocol.envelope import Envelope
from ..protocol.error import WaybillError
from ..protocol.tracing import invoke_agent_span, process_span, usage_attributes
from ..protocol.usage import UsageRow
from .api import context_of, end_span, opentelemetry, span_context_of, start_span, tracer


class AttemptTrace:
    def __init__(self, by: Any, handoff: Envelope, agent: str, attempt: int) -> None:
        self._by = by
        self._handoff = handoff
        self._agent = agent
        self._status: int | None = None
        created = context_of(handoff)
        shape = process_span(handoff, agent, attempt)
        self._process = start_span(by, shape, created, span_context_of(handoff))
        # The trace context of a child that this attempt hands off.
        self.scope = opentelemetry().trace.set_span_in_context(self._process, created)

    @contextmanager
    def invoke(
        self,
        used: Callable[[], Sequence[UsageRow]],
        reason: Callable[[], WaybillError | None],
    ) -> Iterator[None]:
        """Around the handler, so that spans it starts belong to the attempt. `used` returns the
        attempt's own usage, and `reason` why it was told to stop.
        """
        api = opentelemetry()
        span = start_span(self._by, invoke_agent_span(self._handoff, self._agent), self.scope)
        self.scope = api.trace.set_span_in_context(span, self.scope)
        token = api.context.attach(self.scope)
        status = 200
        try:
            yield
        except asyncio.CancelledError:
            stopped = reason()
            status = 499 if stopped is None else stopped.status
            raise
        except Exception as error:
            status = WaybillError.of(error).status
            raise
        finally:
            api.context.detach(token)
            span.set_attributes(usage_attributes(used()))
            end_span(span, status)

    def settle(self, status: int) -> None:
        """The outcome. The first call counts: later ones are consequences of it."""
        if self._status is None:
            self._status = status

    def end(self) -> None:
        end_span(self._process, self._status or 100)


def trace_attempt(handoff: Envelope, agent: str, attempt: int) -> AttemptTrace | None:
    by = tracer()
    return None if by is None else AttemptTrace(by, handoff, agent, attempt)
