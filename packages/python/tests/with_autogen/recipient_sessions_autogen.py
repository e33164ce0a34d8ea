"""An AutoGen agent that keeps sessions in a file, in a process of its own that is killed."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parent))
from session_crash import KilledWhileKeeping
from teams import counting, round_robin

from waybill_sdk import Agent, connect, load_key
from waybill_sdk.autogen import serve


async def main() -> None:
    url, name, key, folder, when = sys.argv[1:]
    async with await connect(url) as hub:
        agent = Agent(name, key=load_key(key), hub=hub)
        terms = {"name": "chat", "lease_seconds": 1, "max_attempts": 10}
        store = KilledWhileKeeping(Path(folder), when)
        serve(agent, terms, lambda _: round_robin(counting("counter")), sessions=store)
        async with agent:
            print("ready")
            await asyncio.Event().wait()


asyncio.run(main())
