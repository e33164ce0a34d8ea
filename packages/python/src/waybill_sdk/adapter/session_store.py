"""The conversations of frameworks that keep none themselves."""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from typing import Any, TypeVar
from weakref import WeakValueDictionary

from ..protocol.instant import now_ms
from ..serving.outcome import Finished

Value = TypeVar("Value")

_SCHEMA = """
CREATE TABLE IF NOT EXISTS conversation (
  thread TEXT PRIMARY KEY,
  version INTEGER NOT NULL,
  state TEXT,
  asked_by TEXT,
  asked_until INTEGER,
  size INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS conversation_version ON conversation (version);
CREATE TABLE IF NOT EXISTS turn (
  thread TEXT NOT NULL,
  handoff_id TEXT NOT NULL,
  until INTEGER NOT NULL,
  ended TEXT NOT NULL,
  PRIMARY KEY (thread, handoff_id)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS total (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  conversations INTEGER NOT NULL,
  characters INTEGER NOT NULL
);
INSERT OR IGNORE INTO total VALUES (1, 0, 0);
"""
_BUSY_S = 10.0


@dataclass(frozen=True)
class SessionBudget:
    """The number of kept conversations. Beyond it, the least recently used ones are forgotten."""

    conversations: int
    characters: int
    """The most characters of all of them together, as JSON."""


_IN_MEMORY = SessionBudget(1_000, 32 * 1024 * 1024)
_IN_FILE = SessionBudget(100_000, 1024 * 1024 * 1024)


@dataclass(frozen=True)
class Kept:
    """The current state of a conversation."""

    version: int
    """Changes with each write. 0: nothing is kept."""
    state: Any = None
    """None: no turn has ended yet."""
    asked_by: str | None = None
    """The handoff that has paused with a question: until it is answered, no other turn may begin.
    """
    asked_until: int = 0


@dataclass(frozen=True)
class EndedTurn:
    """A turn that is in its conversation already, with its result."""

    finished: Finished
    had_conversation: bool


class Moved(Exception):
    """Another process has written to the conversation meanwhile."""


class SessionStore:
    """Keeps conversations for `serve` of `waybill_sdk.autogen`, `waybill_sdk.ag2` and
    `waybill_sdk.crewai`.

    Without a path they are kept in the memory of the process. A file keeps them across restarts: a
    turn is on disk before its result is sent, and a turn that is retried after a crash is there
    once. Only its owner can read the file.
    """

    def __init__(
        self, path: str | os.PathLike[str] | None = None, *, budget: SessionBudget | None = None
    ) -> None:
        self._budget = budget or (_IN_MEMORY if path is None else _IN_FILE)
        # One connection, which threads use in turn.
        self._lock = threading.Lock()
        # All threads of a loop may be waiting for something that this agent is asked for.
        self._thread = ThreadPoolExecutor(1, "waybill-sessions")
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        if path is not None:
            # SQLite gives the files beside it the permissions of this one.
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        self._database = sqlite3.connect(
            ":memory:" if path is None else os.fspath(path),
            timeout=_BUSY_S,
            isolation_level=None,
            check_same_thread=False,
        )
        self._database.execute("PRAGMA journal_mode = WAL")
        self._database.execute("PRAGMA synchronous = FULL")
        self._database.executescript(_SCHEMA)

    def close(self) -> None:
        """Closes the file. Everything served with this store must have stopped."""
        self._thread.shutdown()
        with self._lock:
            self._database.close()

    async def aside(self, work: Callable[[], Value]) -> Value:
        """Reads or writes in a thread of the store's own, so that a slow disk blocks no loop."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)

    def turn(self, thread: str) -> asyncio.Lock:
        """The lock of a conversation, held by its only active run; idle ones take no memory."""
        return self._turns.setdefault(thread, asyncio.Lock())

    def read(self, thread: str, handoff_id: str) -> tuple[Kept, EndedTurn | None]:
        """The conversation, and the turn of this handoff if it has ended already."""
        with self._lock:
            kept = self._database.execute(
                "SELECT version, state, asked_by, asked_until FROM conversation WHERE thread = ?",
                (thread,),
            ).fetchone()
            ended = self._database.execute(
                "SELECT ended FROM turn WHERE thread = ? AND handoff_id = ?", (thread, handoff_id)
            ).fetchone()
        if kept is None:
            return Kept(0), None
        version, state, asked_by, asked_until = kept
        whole = Kept(
            version, None if state is None else json.loads(state), asked_by, asked_until or 0
        )
        return whole, None if ended is None else _ended(json.loads(ended[0]))

    def end(
        self,
        thread: str,
        kept: Kept,
        *,
        handoff_id: str,
        until: int,
        state: Any,
        ended: EndedTurn,
    ) -> None:
        """Keeps a completed turn, and its result for as long as the handoff may be retried."""
        self._write(thread, kept, json.dumps(state), None, (handoff_id, until, ended))

    def ask(self, thread: str, kept: Kept, *, handoff_id: str, until: int) -> None:
        """Records that a turn has paused with a question. The conversation is unchanged."""
        state = None if kept.state is None else json.dumps(kept.state)
        self._write(thread, kept, state, (handoff_id, until), None)

    def _write(
        self,
        thread: str,
        kept: Kept,
        state: str | None,
        asking: tuple[str, int] | None,
        turn: tuple[str, int, EndedTurn] | None,
    ) -> None:
        run = self._database.execute
        with self._lock:
            run("BEGIN IMMEDIATE")
            try:
                now = run(
                    "SELECT version, size FROM conversation WHERE thread = ?", (thread,)
                ).fetchone()
                if (0 if now is None else now[0]) != kept.version:
                    raise Moved
                run("DELETE FROM turn WHERE thread = ? AND until < ?", (thread, now_ms()))
                if turn is not None:
                    handoff_id, until, ended = turn
                    spelled = json.dumps(asdict(ended))
                    run(
                        "INSERT INTO turn VALUES (?, ?, ?, ?)", (thread, handoff_id, until, spelled)
                    )
                (results,) = run(
                    "SELECT COALESCE(SUM(LENGTH(ended)), 0) FROM turn WHERE thread = ?", (thread,)
                ).fetchone()
                size = len(state or "") + results
                asked_by, asked_until = asking or (None, None)
                # The greatest number is that of the conversation written last.
                (version,) = run(
                    "SELECT COALESCE(MAX(version), 0) + 1 FROM conversation"
                ).fetchone()
                run(
                    "INSERT OR REPLACE INTO conversation VALUES (?, ?, ?, ?, ?, ?)",
                    (thread, version, state, asked_by, asked_until, size),
                )
                self._count(1 if now is None else 0, size - (0 if now is None else now[1]))
                self._forget()
                run("COMMIT")
            except BaseException:
                run("ROLLBACK")
                raise

    def _forget(self) -> None:
        run = self._database.execute
        while True:
            conversations, characters = run(
                "SELECT conversations, characters FROM total"
            ).fetchone()
            budget = self._budget
            if conversations <= budget.conversations and characters <= budget.characters:
                return
            thread, size = run(
                "SELECT thread, size FROM conversation ORDER BY version LIMIT 1"
            ).fetchone()
            run("DELETE FROM turn WHERE thread = ?", (thread,))
            run("DELETE FROM conversation WHERE thread = ?", (thread,))
            self._count(-1, -size)

    def _count(self, conversations: int, characters: int) -> None:
        self._database.execute(
            "UPDATE total SET conversations = conversations + ?, characters = characters + ?",
            (conversations, characters),
        )


def _ended(spelled: dict[str, Any]) -> EndedTurn:
    return EndedTurn(Finished(**spelled["finished"]), spelled["had_conversation"])
