"""JSON by the rules of the protocol (WB-01, WB-07 to WB-11)."""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn

from .error import WaybillError
from .limits import JSON_DEPTH, SAFE_INTEGER

FORBIDDEN_NAMES = frozenset({"__proto__", "constructor", "prototype"})
_STRUCTURE = re.compile(r'"(?:[^"\\]+|\\.)*"?|[\[{]|[\]}]', re.DOTALL)
_SUSPECT = re.compile(r"\\u(?:0000|[dD][89a-fA-F])")


def parse_json(source: str | bytes) -> Any:
    """Reads one JSON value. Rejects invalid JSON with 400, and nesting that is too deep with 413."""
    text = _decoded(source)
    _check_depth(text)
    try:
        value = _DECODER.decode(text)
    except (ValueError, RecursionError) as error:
        raise WaybillError(400, f"Not JSON: {error}.", cause=error) from error
    # Only an escape can introduce an unpaired surrogate or a NUL: the text itself was checked.
    if _SUSPECT.search(text):
        _check_characters(value)
    return value


def stringify_json(value: Any) -> str:
    """Writes text that `parse_json` reads again."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as error:
        raise WaybillError(
            400, f"This can't be serialized as JSON: {error}.", cause=error
        ) from error
    parse_json(text)
    return text


def _decoded(source: str | bytes) -> str:
    try:
        if isinstance(source, bytes):
            return source.decode("utf-8")
        source.encode("utf-8")
        return source
    except UnicodeError as error:
        raise WaybillError(400, "The text is not UTF-8.", cause=error) from error


def _check_depth(text: str) -> None:
    if text.count("[") + text.count("{") <= JSON_DEPTH:
        return
    depth = 0
    for token in _STRUCTURE.finditer(text):
        character = text[token.start()]
        if character in "[{":
            depth += 1
            if depth > JSON_DEPTH:
                raise WaybillError(413, f"The JSON is nested deeper than {JSON_DEPTH} levels.")
        elif character in "]}":
            depth -= 1


def _check_characters(value: Any) -> None:
    if isinstance(value, str):
        if "\0" in value:
            raise WaybillError(400, "The JSON has the character U+0000, which is not allowed.")
        try:
            value.encode("utf-8")
        except UnicodeEncodeError as error:
            raise WaybillError(400, "The JSON has a lone surrogate.", cause=error) from error
    elif isinstance(value, list):
        for each in value:
            _check_characters(each)
    elif isinstance(value, dict):
        for name, each in value.items():
            _check_characters(name)
            _check_characters(each)


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise WaybillError(400, "An object has the same member name twice.")
    if not FORBIDDEN_NAMES.isdisjoint(members):
        raise WaybillError(400, f"No member may be called {', '.join(sorted(FORBIDDEN_NAMES))}.")
    return members


def _integer(digits: str) -> int:
    if len(digits) > 17 or abs(int(digits)) > SAFE_INTEGER:
        raise WaybillError(
            400, f"The integer {digits[:20]} is beyond 2^53 - 1: write it as a string."
        )
    return int(digits)


def _number(text: str) -> float:
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise WaybillError(400, "The JSON has a number that a double can't hold.")
    if value.is_integer() and not _is_whole(text):
        raise WaybillError(
            400, f"The number {text[:20]} is not whole, and as a double it would be {value:g}."
        )
    return value


def _is_whole(text: str) -> bool:
    """Decides by the digits, of which a double keeps seventeen."""
    mantissa, _, exponent = text.lower().lstrip("-").partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = whole + fraction
    kept = digits.rstrip("0")
    # An exponent of so many digits can't be offset by the fraction.
    power = float(exponent or "0")
    return kept == "" or power - len(fraction) + len(digits) - len(kept) >= 0


def _constant(word: str) -> NoReturn:
    raise WaybillError(400, f"Not JSON: {word}.")


_DECODER = json.JSONDecoder(
    object_pairs_hook=_members, parse_int=_integer, parse_float=_number, parse_constant=_constant
)
