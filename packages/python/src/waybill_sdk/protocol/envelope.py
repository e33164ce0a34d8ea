"""Reads, creates and signs envelopes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from . import jws
from .envelope_shape import check_envelope
from .error import WaybillError
from .ids import new_id, new_salt
from .instant import format_time, now_ms, parse_time
from .json_text import parse_json, stringify_json
from .key import PrivateKey, PublicKey
from .limits import CLOCK_SKEW_MS, DEADLINE_AHEAD_MS

Envelope = dict[str, Any]
"""An envelope with its wire names."""


@dataclass(frozen=True)
class KeyRecord:
    """A key, its owner, and its validity in milliseconds since 1970."""

    agent: str
    key: PublicKey
    not_before: int | None = None
    not_after: int | None = None
    retired_at: int | None = None

    def is_valid_at(self, at: int) -> bool:
        if self.not_before is not None and at < self.not_before:
            return False
        ends = [each for each in (self.not_after, self.retired_at) if each is not None]
        return all(at < end for end in ends)


@dataclass(frozen=True)
class VerifiedEnvelope:
    """An envelope, and the exact bytes that were verified: these are stored, forwarded and
    digested."""

    envelope: Envelope
    text: str
    digest: str
    kid: str


def parse_envelope(payload: bytes) -> Envelope:
    envelope: Envelope = parse_json(payload)
    check_envelope(envelope)
    start = start_ms(envelope)
    if start is not None and start >= deadline_ms(envelope):
        raise WaybillError(
            400,
            "The work may not start before its deadline, so it can't be done; give it a later deadline.",
            at="/not_before",
        )
    return envelope


def verify_envelope(
    text: str,
    *,
    key_of: Callable[[str], KeyRecord | None],
    at: int | None = None,
    to: str | None = None,
    domain: str | None = None,
    roots: jws.Roots | None = None,
) -> VerifiedEnvelope:
    """Verifies first, then reads exactly the bytes that were verified (WB-21).

    `to` and `domain` are the reader's own: an envelope for another is rejected (WB-31, WB-85).
    """
    at = now_ms() if at is None else at
    compact = jws.read_compact(text)
    record = key_of(compact.kid)
    if record is None:
        raise WaybillError(401, f"The key {compact.kid} does not belong to an agent known here.")
    jws.verify(compact, record.key, roots)
    if not record.is_valid_at(at):
        raise WaybillError(
            401, f"The key {compact.kid} of {record.agent} is not valid at {format_time(at)}."
        )
    envelope = parse_envelope(compact.payload)
    if envelope["from"] != record.agent:
        raise WaybillError(
            401,
            f"It claims to be from {envelope['from']}, but it was signed by {record.agent}.",
            at="/from",
        )
    _check_times(envelope, at)
    if to is not None and envelope["to"] != to:
        raise WaybillError(403, f"It is not for {to}.", at="/to")
    if domain is not None and envelope.get("domain", domain) != domain:
        raise WaybillError(
            403,
            f"The handoff is meant for the custody domain {envelope['domain']}, but this is {domain}.",
            at="/domain",
        )
    return VerifiedEnvelope(envelope, text, compact.digest, compact.kid)


def _check_times(envelope: Envelope, at: int) -> None:
    issued = _ms(envelope["issued_at"])
    if issued > at + CLOCK_SKEW_MS:
        raise WaybillError(
            401, "It was issued in the future: one of the two clocks is wrong.", at="/issued_at"
        )
    if envelope["kind"] == "handoff":
        ahead = _ms(envelope["deadline"]) - issued
        if ahead <= 0:
            raise WaybillError(
                400, "The deadline is not later than the time of issue.", at="/deadline"
            )
        if ahead > DEADLINE_AHEAD_MS:
            raise WaybillError(401, "The deadline is more than 366 days ahead.", at="/deadline")


def _ms(text: str) -> int:
    ms = parse_time(text)
    if ms is None:
        raise WaybillError(400, f"{text} is not a valid time.")
    return ms


def deadline_ms(handoff: Envelope) -> int:
    return _ms(handoff["deadline"])


def start_ms(handoff: Envelope) -> int | None:
    """The earliest time at which the work may start; None if it may start at once (WB-101)."""
    return None if "not_before" not in handoff else _ms(handoff["not_before"])


def sign_envelope(envelope: Envelope, key: PrivateKey) -> str:
    return sign_envelopes([envelope], key)[0]


def sign_envelopes(envelopes: Sequence[Envelope], key: PrivateKey) -> list[str]:
    """Several envelopes share one signature."""
    payloads = []
    for envelope in envelopes:
        check_envelope(envelope)
        payloads.append(stringify_json(envelope))
    texts = jws.sign_batch(payloads, key)
    for text in texts:
        jws.read_compact(text)
    return texts


def create_handoff(
    *,
    sender: str,
    domain: str,
    body: dict[str, Any],
    to: str | dict[str, Any] | None = None,
    timeout: float | None = None,
    deadline: int | None = None,
    not_before: int | None = None,
    priority: int | None = None,
    handoff_id: str | None = None,
    parent: Envelope | None = None,
    correlation_id: str | None = None,
    group: dict[str, Any] | None = None,
    session: dict[str, Any] | None = None,
    replay_of: str | None = None,
    on_behalf_of: str | None = None,
    traceparent: str | None = None,
    tracestate: str | None = None,
    at: int | None = None,
) -> Envelope:
    """The envelope of a new handoff. A child never outlives its parent: its deadline is limited to
    the parent's (WB-41)."""
    now = now_ms() if at is None else at
    inherited = None if parent is None else deadline_ms(parent)
    ends = [each for each in (deadline, inherited) if each is not None]
    if timeout is not None:
        ends.append(max(now, not_before or now) + int(timeout * 1000))
    if not ends:
        raise WaybillError(
            400,
            "A handoff must have a deadline: give timeout, deadline, or the parent whose deadline it shares.",
            at="/deadline",
        )
    envelope_id = new_id()
    trace = traceparent
    if parent is not None:
        trace = _trace_of_child(traceparent, parent.get("traceparent"))
    wanted = {"capability": body["capability"], "version": body.get("version")}
    return present(
        waybill=1,
        kind="handoff",
        id=envelope_id,
        **{"from": sender},
        domain=domain,
        to=present(**wanted) if to is None else to,
        handoff_id=handoff_id or envelope_id,
        correlation_id=parent["correlation_id"] if parent else correlation_id or new_id(),
        parent_id=parent["handoff_id"] if parent else None,
        hop=parent.get("hop", 0) + 1 if parent else None,
        group=group,
        session=session,
        replay_of=replay_of,
        on_behalf_of=on_behalf_of,
        issued_at=format_time(now),
        salt=new_salt(),
        deadline=format_time(min(ends)),
        not_before=None if not_before is None else format_time(not_before),
        priority=parent.get("priority") if parent and priority is None else priority,
        traceparent=trace,
        tracestate=tracestate or (parent.get("tracestate") if parent else None),
        body=body,
    )


def _trace_of_child(own: str | None, inherited: str | None) -> str | None:
    if own is None or inherited is None or own.split("-")[1:2] == inherited.split("-")[1:2]:
        return own or inherited
    raise WaybillError(
        400,
        f"A child must belong to the trace of its parent, {inherited}, not to {own}.",
        at="/traceparent",
    )


def create_reply(
    handoff: Envelope,
    kind: str,
    sender: str,
    body: dict[str, Any],
    *,
    to: str | None = None,
    **members: Any,
) -> Envelope:
    """An envelope about a handoff: ids, correlation and trace are copied from it, so they always
    match."""
    return present(
        waybill=1,
        kind=kind,
        id=new_id(),
        **{"from": sender},
        to=to or handoff["from"],
        handoff_id=handoff["handoff_id"],
        correlation_id=handoff["correlation_id"],
        issued_at=format_time(now_ms()),
        salt=new_salt(),
        traceparent=handoff.get("traceparent"),
        **members,
        body=body,
    )


def present(**members: Any) -> dict[str, Any]:
    """The members that are not None: on the wire, optional members are omitted and not null."""
    return {name: value for name, value in members.items() if value is not None}
