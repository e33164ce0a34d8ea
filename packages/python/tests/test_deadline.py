"""No stage of a handoff is waited for past its deadline, whatever the hub does. On a virtual clock."""

from __future__ import annotations

import asyncio
import json
import selectors
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from waybill_sdk import Agent, Unconfirmed, WaybillError
from waybill_sdk.agent import SETTLE_WITHIN_S
from waybill_sdk.delegating import handle as handles
from waybill_sdk.protocol.envelope import create_reply, sign_envelope
from waybill_sdk.protocol.jws import digest_of_jws, read_compact
from waybill_sdk.protocol.key import PrivateKey, generate_key
from waybill_sdk.protocol.manifest import sign_manifest

TIMEOUT_S = 10.0
LATEST_S = TIMEOUT_S + handles.TOLD_WITHIN_S


class VirtualLoop(asyncio.SelectorEventLoop):
    """Time passes when nothing else is to be done."""

    def __init__(self) -> None:
        super().__init__(_Selector(self))
        self.now = 0.0

    def time(self) -> float:
        return self.now


class _Selector(selectors.DefaultSelector):
    def __init__(self, loop: VirtualLoop) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> list[Any]:
        if timeout is None:
            raise AssertionError("Nothing is left to wait for, and something waits.")
        self._loop.now += max(0.0, timeout)
        return super().select(0)


def virtually(test: Callable[[], Coroutine[Any, Any, None]]) -> None:
    loop = VirtualLoop()
    try:
        loop.run_until_complete(test())
    finally:
        loop.close()


async def _never(*_: Any) -> Any:
    await asyncio.Event().wait()


class LyingSocket:
    """A connection to a hub that signs and delivers what the test tells it to."""

    nonce = "n"
    hub = "hub"

    def __init__(self, hub: LyingHub) -> None:
        self.closed: asyncio.Future[WaybillError | None] = (
            asyncio.get_running_loop().create_future()
        )
        self._hub = hub
        self._deliver: Callable[[dict[str, Any]], None] = lambda _: None

    async def attach(self, _proof: str, _credit: int, deliver: Any, _show: Any) -> None:
        if self._hub.lie == "never answers a hello":
            await _never()
        self._deliver = deliver

    async def call(self, name: str, params: dict[str, Any]) -> Any:
        lie = self._hub.lie
        if name == "manifests":
            return {"manifests": self._hub.published[params["agent"]]}
        if name != "submit" or lie == "never signs for a handoff":
            return await _never()
        envelope = params["envelope"]
        said = json.loads(read_compact(envelope).payload)
        if said["kind"] == "handoff":
            loop = asyncio.get_running_loop()
            loop.call_later(0.1, self._after, lie, envelope, said)
        elif lie != "signs for everything":
            return await _never()
        return {"receipt": self._hub.receipt(envelope, said)}

    def _after(self, lie: str, text: str, handoff: dict[str, Any]) -> None:
        if lie == "closes the line for ever":
            self.closed.set_result(WaybillError(503, "The hub has closed the line."))
            self._hub.is_gone = True
        elif lie == "delivers a result for somebody else":
            body = {"status": 200, "output": 1}
            made = create_reply(
                handoff, "result", "worker", body, to="bystander", re=digest_of_jws(text), attempt=1
            )
            result = sign_envelope(made, self._hub.keys["worker"])
            self._deliver(
                {
                    "type": "envelope",
                    "id": "1",
                    "handoff_id": handoff["handoff_id"],
                    "envelope": result,
                    "received_at": {},
                }
            )

    def send(self, _frame: dict[str, Any]) -> None:
        """Nobody listens."""

    async def close(self) -> None:
        if not self.closed.done():
            self.closed.set_result(None)


class _Address:
    url = "http://hub.test"


class LyingHub:
    id = "hub"
    address = _Address()

    def __init__(self, lie: str) -> None:
        self.lie = lie
        self.is_gone = False
        self.keys: dict[str, PrivateKey] = {name: generate_key() for name in ("hub", "worker")}
        self.domain = self.keys["hub"].kid
        self.published: dict[str, list[dict[str, str]]] = {}
        for name, key in self.keys.items():
            manifest = sign_manifest({"agent_id": name, "capabilities": []}, key)
            self.published[name] = [{"manifest": manifest, "at": "2026-01-01T00:00:00.000Z"}]

    async def manifests(self, agent: str) -> list[tuple[str, int]]:
        if self.lie == "answers nothing":
            await _never()
        return [(each["manifest"], 0) for each in self.published.get(agent, [])]

    async def newest_manifest(self, agent: str) -> str | None:
        found = await self.manifests(agent)
        return found[-1][0] if found else None

    async def publish(self, _agent: str, _manifest: str, _invitation: str | None = None) -> None:
        if self.lie == "answers nothing":
            await _never()

    async def open_socket(self) -> LyingSocket:
        if self.is_gone:
            raise WaybillError(503, "The hub is gone.")
        return LyingSocket(self)

    def receipt(self, text: str, envelope: dict[str, Any]) -> str:
        made = create_reply(
            envelope, "receipt", "hub", {"status": 100}, to=envelope["from"], re=digest_of_jws(text)
        )
        return sign_envelope(made, self.keys["hub"])


LIES = [
    "answers nothing",
    "never answers a hello",
    "never signs for a handoff",
    "delivers nothing",
    "delivers a result for somebody else",
    "closes the line for ever",
]


def made_agent(lie: str) -> Agent:
    return Agent("owner", key=generate_key(), hub=LyingHub(lie))  # type: ignore[arg-type]


async def all_of(stream: Any) -> list[Any]:
    return [each async for each in stream]


@pytest.mark.parametrize("lie", LIES)
def test_no_stage_is_waited_for_past_the_deadline(lie: str) -> None:
    async def run() -> None:
        loop = asyncio.get_running_loop()
        owner = made_agent(lie)
        handle = owner.hand_off("work", to="worker", timeout=TIMEOUT_S)
        stages = [
            asyncio.ensure_future(each)
            for each in (
                handle.custody(),
                handle.accepted(),
                handle.result(),
                all_of(handle.progress),
                all_of(handle.questions),
                handle.cancel("enough"),
            )
        ]
        _, waiting = await asyncio.wait(stages, timeout=LATEST_S + 0.5)
        assert not waiting
        assert loop.time() <= LATEST_S + 0.5
        error = stages[2].exception()
        assert isinstance(error, WaybillError)
        assert error.status == 504
        assert "has not reported how" in error.message
        assert handle.has_ended is False
        for each in stages:
            each.exception()
        await owner.stop()
        assert loop.time() <= LATEST_S + SETTLE_WITHIN_S + 1

    virtually(run)


@pytest.mark.parametrize("lie", LIES)
def test_an_agent_stops_whatever_its_hub_does(lie: str) -> None:
    async def run() -> None:
        loop = asyncio.get_running_loop()
        owner = made_agent(lie)
        handle = owner.hand_off("work", to="worker", timeout=TIMEOUT_S)
        await asyncio.sleep(1)
        unconfirmed = await owner.stop()
        assert loop.time() < 2 + SETTLE_WITHIN_S
        if lie == "never signs for a handoff":
            assert unconfirmed == [Unconfirmed("handoff", handle.id)]
        with pytest.raises(WaybillError):
            await handle.result()

    virtually(run)


def test_attaching_to_a_handoff_fails_if_the_hub_does_not_answer() -> None:
    async def run() -> None:
        owner = made_agent("delivers nothing")
        with pytest.raises(WaybillError) as caught:
            await owner.attach("019b76da-dc35-760a-befd-572cce8810d8")
        assert caught.value.status == 504
        await owner.stop()

    virtually(run)
