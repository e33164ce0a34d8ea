import asyncio
import sys

import ag2
from ag2.events import ToolCallEvent
from ag2.testing import TestConfig

from waybill_sdk import Agent, connect
from waybill_sdk.ag2 import RemoteTool, serve


async def main(url: str = "http://127.0.0.1:7411") -> None:
    async with await connect(url) as hub:
        # TestConfig stands in for a model, so that this runs anywhere.
        reads = TestConfig("The tide comes twice a day.")
        # #region serve
        library = Agent("library", hub=hub)
        serve(library, "research", ag2.Agent("reader", config=reads))
        await library.start()
        # #endregion

        asks = ToolCallEvent("research", arguments='{"task": "When does the tide come?"}')
        says = TestConfig(asks, "The library says: twice a day.")
        # #region call
        newsroom = Agent("newsroom", hub=hub)
        research = RemoteTool(newsroom, "research", description="Finds things out.")
        editor = ag2.Agent("editor", config=says, tools=[research])
        reply = await editor.ask("Write about the sea.")
        # #endregion
        print(reply.body)
        await asyncio.gather(library.stop(), newsroom.stop())


asyncio.run(main(*sys.argv[1:]))
