"""Many inputs to one capability, with a served hub."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from conftest import Cast

from waybill_sdk import Agent, Settled, WaybillError, Work, blocking, new_id
from waybill_sdk.delegating.handle import HandoffHandle


class Squares:
    """A worker that holds back each of its results, and reports what is in progress."""

    def __init__(self, worker: Agent) -> None:
        self.worker = worker
        self.under_way: list[int] = []
        self.stopped: list[int] = []
        self._ends: dict[int, asyncio.Future[int]] = {}
        self._changed = asyncio.Condition()
        worker.serve("square")(self._square)

    async def _square(self, work: Work) -> int:
        value = work.input
        end = asyncio.get_running_loop().create_future()
        self._ends[value] = end
        await self._change(self.under_way.append, value)
        try:
            return await end
        except asyncio.CancelledError:
            self.stopped.append(value)
            raise
        finally:
            await self._change(self.under_way.remove, value)

    async def _change(self, change: Any, value: int) -> None:
        async with self._changed:
            change(value)
            self._changed.notify_all()

    async def until(self, *under_way: int) -> None:
        async with self._changed:
            await self._changed.wait_for(lambda: sorted(self.under_way) == sorted(under_way))

    def finish(self, *values: int) -> None:
        for value in values:
            self._ends[value].set_result(value * value)

    def fail(self, value: int) -> None:
        error = WaybillError(500, f"{value} is broken", retryable=False)
        self._ends[value].set_exception(error)


async def squares(cast: Cast) -> tuple[Squares, Agent]:
    made = Squares(await cast.agent("worker"))
    await made.worker.start()
    return made, await cast.agent("owner")


@pytest.mark.usefixtures("place")
class TestFanOut:
    async def test_limits_the_concurrency_and_keeps_the_order_of_the_inputs(
        self, cast: Cast
    ) -> None:
        work, owner = await squares(cast)
        handles: list[HandoffHandle] = []
        results = asyncio.ensure_future(
            owner.hand_off_all(
                "square",
                [1, 2, 3, 4, 5],
                concurrency=2,
                to="worker",
                on_handoff=lambda handle, _: handles.append(handle),
            )
        )
        await work.until(1, 2)
        work.finish(2)
        await work.until(1, 3)
        work.finish(3, 1)
        await work.until(4, 5)
        work.finish(5, 4)
        assert [each.output for each in await results] == [1, 4, 9, 16, 25]
        assert len({each.envelope["correlation_id"] for each in handles}) == 1

    async def test_the_first_failure_cancels_the_others_and_is_raised(self, cast: Cast) -> None:
        work, owner = await squares(cast)
        results = asyncio.ensure_future(
            owner.hand_off_all("square", [1, 2, 3], concurrency=2, to="worker")
        )
        await work.until(1, 2)
        work.fail(2)
        with pytest.raises(WaybillError, match="2 is broken"):
            await results
        await work.until()
        assert work.stopped == [1]

    async def test_a_settled_one_returns_the_outcome_of_each_input(self, cast: Cast) -> None:
        work, owner = await squares(cast)
        ids = [new_id(), new_id()]
        endings = asyncio.ensure_future(
            owner.hand_off_all(
                "square", [1, 2], settled=True, to="worker", handoff_id=lambda _, at: ids[at]
            )
        )
        await work.until(1, 2)
        work.fail(1)
        work.finish(2)
        first, second = await endings
        assert isinstance(first, Settled) and isinstance(second, Settled)
        assert (first.handoff_id, first.result) == (ids[0], None)
        assert first.error is not None and first.error.message == "1 is broken"
        assert (second.handoff_id, second.error) == (ids[1], None)
        assert second.result is not None and second.result.output == 4

    async def test_is_cancelled_with_the_task_that_waits_for_it(self, cast: Cast) -> None:
        work, owner = await squares(cast)
        results = asyncio.ensure_future(owner.hand_off_all("square", [1, 2], to="worker"))
        await work.until(1, 2)
        results.cancel()
        with pytest.raises(asyncio.CancelledError):
            await results
        await work.until()
        assert sorted(work.stopped) == [1, 2]

    async def test_handoffs_of_one_turn_share_the_receipt_of_the_hub(self, cast: Cast) -> None:
        work, owner = await squares(cast)
        await owner.start()
        handles = [owner.hand_off("square", to="worker", input=value) for value in (1, 2, 3)]
        custodies = await asyncio.gather(*(handle.custody() for handle in handles))
        assert len({custody.text for custody in custodies}) == 1
        await work.until(1, 2, 3)
        work.finish(1, 2, 3)
        assert [(await handle.result()).output for handle in handles] == [1, 4, 9]

    async def test_refuses_a_concurrency_below_one(self, cast: Cast) -> None:
        owner = await cast.agent("owner")
        with pytest.raises(WaybillError, match="hand nothing off"):
            await owner.hand_off_all("square", [1], concurrency=0)
        assert await owner.hand_off_all("square", []) == []

    async def test_work_hands_off_children(self, cast: Cast) -> None:
        worker, owner = await cast.agent("worker"), await cast.agent("owner")
        worker.serve("double", lambda work: 2 * work.input)
        parents: list[str] = []

        @worker.serve("double_all")
        async def double_all(work: Work) -> list[int]:
            results = await work.hand_off_all(
                "double",
                work.input,
                to="worker",
                on_handoff=lambda handle, _: parents.append(handle.envelope["parent_id"]),
            )
            return [each.output for each in results]

        await worker.start()
        handle = owner.hand_off("double_all", to="worker", input=[1, 2, 3])
        assert (await handle.result()).output == [2, 4, 6]
        assert parents == [handle.id] * 3

    async def test_works_without_async(self, cast: Cast) -> None:
        worker = await cast.agent("worker")
        worker.serve("double", lambda work: 2 * work.input)
        await worker.start()

        def run() -> list[Any]:
            with blocking.connect(cast.url) as hub, blocking.Agent("blocker", hub=hub) as agent:
                return [each.output for each in agent.hand_off_all("double", [1, 2], to="worker")]

        assert await asyncio.to_thread(run) == [2, 4]
