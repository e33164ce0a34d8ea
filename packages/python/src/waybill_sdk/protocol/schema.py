"""Untrusted schemas: checked before they are used, with bounded work (WB-66 to WB-69)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

from .error import WaybillError
from .json_text import FORBIDDEN_NAMES
from .limits import (
    CHECK_STEPS,
    MANIFEST_PATTERN_STATES,
    MANIFEST_SCHEMA_CHARACTERS,
    MANIFEST_SCHEMAS,
    SCHEMA_DEPTH,
    SCHEMA_NODES,
)
from .pattern import Budget, Pattern, compile_pattern
from .schema_check import Checker, Issue, spelling
from .shorthand import LISTS, MAPS, SINGLE, Schema, normalize_schema

_TYPES = frozenset(("null", "boolean", "object", "array", "number", "string", "integer"))
_COUNTS = (
    "maxLength",
    "minLength",
    "maxItems",
    "minItems",
    "maxContains",
    "minContains",
    "maxProperties",
    "minProperties",
)
_NUMBERS = ("multipleOf", "maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum")
_LEADS_ON = SINGLE | LISTS | MAPS | {"$ref", "$dynamicRef"}
# Keywords that apply to the same value, and not to a part of it: a cycle of these never ends.
_IN_PLACE = frozenset(("allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas"))


class Allowance:
    """What the schemas of one manifest may contain together; each uses a share of the remainder."""

    def __init__(self) -> None:
        self._left = {
            "schemas": MANIFEST_SCHEMAS,
            "characters": MANIFEST_SCHEMA_CHARACTERS,
            "pattern states": MANIFEST_PATTERN_STATES,
        }

    def take(self, what: str, count: int) -> None:
        self._left[what] -= count
        if self._left[what] < 0:
            raise WaybillError(
                413, f"The schemas are too large together: they have too many {what}."
            )


class CompiledSchema:
    """A schema that was checked, with its references resolved."""

    def __init__(self, given: Any, allowance: Allowance | None = None) -> None:
        allowed = allowance or Allowance()
        allowed.take("characters", _characters(given))
        self.schema: Schema = normalize_schema(given)
        self._nodes = list(_nodes(self.schema, allowed))
        self.patterns: dict[str, Pattern] = {}
        self._spelled: dict[tuple[int, str], frozenset[str]] = {}
        anchors: dict[str, Schema] = {}
        for node in self._nodes:
            _judge(node)
            for source in _patterns_of(node):
                if source not in self.patterns:
                    self.patterns[source] = compile_pattern(source)
                    allowed.take("pattern states", self.patterns[source].size)
            for keyword in ("$anchor", "$dynamicAnchor"):
                if isinstance(node.get(keyword), str):
                    anchors[node[keyword]] = node
        self._are_nodes = {id(node) for node in self._nodes}
        # A schema without subschemas costs no more than remembering its result.
        self.leaves = {id(node) for node in self._nodes if _LEADS_ON.isdisjoint(node)}
        self.targets: dict[int, Schema] = {}
        for node in self._nodes:
            for keyword in ("$ref", "$dynamicRef"):
                if keyword in node:
                    self.targets[id(node)] = self._resolve(node[keyword], anchors)
        self._refuse_circles()

    def check(self, value: Any, budget: Budget | None = None) -> list[Issue]:
        """The faults of a value, or the first of them; none if it is valid. Raises 413 if that
        costs more than one check may, or more than is left of a budget that several checks share
        (WB-69, WB-92).
        """
        given = CHECK_STEPS if budget is None else min(CHECK_STEPS, budget.left)
        own = Budget(given)
        try:
            return Checker(self, own).check(self.schema, value)
        finally:
            if budget is not None:
                budget.left -= given - own.left

    def allowed(self, node: dict[str, Any], keyword: str) -> frozenset[str]:
        """The spellings of the values that `enum` or `const` allows, cached."""
        found = self._spelled.get((id(node), keyword))
        if found is None:
            values = node["enum"] if keyword == "enum" else [node["const"]]
            found = self._spelled[(id(node), keyword)] = frozenset(map(spelling, values))
        return found

    def _resolve(self, reference: Any, anchors: dict[str, Schema]) -> Schema:
        if not isinstance(reference, str) or not reference.startswith("#"):
            raise WaybillError(
                400,
                f"The reference {reference!r} leads out of the schema, and nothing is fetched. Use $defs.",
            )
        path = unquote(reference[1:])
        if not path.startswith("/"):
            target: Any = self.schema if path == "" else anchors.get(path)
        else:
            target = self.schema
            for step in path[1:].split("/"):
                target = _member(target, step.replace("~1", "/").replace("~0", "~"))
        if not isinstance(target, bool) and id(target) not in self._are_nodes:
            raise WaybillError(400, f"The reference {reference} leads nowhere.")
        return target  # type: ignore[no-any-return]

    def _refuse_circles(self) -> None:
        done: set[int] = set()
        for start in self._nodes:
            stack: list[tuple[Schema, bool]] = [(start, False)]
            under_way: set[int] = set()
            while stack:
                node, is_left = stack.pop()
                if isinstance(node, bool):
                    continue
                if is_left:
                    under_way.discard(id(node))
                    done.add(id(node))
                elif id(node) in under_way:
                    raise WaybillError(
                        400, "A schema that refers to itself without going deeper has no end."
                    )
                elif id(node) not in done:
                    under_way.add(id(node))
                    stack.append((node, True))
                    stack.extend((each, False) for each in self._in_place(node))

    def _in_place(self, node: dict[str, Any]) -> Iterator[Schema]:
        if id(node) in self.targets:
            yield self.targets[id(node)]
        for keyword in _IN_PLACE & node.keys():
            value = node[keyword]
            if keyword in LISTS:
                yield from value
            elif keyword in MAPS:
                yield from value.values()
            else:
                yield value


def compile_schema(given: Any, allowance: Allowance | None = None) -> CompiledSchema:
    return CompiledSchema(given, allowance)


def _characters(given: Any) -> int:
    """The characters of names and texts, and eight for each value (WB-93)."""
    count = 0
    stack = [given]
    while stack:
        value = stack.pop()
        count += 8
        if isinstance(value, str):
            count += utf16_length(value)
        elif isinstance(value, list):
            stack.extend(value)
        elif isinstance(value, dict):
            count += sum(map(utf16_length, value))
            stack.extend(value.values())
    return count


def utf16_length(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def _patterns_of(node: dict[str, Any]) -> Iterator[str]:
    if "pattern" in node:
        if not isinstance(node["pattern"], str):
            raise WaybillError(400, "A pattern must be a string.")
        yield node["pattern"]
    yield from node.get("patternProperties", ())


def _member(target: Any, step: str) -> Any:
    if isinstance(target, list) and step.isascii() and step.isdigit() and int(step) < len(target):
        return target[int(step)]
    return target.get(step) if isinstance(target, dict) else None


def _nodes(root: Schema, allowance: Allowance) -> Iterator[dict[str, Any]]:
    """Every schema that is an object, the root first."""
    count = 0
    stack: list[tuple[Any, int]] = [(root, 0)]
    while stack:
        node, depth = stack.pop()
        count += 1
        if count > SCHEMA_NODES:
            raise WaybillError(413, f"The schema has more than {SCHEMA_NODES} subschemas.")
        allowance.take("schemas", 1)
        if depth > SCHEMA_DEPTH:
            raise WaybillError(413, f"The schema is nested deeper than {SCHEMA_DEPTH} levels.")
        if isinstance(node, bool):
            continue
        if not isinstance(node, dict):
            raise WaybillError(400, "A schema must be an object, true or false.")
        yield node
        stack.extend((each, depth + 1) for each in _inside(node))


def _inside(node: dict[str, Any]) -> Iterator[Any]:
    for keyword, value in node.items():
        if keyword in SINGLE:
            yield value
        elif keyword in LISTS:
            if not isinstance(value, list) or (not value and keyword != "prefixItems"):
                raise WaybillError(400, f"{keyword} must be a list of schemas.")
            yield from value
        elif keyword in MAPS:
            if not isinstance(value, dict):
                raise WaybillError(400, f"{keyword} must be an object of schemas.")
            yield from value.values()


def _judge(node: dict[str, Any]) -> None:
    for keyword in MAPS & node.keys():
        if not FORBIDDEN_NAMES.isdisjoint(node[keyword]):
            raise WaybillError(
                400, f"No member may be called {', '.join(sorted(FORBIDDEN_NAMES))}."
            )
    types = node.get("type", "object")
    for each in types if isinstance(types, list) else [types]:
        if not isinstance(each, str) or each not in _TYPES:
            raise WaybillError(
                400, f"There is no type {each!r}. There are: {', '.join(sorted(_TYPES))}."
            )
    for keyword in _COUNTS:
        value = node.get(keyword, 0)
        if (
            isinstance(value, bool)
            or not isinstance(value, int | float)
            or value < 0
            or value != int(value)
        ):
            raise WaybillError(400, f"{keyword} must be a whole number of at least 0.")
    for keyword in _NUMBERS:
        value = node.get(keyword, 1)
        if (
            isinstance(value, bool)
            or not isinstance(value, int | float)
            or (keyword == "multipleOf" and value <= 0)
        ):
            raise WaybillError(400, f"{keyword} must be a number, and multipleOf must be above 0.")
    if not isinstance(node.get("enum", []), list):
        raise WaybillError(400, "enum must be a list.")
    required = [node.get("required", []), *node.get("dependentRequired", {}).values()]
    if any(
        not isinstance(each, list) or any(not isinstance(name, str) for name in each)
        for each in required
    ):
        raise WaybillError(400, "required must be a list of names.")
