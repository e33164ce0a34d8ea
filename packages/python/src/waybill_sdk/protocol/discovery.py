"""Which agents fit a query, and in which order (WB-71 to WB-73, WB-92, WB-100)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from math import sqrt
from typing import Any

from .error import WaybillError
from .json_text import stringify_json
from .limits import CHECK_STEPS, QUERY_STEPS
from .manifest_shape import read_capability
from .pattern import Budget
from .schema import compile_schema
from .schema_check import Issue, spelling

_Z = 1.96
_FAILURES_TO_BE_OUT = 3
_FIRST_MS = 30_000
_MOST_MS = 60_000
# The prior of every agent: it decides for a newcomer, and hardly counts against a record.
_PRIOR_SUCCESSES = 3
_PRIOR_FAILURES = 1
_NOT_CHECKED = "Not checked: the query's budget is used up."
_ISSUES_SHOWN = 3
# Failures that count against the recipient. Bad input, a cancellation and the like are the
# delegator's.
_CAUSED_BY_RECIPIENT = frozenset((500, 501, 502, 503, 520))


@dataclass(frozen=True)
class Candidate:
    agent_id: str
    capability: dict[str, Any]
    is_trusted: bool
    successes: int = 0
    failures: int = 0

    @property
    def reliability(self) -> float:
        return wilson_lower_bound(
            self.successes + _PRIOR_SUCCESSES, self.failures + _PRIOR_FAILURES
        )


@dataclass(frozen=True)
class Ranked:
    fits: list[Candidate]
    left_out: dict[str, list[str]] = field(default_factory=dict)


def wilson_lower_bound(successes: int, failures: int) -> float:
    total = successes + failures
    if total == 0:
        return 0.0
    share = successes / total
    middle = share + _Z * _Z / (2 * total)
    spread = _Z * sqrt((share * (1 - share) + _Z * _Z / (4 * total)) / total)
    return max(0.0, (middle - spread) / (1 + _Z * _Z / total))


def matches_version(offered: str, wanted: str) -> bool:
    """If 2 is wanted, 2, 2.0 and 2.1.3 match."""
    return (
        offered == wanted
        or offered.startswith(f"{wanted}.")
        or offered.split(".") == wanted.split(".")
    )


def find(
    query: dict[str, Any], candidates: Iterable[Candidate], budget: Budget | None = None
) -> Ranked:
    """All schemas share one budget to check the input: agents for which it does not suffice are
    left out (WB-92)."""
    trials = [_Trial(candidate, *_reasons(query, candidate)) for candidate in candidates]
    if "input" in query:
        _check_input(query["input"], trials, Budget(QUERY_STEPS) if budget is None else budget)
        for trial in trials:
            if trial.schema is not None:
                trial.reasons.extend(
                    [_NOT_CHECKED] if trial.verdict is None else trial.verdict.reasons
                )
    fits: list[Candidate] = []
    left_out: dict[str, list[str]] = {}
    for trial in trials:
        if trial.reasons:
            left_out[trial.candidate.agent_id] = trial.reasons
        else:
            fits.append(trial.candidate)
    fits.sort(key=lambda each: (-each.reliability, -_claim(each), each.agent_id))
    return Ranked(fits, left_out)


@dataclass
class _Trial:
    candidate: Candidate
    reasons: list[str]
    # Missing if the agent offers something else: the input is not meant for it.
    schema: Any
    # Missing if the input was not checked.
    verdict: _Verdict | None = None


def _check_input(value: Any, trials: list[_Trial], budget: Budget) -> None:
    """Each schema is tried with its share of the budget first, so that an expensive one does not
    exclude other agents. Of each agent one version is tried after the other, and equal schemas
    once.
    """
    turns: Counter[str] = Counter()
    order: list[tuple[bool, int, str]] = []
    by_schema: dict[str, list[_Trial]] = {}
    for trial in sorted(trials, key=lambda each: -each.candidate.reliability):
        if trial.schema is None:
            continue
        turns[trial.candidate.agent_id] += 1
        text = spelling(trial.schema)
        if text not in by_schema:
            order.append((bool(trial.reasons), turns[trial.candidate.agent_id], text))
        by_schema.setdefault(text, []).append(trial)
    waiting = [text for *_, text in sorted(order, key=lambda each: each[:2])]
    verdicts: dict[str, _Verdict] = {}
    share = budget.left // (2 * len(waiting)) if waiting else 0
    for steps in (share, CHECK_STEPS):
        for text in waiting:
            if text not in verdicts:
                verdict = _verdict(value, by_schema[text][0].schema, budget, steps)
                if verdict is not None:
                    verdicts[text] = verdict
    for text, asked in by_schema.items():
        for trial in asked:
            trial.verdict = verdicts.get(text)


@dataclass(frozen=True)
class _Verdict:
    reasons: list[str]
    # Missing if the schema can't be used, which says nothing about the input.
    issues: list[Issue] | None


def _verdict(value: Any, schema: Any, budget: Budget, steps: int) -> _Verdict | None:
    """The faults of the input; None if the steps did not suffice."""
    given = min(steps, budget.left)
    if given <= 0:
        return None
    own = Budget(given)
    try:
        issues = compile_schema(schema).check(value, own)
    except WaybillError as error:
        if own.left == 0 and given < CHECK_STEPS:
            return None
        return _Verdict([f"The input can't be checked against its schema: {error.message}"], None)
    finally:
        budget.left -= given - own.left
    reasons = [f"The input does not fit: {issue.message}." for issue in issues[:1]]
    return _Verdict(reasons, issues[:_ISSUES_SHOWN])


@dataclass(frozen=True)
class InputJudgement:
    """Whether a candidate accepts an input, or may accept it; if not, the faults that each of them
    finds."""

    may_be_taken: bool
    refusals: dict[str, list[Issue]]


def judge_input(
    given: dict[str, Any], offering: Iterable[Candidate], budget: Budget | None = None
) -> InputJudgement:
    """Whether every agent that offers the capability refuses this input (WB-100)."""
    trials = [
        _Trial(each, [], read_capability(each.capability)["input_schema"])
        for each in offering
        if not _unwanted(given, each)
    ]
    if "input" in given:
        _check_input(given["input"], trials, Budget(QUERY_STEPS) if budget is None else budget)
    refusals = {each.candidate.agent_id: _issues(given, each) for each in trials}
    if any(not issues for issues in refusals.values()):
        return InputJudgement(True, {})
    return InputJudgement(False, {agent: issues or [] for agent, issues in refusals.items()})


def _unwanted(given: dict[str, Any], candidate: Candidate) -> bool:
    capability = read_capability(candidate.capability)
    wants = {**given, "capability": capability["name"]}
    return bool(_reasons(wants, candidate)[0])


def _issues(given: dict[str, Any], trial: _Trial) -> list[Issue] | None:
    """The faults that a candidate finds; None if they are not known."""
    capability = read_capability(trial.candidate.capability)
    if "input" not in given:
        takes_words = given.get("has_words", False) and capability["takes"] != "structured"
        return [] if takes_words or not trial.schema else [Issue("", "input", "it is missing")]
    size = len(stringify_json(given["input"]).encode())
    if size > capability["max_input_bytes"]:
        return [Issue("", "max_input_bytes", f"it has {size} bytes")]
    return None if trial.verdict is None else trial.verdict.issues


def _claim(candidate: Candidate) -> float:
    """A claim decides only between equals, and not if a measurement contradicts it."""
    claim = float(candidate.capability.get("reliability_sla", 0))
    total = candidate.successes + candidate.failures
    return 0.0 if total > 0 and candidate.successes / total < claim else claim


def _reasons(query: dict[str, Any], candidate: Candidate) -> tuple[list[str], Any]:
    """The reasons why a candidate does not fit, except its schema, which is returned beside them."""
    capability = read_capability(candidate.capability)
    reasons = []
    if not candidate.is_trusted:
        reasons.append("It is not trusted.")
    if capability["name"] != query["capability"]:
        return [*reasons, f"It offers {capability['name']}."], None
    if "version" in query and not matches_version(capability["version"], query["version"]):
        reasons.append(f"It offers version {capability['version']}.")
    missing = [tag for tag in query.get("tags", ()) if tag not in capability["tags"]]
    if missing:
        reasons.append(f"It lacks the tags {', '.join(missing)}.")
    return reasons, capability["input_schema"]


def queue_place(due_at: int, priority: int | None = None) -> int:
    """The position of a handoff in the waiting queue: the lowest is offered first (WB-102)."""
    return due_at - (4 if priority is None else priority) * 60_000


class Ejection:
    """Whether an agent is ejected for a while because of its failures."""

    def __init__(self) -> None:
        self._row = 0
        self._out_until: int | None = None

    def ended(self, status: int, at: int) -> None:
        if status < 400:
            self._row, self._out_until = 0, None
        elif status in _CAUSED_BY_RECIPIENT:
            self._row += 1
            over = self._row - _FAILURES_TO_BE_OUT
            if over >= 0:
                self._out_until = at + min(_MOST_MS, _FIRST_MS << min(over, 20))

    def is_out(self, at: int) -> bool:
        return self._out_until is not None and at < self._out_until
