"""The task that a conversation states. By the same rules, and with the same vectors, as in
TypeScript.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .speech import compact, message_text, message_text_with_media, pairs_in
from .words import Message, text_of, words_of

_TRANSFER_TOOL = re.compile(r"(?:transfer|hand_?off|delegate)(?:_back)?_to_", re.IGNORECASE)
"""The names that frameworks give to the tools by which one agent hands over to another."""

_TRANSFER_WORDS = (
    # LangGraph's supervisor and swarm.
    re.compile(r"successfully transferred (?:back )?to \S+", re.IGNORECASE),
    re.compile(r"transferring back to \S+", re.IGNORECASE),
    # The OpenAI Agents SDK.
    re.compile(r'\{\s*"assistant"\s*:\s*"[^"]*"\s*\}'),
    # A Swarm of AutoGen.
    re.compile(r"transferred to (\S+), adopting the role of \1 immediately\.", re.IGNORECASE),
)
"""The text that frameworks themselves write when one agent hands over to another."""


@dataclass(frozen=True)
class Stated:
    task: str
    """In words, as a person or a planner stated it; empty if nobody has said anything."""
    before: list[Message]
    since: list[Message]


@dataclass(frozen=True)
class _Turn:
    """A turn without its transfers."""

    said: Message | None
    is_transfer: bool
    plan: list[str]

    @property
    def words(self) -> str:
        return "" if self.said is None else message_text(self.said)


def stated_in(messages: Sequence[Message]) -> Stated:
    """Finds the last turn of a user, together with what a planner says when it hands over, in the
    turn that calls the transfer tool or in that call's arguments. The transfer itself is neither a
    task nor speech.
    """
    turns = _turns_of(messages)
    spoke = [index for index, turn in enumerate(turns) if turn.words]
    asked = [index for index in spoke if (turns[index].said or {}).get("role") == "user"]
    if not spoke:
        return Stated("", [], [])
    at = (asked or spoke)[-1]
    later = turns[at + 1 :]
    task = [message_text_with_media(turns[at].said or {"content": []})]
    # Everything after a transfer was said by its target: the plan was meant for that one.
    last = next((index for index in reversed(range(len(later))) if _is_of_one(later[index])), None)
    if last is not None and later[last].plan:
        task += later[last].plan
        later[last] = _without_text(later[last])
    return Stated("\n\n".join(task), _said(turns[:at]), _said(later))


def without_transfers(messages: Sequence[Message]) -> list[Message]:
    """A conversation without the transfers."""
    return _said(_turns_of(messages))


def _said(turns: Sequence[_Turn]) -> list[Message]:
    return [each.said for each in turns if each.said is not None]


def _is_of_one(turn: _Turn) -> bool:
    return turn.is_transfer or (turn.said is not None and turn.said["role"] != "tool")


def _turns_of(messages: Sequence[Message]) -> list[_Turn]:
    transfers = {
        id(part)
        for call, result in pairs_in(messages)
        if _TRANSFER_TOOL.match(str(call.get("name")))
        or _says_transfer(words_of(result.get("output") or ""))
        for part in (call, result)
    }
    return [_turn_of(each, transfers) for each in messages]


def _turn_of(message: Message, transfers: set[int]) -> _Turn:
    content = message["content"]
    left = [
        part
        for part in content
        if id(part) not in transfers
        and not (part["type"] == "text" and _says_transfer(part.get("text") or ""))
    ]
    rest = {**message, "content": left}
    calls = [part for part in content if id(part) in transfers and part["type"] == "tool_call"]
    plan = [text_of(rest)] if calls and text_of(rest) else []
    plan += [words for call in calls for words in _words_in(call.get("arguments"))]
    return _Turn(rest if left or not content else None, bool(calls), plan)


def _without_text(turn: _Turn) -> _Turn:
    message = turn.said or {"content": []}
    content = [part for part in message["content"] if part["type"] != "text"]
    said = {**message, "content": content} if content else None
    return _Turn(said, turn.is_transfer, turn.plan)


def _words_in(given: Any) -> list[str]:
    """The only text among the arguments, or all arguments as JSON."""
    values = list(given.values()) if isinstance(given, dict) else [given]
    if not given or not values:
        return []
    return [values[0] if len(values) == 1 and isinstance(values[0], str) else compact(given)]


def _says_transfer(text: str) -> bool:
    return any(pattern.fullmatch(text.strip()) for pattern in _TRANSFER_WORDS)
