"""Files that are too large for envelopes: passed in every form, uploaded, resumed, and checked on
arrival."""

from __future__ import annotations

import asyncio
import hashlib
import io
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from conftest import Cast, refused
from processes import Place

from waybill_sdk import WaybillError, new_id
from waybill_sdk.adapter.files import LOADED_BYTES, loaded, unloaded
from waybill_sdk.artifacts.received import ReceivedArtifact

SIZE = 300_000
FILM = bytes((at * 31 + (at >> 8)) % 256 for at in range(SIZE))
DIGEST = "sha256:" + hashlib.sha256(FILM).hexdigest()
BLOB = {"name": "film.mp4", "media_type": "video/mp4", "digest": DIGEST, "size": SIZE}


def fresh() -> bytes:
    """Content that the hub does not have yet."""
    return os.urandom(SIZE)


async def pieces(film: bytes = FILM) -> AsyncIterator[bytes]:
    for at in range(0, SIZE, 7_001):
        yield film[at : at + 7_001]


def given(form: str, folder: Path) -> dict[str, Any]:
    path = folder / "film.mp4"
    path.write_bytes(FILM)
    return {
        "path": {"path": path},
        "bytes": {"name": "film.mp4", "bytes": FILM},
        "async stream": {"name": "film.mp4", "stream": pieces()},
        "file": {"name": "film.mp4", "stream": io.BytesIO(FILM)},
        "iterable": {"name": "film.mp4", "stream": [FILM[:9], FILM[9:]]},
    }[form]


FORMS = ["path", "bytes", "async stream", "file", "iterable"]


@pytest.mark.parametrize("form", FORMS)
async def test_a_large_file_of_a_handoff_or_a_result_is_stored_at_the_hub(
    cast: Cast, tmp_path: Path, form: str
) -> None:
    worker, owner = await cast.agent("worker"), await cast.agent("owner")

    @worker.serve("file")
    async def work(work: Any) -> Any:
        assert await work.artifacts[0].bytes() == FILM
        return work.result("read", artifacts=[given(form, tmp_path)])

    await worker.start()
    handle = owner.hand_off("file", to="worker", artifacts=[given(form, tmp_path)])
    result = await handle.result()
    assert handle.envelope["body"]["artifacts"] == [BLOB]
    assert result.artifacts == [BLOB]
    await result.artifacts[0].save(tmp_path / "saved.mp4")
    assert (tmp_path / "saved.mp4").read_bytes() == FILM
    assert b"".join([each async for each in result.artifacts[0].stream()]) == FILM
    with pytest.raises(WaybillError, match="at most 9 are read into memory"):
        await result.artifacts[0].bytes(limit=9)


async def test_small_files_are_in_the_envelope_up_to_a_total_and_others_at_the_hub(
    cast: Cast,
) -> None:
    worker, owner = await cast.agent("worker"), await cast.agent("owner")
    worker.serve("sizes")(lambda work: [each.get("size", "inline") for each in work.artifacts])
    await worker.start()
    small = [{"name": f"{at}.txt", "bytes": FILM[:60_000]} for at in range(5)]
    result = await owner.hand_off("sizes", to="worker", artifacts=small).result()
    assert result.output == ["inline"] * 4 + [60_000]


async def test_a_handler_without_async_reads_and_saves_files(cast: Cast, tmp_path: Path) -> None:
    worker, owner = await cast.agent("worker"), await cast.agent("owner")

    @worker.serve("blocking")
    def work(work: Any) -> Any:
        (film,) = work.artifacts
        film.save(tmp_path / "film.mp4")
        whole = b"".join(film.stream())
        return work.result(
            [film.bytes() == whole, len(whole)], artifacts=[{"path": tmp_path / "film.mp4"}]
        )

    await worker.start()
    files = [{"name": "film.mp4", "bytes": FILM}]
    result = await owner.hand_off("blocking", to="worker", artifacts=files).result()
    assert (result.output, result.artifacts) == ([True, SIZE], [BLOB])


async def test_work_that_is_passed_on_names_the_same_file_and_uploads_nothing(cast: Cast) -> None:
    worker, middle = await cast.agent("worker"), await cast.agent("middle")
    owner = await cast.agent("owner")

    @worker.serve("end")
    async def end(work: Any) -> Any:
        return len(await work.artifacts[0].bytes())

    @middle.serve("pass")
    async def passing(work: Any) -> Any:
        return (await work.hand_off("end", artifacts=work.artifacts).result()).output

    await worker.start()
    await middle.start()
    sent: list[str] = []
    for agent in (owner, middle):
        link = agent._context.link
        put = link.put_blob

        async def counted(*args: Any, _put: Any = put, _id: str = agent.id) -> Any:
            sent.append(_id)
            return await _put(*args)

        link.put_blob = counted  # type: ignore[method-assign]
    files = [{"name": "film.mp4", "bytes": fresh()}]
    assert (await owner.hand_off("pass", artifacts=files).result()).output == SIZE
    assert sent == ["owner"]


@pytest.mark.parametrize("lie", ["other", "fewer", "more"])
async def test_altered_bytes_from_a_hub_are_rejected_and_not_saved(
    cast: Cast, tmp_path: Path, lie: str
) -> None:
    worker, owner = await cast.agent("worker"), await cast.agent("owner")
    worker.serve("back")(lambda work: work.result("back", artifacts=[*work.artifacts]))
    await worker.start()
    files = [{"name": "film.mp4", "bytes": FILM}]
    (film,) = (await owner.hand_off("back", to="worker", artifacts=files).result()).artifacts
    lies = {"other": bytes([FILM[0] ^ 1]) + FILM[1:], "fewer": FILM[:-1], "more": FILM + b"x"}

    async def lying(_blob: Any, first: int, _timeout: Any) -> AsyncIterator[bytes]:
        yield lies[lie][first:]

    film.origin.read = lying  # type: ignore[method-assign]
    with pytest.raises(WaybillError, match=r"film\.mp4 was changed in transit") as caught:
        await film.bytes()
    assert caught.value.status == 422
    with pytest.raises(WaybillError, match="was changed in transit"):
        await film.save(tmp_path / "film.mp4")
    assert os.listdir(tmp_path) == []


async def test_an_interrupted_upload_resumes_where_it_ended(cast: Cast) -> None:
    worker, owner = await cast.agent("worker"), await cast.agent("owner")
    worker.serve("size")(lambda work: work.artifacts[0]["size"])
    await worker.start()
    await owner.start()
    link = owner._context.link
    put, firsts = link.put_blob, list[int]()

    async def broken(digest: str, size: int, first: int, octets: AsyncIterator[bytes]) -> Any:
        firsts.append(first)

        async def some() -> AsyncIterator[bytes]:
            async for piece in octets:
                for at in range(0, len(piece), 50_000):
                    yield piece[at : at + 50_000]
                    if len(firsts) == 3 or at < 50_000:
                        continue
                    while (await link.blob_upload(digest))["received"] == first:
                        pass
                    raise WaybillError(503, "The connection was cut.")

        return await put(digest, size, first, some())

    link.put_blob = broken  # type: ignore[method-assign]
    files = [{"name": "film.mp4", "stream": pieces(fresh())}]
    assert (await owner.hand_off("size", to="worker", artifacts=files).result()).output == SIZE
    assert firsts[0] == 0
    assert 0 < firsts[1] < firsts[2]


async def test_a_missing_file_fails_the_handoff_or_the_work(cast: Cast) -> None:
    worker, owner = await cast.agent("worker"), await cast.agent("owner")
    missing = {"path": "/nowhere/film.mp4"}
    worker.serve("miss")(lambda work: work.result("made", artifacts=[missing]))
    await worker.start()
    for files in ([missing], []):
        error = await refused(owner.hand_off("miss", to="worker", artifacts=files))
        assert error.status == 422
        assert "The file /nowhere/film.mp4 can't be read" in error.message


async def test_a_handoff_that_is_cancelled_while_its_files_are_uploaded_is_never_sent(
    cast: Cast,
) -> None:
    owner = await cast.agent("owner")
    await owner.start()
    begun = asyncio.Event()

    async def hanging(*_: Any) -> Any:
        begun.set()
        await asyncio.Event().wait()

    owner._context.link.put_blob = hanging  # type: ignore[method-assign]
    handle = owner.hand_off("nobody", artifacts=[{"name": "film.mp4", "bytes": fresh()}])
    await begun.wait()
    assert await handle.cancel("Nobody wants it.")
    error = await refused(handle)
    assert (error.status, error.message) == (
        499,
        "The handoff was cancelled while its files were uploaded. Nobody wants it.",
    )
    with pytest.raises(WaybillError) as caught:
        await owner.attach(handle.id)
    assert caught.value.status == 404


async def test_the_same_work_under_the_same_id_is_found_again(cast: Cast, tmp_path: Path) -> None:
    worker, owner = await cast.agent("worker"), await cast.agent("owner")
    runs: list[str] = []
    worker.serve("once")(lambda work: runs.append(work.handoff_id) or len(runs))
    await worker.start()
    known = new_id()
    for form in ("path", "bytes"):
        files = [given(form, tmp_path)]
        handle = owner.hand_off("once", to="worker", artifacts=files, handoff_id=known)
        assert (await handle.result()).output == 1
    others = [{"name": "film.mp4", "bytes": FILM[1:]}]
    try:
        error = await refused(
            owner.hand_off("once", to="worker", artifacts=others, handoff_id=known)
        )
    except WaybillError as raised:
        error = raised
    assert error.status == 409


@pytest.mark.parametrize("language", ["Python", "TypeScript"])
async def test_python_and_typescript_send_each_other_large_files(
    place: Place, cast: Cast, language: str
) -> None:
    start = place.typescript if language == "TypeScript" else place.python
    worker = await start("recipient", "worker")
    await worker.until("ready")
    owner = await cast.agent("owner")
    film = fresh()
    files = [{"name": "film.mp4", "stream": pieces(film)}]
    handle = owner.hand_off("work", to="worker", input={"kind": "again"}, artifacts=files)
    result = await handle.result()
    assert result.output == {"bytes": SIZE}
    (back,) = result.artifacts
    assert (back["size"], await back.bytes()) == (SIZE, film[::-1])


async def test_an_upload_resumes_after_its_hub_was_killed(place: Place, cast: Cast) -> None:
    worker = await place.typescript("recipient", "worker")
    await worker.until("ready")
    owner = await cast.agent("owner")
    await owner.start()
    halfway, is_back = asyncio.Event(), asyncio.Event()
    link = owner._context.link
    put, firsts = link.put_blob, list[int]()

    async def slow(digest: str, size: int, first: int, octets: AsyncIterator[bytes]) -> Any:
        firsts.append(first)

        async def some() -> AsyncIterator[bytes]:
            async for piece in octets:
                yield piece[:100_000]
                halfway.set()
                await is_back.wait()
                yield piece[100_000:]

        return await put(digest, size, first, some())

    link.put_blob = slow  # type: ignore[method-assign]
    film = fresh()
    files = [{"name": "film.mp4", "bytes": film}]
    handle = owner.hand_off("work", to="worker", input={"kind": "again"}, artifacts=files)
    await halfway.wait()
    await place.kill_hub()
    await place.start_hub()
    is_back.set()
    (back,) = (await handle.result()).artifacts
    assert await back.bytes() == film[::-1]
    assert len(firsts) > 1


async def test_frameworks_get_the_bytes_of_files_up_to_a_limit(cast: Cast) -> None:
    worker, owner = await cast.agent("worker"), await cast.agent("owner")

    @worker.serve("loaded")
    async def work(work: Any) -> Any:
        files = [
            *work.artifacts,
            ReceivedArtifact({**BLOB, "size": LOADED_BYTES}, work.artifacts[0].origin),
        ]
        film, left = await loaded(files)
        assert (await film.bytes(), "size" in film) == (FILM, False)
        assert left is files[1]
        raise unloaded(left)

    await worker.start()
    files = [{"name": "film.mp4", "bytes": FILM}]
    error = await refused(owner.hand_off("loaded", to="worker", artifacts=files))
    assert (error.status, f"has {LOADED_BYTES} bytes" in error.message) == (413, True)
