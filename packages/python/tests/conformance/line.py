"""Requests and replies in both directions, one JSON object for each line, with the suite in
TypeScript."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable
from typing import Any

from waybill_sdk import WaybillError

Answering = Callable[[str, dict[str, Any]], Awaitable[Any]]


class Interrupted(Exception):
    """There is no answer: the framework's own interrupt was raised."""


class Stopped(Exception):
    """A run that stops itself. A cancellation could not be told apart from one by the suite."""


class Fault(Exception):
    """An error of the suite, raised as the error that it stands for."""


class RequestFault(Fault):
    """An error of a request that the run has made, with its HTTP status."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status_code = status


class Line:
    def __init__(self, answering: Answering) -> None:
        self._answering = answering
        self._asked: dict[int, asyncio.Future[Any]] = {}
        self._answers: dict[int, asyncio.Task[None]] = {}
        self._count = 0
        # The framework's own output is not meant for the suite.
        self._out = os.fdopen(os.dup(sys.stdout.fileno()), "w")
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())

    async def ask(self, ask: str, **given: Any) -> Any:
        self._count += 1
        asked_id, asked = self._count, asyncio.get_running_loop().create_future()
        self._asked[asked_id] = asked
        self._say(ask=ask, id=asked_id, **{"with": given})
        try:
            return await asked
        except asyncio.CancelledError:
            self._say(drop=asked_id)
            raise

    async def run(self) -> None:
        """Until the suite closes the connection."""
        reader = asyncio.StreamReader(limit=2**26)
        protocol = asyncio.StreamReaderProtocol(reader)
        await asyncio.get_running_loop().connect_read_pipe(lambda: protocol, sys.stdin)
        while line := await reader.readline():
            self._take(json.loads(line))

    def _take(self, said: dict[str, Any]) -> None:
        if "drop" in said:
            if said["drop"] in self._answers:
                self._answers[said["drop"]].cancel()
        elif "ask" in said:
            answer = asyncio.ensure_future(self._answer(said))
            self._answers[said["id"]] = answer
            answer.add_done_callback(lambda done: self._answered(said["id"], done))
        else:
            asked = self._asked.pop(said["re"])
            if asked.done():
                return
            if "error" in said:
                asked.set_exception(_raised(said["error"]))
            else:
                asked.set_result(said.get("value"))

    async def _answer(self, said: dict[str, Any]) -> None:
        try:
            self._say(re=said["id"], value=await self._answering(said["ask"], said["with"]))
        except Exception as error:
            self._say(re=said["id"], error=_fault(error))

    def _answered(self, asked: int, answer: asyncio.Task[None]) -> None:
        """A cancelled task may never have started."""
        del self._answers[asked]
        if answer.cancelled():
            self._say(re=asked, error={"name": "AbortError", "message": "It was cancelled."})

    def _say(self, **said: Any) -> None:
        self._out.write(json.dumps(said) + "\n")
        self._out.flush()


def _raised(fault: dict[str, Any]) -> BaseException:
    message, status = fault["message"], fault.get("status")
    if fault["name"] == "Interrupted":
        return Interrupted(message)
    if fault["name"] == "AbortError":
        return Stopped(message)
    if fault.get("is_waybill"):
        return WaybillError(status or 500, message, retryable=fault.get("retryable"))
    error = Fault(message) if status is None else RequestFault(message, status)
    if "cause" in fault:
        error.__cause__ = ConnectionError(fault["cause"])
    return error


def _fault(error: BaseException) -> dict[str, Any]:
    each: BaseException | None = error
    while each is not None:
        if isinstance(each, WaybillError):
            cause = each.cause if each.cause is not None else each.__cause__
            spelled = repr(cause) if isinstance(cause, BaseException) else cause
            return {
                "name": "WaybillError",
                "message": each.message,
                "status": each.status,
                "cause": spelled,
            }
        each = each.__cause__ or each.__context__
    return {"name": type(error).__name__, "message": str(error)}
