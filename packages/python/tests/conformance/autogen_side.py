"""AutoGen in the suite: a team with one scripted member, a team with a remote member, and a core
agent."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from typing import Any

from autogen_agentchat.agents import AssistantAgent
from autogen_agentchat.base import Handoff, Response
from autogen_agentchat.conditions import HandoffTermination
from autogen_agentchat.messages import (
    BaseAgentEvent,
    BaseChatMessage,
    HandoffMessage,
    ModelClientStreamingChunkEvent,
    ThoughtEvent,
)
from autogen_agentchat.teams import RoundRobinGroupChat
from autogen_core import AgentId, CancellationToken, SingleThreadedAgentRuntime
from autogen_core.tools import FunctionTool
from autogen_model import ASKS, Playing, Script, ScriptedClient
from peer import Act, Calling
from pydantic import BaseModel, ConfigDict

from waybill_sdk import Agent, HandoffResult, Work
from waybill_sdk.adapter.words import asked_of
from waybill_sdk.autogen import RemoteAgent, received_in, remote_core_agent, serve
from waybill_sdk.autogen.messages import from_wire, to_wire
from waybill_sdk.protocol.ids import handoff_id_of


def offer(agent: Agent, capability: dict[str, Any], act: Act) -> None:
    def made(work: Work) -> RoundRobinGroupChat:
        stop = HandoffTermination(target="user")
        return RoundRobinGroupChat([Player(act, work)], max_turns=1, termination_condition=stop)

    serve(agent, capability, made)


class Asking(Handoff):
    """Hands the turn to the user with the model's question."""

    @property
    def handoff_tool(self) -> Any:
        def ask(question: str) -> str:
            return question

        return FunctionTool(ask, name=self.name, description=self.description, strict=True)


class Player(AssistantAgent):
    """A member of a team with a scripted model, which hands the turn to the user if it has a
    question."""

    # Its progress is a message in the team's stream, like the thoughts of an agent with a model.
    shows: type[ThoughtEvent | ModelClientStreamingChunkEvent] = ThoughtEvent

    def __init__(self, act: Act, source: Work) -> None:
        self.script = Script(act, source)
        super().__init__(
            "player",
            model_client=ScriptedClient(self.script.reply),
            model_client_stream=True,
            system_message=None,
            handoffs=[Asking(target="user", name=ASKS)],
        )

    async def on_messages_stream(
        self, messages: Sequence[BaseChatMessage], cancellation_token: CancellationToken
    ) -> AsyncGenerator[BaseAgentEvent | BaseChatMessage | Response, None]:
        # An answer of the user is not a turn of the history.
        if not isinstance(messages[-1], HandoffMessage):
            self.script.history.extend(to_wire(each) for each in messages)
        async for event in super().on_messages_stream(messages, cancellation_token):
            if isinstance(event, ModelClientStreamingChunkEvent):
                yield self.shows(source=self.name, content=event.content)
                continue
            if isinstance(event, Response):
                said = from_wire(self.script.said)
                # Like any agent: its last message is its response.
                if said and not self.script.has_output:
                    event = Response(chat_message=said.pop())
                for each in said:
                    yield each
            yield event

    async def save_state(self) -> Mapping[str, Any]:
        return {"agent": await super().save_state(), "history": self.script.history}

    async def load_state(self, state: Mapping[str, Any]) -> None:
        await super().load_state(state["agent"])
        self.script.history = list(state["history"])


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
    got: list[HandoffResult] = []
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
        on_result=got.append,
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
        return {"output": reply.model_dump(mode="json"), "artifacts": got[-1].artifacts}
    except asyncio.CancelledError:
        token.cancel()
        raise
    finally:
        await runtime.stop()


async def _said(calling: Calling, runner: Callable[[RemoteAgent], Any]) -> dict[str, Any]:
    """A turn of a remote agent, in the framework that runs it."""
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
    return {
        "output": said[-1].to_text(),
        "messages": received["messages"],
        "artifacts": received["artifacts"],
        "heard": {"as": remote.name, "messages": await _heard([*asked, *said])},
        "usage": _counted(said),
    }


async def _heard(messages: Sequence[BaseChatMessage]) -> list[dict[str, Any]]:
    """What the model of another agent is told of a conversation."""
    heard: list[dict[str, Any]] = []

    async def listen(request: Playing) -> Any:
        heard.extend(request.work["messages"])
        return {"output": "So it is."}

    script = Script(listen, None)
    listener = AssistantAgent("listener", model_client=ScriptedClient(script.reply))
    await listener.run(task=list(messages))
    return heard


def _counted(said: list[BaseChatMessage]) -> dict[str, int] | None:
    """The usage on the messages of a conversation, which AutoGen counts."""
    for each in said:
        if each.models_usage is not None:
            used = each.models_usage
            return {"input_tokens": used.prompt_tokens, "output_tokens": used.completion_tokens}
    return None
