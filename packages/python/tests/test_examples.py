"""The examples of the README, as they stand there."""

from __future__ import annotations

import asyncio
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
async def test_example(place: Place, name: str) -> None:
    child = await asyncio.create_subprocess_exec(
        sys.executable,
        EXAMPLES / f"{name}.py",
        place.url,
        place.folder,
        stdout=asyncio.subprocess.PIPE,
    )
    output, _ = await asyncio.wait_for(child.communicate(), 60)
    assert output.decode().splitlines() == SAY[name]
    assert child.returncode == 0
