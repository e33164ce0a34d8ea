"""A script with an agent that waits for a remote one until Ctrl-C: as a tool, or in a network."""

from __future__ import annotations

import asyncio
import signal
import sys
from pathlib import Path

import ag2
from ag2.events import ToolCallEvent
from ag2.knowledge import MemoryKnowledgeStore
from ag2.network import Hub

sys.path.insert(0, str(Path(__file__).parent))
from listening import Listening

from waybill_sdk import Agent, connect, load_key
from waybill_sdk.ag2 import NetworkProxy, RemoteTool


async def asks_a_tool(agent: Agent) -> None:
    call = ToolCallEvent("research", arguments='{"task": "tides"}')
    tool = RemoteTool(agent, "research")
    await ag2.Agent("editor", config=Listening(call, "done"), tools=[tool]).ask("Look it up.")


async def asks_in_a_network(agent: Agent) -> None:
    async with await Hub.open(MemoryKnowledgeStore()) as network:
        proxy = NetworkProxy(agent, network)
        try:
            await proxy.register("researcher", "research")
            editor = await network.register(ag2.Agent("editor", config=Listening()))
            channel = await editor.open(type="consulting", target="researcher")
            await channel.send("Look up tides.")
            await asyncio.Event().wait()
        finally:
            await proxy.close()


async def main() -> None:
    url, name, key, how = sys.argv[1:]
    ask = asks_a_tool if how == "tool" else asks_in_a_network
    async with await connect(url) as hub, Agent(name, key=load_key(key), hub=hub) as agent:
        await ask(agent)


# A shell that starts this in the background has it ignore SIGINT.
signal.signal(signal.SIGINT, signal.default_int_handler)
asyncio.run(main())
