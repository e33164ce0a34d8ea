"""The names and attributes of spans and metrics of every Waybill party, independent of a tracing
library.

They are those of @waybill/protocol/tracing; packages/spec/vectors/tracing.json checks both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from .envelope import Envelope
from .usage import UsageRow, sum_usage

# The last version that has the messaging and the GenAI names in one document.
SCHEMA_URL = "https://opentelemetry.io/schemas/1.41.0"
# The length that W3C Trace Context asks everybody to pass on; a longer one is dropped.
TRACESTATE_CHARACTERS = 512
_SYSTEM = "waybill"
_MODEL = "gen_ai.request.model"

TOKEN_USAGE_NAME = "gen_ai.client.token.usage"
TOKEN_USAGE_UNIT = "{token}"
TOKEN_USAGE_DESCRIPTION = "Number of input and output tokens used."
TOKEN_USAGE_BOUNDARIES = [4**power for power in range(14)]


@dataclass(frozen=True)
class SpanShape:
    name: str
    kind: Literal["PRODUCER", "CONSUMER", "CLIENT", "SERVER", "INTERNAL"]
    attributes: dict[str, str | int]


def send_span(handoff: Envelope, is_creator: bool) -> SpanShape:
    """The delegator's span: until the hub has the handoff in custody.

    It is a producer span if its own context is sent with the handoff; if the application has
    given a context, that one is sent.
    """
    kind: Literal["PRODUCER", "CLIENT"] = "PRODUCER" if is_creator else "CLIENT"
    name, attributes = _messaging(handoff, handoff["from"], "send")
    return SpanShape(name, kind, attributes)


def process_span(handoff: Envelope, agent: str, attempt: int) -> SpanShape:
    """The recipient's span: one for each attempt, from its offer to the last envelope about it."""
    name, attributes = _messaging(handoff, agent, "process")
    return SpanShape(name, "CONSUMER", {**attributes, "messaging.waybill.attempt": attempt})


def invoke_agent_span(handoff: Envelope, agent: str) -> SpanShape:
    """The span around the handler, inside `process`."""
    return SpanShape(
        f"invoke_agent {agent}",
        "INTERNAL",
        {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.provider.name": _SYSTEM,
            "gen_ai.agent.id": agent,
            "gen_ai.agent.name": agent,
            "gen_ai.conversation.id": handoff["correlation_id"],
        },
    )


def failure_attributes(status: int) -> dict[str, str]:
    """Only the status: an error's message may contain content of the work."""
    return {"error.type": str(status)}


def usage_attributes(rows: Sequence[UsageRow]) -> dict[str, str | int]:
    """The attempt's own usage, for its `invoke_agent` span; empty if it is unknown."""
    if not rows:
        return {}
    total = sum_usage(rows)
    attributes: dict[str, str | int] = {
        "gen_ai.usage.input_tokens": total.input_tokens,
        "gen_ai.usage.output_tokens": total.output_tokens,
    }
    if total.cached_input_tokens > 0:
        attributes["gen_ai.usage.cache_read.input_tokens"] = total.cached_input_tokens
    if total.reasoning_tokens > 0:
        attributes["gen_ai.usage.reasoning.output_tokens"] = total.reasoning_tokens
    models = {row.get("model") for row in rows}
    model = models.pop()
    if model is not None and not models:
        attributes[_MODEL] = model
    return attributes


def token_points(rows: Sequence[UsageRow]) -> list[tuple[int, dict[str, str]]]:
    """The values that an attempt adds to the histogram: for each model its input and its output."""
    points: list[tuple[int, dict[str, str]]] = []
    for row in rows:
        about = {"gen_ai.operation.name": "invoke_agent", "gen_ai.provider.name": _SYSTEM}
        if "model" in row:
            about[_MODEL] = row["model"]
        for kind in ("input", "output"):
            if f"{kind}_tokens" in row:
                points.append((row[f"{kind}_tokens"], {**about, "gen_ai.token.type": kind}))
    return points


def _messaging(handoff: Envelope, client: str, operation: str) -> tuple[str, dict[str, str | int]]:
    to: Any = handoff["to"]
    destination = to if isinstance(to, str) else to["capability"]
    capability = handoff["body"]["capability"] if isinstance(to, str) else to["capability"]
    return f"{operation} {destination}", {
        "messaging.system": _SYSTEM,
        "messaging.operation.name": operation,
        "messaging.operation.type": operation,
        "messaging.destination.name": destination,
        "messaging.client.id": client,
        "messaging.message.id": handoff["id"],
        "messaging.message.conversation_id": handoff["correlation_id"],
        "messaging.waybill.handoff.id": handoff["handoff_id"],
        "messaging.waybill.capability": capability,
    }
