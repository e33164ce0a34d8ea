"""Keeps an agent attached, and resends its envelopes until the hub has signed for them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, TypeVar

from ..protocol.blob import blob_path, blob_upload_path, content_range
from ..protocol.envelope import Envelope, VerifiedEnvelope
from ..protocol.error import WaybillError
from ..protocol.key import PrivateKey
from ..protocol.proof import sign_hello, sign_request
from .hub import Hub, Published, manifest_pages
from .retry import backoff, retry
from .socket import Deliver, HubSocket
from .tasks import Tasks, log

if TYPE_CHECKING:
    from .peers import Peers

Value = TypeVar("Value")

# The answers with one receipt come together; a key may be revoked later.
_SAME_FOR_S = 1.0
# Final answers to an attempt to attach. Everything else is retried.
_REFUSED = frozenset((400, 401, 403, 409))


class Link:
    def __init__(
        self,
        agent: str,
        key: PrivateKey,
        hub: Hub,
        instance: str,
        lost: Callable[[WaybillError], None],
        tasks: Tasks,
    ) -> None:
        self._agent = agent
        self._key = key
        self._instance = instance
        self._lost = lost
        self._tasks = tasks
        self._socket: HubSocket | None = None
        self._credit = 0
        self._show: Deliver = lambda _: None
        self._is_closed = False
        self._last_receipt: tuple[VerifiedEnvelope, float] | None = None
        self.hub = hub

    @property
    def is_attached(self) -> bool:
        return self._socket is not None

    async def open(self, credit: int, deliver: Deliver, show: Deliver) -> None:
        """Attaches, and reattaches whenever the connection is lost, until it is closed."""
        self._credit = credit
        self._show = show
        await self._attach(deliver)

    async def _attach(self, deliver: Deliver) -> None:
        socket = await self.hub.open_socket()
        proof = sign_hello(
            sender=self._agent,
            hub=self.hub.id,
            domain=self.hub.domain,
            instance=self._instance,
            nonce=socket.nonce,
            key=self._key,
        )
        # A delivery that precedes the attachment waits for it: it can't be acknowledged yet.
        early: list[dict[str, Any]] = []
        is_early = True

        def take(delivery: dict[str, Any]) -> None:
            if is_early:
                early.append(delivery)
            elif not self._is_closed:
                deliver(delivery)

        try:
            await socket.attach(proof, self._credit, take, self._show)
        except BaseException:
            await socket.close()
            raise
        if self._is_closed:
            return await socket.close()
        self._socket = socket
        log.info("%s: attached to %s", self._agent, self.hub.id)
        is_early = False
        for each in early:
            deliver(each)
        self._tasks.start(self._watch(socket, deliver))

    async def _watch(self, socket: HubSocket, deliver: Deliver) -> None:
        reason = await asyncio.shield(socket.closed)
        if self._socket is not socket:
            return
        self._socket = None
        log.info("%s: detached: %s", self._agent, reason)
        if self._is_closed or reason is None:
            return
        # 409: another process has attached as this agent. Two that keep replacing each other help
        # nobody.
        if reason.status == 409:
            return self._lost(reason)
        failures = 0
        while not self._is_closed:
            try:
                return await self._attach(deliver)
            except WaybillError as error:
                if error.status in _REFUSED:
                    return self._lost(error)
                failures += 1
                log.debug("%s: not attached yet: %s", self._agent, error)
            await asyncio.sleep(backoff(failures))

    async def submit(self, text: str, digest: str, until: float, peers: Peers) -> VerifiedEnvelope:
        """Sends until the hub has it. The bytes are the same each time, so that the hub takes them
        once.

        Returns the hub's receipt, verified.
        """

        async def once() -> VerifiedEnvelope:
            value = await self.call("submit", {"envelope": text, "shared_receipt": True})
            receipt = await self._receipt(str(value["receipt"]), peers)
            envelope = receipt.envelope
            if (
                envelope["kind"] == "receipt"
                and envelope["from"] == self.hub.id
                and _confirms(envelope, digest)
            ):
                return receipt
            raise WaybillError(
                401,
                f"The hub {self.hub.id} returned the wrong receipt: it is for another envelope.",
            )

        return await self.retry(once, until)

    async def _receipt(self, text: str, peers: Peers) -> VerifiedEnvelope:
        """A receipt that answers several calls in a row is verified once."""
        now = asyncio.get_running_loop().time()
        if self._last_receipt is not None:
            last, until = self._last_receipt
            if last.text == text and now < until:
                return last
        receipt = await peers.verify(text, to=self._agent)
        self._last_receipt = receipt, now + _SAME_FOR_S
        return receipt

    async def retry(self, ask: Callable[[], Awaitable[Value]], until: float) -> Value:
        """Retries until the hub answers, at the latest until then."""
        now = asyncio.get_running_loop().time()
        return await retry(ask, now if self._is_closed else until, silence=504)

    async def call(self, name: str, params: dict[str, Any]) -> Any:
        if self._socket is None:
            raise WaybillError(
                503, f"{self._agent} is not attached to {self.hub.address.url} at the moment."
            )
        return await self._socket.call(name, params)

    async def blob_upload(self, digest: str) -> dict[str, Any]:
        """How much the hub has of a blob from this agent."""
        path = blob_upload_path(digest)
        return await self.hub.blob_upload(path, self._signed("GET", path))

    async def put_blob(
        self, digest: str, size: int, first: int, octets: AsyncIterator[bytes]
    ) -> dict[str, Any]:
        """Uploads a blob from an offset on."""
        path = blob_path(digest)
        headers = {**self._signed("PUT", path), "Content-Length": str(size - first)}
        if first > 0:
            headers["Content-Range"] = content_range(first, size, size)
        return await self.hub.put_blob(path, headers, octets)

    async def read_blob(self, digest: str, first: int) -> AsyncGenerator[bytes, None]:
        """The bytes of a blob from an offset on."""
        path = blob_path(digest)
        headers = self._signed("GET", path)
        if first > 0:
            headers["Range"] = f"bytes={first}-"
        async with aclosing(self.hub.read_blob(path, headers)) as pieces:
            async for piece in pieces:
                yield piece

    def _signed(self, method: str, path: str) -> dict[str, str]:
        proof = sign_request(
            sender=self._agent,
            hub=self.hub.id,
            domain=self.hub.domain,
            method=method,
            path=path,
            body=None,
            key=self._key,
        )
        return {"Authorization": proof}

    async def manifests(self, agent: str) -> Published:
        if self._socket is None:
            return await self.hub.manifests(agent)
        return await manifest_pages(lambda page: self.call("manifests", {"agent": agent, **page}))

    def taken(self, handoff_id: str, attempt: int) -> None:
        self._say("taken", handoff_id=handoff_id, attempt=attempt)

    def heartbeat(self, handoff_id: str, attempt: int) -> None:
        self._say("heartbeat", handoff_id=handoff_id, attempt=attempt)

    def delta(self, handoff_id: str, attempt: int, number: int, text: str) -> None:
        """Dropped while disconnected: the result has the whole text."""
        self._say("delta", handoff_id=handoff_id, attempt=attempt, number=number, text=text)

    def seen(self, delivery_id: str) -> None:
        self._say("seen", id=delivery_id)

    def set_credit(self, credit: int) -> None:
        self._credit = credit
        self._say("credit", credit=credit)

    def _say(self, kind: str, **members: Any) -> None:
        if self._socket is not None:
            self._socket.send({"type": kind, **members})

    async def close(self) -> None:
        self._is_closed = True
        socket, self._socket = self._socket, None
        if socket is not None:
            await socket.close()


def _confirms(receipt: Envelope, digest: str) -> bool:
    """A digest belongs to one envelope, and with it to one handoff."""
    return any(named["re"] == digest for named in (receipt, *receipt["body"].get("also", [])))
