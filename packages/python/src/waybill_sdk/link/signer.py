"""Signs what an agent sends: everything in one turn of the loop shares one signature."""

from __future__ import annotations

import asyncio

from ..protocol.envelope import Envelope, sign_envelope, sign_envelopes
from ..protocol.error import WaybillError
from ..protocol.key import PrivateKey


class Signer:
    def __init__(self, key: PrivateKey) -> None:
        self._key = key
        self._waiting: list[tuple[Envelope, asyncio.Future[str]]] = []

    async def sign(self, envelope: Envelope) -> str:
        loop = asyncio.get_running_loop()
        signed: asyncio.Future[str] = loop.create_future()
        self._waiting.append((envelope, signed))
        if len(self._waiting) == 1:
            loop.call_soon(self._flush)
        return await signed

    def _flush(self) -> None:
        waiting, self._waiting = self._waiting, []
        try:
            texts = sign_envelopes([envelope for envelope, _ in waiting], self._key)
        except WaybillError:
            return self._one_by_one(waiting)
        for (_, signed), text in zip(waiting, texts, strict=True):
            if not signed.done():
                signed.set_result(text)

    def _one_by_one(self, waiting: list[tuple[Envelope, asyncio.Future[str]]]) -> None:
        """One that can't be signed must not fail the others."""
        for envelope, signed in waiting:
            if signed.done():
                continue
            try:
                signed.set_result(sign_envelope(envelope, self._key))
            except WaybillError as error:
                signed.set_exception(error)
