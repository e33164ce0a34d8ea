import asyncio
import sys
from dataclasses import dataclass

from autogen_core import AgentId, MessageContext, RoutedAgent, message_handler
from autogen_core import try_get_known_serializers_for_type as serializers_for
from autogen_ext.runtimes.grpc import GrpcWorkerAgentRuntime


@dataclass
class Ask:
    text: str


@dataclass
class Answer:
    text: str


class Clerk(RoutedAgent):
    @message_handler
    async def on_ask(self, message: Ask, ctx: MessageContext) -> Answer:
        translated = await self.send_message(message, AgentId("translator", "default"))
        return Answer(f"filed: {translated.text}")


async def main(address: str) -> None:
    runtime = GrpcWorkerAgentRuntime(address)
    await runtime.start()
    for each in (Ask, Answer):
        runtime.add_message_serializer(serializers_for(each))
    await Clerk.register(runtime, "clerk", lambda: Clerk("Files letters."))
    await runtime.stop_when_signal()


asyncio.run(main(sys.argv[1]))
