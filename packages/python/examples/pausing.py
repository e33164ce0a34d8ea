import asyncio
import sys

from waybill_sdk import Agent, Paused, Work, connect


async def main(url: str = "http://127.0.0.1:7411") -> None:
    async with await connect(url) as hub:
        baker = Agent("baker", hub=hub)

        @baker.serve("bake")
        async def bake(work: Work) -> str | Paused:
            if work.resume is None:
                # Nothing stays in memory: the answer starts another attempt, in any process of the baker.
                return work.pause({"id": "icing", "text": "Which icing?"}, state="dough is ready")
            return f"{work.resume.state}, with {work.resume.answers['icing']}"

        owner = Agent("owner", hub=hub)
        async with baker, owner:
            handoff = owner.hand_off("bake", to="baker")
            async for question in handoff.questions:
                print(question.text)
                await handoff.answer(question.id, "lemon")
            print((await handoff.result()).output)


asyncio.run(main(*sys.argv[1:]))
