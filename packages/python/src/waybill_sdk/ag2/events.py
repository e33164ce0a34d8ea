"""What a remote agent does, as events on the stream of the agent that uses it."""

from __future__ import annotations

from typing import Any

from ag2.events import BaseEvent, Field, HumanInputRequest, UsageEvent


class RemoteDelta(BaseEvent):
    """A piece of what a remote agent is writing."""

    __transient__ = True

    by: str
    text: str


class RemoteProgress(BaseEvent):
    """A milestone of a remote agent's work."""

    __transient__ = True

    by: str
    message: str | None = None
    fraction: float | None = None
    data: Any = None


class RemoteQuestion(HumanInputRequest):
    """A question of a remote agent, for the `hitl_hook` of the agent that uses it."""

    by: str = Field(compare=False)
    question_id: str = Field(compare=False)


class RemoteUsage(UsageEvent):
    """The usage of a remote agent. AG2 counts it as its own."""
