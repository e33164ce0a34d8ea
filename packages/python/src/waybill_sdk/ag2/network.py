"""Remote agents as participants of AG2's network."""

from __future__ import annotations

import asyncio
import re
from typing import Any

from ag2.events import DataInput, Input, TextInput
from ag2.network import (
    EV_CHANNEL_CLOSED,
    EV_CHANNEL_EXPIRED,
    EV_CHANNEL_INVITE,
    EV_CHANNEL_INVITE_ACK,
    WORKFLOW_TYPE,
    AuthBlock,
    ChannelMetadata,
    Envelope,
    Hub,
    Passport,
    Resume,
    visible_to,
)
from ag2.network.adapters.base import ensure_parts

from ..adapter.as_data import marked_as_data, result_as_data
from ..adapter.call import OnQuestion, dispatch, refuse_question, settle
from ..adapter.trace import in_trace
from ..adapter.words import Message, text_message, words_of, words_of_result
from ..agent import Agent
from ..delegating.ending import HandoffResult
from ..delegating.handle import HandoffHandle
from ..protocol.error import WaybillError
from .received import RECEIVED, received_from, received_in

_SCHEME = "waybill"
_TRACEPARENT = re.compile("00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}")
_CONSULTING = "consulting"


class NetworkProxy:
    """The `RemoteAgentProxy` of a hub of AG2's network: a message to a participant that it has
    registered becomes a handoff, and the result is that participant's answer.

    Models are told it as data, in a marker that its content can't close; `received_in(envelope)`
    has it whole. A failure is reported to the hub as a failed turn, which closes a consultation, so
    that nobody waits for an answer that will not come.
    """

    scheme = _SCHEME

    def __init__(
        self,
        agent: Agent,
        hub: Hub,
        *,
        timeout: float | None = None,
        on_question: OnQuestion = refuse_question,
    ) -> None:
        self._agent = agent
        self._hub = hub
        self._timeout = timeout
        self._on_question = on_question
        self._turns: dict[asyncio.Task[None], tuple[str, str]] = {}
        hub.register_remote_proxy(self)

    async def register(
        self, name: str, capability: str, *, to: str | None = None, description: str = ""
    ) -> Passport:
        """Makes `capability`, of the agent `to` or of any agent with it, a participant under this
        name. One that was registered before, in a durable store, is found again, and continues with
        what it was asked.
        """
        auth = AuthBlock(scheme=_SCHEME, claim={"capability": capability, "to": to})
        known = self._hub.find_agent_id(name)
        if known is not None:
            passport = await self._hub.get_agent(known)
            if passport.auth == auth:
                await self._go_on(passport)
                return passport
        resume = Resume(claimed_capabilities=[capability], summary=description)
        passport = Passport(name=name, kind="remote_agent", auth=auth)
        return await self._hub.register_identity(passport, resume)

    async def _go_on(self, recipient: Passport) -> None:
        """Takes the turns that were the participant's when the process ended: each finds its own
        handoff.
        """
        for turn in await self._hub.pending_turns_for(_id_of(recipient)):
            for envelope in await self._hub.read_wal(turn.channel_id):
                if envelope.envelope_id == turn.triggering_envelope_id:
                    await self.dispatch(envelope, recipient)

    async def dispatch(self, envelope: Envelope, recipient: Passport) -> None:
        """For the hub of AG2. Returns once the work is in custody."""
        event, me = envelope.event_type, _id_of(recipient)
        if event == EV_CHANNEL_INVITE:
            await self._join(envelope, me)
        elif event in (EV_CHANNEL_CLOSED, EV_CHANNEL_EXPIRED):
            for turn, channel in self._turns.items():
                if channel == (envelope.channel_id, me):
                    turn.cancel()
        elif not event.startswith(("ag2.channel.", "ag2.task.")):
            await self._take(envelope, recipient)

    async def close(self) -> None:
        """Cancels running handoffs. Stop the agent after it."""
        turns = list(self._turns)
        for turn in turns:
            turn.cancel()
        await asyncio.gather(*turns, return_exceptions=True)

    async def _join(self, invite: Envelope, me: str) -> None:
        channel = {"channel_id": invite.channel_id}
        joined = Envelope(invite.channel_id, me, None, EV_CHANNEL_INVITE_ACK, channel)
        joined.causation_id = invite.envelope_id
        await self._hub.post_envelope(joined)

    async def _take(self, envelope: Envelope, recipient: Passport) -> None:
        me, channel_id = _id_of(recipient), envelope.channel_id
        is_asked = ensure_parts(self._hub.adapter_for(channel_id).extract_turn_input(envelope))
        # The channel decides whose turn it is.
        if not is_asked or not self._hub.can_send(channel_id, me):
            return
        messages = await self._messages(envelope, recipient)
        claim = recipient.auth.claim
        is_traced = envelope.trace_id is not None and _TRACEPARENT.fullmatch(envelope.trace_id)
        with in_trace(envelope.trace_id if is_traced else None):
            handle = dispatch(
                self._agent,
                claim["capability"],
                run=f"ag2/{channel_id}",
                step=f"{me}/{envelope.envelope_id}",
                messages=messages,
                to=claim.get("to"),
                timeout=self._timeout,
            )
        try:
            await handle.custody()
        except WaybillError as error:
            await self._fail(envelope, recipient, error)
            raise
        turn = asyncio.ensure_future(self._answer(handle, envelope, recipient))
        self._turns[turn] = (channel_id, me)
        turn.add_done_callback(self._ended)

    def _ended(self, turn: asyncio.Task[None]) -> None:
        del self._turns[turn]
        # What went wrong is reported to the hub.
        _ = turn.cancelled() or turn.exception()

    async def _messages(self, until: Envelope, recipient: Passport) -> list[Message]:
        """What the participant may see of the channel, up to the envelope that asks it."""
        me = _id_of(recipient)
        adapter = self._hub.adapter_for(until.channel_id)
        messages: list[Message] = []
        for envelope in await self._hub.read_wal(until.channel_id):
            if visible_to(envelope, me):
                received = received_in(envelope) if envelope.sender_id == me else None
                words = (
                    _words_in(ensure_parts(adapter.render_envelope(envelope)))
                    if received is None
                    else words_of_result(HandoffResult(200, digest="", **received))
                )
                if words:
                    role = "assistant" if envelope.sender_id == me else "user"
                    name = self._hub.name_for(envelope.sender_id)
                    messages.append(text_message(role, words, name))
            if envelope.envelope_id == until.envelope_id:
                break
        return messages

    async def _answer(self, handle: HandoffHandle, asked: Envelope, recipient: Passport) -> None:
        try:
            result = await settle(handle, on_question=self._on_question)
            await self._hub.post_envelope(await self._reply(result, asked, recipient))
        except Exception as error:
            await self._fail(asked, recipient, error)

    async def _reply(self, result: HandoffResult, asked: Envelope, recipient: Passport) -> Envelope:
        told = marked_as_data(result.by, result_as_data(result))
        channel = await self._hub.get_channel(asked.channel_id)
        adapter = self._hub.adapter_for(asked.channel_id)
        is_workflow = channel.manifest.type == WORKFLOW_TYPE
        build = adapter.build_packet_envelope if is_workflow else adapter.build_text_envelope
        reply = build(asked.channel_id, _id_of(recipient), told, causation_id=asked.envelope_id)
        reply.event_data[RECEIVED] = received_from(result)
        return reply

    async def _fail(self, asked: Envelope, recipient: Passport, error: Exception) -> None:
        me = _id_of(recipient)
        await self._hub.report_turn_failure(
            channel_id=asked.channel_id, agent_id=me, envelope_id=asked.envelope_id, exc=error
        )
        channel: ChannelMetadata = await self._hub.get_channel(asked.channel_id)
        if channel.manifest.type == _CONSULTING and not channel.is_terminal():
            status = error.status if isinstance(error, WaybillError) else 500
            await self._hub.close_channel(
                asked.channel_id, reason=f"{recipient.name} has failed with {status}"
            )


def _id_of(passport: Passport) -> str:
    if passport.agent_id is None:
        raise WaybillError(400, f"{passport.name} is not registered: use NetworkProxy.register.")
    return passport.agent_id


def _words_in(parts: list[Input]) -> str:
    said: list[Any] = [
        each.content if isinstance(each, TextInput) else words_of(each.data)
        for each in parts
        if isinstance(each, (TextInput, DataInput))
    ]
    return "\n".join(said)
