"""CrewAI in a process of its own, to be killed."""

from __future__ import annotations

import asyncio
import sys
import time
from pathlib import Path
from typing import Any

from crewai import Flow
from crewai.flow import human_feedback, listen, start

sys.path.insert(0, str(Path(__file__).parent))
from crews import crew, final, member, task

from waybill_sdk import Agent, connect, load_key
from waybill_sdk.crewai import serve


class Reviewed(Flow[Any]):
    @start()
    @human_feedback("Is this well?")
    def draft(self) -> str:
        return "A draft"

    @listen(draft)
    def publish(self, review: Any) -> str:
        return f"{review.output}, {review.feedback}"


async def main() -> None:
    url, name, key = sys.argv[1:]
    note = Path(key).parent / "hung"

    def hang_once() -> str:
        if not note.exists():
            note.touch()
            print("hanging")
            time.sleep(3600)
        return final("done after all")

    async with await connect(url) as hub:
        agent = Agent(name, key=load_key(key), hub=hub)
        terms = {"lease_seconds": 1, "max_attempts": 10}
        serve(agent, {"name": "hang", **terms}, lambda _: crew(task(member("hanging", hang_once))))
        greeter = final("hello from crewai")
        serve(agent, {"name": "greet", **terms}, lambda _: crew(task(member("greeter", greeter))))
        plan = final("Lisbon")
        serve(
            agent,
            {"name": "plan", **terms},
            lambda _: crew(task(member("planner", plan), human_input=True)),
        )
        serve(agent, {"name": "review", **terms}, lambda _: Reviewed())
        async with agent:
            print("ready")
            await asyncio.Event().wait()


asyncio.run(main())
