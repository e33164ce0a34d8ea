"""A script with a crew that waits for a remote agent until Ctrl-C: as a member or as a tool."""

from __future__ import annotations

import asyncio
import signal
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from crews import action, crew, final, member, task

from waybill_sdk import Agent, blocking, connect, load_key
from waybill_sdk.crewai import RemoteMember, RemoteTool

INPUTS = {"instruction": "Write about the sea."}


def crew_of(agent: Any, how: str) -> Any:
    if "member" in how:
        researcher = RemoteMember(agent=agent, capability="research", role="researcher")
        return crew(task(researcher))
    tool = RemoteTool(agent=agent, capability="research", name="research", description="Asks.")
    writer = member("writer", action("research", request="tides"), final("done"), tools=[tool])
    return crew(task(writer))


def waits_in_a_block(url: str, name: str, key: str, how: str) -> None:
    with blocking.connect(url) as hub, blocking.Agent(name, key=load_key(key), hub=hub) as agent:
        crew_of(agent, how).kickoff(inputs=INPUTS)


def waits_without_a_block(url: str, name: str, key: str, how: str) -> None:
    agent = blocking.Agent(name, key=load_key(key), hub=blocking.connect(url))
    agent.start()
    crew_of(agent, how).kickoff(inputs=INPUTS)


async def waits_with_async(url: str, name: str, key: str, how: str) -> None:
    async with await connect(url) as hub, Agent(name, key=load_key(key), hub=hub) as agent:
        await crew_of(agent, how).akickoff(inputs=INPUTS)


if __name__ == "__main__":
    *given, how = sys.argv[1:]
    # A shell that starts this in the background has it ignore SIGINT.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        if "async" in how:
            asyncio.run(waits_with_async(*given, how))
        elif "block" in how:
            waits_in_a_block(*given, how)
        else:
            waits_without_a_block(*given, how)
    except KeyboardInterrupt:
        print("interrupted")
        raise
