"""Ctrl-C in the script of a team: whoever works for it is told to stop."""

from __future__ import annotations

import asyncio
import signal

from conftest import Cast, Hanging, refused
from processes import Place


async def test_what_a_team_waits_for_is_cancelled_by_ctrl_c(place: Place, cast: Cast) -> None:
    worker = await cast.agent("worker")
    hanging = Hanging(worker, "research")
    await worker.start()
    script = await place.python("with_autogen/interrupted_autogen", "newsroom")
    await asyncio.wait_for(hanging.has_begun.wait(), 30)
    await script.end(signal.SIGINT)
    await asyncio.wait_for(hanging.has_stopped.wait(), 30)
    newsroom = await cast.agent("newsroom")
    handle = await newsroom.attach(hanging.handoff_id)
    assert (await refused(handle)).status == 499
