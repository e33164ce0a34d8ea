"""A crew in a process of its own, to be killed, whose researcher is another agent. Its run has a
name, so that a run after a crash finds its handoff again. It reports questions, and answers if
it can."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from crews import action, crew, final, member, task

from waybill_sdk import Agent, connect, load_key
from waybill_sdk.crewai import RemoteMember


async def main() -> None:
    url, name, key, topic, *answers = sys.argv[1:]
    async with await connect(url) as hub, Agent(name, key=load_key(key), hub=hub) as agent:

        async def answer(question: Any) -> Any:
            print(f"asked {question.text or question.data}")
            return answers[0] if answers else await asyncio.Event().wait()

        researcher = RemoteMember(
            agent=agent,
            capability="research",
            role="researcher",
            to="worker",
            run=f"about {topic}",
            on_question=answer,
        )
        told = {"task": topic, "context": "It is for a poem.", "coworker": "researcher"}
        poet = member("poet", action("delegate_work_to_coworker", **told), final("A poem."))
        poet.allow_delegation = True
        print("ready")
        made = crew(task(poet), agents=[poet, researcher])
        ended = await made.akickoff(inputs={"instruction": "Write about the sea."})
        failures = [each.failure.code for each in ended.tasks_output[0].tool_failures]
        print(f"ended {ended.raw} {failures} {poet.llm.asked[1]!r}")


asyncio.run(main())
