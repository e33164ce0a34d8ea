"""A value held against a schema (JSON Schema 2020-12). `format` asserts nothing."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any, NamedTuple

from .json_text import stringify_json
from .pattern import Budget, compile_pattern
from .shape import pointer
from .shorthand import Schema

_STEPS_AT_MOST = 2_000_000


class Issue(NamedTuple):
    """One fault: where, the keyword that is broken, and what of it."""

    at: str
    keyword: str
    about: str = ""

    @property
    def message(self) -> str:
        fault = f"{self.at or 'the value'} breaks {self.keyword}"
        return f"{fault}: {self.about}" if self.about else fault


class Outcome(NamedTuple):
    """The faults, and which members and items some keyword has looked at."""

    issues: list[Issue]
    members: frozenset[str]
    items: frozenset[int]


_NOTHING: frozenset[Any] = frozenset()
_FITS = Outcome([], _NOTHING, _NOTHING)


def spelling(value: Any) -> str:
    """The same for values that are equal in JSON: the order of members and 1 or 1.0 are no difference."""
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
    "multipleOf": lambda value, bound: Decimal(str(value)) % Decimal(str(bound)) == 0,
}
_SIZES: dict[str, tuple[str, bool]] = {
    "minLength": ("string", True),
    "maxLength": ("string", False),
    "minItems": ("array", True),
    "maxItems": ("array", False),
    "minProperties": ("object", True),
    "maxProperties": ("object", False),
}


class Checker:
    """One check of one value. What was checked once is not checked again at the same place."""

    def __init__(self, targets: dict[int, Schema]) -> None:
        self._targets = targets
        self._budget = Budget(_STEPS_AT_MOST)
        self._known: dict[tuple[int, str], Outcome] = {}

    def check(self, schema: Schema, value: Any) -> list[Issue]:
        return self._check(schema, value, "").issues

    def _check(self, schema: Schema, value: Any, at: str) -> Outcome:
        self._budget.spend(1)
        if isinstance(schema, bool):
            return _FITS if schema else Outcome([Issue(at, "false")], _NOTHING, _NOTHING)
        known = self._known.get((id(schema), at))
        if known is None:
            self._budget.spend(len(schema))
            known = self._known[(id(schema), at)] = self._run(schema, value, at)
        return known

    def _run(self, schema: dict[str, Any], value: Any, at: str) -> Outcome:
        issues: list[Issue] = []
        members: set[str] = set()
        items: set[int] = set()

        def take(outcome: Outcome) -> None:
            issues.extend(outcome.issues)
            if not outcome.issues:
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
        self, schema: dict[str, Any], value: Any, kind: str, at: str, issues: list[Issue]
    ) -> None:
        if "type" in schema:
            types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
            is_one = kind in types or (
                "integer" in types and kind == "number" and _is_integer(value)
            )
            if not is_one:
                issues.append(Issue(at, "type"))
        for keyword in ("enum", "const"):
            if keyword in schema:
                allowed = schema["enum"] if keyword == "enum" else [schema["const"]]
                self._budget.spend(len(allowed))
                if spelling(value) not in map(spelling, allowed):
                    issues.append(Issue(at, keyword))
        if kind == "number":
            broken = [
                each
                for each, holds in _NUMBERS.items()
                if each in schema and not holds(value, schema[each])
            ]
            issues.extend(Issue(at, each) for each in broken)
        for keyword, (wanted, is_least) in _SIZES.items():
            if keyword in schema and kind == wanted:
                size = len(value)
                if size < schema[keyword] if is_least else size > schema[keyword]:
                    issues.append(Issue(at, keyword))
        if (
            kind == "string"
            and "pattern" in schema
            and not compile_pattern(schema["pattern"]).is_found_in(value, self._budget)
        ):
            issues.append(Issue(at, "pattern"))

    def _combine(
        self,
        schema: dict[str, Any],
        value: Any,
        at: str,
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
                issues.append(Issue(at, keyword))
            for each in fitting:
                take(each)
        if "not" in schema and not self._check(schema["not"], value, at).issues:
            issues.append(Issue(at, "not"))
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
        at: str,
        issues: list[Issue],
        members: set[str],
        take: Callable[[Outcome], None],
    ) -> None:
        needed = list(schema.get("required", ()))
        for name, others in schema.get("dependentRequired", {}).items():
            needed.extend(others if name in value else ())
        missing = [name for name in needed if name not in value]
        if missing:
            issues.append(Issue(at, "required", f"there is no {missing[0]}"))
        for name, each in schema.get("dependentSchemas", {}).items():
            if name in value:
                take(self._check(each, value, at))
        if "propertyNames" in schema:
            for name in value:
                if self._check(schema["propertyNames"], name, pointer(at, name) + "\0name").issues:
                    issues.append(Issue(pointer(at, name), "propertyNames"))
        own: set[str] = set()
        for name, each in schema.get("properties", {}).items():
            if name in value:
                own.add(name)
                issues.extend(self._check(each, value[name], pointer(at, name)).issues)
        for source, each in schema.get("patternProperties", {}).items():
            pattern = compile_pattern(source)
            for name in value:
                if pattern.is_found_in(name, self._budget):
                    own.add(name)
                    issues.extend(self._check(each, value[name], pointer(at, name)).issues)
        self._rest(schema, "additionalProperties", value, own, at, issues)
        members |= own
        self._rest(schema, "unevaluatedProperties", value, members, at, issues)

    def _rest(
        self,
        schema: dict[str, Any],
        keyword: str,
        value: dict[str, Any],
        known: set[str],
        at: str,
        issues: list[Issue],
    ) -> None:
        """What a keyword says of the members that the others have not looked at."""
        if keyword not in schema:
            return
        for name in [each for each in value if each not in known]:
            known.add(name)
            if schema[keyword] is False:
                issues.append(Issue(pointer(at, name), keyword))
            else:
                issues.extend(self._check(schema[keyword], value[name], pointer(at, name)).issues)

    def _items(
        self,
        schema: dict[str, Any],
        value: list[Any],
        at: str,
        issues: list[Issue],
        items: set[int],
    ) -> None:
        first = schema.get("prefixItems", ())
        for index, each in enumerate(first[: len(value)]):
            items.add(index)
            issues.extend(self._check(each, value[index], pointer(at, index)).issues)
        if "items" in schema:
            for index in range(len(first), len(value)):
                items.add(index)
                issues.extend(self._check(schema["items"], value[index], pointer(at, index)).issues)
        if "contains" in schema:
            fitting = [
                index
                for index, each in enumerate(value)
                if not self._check(schema["contains"], each, pointer(at, index)).issues
            ]
            items.update(fitting)
            if (
                not schema.get("minContains", 1)
                <= len(fitting)
                <= schema.get("maxContains", len(value))
            ):
                issues.append(Issue(at, "contains"))
        if schema.get("uniqueItems") is True:
            self._budget.spend(len(value))
            if len({spelling(each) for each in value}) < len(value):
                issues.append(Issue(at, "uniqueItems"))
        if "unevaluatedItems" in schema:
            for index in [each for each in range(len(value)) if each not in items]:
                items.add(index)
                if schema["unevaluatedItems"] is False:
                    issues.append(Issue(pointer(at, index), "unevaluatedItems"))
                else:
                    issues.extend(
                        self._check(
                            schema["unevaluatedItems"], value[index], pointer(at, index)
                        ).issues
                    )
