"""The process of a framework and its agents, which the suite in TypeScript controls."""

from __future__ import annotations

import asyncio
import importlib
import os
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

sys.path.insert(0, str(Path(__file__).parent))
from line import Interrupted, Line, Stopped

from waybill_sdk import Agent, Hub, Work, connect, load_key
from waybill_sdk.adapter.call import settle
from waybill_sdk.adapter.trace import current_traceparent, in_trace
from waybill_sdk.serving.work import current_work

_THREADS = 64

Act = Callable[["Stage"], Any]


class Stage:
    """What a scripted part may see and do inside the framework."""

    def __init__(
        self, work: dict[str, Any], source: Work, history: list[dict[str, Any]] | None = None
    ) -> None:
        self.work = work
        # The history that code can read, if models are shown less.
        self.history = history
        self.source = source
        # The context in which a part is handed off, whatever thread or task the framework uses.
        self.context = copy_context()

    async def show(self, message: str) -> None:
        raise NotImplementedError

    async def ask(self, id: str, text: str) -> Any:
        """Raises Interrupted if there is no answer yet."""
        raise NotImplementedError


class Framework(Protocol):
    def offer(self, agent: Agent, capability: dict[str, Any], act: Act) -> None: ...
    async def call(self, calling: Calling) -> dict[str, Any]: ...


@dataclass
class Calling:
    """A step that calls a remote agent."""

    agent: Agent
    request: dict[str, Any]
    line: Line
    about: int

    async def show(self, message: str) -> None:
        await self.line.ask("show", about=self.about, message=message)

    async def answer(self, question: Any) -> Any:
        return await self.line.ask("ask", about=self.about, id=question.id, text=question.text)


class Peer:
    def __init__(self, framework: Framework) -> None:
        self._framework = framework
        self._line = Line(self._answer)
        self._agents: dict[int, tuple[Agent, Hub]] = {}
        self._plays: dict[int, Stage] = {}
        self._count = 0

    async def run(self) -> None:
        # CrewAI uses one thread for each waiting tool, and on a machine with few processors there
        # are few.
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(_THREADS))
        await self._line.run()
        # Nobody needs the result of a task that still runs.
        os._exit(0)

    async def _answer(self, ask: str, given: dict[str, Any]) -> Any:
        return await getattr(self, f"_{ask}")(given)

    async def _open(self, given: dict[str, Any]) -> int:
        hub = await connect(given["url"])
        agent = Agent(given["id"], key=load_key(given["key"]), hub=hub)
        self._agents[given["about"]] = (agent, hub)
        return int(given["about"])

    async def _serve(self, given: dict[str, Any]) -> None:
        agent, _ = self._agents[given["agent"]]

        async def act(stage: Stage) -> Any:
            self._count += 1
            play = self._count
            self._plays[play] = stage
            try:
                return await self._line.ask(
                    "play",
                    about=given["about"],
                    play=play,
                    work=stage.work,
                    history=stage.history,
                    run=stage.source.handoff_id,
                    traceparent=stage.context.run(current_traceparent),
                )
            except Stopped as stopped:
                raise asyncio.CancelledError(str(stopped)) from None
            finally:
                del self._plays[play]

        self._framework.offer(agent, given["capability"], act)
        await agent.start()

    async def _show(self, given: dict[str, Any]) -> None:
        if given["play"] in self._plays:
            await self._plays[given["play"]].show(given["message"])

    async def _ask(self, given: dict[str, Any]) -> Any:
        return await self._plays[given["play"]].ask(given["id"], given["text"])

    async def _part(self, given: dict[str, Any]) -> Any:
        stage = self._plays[given["play"]]
        part = _hand_off(stage.source.agent, given["capability"], given["input"])
        return await stage.context.run(asyncio.ensure_future, part)

    async def _call(self, given: dict[str, Any]) -> Any:
        agent, _ = self._agents[given["agent"]]
        # A framework runs in an application that has started its agents.
        await agent.start()
        calling = Calling(agent, given["request"], self._line, given["about"])
        with in_trace(given["request"].get("traceparent")):
            return await self._framework.call(calling)

    async def _whole(self, given: dict[str, Any]) -> None:
        agent, _ = self._agents[given["agent"]]

        @agent.serve(given["whole"])
        async def whole(work: Work) -> Any:
            request = {**given["request"], "run": work.handoff_id}
            calling = Calling(agent, request, self._line, given["about"])
            return (await self._framework.call(calling)).get("output") or "in words"

        await agent.start()

    async def _stop(self, given: dict[str, Any]) -> None:
        agent, hub = self._agents.pop(given["agent"])
        await agent.stop(given["mode"])
        await hub.close()


async def _hand_off(agent: str, capability: str, given: Any) -> Any:
    work = current_work.get()
    assert work is not None and work.agent == agent
    return (await settle(work.hand_off(capability, input=given))).output


__all__ = ["Act", "Calling", "Framework", "Interrupted", "Peer", "Stage"]

if __name__ == "__main__":
    chosen = importlib.import_module(f"{sys.argv[1]}_side")
    asyncio.run(Peer(chosen).run())
