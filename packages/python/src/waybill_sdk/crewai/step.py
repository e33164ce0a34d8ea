"""What a member and a tool have in common: one piece of work that goes to a remote agent."""

from __future__ import annotations

import asyncio
from collections import Counter
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

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
from ..adapter.threads import await_in, wait_in
from ..agent import Agent
from ..blocking import Agent as BlockingAgent
from ..delegating.ending import HandoffResult
from ..protocol.encoding import digest_of
from ..protocol.ids import new_id
from ..protocol.schema_check import spelling
from ..serving.work import current_work
from .abandoned import cancel_when_abandoned

steps_made: ContextVar[Counter[str] | None] = ContextVar("steps_made", default=None)
"""How often the same work was handed off inside this work."""


def is_delegated(task: Any, crew: Any) -> bool:
    """A task outside its crew's list was made on the spot, by a model that delegates: that model
    reads its output.
    """
    own = getattr(crew, "tasks", None)
    return own is not None and all(each is not task for each in own)


@dataclass
class Remote:
    agent: Agent | BlockingAgent
    capability: str
    to: str | None = None
    timeout: float | None = None
    run: str | None = None
    """A name for the run of the crew: with it, a run after a crash finds its handoffs again."""
    on_question: OnQuestion = refuse_question
    on_progress: OnProgress | None = None
    on_result: OnResult | None = None
    session: CallSession = None
    """True: the session in which the crew is served, or else one for the name of its run."""
    _counts: Counter[str] = field(default_factory=Counter)

    @property
    def who(self) -> str:
        return self.to or self.capability

    def wait(self, name: str, **content: Any) -> HandoffResult:
        return wait_in(self._loop, self._work(name, content), cancel_when_abandoned)

    async def result(self, name: str, **content: Any) -> HandoffResult:
        return await await_in(self._loop, self._work(name, content))

    @property
    def _own(self) -> Agent:
        return self.agent.agent if isinstance(self.agent, BlockingAgent) else self.agent

    @property
    def _loop(self) -> asyncio.AbstractEventLoop:
        if isinstance(self.agent, BlockingAgent):
            return self.agent.loop
        return self.agent.loop

    async def _work(self, name: str, content: dict[str, Any]) -> HandoffResult:
        run, step = self._step(name, content)
        session = session_for(self.session, self._conversation)
        options: dict[str, Any] = {"to": self.to, "timeout": self.timeout, "session": session}
        handle = dispatch(self._own, self.capability, run=run, step=step, **options, **content)
        # Without a name of its run its id is random, and differs in every process.
        handle.is_lost_with_process = current_work.get() is None and self.run is None
        result = await settle(handle, on_progress=self.on_progress, on_question=self.on_question)
        if self.on_result is not None:
            self.on_result(result)
        return result

    @property
    def _conversation(self) -> str | None:
        work = current_work.get()
        return self.run if work is None or work.session is None else work.session.key

    def _step(self, name: str, content: dict[str, Any]) -> tuple[str, str]:
        """CrewAI renames its tasks in every process, so a step is identified by its request and how
        often that was made before.
        """
        work = current_work.get()
        if work is None and self.run is None:
            return new_id(), name
        run = self.run or (work.handoff_id if work is not None else "")
        counts = steps_made.get() if self.run is None else self._counts
        asked = digest_of(f"{name}\n{self.capability}\n{spelling(content)}")
        number = 0
        if counts is not None:
            number, counts[asked] = counts[asked], counts[asked] + 1
        return run, f"crewai/{asked}/{number}"
