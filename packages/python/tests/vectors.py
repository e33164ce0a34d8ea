"""The cases of packages/spec/vectors, read as its README describes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

SPEC = Path(__file__).parents[2] / "spec"


def cases(name: str) -> list[dict[str, Any]]:
    loaded: dict[str, Any] = json.loads((SPEC / "vectors" / f"{name}.json").read_text("utf-8"))
    return list(loaded["cases"])


def text_of(value: Any) -> str:
    if isinstance(value, str):
        return value
    if "concat" in value:
        return "".join(map(text_of, value["concat"]))
    return str(value["repeat"]) * int(value["times"])


def holds(wanted: Any, found: Any) -> bool:
    """Whether the found value contains the wanted one: an object may have more members, a list may
    not."""
    if isinstance(wanted, dict):
        return isinstance(found, dict) and all(
            name in found and holds(each, found[name]) for name, each in wanted.items()
        )
    if isinstance(wanted, list):
        return (
            isinstance(found, list) and len(wanted) == len(found) and all(map(holds, wanted, found))
        )
    return (type(wanted) is type(found) and wanted == found) or (
        isinstance(wanted, (int, float))
        and isinstance(found, (int, float))
        and not isinstance(wanted, bool)
        and wanted == found
    )
