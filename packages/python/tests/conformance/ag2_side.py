"""AG2 in the suite: an agent with a scripted model is served, and an agent with a remote tool
calls. The model is reached over HTTP."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator, Sequence
from contextvars import copy_context
from itertools import count
from typing import Annotated, Any
from uuid import NAMESPACE_URL, uuid5

import ag2
from ag2 import Context, Inject, MemoryStream
from ag2.config import OpenAIConfig
from ag2.events import (
    BaseEvent,
    BinaryResult,
    HumanInputRequest,
    ModelResponse,
    ToolErrorEvent,
    ToolResultsEvent,
)
from ag2.middleware import BaseMiddleware, LLMCall, Middleware
from line import Interrupted
from peer import Act, Calling, Stage
from scripted_model import Refusal, Request, ScriptedModel, Turn

from waybill_sdk import Agent, WaybillError, Work
from waybill_sdk.adapter.media import artifact_of, media_from, media_in, with_files
from waybill_sdk.adapter.words import text_of, words_of
from waybill_sdk.ag2 import (
    RemoteDelta,
    RemoteProgress,
    RemoteQuestion,
    RemoteTool,
    RemoteUsage,
    ServedRun,
    received_in,
    serve,
)
from waybill_sdk.ag2.history import events_of
from waybill_sdk.protocol.encoding import from_base64url

Message = dict[str, Any]
_PLAY = "x-play"


class Model:
    """One server for everything in this process; a header identifies the request's run."""

    def __init__(self) -> None:
        self._names = count()
        self._scripts: dict[str, Any] = {}
        self._url: str | None = None

    async def config(self, script: Any) -> OpenAIConfig:
        if self._url is None:
            self._url = await ScriptedModel(self._reply).start()
        name = str(next(self._names))
        self._scripts[name] = script
        return OpenAIConfig(
            "scripted",
            api_key="none",
            base_url=self._url,
            streaming=True,
            max_retries=0,
            default_headers={_PLAY: name},
        )

    async def _reply(self, request: Request) -> Turn | Refusal:
        said: Turn | Refusal = await self._scripts[request.headers[_PLAY]](request)
        return said


MODEL = Model()


def seen_by(request: Request) -> dict[str, Any]:
    """What a model has actually been shown, without the agent's own instructions."""
    names: dict[str, str] = {}
    artifacts: list[dict[str, Any]] = []
    messages = [
        _seen(each, names, artifacts)
        for each in request.body["messages"]
        if each["role"] != "system" or each["content"]
    ]
    return {"messages": messages, **({"artifacts": artifacts} if artifacts else {})}


def _seen(message: Message, names: dict[str, str], artifacts: list[dict[str, Any]]) -> Message:
    if message["role"] == "tool":
        output = _value_of(message["content"])
        result = {"type": "tool_result", "id": message["tool_call_id"], "output": output}
        name = names[message["tool_call_id"]]
        return {"role": "tool", "name": name, "content": [result]}
    given = message["content"] or []
    parts = [{"type": "text", "text": given}] if isinstance(given, str) else given
    content: list[dict[str, Any]] = []
    for part in parts:
        if part["type"] == "text":
            content.append(part)
        elif part["type"] == "image_url":
            content.append(media_from("image", part["image_url"]["url"]))
        elif part["type"] == "input_audio":
            audio = part["input_audio"]
            content.append(
                media_from("audio", f"data:audio/{audio['format']};base64,{audio['data']}")
            )
        elif part["type"] == "file":
            head, _, data = part["file"]["file_data"].partition(";base64,")
            kind = head.removeprefix("data:")
            octets = base64.b64decode(data)
            artifacts.append(artifact_of(part["file"]["filename"], kind, octets))
    for call in message.get("tool_calls", []):
        function = call["function"]
        names[call["id"]] = function["name"]
        arguments = json.loads(function["arguments"])
        content.append(
            {
                "type": "tool_call",
                "id": call["id"],
                "name": function["name"],
                "arguments": arguments,
            }
        )
    return {"role": message["role"], "content": content}


def _value_of(content: Any) -> Any:
    text = content if isinstance(content, str) else "\n".join(each["text"] for each in content)
    return json.loads(text) if text.startswith("{") else text


class Playing(Stage):
    """A request of the model. Its messages contain the answers to earlier questions."""

    def __init__(self, seen: dict[str, Any], play: Play, shown: asyncio.Queue[str | None]) -> None:
        super().__init__(seen, play.work, play.work.body.get("messages"))
        self.context = play.context
        self.asked: dict[str, str] | None = None
        self._shown = shown

    async def show(self, message: str) -> None:
        self._shown.put_nowait(message)

    async def ask(self, id: str, text: str) -> Any:
        results = [part for each in self.work["messages"] for part in each["content"]]
        for part in results:
            if part["type"] == "tool_result" and part["id"] == id:
                return part["output"]
        self.asked = {"id": id, "text": text}
        raise Interrupted(text)


class Play:
    """Plays an act as the model of one attempt: what it shows is streamed, and what it asks is a
    call of a tool."""

    def __init__(self, act: Act, work: Work) -> None:
        self.work = work
        self.context = copy_context()
        self.error: BaseException | None = None
        self.results: dict[str, Any] = {}
        self.artifacts: list[dict[str, Any]] = []
        self.painted: list[BinaryResult] = []
        self._act = act
        self._next: list[Turn | Refusal] = []

    async def reply(self, request: Request) -> Turn | Refusal:
        if self._next:
            return self._next.pop(0)
        shown: asyncio.Queue[str | None] = asyncio.Queue()
        stage = Playing(seen_by(request), self, shown)
        played = asyncio.ensure_future(self._act(stage))
        played.add_done_callback(lambda _: shown.put_nowait(None))
        try:
            first = await shown.get()
            if first is None:
                return self._take(played, stage)
        except asyncio.CancelledError:
            played.cancel()
            raise
        calls: list[dict[str, Any]] = []

        async def pieces() -> AsyncIterator[str]:
            piece: str | None = first
            try:
                while piece is not None:
                    yield piece
                    piece = await shown.get()
            finally:
                played.cancel()
            # What was streamed so far is a turn of its own, and the result of the act is the next.
            self._next.insert(0, self._take(played, stage))
            calls.append({"id": "call_on", "name": "go_on"})

        return Turn(pieces=pieces(), calls=calls)

    def _take(self, played: asyncio.Future[Any], stage: Playing) -> Turn | Refusal:
        if played.cancelled():
            self.error = asyncio.CancelledError("stopped by itself")
            return Turn(text="stopped")
        error = played.exception()
        if isinstance(error, Interrupted) and stage.asked is not None:
            asked = {"id": stage.asked["id"], "name": "ask_user"}
            return Turn(calls=[{**asked, "arguments": {"question": stage.asked["text"]}}])
        # An error with a cause comes from the client, and not from the model's host.
        if isinstance(error, WaybillError) or (error is not None and error.__cause__ is not None):
            self.error = error
            return Turn(text="failed")
        if error is not None:
            return Refusal(getattr(error, "status_code", 400), {"message": str(error)})
        turns = self._turns_of(played.result())
        self._next += turns[1:]
        return turns[0]

    def _turns_of(self, given: dict[str, Any]) -> list[Turn]:
        self.artifacts = given.get("artifacts") or []
        turns = [Turn(calls=[{"id": "call_file", "name": "attach"}])] if self.artifacts else []
        for message in given.get("messages") or []:
            for part in message["content"]:
                if part["type"] == "tool_result":
                    self.results[part["id"]] = part["output"]
            self.painted += [
                BinaryResult(from_base64url(each["data"]), {"media_type": each["media_type"]})
                for each in media_in(message)
            ]
            if message["role"] == "assistant":
                calls = [each for each in message["content"] if each["type"] == "tool_call"]
                turns.append(Turn(text=text_of(message), calls=calls))
        if given.get("output") is not None:
            turns.append(Turn(text=words_of(given["output"]), usage=given.get("usage")))
        return turns or [Turn()]


class Course(BaseMiddleware):
    """Identifies the run in which the model is called, and raises errors that no model can express."""

    def __init__(self, event: BaseEvent, context: Context, play: Play) -> None:
        super().__init__(event, context)
        self._play = play

    async def on_llm_call(
        self, call_next: LLMCall, events: Sequence[BaseEvent], context: Context
    ) -> ModelResponse:
        self._play.context = copy_context()
        response = await call_next(events, context)
        if self._play.error is not None:
            raise self._play.error
        # As clients do whose models generate images: chat completions return only text.
        response.files, self._play.painted = self._play.painted, []
        return response


def offer(agent: Agent, capability: dict[str, Any], act: Act) -> None:
    async def made(work: Work) -> ag2.Agent:
        play = Play(act, work)

        async def ask_user(question: str, context: Context) -> str:
            return await context.input(question)

        def go_on() -> str:
            return "Go on."

        async def weather(context: Context) -> Any:
            return play.results[context.tool_call_id or ""]

        async def attach(run: Annotated[ServedRun, Inject("waybill")]) -> str:
            for each in play.artifacts:
                run.attach(each["name"], each["media_type"], from_base64url(each["data"]))
            return "attached"

        return ag2.Agent(
            "forecaster",
            config=await MODEL.config(play.reply),
            tools=[ask_user, go_on, _any_arguments(weather), attach],
            middleware=[Middleware(Course, play=play)],
        )

    serve(agent, capability, made)


def _any_arguments(function: Any) -> Any:
    async def weather(context: Context, **_given: Any) -> Any:
        return await function(context)

    return weather


async def call(calling: Calling) -> dict[str, Any]:
    request = calling.request
    work, takes = request["work"], request["capability"]["takes"]
    is_structured = takes == "structured"
    brief = work.get("brief") or {}
    given = work.get("input", {}) if is_structured else _task_of(brief)
    tool = RemoteTool(
        calling.agent,
        request["capability"]["name"],
        parameters=request["capability"]["input_schema"] if is_structured else None,
        conversation=takes == "conversation",
        files=True,
        to=request.get("to"),
        timeout=request["timeoutMs"] / 1000,
        session=request.get("session"),
    )
    turns: list[Turn] = [
        Turn(calls=[{"id": request["step"], "name": tool.name, "arguments": given}]),
        Turn(text="So it is."),
    ]
    heard: list[Message] = []

    async def say(asked: Request) -> Turn:
        heard[:] = seen_by(asked)["messages"]
        return turns.pop(0)

    config = await MODEL.config(say)
    stream = MemoryStream(id=uuid5(NAMESPACE_URL, request["run"]))
    # A restarted run stands for one in another process, which waits for no lock of this one.
    stream._ag2_turn_lock = asyncio.Lock()
    stream.where(RemoteProgress).subscribe(_showing(calling))
    stream.where(RemoteDelta).subscribe(_writing(calling))

    async def answer(event: HumanInputRequest) -> str:
        question = event if isinstance(event, RemoteQuestion) else None
        return str(
            await calling.line.ask(
                "ask",
                about=calling.about,
                id=question.question_id if question else event.id,
                text=event.content,
            )
        )

    editor = ag2.Agent("editor", config=config, tools=[tool])
    asked = work.get("messages") or [
        {"role": "user", "content": [{"type": "text", "text": "Find out."}]}
    ]
    asked = with_files(asked, work.get("artifacts") or [])
    reply = await editor.resume(*events_of(asked, config), stream=stream, hitl_hook=answer)
    history = list(await reply.history.get_events())
    [answered] = [each for each in history if isinstance(each, ToolResultsEvent)][-1].results
    if isinstance(answered, ToolErrorEvent):
        raise answered.error
    received = received_in(answered) or {}
    used = [each.usage for each in history if isinstance(each, RemoteUsage)]
    return {
        "output": received["output"],
        "messages": received["messages"],
        "artifacts": received["artifacts"],
        "usage": {
            "input_tokens": sum(int(each.prompt_tokens or 0) for each in used),
            "output_tokens": sum(int(each.completion_tokens or 0) for each in used),
        },
        "heard": {"messages": heard},
    }


def _task_of(brief: dict[str, Any]) -> dict[str, Any]:
    expected = {"expected_output": brief["expected_output"]} if "expected_output" in brief else {}
    return {"task": brief.get("instruction", "Answer that."), **expected}


def _showing(calling: Calling) -> Any:
    async def show(event: RemoteProgress) -> None:
        await calling.show(event.message or "")

    return show


def _writing(calling: Calling) -> Any:
    async def show(event: RemoteDelta) -> None:
        await calling.show(event.text)

    return show
