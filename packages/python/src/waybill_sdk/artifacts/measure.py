"""A file with its digest and size, read once in pieces."""

from __future__ import annotations

import asyncio
import hashlib
import os
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

from ..protocol.encoding import from_base64url
from ..protocol.error import WaybillError
from .given import GivenArtifact, digest_of_bytes, label_of

PIECE_BYTES = 256 * 1024


@dataclass(frozen=True)
class Measured:
    """A file with known digest and size, whose bytes can be read again from any offset."""

    name: str
    media_type: str
    digest: str
    size: int
    read: Callable[[int], AsyncIterator[bytes]]
    remove: Callable[[], None] = lambda: None
    """The temporary copy that was made for this upload."""


async def measured(given: GivenArtifact) -> Measured:
    """Reads what was given once, for its digest and size."""
    label = label_of(given)
    if "bytes" in given:
        return _in_memory(label, digest_of_bytes(given["bytes"]), given["bytes"])
    if "path" in given:
        path = os.fspath(given["path"])
        try:
            digest, size = await asyncio.to_thread(_measure, path)
        except OSError as error:
            raise WaybillError(
                422,
                f"The file {path} can't be read, so it was not sent: {error}. Check the path and its permissions.",
                cause=error,
            ) from error
        return Measured(
            label["name"], label["media_type"], digest=digest, size=size, read=_part_of(path, size)
        )
    return await _measured_stream(label, given["stream"])


def measured_inline(artifact: GivenArtifact) -> Measured:
    """The bytes inside an artifact, if they match its digest."""
    octets = from_base64url(artifact["data"])
    if digest_of_bytes(octets) != artifact["digest"]:
        raise WaybillError(
            422,
            f"The artifact {artifact['name']} was not sent: its bytes do not have the digest {artifact['digest']} "
            "that it names.",
        )
    return _in_memory(label_of(artifact), artifact["digest"], octets)


def _in_memory(label: dict[str, str], digest: str, octets: bytes) -> Measured:
    async def read(first: int) -> AsyncIterator[bytes]:
        for at in range(first, len(octets), PIECE_BYTES):
            yield octets[at : at + PIECE_BYTES]

    return Measured(label["name"], label["media_type"], digest=digest, size=len(octets), read=read)


def _measure(path: str) -> tuple[str, int]:
    running, size = hashlib.sha256(), 0
    with open(path, "rb") as file:
        while piece := file.read(PIECE_BYTES):
            running.update(piece)
            size += len(piece)
    return "sha256:" + running.hexdigest(), size


def _part_of(path: str, size: int) -> Callable[[int], AsyncIterator[bytes]]:
    """Bytes that are appended to a file afterwards do not belong to it."""

    async def read(first: int) -> AsyncIterator[bytes]:
        at = first
        with await asyncio.to_thread(open, path, "rb") as file:
            file.seek(first)
            while at < size:
                piece = await asyncio.to_thread(file.read, min(PIECE_BYTES, size - at))
                if not piece:
                    return
                at += len(piece)
                yield piece

    return read


async def _measured_stream(label: dict[str, str], stream: Any) -> Measured:
    """Writes a stream to a temporary file, from which an interrupted upload is resumed."""
    handle, path = tempfile.mkstemp(prefix="waybill-")
    running, size = hashlib.sha256(), 0
    try:
        with os.fdopen(handle, "wb") as file:
            async for piece in _pieces_of(stream):
                running.update(piece)
                size += len(piece)
                await asyncio.to_thread(file.write, piece)
    except BaseException:
        os.unlink(path)
        raise
    digest = "sha256:" + running.hexdigest()
    return Measured(
        label["name"],
        label["media_type"],
        digest=digest,
        size=size,
        read=_part_of(path, size),
        remove=lambda: os.unlink(path),
    )


async def _pieces_of(stream: Any) -> AsyncIterator[bytes]:
    if hasattr(stream, "__aiter__"):
        async for piece in stream:
            yield piece
        return
    source: Iterator[bytes] = _pieces_in(stream) if hasattr(stream, "read") else iter(stream)
    while (piece := await asyncio.to_thread(lambda: next(source, None))) is not None:
        yield piece


def _pieces_in(file: BinaryIO) -> Iterator[bytes]:
    while piece := file.read(PIECE_BYTES):
        yield piece
