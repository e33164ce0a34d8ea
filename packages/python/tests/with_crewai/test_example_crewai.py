"""The example of the project's README."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from processes import Place

EXAMPLE = Path(__file__).parents[2] / "examples" / "crewai_crew.py"


async def test_the_example_prints_its_documented_output(place: Place) -> None:
    # The second time with the same keys.
    for _ in range(2):
        child = await asyncio.create_subprocess_exec(
            sys.executable, EXAMPLE, place.url, stdout=asyncio.subprocess.PIPE
        )
        output, _ = await asyncio.wait_for(child.communicate(), 120)
        assert output.decode().splitlines()[-1] == "The tide comes twice a day."
        assert child.returncode == 0
