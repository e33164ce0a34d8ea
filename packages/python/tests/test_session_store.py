"""The stored sessions: within a budget, in memory or in a file."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Any

import pytest

from waybill_sdk import Finished, SessionBudget, SessionStore
from waybill_sdk.adapter.session_store import EndedTurn, Moved
from waybill_sdk.protocol.instant import now_ms

_HOUR_MS = 3_600_000


def end(store: SessionStore, thread: str, handoff_id: str, state: Any, until: int = 0) -> None:
    kept, _ = store.read(thread, handoff_id)
    ended = EndedTurn(Finished(f"reply to {handoff_id}"), kept.state is not None)
    store.end(
        thread,
        kept,
        handoff_id=handoff_id,
        until=until or now_ms() + _HOUR_MS,
        state=state,
        ended=ended,
    )


def state(store: SessionStore, thread: str) -> Any:
    return store.read(thread, "other")[0].state


def test_each_turn_replaces_the_state_and_keeps_its_own_result() -> None:
    store = SessionStore()
    end(store, "a", "1", {"turns": 1})
    end(store, "a", "2", {"turns": 2})
    assert state(store, "a") == {"turns": 2}
    assert store.read("a", "1")[1] == EndedTurn(Finished("reply to 1"), False)
    assert store.read("a", "2")[1] == EndedTurn(Finished("reply to 2"), True)
    assert state(store, "b") is None


def test_a_file_keeps_sessions_across_restarts(tmp_path: Path) -> None:
    file = tmp_path / "sessions.db"
    first = SessionStore(file)
    end(first, "a", "1", ["one"])
    # It is not closed: a process that is killed does not close it either.
    again = SessionStore(file)
    kept, ended = again.read("a", "1")
    assert (kept.state, ended) == (["one"], EndedTurn(Finished("reply to 1"), False))
    first.close()
    again.close()


def test_a_file_is_readable_by_its_owner_only(tmp_path: Path) -> None:
    store = SessionStore(tmp_path / "sessions.db")
    end(store, "a", "1", ["one"])
    modes = {each.name: stat.S_IMODE(each.stat().st_mode) for each in tmp_path.iterdir()}
    assert len(modes) == 3
    assert set(modes.values()) == {0o600}
    store.close()


def test_a_write_based_on_an_outdated_read_is_refused(tmp_path: Path) -> None:
    one, other = (SessionStore(tmp_path / "sessions.db") for _ in range(2))
    kept, _ = one.read("a", "1")
    end(other, "a", "2", ["two"])
    with pytest.raises(Moved):
        one.ask("a", kept, handoff_id="1", until=now_ms() + _HOUR_MS)
    kept, _ = one.read("a", "1")
    assert (kept.state, kept.asked_by) == (["two"], None)
    one.ask("a", kept, handoff_id="1", until=now_ms() + _HOUR_MS)
    assert other.read("a", "1")[0].asked_by == "1"
    one.close()
    other.close()


def test_the_least_recently_used_sessions_are_forgotten() -> None:
    store = SessionStore(budget=SessionBudget(conversations=3, characters=1_000_000))
    for thread in ("a", "b", "c"):
        end(store, thread, "1", [thread])
    end(store, "a", "2", ["a", "again"])
    end(store, "d", "1", ["d"])
    assert [state(store, each) for each in "abcd"] == [["a", "again"], None, ["c"], ["d"]]


def test_sessions_are_forgotten_before_they_exceed_the_total_size() -> None:
    store = SessionStore(budget=SessionBudget(conversations=100, characters=10_000))
    long = ["x" * 6_000]
    end(store, "a", "1", long)
    end(store, "b", "1", long)
    assert (state(store, "a"), state(store, "b")) == (None, long)
    # A session that is too long by itself is not kept either, and uses up no space.
    end(store, "b", "2", [*long, *long])
    assert state(store, "b") is None
    end(store, "c", "1", ["short"])
    assert state(store, "c") == ["short"]
    assert store.read("b", "1")[1] is None


def test_results_are_kept_as_long_as_their_handoffs_may_be_retried() -> None:
    store = SessionStore()
    for number in range(100):
        end(store, "a", str(number), [number], until=now_ms() - 1)
    end(store, "a", "last", ["last"])
    held = [store.read("a", str(number))[1] for number in range(100)]
    assert held == [None] * 100
    assert store.read("a", "last")[1] is not None
