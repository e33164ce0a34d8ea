"""Names and attributes of spans and metrics, as every Waybill party has them, in no tracing library's types.

They are those of @waybill/protocol/tracing, which packages/spec/vectors/tracing.json holds both to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from .envelope import Envelope
from .usage import UsageRow, sum_usage

# The last version in which the messaging and the GenAI names stand in one document.
SCHEMA_URL = "https://opentelemetry.io/schemas/1.41.0"
# As much as W3C Trace Context asks everybody to pass on; a longer one is left out.
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
    """The delegator's: until the hub has the handoff in custody.

    It is a producer where its own context travels with the handoff; where the application has given one,
    that is what travels."""
    kind: Literal["PRODUCER", "CLIENT"] = "PRODUCER" if is_creator else "CLIENT"
    name, attributes = _messaging(handoff, handoff["from"], "send")
    return SpanShape(name, kind, attributes)


def process_span(handoff: Envelope, agent: str, attempt: int) -> SpanShape:
    """The recipient's: one for each attempt, from its offer to the last word about it."""
    name, attributes = _messaging(handoff, agent, "process")
    return SpanShape(name, "CONSUMER", {**attributes, "messaging.waybill.attempt": attempt})


def invoke_agent_span(handoff: Envelope, agent: str) -> SpanShape:
    """Around the handler, inside of `process`."""
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
    """The status alone: what an error says may hold what the work was about."""
    return {"error.type": str(status)}


def usage_attributes(rows: Sequence[UsageRow]) -> dict[str, str | int]:
    """What an attempt has used itself, on its `invoke_agent` span; nothing where nothing is known."""
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
    """The values that one attempt adds to the histogram: for each model its input and its output."""
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
