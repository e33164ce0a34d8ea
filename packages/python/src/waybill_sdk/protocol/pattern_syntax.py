"""The syntax of patterns: ECMAScript with the flag u, without what has no linear match (WB-68)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from .error import WaybillError

Test = Callable[[str], bool]


@dataclass(frozen=True)
class One:
    """One character that passes the test."""

    test: Test
    cost: int = 1


@dataclass(frozen=True)
class Assertion:
    kind: str


@dataclass(frozen=True)
class Sequence:
    parts: tuple[Node, ...]


@dataclass(frozen=True)
class Choice:
    options: tuple[Node, ...]


@dataclass(frozen=True)
class Repeat:
    part: Node
    least: int
    most: int | None


Node: TypeAlias = One | Assertion | Sequence | Choice | Repeat

_LINE_ENDS = "\n\r\u2028\u2029"
_SPACE = " \t\n\v\f\r\u00a0\ufeff\u2028\u2029"
_CONTROL = {"n": "\n", "r": "\r", "t": "\t", "v": "\v", "f": "\f", "0": "\0"}
_SYNTAX = "^$\\.*+?()[]{}|/"
_DEEPEST = 100
_REPEATS_AT_MOST = 1_000
_CHARACTERS_AT_MOST = 4_096
_QUANTIFIER = re.compile(r"\{(\d{1,9})(,(\d{1,9})?)?\}", re.ASCII)
_GROUP_NAME = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*>", re.ASCII)
_LONG_CATEGORIES = {
    "Letter": "L", "Uppercase_Letter": "Lu", "Lowercase_Letter": "Ll", "Titlecase_Letter": "Lt", "Modifier_Letter": "Lm",
    "Other_Letter": "Lo", "Mark": "M", "Number": "N", "Decimal_Number": "Nd", "Punctuation": "P", "Symbol": "S", "Separator": "Z",
    "Space_Separator": "Zs", "Other": "C", "Control": "Cc",
}  # fmt: skip
_CATEGORIES = frozenset(
    "L Lu Ll Lt Lm Lo M Mn Mc Me N Nd Nl No P Pc Pd Ps Pe Pi Pf Po S Sm Sc Sk So Z Zs Zl Zp C Cc Cf Cs Co Cn".split()
)


def is_word(character: str) -> bool:
    return character.isascii() and (character.isalnum() or character == "_")


def _is_digit(character: str) -> bool:
    return "0" <= character <= "9"


def _is_space(character: str) -> bool:
    return character in _SPACE or unicodedata.category(character) == "Zs"


_CLASSES: dict[str, Test] = {"d": _is_digit, "w": is_word, "s": _is_space}


def _negated(test: Test) -> Test:
    return lambda character: not test(character)


def _exactly(wanted: str) -> Test:
    return lambda character: character == wanted


def _between(first: str, last: str) -> Test:
    return lambda character: first <= character <= last


def parse_pattern(source: str) -> Node:
    if len(source) > _CHARACTERS_AT_MOST:
        raise WaybillError(413, f"The pattern has more than {_CHARACTERS_AT_MOST} characters.")
    return _Parser(source).parse()


@dataclass
class _Parser:
    source: str
    at: int = 0
    depth: int = 0
    names: set[str] = field(default_factory=set)

    def parse(self) -> Node:
        node = self._choice()
        if self.at < len(self.source):
            raise self._fault("a bracket that nobody opened")
        return node

    def _choice(self) -> Node:
        self.depth += 1
        if self.depth > _DEEPEST:
            raise WaybillError(413, "The pattern has more than 100 nested groups.")
        options = [self._sequence()]
        while self._take("|"):
            options.append(self._sequence())
        self.depth -= 1
        return options[0] if len(options) == 1 else Choice(tuple(options))

    def _sequence(self) -> Node:
        parts: list[Node] = []
        while self.at < len(self.source) and self.source[self.at] not in "|)":
            parts.append(self._quantified(self._atom()))
        return Sequence(tuple(parts))

    def _quantified(self, part: Node) -> Node:
        least, most = 1, 1
        bounds: tuple[int, int | None]
        if self._take("*"):
            bounds = (0, None)
        elif self._take("+"):
            bounds = (1, None)
        elif self._take("?"):
            bounds = (0, 1)
        elif self._peek() == "{":
            bounds = self._counted()
        else:
            return part
        if isinstance(part, Assertion):
            raise self._fault("an assertion that is repeated")
        self._take("?")
        least, most_or_none = bounds
        most = most_or_none if most_or_none is not None else least
        if most < least:
            raise self._fault("a repetition whose bounds are in the wrong order")
        if max(least, most) > _REPEATS_AT_MOST:
            raise WaybillError(413, "The pattern has a repetition that is too long.")
        return Repeat(part, least, most_or_none)

    def _counted(self) -> tuple[int, int | None]:
        found = _QUANTIFIER.match(self.source, self.at)
        if found is None:
            raise self._fault("a { that is no repetition")
        self.at = found.end()
        least = int(found[1])
        if found[2] is None:
            return least, least
        return least, None if found[3] is None else int(found[3])

    def _atom(self) -> Node:
        character = self._next()
        if character == "(":
            return self._group()
        if character == "[":
            return self._class()
        if character == "\\":
            return self._escape()
        if character == ".":
            return One(lambda each: each not in _LINE_ENDS)
        if character in "^$":
            return Assertion("start" if character == "^" else "end")
        if character in "*+?{}]":
            raise self._fault(f"a {character} with nothing before it")
        return One(_exactly(character))

    def _group(self) -> Node:
        if self._take("?"):
            if self._take("<"):
                found = _GROUP_NAME.match(self.source, self.at)
                if found is None:
                    raise self._fault(
                        "a lookbehind, or a group whose name is none; lookaround has no linear match"
                    )
                if found[0] in self.names:
                    raise self._fault("two groups of one name")
                self.names.add(found[0])
                self.at = found.end()
            elif not self._take(":"):
                raise self._fault("a lookahead, which has no linear match")
        node = self._choice()
        if not self._take(")"):
            raise self._fault("a bracket that is not closed")
        return node

    def _escape(self) -> Node:
        character = self._peek()
        if character in ("b", "B"):
            self.at += 1
            return Assertion("boundary" if character == "b" else "no_boundary")
        if (character.isdigit() and character != "0") or character == "k":
            raise self._fault("a backreference, which has no linear match")
        return One(self._escaped())

    def _escaped(self) -> Test:
        """The test of an escape that stands for characters. `self.at` is after the backslash."""
        character = self._next()
        if character.lower() in _CLASSES:
            test = _CLASSES[character.lower()]
            return test if character.islower() else _negated(test)
        if character in "pP":
            test = self._property()
            return test if character == "p" else _negated(test)
        return _exactly(self._literal(character))

    def _literal(self, character: str) -> str:
        if character == "0" and self._peek().isdigit():
            raise self._fault("an octal escape")
        if character in _CONTROL:
            return _CONTROL[character]
        if character == "x":
            return chr(self._hexadecimal(2))
        if character == "u":
            return self._unicode()
        if character == "c" and re.fullmatch("[A-Za-z]", self._peek() or " "):
            return chr(ord(self._next()) % 32)
        if character in _SYNTAX or character == "-":
            return character
        raise self._fault(f"an escape that there is not: \\{character}")

    def _unicode(self) -> str:
        if self._take("{"):
            end = self.source.find("}", self.at)
            digits = self.source[self.at : end]
            if (
                end < 0
                or not re.fullmatch("[0-9A-Fa-f]{1,6}", digits)
                or int(digits, 16) > 0x10FFFF
            ):
                raise self._fault("a \\u{} that is no character")
            self.at = end + 1
            return chr(int(digits, 16))
        first = self._hexadecimal(4)
        is_pair = 0xD800 <= first <= 0xDBFF and self.source.startswith("\\u", self.at)
        if is_pair:
            self.at += 2
            second = self._hexadecimal(4)
            if not 0xDC00 <= second <= 0xDFFF:
                raise self._fault("half a surrogate pair")
            return chr(0x10000 + (first - 0xD800) * 0x400 + second - 0xDC00)
        return chr(first)

    def _hexadecimal(self, count: int) -> int:
        digits = self.source[self.at : self.at + count]
        if not re.fullmatch(f"[0-9A-Fa-f]{{{count}}}", digits):
            raise self._fault(f"an escape without its {count} digits")
        self.at += count
        return int(digits, 16)

    def _property(self) -> Test:
        end = self.source.find("}", self.at)
        if not self._take("{") or end < 0:
            raise self._fault("a \\p without its property")
        name = self.source[self.at : end]
        self.at = end + 1
        if name == "Any":
            return lambda _: True
        if name == "ASCII":
            return lambda each: each.isascii()
        category = re.sub(r"^(gc|General_Category)=", "", name)
        category = _LONG_CATEGORIES.get(category, category)
        if category not in _CATEGORIES:
            raise self._fault(f"the property {name}, which is no general category")
        return lambda each: unicodedata.category(each).startswith(category)

    def _class(self) -> One:
        is_negated = self._take("^")
        tests: list[Test] = []
        while not self._take("]"):
            first = self._member()
            if self._peek() == "-" and self.source[self.at + 1 : self.at + 2] not in ("]", ""):
                self.at += 1
                last = self._member()
                if not isinstance(first, str) or not isinstance(last, str) or last < first:
                    raise self._fault("a range that is none")
                tests.append(_between(first, last))
            else:
                tests.append(_exactly(first) if isinstance(first, str) else first)
        found = tuple(tests)
        cost = 1 + len(found)
        if is_negated:
            return One(lambda each: not any(test(each) for test in found), cost)
        return One(lambda each: any(test(each) for test in found), cost)

    def _member(self) -> str | Test:
        character = self._next()
        if character != "\\":
            return character
        if self._take("b"):
            return "\b"
        if self._peek() in "dDwWsSpP" and self._peek() != "":
            return self._escaped()
        return self._literal(self._next())

    def _peek(self) -> str:
        return self.source[self.at : self.at + 1]

    def _take(self, wanted: str) -> bool:
        is_there = self._peek() == wanted
        self.at += is_there
        return is_there

    def _next(self) -> str:
        character = self._peek()
        if character == "":
            raise self._fault("an end where something is missing")
        self.at += 1
        return character

    def _fault(self, what: str) -> WaybillError:
        return WaybillError(400, f"The pattern {self.source[:80]!r} has {what}.")
