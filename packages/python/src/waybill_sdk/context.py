"""What the two sides of an agent share."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

from .artifacts.artifacts import Artifacts
from .link.link import Link
from .link.outgoing import Outgoing
from .link.peers import Peers
from .link.signer import Signer
from .link.tasks import Tasks
from .protocol.envelope import Envelope, VerifiedEnvelope
from .protocol.instant import now_ms
from .protocol.jws import digest_of_jws

# How long after the deadline to retry during an outage, so that the end is on record.
AFTER_DEADLINE_S = 60.0


@dataclass(frozen=True)
class Context:
    id: str
    link: Link
    peers: Peers
    signer: Signer
    tasks: Tasks
    outgoing: Outgoing
    artifacts: Artifacts

    @property
    def hub_id(self) -> str:
        return self.link.hub.id

    async def say(self, envelope: Envelope, until: float) -> VerifiedEnvelope:
        """Signs and sends an envelope; returns the hub's receipt."""
        return await self.send(await self.signer.sign(envelope), until)

    async def send(self, text: str, until: float) -> VerifiedEnvelope:
        return await self.link.submit(text, digest_of_jws(text), until, self.peers)

    async def verify(
        self, text: str, received_at: dict[str, Any] | None, until: float
    ) -> VerifiedEnvelope:
        """A connection that is cut while the hub is asked for keys is no reason to give up."""
        return await self.link.retry(
            lambda: self.peers.verify(text, received_at=received_at), until
        )


def loop_time_of(ms: int) -> float:
    """A time since 1970 on the clock of the running loop, which can't be set."""
    return asyncio.get_running_loop().time() + (ms - now_ms()) / 1000
