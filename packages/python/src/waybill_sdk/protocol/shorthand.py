"""Converts schemas in the shorthand of names and types to JSON Schema 2020-12 (WB-66)."""

from __future__ import annotations

from typing import Any, TypeAlias

from .error import WaybillError
from .limits import SCHEMA_DEPTH

Schema: TypeAlias = bool | dict[str, Any]

WORDS: dict[str, Schema] = {
    "string": {"type": "string"},
    "int": {"type": "integer"},
    "integer": {"type": "integer"},
    "float": {"type": "number"},
    "number": {"type": "number"},
    "bool": {"type": "boolean"},
    "boolean": {"type": "boolean"},
    "array": {"type": "array"},
    "list": {"type": "array"},
    "object": {"type": "object"},
    "dict": {"type": "object"},
    "null": {"type": "null"},
    "any": {},
}

SINGLE = frozenset(
    "items contains additionalProperties propertyNames unevaluatedItems unevaluatedProperties not if then else contentSchema".split()
)
LISTS = frozenset(("allOf", "anyOf", "oneOf", "prefixItems"))
MAPS = frozenset(("properties", "patternProperties", "$defs", "definitions", "dependentSchemas"))
KEYWORDS = (
    SINGLE
    | LISTS
    | MAPS
    | frozenset(
        "$schema $id $anchor $dynamicAnchor $ref $dynamicRef $comment $vocabulary type enum const multipleOf maximum exclusiveMaximum "
        "minimum exclusiveMinimum maxLength minLength pattern maxItems minItems uniqueItems maxContains minContains maxProperties "
        "minProperties required dependentRequired format title description default examples deprecated readOnly writeOnly "
        "contentEncoding contentMediaType discriminator".split()
    )
)


def normalize_schema(given: Any, depth: int = 0) -> Schema:
    """Returns a JSON Schema unchanged, and converts names and types to one."""
    if isinstance(given, bool):
        return given
    if not isinstance(given, dict):
        raise WaybillError(400, "A schema must be an object, true or false.")
    if depth > SCHEMA_DEPTH:
        raise WaybillError(413, f"The schema is nested deeper than {SCHEMA_DEPTH} levels.")
    if all(member in KEYWORDS or member.startswith("x-") for member in given):
        return given
    mixed = [
        member
        for member, value in given.items()
        if member in KEYWORDS and not isinstance(value, str)
    ]
    if mixed:
        raise WaybillError(
            400,
            f"The schema mixes two forms: {mixed[0]} is a JSON Schema keyword, and other members are field names. Write all of it as JSON Schema.",
        )
    fields = {member: _field(member, value, depth) for member, value in given.items()}
    required = [member for member, (_, is_required) in fields.items() if is_required]
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {member: each for member, (each, _) in fields.items()},
    }
    return {**schema, "required": required} if required else schema


def _field(member: str, value: Any, depth: int) -> tuple[Schema, bool]:
    if isinstance(value, dict):
        return normalize_schema(value, depth + 1), True
    if not isinstance(value, str):
        raise WaybillError(
            400,
            f"The type of {member} must be a word or an object. The words are: {', '.join(WORDS)}.",
            at=f"/{member}",
        )
    is_required = not value.endswith("?")
    word = value if is_required else value[:-1]
    schema: Schema | None
    if word.endswith("[]") and word[:-2] in WORDS:
        schema = {"type": "array", "items": WORDS[word[:-2]]}
    else:
        schema = WORDS.get(word)
    if schema is None:
        raise WaybillError(
            400,
            f"There is no type {word}. There are: {', '.join(WORDS)}; append [] for a list, or ? for an optional member.",
            at=f"/{member}",
        )
    return schema, is_required
