"""One handoff, as its delegator holds it. Each stage can be awaited separately."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, TypeVar

from ..artifacts.given import GivenArtifact
from ..context import AFTER_DEADLINE_S, Context, loop_time_of
from ..link.tasks import log
from ..protocol.envelope import Envelope, VerifiedEnvelope, create_reply, deadline_ms, present
from ..protocol.error import WaybillError
from ..protocol.frame import is_next_delta
from ..protocol.jws import digest_of_jws
from ..protocol.usage import Usage
from .ending import DeltaEvent, HandoffResult, ProgressEvent, QuestionEvent, Receipt, ending_of
from .stream import Stream

Value = TypeVar("Value")

_PROGRESS_KEPT = 1_000
_QUESTIONS_KEPT = 256
# Ten seconds of deltas.
_DELTAS_KEPT = 200
# More than any result can hold. Readers concatenate deltas, and a recipient must not fill their
# memory.
_DELTA_CHARACTERS_SHOWN = 4 * 1024 * 1024
# How long after the deadline the hub's notice may take. Then the delegator stops waiting, whatever
# has happened to the hub.
TOLD_WITHIN_S = 1.0
# How long to wait for the events of a handoff that is looked up after its deadline.
_FOUND_WITHIN_S = 60.0


class HandoffHandle:
    def __init__(
        self,
        context: Context,
        envelope: Envelope,
        artifacts: Sequence[GivenArtifact] | None = None,
        *,
        is_manual: bool,
        forget: Callable[[str], None],
    ) -> None:
        loop = asyncio.get_running_loop()
        self.envelope = envelope
        self.progress: Stream[ProgressEvent] = Stream(_PROGRESS_KEPT)
        self.questions: Stream[QuestionEvent] = Stream(_QUESTIONS_KEPT)
        # Created by the first reader: unread deltas are not kept.
        self._deltas: Stream[DeltaEvent] | None = None
        self._delta_characters = 0
        self._last_delta: tuple[int, int] | None = None
        self._context = context
        # The files to send, until they were read and uploaded.
        self._given = artifacts
        # Done with the reason if it is cancelled while its files are uploaded.
        self._unwanted: asyncio.Future[WaybillError] | None = None
        self._is_manual = is_manual
        self._forget = forget
        self._text: str | None = None
        self._custody: asyncio.Future[Receipt] = loop.create_future()
        self._accepted: asyncio.Future[Receipt] = loop.create_future()
        self._result: asyncio.Future[HandoffResult] = loop.create_future()
        for each in (self._custody, self._accepted, self._result):
            # An error that nobody awaits must not be reported as unhandled.
            each.add_done_callback(lambda done: done.cancelled() or done.exception())
        self.usage: Usage | None = None
        """What it has used, if its recipient reports it. Available once it has ended, also with a
        failure.
        """
        self._asked: dict[str, tuple[str, str]] = {}
        self._seen: set[str] = set()
        self._order = asyncio.Lock()
        self._ending: str | None = None
        self._is_awaited = False
        self._acknowledged: asyncio.Task[None] | None = None
        # Done if the hub has not reported the end in time.
        self._overdue: asyncio.Future[None] = loop.create_future()
        self._is_left = False
        self.is_lost_with_process = False
        """Nobody can find it again once this process has ended: it is cancelled when its agent
        stops.
        """
        self._timer: asyncio.TimerHandle | None = None
        self._expect_end(TOLD_WITHIN_S)

    def _expect_end(self, late_s: float) -> None:
        """`late_s`: how long to wait from now if the deadline has passed."""
        loop = asyncio.get_running_loop()
        self._expect_nothing()
        at = max(self._deadline + TOLD_WITHIN_S, loop.time() + late_s)
        self._timer = loop.call_at(at, self._untold)

    def _expect_nothing(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _untold(self) -> None:
        self._overdue.set_result(None)
        self.fail(
            WaybillError(
                504,
                f"The deadline {self.envelope['deadline']} has passed, and the hub has not reported how the handoff {self.id} "
                "ended; the work may have been done. Attach to it by its id to learn the outcome once the hub answers.",
            )
        )

    @property
    def has_ended(self) -> bool:
        """Whether its end is known here. Earlier failures concern this agent or its hub, and the
        handoff goes on.
        """
        return self._ending is not None

    @property
    def id(self) -> str:
        return str(self.envelope["handoff_id"])

    @property
    def work(self) -> dict[str, Any]:
        """The work as it was given: before the upload, files are known only by path. For the agent."""
        body = dict(self.envelope["body"])
        return body if self._given is None else {**body, "artifacts": self._given}

    @property
    def text(self) -> str:
        """The handoff as it was signed. Available once it is in custody."""
        if self._text is None:
            raise WaybillError(
                403, f"The handoff {self.id} is not signed yet; wait for its custody."
            )
        return self._text

    @property
    def digest(self) -> str:
        return digest_of_jws(self.text)

    async def custody(self) -> Receipt:
        """The hub has the handoff on disk, and has signed for it."""
        return await asyncio.shield(self._custody)

    async def accepted(self) -> Receipt:
        """A recipient has accepted exactly this handoff, with a signature."""
        return await asyncio.shield(self._accepted)

    async def result(self) -> HandoffResult:
        """The result; raises the WaybillError with which the handoff ended.

        Whatever the hub does, the wait ends a second past the deadline: then this stage and the
        others raise a 504, and `has_ended` is false. `Agent.attach` asks the hub again.
        """
        self._is_awaited = True
        try:
            return await asyncio.shield(self._result)
        finally:
            self._acknowledge_by_itself()

    @property
    def deltas(self) -> Stream[DeltaEvent]:
        """What the recipient is writing, in pieces: unsigned, at most once, and never on record.

        Pieces are kept from the first access on. Ends with the handoff.
        """
        if self._deltas is None:
            self._deltas = Stream(_DELTAS_KEPT)
            if self._is_left or self.has_ended:
                self._deltas.end()
        return self._deltas

    def show(self, delta: dict[str, Any]) -> None:
        """Shows a piece of what its recipient is writing. For the agent."""
        if self._deltas is None or self._is_left or self.has_ended:
            return
        to, by = self.envelope["to"], delta["by"]
        place = (delta["attempt"], delta["number"])
        if (isinstance(to, str) and by != to) or not is_next_delta(self._last_delta, place):
            return
        self._last_delta = place
        self._delta_characters += len(delta["text"])
        if self._delta_characters > _DELTA_CHARACTERS_SHOWN:
            return
        self._deltas.push(DeltaEvent(by, *place, delta["text"]))

    async def cancel(self, reason: str | None = None) -> bool:
        """False if it had ended before; the result says how."""
        return await self._in_time("cancel", self._cancel(reason))

    async def _cancel(self, reason: str | None) -> bool:
        if self._unwanted is not None and not self._unwanted.done():
            why = "" if reason is None else f" {reason}"
            words = f"The handoff was cancelled while its files were uploaded.{why}"
            self._unwanted.set_result(WaybillError(499, words))
            return True
        await self.custody()
        to = self.envelope["to"] if isinstance(self.envelope["to"], str) else self._context.hub_id
        made = create_reply(
            self.envelope, "cancel", self._context.id, present(reason=reason), to=to
        )
        text = await self._context.signer.sign(made)
        try:
            await self._context.send(text, self._deadline + TOLD_WITHIN_S)
        except WaybillError as error:
            if error.status == 410:
                return False
            raise
        await self.receive(text)
        return True

    async def upload(self) -> None:
        """Uploads files that are too large for the envelope, which then refers to them. For the
        agent.
        """
        if self._given is None or not self._context.artifacts.are_to_be_sent(self._given):
            return
        loop = asyncio.get_running_loop()
        self._unwanted = loop.create_future()
        sending = loop.create_task(self._context.artifacts.send(self._given, self._deadline))
        either: set[asyncio.Future[Any]] = {sending, self._unwanted}
        try:
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            if not sending.done():
                raise self._unwanted.result()
            body = {**self.envelope["body"], "artifacts": await sending}
            self.envelope = {**self.envelope, "body": body}
            self._given = None
        finally:
            sending.cancel()
            self._unwanted = None

    def skip_question(self, question_id: str) -> None:
        """For a caller that answers it by other means: it must not be asked here again."""
        self.questions.drop(lambda each: each.id == question_id)

    def cancel_beside(self, reason: str) -> None:
        """For a caller that can't wait: cancels the handoff when the caller's run is cancelled."""
        cancelling = self._context.outgoing.start("cancel", self.id, self._cancel(reason))
        cancelling.add_done_callback(self._cancelled_beside)

    def _cancelled_beside(self, task: asyncio.Task[bool]) -> None:
        if not task.cancelled() and task.exception() is not None:
            log.warning("%s: %s is not cancelled: %s", self._context.id, self.id, task.exception())

    async def answer(self, question_id: str, answer: Any) -> None:
        """Answers a question by its id. A second answer is refused with 410 and changes nothing."""
        if question_id not in self._asked:
            raise WaybillError(403, f"There is no question {question_id} about {self.id}.")
        re, by = self._asked[question_id]
        body = {"question_id": question_id, "answer": answer}
        made = create_reply(self.envelope, "answer", self._context.id, body, to=by, re=re)
        await self._in_time("answer", self._context.say(made, self._deadline + TOLD_WITHIN_S))

    async def acknowledge(self) -> None:
        """Tells the hub that the end was processed, so that it is not delivered again."""
        if self._acknowledged is None:
            self._acknowledged = self._context.tasks.start(self._acknowledge())
        await asyncio.shield(self._acknowledged)

    async def _acknowledge(self) -> None:
        await asyncio.wait({self._result})
        if self._ending is None:
            return
        made = create_reply(
            self.envelope,
            "receipt",
            self._context.id,
            {"status": 200},
            to=self._context.hub_id,
            re=self._ending,
        )
        await self._context.outgoing.send("receipt", self.id, self._context.say(made, self._until))
        self._forget(self.id)

    def _acknowledge_by_itself(self) -> None:
        if (
            self._is_manual
            or not self._is_awaited
            or self._ending is None
            or self._acknowledged is not None
        ):
            return
        # A turn later, so that code that awaits the result has run, and could have raised.
        self._acknowledged = self._context.outgoing.start("receipt", self.id, self._acknowledge())

    async def submit(self) -> None:
        """Submits it to the hub. For the agent."""
        self._text = await self._context.signer.sign(self.envelope)
        receipt = await self._context.send(self._text, self._until)
        self._in_custody(receipt.envelope["from"], receipt.digest, receipt.text)

    def found(self, envelope: Envelope, text: str) -> None:
        """For a handoff that was found again: it has been in custody all along."""
        self.envelope, self._text = envelope, text
        # Its events follow now; the wait for them begins here, since the deadline may have passed.
        is_late = self._deadline <= asyncio.get_running_loop().time()
        self._expect_end(_FOUND_WITHIN_S if is_late else TOLD_WITHIN_S)
        self._in_custody(self._context.hub_id, self.digest, text)

    def is_found(self) -> None:
        """All events that the hub had when it was found have been replayed. For the agent."""
        if not self.has_ended and not self._is_left:
            self._expect_end(TOLD_WITHIN_S)

    async def _in_time(self, kind: str, work: Coroutine[Any, Any, Value]) -> Value:
        """A call that the hub does not answer is waited for no longer than the handoff's end."""
        task = self._context.outgoing.start(kind, self.id, work)
        either: set[asyncio.Future[Any]] = {task, self._overdue}
        # If this wait is cancelled, the envelope is sent all the same.
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            task.cancel()
            # It has the reason, and so has the awaiter of the result.
            await asyncio.shield(self._result)
        return await task

    def fail(self, error: WaybillError) -> None:
        """Nothing more will be delivered for it here. For the agent."""
        self._is_left = True
        self._expect_nothing()
        for each in (self._custody, self._accepted, self._result):
            if not each.done():
                each.set_exception(error)
        self._end_streams()
        self._forget(self.id)

    async def receive(self, text: str, received_at: dict[str, Any] | None = None) -> None:
        """Processes a delivery, once, however often it comes. For the agent."""
        # In order: a delivery that waits for a key must not be overtaken by a later one.
        async with self._order:
            verified = await self._context.verify(text, received_at, self._until)
            if self._is_left or verified.digest in self._seen:
                return
            self._check(verified.envelope)
            self._seen.add(verified.digest)
            self._take(verified)

    def _check(self, envelope: Envelope) -> None:
        me, to = self._context.id, self.envelope["to"]
        is_about = (
            envelope["handoff_id"] == self.id
            and envelope["correlation_id"] == self.envelope["correlation_id"]
        )
        is_own = envelope["kind"] == "cancel" and envelope["from"] == me
        is_notice = envelope["kind"] == "notice" and envelope["from"] == self._context.hub_id
        is_by_recipient = not isinstance(to, str) or envelope["from"] == to
        is_for_this = envelope.get("re") == self.digest and is_by_recipient
        is_for_us = envelope["to"] == me and (is_notice or is_for_this)
        if not is_about or not (is_own or is_for_us):
            raise WaybillError(
                403,
                f"A {envelope['kind']} from {envelope['from']} was delivered for {self.id}, but it is about another handoff.",
            )

    def _take(self, verified: VerifiedEnvelope) -> None:
        envelope, body = verified.envelope, verified.envelope["body"]
        kind, by, attempt = envelope["kind"], envelope["from"], envelope.get("attempt")
        if kind == "result" or (kind == "receipt" and body["status"] == 101):
            # A result names the same digest as an acceptance, and stands for it.
            if not self._accepted.done():
                session = body.get("session")
                self._accepted.set_result(
                    Receipt(by, attempt, verified.digest, verified.text, session)
                )
        elif kind == "progress":
            said = {name: body[name] for name in ("message", "fraction", "data") if name in body}
            self.progress.push(ProgressEvent(by, int(attempt or 0), **said))
        elif kind == "question":
            for each in body["questions"]:
                self._asked[each["id"]] = (verified.digest, by)
                said = {name: each[name] for name in ("text", "data", "schema") if name in each}
                self.questions.push(
                    QuestionEvent(each["id"], by, int(attempt or 0), "state" in body, **said)
                )
        ending = ending_of(verified, self._context.artifacts)
        if ending is not None and self._ending is None and not self._result.done():
            if kind == "result":
                self.usage = Usage.read(body.get("usage"))
            self._end(ending, verified.digest)

    def when_ended(self, listener: Callable[[], None]) -> None:
        """Reports the end before any awaiter of the result continues. For the agent."""
        self._result.add_done_callback(lambda _done: listener())

    def _end(self, ending: HandoffResult | WaybillError, digest: str) -> None:
        self._ending = digest
        self._expect_nothing()
        if isinstance(ending, WaybillError):
            if not self._accepted.done():
                self._accepted.set_exception(ending)
            self._result.set_exception(ending)
        else:
            self._result.set_result(ending)
        log.info("%s: %s ended with %s", self._context.id, self.id, getattr(ending, "status", 200))
        self._end_streams()

    def _end_streams(self) -> None:
        self.progress.end()
        self.questions.end()
        if self._deltas is not None:
            self._deltas.end()

    def _in_custody(self, by: str, digest: str, text: str) -> None:
        if not self._custody.done():
            self._custody.set_result(Receipt(by, None, digest, text))

    @property
    def _deadline(self) -> float:
        return loop_time_of(deadline_ms(self.envelope))

    @property
    def _until(self) -> float:
        return self._deadline + AFTER_DEADLINE_S
