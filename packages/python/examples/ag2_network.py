import asyncio
import sys

import ag2
from ag2.events import ToolCallEvent
from ag2.knowledge import MemoryKnowledgeStore
from ag2.network import Hub
from ag2.testing import TestConfig

from waybill_sdk import Agent, connect
from waybill_sdk.ag2 import NetworkProxy, serve


async def main(url: str = "http://127.0.0.1:7411") -> None:
    async with await connect(url) as hub, await Hub.open(MemoryKnowledgeStore()) as network:
        library = Agent("library", hub=hub)
        reads = TestConfig("The tide comes twice a day.")
        serve(library, "research", ag2.Agent("reader", config=reads))
        await library.start()

        newsroom = Agent("newsroom", hub=hub)
        # #region register
        proxy = NetworkProxy(newsroom, network)
        await proxy.register("researcher", "research")
        # #endregion
        asked = '{"target": "researcher", "prompt": "When does the tide come?"}'
        delegates = ToolCallEvent("delegate", arguments=asked)
        says = TestConfig(delegates, "The library says: twice a day.")
        editor = ag2.Agent("editor", config=says)
        await network.register(editor)
        print((await editor.ask("Write about the sea.")).body)
        await proxy.close()
        await asyncio.gather(library.stop(), newsroom.stop())


asyncio.run(main(*sys.argv[1:]))
