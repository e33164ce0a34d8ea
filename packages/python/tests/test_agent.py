"""Python and Python over a served hub."""

from __future__ import annotations

import asyncio
import math
import stat
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
import recipient
from conftest import Cast, Hanging, refused
from processes import Place

from waybill_sdk import (
    Agent,
    BlockingWork,
    WaybillError,
    Work,
    blocking,
    connect,
    load_key,
    new_id,
)
from waybill_sdk.serving.capability import Offered, rejection_of, served_as, served_for


@pytest.mark.usefixtures("place")
class TestOneHandoff:
    async def test_is_confirmed_by_the_hub_and_then_by_its_recipient(self, cast: Cast) -> None:
        worker, owner = await cast.agent("worker"), await cast.agent("owner")
        recipient.serve(worker)
        await worker.start()
        handle = owner.hand_off("work", to="worker", input={"kind": "echo", "value": "ü🌊"})
        assert (await handle.custody()).by == "hub"
        result = await handle.result()
        assert result.output == {"value": "ü🌊", "by": "worker", "attempt": 1}
        assert (await handle.accepted()).by == "worker"

    async def test_reports_its_progress_in_order(self, cast: Cast) -> None:
        worker, owner = await cast.agent("worker"), await cast.agent("owner")
        recipient.serve(worker)
        await worker.start()
        handle = owner.hand_off("work", to="worker", input={"kind": "progress"})
        told = [(each.message, each.fraction) async for each in handle.progress]
        assert told == [("step 1", 0.25), ("step 2", 0.5), ("step 3", 0.75)]
        assert (await handle.result()).output == {"value": "done"}

    async def test_shows_text_while_it_is_written(self, cast: Cast) -> None:
        worker, owner = await cast.agent("worker"), await cast.agent("owner")
        tokens = [f"{number} " for number in range(1_500)]

        async def write(work: Work) -> str:
            for token in tokens:
                work.delta(token)
            return "".join(tokens)

        worker.serve("write", write)
        await worker.start()
        handle = owner.hand_off("write", to="worker", input=None)
        shown = [each async for each in handle.deltas]
        assert "".join(each.text for each in shown) == (await handle.result()).output
        assert [each.number for each in shown] == list(range(len(shown)))
        assert len(shown) < 20
        assert {(each.by, each.attempt) for each in shown} == {("worker", 1)}

    async def test_shows_what_json_can_represent_without_repetition(self, cast: Cast) -> None:
        worker, owner = await cast.agent("worker"), await cast.agent("owner")

        def write(work: BlockingWork) -> str:
            work.delta("x\0\ud83e")
            work.delta("🧾" * 5_000)
            return "done"

        worker.serve("write", write)
        await worker.start()
        handle = owner.hand_off("write", to="worker", input=None)
        shown = [each async for each in handle.deltas]
        assert "".join(each.text for each in shown) == "x\ufffd" + "🧾" * 5_000
        assert (await handle.result()).output == "done"
        again = {"by": "worker", "attempt": 1, "number": 0, "text": "again"}
        handle.show(again)
        assert [each async for each in handle.deltas] == []

    async def test_fails_with_the_original_message_and_its_cause(self, cast: Cast) -> None:
        worker, owner = await cast.agent("worker"), await cast.agent("owner")
        recipient.serve(worker)
        await worker.start()
        error = await refused(owner.hand_off("work", to="worker", input={"kind": "fail"}))
        assert (error.status, error.message) == (500, "The oven is cold.")
        assert error.cause == {"name": "RuntimeError", "message": "no gas"}

    async def test_without_a_result_is_a_failure(self, cast: Cast) -> None:
        worker, owner = await cast.agent("worker"), await cast.agent("owner")
        recipient.serve(worker)
        await worker.start()
        error = await refused(owner.hand_off("work", to="worker", input={"kind": "empty"}))
        assert error.status == 520

    async def test_is_cancelled_and_its_work_stops(self, cast: Cast) -> None:
        worker, owner = await cast.agent("worker"), await cast.agent("owner")
        work = Hanging(worker, "hang")
        await worker.start()
        handle = owner.hand_off("hang", to="worker")
        await work.has_begun.wait()
        assert await handle.cancel("not wanted") is True
        assert (await refused(handle)).status == 499
        await work.has_stopped.wait()
        assert await handle.cancel() is False

    async def test_is_a_dead_letter_at_its_deadline(self, cast: Cast) -> None:
        worker, owner = await cast.agent("worker"), await cast.agent("owner")
        reasons: list[bool] = []

        @worker.serve("hang")
        async def hang(work: Work) -> None:
            try:
                await asyncio.Event().wait()
            finally:
                reasons.append(work.stopped.is_set())

        await worker.start()
        error = await refused(owner.hand_off("hang", to="worker", timeout=1))
        assert error.status == 504
        await worker.stop()
        assert reasons == [True]

    @pytest.mark.parametrize("timeout", [0, -1, math.nan, math.inf])
    async def test_fails_if_its_timeout_leaves_no_time(self, cast: Cast, timeout: float) -> None:
        owner = await cast.agent("owner")
        with pytest.raises(WaybillError, match="leaves no time") as caught:
            owner.hand_off("work", timeout=timeout)
        assert (caught.value.status, caught.value.at) == (400, "/timeout")

    async def test_fails_if_its_deadline_has_passed(self, cast: Cast) -> None:
        owner = await cast.agent("owner")
        with pytest.raises(WaybillError, match="has passed") as caught:
            owner.hand_off("work", deadline=datetime.now(timezone.utc))
        assert (caught.value.status, caught.value.at) == (400, "/deadline")

    async def test_that_no_agent_takes_is_refused_before_custody_with_the_reasons(
        self, cast: Cast
    ) -> None:
        worker = await cast.agent("choosy")
        worker.serve({"name": "choose", "input_schema": {"depth": "int"}}, lambda work: "done")
        await worker.start()
        handle = (await cast.agent("asker")).hand_off("choose", input={"depth": "deep"})
        with pytest.raises(WaybillError) as caught:
            await handle.custody()
        assert caught.value.status == 422
        [refusal] = caught.value.refusals
        assert (refusal["agent_id"], refusal["issues"][0]["at"]) == ("choosy", "/depth")
        assert "choosy refuses the input: /depth: " in caught.value.message

    async def test_with_a_start_time_is_held_until_then(self, cast: Cast) -> None:
        worker = await cast.agent("later")
        worker.serve("begin", lambda work: "begun")
        await worker.start()
        start = datetime.now(timezone.utc) + timedelta(seconds=2)
        handle = (await cast.agent("patient")).hand_off("begin", not_before=start, priority=7)
        await handle.custody()
        assert handle.envelope["priority"] == 7
        result = await handle.result()
        assert result.output == "begun"
        assert datetime.now(timezone.utc) >= start

    async def test_is_rejected_if_the_input_breaks_its_schema(self, cast: Cast) -> None:
        worker, owner = await cast.agent("worker"), await cast.agent("owner")
        worker.serve(
            {"name": "research", "input_schema": {"query": "string"}}, lambda work: work.input
        )
        await worker.start()
        error = await refused(owner.hand_off("research", to="worker", input={"query": 1}))
        assert error.status == 422
        assert "/query" in error.message

    async def test_is_refused_if_its_recipient_takes_no_work_from_its_delegator(
        self, cast: Cast
    ) -> None:
        worker, owner, other = [await cast.agent(name) for name in ("worker", "owner", "other")]
        worker.serve({"name": "secret", "from": {"agents": ["owner"]}}, lambda _work: "done")
        await worker.start()
        assert (await owner.hand_off("secret", to="worker").result()).output == "done"
        error = await refused(other.hand_off("secret", to="worker"))
        assert error.status == 403
        assert "worker does not take secret from other" in error.message
        assert (await refused(other.hand_off("secret"))).status == 404

    async def test_by_capability_goes_to_an_agent_that_has_it(self, cast: Cast) -> None:
        worker, owner = await cast.agent("worker"), await cast.agent("owner")
        worker.serve(
            {"name": "double", "output_schema": {"type": "integer"}}, lambda work: 2 * work.input
        )
        await worker.start()
        found = await owner.find("double", input=4)
        assert [each["agent_id"] for each in found["fits"]] == ["worker"]
        assert (await owner.hand_off("double", input=4).result()).output == 8

    async def test_asks_and_continues_with_the_answer(self, cast: Cast) -> None:
        worker, owner = await cast.agent("worker"), await cast.agent("owner")

        @worker.serve("choose")
        def choose(work: Any) -> Any:
            work.progress("about to ask")
            return {"chosen": work.ask("Which?", id="q")}

        await worker.start()
        handle = owner.hand_off("choose", to="worker")
        question = await anext(handle.questions)
        assert (question.id, question.text, question.is_paused) == ("q", "Which?", False)
        await handle.answer("q", None)
        assert (await handle.result()).output == {"chosen": None}

    async def test_has_children_of_the_same_job(self, cast: Cast) -> None:
        worker, owner = await cast.agent("worker"), await cast.agent("owner")
        recipient.serve(worker)
        made: list[dict[str, Any]] = []

        @worker.serve("split")
        async def split(work: Work) -> Any:
            parts = [
                work.hand_off("work", to="worker", input={"kind": "echo", "value": n})
                for n in range(10)
            ]
            made.extend(each.envelope for each in parts)
            return [(await each.result()).output["value"] for each in parts]

        await worker.start()
        handle = owner.hand_off("split", to="worker", timeout=20)
        assert (await handle.result()).output == list(range(10))
        for part in made:
            assert part["parent_id"] == handle.id
            assert part["correlation_id"] == handle.envelope["correlation_id"]
            assert part["deadline"] <= handle.envelope["deadline"]

    async def test_is_found_again_by_its_id_and_other_work_under_it_is_refused(
        self, cast: Cast
    ) -> None:
        worker, owner = await cast.agent("worker"), await cast.agent("owner")
        recipient.serve(worker)
        await worker.start()
        name = new_id()
        handle = owner.hand_off("work", to="worker", input={"kind": "echo"}, handoff_id=name)
        first = await handle.result()
        # Nothing of it is left in this process: only the hub knows it.
        await handle.acknowledge()
        handle = owner.hand_off("work", to="worker", input={"kind": "echo"}, handoff_id=name)
        assert (await handle.result()).digest == first.digest
        await handle.acknowledge()
        error = await refused(
            owner.hand_off("work", to="worker", input={"kind": "fail"}, handoff_id=name)
        )
        assert error.status == 409


async def test_a_handoff_outlives_its_delegator(place: Place, cast: Cast) -> None:
    worker = await cast.agent("worker")
    recipient.serve(worker)
    await worker.start()
    async with await connect(place.url) as hub:
        first = Agent("owner", key=load_key(place.key("owner")), hub=hub)
        handle = first.hand_off("work", to="worker", input={"kind": "pause"}, acknowledge="manual")
        question = await anext(handle.questions)
        assert question.is_paused
        await first.stop("abandon")
    second = await cast.agent("owner")
    found = await second.attach(handle.id)
    asked = await anext(found.questions)
    await found.answer(asked.id, "yes")
    assert (await found.result()).output == {"state": "halfway", "answer": "yes"}


async def test_a_hub_that_is_killed_loses_nothing(place: Place, cast: Cast) -> None:
    worker, owner = await cast.agent("worker"), await cast.agent("owner")
    worker.serve({"name": "double", "lease_seconds": 20, "max_attempts": 10}, double)
    await worker.start()
    await owner.start()
    handles = [
        owner.hand_off("double", to="worker", input=number, timeout=60) for number in range(40)
    ]
    for _ in range(2):
        await handles[0].custody()
        await place.kill_hub()
        await place.start_hub()
    results = await asyncio.gather(*(each.result() for each in handles))
    assert [each.output for each in results] == [2 * number for number in range(40)]


async def double(work: Work) -> int:
    await work.progress(fraction=0.5)
    return 2 * int(work.input)


def test_a_key_file_is_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.jwk"
    key = load_key(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert load_key(path).kid == key.kid
    assert [each.name for each in tmp_path.iterdir()] == ["a.jwk"]
    path.chmod(0o640)
    with pytest.raises(WaybillError) as caught:
        load_key(path)
    assert caught.value.status == 401


async def test_a_hub_other_than_the_pinned_one_is_rejected(tmp_path: Path) -> None:
    place = Place(tmp_path)
    await place.start_hub()
    try:
        async with await connect(place.url, hub_key=place.kid) as hub:
            assert hub.id == "hub"
        with pytest.raises(WaybillError) as caught:
            await connect(place.url, hub_key="x" * 43)
        assert caught.value.status == 401
    finally:
        await place.close()


async def test_an_unreachable_hub_is_waited_for_and_then_named_in_the_error() -> None:
    with pytest.raises(WaybillError) as caught:
        await connect("http://127.0.0.1:9", timeout=0.2)
    assert caught.value.status == 503
    assert "127.0.0.1:9" in caught.value.message


def test_the_whole_interface_works_without_async(place: Place) -> None:
    with blocking.connect(place.url) as hub:
        worker = blocking.Agent("worker", key=load_key(place.key("worker")), hub=hub)

        @worker.serve("double")
        def twice(work: BlockingWork) -> int:
            work.progress("at it")
            return int(work.ask("How often?", id="n")) * int(work.input)

        owner = blocking.Agent("owner", key=load_key(place.key("owner")), hub=hub)
        with worker, owner:
            assert owner.find("double")["fits"][0]["agent_id"] == "worker"
            handle = owner.hand_off("double", to="worker", input=21)
            assert handle.custody().by == "hub"
            question = next(handle.questions)
            handle.answer(question.id, 2)
            assert [each.message for each in handle.progress] == ["at it"]
            assert handle.result().output == 42
            handle.acknowledge()
            assert owner.attach(handle.id).result().output == 42


def test_a_recipient_itself_refuses_a_delegator_that_its_capability_does_not_name() -> None:
    def status_for(agent: str, kid: str, **given: list[str]) -> int | None:
        served = served_as({"name": "work", "from": given}, lambda _work: None)
        rejection = rejection_of(served, Offered({"capability": "work"}, agent, kid, False))
        return None if rejection is None else rejection["status"]

    kid, other_kid = "a" * 43, "b" * 43
    assert status_for("owner", kid, agents=["owner"]) is None
    assert status_for("other", kid, keys=[kid]) is None
    assert status_for("other", kid, agents=["owner"], groups=["partners"]) is None
    assert status_for("other", other_kid, agents=["owner"], keys=[kid]) == 403


def test_the_version_that_is_open_to_the_delegator_is_served() -> None:
    versions: list[tuple[str, dict[str, Any]]] = [("1", {"from": {"agents": ["owner"]}}), ("2", {})]
    served = [
        served_as({"name": "work", "version": version, **given}, lambda _work: None)
        for version, given in versions
    ]
    for agent, version in (("owner", "1"), ("other", "2")):
        found = served_for(served, Offered({"capability": "work"}, agent, "a" * 43, False))
        assert found is not None
        assert found.capability["version"] == version


async def test_a_handler_without_async_hands_off_children(cast: Cast) -> None:
    worker, owner = await cast.agent("worker"), await cast.agent("owner")

    @worker.serve("double")
    def double(work: BlockingWork) -> int:
        work.progress("doubling")
        return 2 * int(work.input)

    @worker.serve("sum")
    def total(work: BlockingWork) -> dict[str, Any]:
        handle = work.hand_off("double", input=1)
        first = handle.result()
        parts = work.hand_off_all("double", [2, 3])
        told = [each.message for each in handle.progress]
        tried = work.hand_off_all("double", ["none"], settled=True)
        return {
            "sum": first.output + sum(each.output for each in parts),
            "told": told,
            "tried": tried[0].error is not None,
            "parent": handle.envelope["parent_id"] == work.handoff_id,
        }

    await worker.start()
    result = await owner.hand_off("sum", input=None).result()
    assert result.output == {"sum": 12, "told": ["doubling"], "tried": True, "parent": True}


async def test_an_agent_that_attaches_too_often_waits_until_the_hub_lets_it_in(
    place: Place,
) -> None:
    key = load_key(place.key("script"))
    # One more than a hub allows in a row.
    for _ in range(31):
        hub = await connect(place.url)
        agent = Agent("script", key=key, hub=hub)
        await agent.start()
        await agent.stop()
        await hub.close()
