"""What is offered against what is held to (WB-74)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from .error import WaybillError
from .schema import compile_schema

Contract = dict[str, Any]

_TERMS = ("timeout_seconds", "lease_seconds", "max_attempts", "output_schema")
# A recipient needs at least so much time and at most so many attempts.
_NEEDS_MORE = ("timeout_seconds", "lease_seconds")


@dataclass(frozen=True)
class Verdict:
    verdict: Literal["accept", "counter", "reject"]
    reason: str = ""
    contract: Contract | None = None


def terms_of(capability: dict[str, Any]) -> Contract:
    return {term: capability[term] for term in _TERMS}


def judge_offer(offer: Contract | None, terms: Contract, *, has_countered: bool = False) -> Verdict:
    """The recipient's verdict: it accepts, counters once, or rejects."""
    offered = offer or {}
    if "output_schema" in offered:
        try:
            compile_schema(offered["output_schema"])
        except WaybillError as error:
            return Verdict("reject", f"The output can't be given in this form: {error.message}")
    short = [term for term in _NEEDS_MORE if offered.get(term, terms[term]) < terms[term]]
    many = ["max_attempts"] if offered.get("max_attempts", 1) > terms["max_attempts"] else []
    if not short and not many:
        return Verdict("accept")
    reason = (
        " and ".join(
            f"{term} is {offered[term]}, and {terms[term]} is held to" for term in short + many
        )
        + "."
    )
    if has_countered:
        return Verdict("reject", f"{reason} There was a counter-offer before.")
    counter = {
        **terms,
        **{term: max(offered[term], terms[term]) for term in _NEEDS_MORE if term in offered},
    }
    if "max_attempts" in offered:
        counter["max_attempts"] = min(offered["max_attempts"], terms["max_attempts"])
    if "output_schema" in offered:
        counter["output_schema"] = offered["output_schema"]
    return Verdict("counter", reason, counter)


def judge_counter(counter: Contract, offer: Contract | None) -> Verdict:
    """The delegator's verdict on a counter-offer: it must not ask for more than was offered."""
    offered = offer or {}
    for term in _NEEDS_MORE:
        if term in offered and counter.get(term, offered[term]) > offered[term]:
            return Verdict(
                "reject", f"It wants {counter[term]} as {term}, and there is {offered[term]}."
            )
    if counter.get("max_attempts", 32) < offered.get("max_attempts", 1):
        return Verdict("reject", "It allows fewer attempts than were asked for.")
    return Verdict("accept")
