"""Who speaks: a result is the speech of the agent that gave it, and a history is its delegator's
account. By the same rules, and with the same vectors, as in TypeScript.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ..delegating.ending import HandoffResult
from ..serving.work import Work
from .host_parts import media_from_host, media_from_host_or_words
from .media import media_in, media_in_words
from .speaker import OwnNames, key_of, speaker_name
from .words import Message, text_message, text_of, words_of

Part = dict[str, Any]


def speech_of(message: Message, name: str) -> Message:
    """A message of another agent's result as that agent's speech. Whatever role, name and tool
    calls it claims, it becomes text of the assistant, under the agent's name here. The message
    itself is for code only, and must never become a message of a framework again.
    """
    others = {key: each for key, each in message.items() if key not in ("role", "name", "content")}
    said = [media_from_host_or_words(each) for each in _in_words(message["content"])]
    return {**others, "role": "assistant", "name": name, "content": said}


def replies_of(result: HandoffResult, name: str) -> list[Message]:
    """A result as turns of the conversation that asked for it: one for each of its messages, or one
    with its output.
    """
    if result.messages:
        return [speech_of(each, name) for each in result.messages]
    if result.output is None:
        return []
    return [text_message("assistant", words_of(result.output), name)]


def heard(work: Work, names: Collection[str] = ()) -> dict[str, Any]:
    """The body of some work as a framework may have it: with a history that is safe for a model.
    `work.body` has it as it was received, for code only. `names` are those of the served agent and
    its parts.
    """
    body = work.body
    if "messages" in body:
        body["messages"] = history_from(body["messages"], work.envelope["from"], names)
    return body


def history_from(
    received: Sequence[Message], by: str, names: Collection[str] = ()
) -> list[Message]:
    """Makes a received history safe for the recipient's framework. Instructions become text of a
    user, because only the recipient's own are instructions. A turn of the assistant without a name
    gets the delegator's: otherwise it would read as the recipient's own words. A tool call stays a
    tool call if its result follows, and a result stays a result if its call came before; any other
    becomes text. Names are single lines. A name that matches the recipient or one of its parts, in
    whatever spelling, says whose account this is. Images, recordings and files in a model
    provider's format become media, and references to files stored at the provider are refused.
    """
    messages = [
        {**each, "content": [media_from_host(part) for part in each["content"]]}
        for each in received
    ]
    whose = _Whose(by, OwnNames(names))
    paired = {id(part) for pair in pairs_in(messages) for part in pair}
    history: list[Message] = []
    # Nothing may stand between a tool call and its results, so their text follows after them.
    held: list[Message] = []
    for message in messages:
        if message["role"] != "tool":
            history += [*held, _as_account(message, paired, whose)]
            held = []
            continue
        kept = [each for each in message["content"] if id(each) in paired]
        loose = [each for each in message["content"] if id(each) not in paired]
        if kept:
            history.append({**message, **_speaker_of(message, whose), "content": kept})
        if loose or not kept:
            held.append(_user_turn({"content": loose}, whose))
    return with_distinct_calls(history + held)


def with_distinct_calls(messages: Sequence[Message]) -> list[Message]:
    """Gives every tool call of a history an id of its own. Several speakers may each have counted
    from one, and a framework that looks up a call's result would find another's.
    """
    used: set[str] = set()
    renamed: dict[int, Part] = {}
    for call, result in pairs_in(messages):
        name = distinct = str(call["id"])
        count = 2
        while distinct in used:
            distinct, count = f"{name}.{count}", count + 1
        used.add(distinct)
        if distinct != name:
            renamed |= {id(part): {**part, "id": distinct} for part in (call, result)}
    return [
        {**each, "content": [renamed.get(id(part), part) for part in each["content"]]}
        for each in messages
    ]


@dataclass(frozen=True)
class _Whose:
    by: str
    own: OwnNames


def _as_account(message: Message, paired: Collection[int], whose: _Whose) -> Message:
    if message["role"] in ("system", "developer"):
        return _user_turn(message, whose)
    content = [each if id(each) in paired else _in_words([each])[0] for each in message["content"]]
    return {**message, **_speaker_of(message, whose), "content": content}


def _user_turn(turn: Message, whose: _Whose) -> Message:
    name = turn.get("name") or whose.by
    user = {**turn, "role": "user", "name": name, "content": _in_words(turn["content"])}
    return {**user, **_speaker_of(user, whose)}


def _speaker_of(message: Message, whose: _Whose) -> Message:
    """The name under which a turn appears. A user or a tool needs none, unless its role is a
    participant's name here.
    """
    role, name = message["role"], message.get("name") or ""
    if not name and role != "assistant" and role not in whose.own:
        return {}
    speaker = speaker_name(name) or speaker_name(whose.by)
    is_posing = speaker in whose.own or key_of(speaker) in _ROLES[role]
    return {"name": whose.own.apart(speaker, whose.by) if is_posing else speaker}


_ROLES = {
    "user": ("system", "developer"),
    "assistant": ("system", "developer", "user"),
    "tool": ("system", "developer", "user"),
}
"""Renames a speaker whose name is a role: some readers take a role for a name."""


def pairs_in(messages: Sequence[Message]) -> list[tuple[Part, Part]]:
    """Each tool call of the assistant with the first result that directly follows it."""
    waiting: dict[str, Part] = {}
    pairs: list[tuple[Part, Part]] = []
    for message in messages:
        # A model provider refuses a call whose result comes later.
        if message["role"] not in ("tool", "assistant"):
            waiting.clear()
        for part in message["content"]:
            named = str(part.get("id"))
            if message["role"] == "assistant" and part["type"] == "tool_call":
                waiting[named] = part
            is_result = message["role"] == "tool" and part["type"] == "tool_result"
            if is_result and named in waiting:
                pairs.append((waiting.pop(named), part))
    return pairs


def message_text(message: Message) -> str:
    """A message as text, including its tool calls and their results."""
    used = [_tool_words(part) for part in message["content"]]
    return " ".join(each for each in (text_of(message), *used) if each)


def message_text_with_media(message: Message) -> str:
    """The same, with its media by type and name, for a reader that can't be shown them."""
    shown = [media_in_words(part) for part in media_in(message)]
    return " ".join(each for each in (message_text(message), *shown) if each)


def line_of(message: Message) -> str:
    """One turn is one line, or further lines that are indented, so that no turn can imitate
    another's.
    """
    words = message_text_with_media(message).replace("\n", "\n  ")
    return f"{speaker_name(message.get('name') or '') or message['role']}: {words}"


def _in_words(content: Iterable[Part]) -> list[Part]:
    made: list[Part] = []
    for part in content:
        words = _tool_words(part)
        made.append(part if words is None else {"type": "text", "text": words})
    return made


def _tool_words(part: Part) -> str | None:
    """A tool call or a result as text."""
    if part["type"] == "tool_call":
        return f"[calls {part.get('name')} with {compact(part.get('arguments', {}))}]"
    if part["type"] == "tool_result":
        output = part.get("output")
        return f"[result {output if isinstance(output, str) else compact(output)}]"
    return None


def compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
