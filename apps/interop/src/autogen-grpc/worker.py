"""Workers of AutoGen as it is, with nothing of Waybill: agents that ask a model, which says what the suite has it
say, and agents that send to others. What is asked and answered is a JSON object a line."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Coroutine, Sequence
from typing import Any

from autogen_core import (
    AgentId,
    CancellationToken,
    FunctionCall,
    Image,
    MessageContext,
    RoutedAgent,
    message_handler,
)
from autogen_core import try_get_known_serializers_for_type as serializers_for
from autogen_core.models import (
    AssistantMessage,
    CreateResult,
    FunctionExecutionResult,
    FunctionExecutionResultMessage,
    LLMMessage,
    RequestUsage,
    SystemMessage,
    UserMessage,
)
from autogen_ext.models.replay import ReplayChatCompletionClient
from autogen_ext.runtimes.grpc import GrpcWorkerAgentRuntime
from opentelemetry import trace
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
from pydantic import BaseModel, ConfigDict

Json = Any

DELEGATOR = AgentId("delegator", "default")


class File(BaseModel):
    name: str
    media_type: str
    data: str


class Given(BaseModel):
    """A value, whatever its members are."""

    model_config = ConfigDict(extra="allow")
    files: list[File] = []
    usage: RequestUsage | None = None

    def value(self) -> Json:
        return self.model_dump(mode="json", exclude={"files", "usage"})


class Talk(BaseModel):
    """A conversation; as an answer, what it adds."""

    context: list[LLMMessage]
    received: list[Json] = []
    files: list[File] = []
    usage: RequestUsage | None = None


class Stop(BaseModel):
    message_id: str


class Question(BaseModel):
    id: str
    text: str


class Progress(BaseModel):
    message: str


class Answer(BaseModel):
    text: str


class Order(BaseModel):
    """What is to be sent to another agent."""

    to: str
    key: str
    traceparent: str
    given: dict[str, Any] | None = None
    said: list[dict[str, Any]] = []
    files: list[File] = []


class Outcome(BaseModel):
    """What came of it, and what a model is told of it."""

    output: Any = None
    files: list[File] = []
    usage: RequestUsage | None = None
    heard: list[dict[str, Any]] = []
    received: list[Json] = []


class LinkedTracer(trace.NoOpTracer):
    """AutoGen links its span to the one that a request names."""

    def start_as_current_span(self, *given: Any, **named: Any) -> Any:
        links = named.get("links") or next((each for each in given if isinstance(each, list)), None)
        if not links or not links[0].context.is_valid:
            return super().start_as_current_span(*given, **named)
        return trace.use_span(trace.NonRecordingSpan(links[0].context))


class LinkedTracers(trace.NoOpTracerProvider):
    def get_tracer(self, *_given: Any, **_named: Any) -> trace.Tracer:
        return LinkedTracer()


class Line:
    def __init__(self) -> None:
        self.players: dict[tuple[str, str], Player] = {}
        self._asked: dict[int, asyncio.Future[Json]] = {}
        self._count = 0
        # What a framework prints is nothing for the suite.
        self._out = os.fdopen(os.dup(sys.stdout.fileno()), "w")
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())

    async def ask(self, host: str, what: Json) -> Json:
        self._count += 1
        asked = self._count
        answer = self._asked[asked] = asyncio.get_running_loop().create_future()
        self.say(ask=asked, host=host, what=what)
        try:
            return await answer
        except asyncio.CancelledError:
            self.say(drop=asked)
            raise

    def answered(self, re: int, value: Json = None, error: str | None = None) -> None:
        answer = self._asked.pop(re)
        if answer.done():
            return
        if error is None:
            answer.set_result(value)
        else:
            answer.set_exception(RuntimeError(error))

    def say(self, **what: Json) -> None:
        self._out.write(json.dumps(what) + "\n")
        self._out.flush()


class PlayedModel(ReplayChatCompletionClient):
    """One request of it: what it is shown goes to the suite, and the suite has what it says."""

    def __init__(self, line: Line, host: str, beside: dict[str, Json]) -> None:
        super().__init__([])
        self._line = line
        self._host = host
        self._beside = beside
        self.said: list[Json] = []
        self.output: Json = None
        self.files: list[File] = []

    async def create(self, messages: Sequence[LLMMessage], **_options: Any) -> CreateResult:
        shown = [shown_of(each) for each in messages]
        played = await self._line.ask(self._host, {"messages": shown, **self._beside})
        self.said = played.get("messages") or []
        self.output = played.get("output")
        self.files = [File.model_validate(each) for each in played["files"]]
        used = played.get("usage") or {"input_tokens": 0, "output_tokens": 0}
        usage = RequestUsage(used["input_tokens"], used["output_tokens"])
        words = self.output if isinstance(self.output, str) else json.dumps(self.output)
        return CreateResult(content=words, finish_reason="stop", usage=usage, cached=False)


class Player(RoutedAgent):
    """Asks its model about what it is sent. Each instance has a conversation of its own."""

    def __init__(self, line: Line, host: str) -> None:
        super().__init__("Plays.")
        self._line = line
        self._host = host
        self._context: list[LLMMessage] = []
        self._tokens: dict[str, CancellationToken] = {}
        line.players[host, self.id.key] = self

    @message_handler
    async def on_talk(self, message: Talk, ctx: MessageContext) -> Talk:
        model = self._model(message.files, ctx, history=message.received)
        shown = [*self._context, *message.context]
        result = await self._stoppable(model.create(shown), ctx)
        added = [llm_of(each) for each in model.said]
        if model.output is not None:
            assert isinstance(result.content, str)
            added.append(AssistantMessage(content=result.content, source=self.id.type))
        self._context.extend([*message.context, *added])
        return Talk(context=added, files=model.files, usage=result.usage)

    @message_handler
    async def on_given(self, message: Given, ctx: MessageContext) -> Given:
        model = self._model(message.files, ctx)
        asked = json.dumps(message.value(), ensure_ascii=False)
        shown = [UserMessage(content=asked, source="task")]
        result = await self._stoppable(model.create(shown), ctx)
        return Given(**(model.output or {}), files=model.files, usage=result.usage)

    @message_handler
    async def on_stop(self, message: Stop, ctx: MessageContext) -> None:
        if message.message_id in self._tokens:
            self._tokens[message.message_id].cancel()

    async def _stoppable(
        self, asking: Coroutine[Any, Any, CreateResult], ctx: MessageContext
    ) -> CreateResult:
        token = self._tokens[ctx.message_id] = CancellationToken()
        try:
            return await token.link_future(asyncio.ensure_future(asking))
        finally:
            del self._tokens[ctx.message_id]

    def _model(self, files: list[File], ctx: MessageContext, **more: Json) -> PlayedModel:
        carrier: dict[str, str] = {}
        TraceContextTextMapPropagator().inject(carrier)
        beside = {
            "files": [each.model_dump() for each in files],
            "message": ctx.message_id,
            "key": self.id.key,
            "traceparent": carrier.get("traceparent"),
            **more,
        }
        return PlayedModel(self._line, self._host, beside)

    async def show(self, message: str) -> None:
        await self.send_message(Progress(message=message), DELEGATOR)

    async def ask(self, id: str, text: str) -> Json:
        answer: Answer = await self.send_message(Question(id=id, text=text), DELEGATOR)
        return answer.text

    async def part(self, given: Json) -> Json:
        answer = await self.send_message(Given(**given), AgentId("anybody", "default"))
        return answer.value()


class Caller(RoutedAgent):
    """Sends what it is told to to another agent, and tells its model of the answer."""

    def __init__(self, line: Line, host: str) -> None:
        super().__init__("Calls.")
        self._line = line
        self._host = host

    @message_handler
    async def on_order(self, message: Order, ctx: MessageContext) -> Outcome:
        target = AgentId(message.to, message.key)
        carrier = {"traceparent": message.traceparent}
        span = trace.get_current_span(TraceContextTextMapPropagator().extract(carrier))
        with trace.use_span(span):
            if message.given is not None:
                value = Given(**message.given, files=message.files)
                answer = await self.send_message(value, target)
                return Outcome(output=answer.value(), files=answer.files, usage=answer.usage)
            asked = [llm_of(each) for each in message.said]
            talk = await self.send_message(Talk(context=asked, files=message.files), target)
        model = PlayedModel(self._line, self._host, {"files": []})
        await model.create([*asked, *talk.context])
        heard = [shown_of(each) for each in talk.context]
        last = heard[-1]["content"][0].get("text") if heard else None
        return Outcome(
            output=last, files=talk.files, usage=talk.usage, heard=heard, received=talk.received
        )


def shown_of(message: LLMMessage) -> Json:
    """A message as a model is told it."""
    if isinstance(message, SystemMessage):
        return {"role": "system", "content": [text(message.content)]}
    if isinstance(message, FunctionExecutionResultMessage):
        results = [
            {"type": "tool_result", "id": each.call_id, "output": each.content}
            for each in message.content
        ]
        return {"role": "tool", "content": results}
    role = "user" if isinstance(message, UserMessage) else "assistant"
    given = [message.content] if isinstance(message.content, str) else message.content
    thought = (
        [text(message.thought)] if isinstance(message, AssistantMessage) and message.thought else []
    )
    return {"role": role, "name": message.source, "content": [*thought, *map(part_of, given)]}


def part_of(given: str | Image | FunctionCall) -> Json:
    if isinstance(given, str):
        return text(given)
    if isinstance(given, Image):
        return {"type": "image", "media_type": "image/png", "data": given.to_base64()}
    arguments = json.loads(given.arguments)
    return {"type": "tool_call", "id": given.id, "name": given.name, "arguments": arguments}


def llm_of(message: Json) -> LLMMessage:
    """A message of the suite's, as an application of AutoGen has it."""
    role, source, content = message["role"], message.get("name"), message["content"]
    words = [each["text"] for each in content if each["type"] == "text"]
    images = [Image.from_base64(each["data"]) for each in content if each["type"] == "image"]
    if role == "tool":
        results = [
            FunctionExecutionResult(
                content=each["output"]
                if isinstance(each["output"], str)
                else json.dumps(each["output"]),
                name=source or "tool",
                call_id=each["id"],
            )
            for each in content
        ]
        return FunctionExecutionResultMessage(content=results)
    if role == "system":
        return SystemMessage(content=words[0])
    if role == "user" or images:
        return UserMessage(content=[*words, *images], source=source or "user")
    calls = [
        FunctionCall(id=each["id"], name=each["name"], arguments=json.dumps(each["arguments"]))
        for each in content
        if each["type"] == "tool_call"
    ]
    thought = "\n".join(words)
    if calls:
        return AssistantMessage(
            content=calls, thought=thought or None, source=source or "assistant"
        )
    return AssistantMessage(content=thought, source=source or "assistant")


def text(words: str) -> Json:
    return {"type": "text", "text": words}


class Workers:
    """A worker for each host that the suite opens."""

    def __init__(self) -> None:
        self._line = Line()
        self._runtimes: dict[str, GrpcWorkerAgentRuntime] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        reader = asyncio.StreamReader(limit=2**26)
        protocol = asyncio.StreamReaderProtocol(reader)
        await asyncio.get_running_loop().connect_read_pipe(lambda: protocol, sys.stdin)
        while line := await reader.readline():
            said = json.loads(line)
            if "do" not in said:
                self._line.answered(**said)
                continue
            task = asyncio.create_task(self._do(**said))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        # Whoever still works does so for nobody.
        os._exit(0)

    async def _do(self, re: int, do: str, host: str, given: dict[str, Json]) -> None:
        try:
            self._line.say(re=re, value=await getattr(self, f"_{do}")(host, **given))
        except Exception as error:
            self._line.say(re=re, error=str(error))

    async def _open(self, host: str) -> None:
        runtime = GrpcWorkerAgentRuntime(host, tracer_provider=LinkedTracers())
        await runtime.start()
        for each in (Given, Talk, Order, Outcome, Stop, Question, Progress, Answer):
            runtime.add_message_serializer(serializers_for(each))
        await Player.register(runtime, "player", lambda: Player(self._line, host))
        await Caller.register(runtime, "caller", lambda: Caller(self._line, host))
        self._runtimes[host] = runtime

    async def _show(self, host: str, key: str, message: str) -> None:
        await self._line.players[host, key].show(message)

    async def _ask(self, host: str, key: str, **question: str) -> Json:
        return await self._line.players[host, key].ask(**question)

    async def _part(self, host: str, key: str, given: Json) -> Json:
        return await self._line.players[host, key].part(given)

    async def _close(self, host: str) -> None:
        await self._runtimes.pop(host).stop()


asyncio.run(Workers().run())
