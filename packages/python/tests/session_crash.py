"""A store of sessions whose process is killed while a turn is stored, the first time that this
happens."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

from waybill_sdk import SessionStore


class KilledWhileKeeping(SessionStore):
    """`when` is "before" the second turn is on disk, or "after" it."""

    def __init__(self, folder: Path, when: str) -> None:
        super().__init__(folder / "sessions.db")
        self._note = folder / "killed"
        self._when = when

    def end(self, thread: str, kept: Any, **turn: Any) -> None:
        is_due = kept.state is not None and not self._note.exists()
        if is_due:
            self._note.touch()
        if is_due and self._when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        super().end(thread, kept, **turn)
        if is_due:
            os.kill(os.getpid(), signal.SIGKILL)
