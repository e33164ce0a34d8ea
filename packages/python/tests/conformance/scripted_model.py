"""A scripted model: a server on the loopback interface that speaks OpenAI's chat completions API."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Request:
    headers: dict[str, str]
    body: dict[str, Any]


@dataclass
class Turn:
    """The text of the model, in pieces as they are streamed, and its tool calls after that."""

    pieces: AsyncIterator[str] | None = None
    text: str = ""
    calls: Sequence[dict[str, Any]] = field(default_factory=tuple)
    usage: dict[str, int] | None = None


@dataclass
class Refusal:
    """An error of the model's host."""

    status: int
    error: dict[str, Any]


Script = Callable[[Request], Awaitable[Turn | Refusal]]
_USAGE = {"input_tokens": 0, "output_tokens": 0}


class ScriptedModel:
    """Asks the script for each reply. A request whose client has gone is cancelled."""

    def __init__(self, script: Script) -> None:
        self._script = script
        self._server: asyncio.Server | None = None

    async def start(self) -> str:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, limit=2**26)
        port = self._server.sockets[0].getsockname()[1]
        return f"http://127.0.0.1:{port}/v1"

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            request = await _read(reader)
            replying = asyncio.ensure_future(self._reply(request, writer))
            leaving = asyncio.ensure_future(reader.read(1))
            await asyncio.wait({replying, leaving}, return_when=asyncio.FIRST_COMPLETED)
            leaving.cancel()
            replying.cancel()
            with suppress(asyncio.CancelledError):
                await replying
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def _reply(self, request: Request, writer: asyncio.StreamWriter) -> None:
        said = await self._script(request)
        if isinstance(said, Refusal):
            return await _send(writer, said.status, "application/json", {"error": said.error})
        if not request.body.get("stream"):
            return await _send(writer, 200, "application/json", await _whole(said))
        await _send(writer, 200, "text/event-stream")
        if said.pieces is not None:
            async for piece in said.pieces:
                await _event(writer, {"delta": {"content": piece}})
        if said.text:
            await _event(writer, {"delta": {"content": said.text}})
        calls = [{"index": at, **_call(each)} for at, each in enumerate(said.calls)]
        if calls:
            await _event(writer, {"delta": {"tool_calls": calls}})
        await _event(writer, {"delta": {}, "finish_reason": _finish(said)}, _usage(said))
        writer.write(b"data: [DONE]\n\n")
        await writer.drain()


async def _read(reader: asyncio.StreamReader) -> Request:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    headers = {
        name.lower(): value.strip()
        for name, _, value in (line.partition(":") for line in head[1:] if line)
    }
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Request(headers, json.loads(body))


async def _send(writer: asyncio.StreamWriter, status: int, kind: str, body: Any = None) -> None:
    head = f"HTTP/1.1 {status} -\r\ncontent-type: {kind}\r\nconnection: close\r\n\r\n"
    writer.write(head.encode())
    if body is not None:
        writer.write(json.dumps(body).encode())
    await writer.drain()


async def _event(
    writer: asyncio.StreamWriter, choice: dict[str, Any], usage: dict[str, int] | None = None
) -> None:
    made = {"index": 0, "finish_reason": None, **choice}
    chunk = {**_COMPLETION, "object": "chat.completion.chunk", "choices": [made], "usage": usage}
    writer.write(f"data: {json.dumps(chunk)}\n\n".encode())
    await writer.drain()


async def _whole(said: Turn) -> dict[str, Any]:
    pieces = [] if said.pieces is None else [each async for each in said.pieces]
    message: dict[str, Any] = {"role": "assistant", "content": "".join([*pieces, said.text])}
    if said.calls:
        message["tool_calls"] = [_call(each) for each in said.calls]
    choice = {"index": 0, "finish_reason": _finish(said), "message": message}
    completion = {**_COMPLETION, "object": "chat.completion"}
    return {**completion, "choices": [choice], "usage": _usage(said)}


_COMPLETION = {"id": "completion", "created": 0, "model": "scripted"}


def _call(call: dict[str, Any]) -> dict[str, Any]:
    function = {"name": call["name"], "arguments": json.dumps(call.get("arguments", {}))}
    return {"id": call["id"], "type": "function", "function": function}


def _finish(said: Turn) -> str:
    return "tool_calls" if said.calls else "stop"


def _usage(said: Turn) -> dict[str, int]:
    used = said.usage or _USAGE
    given, made = used["input_tokens"], used["output_tokens"]
    return {"prompt_tokens": given, "completion_tokens": made, "total_tokens": given + made}
