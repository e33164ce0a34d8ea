import asyncio
import sys
from typing import Any

import crewai
from crewai import BaseLLM, Crew, Task

from waybill_sdk import Agent, Work, connect
from waybill_sdk.crewai import RemoteMember, serve


class Saying(BaseLLM):
    """Stands in for a model, so that this runs anywhere."""

    def call(self, *_args: Any, **_options: Any) -> str:
        return "Thought: I now can give a great answer\nFinal Answer: The tide comes twice a day."

    async def acall(self, *_args: Any, **_options: Any) -> str:
        return self.call()

    def supports_function_calling(self) -> bool:
        return False


def readers(work: Work) -> Crew:
    llm = Saying(model="saying")
    reader = crewai.Agent(role="reader", goal="Reads.", backstory="A reader.", llm=llm)
    task = Task(description="{instruction}", expected_output="One line.", agent=reader)
    return Crew(agents=[reader], tasks=[task])


async def main(url: str = "http://127.0.0.1:7411") -> None:
    async with await connect(url) as hub:
        # #region serve
        library = Agent("library", hub=hub)
        serve(library, "research", readers)
        await library.start()
        # #endregion

        # #region call
        newsroom = Agent("newsroom", hub=hub)
        await newsroom.start()
        researcher = RemoteMember(agent=newsroom, capability="research", role="researcher")
        look_up = Task(description="Tides?", expected_output="One line.", agent=researcher)
        result = await Crew(agents=[researcher], tasks=[look_up]).akickoff()
        # #endregion
        print(result.raw)
        await asyncio.gather(library.stop(), newsroom.stop())


asyncio.run(main(*sys.argv[1:]))
