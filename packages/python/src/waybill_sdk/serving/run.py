"""One attempt in this process, from its offer to its last envelope."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..context import Context
from ..link.tasks import log
from ..protocol.envelope import Envelope, VerifiedEnvelope, present
from ..protocol.error import WaybillError
from ..protocol.instant import as_datetime, now_ms
from ..protocol.takes_from import principal_of
from ..protocol.usage import Usage, UsageRow
from ..tracing.attempt import AttemptTrace, trace_attempt
from ..tracing.metrics import record_tokens
from .answers import Answers
from .capability import Offered, Served, rejection_of, served_for
from .deltas import Deltas
from .outcome import Paused, failure_of, result_of
from .replies import Replies
from .session import WorkSession, session_in
from .tally import Tally
from .work import BlockingWork, Resume, Work, current_work

if TYPE_CHECKING:
    from ..delegating.handle import HandoffHandle

# Far less than the grace that a hub allows between "taken" and the signed acceptance.
_ACCEPT_WITHIN_S = 0.02
_BEATS_PER_LEASE = 3


class Run:
    def __init__(
        self,
        offer: dict[str, Any],
        context: Context,
        served: list[Served],
        hand_off: Callable[..., HandoffHandle],
        countered: set[str],
    ) -> None:
        loop = asyncio.get_running_loop()
        self.handoff_id: str = offer["handoff_id"]
        self.attempt: int = offer["attempt"]
        self._offer = offer
        self._context = context
        self._served = served
        self._hand_off = hand_off
        self._countered = countered
        self._answers = Answers()
        self._tally = Tally()
        self._trace: AttemptTrace | None = None
        # Answers that arrived before the offer itself was verified.
        self._early: list[tuple[str, dict[str, Any]]] = []
        self._deadline = loop.time() + offer["remaining_ms"] / 1000
        self._lease_s = max(0.001, offer["lease_ms"] / 1000)
        self._handoff: Envelope | None = None
        self._replies: Replies | None = None
        self._session: WorkSession | None = None
        self._accept_timer: asyncio.TimerHandle | None = None
        self._is_accepted = False
        self._asked = 0
        self._stopped = asyncio.Event()
        self._reason: WaybillError | None = None
        self._closed = asyncio.Event()
        self._worked = asyncio.Event()
        self._helpers: list[asyncio.Task[Any]] = []
        self._deltas = Deltas(context.link, self.handoff_id, self.attempt)

    @property
    def _about(self) -> str:
        return f"{self._context.id}: {self.handoff_id}/{self.attempt}"

    async def worked(self) -> None:
        """The handler has ended; its outcome may still be on its way to the hub."""
        await self._worked.wait()

    async def work(self) -> None:
        """Runs the attempt. Never raises: errors are in the log."""
        try:
            await self._work()
        except WaybillError as error:
            self._settle(error.status)
            if not self._closed.is_set():
                log.warning("%s: %s", self._about, error)
        finally:
            self._end()
            self._worked.set()
            if self._trace is not None:
                self._trace.end()

    def _settle(self, status: int) -> None:
        if self._trace is not None:
            self._trace.settle(status)

    async def _work(self) -> None:
        offer, me = self._offer, self._context.id
        verified = await self._verify(offer["envelope"], offer["received_at"])
        handoff = verified.envelope
        if handoff["kind"] != "handoff" or handoff["handoff_id"] != self.handoff_id:
            raise WaybillError(400, f"The offer of {self.handoff_id} contains another handoff.")
        if isinstance(handoff["to"], str) and handoff["to"] != me:
            raise WaybillError(403, f"The handoff {self.handoff_id} is for {handoff['to']}.")
        replies = Replies(
            self._context,
            handoff,
            attempt=self.attempt,
            re=verified.digest,
            deadline=self._deadline,
        )
        self._handoff, self._replies = handoff, replies
        self._trace = trace_attempt(handoff, me, self.attempt)
        self._session = session_in(handoff, offer.get("session"))
        if offer["is_accepted"]:
            self._settle(501)
            return await replies.result(_interrupted(me))
        has_countered = handoff.get("replay_of") in self._countered
        offered = Offered(
            handoff["body"],
            principal_of(handoff),
            None if "on_behalf_of" in handoff else verified.kid,
            has_countered,
        )
        served = served_for(self._served, offered)
        if served is None:
            self._settle(404)
            reason = f"{me} does not offer {handoff['body']['capability']}."
            return await replies.say("receipt", {"status": 404, "reason": reason})
        rejection = rejection_of(served, offered)
        if rejection is not None:
            if "counter" in rejection:
                self._countered.add(self.handoff_id)
            self._settle(rejection["status"])
            return await replies.say("receipt", rejection)
        for answer, received_at in [
            *((each, offer["received_at"]) for each in offer["answers"]),
            *self._early,
        ]:
            await self.answered(answer, received_at)
        # It may have been stopped while the hub was asked for keys.
        if not self._closed.is_set():
            await self._serve(served, handoff, replies)

    async def _serve(self, served: Served, handoff: Envelope, replies: Replies) -> None:
        loop = asyncio.get_running_loop()
        self._helpers = [loop.create_task(self._beat()), loop.create_task(self._watch_deadline())]
        self._accept_timer = loop.call_later(_ACCEPT_WITHIN_S, self._accept_now)
        work = Work(
            self._context.id,
            handoff,
            self.handoff_id,
            self.attempt,
            as_datetime(now_ms() + int((self._deadline - loop.time()) * 1000)),
            self._stopped,
            await self._resume(),
            self._session,
            self._context.artifacts.received(handoff["body"].get("artifacts", [])),
            _Speaking(self),
        )
        handler = loop.create_task(self._invoke(served.handler, work))
        stopped = loop.create_task(self._stopped.wait())
        try:
            await asyncio.wait({handler, stopped}, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            handler.cancel()
            raise
        finally:
            stopped.cancel()
            record_tokens(self._tally.own)
        if not handler.done() or self._reason is not None:
            # Cancelled work that keeps running is not waited for.
            handler.add_done_callback(lambda done: done.cancelled() or done.exception())
            handler.cancel()
        # The last delta is sent before the result.
        self._deltas.finish()
        if self._closed.is_set():
            return
        await self._conclude(served, replies, handler)

    async def _conclude(self, served: Served, replies: Replies, handler: asyncio.Task[Any]) -> None:
        self._worked.set()
        effects = served.capability["effects"]
        try:
            # Whatever cancelled work raises, it raises because of the cancellation: it is no
            # verdict on the work.
            if self._reason is not None:
                raise self._reason
            value = await handler
            if isinstance(value, Paused):
                self._accept_now()
                paused = present(
                    questions=value.questions, state=value.state, usage=self._tally.usage
                )
                return await self._said(replies.say("question", paused))
            body = result_of(value, served.output)
            if self._session is not None:
                body |= present(session=self._session.state)
        except asyncio.CancelledError:
            if not handler.cancelled():
                raise
            body = failure_of(
                WaybillError(500, "The handler cancelled itself: raise what went wrong instead."),
                effects,
            )
        except WaybillError as error:
            if error.status in (300, 301):
                return await self.release(error.message, error.status, error.retry_after_ms)
            body = failure_of(error, effects)
        except Exception as error:
            log.info("%s: the handler raised %r", self._about, error, exc_info=error)
            body = failure_of(error, effects)
        self._disarm_acceptance()
        await replies.result({**body, **present(usage=self._tally.usage)})
        self._settle(body["status"])
        log.info("%s: finished with %s", self._about, body["status"])

    def _accept_now(self) -> None:
        """A result within the grace stands for the acceptance, which is then not sent at all."""
        self._disarm_acceptance()
        if not self._is_accepted and not self._closed.is_set() and self._replies is not None:
            self._is_accepted = True
            self._context.tasks.start(self._accept(self._replies))

    async def _accept(self, replies: Replies) -> None:
        try:
            session = None if self._session is None else self._session.offered
            await replies.say("receipt", present(status=101, session=session))
            log.info("%s: accepted", self._about)
        except WaybillError as error:
            # After the result the acceptance would be late, and says nothing new.
            if error.status == 410 and not self._closed.is_set():
                self.close(error)

    def _disarm_acceptance(self) -> None:
        if self._accept_timer is not None:
            self._accept_timer.cancel()
            self._accept_timer = None

    async def _beat(self) -> None:
        """Keeps the lease while the work runs; gives up if the hub was unreachable for longer than
        the lease.
        """
        loop, link = asyncio.get_running_loop(), self._context.link
        last = loop.time()
        while True:
            await asyncio.sleep(self._lease_s / _BEATS_PER_LEASE)
            if link.is_attached or self._answers.are_waited_for:
                last = loop.time()
            if link.is_attached:
                link.heartbeat(self.handoff_id, self.attempt)
            elif loop.time() - last > self._lease_s:
                return self.abort(
                    WaybillError(
                        501,
                        "The work was aborted: the hub was unreachable for longer than the lease, so another agent "
                        "may have the work now.",
                    )
                )

    async def _watch_deadline(self) -> None:
        await asyncio.sleep(self._deadline - asyncio.get_running_loop().time())
        self.abort(WaybillError(504, "The deadline of the handoff has passed."))

    async def _verify(self, text: str, received_at: dict[str, Any]) -> VerifiedEnvelope:
        return await self._context.verify(text, received_at, self._deadline)

    async def answered(self, text: str, received_at: dict[str, Any]) -> None:
        if self._handoff is None:
            self._early.append((text, received_at))
            return
        verified = await self._verify(text, received_at)
        self._answers.take(verified, self._handoff["from"], self.handoff_id)

    async def _resume(self) -> Resume | None:
        if "resume" not in self._offer:
            return None
        envelope = (await self._verify(self._offer["resume"], self._offer["received_at"])).envelope
        # The state is this agent's own; from anybody else it would be an attack.
        is_own = envelope["kind"] == "question" and envelope["from"] == self._context.id
        if (
            not is_own
            or envelope["handoff_id"] != self.handoff_id
            or "state" not in envelope["body"]
        ):
            raise WaybillError(
                403, f"The state to resume from does not belong to {self._context.id}."
            )
        self._tally.go_on_from(Usage.read(envelope["body"].get("usage")) or Usage())
        return Resume(envelope["body"]["state"], envelope["body"]["questions"], self._answers.known)

    async def progress(self, body: dict[str, Any]) -> None:
        self._accept_now()
        if self._replies is not None and not self._closed.is_set():
            await self._said(self._replies.say("progress", body))

    def delta(self, text: str) -> None:
        if not self._closed.is_set():
            self._deltas.add(text)

    async def ask(self, question: dict[str, Any]) -> Any:
        named = self.name(question)
        if named["id"] not in self._answers.known and self._replies is not None:
            self._accept_now()
            await self._said(self._replies.say("question", {"questions": [named]}))
        return await self._answers.wait(named["id"])

    def name(self, question: dict[str, Any]) -> dict[str, Any]:
        """Questions without an id are numbered, so that each attempt uses the same ids."""
        if "id" in question:
            return question
        self._asked += 1
        return {**question, "id": f"{self._context.id}/{self._asked}"}

    def hand_off(self, capability: str, options: dict[str, Any]) -> HandoffHandle:
        scope = None if self._trace is None else self._trace.scope
        child = self._hand_off(capability, **options, parent=self._handoff, scope=scope)
        self._tally.count(child)
        return child

    def add_usage(self, row: UsageRow) -> None:
        self._tally.add(row)

    async def _said(self, saying: Any) -> None:
        """If the hub says that the attempt is closed, the work ends."""
        try:
            await saying
        except WaybillError as error:
            if error.status == 410:
                self.close(error)
            raise

    async def release(
        self, reason: str, status: int = 300, retry_after_ms: int | None = None
    ) -> None:
        """Returns the attempt to the hub, without a verdict."""
        if self._closed.is_set():
            return
        replies = self._replies
        self.close(WaybillError(status, reason))
        if replies is not None:
            wait = {} if retry_after_ms is None else {"retry_after_ms": retry_after_ms}
            await replies.say("receipt", {"status": status, "reason": reason, **wait})

    def abort(self, reason: WaybillError) -> None:
        """The work has to stop; what is known about it is still sent."""
        if self._reason is None:
            self._reason = reason
        self._answers.end(reason)
        self._stopped.set()

    def close(self, reason: WaybillError) -> None:
        """The work has to stop, and nothing more of it is sent."""
        self._end()
        self._settle(reason.status)
        self.abort(reason)

    async def _invoke(self, handler: Callable[[Any], Any], work: Work) -> Any:
        current_work.set(work)
        if self._trace is None:
            return await _call(handler, work)
        with self._trace.invoke(lambda: self._tally.own, lambda: self._reason):
            return await _call(handler, work)

    def _end(self) -> None:
        self._closed.set()
        self._deltas.stop()
        self._disarm_acceptance()
        for helper in self._helpers:
            helper.cancel()


class _Speaking:
    """The methods of an attempt, for its handler."""

    def __init__(self, run: Run) -> None:
        self.progress = run.progress
        self.delta = run.delta
        self.ask = run.ask
        self.name = run.name
        self.hand_off = run.hand_off
        self.add_usage = run.add_usage


async def _call(handler: Callable[[Any], Any], work: Work) -> Any:
    if inspect.iscoroutinefunction(handler):
        return await handler(work)
    blocking = BlockingWork(work, asyncio.get_running_loop())
    return await asyncio.to_thread(handler, blocking)


def _interrupted(agent: str) -> dict[str, Any]:
    """A process that does not know an attempt which it has accepted was restarted meanwhile."""
    error = {"message": f"{agent} was restarted in the middle of the work.", "retryable": True}
    return {"status": 501, "error": error, "effects": "possible"}
