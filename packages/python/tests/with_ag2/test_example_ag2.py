"""The examples of the README."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from processes import Place

EXAMPLES = Path(__file__).parents[2] / "examples"


async def test_the_examples_print_their_documented_output(place: Place) -> None:
    # Each twice, the second time with the same keys.
    for example in ("ag2_agent", "ag2_network") * 2:
        child = await asyncio.create_subprocess_exec(
            sys.executable, EXAMPLES / f"{example}.py", place.url, stdout=asyncio.subprocess.PIPE
        )
        output, _ = await asyncio.wait_for(child.communicate(), 120)
        assert output.decode().splitlines()[-1] == "The library says: twice a day."
        assert child.returncode == 0
