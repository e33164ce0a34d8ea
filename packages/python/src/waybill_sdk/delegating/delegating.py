"""The handoffs that an agent has made, in this process or found again."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import Any, Literal

from ..artifacts.given import GivenArtifact, is_artifact, is_same_artifact
from ..context import Context, loop_time_of
from ..link.tasks import log
from ..protocol.envelope import Envelope, create_handoff, deadline_ms, present
from ..protocol.error import WaybillError
from ..protocol.instant import now_ms
from ..protocol.schema_check import spelling
from ..protocol.session import session_of
from ..protocol.shape import anything, instant, listed, mapping, record, status, text
from ..protocol.shape import handoff_id as check_id
from ..tracing.api import end_span
from ..tracing.send import sending
from .handle import HandoffHandle

# The default time limit: without a deadline of its own a handoff has five minutes.
DEFAULT_TIMEOUT_S = 300.0
# The members that define the work. Terms and notes may differ between runs.
_WORK = ("capability", "version", "input", "brief", "messages")
_view = record(
    {
        "id": check_id,
        "state": text(),
        "status": status,
        "deadline": instant,
        "attempts": listed(anything),
        "envelope": text(),
        "questions": listed(text()),
        "received_at": mapping(instant),
    },
    {"acceptance": text(), "ending": text()},
)


class Delegating:
    def __init__(self, context: Context, start: Callable[[], Awaitable[None]]) -> None:
        self._context = context
        self._start = start
        self._handles: dict[str, HandoffHandle] = {}
        self._attaching: dict[str, asyncio.Task[HandoffHandle]] = {}

    def hand_off(
        self,
        capability: str,
        *,
        to: str | None = None,
        input: Any = None,
        brief: dict[str, Any] | None = None,
        messages: list[dict[str, Any]] | None = None,
        artifacts: Sequence[GivenArtifact] | None = None,
        version: str | None = None,
        contract: dict[str, Any] | None = None,
        metadata: dict[str, Any] | None = None,
        tags: list[str] | None = None,
        min_reliability: float | None = None,
        timeout: float | None = None,
        deadline: datetime | None = None,
        not_before: datetime | None = None,
        priority: int | None = None,
        handoff_id: str | None = None,
        correlation_id: str | None = None,
        replay_of: str | None = None,
        on_behalf_of: str | None = None,
        group: dict[str, Any] | None = None,
        session: str | dict[str, Any] | None = None,
        traceparent: str | None = None,
        tracestate: str | None = None,
        acknowledge: Literal["auto", "manual"] = "auto",
        parent: Envelope | None = None,
        scope: Any = None,
    ) -> HandoffHandle:
        wanted = present(
            capability=capability, version=version, tags=tags, min_reliability=min_reliability
        )
        # Files that have to be read or uploaded are replaced by their references before the
        # envelope is signed.
        named = (
            None if artifacts is None else [dict(each) for each in artifacts if is_artifact(each)]
        )
        work = {"input": input, "brief": brief, "messages": messages, "artifacts": named}
        body = present(
            capability=capability, version=version, **work, contract=contract, metadata=metadata
        )
        _check_times(timeout, deadline)
        if timeout is None and deadline is None and parent is None:
            timeout = DEFAULT_TIMEOUT_S
        envelope = create_handoff(
            sender=self._context.id,
            domain=self._context.link.hub.domain,
            to=to or wanted,
            body=body,
            timeout=timeout,
            deadline=None if deadline is None else int(deadline.timestamp() * 1000),
            not_before=None if not_before is None else int(not_before.timestamp() * 1000),
            priority=priority,
            handoff_id=handoff_id,
            parent=parent,
            correlation_id=correlation_id,
            group=group,
            session=session_of(session),
            replay_of=replay_of,
            on_behalf_of=on_behalf_of,
            traceparent=traceparent,
            tracestate=tracestate,
        )
        known = self._handles.get(envelope["handoff_id"])
        if known is not None:
            if _is_same_work(known.work, {**body, "artifacts": artifacts or []}):
                return known
            raise _taken(known.id)
        is_given = traceparent is not None or tracestate is not None
        envelope, span = sending(envelope, is_given=is_given, scope=scope)
        handle = self._handle(envelope, acknowledge, artifacts)
        self._context.outgoing.start("handoff", handle.id, self._send(handle, span))
        return handle

    def _handle(
        self,
        envelope: Envelope,
        acknowledge: str,
        artifacts: Sequence[GivenArtifact] | None = None,
    ) -> HandoffHandle:
        is_manual = acknowledge == "manual"
        handle = HandoffHandle(
            self._context, envelope, artifacts, is_manual=is_manual, forget=self._forget
        )
        self._handles[handle.id] = handle
        return handle

    def _forget(self, handoff_id: str) -> None:
        self._handles.pop(handoff_id, None)

    async def _send(self, handle: HandoffHandle, span: Any) -> None:
        status = 499
        try:
            await self._start()
            await handle.upload()
            await self._submit(handle)
            status = 100
        except WaybillError as error:
            status = error.status
            handle.fail(error)
        finally:
            if span is not None:
                end_span(span, status)

    async def _submit(self, handle: HandoffHandle) -> None:
        """If the hub has another handoff under this id, it may be this agent's own from before a
        restart.
        """
        try:
            await handle.submit()
        except WaybillError as error:
            if error.status != 409:
                raise
            until = loop_time_of(deadline_ms(handle.envelope))
            own = await self._context.link.retry(lambda: self._find_own(handle.id), until)
            if own is None:
                raise
            if not _is_same_work(own[1]["body"], handle.envelope["body"]):
                raise _taken(handle.id) from error
            await self._adopt(handle, *own)

    async def attach(self, handoff_id: str, acknowledge: str) -> HandoffHandle:
        """Finds a handoff that this agent has made again, also after a restart."""
        known = self._handles.get(handoff_id)
        if known is not None and handoff_id not in self._attaching:
            return known
        if handoff_id not in self._attaching:
            self._attaching[handoff_id] = self._context.tasks.start(
                self._attach(handoff_id, acknowledge)
            )
        try:
            return await asyncio.shield(self._attaching[handoff_id])
        finally:
            self._attaching.pop(handoff_id, None)

    async def _attach(self, handoff_id: str, acknowledge: str) -> HandoffHandle:
        until = loop_time_of(now_ms()) + DEFAULT_TIMEOUT_S
        own = await self._context.link.retry(lambda: self._find_own(handoff_id), until)
        if own is None:
            raise WaybillError(
                404,
                f"The hub has no handoff {handoff_id} of {self._context.id} at the moment, but one may still be in "
                "flight. Hand off again with this handoff_id, or ask again after its deadline.",
            )
        handle = self._handle(own[1], acknowledge)
        try:
            await self._adopt(handle, *own)
        except WaybillError as error:
            # A handle with half of the events is unusable: the next try makes another.
            handle.fail(error)
            raise
        return handle

    async def _find_own(self, handoff_id: str) -> tuple[dict[str, Any], Envelope, str] | None:
        view = (await self._context.link.call("handoff", {"id": handoff_id}))["handoff"]
        if view is None:
            return None
        _view(view, "")
        verified = await self._context.peers.verify(
            view["envelope"], received_at=view["received_at"]
        )
        envelope = verified.envelope
        is_own = envelope["kind"] == "handoff" and envelope["from"] == self._context.id
        return (
            (view, envelope, verified.text)
            if is_own and envelope["handoff_id"] == handoff_id
            else None
        )

    async def _adopt(
        self, handle: HandoffHandle, view: dict[str, Any], envelope: Envelope, text: str
    ) -> None:
        """Replays to a handle everything that has happened to its handoff so far."""
        handle.found(envelope, text)
        for each in (view.get("acceptance"), *view["questions"], view.get("ending")):
            if each is not None:
                await handle.receive(each, view["received_at"])
        handle.is_found()

    async def receive(self, delivery: dict[str, Any]) -> bool:
        """Passes a delivery to its handle; False if there is none here."""
        attaching = self._attaching.get(delivery["handoff_id"])
        if attaching is not None:
            # A delivery that comes while its handle is being made waits for the handle.
            await asyncio.wait({attaching})
        handle = self._handles.get(delivery["handoff_id"])
        if handle is None:
            return False
        await handle.receive(delivery["envelope"], delivery["received_at"])
        return True

    def show(self, delta: dict[str, Any]) -> None:
        handle = self._handles.get(delta["handoff_id"])
        if handle is not None:
            handle.show(delta)

    def cancel_lost(self) -> None:
        """For an agent that stops: handoffs that can never be found again are cancelled."""
        for handle in list(self._handles.values()):
            if handle.is_lost_with_process and not handle.has_ended:
                handle.cancel_beside("The process that waited for it has stopped.")

    def fail(self, error: WaybillError) -> None:
        """Fails all handles: nothing will be delivered for them any more."""
        for handle in list(self._handles.values()):
            log.debug("%s: %s is abandoned: %s", self._context.id, handle.id, error)
            handle.fail(error)


def _is_same_work(one: dict[str, Any], other: dict[str, Any]) -> bool:
    files, others = one.get("artifacts") or [], other.get("artifacts") or []
    return (
        all(spelling(one.get(each)) == spelling(other.get(each)) for each in _WORK)
        and len(files) == len(others)
        and all(map(is_same_artifact, files, others))
    )


def _taken(handoff_id: str) -> WaybillError:
    return WaybillError(
        409,
        f"The handoff id {handoff_id} is already used for different work of this agent: its capability, input, "
        "brief, messages or artifacts differ. Use a new id for new work, or repeat the original work unchanged.",
        at="/handoff_id",
    )


def _check_times(timeout: float | None, deadline: datetime | None) -> None:
    """Times that leave no room for the work are refused here, and not only by the hub."""
    if timeout is not None and not 0 < timeout < math.inf:
        raise WaybillError(
            400,
            f"A timeout of {timeout} leaves no time: give a positive number of seconds, for example 60.",
            at="/timeout",
        )
    if deadline is not None and int(deadline.timestamp() * 1000) <= now_ms():
        raise WaybillError(
            400,
            f"The deadline {deadline.isoformat()} has passed, so the work can't be done in time: give a later one.",
            at="/deadline",
        )
