"""A scripted model for AG2, made from its own test model, which records what it was shown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ag2 import Context
from ag2.config import LLMClient
from ag2.config.openai.mappers import convert_messages
from ag2.events import BaseEvent, ModelResponse
from ag2.testing import TestConfig


class Listening(TestConfig):
    """Every run continues with the script."""

    def __init__(self, *turns: Any) -> None:
        super().__init__(*turns, raise_tool_errors=False)
        self.seen: list[list[Any]] = []
        self._client = super().create()

    def create(self) -> Any:
        return _Listener(self._client, self.seen)


class _Listener(LLMClient):
    def __init__(self, client: LLMClient, seen: list[list[Any]]) -> None:
        self._client = client
        self._seen = seen

    async def __call__(
        self, messages: Sequence[BaseEvent], context: Context, **options: Any
    ) -> ModelResponse:
        shown = convert_messages(context.prompt, list(messages), options["serializer"])
        self._seen.append([(each["role"], each.get("content")) for each in shown][1:])
        return await self._client(messages, context, **options)
