"""What a recipient signs about one attempt. Each call returns once the hub has the envelope."""

from __future__ import annotations

from typing import Any

from ..context import AFTER_DEADLINE_S, Context
from ..protocol.envelope import Envelope, create_reply, present
from ..protocol.error import WaybillError
from .outcome import failure_of


class Replies:
    def __init__(
        self, context: Context, handoff: Envelope, *, attempt: int, re: str, deadline: float
    ) -> None:
        self._context = context
        self._handoff = handoff
        self._about: dict[str, Any] = {"attempt": attempt, "re": re}
        self._until = deadline + AFTER_DEADLINE_S

    async def say(self, kind: str, body: dict[str, Any]) -> None:
        saying = self._context.say(self._made(kind, body), self._until)
        await self._context.outgoing.send(kind, self._handoff["handoff_id"], saying)

    async def result(self, body: dict[str, Any]) -> None:
        """Sends a result. One that can't be signed or sent, because of its size or its values,
        becomes a failure.
        """
        saying = self._result(body)
        await self._context.outgoing.send("result", self._handoff["handoff_id"], saying)

    async def _result(self, body: dict[str, Any]) -> None:
        effects, usage = body.get("effects", "possible"), present(usage=body.get("usage"))
        try:
            given = body.get("artifacts") or []
            if self._context.artifacts.are_to_be_sent(given):
                named = await self._context.artifacts.send(given, self._until)
                body = {**body, "artifacts": named}
            text = await self._context.signer.sign(self._made("result", body))
        except WaybillError as error:
            return await self.say("result", {**failure_of(error, effects), **usage})
        try:
            await self._context.send(text, self._until)
        except WaybillError as error:
            # The hub's limits may be lower than the agent's.
            if error.status != 413:
                raise
            await self.say("result", {**failure_of(error, effects), **usage})

    def _made(self, kind: str, body: dict[str, Any]) -> Envelope:
        return create_reply(self._handoff, kind, self._context.id, body, **self._about)
