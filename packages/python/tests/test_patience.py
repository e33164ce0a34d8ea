"""A hub that sends the bytes of a blob too slowly is not waited for. On a virtual clock."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from test_deadline import virtually

from waybill_sdk import WaybillError
from waybill_sdk.artifacts.artifacts import Artifacts
from waybill_sdk.artifacts.received import ReceivedArtifact

SIZE = 200_000
FILM = bytes(SIZE)


async def stalling(_digest: str, _first: int) -> AsyncGenerator[bytes, None]:
    yield FILM[:1_000]
    await asyncio.Event().wait()


async def dripping(_digest: str, _first: int) -> AsyncGenerator[bytes, None]:
    while True:
        await asyncio.sleep(5)
        yield b"x"


async def gone(_digest: str, _first: int) -> AsyncGenerator[bytes, None]:
    for _ in ():
        yield b""
    raise WaybillError(503, "The hub is gone.")


async def whole(_digest: str, first: int) -> AsyncGenerator[bytes, None]:
    for at in range(first, SIZE, 50_000):
        yield FILM[at : at + 50_000]


def film(read_blob: Any) -> ReceivedArtifact:
    hub = SimpleNamespace(domain="here")
    link: Any = SimpleNamespace(hub=hub, read_blob=read_blob)
    blob = {"name": "film.mp4", "media_type": "video/mp4", "digest": "sha256:x", "size": SIZE}
    return ReceivedArtifact(blob, Artifacts(link, 0))


@pytest.mark.parametrize(
    ("lie", "seconds", "told"),
    [
        (stalling, 60, "1000 of 200000 bytes came from the hub, and then none for 60 s. "),
        (dripping, 65, "12 of 200000 bytes came from the hub in 63 s, which is too slow"),
        (gone, 60, "none for 60 s. .* The last failure: The hub is gone."),
    ],
)
def test_a_hub_that_stops_sending_is_not_waited_for(
    lie: Any, seconds: float, told: str, tmp_path: Path
) -> None:
    async def read() -> None:
        began = asyncio.get_running_loop().time()
        with pytest.raises(WaybillError, match="film.mp4 was not read in time: .*" + told) as late:
            await film(lie).bytes()
        assert late.value.status == 504
        assert asyncio.get_running_loop().time() - began == pytest.approx(seconds, abs=5)

    virtually(read)


@pytest.mark.parametrize("lie", [stalling, dripping, gone])
def test_the_reader_of_a_file_sets_the_time_limit(lie: Any) -> None:
    async def read() -> None:
        began = asyncio.get_running_loop().time()
        with pytest.raises(WaybillError, match="bytes came from the hub within the given time"):
            await film(lie).bytes(timeout=6)
        assert asyncio.get_running_loop().time() - began == pytest.approx(6, abs=0.1)

    virtually(read)


def test_time_that_the_reader_spends_on_the_bytes_does_not_count() -> None:
    async def read() -> None:
        received = 0
        with pytest.raises(WaybillError, match="was changed in transit"):
            async for piece in film(whole).stream():
                received += len(piece)
                await asyncio.sleep(300)
        assert received == SIZE

    virtually(read)
