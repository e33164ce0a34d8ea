"""Compares an offered contract with the recipient's terms (WB-74)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from .error import WaybillError
from .schema import compile_schema
from .usage import is_more_money

Contract = dict[str, Any]

_TERMS = ("timeout_seconds", "lease_seconds", "max_attempts", "output_schema")
# A recipient needs at least this time, and at most this number of attempts.
_NEEDS_MORE = ("timeout_seconds", "lease_seconds")
# The limits of the work's usage. They are not in a manifest: the recipient that accepts commits to them
# (WB-233).
_CAPS = ("max_tokens", "max_cost")


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
    counter.update({cap: offered[cap] for cap in _CAPS if cap in offered})
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
    # The recipient of a counter-offer that omits a cap does not commit to it.
    most = offered.get("max_tokens")
    if most is not None and counter.get("max_tokens", most + 1) > most:
        return Verdict("reject", f"At most {most} tokens were asked for.")
    cost, highest = counter.get("max_cost"), offered.get("max_cost")
    if highest is not None and (cost is None or is_more_money(cost, highest) is not False):
        return Verdict(
            "reject", f"At most {highest['amount']} {highest['currency']} were asked for."
        )
    return Verdict("accept")
