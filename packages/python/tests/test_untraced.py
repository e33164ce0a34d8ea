"""Without OpenTelemetry no spans are made, and an incoming trace is passed on."""

from __future__ import annotations

import importlib.util
import sys

from conftest import Cast

from waybill_sdk import Work

GIVEN = f"00-{'a' * 32}-{'b' * 16}-01"


async def test_a_trace_is_passed_on_without_opentelemetry(cast: Cast) -> None:
    assert importlib.util.find_spec("opentelemetry") is None
    worker, owner = await cast.agent("worker"), await cast.agent("owner")

    @worker.serve("leaf")
    async def leaf(work: Work) -> str:
        return str(work.envelope.get("traceparent"))

    @worker.serve("whole")
    async def whole(work: Work) -> str:
        return str((await work.hand_off("leaf", to="worker").result()).output)

    await worker.start()
    assert (await owner.hand_off("whole", traceparent=GIVEN).result()).output == GIVEN
    assert (await owner.hand_off("whole").result()).output == "None"
    assert "opentelemetry" not in sys.modules
