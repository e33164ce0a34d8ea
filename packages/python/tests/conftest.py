from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from processes import Place

from waybill_sdk import Agent, Hub, WaybillError, connect, load_key


@pytest_asyncio.fixture(scope="module")
async def hub(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Place]:
    """A served hub. At the end its history is checked: every handoff must have ended once, and
    correctly."""
    made = Place(tmp_path_factory.mktemp("hub"))
    await made.start_hub()
    try:
        yield made
        verdict = await made.judge()
        assert verdict["violations"] == []
        assert verdict["handoffs"] > 0
    finally:
        await made.close()


@pytest_asyncio.fixture
async def place(hub: Place) -> AsyncIterator[Place]:
    """The hub, and the processes of one test."""
    yield hub
    await hub.end_others()


@pytest.fixture(autouse=True)
def _keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder for the keys of agents that are given no key."""
    monkeypatch.setenv("WAYBILL_KEYS", str(tmp_path / "keys"))


class Cast:
    """The agents of a test, stopped at its end."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._agents: list[Agent] = []
        self._hubs: list[Hub] = []

    @property
    def url(self) -> str:
        return self._place.url

    async def agent(self, name: str) -> Agent:
        hub = await connect(self._place.url)
        self._hubs.append(hub)
        made = Agent(name, key=load_key(self._place.key(name)), hub=hub)
        self._agents.append(made)
        return made

    async def close(self) -> None:
        for agent in self._agents:
            await agent.stop()
        for hub in self._hubs:
            await hub.close()


@pytest_asyncio.fixture
async def cast(place: Place) -> AsyncIterator[Cast]:
    made = Cast(place)
    yield made
    await made.close()


class Hanging:
    """A capability that accepts work and never finishes."""

    def __init__(self, worker: Agent, capability: str) -> None:
        self.has_begun = asyncio.Event()
        self.has_stopped = asyncio.Event()
        self.handoff_id = ""
        worker.serve(capability)(self._hang)

    async def _hang(self, work: Any) -> None:
        self.handoff_id = work.handoff_id
        await work.progress("begun")
        self.has_begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.has_stopped.set()


async def refused(handle: Any) -> WaybillError:
    with pytest.raises(WaybillError) as caught:
        await handle.result()
    return caught.value
