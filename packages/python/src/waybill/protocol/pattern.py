"""Patterns that are matched in time linear in the text, whatever they are (WB-68, WB-69)."""

from __future__ import annotations

from functools import lru_cache

from .error import WaybillError
from .pattern_syntax import (
    Assertion,
    Choice,
    Node,
    One,
    Repeat,
    Sequence,
    Test,
    is_word,
    parse_pattern,
)

_STATES_AT_MOST = 20_000
_MATCH = -1


class Budget:
    """How many steps a check may still take."""

    def __init__(self, steps: int) -> None:
        self.left = steps

    def spend(self, steps: int) -> None:
        self.left -= steps
        if self.left < 0:
            raise WaybillError(
                413,
                "Checking this value against its schema costs too much; make the schema simpler or the value smaller.",
            )


class Pattern:
    """A set of states that moves through the text once: no state is tried twice at one place."""

    def __init__(self, source: str) -> None:
        # Of each state: a test and where it leads, or the states that it leads to at no cost.
        self._tests: list[Test | None] = []
        self._next: list[tuple[int, ...]] = []
        self._asserts: list[str | None] = []
        self._start = self._build(parse_pattern(source), _MATCH)

    def is_found_in(self, text: str, budget: Budget) -> bool:
        current: set[int] = set()
        for at in range(len(text) + 1):
            reached: set[int] = set()
            if self._follow([self._start, *current], text, at, reached, budget):
                return True
            if at == len(text):
                break
            character = text[at]
            current = {self._next[state][0] for state in reached if self._tests[state](character)}  # type: ignore[misc]
            if _MATCH in current:
                return True
        return False

    def _follow(
        self, states: list[int], text: str, at: int, reached: set[int], budget: Budget
    ) -> bool:
        """Adds the states that read a character; true where the match is reached."""
        seen: set[int] = set()
        while states:
            state = states.pop()
            if state == _MATCH:
                return True
            if state in seen:
                continue
            seen.add(state)
            if self._tests[state] is not None:
                reached.add(state)
                continue
            kind = self._asserts[state]
            if kind is None or _holds(kind, text, at):
                states.extend(self._next[state])
        budget.spend(len(seen) + 1)
        return False

    def _state(self, test: Test | None, leads_to: tuple[int, ...], kind: str | None = None) -> int:
        if len(self._tests) >= _STATES_AT_MOST:
            raise WaybillError(
                413, "A pattern that is too large once its repetitions are written out."
            )
        self._tests.append(test)
        self._next.append(leads_to)
        self._asserts.append(kind)
        return len(self._tests) - 1

    def _build(self, node: Node, then: int) -> int:
        """The first state of a node that goes on with `then`."""
        if isinstance(node, One):
            return self._state(node.test, (then,))
        if isinstance(node, Assertion):
            return self._state(None, (then,), node.kind)
        if isinstance(node, Choice):
            return self._state(None, tuple(self._build(option, then) for option in node.options))
        if isinstance(node, Sequence):
            for part in reversed(node.parts):
                then = self._build(part, then)
            return then
        return self._repeat(node, then)

    def _repeat(self, node: Repeat, then: int) -> int:
        if node.most is None:
            loop = self._state(None, ())
            self._next[loop] = (self._build(node.part, loop), then)
            then = loop
        else:
            for _ in range(node.most - node.least):
                then = self._state(None, (self._build(node.part, then), then))
        for _ in range(node.least):
            # A part that is empty makes no state: writing it out would never reach the limit.
            before = len(self._tests)
            then = self._build(node.part, then)
            if len(self._tests) == before:
                break
        return then


def _holds(kind: str, text: str, at: int) -> bool:
    if kind == "start":
        return at == 0
    if kind == "end":
        return at == len(text)
    is_before = at > 0 and is_word(text[at - 1])
    is_behind = at < len(text) and is_word(text[at])
    return (is_before != is_behind) == (kind == "boundary")


@lru_cache(maxsize=1_000)
def compile_pattern(source: str) -> Pattern:
    return Pattern(source)
