"""A remote agent as a tool."""

from __future__ import annotations

import asyncio
from typing import Any

from crewai.tools import BaseTool
from crewai.tools.tool_failure import ToolFailure
from pydantic import BaseModel, Field, PrivateAttr

from ..adapter.as_data import marked_as_data, result_as_data
from ..adapter.call import CallSession, OnProgress, OnQuestion, OnResult, refuse_question
from ..adapter.words import words_of_result
from ..agent import Agent
from ..blocking import Agent as BlockingAgent
from ..delegating.ending import HandoffResult
from ..protocol.error import WaybillError
from .abandoned import running_task
from .failure import tool_failure
from .made import keep_files
from .step import Remote, is_delegated


class Request(BaseModel):
    request: str = Field(description="What is to be done, with all that is needed to do it.")


def _crew_of(task: Any) -> Any:
    return getattr(getattr(task, "agent", None), "crew", None)


class _Given(str):
    """A result as text for code, which can tell how a model has to be told of it."""

    told: str
    is_delegated: bool

    @classmethod
    def of(cls, result: HandoffResult) -> _Given:
        given, task = cls(words_of_result(result)), running_task()
        given.told = marked_as_data(result.by, result_as_data(result))
        given.is_delegated = is_delegated(task, _crew_of(task))
        return given


class RemoteTool(BaseTool):
    """Its arguments are the input of the handoff. Without an `args_schema` of its own it has one,
    `request`, and the handoff is a brief. A failure is a ToolFailure, which a crew does not take
    for a success: with the status as its code, and whether a retry may succeed. A model is told of
    both as another's data; what `run` returns, and an answer of the task, is the result as it came.
    `session` is that of a RemoteMember.
    """

    args_schema: type[BaseModel] = Request
    _remote: Remote = PrivateAttr()

    def __init__(
        self,
        *,
        agent: Agent | BlockingAgent,
        capability: str,
        name: str,
        description: str,
        to: str | None = None,
        timeout: float | None = None,
        run: str | None = None,
        session: CallSession = None,
        on_question: OnQuestion = refuse_question,
        on_progress: OnProgress | None = None,
        on_result: OnResult | None = None,
        **fields: Any,
    ) -> None:
        # A crew caches the results of its tools, and a failure must not be cached.
        fields = {"cache_function": _is_kept, **fields}
        super().__init__(name=name, description=description, **fields)
        self._remote = Remote(
            agent, capability, to, timeout, run, on_question, on_progress, on_result, session
        )

    def _run(self, **arguments: Any) -> Any:
        try:
            result = self._remote.wait(self.name, **self._asked(arguments))
            return self._given(result)
        except WaybillError as error:
            return tool_failure(error, self._remote.who)

    async def _arun(self, **arguments: Any) -> Any:
        try:
            result = await self._remote.result(self.name, **self._asked(arguments))
            return await asyncio.to_thread(self._given, result)
        except WaybillError as error:
            return tool_failure(error, self._remote.who)

    def _given(self, result: HandoffResult) -> _Given:
        task = running_task()
        keep_files(task, _crew_of(task), self.name, result.artifacts)
        return _Given.of(result)

    def format_output_for_agent(self, raw_result: Any) -> str:
        # A task's answer is for code; `context` marks it for later tasks.
        if isinstance(raw_result, _Given) and (
            raw_result.is_delegated or not self.result_as_answer
        ):
            return raw_result.told
        return super().format_output_for_agent(raw_result)

    def _asked(self, arguments: dict[str, Any]) -> dict[str, Any]:
        if self.args_schema is Request:
            return {"brief": {"instruction": arguments["request"]}}
        # CrewAI passes None for what was left out.
        fields = self.args_schema.model_fields
        given = {
            name: each
            for name, each in arguments.items()
            if each is not None or name not in fields or fields[name].is_required()
        }
        return {"input": given}


def _is_kept(_arguments: Any, result: Any) -> bool:
    return not isinstance(result, ToolFailure)
