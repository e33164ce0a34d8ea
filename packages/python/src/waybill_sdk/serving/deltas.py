"""Sends what the work writes, in pieces."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..protocol.limits import DELTA_CHARACTERS
from ..protocol.schema import utf16_length

if TYPE_CHECKING:
    from ..link.link import Link

# Twenty times a second is fast enough for a person.
_EVERY_S = 0.05


class Deltas:
    """Sends the first piece at once, and then what has accumulated, every 50 ms at most."""

    def __init__(self, link: Link, handoff_id: str, attempt: int) -> None:
        self._link = link
        self._handoff_id = handoff_id
        self._attempt = attempt
        self._gathered: list[str] = []
        self._number = 0
        self._timer: asyncio.TimerHandle | None = None
        self._is_stopped = False

    def add(self, text: str) -> None:
        if self._is_stopped or text == "":
            return
        self._gathered.append(text)
        if self._timer is None:
            self._send()

    def finish(self) -> None:
        """Sends what is left, and nothing after that."""
        if not self._is_stopped:
            self._flush()
        self.stop()

    def stop(self) -> None:
        self._is_stopped = True
        if self._timer is not None:
            self._timer.cancel()

    def _send(self) -> None:
        self._timer = None
        if self._gathered:
            self._flush()
            self._timer = asyncio.get_running_loop().call_later(_EVERY_S, self._send)

    def _flush(self) -> None:
        text = "".join(self._gathered)
        self._gathered.clear()
        for piece in _pieces(text):
            self._link.delta(self._handoff_id, self._attempt, self._number, piece)
            self._number += 1


def _pieces(text: str) -> Iterator[str]:
    """The text that JSON can hold here, split into bounded pieces."""
    sound = text.replace("\0", "").encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    size = DELTA_CHARACTERS if utf16_length(sound) == len(sound) else DELTA_CHARACTERS // 2
    for start in range(0, len(sound), size):
        yield sound[start : start + size]
