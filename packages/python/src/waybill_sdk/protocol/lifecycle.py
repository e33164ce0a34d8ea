"""The lifecycle of one handoff as a pure function: `step(state, event)` returns the next state and
the reply (WB-42 to WB-59)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from .status import STATUSES

Event = dict[str, Any]

DEFAULT_TERMS = {
    "max_attempts": 3,
    "lease_ms": 30_000,
    "offer_ms": 10_000,
    "grace_ms": 5_000,
    "backoff_ms": 500,
    "backoff_cap_ms": 60_000,
}

# For each reason why an attempt closes: whether it is the recipient's result, and whether it uses
# up a try.
CLOSED: dict[str, tuple[bool, bool]] = {
    "result": (True, True),
    "rejected": (True, False),
    "released": (False, False),
    "paused": (False, False),
    "interrupted": (False, True),
    "lease_lost": (False, True),
    "unreachable": (False, False),
    "superseded": (False, False),
}
_ASK_ANOTHER = frozenset((403, 404, 406))


@dataclass(frozen=True)
class Attempt:
    number: int
    recipient: str
    state: str = "offered"
    closed: str | None = None
    status: int = 100
    is_taken: bool = False
    until: int = 0
    """The time at which the offer, the acceptance period or the lease expires."""

    def __str__(self) -> str:
        return f"closed:{self.closed}" if self.closed else self.state


@dataclass(frozen=True)
class Question:
    attempt: int
    answer: str | None = None
    """The digest of its answer."""


@dataclass(frozen=True)
class Handoff:
    id: str
    delegator: str
    digest: str
    recipient: str | None
    deadline: int
    terms: dict[str, int]
    state: str = "open"
    status: int = 100
    attempts: tuple[Attempt, ...] = ()
    questions: dict[str, Question] = field(default_factory=dict)
    tries: int = 0
    not_before: int = 0
    bound_to: str | None = None
    rejected_by: frozenset[str] = frozenset()
    ending: str | None = None
    """The digest of the envelope that ended it; None while it is open, or if no party ended it."""
    acknowledged: str | None = None

    @property
    def attempt(self) -> Attempt | None:
        """The attempt that is not closed."""
        last = self.attempts[-1] if self.attempts else None
        return last if last is not None and last.closed is None else None

    @property
    def is_open(self) -> bool:
        return self.state == "open"


class Step(NamedTuple):
    handoff: Handoff | None
    reply: int


def step(handoff: Handoff | None, event: Event) -> Step:
    if event["type"] == "submit":
        return _submit(handoff, event)
    if handoff is None:
        return Step(None, 403)
    if handoff.is_open and event["at"] >= handoff.deadline and event["type"] != "expire":
        handoff = _end(handoff, "dead_lettered", 504)
    refusal = _refusal(handoff, event)
    if refusal is not None:
        return Step(handoff, refusal)
    return _STEPS[event["type"]](handoff, event)


def _submit(handoff: Handoff | None, event: Event) -> Step:
    if handoff is not None:
        if handoff.delegator != event["by"]:
            return Step(handoff, 403)
        return Step(handoff, 201 if handoff.digest == event["digest"] else 409)
    if event["at"] >= event["deadline"]:
        return Step(None, 504)
    terms = {**DEFAULT_TERMS, **event.get("terms", {})}
    made = Handoff(
        event["id"],
        event["by"],
        event["digest"],
        event["recipient"],
        event["deadline"],
        terms,
        not_before=max(event["at"], event.get("not_before", event["at"])),
    )
    return Step(made, 100)


_OF_DELEGATOR = frozenset(("cancel", "answer", "acknowledge"))
_OF_RECIPIENT = frozenset(
    ("taken", "heartbeat", "accept", "progress", "question", "pause", "reject", "release", "result")
)
_SETTLING = frozenset(("cancel", "reject", "result"))


def _refusal(handoff: Handoff, event: Event) -> int | None:
    """Checks who may send this, in which state, and until when."""
    kind = event["type"]
    number = event.get("attempt")
    attempt = next((each for each in handoff.attempts if each.number == number), None)
    if kind in _OF_DELEGATOR and event["by"] != handoff.delegator:
        return 403
    if kind in _OF_RECIPIENT:
        if attempt is None or attempt.recipient != event["by"]:
            return 403
        if "re" in event and event["re"] != handoff.digest:
            return 409
    if not handoff.is_open and kind != "acknowledge":
        is_repeated = (
            kind in _SETTLING and handoff.ending is not None and event["digest"] == handoff.ending
        )
        return 201 if is_repeated else 410
    if kind in _OF_RECIPIENT and attempt is not None and attempt.closed is not None:
        return 410
    return None


def _with(handoff: Handoff, attempt: Attempt, **changes: Any) -> Handoff:
    return replace(handoff, attempts=(*handoff.attempts[:-1], attempt), **changes)


def _close(handoff: Handoff, why: str, status: int, **changes: Any) -> Handoff:
    attempt = handoff.attempt
    assert attempt is not None
    tries = handoff.tries + CLOSED[why][1]
    return _with(
        handoff,
        replace(attempt, state="closed", closed=why, status=status),
        status=status,
        tries=tries,
        **changes,
    )


def _end(handoff: Handoff, state: str, status: int, ending: str | None = None) -> Handoff:
    if handoff.attempt is not None:
        handoff = _close(handoff, "superseded", status)
    return replace(handoff, state=state, status=status, ending=ending)


def _offer(handoff: Handoff, event: Event) -> Step:
    recipient = event["recipient"]
    is_paused = any(
        each.answer is None
        for each in handoff.questions.values()
        if each.attempt == len(handoff.attempts)
    )
    is_another = any(
        wanted not in (None, recipient) for wanted in (handoff.recipient, handoff.bound_to)
    )
    if (
        handoff.attempt is not None
        or is_another
        or recipient in handoff.rejected_by
        or event["at"] < handoff.not_before
    ):
        return Step(handoff, 403)
    if is_paused and handoff.attempts and handoff.attempts[-1].closed == "paused":
        return Step(handoff, 403)
    made = Attempt(
        len(handoff.attempts) + 1, recipient, until=event["at"] + handoff.terms["offer_ms"]
    )
    return Step(replace(handoff, attempts=(*handoff.attempts, made), status=100), 100)


def _taken(handoff: Handoff, event: Event) -> Step:
    attempt = handoff.attempt
    assert attempt is not None
    if attempt.state == "offered" and not attempt.is_taken:
        attempt = replace(attempt, is_taken=True, until=event["at"] + handoff.terms["grace_ms"])
    return Step(_with(handoff, attempt), 100)


def _alive(handoff: Handoff, attempt: Attempt, at: int, state: str, status: int) -> Handoff:
    until = at + handoff.terms["lease_ms"]
    return _with(handoff, replace(attempt, state=state, until=until, status=status), status=status)


def _heartbeat(handoff: Handoff, event: Event) -> Step:
    attempt = handoff.attempt
    assert attempt is not None
    if attempt.state == "accepted":
        handoff = _alive(handoff, attempt, event["at"], "accepted", handoff.status)
    return Step(handoff, 100)


def _accept(handoff: Handoff, event: Event) -> Step:
    attempt = handoff.attempt
    assert attempt is not None
    if attempt.state != "offered":
        return Step(handoff, 403)
    return Step(_alive(handoff, attempt, event["at"], "accepted", 101), 100)


def _progress(handoff: Handoff, event: Event) -> Step:
    attempt = handoff.attempt
    assert attempt is not None
    if attempt.state == "waiting":
        return Step(handoff, 100)
    return Step(_alive(handoff, attempt, event["at"], "accepted", 102), 100)


def _asked(handoff: Handoff, event: Event) -> dict[str, Question]:
    return {
        **handoff.questions,
        **{name: Question(event["attempt"]) for name in event["questions"]},
    }


def _question(handoff: Handoff, event: Event) -> Step:
    attempt = handoff.attempt
    assert attempt is not None
    waiting = replace(attempt, state="waiting", status=103)
    return Step(_with(handoff, waiting, status=103, questions=_asked(handoff, event)), 100)


def _pause(handoff: Handoff, event: Event) -> Step:
    asked = _asked(handoff, event)
    return Step(_close(handoff, "paused", 103, questions=asked, bound_to=event["by"]), 100)


def _answer(handoff: Handoff, event: Event) -> Step:
    question = handoff.questions.get(event["question"])
    if question is None:
        return Step(handoff, 403)
    if question.answer is not None:
        return Step(handoff, 201 if question.answer == event["digest"] else 410)
    last = handoff.attempts[-1]
    if question.attempt != last.number or (last.closed is not None and last.closed != "paused"):
        return Step(handoff, 410)
    questions = {**handoff.questions, event["question"]: replace(question, answer=event["digest"])}
    handoff = replace(handoff, questions=questions)
    if any(each.answer is None for each in questions.values() if each.attempt == last.number):
        return Step(handoff, 100)
    if last.closed is None:
        return Step(_alive(handoff, last, event["at"], "accepted", 102), 100)
    return Step(replace(handoff, status=100, not_before=event["at"]), 100)


def _reject(handoff: Handoff, event: Event) -> Step:
    attempt = handoff.attempt
    assert attempt is not None
    if attempt.state != "offered":
        return Step(handoff, 403)
    status = event["status"]
    closed = _close(handoff, "rejected", status, not_before=event["at"])
    if handoff.recipient is None and status in _ASK_ANOTHER:
        return Step(replace(closed, rejected_by=handoff.rejected_by | {event["by"]}), 100)
    return Step(_end(closed, "failed", status, event["digest"]), 100)


def _release(handoff: Handoff, event: Event) -> Step:
    later = event["at"] + (event.get("retry_after_ms") or 0)
    return Step(_close(handoff, "released", event["status"], not_before=later), 100)


def _result(handoff: Handoff, event: Event) -> Step:
    status, flag = event["status"], event.get("is_retryable")
    before = handoff.attempts[:-1]
    why = "interrupted" if status == 501 and flag is not False else "result"
    closed = _close(
        handoff, why, status, not_before=event["at"] + (event.get("retry_after_ms") or 0)
    )
    if status == 200:
        return Step(_end(closed, "completed", 200, event["digest"]), 100)
    if not is_tried_again(status, flag, any(each.status == status for each in before)):
        return Step(_end(closed, "failed", status, event["digest"]), 100)
    return Step(_used_up(closed, why, status, event["digest"]), 100)


def _used_up(handoff: Handoff, why: str, status: int, digest: str | None = None) -> Handoff:
    """If the tries are used up, the last attempt decides (WB-53)."""
    if handoff.tries < handoff.terms["max_attempts"]:
        return handoff
    if CLOSED[why][0]:
        return _end(handoff, "failed", status, digest)
    return _end(handoff, "dead_lettered", 508)


def is_tried_again(status: int, flag: bool | None, has_failed_so_before: bool) -> bool:
    """Whether a failed result is retried, by the table of statuses (WB-54)."""
    retry = STATUSES[status].retry
    if flag is False:
        return False
    if retry == "once":
        return not has_failed_so_before
    return retry in ("yes", "later", "possible") or (retry == "per_flag" and flag is True)


def _unreachable(handoff: Handoff, event: Event) -> Step:
    attempt = _current(handoff, event)
    if (
        attempt is None
        or attempt.state != "offered"
        or attempt.is_taken
        or event["at"] < attempt.until
    ):
        return Step(handoff, 403)
    return Step(_close(handoff, "unreachable", 503, not_before=event["at"]), 100)


def _lease_lost(handoff: Handoff, event: Event) -> Step:
    attempt = _current(handoff, event)
    has_lease = attempt is not None and (attempt.state == "accepted" or attempt.is_taken)
    if (
        attempt is None
        or not has_lease
        or attempt.state == "waiting"
        or event["at"] < attempt.until
    ):
        return Step(handoff, 403)
    return Step(
        _used_up(_close(handoff, "lease_lost", 502, not_before=event["at"]), "lease_lost", 502), 100
    )


def _current(handoff: Handoff, event: Event) -> Attempt | None:
    attempt = handoff.attempt
    return attempt if attempt is not None and attempt.number == event["attempt"] else None


def _acknowledge(handoff: Handoff, event: Event) -> Step:
    if handoff.is_open:
        return Step(handoff, 403)
    if handoff.ending is not None and event["outcome"] != handoff.ending:
        return Step(handoff, 409)
    if handoff.acknowledged is not None:
        return Step(handoff, 201 if handoff.acknowledged == event["outcome"] else 409)
    return Step(replace(handoff, acknowledged=event["outcome"]), 100)


def _cancel(handoff: Handoff, event: Event) -> Step:
    return Step(_end(handoff, "cancelled", 499, event["digest"]), 100)


def _ended_with_others(handoff: Handoff, _event: Event) -> Step:
    return Step(_end(handoff, "cancelled", 499), 100)


def _expire(handoff: Handoff, event: Event) -> Step:
    if event["at"] < handoff.deadline:
        return Step(handoff, 403)
    return Step(_end(handoff, "dead_lettered", 504), 100)


def _dead_letter(handoff: Handoff, event: Event) -> Step:
    return Step(_end(handoff, "dead_lettered", event["status"]), 100)


_STEPS: dict[str, Callable[[Handoff, Event], Step]] = {
    "offer": _offer,
    "taken": _taken,
    "heartbeat": _heartbeat,
    "accept": _accept,
    "progress": _progress,
    "question": _question,
    "pause": _pause,
    "answer": _answer,
    "reject": _reject,
    "release": _release,
    "result": _result,
    "unreachable": _unreachable,
    "lease_lost": _lease_lost,
    "acknowledge": _acknowledge,
    "cancel": _cancel,
    "parent_ended": _ended_with_others,
    "group_decided": _ended_with_others,
    "expire": _expire,
    "dead_letter": _dead_letter,
}
