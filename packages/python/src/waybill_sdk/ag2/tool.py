"""A remote agent as a tool of an AG2 agent."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import AsyncExitStack, ExitStack
from typing import Any

from ag2 import Context
from ag2.events import (
    BaseEvent,
    ToolCallEvent,
    ToolErrorEvent,
    ToolResult,
    ToolResultEvent,
    ToolResultsEvent,
)
from ag2.exceptions import HumanInputError, HumanInputNotProvidedError
from ag2.middleware import BaseMiddleware
from ag2.tools.final.function_tool import FunctionDefinition, FunctionToolSchema
from ag2.tools.tool import Tool
from ag2.utils import AGENT_CONTEXT_DEPENDENCY_KEY

from ..adapter.as_data import failure_as_data, marked_as_data, result_as_data
from ..adapter.call import (
    CallSession,
    OnQuestion,
    dispatch,
    refuse_question,
    session_for,
    settle,
)
from ..agent import Agent
from ..delegating.ending import DeltaEvent, HandoffResult, ProgressEvent, QuestionEvent
from ..delegating.handle import HandoffHandle
from ..protocol.error import WaybillError
from .events import RemoteDelta, RemoteProgress, RemoteQuestion
from .history import files_of, messages_of
from .received import RECEIVED, received_from
from .usage import used_by

_TASK = {
    "type": "object",
    "properties": {
        "task": {"type": "string", "description": "What is to be done, in words."},
        "expected_output": {"type": "string", "description": "What the answer is to be."},
    },
    "required": ["task"],
    "additionalProperties": False,
}
_NAME_LENGTH = 64

Execution = Callable[[ToolCallEvent, Context], Awaitable[Any]]


class RemoteTool(Tool):
    """Hands work to `capability`, of the agent `to` or of any agent with it.

    With `parameters`, the JSON Schema of its input, the model's arguments are the input. Without it
    the model states a task. With `files=True` the files that users have shown to the agent go
    along, and with `conversation=True` its whole conversation. The model is told the result as
    data, in a marker that its content can't close, and a failure in the same way;
    `received_in(event)` has the whole result. A question is asked by the `hitl_hook` of the agent,
    or answered by `on_question`. In a `session` the remote agent remembers earlier calls: `True` is
    the session of this agent's stream.
    """

    def __init__(
        self,
        agent: Agent,
        capability: str,
        *,
        description: str = "A remote agent.",
        name: str | None = None,
        parameters: dict[str, Any] | None = None,
        conversation: bool = False,
        files: bool = False,
        to: str | None = None,
        timeout: float | None = None,
        session: CallSession = None,
        on_question: OnQuestion | None = None,
        metadata: dict[str, Any] | None = None,
    ) -> None:
        self.name = name or re.sub("[^A-Za-z0-9_-]", "_", capability)[:_NAME_LENGTH]
        self._agent = agent
        self._capability = capability
        self._description = description
        self._parameters = parameters
        self._has_conversation = conversation
        self._has_files = files
        self._options: dict[str, Any] = {"to": to, "timeout": timeout, "metadata": metadata}
        self._session = session
        self._on_question = on_question

    def __deepcopy__(self, _memo: Any) -> RemoteTool:
        """AG2 copies the tools of its agents. This one is a connection, and keeps nothing of a run."""
        return self

    async def schemas(self, context: Context) -> Iterable[FunctionToolSchema]:
        parameters = dict(_TASK if self._parameters is None else self._parameters)
        definition = FunctionDefinition(self.name, self._description, parameters)
        return [FunctionToolSchema(function=definition)]

    def register(
        self,
        stack: ExitStack | AsyncExitStack,
        context: Context,
        *,
        middleware: Iterable[BaseMiddleware] = (),
    ) -> None:
        execution: Execution = self._execute
        for each in middleware:
            execution = _through(each, execution)

        async def execute(event: ToolCallEvent, context: Context) -> None:
            handled = event.handled_by(f"waybill:{self._capability}")
            await context.send(await execution(handled, context))

        # On the class a field compares into a condition, which its type does not say.
        own: Any = ToolCallEvent.name == self.name
        stack.enter_context(context.stream.where(own).sub_scope(execute))

    async def _execute(self, event: ToolCallEvent, context: Context) -> ToolResultEvent:
        try:
            handle = await self._handle(event, context)
        except HumanInputError:
            raise
        except WaybillError as error:
            return self._failed(event, error)
        except ValueError as error:
            # The model's arguments are not valid JSON.
            return ToolErrorEvent.from_call(event, error)
        try:
            result = await self._settle(handle, context)
        except WaybillError as error:
            return self._failed(event, error)
        finally:
            for used in used_by(handle, self.name):
                await context.send(used)
        return _answered(event, result)

    async def _handle(self, event: ToolCallEvent, context: Context) -> HandoffHandle:
        stream = str(context.stream.id)
        events = list(await context.stream.history.get_events())
        return dispatch(
            self._agent,
            self._capability,
            run=f"ag2/{stream}",
            step=_step_of(event, events),
            session=session_for(self._session, stream),
            **self._work(event.serialized_arguments, context, events),
            **self._options,
        )

    def _work(
        self, given: dict[str, Any], context: Context, events: Sequence[BaseEvent]
    ) -> dict[str, Any]:
        files = files_of(events) if self._has_files and not self._has_conversation else []
        along = {"artifacts": files} if files else {}
        if self._parameters is not None:
            return {"input": given, **along}
        brief = {"instruction": str(given.get("task") or "")}
        if given.get("expected_output"):
            brief["expected_output"] = str(given["expected_output"])
        if not self._has_conversation:
            return {"brief": brief, **along}
        speaker = context.dependencies.get(AGENT_CONTEXT_DEPENDENCY_KEY)
        return {"brief": brief, "messages": messages_of(events, getattr(speaker, "name", "agent"))}

    async def _settle(self, handle: HandoffHandle, context: Context) -> HandoffResult:
        async def show(event: ProgressEvent) -> None:
            said = {"message": event.message, "fraction": event.fraction, "data": event.data}
            await context.send(RemoteProgress(by=event.by, **said))

        async def write(event: DeltaEvent) -> None:
            await context.send(RemoteDelta(by=event.by, text=event.text))

        async def ask(question: QuestionEvent) -> Any:
            request = RemoteQuestion(
                question.text or question.id, by=question.by, question_id=question.id
            )
            try:
                return await context.ask(request)
            except HumanInputNotProvidedError:
                return await refuse_question(question)

        return await settle(
            handle, on_progress=show, on_delta=write, on_question=self._on_question or ask
        )

    def _failed(self, event: ToolCallEvent, error: WaybillError) -> ToolErrorEvent:
        told = marked_as_data(self._options["to"] or self._capability, failure_as_data(error))
        return ToolErrorEvent(
            parent_id=event.id, name=event.name, error=error, result=ToolResult(told)
        )


def _step_of(event: ToolCallEvent, events: Iterable[BaseEvent]) -> str:
    """Some models number the calls of each turn from one: the second call with an id is another
    step.
    """
    earlier = sum(
        result.parent_id == event.id
        for each in events
        if isinstance(each, ToolResultsEvent)
        for result in each.results
    )
    return event.id if earlier == 0 else f"{event.id}.{earlier + 1}"


def _answered(event: ToolCallEvent, result: HandoffResult) -> ToolResultEvent:
    told = marked_as_data(result.by, result_as_data(result))
    kept = {RECEIVED: received_from(result)}
    return ToolResultEvent(
        parent_id=event.id, name=event.name, result=ToolResult(told, metadata=kept)
    )


def _through(middleware: BaseMiddleware, execution: Execution) -> Execution:
    async def execute(event: ToolCallEvent, context: Context) -> Any:
        return await middleware.on_tool_execution(execution, event, context)

    return execute
