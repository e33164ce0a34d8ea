"""Checks that a hub's record keeps the promises P1 to P4: every handoff ends once, on time,
confirmed by a party that may confirm it, and nothing is mixed up."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from .addressee import is_addressed
from .envelope import Envelope, deadline_ms
from .lifecycle import Event, Handoff, step
from .lifecycle_event import event_of

_PROMISE = {
    "P1": "acceptance_not_by_recipient acceptance_of_other_digest custody_not_by_hub custody_without_envelope "
    "acknowledged_without_envelope",
    "P2": "against_rules event_refused ended_twice after_end parent_not_ended never_ended repeat_not_noticed duplicate_of_nothing "
    "applied_before_end applied_not_outcome applied_twice effect_key effect_twice",
    "P3": "child_outlives_parent completed_late expired_early open_past_deadline dead_letter_without_reason",
    "P4": "addressed_to_another correlation_differs trace_differs child_correlation_differs child_trace_differs result_not_by_recipient "
    "result_of_other_digest group_differs group_index_out_of_range group_index_taken applied_of_another applied_by_another",
}
PROMISE_OF = {rule: promise for promise, rules in _PROMISE.items() for rule in rules.split()}
_ENDS = frozenset(
    ("result", "cancel", "reject", "expire", "parent_ended", "group_decided", "dead_letter")
)


@dataclass(frozen=True)
class Violation:
    promise: str
    rule: str
    index: int


@dataclass
class _Record:
    envelope: Envelope
    handoff: Handoff | None = None
    outcome: str | None = None
    is_applied: bool = False
    has_effect: bool = False


@dataclass
class _Group:
    envelope: Envelope
    places: dict[int, str] = field(default_factory=dict)


def check_history(
    entries: Iterable[dict[str, Any]], *, is_complete: bool, hub: str, clock_skew_ms: int = 0
) -> list[Violation]:
    """Every broken promise, in the order of the violations."""
    checker = _Checker(hub, clock_skew_ms)
    for index, entry in enumerate(entries):
        checker.take(index, entry)
    if is_complete:
        checker.complete()
    return checker.violations


class _Checker:
    def __init__(self, hub: str, skew: int) -> None:
        self.violations: list[Violation] = []
        self._hub, self._skew = hub, skew
        self._records: dict[str, _Record] = {}
        self._groups: dict[str, _Group] = {}
        self._seen: dict[str, Envelope] = {}
        """Envelopes by their digests."""
        self._lists: dict[str, Envelope] = {}
        """Acknowledgements of several handoffs, by their digests."""
        self._outcomes: dict[str, str] = {}
        self._index, self._now = -1, 0

    def take(self, index: int, entry: dict[str, Any]) -> None:
        self._index, self._now = index, entry["at"]
        if entry["type"] == "envelope":
            self._envelope(entry)
            self._seen[entry["digest"]] = entry["envelope"]
        elif entry["type"] == "event":
            self._event(entry)
        elif entry["type"] == "applied":
            self._applied(entry)
        elif entry["type"] == "effect":
            self._effect(entry)

    def complete(self) -> None:
        self._index = -1
        for record in self._records.values():
            handoff = record.handoff
            if handoff is not None and handoff.is_open:
                self._broken("never_ended")
                if self._now >= handoff.deadline + self._skew:
                    self._broken("open_past_deadline")

    def _broken(self, rule: str) -> None:
        self.violations.append(Violation(PROMISE_OF[rule], rule, self._index))

    def _envelope(self, entry: dict[str, Any]) -> None:
        envelope: Envelope = entry["envelope"]
        digest, claimed = entry["digest"], entry.get("status")
        record = self._records.get(envelope["handoff_id"])
        event = event_of(envelope, digest, entry["at"])
        if claimed == 201 and digest not in self._seen:
            self._broken("duplicate_of_nothing")
        if "also" in envelope["body"] and envelope["body"]["status"] == 200:
            return self._list(envelope, record, digest, claimed)
        if event is None:
            return self._of_hub(envelope, record, digest)
        if "terms" in entry:
            event["terms"] = entry["terms"]
        before = record.handoff if record else None
        after, reply = step(before, event)
        is_taken = reply == 100 if claimed is None else claimed == 100
        if is_taken and reply != 100:
            self._broken(self._why(event, before, digest, reply))
        elif is_taken and before is not None and not is_addressed(envelope, before, self._hub):
            self._broken("addressed_to_another")
        elif is_taken:
            self._related(envelope, record)
            record = record or self._records.setdefault(envelope["handoff_id"], _Record(envelope))
            self._moved(record, after)

    def _moved(self, record: _Record, after: Handoff | None) -> None:
        record.handoff = after
        if after is not None and not after.is_open and after.ending is not None:
            self._outcome(record, after.ending)

    def _outcome(self, record: _Record, digest: str) -> None:
        record.outcome = digest
        self._outcomes[digest] = record.envelope["handoff_id"]

    def _list(
        self, envelope: Envelope, record: _Record | None, digest: str, claimed: int | None
    ) -> None:
        """It changes nothing by itself: the hub records an event for each handoff."""
        if claimed is not None and claimed >= 400:
            return
        self._lists[digest] = envelope
        if record is not None:
            self._same(envelope, record.envelope, "")
        if envelope["to"] != self._hub:
            self._broken("addressed_to_another")

    def _is_listed(self, event: Event, id: str, delegator: str) -> bool:
        envelope = self._lists.get(event["in"])
        if envelope is None or envelope["from"] != delegator:
            return False
        named = [envelope, *envelope["body"]["also"]]
        return any(each["handoff_id"] == id and each["re"] == event["outcome"] for each in named)

    def _of_hub(self, envelope: Envelope, record: _Record | None, digest: str) -> None:
        """Envelopes that confirm or inform, and change nothing."""
        body = envelope["body"]
        if envelope["kind"] == "receipt" and body["status"] == 100:
            if record is not None:
                self._same(envelope, record.envelope, "")
            if envelope["from"] != self._hub:
                return self._broken("custody_not_by_hub")
            for named in [envelope, *body.get("also", [])]:
                self._confirmed(named, envelope["to"])
        elif envelope["kind"] == "notice":
            if record is not None and envelope["to"] != record.envelope["from"]:
                self._broken("addressed_to_another")
            if body["reason"].strip() == "":
                self._broken("dead_letter_without_reason")
            if (
                record is not None
                and record.outcome is None
                and record.handoff is not None
                and not record.handoff.is_open
            ):
                self._outcome(record, digest)

    def _confirmed(self, named: dict[str, Any], reader: str) -> None:
        """One of the envelopes that a custody receipt names."""
        taken = self._seen.get(named["re"])
        if taken is None or taken["handoff_id"] != named["handoff_id"]:
            self._broken("custody_without_envelope")
        elif taken["from"] != reader:
            self._broken("addressed_to_another")

    def _why(self, event: Event, before: Handoff | None, digest: str, reply: int) -> str:
        """The rule that the hub violated by accepting it."""
        kind = event["type"]
        if digest in self._seen:
            return "repeat_not_noticed"
        if before is not None and not before.is_open:
            return "ended_twice" if kind in _ENDS else "after_end"
        of_attempt = {"accept": "acceptance", "result": "result"}.get(kind)
        if of_attempt is not None and reply in (403, 409):
            return f"{of_attempt}_{'not_by_recipient' if reply == 403 else 'of_other_digest'}"
        if (
            before is not None
            and kind == "result"
            and event["status"] == 200
            and event["at"] >= before.deadline
        ):
            return "completed_late"
        return "against_rules"

    def _related(self, envelope: Envelope, record: _Record | None) -> None:
        if record is not None:
            self._same(envelope, record.envelope, "")
        elif envelope["kind"] == "handoff":
            parent = self._records.get(envelope.get("parent_id", ""))
            if parent is not None:
                if deadline_ms(envelope) > deadline_ms(parent.envelope):
                    self._broken("child_outlives_parent")
                self._same(envelope, parent.envelope, "child_")
            if "group" in envelope:
                self._grouped(envelope)

    def _same(self, one: Envelope, other: Envelope, whose: str) -> None:
        if one["correlation_id"] != other["correlation_id"]:
            self._broken(f"{whose}correlation_differs")
        traces = [each.get("traceparent", "").split("-")[1:2] for each in (one, other)]
        if all(traces) and traces[0] != traces[1]:
            self._broken(f"{whose}trace_differs")

    def _grouped(self, envelope: Envelope) -> None:
        place = envelope["group"]
        group = self._groups.setdefault(place["id"], _Group(envelope))
        first = group.envelope["group"]
        same = all(place.get(member) == first.get(member) for member in ("size", "join", "quorum"))
        if not same or envelope["correlation_id"] != group.envelope["correlation_id"]:
            return self._broken("group_differs")
        if place["index"] >= place["size"]:
            return self._broken("group_index_out_of_range")
        holder = group.places.get(place["index"])
        if holder not in (None, envelope["handoff_id"], envelope.get("replay_of")):
            return self._broken("group_index_taken")
        group.places[place["index"]] = envelope["handoff_id"]

    def _event(self, entry: dict[str, Any]) -> None:
        record, event = self._records.get(entry["handoff_id"]), entry["event"]
        before = record.handoff if record else None
        if event["type"] == "parent_ended" and before is not None and record is not None:
            parent = self._records.get(record.envelope.get("parent_id", ""))
            if parent is not None and parent.handoff is not None and parent.handoff.is_open:
                self._broken("parent_not_ended")
        if event["type"] == "acknowledge" and record is not None:
            return self._acknowledged(entry, record)
        after, reply = step(before, event)
        if reply == 100 and record is not None:
            return self._moved(record, after)
        if reply == 201 or event["type"] in ("taken", "heartbeat"):
            return
        if before is not None and not before.is_open:
            return self._broken("ended_twice" if event["type"] in _ENDS else "event_refused")
        is_early = (
            event["type"] == "expire" and before is not None and event["at"] < before.deadline
        )
        if not is_early:
            return self._broken("event_refused")
        assert before is not None and record is not None
        if event["at"] < before.deadline - self._skew:
            return self._broken("expired_early")
        self._moved(record, step(before, {**event, "at": before.deadline}).handoff)

    def _acknowledged(self, entry: dict[str, Any], record: _Record) -> None:
        event = entry["event"]
        if not self._is_listed(event, entry["handoff_id"], record.envelope["from"]):
            self._broken("acknowledged_without_envelope")
        elif step(record.handoff, event).reply != 100:
            self._broken("event_refused")
        else:
            self._moved(record, step(record.handoff, event).handoff)

    def _applied(self, entry: dict[str, Any]) -> None:
        record = self._records.get(entry["handoff_id"])
        if record is None or record.handoff is None or record.handoff.is_open:
            return self._broken("applied_before_end")
        if entry["by"] != record.envelope["from"]:
            return self._broken("applied_by_another")
        if entry["digest"] != record.outcome:
            return self._broken(
                "applied_of_another" if entry["digest"] in self._outcomes else "applied_not_outcome"
            )
        if record.is_applied:
            self._broken("applied_twice")
        record.is_applied = True

    def _effect(self, entry: dict[str, Any]) -> None:
        record = self._records.get(entry["handoff_id"])
        if record is None or entry["key"] != entry["handoff_id"]:
            return self._broken("effect_key")
        if record.has_effect:
            self._broken("effect_twice")
        record.has_effect = True
