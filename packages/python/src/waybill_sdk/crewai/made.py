"""Files that a remote agent has made become files of its crew, for later tasks."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from threading import Lock
from typing import Any

from crewai.utilities.file_store import get_files, store_files

from ..artifacts.received import ReceivedArtifact
from .files import input_files

_names: dict[int, list[str]] = {}
_lock = Lock()


def keep_files(task: Any, crew: Any, by: str, artifacts: Sequence[ReceivedArtifact]) -> None:
    """Blocks briefly for the store of CrewAI. A file is named after its maker."""
    if task is None or not artifacts:
        return
    if id(task) not in _names:
        weakref.finalize(task, _names.pop, id(task), None).atexit = False
    _names[id(task)] = [each["name"] for each in artifacts]
    made = input_files(artifacts, by)
    if made and crew is not None:
        with _lock:
            store_files(crew.id, {**(get_files(crew.id) or {}), **made})


def names_made(task: Any) -> list[str]:
    """The names of all files that a remote agent has returned for a task, as they came."""
    return _names.get(id(task), [])
