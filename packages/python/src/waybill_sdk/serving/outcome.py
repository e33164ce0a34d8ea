"""What a handler returns, as the body of a result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..artifacts.given import GivenArtifact
from ..protocol.envelope import present
from ..protocol.error import WaybillError
from ..protocol.schema import CompiledSchema

_CAUSES_DEEP = 5
_CAUSE_LENGTH = 2_000
_MESSAGE_LENGTH = 65_536


@dataclass(frozen=True)
class Finished:
    """A result with more than its output."""

    output: Any = None
    messages: list[dict[str, Any]] | None = None
    artifacts: Sequence[GivenArtifact] | None = None
    effects: str | None = None


@dataclass(frozen=True)
class Paused:
    """The attempt ends until everything is answered; the next one has the state."""

    questions: list[dict[str, Any]]
    state: str


def result_of(value: Any, schema: CompiledSchema) -> dict[str, Any]:
    """The body of a success, or of a 520 if the success is empty or not what was promised."""
    finished = value if isinstance(value, Finished) else Finished(value)
    output = finished.output
    is_open = schema.schema is True or schema.schema == {}
    is_blank = output is None or (isinstance(output, str) and output.strip() == "")
    if is_blank and is_open and not finished.messages and not finished.artifacts:
        raise WaybillError(
            520,
            "The handler returned no output. An empty success counts as an error: return the output, or raise an error.",
        )
    if output is not None or not is_open:
        issues = schema.check(output)
        if issues and (output is not None or not (finished.messages or finished.artifacts)):
            raise WaybillError(
                520, f"The output violates its schema: {issues[0].message}.", at=issues[0].at
            )
    body = present(
        status=200,
        messages=finished.messages,
        artifacts=finished.artifacts,
        effects=finished.effects,
    )
    return body if output is None and is_open else {**body, "output": output}


def failure_of(thrown: BaseException, effects: str) -> dict[str, Any]:
    """The body of a failure: the original message and its causes, as far as JSON can represent
    them.
    """
    error = WaybillError.of(thrown)
    status = error.status if error.status >= 400 else 500
    cause = error.cause if error.cause is not None else error.__cause__
    return {
        "status": status,
        "error": present(
            message=_words(error.message)[:_MESSAGE_LENGTH],
            retryable=error.retryable if isinstance(thrown, WaybillError) else None,
            retry_after_ms=error.retry_after_ms,
            cause=None if cause is None else _cause_of(cause, 0),
        ),
        "effects": "none" if effects == "none" else "possible",
    }


def _cause_of(cause: Any, depth: int) -> Any:
    if not isinstance(cause, BaseException):
        return _words(str(cause))[:_CAUSE_LENGTH]
    own: dict[str, Any] = {
        "name": type(cause).__name__,
        "message": _words(str(cause))[:_CAUSE_LENGTH],
    }
    if cause.__cause__ is not None and depth < _CAUSES_DEEP:
        own["cause"] = _cause_of(cause.__cause__, depth + 1)
    return own


def _words(text: str) -> str:
    """Text that JSON can hold here: without lone surrogates and NUL."""
    return text.encode("utf-8", "replace").decode("utf-8").replace("\0", "\ufffd")
