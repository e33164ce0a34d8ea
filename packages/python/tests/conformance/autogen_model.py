"""A scripted model of AutoGen: it sees exactly the request that reaches it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Sequence
from typing import Any

from autogen_core import CancellationToken, FunctionCall
from autogen_core.models import (
    ChatCompletionClient,
    CreateResult,
    FunctionExecutionResultMessage,
    LLMMessage,
    ModelFamily,
    ModelInfo,
    RequestUsage,
    SystemMessage,
    UserMessage,
)
from line import Interrupted
from peer import Act, Stage

from waybill_sdk import Work
from waybill_sdk.adapter.media import media_from
from waybill_sdk.adapter.words import text_message, text_of, words_of

ASKS = "transfer_to_user"
_INFO = ModelInfo(
    vision=True,
    function_calling=True,
    json_output=False,
    family=ModelFamily.UNKNOWN,
    structured_output=False,
)
_NONE = RequestUsage(prompt_tokens=0, completion_tokens=0)

Message = dict[str, Any]
Reply = Callable[[Sequence[LLMMessage], CancellationToken | None], AsyncGenerator[Any, None]]


def seen_in(request: Sequence[LLMMessage]) -> list[Message]:
    """All that a request shows to a model."""
    return [_seen(each) for each in request]


def _seen(message: LLMMessage) -> Message:
    if isinstance(message, SystemMessage):
        return text_message("system", message.content)
    if isinstance(message, FunctionExecutionResultMessage):
        results = [
            {"type": "tool_result", "id": each.call_id, "output": each.content}
            for each in message.content
        ]
        return {"role": "tool", "content": results}
    given = [message.content] if isinstance(message.content, str) else message.content
    role = "user" if isinstance(message, UserMessage) else "assistant"
    return {"role": role, "name": message.source, "content": [_part(each) for each in given]}


def _part(given: Any) -> dict[str, Any]:
    if isinstance(given, str):
        return {"type": "text", "text": given}
    if isinstance(given, FunctionCall):
        arguments = json.loads(given.arguments)
        return {"type": "tool_call", "id": given.id, "name": given.name, "arguments": arguments}
    return media_from("image", given.data_uri)


class Playing(Stage):
    """A request of the model. The turn after a question contains its answer."""

    def __init__(
        self,
        request: Sequence[LLMMessage],
        source: Any,
        history: list[Message],
        shown: asyncio.Queue[str | None],
    ) -> None:
        super().__init__({"messages": seen_in(request)}, source, history)
        self.asked: dict[str, str] | None = None
        self._shown = shown

    async def show(self, message: str) -> None:
        self._shown.put_nowait(message)

    async def ask(self, id: str, text: str) -> Any:
        messages: list[Message] = self.work["messages"]
        for at, message in enumerate(messages):
            if any(
                each.get("id") == id
                for each in message["content"]
                if message["role"] == "assistant"
            ):
                return next(text_of(each) for each in messages[at:] if each["role"] == "user")
        self.asked = {"id": id, "text": text}
        raise Interrupted(text)


class Script:
    """Plays an act as the replies of one agent's model."""

    def __init__(self, act: Act, source: Work | None) -> None:
        self._act = act
        self._source = source
        self.history: list[Message] = []
        self.said: list[Message] = []
        """What no model can return: the messages of an agent besides its reply."""
        self.has_output = False

    async def reply(
        self, request: Sequence[LLMMessage], token: CancellationToken | None
    ) -> AsyncGenerator[str | CreateResult, None]:
        shown: asyncio.Queue[str | None] = asyncio.Queue()
        stage = Playing(request, self._source, self.history, shown)
        played: asyncio.Future[Any] = asyncio.ensure_future(self._act(stage))
        if token is not None:
            token.link_future(played)
        played.add_done_callback(lambda _: shown.put_nowait(None))
        while (message := await shown.get()) is not None:
            yield message
        try:
            given = await played
        except Interrupted:
            assert stage.asked is not None
            arguments = json.dumps({"question": stage.asked["text"]})
            call = FunctionCall(id=stage.asked["id"], name=ASKS, arguments=arguments)
            yield _result([call], "function_calls", None)
            return
        self.said, self.has_output = given.get("messages") or [], "output" in given
        last = text_of(self.said[-1]) if self.said else ""
        yield _result(
            words_of(given["output"]) if self.has_output else last, "stop", given.get("usage")
        )


def _result(content: Any, reason: Any, usage: dict[str, int] | None) -> CreateResult:
    used = usage and RequestUsage(
        prompt_tokens=usage["input_tokens"], completion_tokens=usage["output_tokens"]
    )
    return CreateResult(content=content, finish_reason=reason, usage=used or _NONE, cached=False)


class ScriptedClient(ChatCompletionClient):
    def __init__(self, reply: Reply) -> None:
        self._reply = reply

    async def create(
        self,
        messages: Sequence[LLMMessage],
        *,
        cancellation_token: CancellationToken | None = None,
        **_options: Any,
    ) -> CreateResult:
        replies = [each async for each in self._reply(messages, cancellation_token)]
        result: CreateResult = replies[-1]
        return result

    def create_stream(
        self,
        messages: Sequence[LLMMessage],
        *,
        cancellation_token: CancellationToken | None = None,
        **_options: Any,
    ) -> AsyncGenerator[str | CreateResult, None]:
        return self._reply(messages, cancellation_token)

    async def close(self) -> None:
        pass

    def actual_usage(self) -> RequestUsage:
        return _NONE

    def total_usage(self) -> RequestUsage:
        return _NONE

    def count_tokens(self, messages: Sequence[LLMMessage], **_options: Any) -> int:
        return 0

    def remaining_tokens(self, messages: Sequence[LLMMessage], **_options: Any) -> int:
        return 1_000_000

    @property
    def capabilities(self) -> Any:
        return _INFO

    @property
    def model_info(self) -> ModelInfo:
        return _INFO
