import asyncio
import sys

from waybill_sdk import Agent, Work, connect


async def main(url: str = "http://127.0.0.1:7411") -> None:
    async with await connect(url) as hub:
        anna = Agent("anna", hub=hub)

        @anna.serve({"name": "web_research", "input_schema": {"query": "string"}})
        async def research(work: Work) -> str:
            await work.progress("reading", fraction=0.5)
            return f"all about {work.input['query']}"

        editor = Agent("editor", hub=hub)
        async with anna, editor:
            handoff = editor.hand_off("web_research", input={"query": "tides"}, timeout=60)
            print(f"In custody of the {(await handoff.custody()).by}, receipt signed.")
            result = await handoff.result()
            print(f"By {result.by}, result signed: {result.output}")


asyncio.run(main(*sys.argv[1:]))
