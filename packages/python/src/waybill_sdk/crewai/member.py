"""A remote agent as a member of a crew, and as a coworker of its members."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from crewai.agents.agent_adapters.base_agent_adapter import BaseAgentAdapter
from crewai.agents.agent_builder.base_agent import BaseAgent
from crewai.tools import BaseTool
from pydantic import PrivateAttr

from ..adapter.as_data import marked_as_data, result_as_data
from ..adapter.call import CallSession, OnProgress, OnQuestion, OnResult, refuse_question
from ..adapter.words import text_message, words_of_result
from ..agent import Agent
from ..blocking import Agent as BlockingAgent
from ..delegating.ending import HandoffResult
from ..protocol.error import WaybillError
from .failure import tool_failure
from .files import aartifacts_of, artifacts_of
from .made import keep_files
from .step import Remote, is_delegated
from .usage import add_to


class RemoteMember(BaseAgentAdapter):
    """A task goes to `capability` as a brief, with the context that the crew gives it as its
    history, and the files of the task and of the crew as artifacts. The files of its result become
    files of the crew.

    A failure of a task raises, which ends the crew. If a coworker has delegated, it is a
    ToolFailure of that tool, and the coworker's model is told of it, and of a result, as another's
    data. `timeout` is in seconds, and applies whatever the crew is doing. Tasks with the same
    `session` share a conversation; True: the session in which the crew is served, or else one for
    the name of its `run`.
    """

    function_calling_llm: Any = None
    step_callback: Any = None
    _remote: Remote = PrivateAttr()
    _last_messages: list[Any] = PrivateAttr(default_factory=list)

    def __init__(
        self,
        *,
        agent: Agent | BlockingAgent,
        capability: str,
        role: str,
        goal: str = "Does what it is asked.",
        backstory: str = "A remote agent.",
        to: str | None = None,
        timeout: float | None = None,
        run: str | None = None,
        session: CallSession = None,
        on_question: OnQuestion = refuse_question,
        on_progress: OnProgress | None = None,
        on_result: OnResult | None = None,
        **fields: Any,
    ) -> None:
        super().__init__(role=role, goal=goal, backstory=backstory, **fields)
        self._remote = Remote(
            agent, capability, to, timeout, run, on_question, on_progress, on_result, session
        )

    @property
    def last_messages(self) -> list[Any]:
        return self._last_messages

    def execute_task(
        self, task: Any, context: str | None = None, tools: list[BaseTool] | None = None
    ) -> Any:
        files = artifacts_of(task, self.crew)
        try:
            result = self._remote.wait(self.role, **_asked(task, context, files))
        except WaybillError as error:
            # An error that a coworker raises reaches it as a text like any other, and the run as a
            # success.
            if is_delegated(task, self.crew):
                return tool_failure(error, self._remote.who)
            raise
        keep_files(task, self.crew, self.role, result.artifacts)
        words = self._said(result)
        # Delegated work goes to a model, and a task's output to the application.
        if is_delegated(task, self.crew):
            return marked_as_data(result.by, result_as_data(result))
        return words

    async def aexecute_task(
        self, task: Any, context: str | None = None, tools: list[BaseTool] | None = None
    ) -> Any:
        files = await aartifacts_of(task, self.crew)
        result = await self._remote.result(self.role, **_asked(task, context, files))
        await asyncio.to_thread(keep_files, task, self.crew, self.role, result.artifacts)
        return self._said(result)

    def _said(self, result: HandoffResult) -> str:
        add_to(self, result.usage)
        words = words_of_result(result)
        self._last_messages = [{"role": "assistant", "content": words}]
        return words

    def create_agent_executor(self, tools: list[BaseTool] | None = None) -> None:
        pass

    def configure_tools(self, tools: list[BaseTool] | None = None) -> None:
        pass

    def configure_structured_output(self, task: Any) -> None:
        pass

    def get_delegation_tools(self, agents: Sequence[BaseAgent]) -> list[BaseTool]:
        return []

    def get_platform_tools(self, apps: Any) -> list[BaseTool]:
        return []

    def get_mcp_tools(self, mcps: Any) -> list[BaseTool]:
        return []


def _asked(task: Any, context: str | None, files: list[dict[str, Any]]) -> dict[str, Any]:
    brief = {"instruction": task.description, "expected_output": task.expected_output}
    asked: dict[str, Any] = {"brief": {name: each for name, each in brief.items() if each}}
    if files:
        asked["artifacts"] = files
    return {**asked, "messages": [text_message("user", context, "crew")]} if context else asked
