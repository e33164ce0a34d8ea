"""A received file, with methods to read its bytes."""

from __future__ import annotations

import asyncio
import hashlib
import os
import tempfile
from collections.abc import AsyncIterator, Iterator
from typing import TYPE_CHECKING, Any, Protocol

from ..protocol.encoding import from_base64url
from ..protocol.error import WaybillError
from .given import digest_of_bytes

if TYPE_CHECKING:
    from ..delegating.blocking_handle import InLoop

# In a class with a method of that name, `bytes` is the method.
Octets = bytes

DEFAULT_BYTES_LIMIT = 64 * 1024 * 1024
"""The default limit of `bytes()`."""


class Origin(Protocol):
    """The receiver of an artifact, which can read its bytes at the hub that stores them."""

    @property
    def domain(self) -> str: ...
    def read(
        self, blob: dict[str, Any], first: int, timeout: float | None = None
    ) -> AsyncIterator[bytes]: ...


class ReceivedArtifact(dict[str, Any]):
    """An artifact as its envelope has it. Its bytes are inside, or at the hub, which is asked for
    them when they are read. Bytes without the signed digest and size are refused with 422.
    """

    def __init__(self, artifact: dict[str, Any], origin: Origin) -> None:
        super().__init__(artifact)
        self.origin = origin

    async def bytes(
        self, *, limit: int = DEFAULT_BYTES_LIMIT, timeout: float | None = None
    ) -> Octets:
        """All bytes at once. More bytes than the limit are a 413, before any are read. They have to
        arrive within `timeout` seconds; by default a hub is waited for as long as bytes come: at
        most a minute for the next ones, and in all a minute plus a second for each 64 kB.
        """
        length = self.get("size", len(self.get("data", "")) * 3 // 4)
        if length > limit:
            raise WaybillError(
                413,
                f"The artifact {self['name']} has {length} bytes, and at most {limit} are read into memory: give a "
                "higher limit, or read it with stream() or save().",
            )
        return b"".join([piece async for piece in self.stream(timeout=timeout)])

    async def stream(self, *, timeout: float | None = None) -> AsyncIterator[Octets]:
        """The bytes as a stream. They are verified when the last one has come: discard what was
        made from them if reading fails.
        """
        if "size" not in self:
            yield self._inline()
            return
        running, received = hashlib.sha256(), 0
        async for piece in self.origin.read(self, 0, timeout):
            received += len(piece)
            if received > self["size"]:
                break
            running.update(piece)
            yield piece
        if received != self["size"] or "sha256:" + running.hexdigest() != self["digest"]:
            raise self._changed()

    async def save(self, path: str | os.PathLike[str], *, timeout: float | None = None) -> None:
        """Writes the bytes to a file, which appears once all of them have arrived and are verified."""
        target = os.path.join(os.getcwd(), os.fspath(path))
        try:
            with tempfile.TemporaryDirectory(
                prefix=".waybill-", dir=os.path.dirname(target)
            ) as beside:
                whole = os.path.join(beside, "artifact")
                with await asyncio.to_thread(open, whole, "xb") as file:
                    async for piece in self.stream(timeout=timeout):
                        await asyncio.to_thread(file.write, piece)
                    file.flush()
                    await asyncio.to_thread(os.fsync, file.fileno())
                os.replace(whole, target)
        except OSError as error:
            raise WaybillError(
                500,
                f"The artifact {self['name']} was not saved at {target}: {error}. Choose a file in an "
                "existing, writable folder.",
                cause=error,
                retryable=False,
            ) from error

    def _inline(self) -> Octets:
        if "data" not in self:
            raise WaybillError(
                422,
                f"The artifact {self['name']} lies at {self['url']} and is not part of the envelope: fetch it "
                "there, and compare its digest.",
            )
        octets = from_base64url(self["data"])
        if digest_of_bytes(octets) != self["digest"]:
            raise self._changed()
        return octets

    def _changed(self) -> WaybillError:
        sized = f" and the size {self['size']}" if "size" in self else ""
        return WaybillError(
            422,
            f"The artifact {self['name']} was changed in transit: its bytes do not have the digest "
            f"{self['digest']}{sized} that its sender has signed.",
        )


class BlockingArtifact(dict[str, Any]):
    """The same for code without async: every call waits for the loop of the agent."""

    def __init__(self, received: ReceivedArtifact, loop: InLoop) -> None:
        super().__init__(received)
        self._received = received
        self._loop = loop
        self.origin = received.origin

    def bytes(self, *, limit: int = DEFAULT_BYTES_LIMIT, timeout: float | None = None) -> Octets:
        return self._loop.wait(self._received.bytes(limit=limit, timeout=timeout))

    def stream(self, *, timeout: float | None = None) -> Iterator[Octets]:
        pieces = self._received.stream(timeout=timeout)

        async def following() -> Octets | None:
            return await anext(pieces, None)

        while (piece := self._loop.wait(following())) is not None:
            yield piece

    def save(self, path: str | os.PathLike[str], *, timeout: float | None = None) -> None:
        self._loop.wait(self._received.save(path, timeout=timeout))
