"""Messages of AgentChat as messages of a handoff, and back."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from autogen_agentchat.messages import (
    BaseAgentEvent,
    BaseChatMessage,
    BaseTextChatMessage,
    MultiModalMessage,
    StructuredMessage,
    TextMessage,
)
from autogen_core import Image

from ..adapter.files import unloaded
from ..adapter.host_parts import assert_readable
from ..adapter.media import data_uri_of, file_in_words, media_from, media_in, unshowable
from ..adapter.speech import message_text
from ..adapter.words import Message

# Where the message of a remote agent names its handoff.
HANDOFF_ID = "waybill_handoff_id"
_SOURCE_LENGTH = 256
# A message that AgentChat can't represent is kept whole in the metadata of the one that stands for
# it.
_WHOLE = "waybill_message"


def to_wire(message: BaseChatMessage, own: str | None = None) -> Message:
    """`own` is the side of the conversation whose turns are the assistant's."""
    if _WHOLE in message.metadata:
        whole: Message = json.loads(message.metadata[_WHOLE])
        return whole
    role = "assistant" if own is None or message.source == own else "user"
    if message.source == "user":
        role = "user"
    parts: list[dict[str, Any]]
    if isinstance(message, MultiModalMessage):
        parts = [_part(each) for each in message.content]
    else:
        # The text about a remote agent's words is for the models of this team.
        is_text = isinstance(message, BaseTextChatMessage)
        words = message.to_text() if is_text else message.to_model_text()
        parts = [{"type": "text", "text": words}]
        if isinstance(message, StructuredMessage):
            parts.append({"type": "data", "data": message.content.model_dump(mode="json")})
    return {"role": role, "name": message.source[:_SOURCE_LENGTH] or "agent", "content": parts}


def _part(content: str | Image) -> dict[str, Any]:
    if isinstance(content, str):
        return {"type": "text", "text": content}
    return media_from("image", content.data_uri)


def from_wire(messages: Iterable[Message], user: str = "user") -> list[BaseChatMessage]:
    """Every turn as its speaker's, where `user` speaks users' turns without a name. Media that
    can't be shown as an image are described in words.
    """
    made: list[BaseChatMessage] = []
    for message in messages:
        role = message["role"]
        source = message.get("name") or (user if role == "user" else role)
        whole = _whole_of(message, source)
        images = [_image_of(each) for each in media_in(message) if _is_inline_image(each)]
        if images:
            content: list[str | Image] = [*images]
            words = message_text(message)
            parts = [words, *content] if words else content
            made.append(MultiModalMessage(source=source, content=parts, metadata=whole))
        else:
            text = TextMessage(source=source, content=message_text(message), metadata=whole)
            made.append(text)
    return made


def _whole_of(message: Message, source: str) -> dict[str, str]:
    is_plain = message.keys() == {"role", "content"} and message["role"] == source == "user"
    is_text = [[*each] for each in message["content"]] == [["type", "text"]]
    return {} if is_plain and is_text else {_WHOLE: json.dumps(message)}


def with_files(messages: Sequence[Message], artifacts: Iterable[dict[str, Any]]) -> list[Message]:
    """Adds files to the last turn of a user: images are shown, and other files, which AgentChat
    does not support, are described by name and type.
    """
    parts = [_file_part(each) for each in artifacts]
    shown = [*messages]
    if not parts:
        return shown
    last = max((at for at, each in enumerate(shown) if each["role"] == "user"), default=None)
    if last is None:
        return [{"role": "user", "content": parts}, *shown]
    shown[last] = {**shown[last], "content": [*shown[last]["content"], *parts]}
    return shown


def _file_part(artifact: dict[str, Any]) -> dict[str, Any]:
    is_image = artifact["media_type"].startswith("image/")
    if is_image and "size" in artifact:
        raise unloaded(artifact)
    if is_image and "data" in artifact:
        return {"type": "image", **{key: artifact[key] for key in ("name", "media_type", "data")}}
    return {"type": "text", "text": file_in_words(artifact)}


def assert_showable(messages: Iterable[Message]) -> None:
    """Parts that AgentChat's messages can't hold are refused before a model is asked."""
    for message in messages:
        for part in message["content"]:
            assert_readable(part)
        for part in media_in(message):
            if not _is_inline_image(part):
                raise unshowable(
                    part,
                    "AgentChat has a place for images that are carried along, and for nothing else",
                )
            try:
                _image_of(part)
            except (OSError, ValueError) as error:
                raise unshowable(part, f"AgentChat can't read it ({error})") from error


def _image_of(part: dict[str, Any]) -> Image:
    return Image.from_uri(data_uri_of(part))


def _is_inline_image(part: dict[str, Any]) -> bool:
    return part["type"] == "image" and "data" in part


def said_in(messages: Sequence[BaseAgentEvent | BaseChatMessage]) -> list[BaseChatMessage]:
    return [each for each in messages if isinstance(each, BaseChatMessage)]
