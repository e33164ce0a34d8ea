"""An agent that stops: everything that it has sent is with the hub."""

from __future__ import annotations

import asyncio
import sys

from conftest import Cast, Hanging, refused
from processes import Place, Process

SCRIPT = """
import sys
from waybill_sdk import blocking, load_key

url, key = sys.argv[1:]
agent = blocking.Agent("newsroom", key=load_key(key), hub=blocking.connect(url))
handle = agent.hand_off("research")
next(iter(handle.progress))
{last}
"""


async def test_a_cancel_that_nobody_awaits_is_in_custody(cast: Cast) -> None:
    worker, owner = await cast.agent("worker"), await cast.agent("owner")
    hanging = Hanging(worker, "research")
    await worker.start()
    handle = owner.hand_off("research", to="worker")
    await hanging.has_begun.wait()
    handle.cancel_beside("The user has left.")
    assert await owner.stop() == []
    await asyncio.wait_for(hanging.has_stopped.wait(), 30)
    again = await (await cast.agent("owner")).attach(handle.id)
    assert (await refused(again)).status == 499


async def test_a_cancel_is_sent_although_its_own_task_is_cancelled(cast: Cast) -> None:
    worker, owner = await cast.agent("worker"), await cast.agent("owner")
    hanging = Hanging(worker, "research")
    await worker.start()
    handle = owner.hand_off("research", to="worker")
    await hanging.has_begun.wait()
    cancelling = asyncio.ensure_future(handle.cancel())
    await asyncio.sleep(0)
    cancelling.cancel()
    assert await owner.stop() == []
    await asyncio.wait_for(hanging.has_stopped.wait(), 30)


async def test_a_script_that_ends_without_a_stop_sends_its_last_envelopes(
    place: Place, cast: Cast
) -> None:
    worker = await cast.agent("worker")
    hanging = Hanging(worker, "research")
    await worker.start()
    last = "agent._loop.call(lambda: handle._handle.cancel_beside('Over.'))"
    script = await Process.start(
        sys.executable, "-c", SCRIPT.format(last=last), place.url, place.key("newsroom")
    )
    await asyncio.wait_for(hanging.has_stopped.wait(), 30)
    await script.kill()
