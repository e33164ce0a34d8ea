"""A hub on this machine is reached over its Unix socket too, and found by its data folder."""

from __future__ import annotations

import asyncio
import os
import socket as sockets
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio
from processes import Place

from waybill_sdk import Agent, WaybillError, Work, blocking, connect

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="not on Windows")


@pytest.fixture
def folder() -> Iterator[Path]:
    """The folders of pytest can be too long for a socket."""
    with tempfile.TemporaryDirectory(prefix="waybill-") as made:
        yield Path(made)


@pytest_asyncio.fixture
async def near(folder: Path) -> AsyncIterator[Place]:
    made = Place(folder, folder / "hub.sock")
    await made.start_hub()
    yield made
    await made.close()


@pytest.mark.parametrize("given", ["unix:x/hub.sock", "unix:", "unix://", "unix:/", "unix:/srv/"])
async def test_an_invalid_path_is_refused_with_an_example(given: str) -> None:
    with pytest.raises(WaybillError, match=r'for example "unix:/srv/waybill/hub\.sock"') as caught:
        await connect(given)
    assert (caught.value.status, caught.value.at) == (400, "/url")


async def test_work_with_large_files_goes_over_it_and_outlives_the_hub(
    near: Place, folder: Path
) -> None:
    begun, finish = asyncio.Event(), asyncio.Event()
    content = bytes(range(256)) * 3_000

    async def turn(work: Work) -> dict[str, object]:
        given = await work.artifacts[0].bytes()
        begun.set()
        await finish.wait()
        return {"length": len(given), "same": given == content}

    async with (
        await connect(f"unix://{folder}/hub.sock") as hub,
        await connect(folder=folder) as other,
    ):
        worker, owner = Agent("worker", hub=hub), Agent("owner", hub=other)
        worker.serve({"name": "turn", "lease_seconds": 20})(turn)
        await worker.start()
        handle = owner.hand_off("turn", artifacts=[{"name": "given", "bytes": content}], timeout=60)
        await asyncio.wait_for(begun.wait(), 60)
        await near.kill_hub()
        assert (folder / "hub.sock").is_socket()
        await near.start_hub()
        finish.set()
        assert (await handle.result()).output == {"length": len(content), "same": True}
        await worker.stop()
        await owner.stop()
    assert (await near.judge())["violations"] == []


async def test_a_missing_socket_is_named_in_the_error(folder: Path) -> None:
    url = f"unix:{folder}/hub.sock"
    with pytest.raises(WaybillError) as caught:
        await connect(url, timeout=0.2)
    assert caught.value.status == 503
    assert f"No hub answers at {url}: there is no such socket. Start the hub" in str(caught.value)
    with pytest.raises(WaybillError) as caught:
        await connect(folder=folder, timeout=0.2)
    assert (caught.value.status, f"data folder {folder}" in str(caught.value)) == (503, True)


async def test_a_link_or_a_file_in_its_place_is_not_used(folder: Path) -> None:
    with sockets.socket(sockets.AF_UNIX) as listening:
        listening.bind(str(folder / "other.sock"))
        (folder / "hub.sock").symlink_to(folder / "other.sock")
        with pytest.raises(WaybillError) as caught:
            await connect(folder=folder)
        assert caught.value.status == 403
    (folder / "hub.sock").unlink()
    (folder / "hub.sock").write_text("")
    with pytest.raises(WaybillError) as caught:
        await connect(folder=folder)
    assert caught.value.status == 403


async def test_the_environment_names_the_hub(
    near: Place, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WAYBILL_DATA", str(folder))
    async with await connect() as hub:
        assert hub.address.url == f"unix:{folder}/hub.sock"
    monkeypatch.setenv("WAYBILL_DATA", os.devnull)
    monkeypatch.setenv("WAYBILL_HUB", near.url)
    async with await connect() as hub:
        assert hub.address.url == near.url


async def test_a_folder_without_a_socket_has_its_hub_at_the_url(tmp_path: Path) -> None:
    place = Place(tmp_path)
    await place.start_hub()
    try:
        (tmp_path / "hub.url").write_text(f"{place.url}\n")
        async with await connect(folder=tmp_path) as hub:
            domain = hub.domain
        (tmp_path / "operator.token").write_text(f"{domain}.{'s' * 43}\n")
        async with await connect(folder=tmp_path):
            pass
        (tmp_path / "operator.token").write_text(f"{'d' * 43}.{'s' * 43}\n")
        with pytest.raises(WaybillError, match="NOT THE PINNED HUB"):
            await connect(folder=tmp_path)
    finally:
        await place.close()


def test_the_blocking_interface_uses_it_too(folder: Path) -> None:
    with pytest.raises(WaybillError, match="data folder"):
        blocking.connect(folder=folder, timeout=0.2)
