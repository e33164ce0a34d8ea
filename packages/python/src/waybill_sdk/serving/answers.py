"""Answers by question, and the waits for them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from ..protocol.envelope import VerifiedEnvelope
from ..protocol.error import WaybillError


class Answers:
    def __init__(self) -> None:
        self._known: dict[str, Any] = {}
        self._waiting: dict[str, asyncio.Future[Any]] = {}
        self._ended: WaybillError | None = None

    @property
    def known(self) -> Mapping[str, Any]:
        return self._known

    @property
    def are_waited_for(self) -> bool:
        return len(self._waiting) > 0

    def take(self, verified: VerifiedEnvelope, delegator: str, handoff_id: str) -> None:
        """Accepts only the delegator's answers, and only the first to each question."""
        envelope = verified.envelope
        if (
            envelope["kind"] != "answer"
            or envelope["from"] != delegator
            or envelope["handoff_id"] != handoff_id
        ):
            return
        question = envelope["body"]["question_id"]
        if question in self._known:
            return
        self._known[question] = envelope["body"]["answer"]
        waiting = self._waiting.pop(question, None)
        if waiting is not None and not waiting.done():
            waiting.set_result(self._known[question])

    async def wait(self, question: str) -> Any:
        if question in self._known:
            return self._known[question]
        if self._ended is not None:
            raise self._ended
        if question not in self._waiting:
            self._waiting[question] = asyncio.get_running_loop().create_future()
        return await asyncio.shield(self._waiting[question])

    def end(self, reason: WaybillError) -> None:
        self._ended = reason
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_exception(reason)
                waiting.exception()
        self._waiting.clear()
