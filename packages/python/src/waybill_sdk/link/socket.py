"""One connection to a hub, from its challenge until it ends. It is not reopened."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from websockets.asyncio.client import ClientConnection, connect, unix_connect
from websockets.exceptions import InvalidStatus, WebSocketException

from ..protocol.error import WaybillError
from ..protocol.frame import Frame, read_frames, write_frame
from ..protocol.problem import error_of_response, read_problem
from .address import Address
from .tasks import Tasks
from .unreachable import unreachable

OPEN_WITHIN_S = 10.0
ANSWER_WITHIN_S = 30.0
_CLOSE_WITHIN_S = 2.0
# An offer may carry all answers that were given so far: it is longer than one envelope, but
# bounded.
_MESSAGE_BYTES = 64 * 1024 * 1024
_SILENCES_AT_MOST = 2
# The longest ping interval, whatever the hub asks for: a dead connection must be noticed.
_PING_AT_LEAST_EVERY_S = 60.0

Deliver = Callable[[dict[str, Any]], None]


class HubSocket:
    def __init__(self, url: str, connection: ClientConnection) -> None:
        loop = asyncio.get_running_loop()
        self.hub = ""
        self.domain = ""
        self.nonce = ""
        self.closed: asyncio.Future[WaybillError | None] = loop.create_future()
        self._url = url
        self._connection = connection
        self._characters = _MESSAGE_BYTES
        self._deliver: Deliver = lambda _: None
        self._show: Deliver = lambda _: None
        self._challenged: asyncio.Future[None] = loop.create_future()
        self._attached: asyncio.Future[None] = loop.create_future()
        for each in (self._challenged, self._attached):
            each.add_done_callback(lambda done: done.cancelled() or done.exception())
        self._calls: dict[int, asyncio.Future[Any]] = {}
        self._last_call = 0
        self._outgoing: asyncio.Queue[str | None] = asyncio.Queue()
        self._has_sent = False
        self._has_heard = True
        self._tasks = Tasks(url)
        self._tasks.start(self._read())
        self._tasks.start(self._write())

    @classmethod
    async def open(cls, address: Address) -> HubSocket:
        """Returns the hub's challenge."""
        path = address.unix_path
        url = address.socket if path is None else address.url
        settings: dict[str, Any] = {
            "compression": None,
            "max_size": _MESSAGE_BYTES,
            "ping_interval": None,
            "open_timeout": OPEN_WITHIN_S,
        }
        try:
            connection = await (
                connect(address.socket, **settings)
                if path is None
                else unix_connect(path, address.socket, **settings)
            )
        except InvalidStatus as error:
            body = error.response.body or b""
            raise error_of_response(
                error.response.status_code, body.decode("utf-8", "replace")
            ) from error
        except (OSError, TimeoutError, asyncio.TimeoutError, WebSocketException) as error:
            raise unreachable(url, error) from error
        socket = cls(url, connection)
        await socket._within(socket._challenged, "has sent nothing")
        return socket

    async def attach(self, proof: str, credit: int, deliver: Deliver, show: Deliver) -> None:
        """Says hello; returns once the hub has admitted the agent. Deliveries and deltas come from
        then on.
        """
        self._deliver, self._show = deliver, show
        self.send({"type": "hello", "proof": proof, "credit": credit})
        await self._within(self._attached, "has not answered the hello")

    async def call(self, name: str, params: dict[str, Any]) -> Any:
        if self.closed.done():
            raise self._lost("is not connected")
        self._last_call += 1
        number = self._last_call
        answer = self._calls[number] = asyncio.get_running_loop().create_future()
        self.send({"type": "call", "number": number, "call": name, "params": params})
        try:
            return await asyncio.wait_for(answer, ANSWER_WITHIN_S)
        except asyncio.TimeoutError as error:
            raise self._lost(
                f'has not answered "{name}", though it is connected. It may or may not have acted. '
                "It is safe to send the same request again: the hub applies it once"
            ) from error
        finally:
            self._calls.pop(number, None)

    def send(self, frame: Frame) -> None:
        """Sends a frame that has no answer; after the connection has ended it is dropped."""
        if not self.closed.done():
            self._outgoing.put_nowait(write_frame(frame))

    async def close(self) -> None:
        """Sends what is queued, then closes."""
        if not self.closed.done():
            self._outgoing.put_nowait(None)
            await asyncio.wait(
                {asyncio.ensure_future(asyncio.shield(self.closed))}, timeout=_CLOSE_WITHIN_S
            )
        self._end(None)
        await self._tasks.cancel()
        await self._connection.close()

    async def _within(self, answer: asyncio.Future[None], silence: str) -> None:
        try:
            await asyncio.wait_for(asyncio.shield(answer), OPEN_WITHIN_S)
        except asyncio.TimeoutError:
            error = self._lost(f"{silence} in {OPEN_WITHIN_S:g} s")
            self._cut(error)
            raise error from None

    async def _read(self) -> None:
        try:
            async for message in self._connection:
                self._has_heard = True
                for frame in read_frames(_text(message), to="agent"):
                    self._take(frame)
            self._cut(self._lost("closed the connection"))
        except WaybillError as error:
            self._cut(self._lost(f"sent a message that breaks the protocol ({error.message})"))
        except (OSError, WebSocketException) as error:
            self._cut(self._lost(f"closed the connection ({error})"))

    async def _write(self) -> None:
        """Sends what is queued in one message, up to the hub's limit."""
        try:
            while True:
                waiting: list[str | None] = [await self._outgoing.get()]
                size = len(waiting[0] or "")
                while (
                    not self._outgoing.empty()
                    and waiting[-1] is not None
                    and size < self._characters // 2
                ):
                    waiting.append(self._outgoing.get_nowait())
                    size += len(waiting[-1] or "") + 1
                frames = [each for each in waiting if each is not None]
                if size + 2 <= self._characters and len(frames) > 1:
                    frames = ["[" + ",".join(frames) + "]"]
                for frame in frames:
                    self._has_sent = True
                    await self._connection.send(frame)
                if waiting[-1] is None:
                    return self._end(None)
        except (OSError, WebSocketException) as error:
            self._cut(self._lost(f"does not take anything any more ({error})"))

    def _take(self, frame: Frame) -> None:
        kind = frame["type"]
        if kind == "delivery":
            self._deliver(frame["delivery"])
        elif kind == "delta":
            self._show(frame)
        elif kind == "reply":
            self._replied(frame)
        elif kind == "ping":
            self.send({"type": "pong"})
        elif kind == "challenge" and self._challenged.done():
            self._cut(self._lost("has sent a second challenge"))
        elif kind == "challenge":
            self.hub, self.domain = frame["hub"], frame["domain"]
            self.nonce = frame["nonce"]
            self._characters = frame["limits"]["message_characters"]
            _settle(self._challenged)
        elif kind == "attached" and not self._attached.done():
            _settle(self._attached)
            self._tasks.start(self._ping(min(frame["ping_ms"] / 1000, _PING_AT_LEAST_EVERY_S)))
        elif kind == "closed":
            self._cut(read_problem(frame["problem"]))

    def _replied(self, frame: Frame) -> None:
        for number in [frame["number"], *frame.get("also", [])]:
            answer = self._calls.pop(number, None)
            # An answer that comes too late is dropped.
            if answer is None or answer.done():
                continue
            if "problem" in frame:
                answer.set_exception(read_problem(frame["problem"]))
            else:
                answer.set_result(frame["value"])

    async def _ping(self, every_s: float) -> None:
        """A dead connection looks like an idle one: only an answer tells them apart."""
        silences = 0
        while True:
            await asyncio.sleep(every_s)
            silences = 0 if self._has_heard else silences + 1
            if silences > _SILENCES_AT_MOST:
                return self._cut(self._lost("has not answered two pings"))
            if not self._has_sent or not self._has_heard:
                self.send({"type": "ping"})
            self._has_sent = self._has_heard = False

    def _cut(self, reason: WaybillError) -> None:
        self._end(reason)
        self._connection.transport.abort()

    def _end(self, reason: WaybillError | None) -> None:
        if self.closed.done():
            return
        self.closed.set_result(reason)
        error = reason or self._lost("is not connected any more: it was closed here")
        for each in (self._challenged, self._attached):
            _settle(each, error)
        # Whether the call had an effect is unknown, for whatever reason the connection ended: it
        # may be retried.
        unknown = (
            error if error.status == 503 else self._lost(f"ended the connection: {error.message}")
        )
        for answer in self._calls.values():
            _settle(answer, unknown)

    def _lost(self, what: str) -> WaybillError:
        return WaybillError(503, f"The hub at {self._url} {what}.")


def _text(message: str | bytes) -> str:
    if isinstance(message, str):
        return message
    raise WaybillError(400, "a message that is not text")


def _settle(future: asyncio.Future[Any], error: WaybillError | None = None) -> None:
    if future.done():
        return
    if error is None:
        future.set_result(None)
    else:
        future.set_exception(error)
