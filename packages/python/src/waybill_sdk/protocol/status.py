"""The closed set of status codes, in one table."""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

Retry = Literal[
    "none", "never", "yes", "later", "elsewhere", "renegotiate", "possible", "per_flag", "once"
]


class Status(NamedTuple):
    code: int
    name: str
    retry: Retry
    meaning: str
    remedy: str


_ROWS: Final = (
    Status(
        100,
        "RECEIVED",
        "none",
        "The hub holds the handoff in durable custody.",
        "Nothing to do: wait for the recipient's acceptance.",
    ),
    Status(
        101,
        "ACCEPTED",
        "none",
        "The recipient took the handoff and the contract is bound.",
        "Nothing to do: wait for the result.",
    ),
    Status(
        102,
        "PROGRESS",
        "none",
        "The recipient is still working.",
        "Nothing to do: wait for the result.",
    ),
    Status(
        103,
        "INPUT_REQUIRED",
        "none",
        "The recipient waits for an answer.",
        "Answer each open question by its id.",
    ),
    Status(
        200,
        "COMPLETED",
        "none",
        "The work is done and here is the result.",
        "Acknowledge the result once it is stored.",
    ),
    Status(
        201,
        "DUPLICATE",
        "none",
        "The same id with the same digest came before: this is the stored outcome again.",
        "Use the outcome; nothing ran twice.",
    ),
    Status(
        300,
        "RELEASED",
        "yes",
        "The recipient gave the handoff back, for now.",
        "Nothing to do: the hub makes the next attempt.",
    ),
    Status(
        301,
        "NO_CREDIT",
        "later",
        "The recipient is at its limit.",
        "Send again later, or let the hub pick another recipient.",
    ),
    Status(
        400,
        "MALFORMED",
        "never",
        "The message can't be parsed.",
        "Correct the message: the error names the member and the rule.",
    ),
    Status(
        401,
        "UNAUTHENTICATED",
        "never",
        "The signature, the key or the time is not valid.",
        "Check that the sender's key is enrolled and current, and that its clock is right.",
    ),
    Status(
        403,
        "FORBIDDEN",
        "never",
        "The sender may not do this.",
        "Read the detail: it says who may do this. Act as that party, or ask the operator.",
    ),
    Status(
        404,
        "NO_CAPABILITY",
        "elsewhere",
        "No agent here does that, or there is nothing of that name.",
        "Check the name and the version, or publish a manifest that offers the capability.",
    ),
    Status(
        406,
        "CONTRACT_UNACCEPTABLE",
        "renegotiate",
        "The recipient does not accept these terms; its counter-offer may be attached.",
        "Offer again with the terms of the counter-offer, or pick another recipient.",
    ),
    Status(
        409,
        "KEY_CONFLICT",
        "never",
        "The same id came before with a different digest.",
        "Find out why one id was used for two different contents. Use a new id for new work.",
    ),
    Status(
        410,
        "SUPERSEDED",
        "never",
        "The attempt is closed: what it sends is recorded and changes nothing.",
        "Stop the work of this attempt: another attempt, or none, is now current.",
    ),
    Status(
        413,
        "TOO_LARGE",
        "never",
        "The message is over a limit.",
        "Send less, or pass large content as an artifact by URL and digest.",
    ),
    Status(
        422,
        "INVALID_INPUT",
        "never",
        "The input breaks the capability's input schema.",
        "Correct the input: the error names the place and the rule.",
    ),
    Status(
        424,
        "CHILD_FAILED",
        "per_flag",
        "A handoff that this one depends on failed.",
        "Look at each child's status and decide what to do.",
    ),
    Status(
        499,
        "CANCELLED",
        "never",
        "The delegator cancelled the handoff.",
        "Nothing to do; hand off again if the work is wanted after all.",
    ),
    Status(
        500,
        "TASK_FAILED",
        "per_flag",
        "The recipient's verdict: the work failed.",
        "Read the recipient's error; retry only if it says retryable.",
    ),
    Status(
        501,
        "INTERRUPTED",
        "possible",
        "The recipient restarted in the middle of the work.",
        "Check for effects of the first try before you retry.",
    ),
    Status(
        502,
        "LEASE_LOST",
        "possible",
        "The recipient went silent for longer than its lease.",
        "Check for effects of the first try before you retry.",
    ),
    Status(
        503,
        "UNREACHABLE",
        "yes",
        "Nobody took the handoff.",
        "Check that the recipient is connected, then send again.",
    ),
    Status(
        504,
        "DEADLINE_EXCEEDED",
        "never",
        "The handoff ran out of time.",
        "Replay the dead letter with a later deadline if the work is still wanted.",
    ),
    Status(
        508,
        "ATTEMPTS_EXHAUSTED",
        "never",
        "Every attempt that the contract allows was made; the handoff is a dead letter.",
        "Read the attempts in the dead letter, fix the cause, then replay it.",
    ),
    Status(
        520,
        "INVALID_OUTPUT",
        "once",
        "The output breaks the capability's output schema, or a success came back empty.",
        "Fix the recipient: its output must fit the schema that it published.",
    ),
)

STATUSES: Final[dict[int, Status]] = {row.code: row for row in _ROWS}

RETRYABLE: Final[frozenset[Retry]] = frozenset({"yes", "later", "possible", "once"})
