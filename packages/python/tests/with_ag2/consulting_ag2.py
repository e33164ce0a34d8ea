"""A script with a network in which a remote agent is consulted, until it is killed."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import ag2
from ag2.knowledge import SqliteKnowledgeStore
from ag2.network import Hub

sys.path.insert(0, str(Path(__file__).parent))
from listening import Listening

from waybill_sdk import Agent, connect, load_key
from waybill_sdk.ag2 import NetworkProxy


async def main() -> None:
    url, name, key, folder = sys.argv[1:]
    async with await connect(url) as hub, Agent(name, key=load_key(key), hub=hub) as agent:
        async with await Hub.open(SqliteKnowledgeStore(folder)) as network:
            await NetworkProxy(agent, network).register("researcher", "research")
            editor = await network.register(ag2.Agent("editor", config=Listening()))
            channel = await editor.open(type="consulting", target="researcher")
            await channel.send("Look up tides.")
            await asyncio.Event().wait()


asyncio.run(main())
