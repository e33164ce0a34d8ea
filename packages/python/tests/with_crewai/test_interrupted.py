"""Ctrl-C in the script of a crew: the agents that work for it are told to stop."""

from __future__ import annotations

import asyncio
import signal

import pytest
from conftest import Cast, Hanging, refused
from processes import Place


@pytest.mark.parametrize("what", ["member", "tool"])
@pytest.mark.parametrize("how", ["in a block", "alone", "with async"])
async def test_ctrl_c_cancels_the_handoffs_of_a_crew(
    place: Place, cast: Cast, what: str, how: str
) -> None:
    worker = await cast.agent("worker")
    hanging = Hanging(worker, "research")
    await worker.start()
    script = await place.python("with_crewai/interrupted_crewai", "newsroom", f"{what} {how}")
    await asyncio.wait_for(hanging.has_begun.wait(), 30)
    await script.end(signal.SIGINT)
    await asyncio.wait_for(hanging.has_stopped.wait(), 30)
    newsroom = await cast.agent("newsroom")
    handle = await newsroom.attach(hanging.handoff_id)
    assert (await refused(handle)).status == 499
