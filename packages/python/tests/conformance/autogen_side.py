"""AutoGen in the suite: a team whose one member plays, a team with a remote member, and a core agent."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from typing import Any

from autogen_agentchat.agents import BaseChatAgent
from autogen_agentchat.base import Response
from autogen_agentchat.conditions import HandoffTermination
from autogen_agentchat.messages import (
    BaseAgentEvent,
    BaseChatMessage,
    HandoffMessage,
    ModelClientStreamingChunkEvent,
    TextMessage,
    ThoughtEvent,
)
from autogen_agentchat.teams import RoundRobinGroupChat
from autogen_core import AgentId, CancellationToken, SingleThreadedAgentRuntime
from autogen_core.models import RequestUsage
from line import Interrupted
from peer import Act, Calling, Stage
from pydantic import BaseModel, ConfigDict

from waybill_sdk import Agent, Work
from waybill_sdk.adapter.media import media_from
from waybill_sdk.adapter.words import asked_of, text_message, words_of
from waybill_sdk.autogen import RemoteAgent, received_in, remote_core_agent, serve
from waybill_sdk.autogen.messages import from_wire, to_wire
from waybill_sdk.protocol.ids import handoff_id_of


def offer(agent: Agent, capability: dict[str, Any], act: Act) -> None:
    def made(work: Work) -> RoundRobinGroupChat:
        stop = HandoffTermination(target="user")
        return RoundRobinGroupChat([Player(act, work)], max_turns=1, termination_condition=stop)

    serve(agent, capability, made)


class Playing(Stage):
    def __init__(self, player: Player, shown: asyncio.Queue[str | None]) -> None:
        super().__init__({"messages": player.seen}, player.source, player.history)
        self._player = player
        self._shown = shown

    async def show(self, message: str) -> None:
        self._shown.put_nowait(message)

    async def ask(self, id: str, text: str) -> Any:
        if id in self._player.answers:
            return self._player.answers[id]
        self._player.pending = {"id": id, "text": text}
        raise Interrupted(text)


def shown_to_model(message: BaseChatMessage) -> dict[str, Any]:
    """What an agent with a model gives it of a message: a turn of a user's, under the speaker's name."""
    told = message.to_model_message()
    content = [told.content] if isinstance(told.content, str) else told.content
    parts = [
        {"type": "text", "text": each}
        if isinstance(each, str)
        else media_from("image", each.data_uri)
        for each in content
    ]
    return {"role": "user", "name": told.source, "content": parts}


class Player(BaseChatAgent):
    """A member of a team that plays, and hands the turn to the user where it has something to ask."""

    # What it is doing: a message of the team's stream, as the thoughts of an agent with a model are.
    shows: type[ThoughtEvent | ModelClientStreamingChunkEvent] = ThoughtEvent

    def __init__(self, act: Act, source: Work) -> None:
        super().__init__("player", "Plays what it is told to.")
        self._act = act
        self.source = source
        self.seen: list[dict[str, Any]] = []
        self.history: list[dict[str, Any]] = []
        self.answers: dict[str, Any] = {}
        self.pending: dict[str, str] | None = None

    @property
    def produced_message_types(self) -> Sequence[type[BaseChatMessage]]:
        return (TextMessage, HandoffMessage)

    async def on_messages(
        self, messages: Sequence[BaseChatMessage], cancellation_token: CancellationToken
    ) -> Response:
        raise NotImplementedError

    async def on_messages_stream(
        self, messages: Sequence[BaseChatMessage], cancellation_token: CancellationToken
    ) -> AsyncGenerator[BaseAgentEvent | BaseChatMessage | Response, None]:
        if self.pending is not None:
            self.answers[self.pending["id"]] = messages[-1].to_text()
            self.pending = None
        else:
            self.history.extend(to_wire(each) for each in messages)
            self.seen.extend(shown_to_model(each) for each in messages)
        shown: asyncio.Queue[str | None] = asyncio.Queue()
        played = asyncio.ensure_future(self._act(Playing(self, shown)))
        cancellation_token.link_future(played)
        played.add_done_callback(lambda _: shown.put_nowait(None))
        while (message := await shown.get()) is not None:
            yield self.shows(source=self.name, content=message)
        try:
            given = await played
        except Interrupted:
            assert self.pending is not None
            asked = self.pending["text"]
            yield Response(
                chat_message=HandoffMessage(source=self.name, target="user", content=asked)
            )
            return
        said = from_wire(given.get("messages", []))
        if "output" in given:
            used = given.get("usage")
            said.append(
                TextMessage(
                    source=self.name,
                    content=words_of(given["output"]),
                    models_usage=used
                    and RequestUsage(
                        prompt_tokens=used["input_tokens"], completion_tokens=used["output_tokens"]
                    ),
                )
            )
        # As an agent with a model keeps its own replies.
        self.seen.extend(
            text_message("assistant", each.to_model_text(), self.name) for each in said
        )
        *before, last = said or [TextMessage(source=self.name, content="")]
        for each in before:
            yield each
        yield Response(chat_message=last)

    async def on_reset(self, cancellation_token: CancellationToken) -> None:
        pass

    async def save_state(self) -> Mapping[str, Any]:
        return {
            "seen": self.seen,
            "history": self.history,
            "answers": self.answers,
            "pending": self.pending,
        }

    async def load_state(self, state: Mapping[str, Any]) -> None:
        self.seen, self.history = list(state["seen"]), list(state["history"])
        self.answers = dict(state["answers"])
        self.pending = state["pending"]


async def call(calling: Calling) -> dict[str, Any]:
    return await called(calling, lambda remote: RoundRobinGroupChat([remote], max_turns=1))


async def called(calling: Calling, runner: Callable[[RemoteAgent], Any]) -> dict[str, Any]:
    work = calling.request["work"]
    structured = (
        work.get("input") is not None and calling.request["capability"]["takes"] == "structured"
    )
    return await (_sent(calling) if structured else _said(calling, runner))


class Given(BaseModel):
    model_config = ConfigDict(extra="allow")


async def _sent(calling: Calling) -> dict[str, Any]:
    """A message to an agent of the core runtime."""
    request = calling.request
    runtime = SingleThreadedAgentRuntime()
    kind = remote_core_agent(
        calling.agent,
        request["capability"]["name"],
        takes=Given,
        gives=Given,
        to=request.get("to"),
        timeout=request["timeoutMs"] / 1000,
        session=request.get("session"),
        on_question=calling.answer,
        on_progress=lambda event: calling.show(event.message),
    )
    await kind.register(runtime, "remote", kind)
    runtime.start()
    token = CancellationToken()
    try:
        reply = await runtime.send_message(
            Given.model_validate(request["work"]["input"]),
            AgentId("remote", request["run"].replace(" ", "_")),
            message_id=request["step"],
            cancellation_token=token,
        )
        return {"output": reply.model_dump(mode="json")}
    except asyncio.CancelledError:
        token.cancel()
        raise
    finally:
        await runtime.stop()


async def _said(calling: Calling, runner: Callable[[RemoteAgent], Any]) -> dict[str, Any]:
    """A turn of a remote agent, in what runs it."""
    request = calling.request
    remote = RemoteAgent(
        "remote",
        agent=calling.agent,
        capability=request["capability"]["name"],
        to=request.get("to"),
        timeout=request["timeoutMs"] / 1000,
        session=request.get("session"),
        on_question=calling.answer,
    )
    asked = from_wire(asked_of(request["work"]))
    for number, each in enumerate(asked):
        each.id = handoff_id_of("suite", request["run"], f"{request['step']}/{number}")
    said: list[BaseChatMessage] = []
    try:
        async for event in runner(remote).run_stream(task=asked):
            if isinstance(event, ModelClientStreamingChunkEvent):
                await calling.show(event.content)
            elif isinstance(event, BaseChatMessage) and event not in asked:
                said.append(event)
    except RuntimeError as error:
        raise remote.failure or error from error
    received = received_in(said[-1]) or {}
    told = said[-1].to_model_message()
    heard = text_message("user", str(told.content), told.source)
    return {
        "output": said[-1].to_text(),
        "messages": received["messages"],
        "artifacts": received["artifacts"],
        "heard": {"as": remote.name, "messages": [heard]},
        "usage": _counted(said),
    }


def _counted(said: list[BaseChatMessage]) -> dict[str, int] | None:
    """What AutoGen counts of a conversation: the usage on its messages."""
    for each in said:
        if each.models_usage is not None:
            used = each.models_usage
            return {"input_tokens": used.prompt_tokens, "output_tokens": used.completion_tokens}
    return None
