import asyncio
import sys

from autogen_core import AgentId, CancellationToken, MessageContext, RoutedAgent, message_handler
from autogen_core import try_get_known_serializers_for_type as serializers_for
from autogen_core.models import AssistantMessage, LLMMessage, RequestUsage, UserMessage
from autogen_ext.models.replay import ReplayChatCompletionClient
from autogen_ext.runtimes.grpc import GrpcWorkerAgentRuntime
from pydantic import BaseModel


class Talk(BaseModel):
    context: list[LLMMessage]
    usage: RequestUsage | None = None


class Question(BaseModel):
    text: str


class Answer(BaseModel):
    text: str


class Stop(BaseModel):
    message_id: str


DELEGATOR = AgentId("delegator", "default")


class Adviser(RoutedAgent):
    def __init__(self) -> None:
        super().__init__("Knows the ferries.")
        # Your model's client: this one replays what it is given.
        self.model = ReplayChatCompletionClient(["Take the ferry at six."])
        self.tokens: dict[str | None, CancellationToken] = {}

    @message_handler
    async def on_talk(self, message: Talk, ctx: MessageContext) -> Talk:
        token = self.tokens[ctx.message_id] = CancellationToken()
        try:
            day = await self.send_message(Question(text="Which day?"), DELEGATOR)
            asked = [*message.context, UserMessage(content=day.text, source="user")]
            result = await self.model.create(asked, cancellation_token=token)
            said = AssistantMessage(content=str(result.content), source="adviser")
            return Talk(context=[said], usage=result.usage)
        finally:
            del self.tokens[ctx.message_id]

    @message_handler
    async def on_stop(self, message: Stop, ctx: MessageContext) -> None:
        if message.message_id in self.tokens:
            self.tokens[message.message_id].cancel()


async def main(address: str) -> None:
    runtime = GrpcWorkerAgentRuntime(address)
    await runtime.start()
    for each in (Talk, Question, Answer, Stop):
        runtime.add_message_serializer(serializers_for(each))
    await Adviser.register(runtime, "adviser", Adviser)
    await runtime.stop_when_signal()


asyncio.run(main(sys.argv[1]))
