"""Shapes of JSON values, composed of small checks. A check raises 400 and names the place (WB-28)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from .encoding import DIGEST
from .error import WaybillError
from .ids import is_agent_id, is_id
from .instant import parse_time
from .limits import SAFE_INTEGER
from .status import STATUSES

Check = Callable[[Any, str], None]

# The limits of texts that a person writes, and of names.
PROSE = 65_536
NAME = 256


def fault(at: str, what: str, status: int = 400) -> WaybillError:
    return WaybillError(status, f"{at or 'The value'} {what}", at=at)


def pointer(at: str, name: str | int) -> str:
    return f"{at}/{str(name).replace('~', '~0').replace('/', '~1')}"


def anything(_value: Any, _at: str) -> None:
    pass


def constant(wanted: Any) -> Check:
    def check(value: Any, at: str) -> None:
        if type(value) is bool or value != wanted:
            raise fault(at, f"is not {wanted!r}.")

    return check


def one_of(*wanted: str) -> Check:
    def check(value: Any, at: str) -> None:
        if not isinstance(value, str) or value not in wanted:
            raise fault(at, f"is none of {', '.join(wanted)}.")

    return check


def text(most: int | None = None, least: int = 0, pattern: str | None = None) -> Check:
    compiled = None if pattern is None else re.compile(pattern, re.ASCII)

    def check(value: Any, at: str) -> None:
        if not isinstance(value, str):
            raise fault(at, "is no text.")
        if len(value) < least or (most is not None and len(value) > most):
            raise fault(at, f"has {len(value)} characters, and not {least} to {most}.")
        if compiled is not None and compiled.fullmatch(value) is None:
            raise fault(at, "is not spelled as it must be.")

    return check


def spelled(what: str, is_good: Callable[[Any], bool]) -> Check:
    def check(value: Any, at: str) -> None:
        if not is_good(value):
            raise fault(at, f"is no {what}.")

    return check


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def integer(least: int = 0, most: int = SAFE_INTEGER) -> Check:
    def check(value: Any, at: str) -> None:
        if not is_number(value) or value != int(value) or not least <= value <= most:
            raise fault(at, f"is no whole number from {least} to {most}.")

    return check


def number(least: float, most: float, *, is_least_out: bool = False) -> Check:
    def check(value: Any, at: str) -> None:
        if not is_number(value) or not least <= value <= most or (is_least_out and value == least):
            raise fault(at, f"is no number from {least} to {most}.")

    return check


def boolean(value: Any, at: str) -> None:
    if not isinstance(value, bool):
        raise fault(at, "is neither true nor false.")


def mapping(each: Check = anything) -> Check:
    def check(value: Any, at: str) -> None:
        if not isinstance(value, dict):
            raise fault(at, "is no object.")
        for name, member in value.items():
            each(member, pointer(at, name))

    return check


def listed(each: Check, most: int | None = None, least: int = 0, *, over: int = 400) -> Check:
    def check(value: Any, at: str) -> None:
        if not isinstance(value, list):
            raise fault(at, "is no list.")
        if len(value) < least:
            raise fault(at, f"has {len(value)} entries, and at least {least} are needed.")
        if most is not None and len(value) > most:
            raise fault(at, f"has {len(value)} entries, and at most {most} are taken.", over)
        for index, member in enumerate(value):
            each(member, pointer(at, index))

    return check


def record(
    required: Mapping[str, Check] | None = None,
    optional: Mapping[str, Check] | None = None,
    also: Check | None = None,
) -> Record:
    """An object with these members. Others are ignored (WB-29)."""
    return Record(dict(required or {}), dict(optional or {}), also)


@dataclass(frozen=True)
class Record:
    """A check of an object, which can list the members that it knows."""

    required: dict[str, Check]
    optional: dict[str, Check]
    also: Check | None

    def __call__(self, value: Any, at: str) -> None:
        if not isinstance(value, dict):
            raise fault(at, "is no object.")
        for name, member in self.required.items():
            if name not in value:
                raise fault(pointer(at, name), "is missing.")
            member(value[name], pointer(at, name))
        for name, member in self.optional.items():
            if name in value:
                member(value[name], pointer(at, name))
        if self.also is not None:
            self.also(value, at)

    def members(self, at: str = "") -> Iterator[tuple[str, Check]]:
        """The pointer and the check of each member, and of those inside of them."""
        for name, member in {**self.required, **self.optional}.items():
            yield pointer(at, name), member
            if isinstance(member, Record):
                yield from member.members(pointer(at, name))


def tagged(member: str, shapes: Mapping[str, Check]) -> Check:
    """An object with a member that selects one of these shapes."""

    def check(value: Any, at: str) -> None:
        if not isinstance(value, dict):
            raise fault(at, "is no object.")
        tag = value.get(member)
        if not isinstance(tag, str) or tag not in shapes:
            raise fault(pointer(at, member), f"is none of {', '.join(shapes)}.")
        shapes[tag](value, at)

    return check


def limited(most: int, check: Check) -> Check:
    """A number that is rejected with 413 above a limit."""

    def both(value: Any, at: str) -> None:
        check(value, at)
        if value > most:
            raise fault(at, f"is over the limit of {most}.", 413)

    return both


handoff_id = spelled("id: a UUID of version 7 in lower case", is_id)
agent_id = spelled("agent's id: up to 128 of a-z, 0-9, '.', '_' and '-'", is_agent_id)
kid = text(pattern=r"[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]")
digest = spelled(
    "digest: sha256: and 64 digits",
    lambda v: isinstance(v, str) and DIGEST.fullmatch(v) is not None,
)
instant = spelled("time: RFC 3339 in UTC", lambda v: parse_time(v) is not None)
status = spelled("status of the table", lambda v: is_number(v) and v in STATUSES)
name = text(NAME, 1)
prose = text(PROSE)
capability_name = text(128, 1, r"[A-Za-z0-9_][A-Za-z0-9_.:/-]{0,127}")
wait_ms = integer(0)
