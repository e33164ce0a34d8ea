"""A script with a team that waits for a remote agent until Ctrl-C."""

from __future__ import annotations

import asyncio
import signal
import sys
from pathlib import Path

from autogen_core import CancellationToken

sys.path.insert(0, str(Path(__file__).parent))
from teams import assistant, round_robin

from waybill_sdk import Agent, connect, load_key
from waybill_sdk.autogen import RemoteAgent


async def main() -> None:
    url, name, key, how = sys.argv[1:]
    token = CancellationToken()
    if how == "token":
        asyncio.get_running_loop().add_signal_handler(signal.SIGINT, token.cancel)
    async with await connect(url) as hub, Agent(name, key=load_key(key), hub=hub) as agent:
        remote = RemoteAgent("remote", agent=agent, capability="research")
        team = round_robin(assistant("planner", "Look up tides."), remote)
        await team.run(task="Write.", cancellation_token=token)


asyncio.run(main())
