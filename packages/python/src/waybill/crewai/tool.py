"""A remote agent as a tool."""

from __future__ import annotations

from typing import Any

from crewai.tools import BaseTool
from crewai.tools.tool_failure import ToolFailure
from pydantic import BaseModel, Field, PrivateAttr

from ..adapter.call import OnProgress, OnQuestion, refuse_question
from ..adapter.words import words_of_result
from ..agent import Agent
from ..blocking import Agent as BlockingAgent
from ..protocol.error import WaybillError
from .failure import tool_failure
from .step import Remote


class Request(BaseModel):
    request: str = Field(description="What is to be done, with all that is needed to do it.")


class RemoteTool(BaseTool):
    """Its arguments are the input of the handoff. Without an `args_schema` of its own there is one,
    `request`, and the handoff is a brief. A failure is a ToolFailure, which a crew does not take for a
    success: with the status as its code, and whether the same again may succeed."""

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
        on_question: OnQuestion = refuse_question,
        on_progress: OnProgress | None = None,
        **fields: Any,
    ) -> None:
        # A crew keeps what its tools have given, and a failure is not to be given again.
        fields = {"cache_function": _is_kept, **fields}
        super().__init__(name=name, description=description, **fields)
        self._remote = Remote(agent, capability, to, timeout, run, on_question, on_progress)

    def _run(self, **arguments: Any) -> Any:
        try:
            return words_of_result(self._remote.wait(self.name, **self._asked(arguments)))
        except WaybillError as error:
            return tool_failure(error)

    async def _arun(self, **arguments: Any) -> Any:
        try:
            return words_of_result(await self._remote.result(self.name, **self._asked(arguments)))
        except WaybillError as error:
            return tool_failure(error)

    def _asked(self, arguments: dict[str, Any]) -> dict[str, Any]:
        if self.args_schema is Request:
            return {"brief": {"instruction": arguments["request"]}}
        # CrewAI spells what was left out as None.
        fields = self.args_schema.model_fields
        given = {
            name: each
            for name, each in arguments.items()
            if each is not None or name not in fields or fields[name].is_required()
        }
        return {"input": given}


def _is_kept(_arguments: Any, result: Any) -> bool:
    return not isinstance(result, ToolFailure)
