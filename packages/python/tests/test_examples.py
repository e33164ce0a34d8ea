"""The examples of the README."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import pytest
from processes import Place

EXAMPLES = Path(__file__).parents[1] / "examples"
SAY = {
    "first": ["In custody of the hub, receipt signed.", "By anna, result signed: all about tides"],
    "pausing": ["Which icing?", "dough is ready, with lemon"],
    "blocking_agent": ["42", "500 division by zero False"],
}


@pytest.mark.parametrize("name", SAY)
async def test_example_runs_repeatedly_on_the_same_hub(place: Place, name: str) -> None:
    env = {**os.environ, "WAYBILL_KEYS": str(place.folder / "keys")}
    for _ in range(2):
        child = await asyncio.create_subprocess_exec(
            sys.executable,
            EXAMPLES / f"{name}.py",
            place.url,
            stdout=asyncio.subprocess.PIPE,
            env=env,
        )
        output, _ = await asyncio.wait_for(child.communicate(), 60)
        assert output.decode().splitlines() == SAY[name]
        assert child.returncode == 0
