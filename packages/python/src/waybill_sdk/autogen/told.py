"""Messages with one content for code and another for models, which get another agent's data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from autogen_agentchat.messages import (
    BaseChatMessage,
    HandoffMessage,
    MultiModalMessage,
    TextMessage,
)
from autogen_core.models import UserMessage
from pydantic import PrivateAttr, create_model


class _Told(BaseChatMessage):
    _told: str = PrivateAttr()

    def to_model_text(self) -> str:
        return self._told

    def to_model_message(self) -> UserMessage:
        return UserMessage(content=self._told, source=self.source)

    def dump(self) -> Mapping[str, Any]:
        """A saved team makes a plain message of it again, with the content for models."""
        content = [self._told] if isinstance(self, MultiModalMessage) else self._told
        return {**super().dump(), "content": content}


# A team accepts the messages that it knows, by the names of their classes.
_KINDS: Mapping[type[BaseChatMessage], Any] = {
    kind: create_model(kind.__name__, __base__=(_Told, kind))
    for kind in (TextMessage, HandoffMessage, MultiModalMessage)
}


def told_to_models(message: BaseChatMessage, told: str) -> BaseChatMessage:
    """The same message, of which models read the marked content instead."""
    made: Any = _KINDS[type(message)](**dict(message))
    made._told = told
    return made  # type: ignore[no-any-return]
