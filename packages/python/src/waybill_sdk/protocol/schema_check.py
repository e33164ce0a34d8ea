"""Checks a value against a schema (JSON Schema 2020-12). `format` asserts nothing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

from .json_text import stringify_json
from .pattern import Budget, Memory
from .shape import pointer
from .shorthand import Schema

if TYPE_CHECKING:
    from .schema import CompiledSchema

_ISSUES_AT_MOST = 20
# For a pointer, and for one name in it: names are untrusted.
_POINTER_CHARACTERS = 1_000
_NAME_CHARACTERS = 100


class Issue(NamedTuple):
    """One fault: its place, the violated keyword, and the message."""

    at: str
    keyword: str
    about: str = ""

    @property
    def message(self) -> str:
        fault = f"{self.at or 'the value'} breaks {self.keyword}"
        return f"{fault}: {self.about}" if self.about else fault


class Outcome(NamedTuple):
    """The faults, and the members and items that a keyword has evaluated."""

    issues: list[Issue]
    members: frozenset[str]
    items: frozenset[int]


_NOTHING: frozenset[Any] = frozenset()
_FITS = Outcome([], _NOTHING, _NOTHING)


def spelling(value: Any) -> str:
    """Equal for values that are equal in JSON: the order of members, and 1 or 1.0, make no
    difference."""
    if isinstance(value, dict):
        return (
            "{"
            + ",".join(f"{stringify_json(name)}:{spelling(value[name])}" for name in sorted(value))
            + "}"
        )
    if isinstance(value, list):
        return "[" + ",".join(map(spelling, value)) + "]"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    # Faster than the JSON encoder, with the same result.
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return stringify_json(value)


def type_of(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, str):
        return "string"
    return "array" if isinstance(value, list) else "object"


def _is_integer(value: Any) -> bool:
    return isinstance(value, int) or (isinstance(value, float) and value.is_integer())


_NUMBERS: dict[str, Callable[[Any, Any], bool]] = {
    "minimum": lambda value, bound: value >= bound,
    "maximum": lambda value, bound: value <= bound,
    "exclusiveMinimum": lambda value, bound: value > bound,
    "exclusiveMaximum": lambda value, bound: value < bound,
    "multipleOf": lambda value, bound: Fraction(str(value)) % Fraction(str(bound)) == 0,
}
_SIZES: dict[str, tuple[str, bool]] = {
    "minLength": ("string", True),
    "maxLength": ("string", False),
    "minItems": ("array", True),
    "maxItems": ("array", False),
    "minProperties": ("object", True),
    "maxProperties": ("object", False),
}


class Place:
    """A place in a value. Its pointer is built only when it is shown, and not at each step."""

    __slots__ = ("_below", "key", "parent")

    def __init__(self, parent: Place | None = None, key: str | int | tuple[str] = "") -> None:
        self.parent = parent
        self.key = key
        self._below: dict[str | int | tuple[str], Place] = {}

    def below(self, key: str | int | tuple[str]) -> Place:
        """A member, an item, or, as a tuple, the name of a member. Always returns the same object."""
        found = self._below.get(key)
        if found is None:
            found = self._below[key] = Place(self, key)
        return found

    def __str__(self) -> str:
        keys: list[str | int | tuple[str]] = []
        place = self
        while place.parent is not None:
            keys.append(place.key)
            place = place.parent
        at = ""
        for key in reversed(keys):
            if len(at) > _POINTER_CHARACTERS:
                return f"{at}/…"
            name = key[0] if isinstance(key, tuple) else key
            if isinstance(name, str) and len(name) > _NAME_CHARACTERS:
                name = f"{name[:_NAME_CHARACTERS]}…"
            at = pointer(at, name)
        return at


class Checker:
    """One check of one value. Each schema is checked once at each place."""

    def __init__(self, compiled: CompiledSchema, budget: Budget) -> None:
        self._compiled = compiled
        self._targets = compiled.targets
        self._memories: defaultdict[str, Memory] = defaultdict(Memory)
        self._budget = budget
        self._known: dict[tuple[int, Place], Outcome] = {}

    def check(self, schema: Schema, value: Any) -> list[Issue]:
        return self._check(schema, value, Place()).issues

    def _check(self, schema: Schema, value: Any, at: Place) -> Outcome:
        self._budget.spend(2)
        if isinstance(schema, bool):
            return _FITS if schema else Outcome([Issue(str(at), "false")], _NOTHING, _NOTHING)
        if id(schema) in self._compiled.leaves:
            self._budget.spend(2 * len(schema))
            return self._run(schema, value, at)
        known = self._known.get((id(schema), at))
        if known is None:
            self._budget.spend(2 * len(schema))
            known = self._known[(id(schema), at)] = self._run(schema, value, at)
        return known

    def _is_found(self, source: str, text: str) -> bool:
        pattern = self._compiled.patterns[source]
        return pattern.is_found_in(text, self._budget, self._memories[source])

    def _spelled(self, value: Any) -> str:
        """The spelling of a value, charged to the budget: it is copied once for each level of
        nesting."""
        stack: list[tuple[Any, int]] = [(value, 1)]
        while stack:
            each, depth = stack.pop()
            size = len(each) if isinstance(each, str | list | dict) else 1
            self._budget.spend(2 + depth * (1 + size // 8))
            if isinstance(each, list):
                stack.extend((item, depth + 1) for item in each)
            elif isinstance(each, dict):
                for name, member in each.items():
                    self._budget.spend(depth * (1 + len(name) // 8))
                    stack.append((member, depth + 1))
        return spelling(value)

    def _run(self, schema: dict[str, Any], value: Any, at: Place) -> Outcome:
        issues: list[Issue] = []
        members: set[str] = set()
        items: set[int] = set()

        def take(outcome: Outcome) -> None:
            _add(issues, outcome.issues)
            if not outcome.issues:
                self._budget.spend(len(outcome.members) + len(outcome.items))
                members.update(outcome.members)
                items.update(outcome.items)

        kind = type_of(value)
        self._assert(schema, value, kind, at, issues)
        if id(schema) in self._targets:
            take(self._check(self._targets[id(schema)], value, at))
        self._combine(schema, value, at, issues, take)
        if kind == "object":
            self._members(schema, value, at, issues, members, take)
        elif kind == "array":
            self._items(schema, value, at, issues, items)
        return Outcome(issues, frozenset(members), frozenset(items))

    def _assert(
        self, schema: dict[str, Any], value: Any, kind: str, at: Place, issues: list[Issue]
    ) -> None:
        if "type" in schema:
            types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
            is_one = kind in types or (
                "integer" in types and kind == "number" and _is_integer(value)
            )
            if not is_one:
                issues.append(Issue(str(at), "type"))
        for keyword in ("enum", "const"):
            if keyword in schema:
                spelled = self._spelled(value)
                if spelled not in self._compiled.allowed(schema, keyword):
                    issues.append(Issue(str(at), keyword))
        if kind == "number":
            if "multipleOf" in schema and not (
                _is_small(value) and _is_small(schema["multipleOf"])
            ):
                self._budget.spend(20)
            broken = [
                each
                for each, holds in _NUMBERS.items()
                if each in schema and not holds(value, schema[each])
            ]
            issues.extend(Issue(str(at), each) for each in broken)
        for keyword, (wanted, is_least) in _SIZES.items():
            if keyword in schema and kind == wanted:
                size = len(value)
                if size < schema[keyword] if is_least else size > schema[keyword]:
                    issues.append(Issue(str(at), keyword))
        if (
            kind == "string"
            and "pattern" in schema
            and not self._is_found(schema["pattern"], value)
        ):
            issues.append(Issue(str(at), "pattern"))

    def _combine(
        self,
        schema: dict[str, Any],
        value: Any,
        at: Place,
        issues: list[Issue],
        take: Callable[[Outcome], None],
    ) -> None:
        for each in schema.get("allOf", ()):
            take(self._check(each, value, at))
        for keyword in ("anyOf", "oneOf"):
            if keyword not in schema:
                continue
            fitting = [
                each
                for each in (self._check(option, value, at) for option in schema[keyword])
                if not each.issues
            ]
            if not fitting or (keyword == "oneOf" and len(fitting) > 1):
                issues.append(Issue(str(at), keyword))
            for each in fitting:
                take(each)
        if "not" in schema and not self._check(schema["not"], value, at).issues:
            issues.append(Issue(str(at), "not"))
        if "if" in schema:
            condition = self._check(schema["if"], value, at)
            if not condition.issues:
                take(condition)
            branch = "else" if condition.issues else "then"
            if branch in schema:
                take(self._check(schema[branch], value, at))

    def _members(
        self,
        schema: dict[str, Any],
        value: dict[str, Any],
        at: Place,
        issues: list[Issue],
        members: set[str],
        take: Callable[[Outcome], None],
    ) -> None:
        self._budget.spend(len(value) + len(schema.get("required", ())))
        needed = list(schema.get("required", ()))
        for name, others in schema.get("dependentRequired", {}).items():
            self._budget.spend(1 + len(others))
            needed.extend(others if name in value else ())
        missing = [name for name in needed if name not in value]
        if missing:
            missed = missing[0][:_NAME_CHARACTERS]
            issues.append(Issue(str(at), "required", f"there is no {missed}"))
        for keyword in ("dependentSchemas", "properties"):
            self._budget.spend(len(schema.get(keyword, ())))
        for name, each in schema.get("dependentSchemas", {}).items():
            if name in value:
                take(self._check(each, value, at))
        if "propertyNames" in schema:
            for name in value:
                if self._check(schema["propertyNames"], name, at.below((name,))).issues:
                    _add(issues, [Issue(str(at.below(name)), "propertyNames")])
        own: set[str] = set()
        for name, each in schema.get("properties", {}).items():
            if name in value:
                own.add(name)
                _add(issues, self._check(each, value[name], at.below(name)).issues)
        for source, each in schema.get("patternProperties", {}).items():
            for name in value:
                if self._is_found(source, name):
                    own.add(name)
                    _add(issues, self._check(each, value[name], at.below(name)).issues)
        self._rest(schema, "additionalProperties", value, own, at, issues)
        members |= own
        self._rest(schema, "unevaluatedProperties", value, members, at, issues)

    def _rest(
        self,
        schema: dict[str, Any],
        keyword: str,
        value: dict[str, Any],
        known: set[str],
        at: Place,
        issues: list[Issue],
    ) -> None:
        """The result of a keyword for the members that no other keyword has evaluated."""
        if keyword not in schema:
            return
        self._budget.spend(len(value))
        for name in [each for each in value if each not in known]:
            known.add(name)
            if schema[keyword] is False:
                _add(issues, [Issue(str(at.below(name)), keyword)])
            else:
                _add(issues, self._check(schema[keyword], value[name], at.below(name)).issues)

    def _items(
        self,
        schema: dict[str, Any],
        value: list[Any],
        at: Place,
        issues: list[Issue],
        items: set[int],
    ) -> None:
        first = schema.get("prefixItems", ())
        for index, each in enumerate(first[: len(value)]):
            items.add(index)
            _add(issues, self._check(each, value[index], at.below(index)).issues)
        if "items" in schema:
            for index in range(len(first), len(value)):
                items.add(index)
                _add(issues, self._check(schema["items"], value[index], at.below(index)).issues)
        if "contains" in schema:
            fitting = [
                index
                for index, each in enumerate(value)
                if not self._check(schema["contains"], each, at.below(index)).issues
            ]
            items.update(fitting)
            if (
                not schema.get("minContains", 1)
                <= len(fitting)
                <= schema.get("maxContains", len(value))
            ):
                issues.append(Issue(str(at), "contains"))
        if schema.get("uniqueItems") is True:
            self._budget.spend(len(value))
            if len({self._spelled(each) for each in value}) < len(value):
                issues.append(Issue(str(at), "uniqueItems"))
        if "unevaluatedItems" in schema:
            self._budget.spend(len(value))
            for index in [each for each in range(len(value)) if each not in items]:
                items.add(index)
                if schema["unevaluatedItems"] is False:
                    _add(issues, [Issue(str(at.below(index)), "unevaluatedItems")])
                else:
                    found = self._check(schema["unevaluatedItems"], value[index], at.below(index))
                    _add(issues, found.issues)


def _add(issues: list[Issue], more: Iterable[Issue]) -> None:
    """Only as many faults are kept as are shown: a large value may have a million."""
    for each in more:
        if len(issues) >= _ISSUES_AT_MOST:
            return
        issues.append(each)


def _is_small(value: Any) -> bool:
    return isinstance(value, int) and abs(value) < 2**53
