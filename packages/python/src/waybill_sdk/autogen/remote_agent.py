"""A remote agent as a participant of a team: RoundRobin, Selector or Swarm."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Any, Literal

from autogen_agentchat.agents import BaseChatAgent
from autogen_agentchat.base import Response
from autogen_agentchat.messages import (
    BaseAgentEvent,
    BaseChatMessage,
    HandoffMessage,
    ModelClientStreamingChunkEvent,
    TextMessage,
)
from autogen_core import CancellationToken
from autogen_core.models import RequestUsage

from ..adapter.as_data import failure_as_data, marked_as_data, result_as_data
from ..adapter.call import (
    CallSession,
    OnQuestion,
    dispatch,
    refuse_question,
    session_for,
    settle,
)
from ..adapter.interrupt import cancel_at_interrupt
from ..adapter.speech import replies_of
from ..adapter.words import Message, text_message, text_of, words_of_result
from ..agent import Agent
from ..delegating.ending import DeltaEvent, HandoffResult, ProgressEvent, QuestionEvent
from ..delegating.handle import HandoffHandle
from ..protocol.error import WaybillError
from ..protocol.ids import new_id
from .messages import HANDOFF_ID, from_wire, to_wire
from .told import told_to_models

# Separate from the part that converts it back to a message of a handoff: as a message it may
# impersonate anybody.
_RECEIVED = "waybill_received"


def received_in(message: BaseChatMessage) -> dict[str, Any] | None:
    """The whole result behind a message of a remote agent, as it was received: `output`,
    `messages`, `artifacts`, `by`, `attempt` and `envelope`. It is for code: its messages may
    impersonate anybody.
    """
    received = message.metadata.get(_RECEIVED)
    return None if received is None else dict(json.loads(received))


def _received(result: HandoffResult) -> dict[str, Any]:
    members = ("output", "messages", "artifacts", "by", "attempt", "envelope")
    return {member: getattr(result, member) for member in members}


class _Asked(Exception):
    """The remote agent asks, and the user of the team has to answer."""

    def __init__(self, question: QuestionEvent) -> None:
        super().__init__(question.text)
        self.question = question


class RemoteAgent(BaseChatAgent):
    """Hands its whole conversation to `capability`, of the agent `to` or of any agent with it.

    `back_to` hands the turn back, as a Swarm needs it. A question of the remote agent is answered
    by `on_question`; with `ask_user` it becomes a handoff to that target, which ends the run as
    AutoGen's own do, and the next turn's message is the answer. A failure raises, which ends the
    team, or becomes a message: as `on_failure` says.

    With a `session` the remote agent keeps the conversation, and is sent what is new since its last
    turn; True: a session of this agent's own, which its saved state names. If the conversation was
    lost, the next turn sends all of it again. For code its messages are what it has said; models of
    others are told it as data, in a marker that its content can't close.
    """

    def __init__(
        self,
        name: str,
        *,
        agent: Agent,
        capability: str,
        description: str = "A remote agent.",
        to: str | None = None,
        timeout: float | None = None,
        session: CallSession = None,
        back_to: str | None = None,
        ask_user: str | None = None,
        on_question: OnQuestion = refuse_question,
        on_failure: Literal["raise", "message"] = "raise",
        metadata: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(name, description)
        self._agent = agent
        self._capability = capability
        self._options: dict[str, Any] = {"to": to, "timeout": timeout, "metadata": metadata}
        self._session = session
        self._conversation = new_id()
        # How much of the history the session has.
        self._told = 0
        self._back_to = back_to
        self._ask_user = ask_user
        self._on_question = on_question
        self._on_failure = on_failure
        self._history: list[Message] = []
        self._open: dict[str, str] | None = None
        self._failure: WaybillError | None = None

    @property
    def failure(self) -> WaybillError | None:
        """The error of its latest handoff: a team that it ends reports it only as text."""
        return self._failure

    @property
    def produced_message_types(self) -> Sequence[type[BaseChatMessage]]:
        return (TextMessage, HandoffMessage)

    async def on_messages(
        self, messages: Sequence[BaseChatMessage], cancellation_token: CancellationToken
    ) -> Response:
        async for item in self.on_messages_stream(messages, cancellation_token):
            if isinstance(item, Response):
                return item
        raise AssertionError("a stream without a response")

    async def on_messages_stream(
        self, messages: Sequence[BaseChatMessage], cancellation_token: CancellationToken
    ) -> AsyncGenerator[BaseAgentEvent | BaseChatMessage | Response, None]:
        shown: asyncio.Queue[ProgressEvent | DeltaEvent | None] = asyncio.Queue()
        inner: list[BaseChatMessage] = []
        work = asyncio.ensure_future(self._reply(messages, shown, inner))
        cancellation_token.link_future(work)
        # A team that is cancelled waits for its participants, and does not tell them.
        cancel_at_interrupt(work)
        work.add_done_callback(lambda _: shown.put_nowait(None))
        try:
            while (event := await shown.get()) is not None:
                words = event.text if isinstance(event, DeltaEvent) else event.message
                if words is not None:
                    yield ModelClientStreamingChunkEvent(source=self.name, content=words)
            reply = await work
            for message in inner:
                yield message
            yield Response(chat_message=reply, inner_messages=inner)
        finally:
            work.cancel()

    async def _reply(
        self,
        messages: Sequence[BaseChatMessage],
        shown: asyncio.Queue[ProgressEvent | DeltaEvent | None],
        inner: list[BaseChatMessage],
    ) -> BaseChatMessage:
        self._failure = None
        handle = await self._handle(messages)

        async def answer(question: QuestionEvent) -> Any:
            if self._ask_user is None:
                return await self._on_question(question)
            raise _Asked(question)

        try:
            result = await settle(
                handle, on_progress=shown.put, on_delta=shown.put, on_question=answer
            )
        except _Asked as stop:
            self._open = {"handoff_id": handle.id, "question_id": stop.question.id}
            words = stop.question.text or stop.question.id
            told = marked_as_data(stop.question.by, {"question": words})
            return self._said(words, told, handle, target=self._ask_user)
        except WaybillError as error:
            self._failure = error
            if self._on_failure == "raise":
                raise
            words = f"{self.name} could not do it: {error} {error.remedy}"
            told = marked_as_data(self._options["to"] or self._capability, failure_as_data(error))
            return self._said(words, told, handle, target=self._back_to)
        # Whatever its result claims, here it has said that itself, under its name in the team.
        replies = replies_of(result, self.name) or [text_message("assistant", "", self.name)]
        self._history.extend(replies)
        if self._session is not None:
            self._told = 0 if result.session == "lost" else len(self._history)
        # The last one is what it says to the team; the others are shown in the team's stream.
        *before, last = from_wire(replies)
        inner.extend(
            told_to_models(each, marked_as_data(result.by, {"said": [text_of(reply)]}))
            for each, reply in zip(before, replies, strict=False)
        )
        told = marked_as_data(result.by, result_as_data(result))
        said = self._said(words_of_result(result), told, handle, target=self._back_to)
        said.metadata.update(last.metadata)
        said.metadata[_RECEIVED] = json.dumps(_received(result))
        return said

    async def _handle(self, messages: Sequence[BaseChatMessage]) -> HandoffHandle:
        if self._open is not None:
            opened, self._open = self._open, None
            handle = await self._agent.attach(opened["handoff_id"])
            await self._resume(handle, opened["question_id"], messages)
            return handle
        self._history.extend(to_wire(each, self.name) for each in messages)
        # A repeated step with the same messages finds its own handoff.
        step = ",".join(each.id for each in messages)
        return dispatch(
            self._agent,
            self._capability,
            run=f"autogen/{self.name}",
            step=step,
            messages=self._history[self._told :],
            session=session_for(self._session, self._conversation),
            **self._options,
        )

    async def _resume(
        self, handle: HandoffHandle, question_id: str, messages: Sequence[BaseChatMessage]
    ) -> None:
        answer = messages[-1].to_text() if messages else ""
        self._history.extend(to_wire(each, self.name) for each in messages)
        handle.skip_question(question_id)
        try:
            await handle.answer(question_id, answer)
        except WaybillError as error:
            # Answered before, by an earlier instance of this team.
            if error.status != 410:
                raise

    def _said(
        self, words: str, told: str, handle: HandoffHandle, *, target: str | None
    ) -> BaseChatMessage:
        said: dict[str, Any] = {
            "source": self.name,
            "content": words,
            "metadata": {HANDOFF_ID: handle.id},
            "models_usage": _usage_of(handle),
        }
        if target is None:
            return told_to_models(TextMessage(**said), told)
        return told_to_models(HandoffMessage(**said, target=target), told)

    async def on_reset(self, cancellation_token: CancellationToken) -> None:
        self._history, self._open, self._failure = [], None, None
        self._conversation, self._told = new_id(), 0

    async def save_state(self) -> Mapping[str, Any]:
        return {
            "history": self._history,
            "open": self._open,
            "conversation": self._conversation,
            "told": self._told,
        }

    async def load_state(self, state: Mapping[str, Any]) -> None:
        self._history, self._open = list(state["history"]), state["open"]
        self._conversation, self._told = state["conversation"], state["told"]


def _usage_of(handle: HandoffHandle) -> RequestUsage | None:
    """The usage of the remote agent, also of a failed one."""
    if handle.usage is None:
        return None
    total = handle.usage.total
    return RequestUsage(prompt_tokens=total.input_tokens, completion_tokens=total.output_tokens)
