"""Handoffs that share a conversation, with a served hub."""

from __future__ import annotations

from typing import Any

import pytest
from conftest import Cast

from waybill_sdk import Agent, HandoffResult, WaybillError, Work


def keep(agent: Agent) -> None:
    """Has an agent keep what was said in each conversation."""
    turns: dict[str, list[Any]] = {}

    @agent.serve("chat")
    async def chat(work: Work) -> dict[str, Any]:
        if work.session is None:
            return {"turns": [work.input]}
        before = turns.get(work.session.key)
        work.session.found(before is not None)
        turns[work.session.key] = [*(before or []), work.input]
        return {"turns": turns[work.session.key]}


async def say(owner: Agent, what: str, **options: Any) -> HandoffResult:
    return await owner.hand_off("chat", input=what, **options).result()


@pytest.mark.usefixtures("place")
class TestASession:
    async def test_continues_with_the_agent_that_holds_it(self, cast: Cast) -> None:
        for name in ("ann", "ben", "cleo", "dan"):
            worker = await cast.agent(name)
            keep(worker)
            await worker.start()
        owner = await cast.agent("owner")
        first = await say(owner, "1", session="trip")
        assert (first.output, first.session) == ({"turns": ["1"]}, "begun")
        for number in (2, 3, 4):
            handle = owner.hand_off("chat", input=str(number), session="trip")
            result = await handle.result()
            assert (result.by, result.session) == (first.by, "continued")
            assert len(result.output["turns"]) == number
            assert (await handle.accepted()).session == "continued"

    async def test_of_another_delegator_is_separate(self, cast: Cast) -> None:
        worker, owner, other = [await cast.agent(name) for name in ("ann", "owner", "other")]
        keep(worker)
        await worker.start()
        await say(owner, "secret", session="trip")
        result = await say(other, "tell", session="trip")
        assert (result.output, result.session) == ({"turns": ["tell"]}, "begun")

    async def test_is_reported_lost_if_its_holder_is_gone(self, cast: Cast) -> None:
        ann, ben, owner = [await cast.agent(name) for name in ("ann", "ben", "owner")]
        for each in (ann, ben):
            keep(each)
        await ann.start()
        await say(owner, "1", session="trip")
        await ann.stop()
        await ben.start()
        result = await say(owner, "2", session="trip")
        assert (result.by, result.output, result.session) == ("ben", {"turns": ["2"]}, "lost")

    async def test_does_not_exist_unless_it_is_named(self, cast: Cast) -> None:
        worker, owner = await cast.agent("ann"), await cast.agent("owner")
        keep(worker)
        await worker.start()
        for what in ("1", "2"):
            result = await say(owner, what)
            assert (result.output, result.session) == ({"turns": [what]}, None)

    async def test_with_an_invalid_id_is_refused_by_the_delegator(self, cast: Cast) -> None:
        owner = await cast.agent("owner")
        for session in ("", "a b", "x" * 129, {"id": "a", "wait_seconds": -1}, {}):
            with pytest.raises(WaybillError) as caught:
                owner.hand_off("chat", session=session)
            assert caught.value.status == 400
