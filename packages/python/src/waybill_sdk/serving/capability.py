"""What is served, and whether an offer of it can be taken."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..protocol.contract import judge_offer, terms_of
from ..protocol.discovery import matches_version
from ..protocol.envelope import present
from ..protocol.error import WaybillError
from ..protocol.json_text import stringify_json
from ..protocol.manifest_shape import read_capability
from ..protocol.schema import CompiledSchema, compile_schema
from ..protocol.takes_from import takes_from


@dataclass(frozen=True)
class Served:
    capability: dict[str, Any]
    """The form that the manifest has, with every default filled in."""
    handler: Callable[[Any], Any]
    input: CompiledSchema
    output: CompiledSchema


def served_as(capability: dict[str, Any], handler: Callable[[Any], Any]) -> Served:
    read = read_capability(capability)
    return Served(
        read, handler, compile_schema(read["input_schema"]), compile_schema(read["output_schema"])
    )


@dataclass(frozen=True)
class Offered:
    """An offered handoff, and its delegator."""

    body: dict[str, Any]
    agent: str
    """The principal."""
    kid: str | None
    """The key that the handoff is signed with; None if its delegator acts for somebody else."""
    has_countered: bool
    """The same work was countered here before."""


def served_for(all_served: list[Served], offered: Offered) -> Served | None:
    """The served capability that a handoff asks for; of several versions the first that takes work
    from its delegator.
    """
    version = offered.body.get("version")
    wanted = [
        each
        for each in all_served
        if each.capability["name"] == offered.body["capability"]
        and (version is None or matches_version(each.capability["version"], version))
    ]
    return next((each for each in wanted if _is_for(each, offered)), wanted[0] if wanted else None)


def _is_for(served: Served, offered: Offered) -> bool:
    # Group membership is known to the hub only, and was checked there.
    return takes_from(served.capability, offered.agent, offered.kid, lambda _group: True)


def rejection_of(served: Served, offered: Offered) -> dict[str, Any] | None:
    """The body of the receipt that rejects an offer; None if it can be taken."""
    capability, body = served.capability, offered.body
    if not _is_for(served, offered):
        reason = f"{capability['name']} is not for {offered.agent}: its from names neither that agent nor the key that has signed this."
        return {"status": 403, "reason": reason}
    if "input" in body:
        size = len(stringify_json(body["input"]).encode("utf-8"))
        if size > capability["max_input_bytes"]:
            reason = f"The input has {size} bytes, and {capability['name']} takes at most {capability['max_input_bytes']}."
            return {"status": 413, "reason": reason}
    is_words_only = "input" not in body and ("brief" in body or "messages" in body)
    if not is_words_only or capability["takes"] == "structured":
        fault = _fault_of_input(served, body)
        if fault is not None:
            return {"status": 422, "reason": fault}
    verdict = judge_offer(
        body.get("contract"), terms_of(capability), has_countered=offered.has_countered
    )
    if verdict.verdict == "accept":
        return None
    return present(status=406, reason=verdict.reason, counter=verdict.contract)


def _fault_of_input(served: Served, body: dict[str, Any]) -> str | None:
    if "input" not in body:
        is_open = served.input.schema in (True, {})
        return (
            None if is_open else f"{served.capability['name']} needs an input, and there is none."
        )
    try:
        issues = served.input.check(body["input"])
    except WaybillError as error:
        return f"The input can't be checked: {error.message}"
    return f"The input breaks its schema: {issues[0].message}." if issues else None
