"""An agent: what it serves, what it hands off, and its connection to the hub."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, TypeVar, overload

from .artifacts.artifacts import INLINE_ARTIFACT_BYTES, Artifacts
from .context import Context
from .delegating.delegating import Delegating
from .delegating.ending import HandoffResult
from .delegating.fan_out import Settled, fan_out
from .delegating.handle import HandoffHandle
from .link.hub import Hub, read_found
from .link.invitation import enrolment_at
from .link.link import Link
from .link.outgoing import Outgoing, Unconfirmed
from .link.peers import Peers
from .link.retry import retry
from .link.signer import Signer
from .link.tasks import Tasks, log
from .own_key import explain, own_key
from .protocol.error import WaybillError
from .protocol.ids import is_agent_id, new_id
from .protocol.json_text import parse_json
from .protocol.jws import digest_of_jws, read_compact
from .protocol.key import PrivateKey
from .protocol.manifest import sign_manifest
from .protocol.manifest_shape import is_recovery
from .protocol.schema_check import spelling
from .protocol.trust import TrustPolicy
from .serving.capability import Served, served_as
from .serving.serving import Serving

Handler = TypeVar("Handler", bound=Callable[..., Any])

_CREDIT = 16
_START_WITHIN_S = 30.0
# Far longer than a hub takes, and acceptable after Ctrl-C.
SETTLE_WITHIN_S = 5.0


class Agent:
    """Serves capabilities and hands off work. `async with` starts it, and lets running work end.

    `key` is its signing key, to which its name is bound. By default the application keeps one on
    disk for this agent at this hub, in the folder of the environment variable `WAYBILL_KEYS`, or
    else in `.waybill/keys` beside the application's pyproject.toml. `credit` is how many attempts
    it works on at once. `trust` says whose manifests are trusted, by default all that the hub has
    admitted. `manifest` has members of its manifest besides its id, keys and capabilities.
    `invitation` admits it to a hub that requires one, is never sent, and is by default that of the
    environment variable `WAYBILL_INVITATION`. `recovery_key` is the public half of a key that is
    kept offline, as `waybill keys recovery` prints it: with it the agent keeps its name after its
    key is lost or stolen; the default is the one that it has listed before. Artifacts larger than
    `inline_artifact_bytes` are uploaded to the hub, and the envelope refers to them by digest;
    smaller ones are sent inline, up to four times this in one envelope.
    """

    def __init__(
        self,
        id: str,
        *,
        hub: Hub,
        key: PrivateKey | None = None,
        credit: int = _CREDIT,
        manifest: dict[str, Any] | None = None,
        trust: TrustPolicy | None = None,
        invitation: str | None = None,
        recovery_key: dict[str, Any] | None = None,
        inline_artifact_bytes: int = INLINE_ARTIFACT_BYTES,
    ) -> None:
        if not is_agent_id(id):
            raise WaybillError(
                400,
                f"{id!r} is not an agent id: it must have up to 128 of a-z, 0-9, '.', '_' and '-'.",
            )
        self.id = id
        self._key_file: Path | None = None
        if key is None:
            key, self._key_file = own_key(id, hub.domain)
        self._key = key
        self._credit = credit
        self._invitation = invitation
        self._recovery_key = recovery_key
        self._manifest = manifest or {}
        self._offered: list[dict[str, Any]] = []
        self._served: list[Served] = []
        self._started: asyncio.Task[None] | None = None
        self._stopping: asyncio.Task[list[Unconfirmed]] | None = None
        self._is_closed = False
        self._lost: WaybillError | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        tasks = Tasks(id)
        link = Link(id, key, hub, new_id(), self._lose, tasks)
        self._context = Context(
            id,
            link,
            Peers(link, trust),
            Signer(key),
            tasks,
            Outgoing(),
            Artifacts(link, inline_artifact_bytes),
        )
        self._delegating = Delegating(self._context, self._start_unstopped)
        self._serving = Serving(self._context, self._served, self._delegating.hand_off)

    async def __aenter__(self) -> Agent:
        await self.start()
        return self

    async def __aexit__(
        self,
        _type: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        await self.stop()

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        """The loop in which it was started, for adapters whose frameworks run in threads."""
        if self._loop is None:
            raise WaybillError(
                403, f"{self.id} has not started: start it before a framework uses it."
            )
        return self._loop

    def serve(
        self, capability: str | dict[str, Any], handler: Handler | None = None
    ) -> Callable[[Handler], Handler]:
        """Offers a capability, as a call or as a decorator. It has to be called before the start,
        because the signed manifest lists what an agent can do. A plain function as handler runs in
        a thread.
        """
        offered = {"name": capability} if isinstance(capability, str) else capability

        def take(given: Handler) -> Handler:
            if self._started is not None:
                raise WaybillError(
                    403,
                    f"{self.id} has already published its manifest: call serve before start.",
                )
            self._served.append(served_as(offered, given))
            self._offered.append(offered)
            return given

        if handler is not None:
            take(handler)
        return take

    def hand_off(self, capability: str, **options: Any) -> HandoffHandle:
        """Hands off, and starts the agent if that was not done.

        Options: `to` (by default the hub picks), `input`, `brief`, `messages`, `artifacts`,
        `version`, `contract`, `metadata`, `tags`, `min_reliability`, `timeout` in seconds or
        `deadline`, `not_before`, `priority`, `handoff_id`, `correlation_id`, `replay_of`, `group`,
        `on_behalf_of` (whom this agent acts for, if an operator lets it),
        `session` (an id, or `{"id", "wait_seconds"}`), `traceparent`, `tracestate`, `acknowledge`
        ("auto" or "manual"). `artifacts` are files to send along: `{"path": …}`, `{"name",
        "bytes"}`, `{"name", "stream"}`, or a received one; large ones are uploaded before the
        handoff is sent, which counts towards its time. A `handoff_id` that was used before finds
        that handoff again, also after a restart, if the work is the same; for other work it is a
        409.
        """
        return self._delegating.hand_off(capability, **options)

    @overload
    async def hand_off_all(
        self, capability: str, inputs: Iterable[Any], *, settled: Literal[True], **options: Any
    ) -> list[Settled]: ...

    @overload
    async def hand_off_all(
        self,
        capability: str,
        inputs: Iterable[Any],
        *,
        settled: Literal[False] = False,
        **options: Any,
    ) -> list[HandoffResult]: ...

    async def hand_off_all(
        self, capability: str, inputs: Iterable[Any], **options: Any
    ) -> list[Any]:
        """Hands off the inputs in order, `concurrency` at a time (16), and returns the results in
        the order of the inputs. The first failure cancels the others and is raised; with
        `settled=True` all are waited for, and a `Settled` says how each ended.

        `handoff_id(input, index)` gives each an id that can be found again after a crash, and
        `on_handoff(handle, index)` is called with each as it is made. The other options are those
        of `hand_off`, and apply to each.
        """
        return await fan_out(self.hand_off, capability, inputs, **options)

    async def attach(
        self, handoff_id: str, *, acknowledge: Literal["auto", "manual"] = "auto"
    ) -> HandoffHandle:
        """Finds a handoff that this agent has made again, also after a restart."""
        await self._start_unstopped()
        return await self._delegating.attach(handoff_id, acknowledge)

    async def find(self, capability: str, **query: Any) -> dict[str, Any]:
        """Finds agents that offer it, best first in `fits`, and in `left_out` why the others do not
        fit.

        Query: `input`, `version`, `tags`, `within`, `min_reliability`, `words`.
        """
        await self._start_unstopped()
        until = asyncio.get_running_loop().time() + _START_WITHIN_S
        asked = {"capability": capability, **query}
        return read_found(
            await self._context.link.retry(lambda: self._context.link.call("find", asked), until)
        )

    async def start(self) -> None:
        """Publishes the manifest and attaches to the hub."""
        if self._started is None:
            self._loop = asyncio.get_running_loop()
            self._started = asyncio.get_running_loop().create_task(self._start())
        started = self._started
        try:
            await asyncio.shield(started)
        except WaybillError:
            # The hub may be reachable the next time.
            self._started = None
            raise
        except asyncio.CancelledError:
            if started.cancelled() and self._is_stopped:
                raise _stopped(self.id) from None
            raise

    async def _start(self) -> None:
        until = asyncio.get_running_loop().time() + _START_WITHIN_S
        try:
            await retry(self._publish, until)
        except WaybillError as error:
            raise explain(error, self._key_file) from error
        credit = self._credit if self._served else 0
        await retry(
            lambda: self._context.link.open(credit, self._take, self._delegating.show), until
        )

    async def _publish(self) -> None:
        """Publishes its manifest, as the next in its sequence if it has changed."""
        hub = self._context.link.hub
        wanted = {
            "keys": [self._key.jwk],
            **self._manifest,
            "agent_id": self.id,
            "capabilities": self._offered,
        }
        last = await hub.newest_manifest(self.id)
        before = {} if last is None else parse_json(read_compact(last).payload)
        wanted["keys"] = _with_recovery_key(wanted["keys"], self._recovery_key, before)
        if last is None:
            first = sign_manifest(wanted, self._key)
            return await hub.publish(
                self.id, first, enrolment_at(hub.domain, first, self._invitation)
            )
        following = {"sequence": int(before["sequence"]) + 1, "previous": digest_of_jws(last)}
        if spelling(_content(before)) != spelling({**wanted, "waybill": 1, "kind": "manifest"}):
            await hub.publish(self.id, sign_manifest({**wanted, **following}, self._key))

    @property
    def _is_stopped(self) -> bool:
        return self._stopping is not None

    async def _start_unstopped(self) -> None:
        if self._is_closed:
            raise _stopped(self.id)
        await self.start()
        # Work that finishes while the agent stops may still hand off children.
        if self._is_closed:
            raise _stopped(self.id)
        if self._lost is not None:
            raise self._lost

    def _take(self, delivery: dict[str, Any]) -> None:
        if delivery["type"] == "offer":
            self._serving.offered(delivery)
        elif delivery["type"] == "stop":
            self._serving.stopped(delivery)
        else:
            self._context.tasks.start(self._pass(delivery))

    async def _pass(self, delivery: dict[str, Any]) -> None:
        is_answer = await self._serving.answered(delivery)
        is_taken = await self._delegating.receive(delivery)
        if not is_taken and not is_answer:
            log.debug("%s: nobody waits for a delivery about %s", self.id, delivery["handoff_id"])
        self._context.link.seen(delivery["id"])

    def _lose(self, reason: WaybillError) -> None:
        """Deliveries about its handoffs go to another process now, or nowhere: ends the waits in
        this one.
        """
        log.error("%s is not attached any more: %s", self.id, reason)
        self._lost = reason
        self._delegating.fail(
            WaybillError(
                503,
                f"{self.id} is no longer attached to its hub: {reason.message} Its handoffs continue; attach to them by "
                "their ids once this is fixed.",
                cause=reason,
            )
        )

    async def stop(
        self,
        mode: Literal["finish", "release", "abandon"] = "finish",
        *,
        settle: float = SETTLE_WITHIN_S,
    ) -> list[Unconfirmed]:
        """`finish` lets running work end; `release` gives it back at once. `abandon` sends nothing,
        like a crash: the hub notices when the leases expire.

        It waits, at most `settle` seconds, for the hub's receipts for what this agent has sent:
        cancels, results, progress, answers, acknowledgements and handoffs. It returns what the hub
        has not confirmed in time, usually nothing.
        """
        if self._stopping is None:
            self._stopping = asyncio.get_running_loop().create_task(self._stop(mode, settle))
        elif mode == "abandon":
            await self._detach(is_abandoned=True)
            return []
        return await asyncio.shield(self._stopping)

    async def _stop(self, mode: str, settle: float) -> list[Unconfirmed]:
        if self._started is not None and not self._started.done():
            # A start that the hub does not answer would block the stop.
            self._started.cancel()
        unconfirmed: list[Unconfirmed] = []
        if mode != "abandon":
            self._context.link.set_credit(0)
            if mode == "finish":
                await self._serving.finish()
            else:
                await self._serving.release(f"{self.id} is stopping.")
            self._delegating.cancel_lost()
            unconfirmed = await self._context.outgoing.settle(settle)
            for each in unconfirmed:
                log.warning(
                    "%s has stopped, and the hub has not confirmed its %s about %s within %g s: it may be "
                    "lost. Attach to the handoff once the hub answers, and send it again.",
                    self.id,
                    each.kind,
                    each.handoff_id,
                    settle,
                )
        await self._detach(is_abandoned=mode == "abandon")
        return unconfirmed

    async def _detach(self, *, is_abandoned: bool) -> None:
        self._is_closed = True
        if is_abandoned:
            self._serving.abandon(_stopped(self.id))
        await self._context.link.close()
        self._delegating.fail(_stopped(self.id))
        await self._context.outgoing.cancel()
        await self._context.tasks.cancel()


def _with_recovery_key(
    keys: list[Any], given: dict[str, Any] | None, before: dict[str, Any]
) -> list[Any]:
    """An application that names no recovery key keeps the listed one: an update without it is
    refused.
    """
    listed = [each for each in before.get("keys", []) if is_recovery(each)]
    wanted = listed[:1] if given is None else [given]
    return keys if any(is_recovery(each) for each in keys) else [*keys, *wanted]


def _content(manifest: dict[str, Any]) -> dict[str, Any]:
    apart = ("sequence", "previous", "recovery")
    return {name: each for name, each in manifest.items() if name not in apart}


def _stopped(agent: str) -> WaybillError:
    return WaybillError(
        503,
        f"{agent} has stopped here; its handoffs continue. Attach to them by their ids once it runs again.",
    )
