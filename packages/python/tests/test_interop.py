"""Python and TypeScript, each as delegator and as recipient, with a served hub."""

from __future__ import annotations

from typing import Any

import pytest
from conftest import Cast
from processes import Place, Process

from waybill_sdk import WaybillError

KINDS: list[tuple[str, Any]] = [
    ("echo", {"value": "ü🌊", "by": "worker", "attempt": 1}),
    ("progress", {"value": "done"}),
    ("ask", {"answer": {"a": [1, None]}}),
    ("pause", {"state": "halfway", "answer": {"a": [1, None]}}),
]
FAILURES = [("fail", 500), ("empty", 520)]
MESSAGES = [
    {
        "role": "user",
        "name": "ann",
        "content": [{"type": "text", "text": "Tides?"}, {"type": "x", "n": 1}],
    }
]
ARTIFACTS = [
    {"name": "a.txt", "media_type": "text/plain", "digest": "sha256:" + "0" * 64, "data": "aGk"}
]


async def ready(place: Place, language: str) -> Process:
    start = place.typescript if language == "TypeScript" else place.python
    worker = await start("recipient", "worker")
    await worker.until("ready")
    return worker


class TestPythonHandsOffToTypeScript:
    @pytest.mark.parametrize(("kind", "output"), KINDS)
    async def test_it_is_done(self, place: Place, cast: Cast, kind: str, output: Any) -> None:
        await ready(place, "TypeScript")
        owner = await cast.agent("owner")
        handle = owner.hand_off("work", to="worker", input={"kind": kind, "value": "ü🌊"})
        if "answer" in output:
            await handle.answer((await anext(handle.questions)).id, {"a": [1, None]})
        assert (await handle.result()).output == output

    @pytest.mark.parametrize(("kind", "status"), FAILURES)
    async def test_it_fails(self, place: Place, cast: Cast, kind: str, status: int) -> None:
        await ready(place, "TypeScript")
        owner = await cast.agent("owner")
        with pytest.raises(WaybillError) as caught:
            await owner.hand_off("work", to="worker", input={"kind": kind}).result()
        assert caught.value.status == status

    async def test_history_and_files_arrive_unchanged(self, place: Place, cast: Cast) -> None:
        await ready(place, "TypeScript")
        owner = await cast.agent("owner")
        handle = owner.hand_off(
            "work", to="worker", input={"kind": "messages"}, messages=MESSAGES, artifacts=ARTIFACTS
        )
        result = await handle.result()
        assert (result.messages, result.artifacts) == (MESSAGES, ARTIFACTS)

    async def test_a_cancellation_stops_the_work(self, place: Place, cast: Cast) -> None:
        worker = await ready(place, "TypeScript")
        owner = await cast.agent("owner")
        handle = owner.hand_off("work", to="worker", input={"kind": "hang"})
        await worker.until("hanging")
        assert await handle.cancel()
        await worker.until("stopped 499")
        with pytest.raises(WaybillError):
            await handle.result()


class TestTypeScriptHandsOffToPython:
    async def told(self, place: Place, line: dict[str, Any]) -> list[dict[str, Any]]:
        return await place.handed_off({"to": "worker", "capability": "work", **line})

    @pytest.mark.parametrize(("kind", "output"), KINDS)
    async def test_it_is_done(self, place: Place, kind: str, output: Any) -> None:
        await ready(place, "Python")
        told = await self.told(
            place, {"input": {"kind": kind, "value": "ü🌊"}, "answer": {"a": [1, None]}}
        )
        assert told[-1]["type"] == "result"
        assert told[-1]["output"] == output
        if kind == "progress":
            steps = [each["message"] for each in told if each["type"] == "progress"]
            assert steps == ["step 1", "step 2", "step 3"]

    @pytest.mark.parametrize(("kind", "status"), FAILURES)
    async def test_it_fails(self, place: Place, kind: str, status: int) -> None:
        await ready(place, "Python")
        told = await self.told(place, {"input": {"kind": kind}})
        assert (told[-1]["type"], told[-1]["status"]) == ("error", status)

    async def test_history_and_files_arrive_unchanged(self, place: Place) -> None:
        await ready(place, "Python")
        told = await self.told(
            place, {"input": {"kind": "messages"}, "messages": MESSAGES, "artifacts": ARTIFACTS}
        )
        assert (told[-1]["messages"], told[-1]["artifacts"]) == (MESSAGES, ARTIFACTS)

    async def test_a_cancellation_stops_the_work(self, place: Place) -> None:
        worker = await ready(place, "Python")
        told = await self.told(place, {"input": {"kind": "hang"}, "cancel": True})
        assert (told[-1]["type"], told[-1]["status"]) == ("error", 499)
        await worker.until("stopped")

    async def test_an_exceeded_deadline_stops_the_work(self, place: Place) -> None:
        worker = await ready(place, "Python")
        told = await self.told(place, {"input": {"kind": "hang"}, "timeoutMs": 1000})
        assert (told[-1]["type"], told[-1]["status"]) == ("error", 504)
        await worker.until("stopped")


@pytest.mark.parametrize("language", ["Python", "TypeScript"])
class TestARecipientIsKilled:
    async def test_in_the_middle_and_another_attempt_finishes(
        self, place: Place, cast: Cast, language: str
    ) -> None:
        worker = await ready(place, language)
        owner = await cast.agent("owner")
        handle = owner.hand_off("work", to="worker", input={"kind": "ask"}, timeout=60)
        question = await anext(handle.questions)
        await worker.kill()
        # Before another process starts, and reports that this attempt is over.
        await handle.answer(question.id, "late")
        await ready(place, language)
        result = await handle.result()
        assert result.output == {"answer": "late"}
        assert result.attempt > 1

    async def test_while_it_is_paused_and_goes_on_with_its_state(
        self, place: Place, cast: Cast, language: str
    ) -> None:
        worker = await ready(place, language)
        owner = await cast.agent("owner")
        handle = owner.hand_off("work", to="worker", input={"kind": "pause"}, timeout=60)
        question = await anext(handle.questions)
        assert question.is_paused
        await worker.kill()
        await ready(place, language)
        await handle.answer(question.id, "yes")
        assert (await handle.result()).output == {"state": "halfway", "answer": "yes"}

    async def test_silently_and_its_lease_runs_out(
        self, place: Place, cast: Cast, language: str
    ) -> None:
        worker = await ready(place, language)
        owner = await cast.agent("owner")
        handle = owner.hand_off("work", to="worker", input={"kind": "hang"}, timeout=60)
        await worker.until("hanging")
        await worker.kill()
        replacement = await ready(place, language)
        await replacement.until("hanging")
        assert await handle.cancel()
