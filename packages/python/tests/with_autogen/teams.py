"""Real agents and teams of AutoGen, with scripted models."""

from __future__ import annotations

import json
from typing import Any

from autogen_agentchat.agents import AssistantAgent
from autogen_agentchat.base import Handoff
from autogen_agentchat.conditions import (
    HandoffTermination,
    MaxMessageTermination,
    TextMentionTermination,
)
from autogen_agentchat.teams import RoundRobinGroupChat, SelectorGroupChat, Swarm
from autogen_core import FunctionCall
from autogen_core.models import CreateResult, ModelFamily, ModelInfo, RequestUsage
from autogen_ext.models.replay import ReplayChatCompletionClient

INFO = ModelInfo(
    vision=False,
    function_calling=True,
    json_output=False,
    family=ModelFamily.UNKNOWN,
    structured_output=False,
)


def model(*says: str | CreateResult) -> ReplayChatCompletionClient:
    return ReplayChatCompletionClient(list(says), model_info=INFO)


def calling(tool: str, **arguments: Any) -> CreateResult:
    return CreateResult(
        finish_reason="function_calls",
        content=[FunctionCall(id="1", name=tool, arguments=json.dumps(arguments))],
        usage=RequestUsage(prompt_tokens=1, completion_tokens=1),
        cached=False,
    )


def transfer_to(target: str) -> CreateResult:
    return calling(f"transfer_to_{target}")


def assistant(name: str, *says: str | CreateResult, **options: Any) -> AssistantAgent:
    return AssistantAgent(name, model_client=model(*says), **options)


def writers() -> RoundRobinGroupChat:
    members = [assistant("writer", "a draft"), assistant("critic", "a better draft")]
    return RoundRobinGroupChat(members, max_turns=2)


def hesitating(*says: str | CreateResult) -> Swarm:
    """A team that asks its user before it continues."""
    planner = assistant("planner", *says, handoffs=[Handoff(target="user", message="Which city?")])
    stop = HandoffTermination(target="user") | TextMentionTermination("DONE")
    return Swarm([planner], termination_condition=stop)


def round_robin(*members: Any) -> RoundRobinGroupChat:
    return RoundRobinGroupChat(list(members), max_turns=len(members))


def selector(*members: Any) -> SelectorGroupChat:
    return SelectorGroupChat(
        list(members), model_client=model(*(each.name for each in members)), max_turns=len(members)
    )


def swarm(planner: Any, remote: Any) -> Swarm:
    return Swarm(
        [planner, remote],
        termination_condition=TextMentionTermination("DONE") | MaxMessageTermination(12),
    )


class Counting(ReplayChatCompletionClient):
    """Replies with the number of turns that it was shown, and records them."""

    def __init__(self) -> None:
        super().__init__([""], model_info=INFO)
        self.shown: list[str] = []

    async def create(self, messages: Any, **options: Any) -> CreateResult:
        self.shown = [str(each.content) for each in messages if each.type != "SystemMessage"]
        self.chat_completions = [f"heard {len(self.shown)}"]
        self.reset()
        return await super().create(messages, **options)


def counting(name: str) -> AssistantAgent:
    return AssistantAgent(name, model_client=Counting())
