"""The files that an agent sends and receives. Files too large for an envelope are stored at the
hub.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Sequence
from contextlib import aclosing
from typing import Any

from ..link.link import Link
from ..protocol.encoding import to_base64url
from ..protocol.error import WaybillError
from .given import GivenArtifact, digest_of_bytes, is_artifact
from .measure import Measured, measured, measured_inline
from .patience import Patience
from .received import ReceivedArtifact

INLINE_ARTIFACT_BYTES = 64 * 1024
"""Larger artifacts are uploaded instead of sent inline, unless a setting says otherwise."""
# The artifacts in one envelope together may be this many times as large as a single one.
_INLINE_TOGETHER = 4
_AGAIN_S = 0.2
# Errors that may be temporary: the hub is asked again how much it has.
_PASSING = frozenset((301, 409))

Wire = dict[str, Any]


class Artifacts:
    def __init__(self, link: Link, inline_bytes: int) -> None:
        if inline_bytes < 0:
            raise WaybillError(
                400, f"inline_artifact_bytes is {inline_bytes}: give a number of bytes, 0 or more."
            )
        self._link = link
        self._inline_bytes = inline_bytes
        self._uploading: dict[str, asyncio.Lock] = {}

    @property
    def domain(self) -> str:
        return self._link.hub.domain

    def received(self, artifacts: Iterable[Wire]) -> list[ReceivedArtifact]:
        """The files that came in an envelope."""
        return [ReceivedArtifact(each, self) for each in artifacts]

    def are_to_be_sent(self, given: Sequence[GivenArtifact]) -> bool:
        """Whether any of these needs more than being named."""
        room = self._inline_bytes * _INLINE_TOGETHER
        for each in given:
            if not is_artifact(each):
                return True
            if "data" not in each:
                if self._is_foreign(each):
                    return True
                continue
            size = len(each["data"]) * 3 // 4
            if size > min(self._inline_bytes, room):
                return True
            room -= size
        return False

    async def send(self, given: Sequence[GivenArtifact], until: float) -> list[Wire]:
        """Uploads what is too large for an envelope, and returns the artifacts for the envelope."""
        artifacts: list[Wire] = []
        room = self._inline_bytes * _INLINE_TOGETHER
        for each in given:
            file = await self._file_of(each)
            if file is None:
                artifacts.append(dict(each))
                continue
            try:
                named = {"name": file.name, "media_type": file.media_type, "digest": file.digest}
                if file.size <= min(self._inline_bytes, room):
                    room -= file.size
                    artifacts.append({**named, "data": await _inline(file)})
                else:
                    await self._upload(file, until)
                    artifacts.append({**named, "size": file.size})
            finally:
                file.remove()
        return artifacts

    async def _file_of(self, given: GivenArtifact) -> Measured | None:
        """The file behind what was given; None if an envelope can refer to it as it is."""
        if not is_artifact(given):
            return await measured(given)
        if "data" in given:
            return measured_inline(given)
        if not self._is_foreign(given):
            return None
        origin, blob = given.origin, dict(given)  # type: ignore[attr-defined]
        return Measured(
            given["name"],
            given["media_type"],
            given["digest"],
            given["size"],
            read=lambda first: origin.read(blob, first),
        )

    def _is_foreign(self, given: GivenArtifact) -> bool:
        """This hub does not have what is stored at the hub of another domain."""
        origin = getattr(given, "origin", None)
        return "size" in given and origin is not None and origin.domain != self.domain

    async def _upload(self, file: Measured, until: float) -> None:
        # Two envelopes with one file upload it once.
        lock = self._uploading.setdefault(file.digest, asyncio.Lock())
        arrived = 0

        async def attempt() -> None:
            nonlocal arrived
            # It may be complete because another agent uploaded it and this one may read it.
            state = await self._link.blob_upload(file.digest)
            while not state["complete"]:
                arrived = state["received"]
                # All bytes have arrived and the hub refuses them: its copy was damaged.
                first = arrived if arrived < file.size else 0
                async with aclosing(_passing(file, first)) as octets:
                    state = await self._link.put_blob(file.digest, file.size, first, octets)
                if not state["complete"] and state["received"] <= first:
                    raise WaybillError(
                        503,
                        f"The hub accepts no more bytes of the artifact {file.name} at the moment.",
                    )

        async def once() -> None:
            try:
                await attempt()
            except WaybillError as error:
                if error.status in _PASSING:
                    raise WaybillError(503, error.message, cause=error) from error
                if error.status == 400:
                    # The hub has compared the bytes with the digest.
                    raise _changed(file.name) from error
                raise

        try:
            async with lock:
                await self._link.retry(once, until)
        except WaybillError as error:
            if error.status not in (503, 504) or asyncio.get_running_loop().time() < until - 0.5:
                raise
            raise WaybillError(
                504,
                f"The artifact {file.name} was not uploaded in time: {arrived} of {file.size} bytes have arrived at the "
                "hub. A retry resumes there: give it more time.",
                cause=error,
            ) from error
        finally:
            if not lock.locked():
                self._uploading.pop(file.digest, None)

    async def read(
        self, blob: Wire, first: int, timeout: float | None = None
    ) -> AsyncIterator[bytes]:
        """The bytes of a blob from an offset on. A dropped connection does not end them."""
        at, patience = first, Patience(blob["name"], blob["size"] - first, timeout)
        while at < blob["size"]:
            try:
                async with aclosing(self._link.read_blob(blob["digest"], at)) as pieces:
                    while (piece := await patience.during(anext(pieces, None))) is not None:
                        at += len(piece)
                        patience.received(len(piece))
                        yield piece
                return
            except WaybillError as error:
                if error.status not in (301, 503):
                    raise
                await patience.during(asyncio.sleep(_AGAIN_S), error)


async def _inline(file: Measured) -> str:
    octets = b"".join([piece async for piece in file.read(0)])
    # A file may have been written to since its digest was computed.
    if digest_of_bytes(octets) != file.digest:
        raise _changed(file.name)
    return to_base64url(octets)


async def _passing(file: Measured, first: int) -> AsyncGenerator[bytes, None]:
    """The bytes of a file for an upload: as many as were measured."""
    at = first
    async for piece in file.read(first):
        at += len(piece)
        yield piece
    if at != file.size:
        raise _changed(file.name)


def _changed(name: str) -> WaybillError:
    return WaybillError(
        422,
        f"The artifact {name} was not sent: its bytes have changed since its digest was computed. Send it once "
        "nothing writes to it any more.",
    )
