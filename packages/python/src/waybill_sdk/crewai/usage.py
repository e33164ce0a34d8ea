"""Converts what the models of a crew report to usage of the work inside which they were asked, and
back.
"""

from __future__ import annotations

from crewai.agents.agent_builder.base_agent import BaseAgent
from crewai.events.event_bus import crewai_event_bus
from crewai.events.types.llm_events import LLMCallCompletedEvent
from crewai.types.usage_metrics import UsageMetrics

from ..adapter.usage import count_usage
from ..protocol.usage import Usage

_FLUSHED_WITHIN_S = 5.0
_is_listening = False


def listen() -> None:
    """Once for the process: CrewAI gives every handler the context in which its event was emitted."""
    global _is_listening
    if not _is_listening:
        _is_listening = True
        crewai_event_bus.on(LLMCallCompletedEvent)(_count)


def settle_counts() -> None:
    """Blocks until emitted events are counted: handlers run in threads of their own."""
    crewai_event_bus.flush(_FLUSHED_WITHIN_S)


def _count(_source: object, event: LLMCallCompletedEvent) -> None:
    used = UsageMetrics.from_provider_dict(event.usage)
    if used is not None:
        count_usage(
            model=event.model,
            requests=1,
            input_tokens=used.prompt_tokens,
            cached_input_tokens=used.cached_prompt_tokens,
            output_tokens=used.completion_tokens,
            reasoning_tokens=used.reasoning_tokens,
        )


def add_to(agent: BaseAgent, usage: Usage | None) -> None:
    """A remote agent's usage counts as its member's, and so in the crew's `usage_metrics`."""
    if usage is not None:
        total, process = usage.total, agent._token_process
        process.sum_prompt_tokens(total.input_tokens)
        process.sum_cached_prompt_tokens(total.cached_input_tokens)
        process.sum_completion_tokens(total.output_tokens)
        process.sum_successful_requests(total.requests)
