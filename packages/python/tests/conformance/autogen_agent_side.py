"""AutoGen in the suite without a team: a scripted agent is served, and a remote one runs by itself."""

from __future__ import annotations

from typing import Any

from autogen_agentchat.messages import ModelClientStreamingChunkEvent
from autogen_side import Player, called
from peer import Act, Calling

from waybill_sdk import Agent
from waybill_sdk.autogen import serve


class Writer(Player):
    """Shows its progress as a model's tokens."""

    shows = ModelClientStreamingChunkEvent


def offer(agent: Agent, capability: dict[str, Any], act: Act) -> None:
    serve(agent, capability, lambda work: Writer(act, work))


async def call(calling: Calling) -> dict[str, Any]:
    return await called(calling, lambda remote: remote)
