"""The usage of work, with a served hub."""

from __future__ import annotations

from typing import Any

import pytest
from conftest import Cast

from waybill_sdk import BlockingWork, WaybillError, Work
from waybill_sdk.protocol.envelope import parse_envelope
from waybill_sdk.protocol.jws import read_compact
from waybill_sdk.protocol.usage import UsageTotal


def row(input_tokens: int, model: str = "m") -> dict[str, Any]:
    return {"model": model, "requests": 1, "input_tokens": input_tokens}


def usd(amount: str) -> dict[str, str]:
    return {"amount": amount, "currency": "USD"}


def tokens_of(usage: Any) -> int:
    assert usage is not None
    return int(usage.total.input_tokens)


async def test_a_result_contains_the_usage_that_its_handler_has_added(cast: Cast) -> None:
    worker, owner = await cast.agent("worker"), await cast.agent("owner")

    @worker.serve("work")
    async def work(work: Work) -> str:
        work.add_usage(**row(3), cost=usd("0.1"))
        work.add_usage(**row(4), cost=usd("0.2"))
        return "done"

    await worker.start()
    result = await owner.hand_off("work", to="worker").result()
    assert result.usage is not None
    own = [{"model": "m", "requests": 2, "input_tokens": 7, "cost": usd("0.3")}]
    assert (result.usage.own, result.usage.rows) == (own, own)
    assert result.usage.total == UsageTotal(requests=2, input_tokens=7, costs=[usd("0.3")])
    assert parse_envelope(read_compact(result.envelope).payload)["body"]["usage"] == {"own": own}


async def test_a_failure_contains_its_usage(cast: Cast) -> None:
    worker, owner = await cast.agent("worker"), await cast.agent("owner")

    @worker.serve("work")
    def work(work: BlockingWork) -> str:
        work.add_usage(**row(3))
        raise WaybillError(500, "it broke")

    await worker.start()
    handle = owner.hand_off("work", to="worker")
    with pytest.raises(WaybillError, match="it broke"):
        await handle.result()
    assert tokens_of(handle.usage) == 3


async def test_a_result_without_added_usage_has_none(cast: Cast) -> None:
    worker, owner = await cast.agent("worker"), await cast.agent("owner")
    refused: list[WaybillError] = []

    @worker.serve("work")
    async def work(work: Work) -> str:
        wrong: list[dict[str, Any]] = [
            {"input_tokens": -1},
            {"output_tokens": 0.5},
            {"cached_input_tokens": 1},
            {"cost": {"amount": "1e3", "currency": "USD"}},
        ]
        for each in wrong:
            try:
                work.add_usage(**each)
            except WaybillError as error:
                refused.append(error)
        return "done"

    await worker.start()
    result = await owner.hand_off("work", to="worker").result()
    assert result.usage is None
    assert [(error.status, error.at) for error in refused] == [
        (400, "/input_tokens"),
        (400, "/output_tokens"),
        (400, ""),
        (400, "/cost/amount"),
    ]


async def test_the_usage_of_children_is_added_once(cast: Cast) -> None:
    leaf, top, owner = [await cast.agent(name) for name in ("leaf", "top", "owner")]

    @leaf.serve("leaf")
    async def _leaf(work: Work) -> str:
        work.add_usage(**row(100, "leaf"))
        if work.input == "fail":
            raise WaybillError(500, "it broke")
        return "leaf"

    @top.serve("top")
    async def _top(work: Work) -> str:
        work.add_usage(**row(1, "top"))
        child = work.hand_off("leaf", to="leaf")
        await child.result()
        await work.hand_off("leaf", to="leaf", handoff_id=child.id).result()
        with pytest.raises(WaybillError):
            await work.hand_off("leaf", to="leaf", input="fail").result()
        return "top"

    await leaf.start()
    await top.start()
    result = await owner.hand_off("top", to="top").result()
    assert result.usage is not None
    assert result.usage.own == [row(1, "top")]
    assert result.usage.children == [{**row(200, "leaf"), "requests": 2}]
    assert tokens_of(result.usage) == 201


async def test_a_pause_contains_its_usage_and_the_result_adds_it_up(cast: Cast) -> None:
    leaf, top, owner = [await cast.agent(name) for name in ("leaf", "top", "owner")]

    @leaf.serve("leaf")
    async def _leaf(work: Work) -> str:
        work.add_usage(**row(100, "leaf"))
        return "leaf"

    async def ask_first(work: Work) -> Any:
        work.add_usage(**row(1 if work.resume is None else 2, "top"))
        step = work.handoff_id[:-1] + ("1" if work.handoff_id.endswith("0") else "0")
        await work.hand_off("leaf", to="leaf", handoff_id=step).result()
        if work.resume is None:
            return work.pause({"id": "ok", "text": "Go on?"}, state="half done")
        return "top"

    top.serve("top")(ask_first)
    await leaf.start()
    await top.start()
    handle = owner.hand_off("top", to="top")
    async for question in handle.questions:
        await top.stop()
        again = await cast.agent("top")
        again.serve("top")(ask_first)
        await again.start()
        await handle.answer(question.id, "yes")
        break
    usage = (await handle.result()).usage
    assert usage is not None
    assert (usage.own, usage.earlier) == ([row(2, "top")], [row(1, "top")])
    assert usage.children == [row(100, "leaf")]
    assert len(usage.handoffs) == 1
    assert tokens_of(usage) == 103
