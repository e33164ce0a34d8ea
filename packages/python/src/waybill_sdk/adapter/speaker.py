"""The names of speakers. By the same rules, and with the same vectors, as in TypeScript."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

_LENGTH = 64
"""Model providers accept no longer names."""
_ID_LENGTH = 32
"""The most characters of the delegator's id that a name can end with."""

_BLANK = frozenset(("Cc", "Zs", "Zl", "Zp"))
_INVISIBLE = frozenset(("Cf", "Cs", "Co"))
# Invisible characters, whatever their category.
_UNSEEN = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2065\u2800\u3164\ufe00-\ufe0f\uffa0\ufff0-\ufff8"
    "\U000e0000-\U000e0fff]"
)
# Characters that end a name, or look like one that does, where the text follows it.
_COLONS = re.compile("[:\u02d0\u02f8\u05c3\u0589\u2236\ua789\ufe13\ufe30\ufe55\uff1a]")


def speaker_name(name: str) -> str:
    """A name that is safe before text: one line of at most 64 visible characters without a colon.
    Empty if nothing visible is left.
    """
    kinds = [(each, unicodedata.category(each)) for each in _UNSEEN.sub("", name)]
    seen = "".join(
        " " if kind in _BLANK else each for each, kind in kinds if kind not in _INVISIBLE
    )
    return _cut(_COLONS.sub("_", " ".join(seen.split())), _LENGTH)


class OwnNames:
    """The names of a recipient and its parts. Other speakers never appear under these names."""

    def __init__(self, names: Iterable[str]) -> None:
        self._keys = {key_of(each) for each in names}

    def __contains__(self, name: str) -> bool:
        """Whether a reader, or a provider that normalizes names, would take a name for one of
        these.
        """
        return key_of(name) in self._keys

    def apart(self, name: str, by: str) -> str:
        """A name that can't be mistaken for one of these: it says whose account it comes from."""
        count = 1
        while True:
            ending = f"_of_{_cut(by, _ID_LENGTH)}" + ("" if count == 1 else f"_{count}")
            candidate = _cut(name, _LENGTH - len(ending)) + ending
            if candidate not in self:
                return candidate
            count += 1


def unnamed(names: Iterable[str], by: str) -> str:
    """The speaker of users' turns without a name, where every turn needs one."""
    own = OwnNames(names)
    name = "user" if "user" not in own else speaker_name(by)
    return own.apart(name, by) if name in own else name


def key_of(name: str) -> str:
    """The letters and digits of a name, equal for all the ways in which frameworks and providers
    write it.
    """
    fit = speaker_name(name)
    letters = unicodedata.normalize("NFKD", fit).lower()
    return "".join(each for each in letters if unicodedata.category(each)[0] in "LN") or fit


def _cut(text: str, length: int) -> str:
    return text[:length].strip()
