"""The keys of other agents, from their signed manifests. The hub passes manifests on; it can't
forge them.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..protocol.envelope import KeyRecord, VerifiedEnvelope, verify_envelope
from ..protocol.error import WaybillError
from ..protocol.ids import is_agent_id
from ..protocol.instant import now_ms, parse_time
from ..protocol.json_text import parse_json
from ..protocol.jws import Roots, digest_of_jws, read_compact
from ..protocol.manifest import VerifiedManifest, check_chain, keyring, verify_manifest
from ..protocol.trust import TrustPolicy, vouches_for_key
from .link import Link

_KEYS_KEPT = 10_000


class Peers:
    def __init__(self, link: Link, trust: TrustPolicy | None) -> None:
        self._link = link
        self._trust = trust
        self._keys: dict[str, KeyRecord] = {}
        # The newest accepted manifest of each agent: every later one has to follow from it.
        self._heads: dict[str, VerifiedManifest] = {}
        self._roots = Roots()

    async def verify(
        self, text: str, *, to: str | None = None, received_at: Mapping[str, str] | None = None
    ) -> VerifiedEnvelope:
        """Verifies an envelope, and that it is addressed to this agent if `to` says so.

        A handoff must be meant for the custody domain of the hub that it came from.
        """
        compact = read_compact(text)
        now = now_ms()
        is_known = compact.kid in self._keys
        reader = {"to": to, "domain": self._link.hub.domain}
        try:
            return verify_envelope(text, key_of=self._keys.get, at=now, roots=self._roots, **reader)
        except WaybillError:
            if is_known and received_at is None:
                raise
        if not is_known:
            # Unverified: it only says whose manifest to ask for.
            said = parse_json(compact.payload)
            sender = said.get("from") if isinstance(said, dict) else None
            if is_agent_id(sender):
                await self._learn(str(sender))
        # Its key may have been retired since the hub accepted it; the hub would refuse that key
        # now.
        taken_in = parse_time((received_at or {}).get(digest_of_jws(text)))
        at = now if taken_in is None else min(now, taken_in)
        return verify_envelope(text, key_of=self._keys.get, at=at, roots=self._roots, **reader)

    async def _learn(self, agent: str) -> None:
        published = await self._link.manifests(agent)
        newest: VerifiedManifest | None = None
        policy = self._trust
        # To an agent that knows another key, the hub alone can't prove that it was lost.
        head = self._heads.get(agent)
        shown: list[str] = []

        def vouched(kid: str) -> bool:
            return head is None if policy is None else vouches_for_key(policy, agent, kid)

        for index, (text, at) in enumerate(published):
            trust = self._trust if index == len(published) - 1 else None
            newest = verify_manifest(text, previous=newest, at=at, trust=trust, vouched=vouched)
            shown.append(newest.digest)
        if newest is None or newest.agent != agent:
            return
        if head is not None and not vouched(newest.kid):
            check_chain(head, shown)
        if len(self._keys) > _KEYS_KEPT:
            self._keys.clear()
            self._heads.clear()
        self._keys.update(keyring([newest]))
        self._heads[agent] = newest
