"""A worker of AutoGen as it is: agents that do what a message says, and a caller that is told by lines."""

import asyncio
import json
import sys
from dataclasses import dataclass

from autogen_core import AgentId, MessageContext, RoutedAgent, TopicId, TypeSubscription, message_handler
from autogen_core import try_get_known_serializers_for_type as serializers_for
from autogen_ext.runtimes.grpc import GrpcWorkerAgentRuntime


@dataclass
class Ask:
    text: str


@dataclass
class Answer:
    text: str


@dataclass
class Measure:
    value: float


@dataclass
class News:
    text: str


@dataclass
class Piece:
    text: str


@dataclass
class Stop:
    message_id: str


@dataclass
class Unheard:
    text: str


def tell(**what: object) -> None:
    print(json.dumps(what), flush=True)


class Clerk(RoutedAgent):
    def __init__(self) -> None:
        super().__init__("Does what it is told.")
        self.count = 0

    @message_handler
    async def on_ask(self, message: Ask, ctx: MessageContext) -> Answer | Measure | Unheard | None:
        what, _, rest = message.text.partition(" ")
        match what:
            case "raise":
                raise ValueError(rest)
            case "none":
                return None
            case "unheard":
                return Unheard(rest)
            case "nan":
                return Measure(float("nan"))
            case "hang":
                tell(hanging=rest)
                await asyncio.sleep(3600)
            case "until":
                tell(hanging=rest)
                await released.wait()
            case "count":
                self.count += 1
                return Answer(f"{self.count} {rest}")
            case "who":
                return Answer(f"{self.id.type} {self.id.key} {ctx.message_id}")
            case "via":
                target, _, text = rest.partition(" ")
                answer = await self.send_message(Ask(text), AgentId(target, "default"))
                return Answer(f"{target}: {answer.text}")
            case "then-hang":
                target, _, text = rest.partition(" ")
                answer = await self.send_message(Ask(text), AgentId(target, "default"))
                tell(hanging=answer.text)
                await asyncio.sleep(3600)
            case "ask":
                answer = await self.send_message(Ask(rest), AgentId("delegator", "default"))
                return Answer(f"heard {answer.text}")
            case "write":
                await self.send_message(Piece(rest), AgentId("delegator", "default"))
                return Answer(rest)
            case "grow":
                return Answer("x" * int(rest))
            case "flood":
                await self.publish_message(News("x" * int(rest)), TopicId("news", "here"))
                return Answer("published")
            case "publish":
                topic, _, text = rest.partition(" ")
                await self.publish_message(News(text), TopicId(topic, "here"))
                return Answer("published")
        return Answer(message.text)

    @message_handler
    async def on_stop(self, message: Stop, ctx: MessageContext) -> None:
        tell(heard=f"stop {message.message_id}")


class Listener(RoutedAgent):
    def __init__(self) -> None:
        super().__init__("Tells what it hears.")

    @message_handler
    async def on_news(self, message: News, ctx: MessageContext) -> None:
        tell(heard=message.text)


released = asyncio.Event()


async def main(address: str, agent_type: str) -> None:
    runtime = GrpcWorkerAgentRuntime(address)
    await runtime.start()
    for each in (Ask, Answer, Measure, News, Piece, Stop):
        runtime.add_message_serializer(serializers_for(each))
    try:
        await Clerk.register(runtime, agent_type, Clerk)
        await Listener.register(runtime, f"{agent_type}_listener", Listener)
        await runtime.add_subscription(TypeSubscription("news", f"{agent_type}_listener"))
    except Exception as error:
        tell(refused=str(error))
        return
    tell(ready=agent_type)

    async def send(number: int, target: str, text: str) -> None:
        try:
            answer = await runtime.send_message(Ask(text), AgentId(target, "default"))
            tell(number=number, answer=getattr(answer, "text", repr(answer)))
        except Exception as error:
            tell(number=number, error=str(error))

    tasks = set()
    reader = asyncio.StreamReader(limit=2**24)
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while line := await reader.readline():
        what = json.loads(line)
        if what.pop("release", False):
            released.set()
        else:
            tasks.add(asyncio.create_task(send(**what)))


asyncio.run(main(*sys.argv[1:]))
