"""Schemas of strangers: judged before they are used, and never more work than is bounded (WB-66 to WB-69)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

from .error import WaybillError
from .json_text import FORBIDDEN_NAMES
from .limits import SCHEMA_DEPTH, SCHEMA_NODES
from .pattern import compile_pattern
from .schema_check import Checker, Issue
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
# What is applied to the very value, and not to a part of it: a circle of these never comes to an end.
_IN_PLACE = frozenset(("allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas"))


class CompiledSchema:
    """A schema that was judged, with its references led to where they lead."""

    def __init__(self, given: Any) -> None:
        self.schema: Schema = normalize_schema(given)
        self._nodes = list(_nodes(self.schema))
        anchors: dict[str, Schema] = {}
        for node in self._nodes:
            _judge(node)
            for keyword in ("$anchor", "$dynamicAnchor"):
                if isinstance(node.get(keyword), str):
                    anchors[node[keyword]] = node
        self._targets: dict[int, Schema] = {}
        for node in self._nodes:
            for keyword in ("$ref", "$dynamicRef"):
                if keyword in node:
                    self._targets[id(node)] = self._resolve(node[keyword], anchors)
        self._refuse_circles()

    def check(self, value: Any) -> list[Issue]:
        """The faults of a value; none where it fits."""
        return Checker(self._targets).check(self.schema, value)

    def _resolve(self, reference: Any, anchors: dict[str, Schema]) -> Schema:
        if not isinstance(reference, str) or not reference.startswith("#"):
            raise WaybillError(
                400,
                f"The reference {reference!r} leads out of the schema; nothing is fetched for one. Use $defs.",
            )
        path = unquote(reference[1:])
        if not path.startswith("/"):
            target: Any = self.schema if path == "" else anchors.get(path)
        else:
            target = self.schema
            for step in path[1:].split("/"):
                target = _member(target, step.replace("~1", "/").replace("~0", "~"))
        if not isinstance(target, bool) and not any(target is node for node in self._nodes):
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
        if id(node) in self._targets:
            yield self._targets[id(node)]
        for keyword in _IN_PLACE & node.keys():
            value = node[keyword]
            if keyword in LISTS:
                yield from value
            elif keyword in MAPS:
                yield from value.values()
            else:
                yield value


def compile_schema(given: Any) -> CompiledSchema:
    return CompiledSchema(given)


def _member(target: Any, step: str) -> Any:
    if isinstance(target, list) and step.isascii() and step.isdigit() and int(step) < len(target):
        return target[int(step)]
    return target.get(step) if isinstance(target, dict) else None


def _nodes(root: Schema) -> Iterator[dict[str, Any]]:
    """Every schema that is an object, the root first."""
    count = 0
    stack: list[tuple[Any, int]] = [(root, 0)]
    while stack:
        node, depth = stack.pop()
        count += 1
        if count > SCHEMA_NODES:
            raise WaybillError(413, f"A schema of more than {SCHEMA_NODES} schemas.")
        if depth > SCHEMA_DEPTH:
            raise WaybillError(
                413, f"A schema with more than {SCHEMA_DEPTH} schemas inside one another."
            )
        if isinstance(node, bool):
            continue
        if not isinstance(node, dict):
            raise WaybillError(
                400, "Where a schema should be there is neither an object nor true nor false."
            )
        yield node
        stack.extend((each, depth + 1) for each in _inside(node))


def _inside(node: dict[str, Any]) -> Iterator[Any]:
    for keyword, value in node.items():
        if keyword in SINGLE:
            yield value
        elif keyword in LISTS:
            if not isinstance(value, list) or (not value and keyword != "prefixItems"):
                raise WaybillError(400, f"{keyword} is a list of schemas.")
            yield from value
        elif keyword in MAPS:
            if not isinstance(value, dict):
                raise WaybillError(400, f"{keyword} is an object of schemas.")
            yield from value.values()


def _judge(node: dict[str, Any]) -> None:
    for keyword in ("pattern",):
        if keyword in node:
            if not isinstance(node[keyword], str):
                raise WaybillError(400, "A pattern is a text.")
            compile_pattern(node[keyword])
    for source in node.get("patternProperties", {}):
        compile_pattern(source)
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
            raise WaybillError(400, f"{keyword} is a whole number from 0.")
    for keyword in _NUMBERS:
        value = node.get(keyword, 1)
        if (
            isinstance(value, bool)
            or not isinstance(value, int | float)
            or (keyword == "multipleOf" and value <= 0)
        ):
            raise WaybillError(400, f"{keyword} is a number, and multipleOf above 0.")
    if not isinstance(node.get("enum", []), list):
        raise WaybillError(400, "enum is a list.")
    required = [node.get("required", []), *node.get("dependentRequired", {}).values()]
    if any(
        not isinstance(each, list) or any(not isinstance(name, str) for name in each)
        for each in required
    ):
        raise WaybillError(400, "required is a list of names.")
