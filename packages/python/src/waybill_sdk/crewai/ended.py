"""The outcome of a run as the promised output."""

from __future__ import annotations

import json
from typing import Any

from pydantic import BaseModel

from ..adapter.words import Message, output_of, takes_text, text_message, words_of
from ..protocol.error import WaybillError
from ..protocol.schema import compile_schema
from ..serving.outcome import Finished

_NAME_LENGTH = 256


def finished(ended: Any, output_schema: Any) -> Finished:
    messages = [
        text_message("assistant", each.raw, str(each.agent).strip()[:_NAME_LENGTH] or "agent")
        for each in getattr(ended, "tasks_output", [])
        if each.raw
    ]
    structured = _structured(ended)
    if structured is None or takes_text(output_schema):
        return Finished(output_of(words_ended(ended), output_schema), messages)
    issues = compile_schema(output_schema).check(structured)
    if issues:
        raise WaybillError(
            520, f"The output does not fit its schema: {issues[0].message}.", at=issues[0].at
        )
    return Finished(structured, messages)


def said_in(result: Finished) -> list[Message]:
    """What a run has said, as turns of the conversation: its messages, or its output as the only
    one.
    """
    if result.messages or result.output is None:
        return result.messages or []
    return [text_message("assistant", words_of(result.output))]


def words_ended(ended: Any) -> str:
    """The outputs of crews and of tasks have their text as `raw`; a flow returns what its method
    returns.
    """
    if ended is None:
        return ""
    if hasattr(ended, "raw"):
        return str(ended.raw)
    if isinstance(ended, BaseModel):
        return ended.model_dump_json()
    return ended if isinstance(ended, str) else json.dumps(ended, ensure_ascii=False, default=str)


def _structured(ended: Any) -> Any:
    """An output that is not text already: a model, JSON of a task, or a value that a flow returns."""
    if hasattr(ended, "raw"):
        if ended.pydantic is not None:
            return ended.pydantic.model_dump(mode="json")
        return ended.json_dict
    if isinstance(ended, BaseModel):
        return ended.model_dump(mode="json")
    return None if isinstance(ended, str) else ended
