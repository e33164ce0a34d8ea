"""A remote agent as an agent of AutoGen's core runtime."""

from __future__ import annotations

import asyncio
import dataclasses
from typing import Any

from autogen_core import MessageContext, RoutedAgent, message_handler
from pydantic import BaseModel

from ..adapter.call import (
    CallSession,
    OnProgress,
    OnQuestion,
    OnResult,
    dispatch,
    refuse_question,
    session_for,
    settle,
)
from ..adapter.interrupt import cancel_at_interrupt
from ..agent import Agent


def remote_core_agent(
    agent: Agent,
    capability: str,
    *,
    takes: type,
    gives: type,
    to: str | None = None,
    timeout: float | None = None,
    session: CallSession = None,
    description: str = "A remote agent.",
    on_question: OnQuestion = refuse_question,
    on_progress: OnProgress | None = None,
    on_result: OnResult | None = None,
) -> type[RoutedAgent]:
    """A class to register with a runtime: a message of the type `takes` is the input, and the
    output is parsed as the type `gives`. Both are dataclasses or pydantic models. A failure is
    raised to the sender. `on_result` gets the whole result, for code: its messages and files, which
    a message here can't hold. With `session=True` all messages to one agent of the runtime are one
    session.
    """

    async def on_work(self: RoutedAgent, message: Any, ctx: MessageContext) -> Any:
        handle = dispatch(
            agent,
            capability,
            run=f"autogen-core/{self.id}",
            step=ctx.message_id,
            input=_members_of(message),
            to=to,
            timeout=timeout,
            session=session_for(session, f"autogen-core/{self.id}"),
        )
        working = asyncio.ensure_future(
            settle(handle, on_progress=on_progress, on_question=on_question)
        )
        ctx.cancellation_token.link_future(working)
        cancel_at_interrupt(working)
        result = await working
        if on_result is not None:
            on_result(result)
        return _read(gives, result.output)

    # The runtime uses the annotations here, whose types are known only now.
    on_work.__annotations__ = {"message": takes, "ctx": MessageContext, "return": gives}

    def __init__(self: RoutedAgent) -> None:
        RoutedAgent.__init__(self, description)

    return type(
        "RemoteCoreAgent",
        (RoutedAgent,),
        {"__init__": __init__, "on_work": message_handler(on_work)},
    )


def _members_of(message: Any) -> Any:
    if isinstance(message, BaseModel):
        return message.model_dump(mode="json")
    return dataclasses.asdict(message)


def _read(kind: Any, output: Any) -> Any:
    if issubclass(kind, BaseModel):
        return kind.model_validate(output)
    return kind(**output) if isinstance(output, dict) else kind(output)
