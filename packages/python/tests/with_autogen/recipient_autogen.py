"""AutoGen in a process of its own, to be killed."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from autogen_agentchat.agents import BaseChatAgent
from autogen_agentchat.base import Response
from autogen_agentchat.messages import TextMessage

sys.path.insert(0, str(Path(__file__).parent))
from teams import assistant, hesitating, transfer_to

from waybill_sdk import Agent, connect, load_key
from waybill_sdk.autogen import serve


class Hanging(BaseChatAgent):
    """Never replies if it is the first to be asked, which a file records, or if it is asked to."""

    def __init__(self, note: Path) -> None:
        super().__init__("hanging", "hangs once")
        self._note = note

    @property
    def produced_message_types(self):
        return (TextMessage,)

    async def on_messages(self, messages, cancellation_token):
        is_for_ever = "for ever" in messages[-1].to_text()
        if is_for_ever or not self._note.exists():
            if not is_for_ever:
                self._note.touch()
            print("hanging")
            waiting = asyncio.ensure_future(asyncio.Event().wait())
            cancellation_token.link_future(waiting)
            try:
                await waiting
            finally:
                print("stopped")
        return Response(chat_message=TextMessage(source=self.name, content="done after all"))

    async def on_reset(self, cancellation_token):
        pass


async def main() -> None:
    url, name, key = sys.argv[1:]
    note = Path(f"{key}.hung")
    async with await connect(url) as hub:
        agent = Agent(name, key=load_key(key), hub=hub)
        terms = {"lease_seconds": 1, "max_attempts": 10}
        serve(agent, {"name": "hang", **terms}, lambda _: Hanging(note))
        serve(
            agent, {"name": "greet", **terms}, lambda _: assistant("greeter", "hello from autogen")
        )

        def plan(work):
            says = [transfer_to("user")] if work.resume is None else ["It is settled. DONE"]
            return hesitating(*says)

        serve(agent, {"name": "plan", **terms}, plan)
        async with agent:
            print("ready")
            await asyncio.Event().wait()


asyncio.run(main())
