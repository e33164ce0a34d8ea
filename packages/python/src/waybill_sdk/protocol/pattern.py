"""Patterns that are matched in time linear in the text, whatever the pattern (WB-68, WB-69)."""

from __future__ import annotations

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

_STATES_AT_MOST = 10_000
_MATCH = -1
# The number of states that one step pays for: a state of a pattern costs less than a step of a
# schema.
_STATES_PER_STEP = 8
_CHARACTERS_PER_STEP = 8
_STATES_REMEMBERED = 1_000
_TRANSITIONS_AT_MOST = 4_096


class Budget:
    """The remaining steps of one check, or of several together. At 0 they are used up."""

    def __init__(self, steps: int) -> None:
        self.left = steps

    def spend(self, steps: int) -> None:
        if steps <= self.left:
            self.left -= steps
            return
        self.left = 0
        raise WaybillError(
            413,
            "Checking this value against its schema costs too much; make the schema simpler or the value smaller.",
        )


def _steps_of(states: int) -> int:
    return 1 + states // _STATES_PER_STEP


class Memory:
    """A cache of the transitions between sets of states of one pattern."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        self._sets: list[frozenset[int]] = []
        self._numbers: dict[frozenset[int], int] = {}
        self._then: dict[tuple[int, str], int] = {}

    @property
    def is_full(self) -> bool:
        return len(self._sets) >= _STATES_REMEMBERED or len(self._then) >= _TRANSITIONS_AT_MOST

    def number(self, states: frozenset[int]) -> int:
        found = self._numbers.get(states)
        if found is None:
            found = self._numbers[states] = len(self._sets)
            self._sets.append(states)
        return found

    def states(self, number: int) -> frozenset[int]:
        return self._sets[number]

    def then(self, number: int, character: str) -> int | None:
        return self._then.get((number, character))

    def note(self, number: int, character: str, then: int) -> None:
        self._then[number, character] = then


class Pattern:
    """A set of states that moves through the text once: no state is tried twice at one place."""

    def __init__(self, source: str) -> None:
        # For each state, a test and its successor, or the successors that are reached without a
        # character.
        self._tests: list[Test | None] = []
        self._next: list[tuple[int, ...]] = []
        self._asserts: list[str | None] = []
        # The cost of each state: a class of characters is a list of tests.
        self._costs: list[int] = []
        self._start = self._build(parse_pattern(source), _MATCH)
        self._has_no_words = not {"boundary", "no_boundary"} & set(self._asserts)

    @property
    def size(self) -> int:
        return len(self._tests)

    def is_found_in(self, text: str, budget: Budget, memory: Memory) -> bool:
        budget.spend(5)
        here = memory.number(frozenset())
        for at in range(len(text) + 1):
            # The result of an assertion depends on more than the states and the character.
            is_usual = self._has_no_words and 0 < at < len(text)
            if is_usual:
                if at % _CHARACTERS_PER_STEP == 0:
                    budget.spend(1)
                then = memory.then(here, text[at])
                if then is not None:
                    here = then
                    continue
            reached: set[int] = set()
            current = memory.states(here)
            if memory.is_full:
                memory.clear()
                here = memory.number(current)
            if self._follow([self._start, *current], text, at, reached, budget):
                return True
            if at == len(text):
                return False
            character = text[at]
            budget.spend(_steps_of(sum(self._costs[state] for state in reached)))
            led = frozenset(
                self._next[state][0] for state in reached if self._reads(state, character)
            )
            if _MATCH in led:
                return True
            before, here = here, memory.number(led)
            if is_usual:
                memory.note(before, character, here)
        return False

    def _reads(self, state: int, character: str) -> bool:
        test = self._tests[state]
        return test is not None and test(character)

    def _follow(
        self, states: list[int], text: str, at: int, reached: set[int], budget: Budget
    ) -> bool:
        """Adds the states that read a character; true if the match is reached."""
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
        budget.spend(_steps_of(len(seen)))
        return False

    def _state(
        self, test: Test | None, leads_to: tuple[int, ...], kind: str | None = None, cost: int = 0
    ) -> int:
        if len(self._tests) >= _STATES_AT_MOST:
            raise WaybillError(413, "The pattern is too large once its repetitions are expanded.")
        self._tests.append(test)
        self._next.append(leads_to)
        self._asserts.append(kind)
        self._costs.append(cost)
        return len(self._tests) - 1

    def _build(self, node: Node, then: int) -> int:
        """The first state of a node whose successor is `then`."""
        if isinstance(node, One):
            return self._state(node.test, (then,), cost=node.cost)
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
            # An empty part makes no state: repeating it would never reach the limit.
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


def compile_pattern(source: str) -> Pattern:
    return Pattern(source)
