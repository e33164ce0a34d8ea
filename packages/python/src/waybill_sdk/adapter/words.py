"""Work, messages and results as text, for frameworks that use text."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ..delegating.ending import HandoffResult
from ..protocol.error import WaybillError
from ..protocol.schema import compile_schema
from .media import media_in, media_in_words

Message = dict[str, Any]


def words_of(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def text_message(role: str, text: str, name: str | None = None) -> Message:
    message: Message = {"role": role, "content": [{"type": "text", "text": text}]}
    return message if name is None else {**message, "name": name}


def text_of(message: Message) -> str:
    """The text of a message, without parts that only some frameworks can read."""
    return "\n".join(part["text"] for part in message["content"] if part.get("text"))


def asked_of(body: Mapping[str, Any], output_schema: Any = True) -> list[Message]:
    """The work as a conversation: its history unchanged, then the request as a user's turn."""
    brief = body.get("brief", {})
    asked = [brief.get("instruction")]
    if "expected_output" in brief:
        asked.append(f"Expected: {brief['expected_output']}")
    if "input" in body:
        asked.append(words_of(body["input"]))
    asked.append(form_of(output_schema))
    turn = "\n\n".join(each for each in asked if each)
    messages: list[Message] = list(body.get("messages", []))
    if turn:
        messages.append(text_message("user", turn))
    if not messages:
        raise WaybillError(
            422,
            "The handoff contains no work: it has no input, no brief and no messages. Give it one of them.",
        )
    return messages


def takes_text(schema: Any) -> bool:
    """Whether any text is a valid output."""
    if schema is True or schema == {}:
        return True
    return isinstance(schema, dict) and schema.get("type") == "string" and len(schema) == 1


def form_of(schema: Any) -> str | None:
    """The sentence that tells a model the required form of its reply."""
    if takes_text(schema):
        return None
    return f"Reply with JSON alone, by this JSON Schema: {json.dumps(schema, ensure_ascii=False)}"


def output_of(reply: str, schema: Any) -> Any:
    """A reply as the promised output; raises a 520 if it is none."""
    if reply.strip() == "":
        raise WaybillError(
            520,
            "The run ended without any output. An empty success counts as an error: return a reply, or fail.",
        )
    if takes_text(schema):
        return reply
    value = _json_in(reply)
    issues = compile_schema(schema).check(value)
    if issues:
        raise WaybillError(
            520,
            f"The reply does not fit the declared output: {issues[0].message}.",
            at=issues[0].at,
        )
    return value


def _json_in(reply: str) -> Any:
    """The JSON of a reply: all of it, or the first value in it, whatever surrounds it."""
    decoder = json.JSONDecoder()
    for start, character in enumerate(reply):
        if start == 0 or character in "[{":
            try:
                value, _ = decoder.raw_decode(reply, start)
                return value
            except ValueError:
                continue
    raise WaybillError(
        520, f"The reply does not fit the declared output: there is no JSON in {reply[:200]!r}."
    )


def words_of_result(result: HandoffResult) -> str:
    """A result as one text, for a framework whose members answer in text. Media in messages are
    described by type and name; an output that is not text stays JSON.
    """
    output = result.output
    if output is not None and not isinstance(output, str):
        return words_of(output)
    said = [text_of(each) for each in result.messages if each["role"] == "assistant"]
    shown = [media_in_words(part) for each in result.messages for part in media_in(each)]
    return "\n".join([*([each for each in said if each] if output is None else [output]), *shown])
