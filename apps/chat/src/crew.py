"""A crew of CrewAI, with scripted models. It writes half of a line, and the rest when it is told to
go on."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

from crewai import Agent as Member
from crewai import BaseLLM, Crew, Task
from crewai.llms.base_llm import llm_call_context

from waybill_sdk import Agent, connect
from waybill_sdk.crewai import serve


class Writing(BaseLLM):
    """Streams the pieces of its reply. Before each but the first, it waits for a line of input."""

    pieces: list[str]

    def call(self, *_args: Any, **_options: Any) -> str:
        with llm_call_context():
            for at, piece in enumerate(self.pieces):
                if at > 0:
                    sys.stdin.readline()
                self._emit_stream_chunk_event(piece)
        return f"Thought: I now can give a great answer\nFinal Answer: {''.join(self.pieces)}"

    async def acall(self, *args: Any, **options: Any) -> str:
        return await asyncio.to_thread(self.call, *args, **options)

    def supports_function_calling(self) -> bool:
        return False


def crew(_work: Any) -> Crew:
    tasks = [
        task("researcher", ["All about tides."], "Find out about {instruction}"),
        task("poet", ["The sea ", "is calm."], "Write a line."),
    ]
    return Crew(agents=[each.agent for each in tasks], tasks=tasks)


def task(role: str, pieces: list[str], description: str) -> Task:
    llm = Writing(model="scripted", pieces=pieces)
    writer = Member(role=role, goal="to write", backstory="A writer.", llm=llm)
    return Task(description=description, expected_output="a line", agent=writer)


async def main() -> None:
    async with await connect(sys.argv[1]) as hub:
        agent = Agent("crew", hub=hub)
        serve(agent, "write", crew)
        async with agent:
            print("ready", flush=True)
            await asyncio.Event().wait()


asyncio.run(main())
