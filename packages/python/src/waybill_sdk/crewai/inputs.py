"""What is asked, as the inputs of a crew or a flow."""

from __future__ import annotations

from typing import Any

from ..adapter.words import form_of, spoken, words_of
from ..protocol.error import WaybillError
from ..serving.work import Work

WORDS = frozenset(("instruction", "expected_output", "history"))
"""The inputs that every run has, whatever its schema."""


def inputs_of(work: Work, output_schema: Any) -> dict[str, Any]:
    body = work.body
    brief, messages, given = body.get("brief", {}), body.get("messages", []), body.get("input")
    # Without other words the last turn is the task, and what comes before it is what led there.
    is_asked = bool(brief) or given is not None
    if not is_asked and not messages:
        raise WaybillError(
            422, "The handoff asks for nothing: it has no input, no brief and no messages."
        )
    asked = [brief.get("instruction")]
    if not is_asked:
        asked.append(spoken(messages[-1]))
    if given is not None:
        asked.append(words_of(given))
    before = messages if is_asked else messages[:-1]
    expected = [brief.get("expected_output"), form_of(output_schema)]
    words = {
        "instruction": "\n\n".join(each for each in asked if each),
        "expected_output": "\n\n".join(each for each in expected if each),
        "history": "\n".join(
            f"{each.get('name') or each['role']}: {spoken(each)}" for each in before
        ),
    }
    return {**words, **(given if isinstance(given, dict) else {})}
