"""Messages of a handoff as events of AG2's history, and back."""

from __future__ import annotations

import json
import mimetypes
from collections.abc import Iterable, Sequence
from typing import Any

from ag2.config import ModelConfig
from ag2.config.input_acceptance import accepts_input
from ag2.events import (
    BaseEvent,
    BinaryInput,
    BinaryType,
    DataInput,
    Field,
    FileIdInput,
    Input,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TextInput,
    ToolCallEvent,
    ToolCallsEvent,
    ToolResult,
    ToolResultEvent,
    ToolResultsEvent,
    UrlInput,
    is_conversational,
)

# As AG2 keeps its own streams in Redis.
from ag2.events._serialization import deserialize_value, serialize_value

from ..adapter.host_parts import assert_readable
from ..adapter.media import artifact_of, media_in, unshowable
from ..adapter.speaker import speaker_name
from ..adapter.words import Message, text_message, text_of
from ..protocol.encoding import from_base64url, to_base64url

Part = dict[str, Any]

_KINDS = {"image": BinaryType.IMAGE, "audio": BinaryType.AUDIO, "file": BinaryType.DOCUMENT}
_TYPES = {BinaryType.IMAGE: "image", BinaryType.AUDIO: "audio"}


# An event has no name and no members of other frameworks: the original message stays with it, so
# that it is handed on unchanged.
class ReceivedRequest(ModelRequest):
    """A user's turn from a handoff."""

    messages: list[Message] = Field(default_factory=list, compare=False)


class ReceivedResponse(ModelResponse):
    """A model's turn from a handoff."""

    messages: list[Message] = Field(default_factory=list, compare=False)


class ReceivedResults(ToolResultsEvent):
    """Answers of tools from a handoff."""

    messages: list[Message] = Field(default_factory=list, compare=False)


def events_of(messages: Iterable[Message], config: ModelConfig | None = None) -> list[BaseEvent]:
    """A history in the form of AG2. Speakers are named in the text. Parts that the mapper of
    `config` does not support are refused before a model is asked.
    """
    events: list[BaseEvent] = []
    for message in messages:
        if message["role"] == "tool":
            results = [_result_of(message, each) for each in _of_type(message, "tool_result")]
            last = events[-1] if events else None
            if isinstance(last, ReceivedResults):
                last.results += results
                last.messages.append(message)
            else:
                events.append(ReceivedResults(results, messages=[message]))
        elif message["role"] == "assistant":
            events += _response_of(message)
        else:
            parts = _inputs_of(message, config)
            if parts:
                events.append(ReceivedRequest(parts, messages=[message]))
    return events


def _response_of(message: Message) -> list[BaseEvent]:
    text = text_of(message)
    calls = [
        ToolCallEvent(each["name"], id=each["id"], arguments=json.dumps(each.get("arguments", {})))
        for each in _of_type(message, "tool_call")
    ]
    if not text and not calls:
        return []
    said = ModelMessage(_speaker(message) + text) if text else None
    return [ReceivedResponse(said, tool_calls=ToolCallsEvent(calls), messages=[message])]


def _result_of(message: Message, part: Part) -> ToolResultEvent:
    name = message.get("name") or "tool"
    output = "" if part.get("output") is None else part["output"]
    return ToolResultEvent(parent_id=part["id"], name=name, result=ToolResult(output))


def _inputs_of(message: Message, config: ModelConfig | None) -> list[Input]:
    speaker = _speaker(message)
    media = media_in(message)
    inputs: list[Input] = []
    for part in message["content"]:
        if part in media:
            inputs.append(_media_input(part, config))
        elif part.get("text"):
            inputs.append(TextInput(part["text"]))
        elif part["type"] == "data":
            inputs.append(DataInput(part.get("data")))
        else:
            assert_readable(part)
    if not speaker or not inputs:
        return inputs
    first, *others = inputs
    if isinstance(first, TextInput):
        return [TextInput(speaker + first.content), *others]
    return [TextInput(speaker.rstrip()), *inputs]


def _speaker(message: Message) -> str:
    return f"{speaker_name(message['name'])}: " if message.get("name") else ""


def _media_input(part: Part, config: ModelConfig | None) -> Input:
    kind = _KINDS[part["type"]]
    named = {"filename": part["name"]} if "name" in part else {}
    made: Input = (
        BinaryInput(
            from_base64url(part["data"]),
            media_type=part["media_type"],
            kind=kind,
            vendor_metadata=named,
        )
        if "data" in part
        else UrlInput(part["url"], kind=kind)
    )
    if not accepts_input(config, "user", made):
        raise unshowable(part, f"{type(config).__name__} of AG2 has no place for it")
    return made


def messages_of(events: Iterable[BaseEvent], name: str) -> list[Message]:
    """The content of a history, with the agent's own turns under its name. A tool call without a
    result, such as the one inside which this runs, is left out.
    """
    history = list(events)
    answered = {
        each.parent_id
        for event in history
        if isinstance(event, ToolResultsEvent)
        for each in event.results
    }
    messages: list[Message] = []
    for event in history:
        # With `|` their metaclass makes conditions for subscribers.
        if isinstance(event, (ReceivedRequest, ReceivedResponse, ReceivedResults)):
            messages += event.messages
        elif isinstance(event, ModelRequest):
            content = [_part_of(each) for each in event.parts]
            messages.append({"role": "user", "content": content})
        elif isinstance(event, ModelResponse):
            messages += _said_in(event, name, answered)
        elif isinstance(event, ToolResultsEvent):
            messages += [_answer_of(each) for each in event.results]
    return messages


def _said_in(event: ModelResponse, name: str, answered: set[str]) -> list[Message]:
    content: list[Part] = [{"type": "text", "text": event.content}] if event.content else []
    content += [
        {
            "type": "tool_call",
            "id": each.id,
            "name": each.name,
            "arguments": each.serialized_arguments,
        }
        for each in event.tool_calls.calls
        if each.id in answered
    ]
    return [{"role": "assistant", "name": name, "content": content}] if content else []


def _answer_of(event: ToolResultEvent) -> Message:
    parts = event.result.parts
    output = _output_of(parts[0]) if len(parts) == 1 else [_output_of(each) for each in parts]
    result = {"type": "tool_result", "id": event.parent_id, "output": output}
    return {"role": "tool", "name": event.name, "content": [result]}


def _output_of(part: Input) -> Any:
    if isinstance(part, TextInput):
        return part.content
    return part.data if isinstance(part, DataInput) else _part_of(part)


def _part_of(part: Input) -> Part:
    if isinstance(part, TextInput):
        return {"type": "text", "text": part.content}
    if isinstance(part, DataInput):
        return {"type": "data", "data": part.data}
    if isinstance(part, BinaryInput):
        filename = part.vendor_metadata.get("filename")
        return {
            "type": _TYPES.get(part.kind, "file"),
            "media_type": str(part.media_type),
            "data": to_base64url(part.data),
            **({} if filename is None else {"name": str(filename)}),
        }
    if isinstance(part, UrlInput):
        kind = _TYPES.get(part.kind, "file")
        media_type = mimetypes.guess_type(part.url)[0] or "application/octet-stream"
        return {"type": kind, "media_type": media_type, "url": part.url}
    # Of a file that only the provider has there is nothing but its name.
    known = part.filename or part.file_id if isinstance(part, FileIdInput) else repr(part)
    return {"type": "text", "text": f"[file {known}]"}


def files_of(events: Iterable[BaseEvent]) -> list[Part]:
    """The files that users have shown in a history, as artifacts."""
    shown = [
        part
        for event in events
        if isinstance(event, ModelRequest)
        for part in event.parts
        if isinstance(part, BinaryInput)
    ]
    return [
        artifact_of(
            str(each.vendor_metadata.get("filename") or f"file-{number}"),
            str(each.media_type),
            each.data,
        )
        for number, each in enumerate(shown, 1)
    ]


def saved(events: Iterable[BaseEvent]) -> list[Any]:
    """A history as JSON, without what models are never shown."""
    return [serialize_value(each) for each in events if is_conversational(each)]


def restored(kept: Iterable[Any]) -> list[BaseEvent]:
    return [deserialize_value(each) for each in kept]


def _of_type(message: Message, kind: str) -> Sequence[Part]:
    return [each for each in message["content"] if each["type"] == kind]


def user_turn(text: str) -> ModelRequest:
    return ReceivedRequest([TextInput(text)], messages=[text_message("user", text)])
