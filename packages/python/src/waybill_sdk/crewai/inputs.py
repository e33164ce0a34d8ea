"""The request as the inputs of a crew or a flow."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from ..adapter.speech import heard, line_of
from ..adapter.stated import Stated, stated_in, without_transfers
from ..adapter.words import Message, form_of, words_of
from ..protocol.error import WaybillError
from ..serving.work import Work

WORDS = frozenset(("instruction", "expected_output", "history"))
"""The inputs that every run has, whatever its schema."""


def inputs_of(
    work: Work,
    output_schema: Any,
    names: Collection[str] = (),
    before: Sequence[Message] = (),
    declared: Collection[str] = (),
) -> dict[str, Any]:
    """`before` is what was said in earlier turns of the session. `declared` are the members that
    the capability's schema names: only these may replace the inputs that every run has.
    """
    body = heard(work, names)
    brief, messages, given = body.get("brief", {}), body.get("messages", []), body.get("input")
    is_asked = bool(brief) or given is not None
    # Without a brief or input the task is what the conversation states.
    stated = Stated("", messages, []) if is_asked else stated_in(messages)
    if not is_asked and not stated.task:
        raise WaybillError(
            422,
            "The handoff contains no work: it has no input, no brief and no messages. Give it one of them.",
        )
    asked = [brief.get("instruction"), stated.task]
    if given is not None:
        asked.append(words_of(given))
    # The turn that states the task is in the history too, with its speaker's name.
    history = without_transfers(messages) if stated.before or stated.since else []
    expected = [brief.get("expected_output"), form_of(output_schema)]
    words = {
        "instruction": "\n\n".join(each for each in asked if each),
        "expected_output": "\n\n".join(each for each in expected if each),
        "history": "\n".join(line_of(each) for each in [*before, *history]),
    }
    own = given if isinstance(given, dict) else {}
    return {**own, **words, **{name: each for name, each in own.items() if name in declared}}


def with_history_told(inputs: dict[str, Any]) -> dict[str, Any]:
    """For a crew whose tasks have no place for a history: the earlier turns follow the instruction."""
    if not inputs["history"]:
        return inputs
    instruction = f"{inputs['instruction']}\n\nWhat was said before:\n{inputs['history']}"
    return {**inputs, "instruction": instruction}
