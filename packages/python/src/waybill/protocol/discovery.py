"""Who fits what is looked for, and in which order (WB-71 to WB-73)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from math import sqrt
from typing import Any

from .error import WaybillError
from .manifest_shape import read_capability
from .schema import compile_schema

_Z = 1.96
_FAILURES_TO_BE_OUT = 3
_FIRST_MS = 30_000
_MOST_MS = 60_000
# Everybody starts with these: they decide for a newcomer, and hardly count beside a record.
_PRIOR_SUCCESSES = 3
_PRIOR_FAILURES = 1
# What a recipient brings about itself. Bad input, a cancellation and the like are the delegator's.
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
    """2 is wanted: 2, 2.0 and 2.1.3 will do."""
    return (
        offered == wanted
        or offered.startswith(f"{wanted}.")
        or offered.split(".") == wanted.split(".")
    )


def find(query: dict[str, Any], candidates: Iterable[Candidate]) -> Ranked:
    fits: list[Candidate] = []
    left_out: dict[str, list[str]] = {}
    for candidate in candidates:
        reasons = _reasons(query, candidate)
        if reasons:
            left_out[candidate.agent_id] = reasons
        else:
            fits.append(candidate)
    fits.sort(key=lambda each: (-each.reliability, -_claim(each), each.agent_id))
    return Ranked(fits, left_out)


def _claim(candidate: Candidate) -> float:
    """A claim decides between equals only, and not where measurement contradicts it."""
    claim = float(candidate.capability.get("reliability_sla", 0))
    total = candidate.successes + candidate.failures
    return 0.0 if total > 0 and candidate.successes / total < claim else claim


def _reasons(query: dict[str, Any], candidate: Candidate) -> list[str]:
    capability = read_capability(candidate.capability)
    reasons = []
    if not candidate.is_trusted:
        reasons.append("It is not trusted.")
    if capability["name"] != query["capability"]:
        return [*reasons, f"It offers {capability['name']}."]
    if "version" in query and not matches_version(capability["version"], query["version"]):
        reasons.append(f"It offers version {capability['version']}.")
    missing = [tag for tag in query.get("tags", ()) if tag not in capability["tags"]]
    if missing:
        reasons.append(f"It lacks the tags {', '.join(missing)}.")
    if "input" in query:
        try:
            issues = compile_schema(capability["input_schema"]).check(query["input"])
        except WaybillError as error:
            return [*reasons, f"The input can't be checked against its schema: {error.message}"]
        reasons.extend(f"The input does not fit: {issue.message}." for issue in issues[:1])
    return reasons


class Ejection:
    """Whether an agent is out for a while because of what it has failed at."""

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
