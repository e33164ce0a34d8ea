"""Converts AG2's counts of tokens to rows of usage, and back."""

from __future__ import annotations

from collections.abc import Iterator

from ag2.events import Usage, UsageEvent

from ..adapter.usage import count_usage
from ..delegating.handle import HandoffHandle
from .events import RemoteUsage

# Their input tokens exclude those that were read from or written to a cache.
_CACHE_APART = frozenset(("anthropic", "bedrock"))


def count(event: UsageEvent) -> None:
    """Adds a model's usage to the served work. A remote agent's usage is added by the agent that
    hands off, and not here.
    """
    for each in _calls_of(event):
        used = each.usage
        apart = (used.cache_read_input_tokens, used.cache_creation_input_tokens)
        more = sum(tokens or 0 for tokens in apart) if each.provider in _CACHE_APART else 0
        count_usage(
            each.model,
            requests=1,
            input_tokens=_whole((used.prompt_tokens or 0) + more),
            cached_input_tokens=_whole(used.cache_read_input_tokens),
            output_tokens=_whole(used.completion_tokens),
            reasoning_tokens=_whole(used.thinking_tokens),
        )


def _calls_of(event: UsageEvent) -> Iterator[UsageEvent]:
    """The number of model calls that an event sums up."""
    for each in event.parts or [event]:
        if not isinstance(each, RemoteUsage):
            yield each


def _whole(tokens: float | None) -> int | None:
    return None if tokens is None else int(tokens)


def used_by(handle: HandoffHandle, label: str) -> list[RemoteUsage]:
    """The usage of a remote agent, also of a failed one: an event for each of its models."""
    rows = [] if handle.usage is None else handle.usage.rows
    return [
        RemoteUsage(
            Usage(
                prompt_tokens=row.get("input_tokens"),
                completion_tokens=row.get("output_tokens"),
                total_tokens=row.get("input_tokens", 0) + row.get("output_tokens", 0),
                cache_read_input_tokens=row.get("cached_input_tokens"),
                thinking_tokens=row.get("reasoning_tokens"),
            ),
            kind="subtask",
            label=label,
            model=row.get("model"),
        )
        for row in rows
    ]
