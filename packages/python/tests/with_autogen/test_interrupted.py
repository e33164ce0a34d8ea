"""Ctrl-C in the script of a team: the agents that work for it are told to stop."""

from __future__ import annotations

import asyncio
import signal
import sys

import pytest
from conftest import Cast, Hanging, refused
from processes import Place


@pytest.mark.parametrize(
    "how",
    [
        "token",
        pytest.param(
            "bare",
            marks=pytest.mark.skipif(
                sys.version_info < (3, 11), reason="asyncio.run answers SIGINT from Python 3.11 on"
            ),
        ),
    ],
)
async def test_ctrl_c_cancels_the_handoffs_of_a_team(place: Place, cast: Cast, how: str) -> None:
    worker = await cast.agent("worker")
    hanging = Hanging(worker, "research")
    await worker.start()
    script = await place.python("with_autogen/interrupted_autogen", "newsroom", how)
    await asyncio.wait_for(hanging.has_begun.wait(), 30)
    # The script ends by itself after that, and with it the handoff.
    await asyncio.wait_for(script.end(signal.SIGINT), 30)
    await asyncio.wait_for(hanging.has_stopped.wait(), 30)
    newsroom = await cast.agent("newsroom")
    handle = await newsroom.attach(hanging.handoff_id)
    assert (await refused(handle)).status == 499
