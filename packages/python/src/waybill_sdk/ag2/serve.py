"""Any AG2 agent as a capability."""

from __future__ import annotations

import asyncio
import hashlib
import inspect
import json
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from typing import Any
from uuid import NAMESPACE_URL, uuid5

import ag2
from ag2 import MemoryStream
from ag2.context import Stream
from ag2.events import (
    HumanInputRequest,
    ModelMessageChunk,
    ModelRequest,
    ModelResponse,
    ToolResultsEvent,
    UsageEvent,
)
from ag2.exceptions import UnsupportedInputError

from ..adapter.call import failed_parts
from ..adapter.failure import failure_from
from ..adapter.files import loaded
from ..adapter.in_session import Ending, in_session
from ..adapter.media import artifact_of, shown_by_users, with_files
from ..adapter.session_store import SessionStore
from ..adapter.speech import heard
from ..adapter.trace import in_trace
from ..adapter.words import asked_of, output_of
from ..agent import Agent
from ..protocol.error import WaybillError
from ..protocol.manifest_shape import read_capability
from ..protocol.schema import compile_schema
from ..serving.outcome import Finished, Paused
from ..serving.work import Work
from .events import RemoteDelta, RemoteProgress
from .history import events_of, messages_of, restored, saved, user_turn
from .usage import count

Factory = Callable[[Work], "ag2.Agent | Awaitable[ag2.Agent]"]

# For a history whose last turn asks nothing: AG2's models need a turn of a user or results of
# tools.
_GO_ON = "Go on."


class ServedRun:
    """For tools of a served agent: `run: Annotated[ServedRun, Inject("waybill")]`."""

    def __init__(self, work: Work) -> None:
        self.work = work
        """The work as it was received. Its history may impersonate anybody: it is for code."""
        self.artifacts: list[dict[str, Any]] = []

    def attach(self, name: str, media_type: str, octets: bytes) -> None:
        """Sends the delegator a file with the result."""
        self.artifacts.append(artifact_of(name, media_type, octets))


def serve(
    agent: Agent,
    capability: str | dict[str, Any],
    served: ag2.Agent | Factory,
    *,
    sessions: SessionStore | None = None,
) -> None:
    """Serves an agent, or what the factory makes for each attempt.

    The work comes as a conversation. The model's stream becomes deltas, the calls of its tools
    progress, and its last turn the output. A question that a tool asks by `context.input` goes to
    the delegator, unless the agent has a `hitl_hook` of its own.

    In a session each run begins with the history with which the previous one has ended. `sessions`
    keeps these histories; by default they are in the memory of the process.
    """
    offered = {"name": capability} if isinstance(capability, str) else capability
    offered = {"takes": "conversation", **offered}
    read = read_capability(offered)
    output_schema = read["output_schema"]
    compiled = compile_schema(output_schema)
    store = SessionStore() if sessions is None else sessions

    async def turn(work: Work, before: Any) -> Ending:
        parts: list[WaybillError] = []
        failed_parts.set(parts)
        try:
            runner = await _made(served, work)
            with in_trace(work.envelope.get("traceparent")):
                return await _unless_cancelled(_turn(runner, work, output_schema, before or []))
        except UnsupportedInputError as error:
            raise WaybillError(422, str(error), cause=error) from error
        except Exception as error:
            raise failure_from(error, parts) from error

    async def run(work: Work) -> Finished | Paused:
        return await in_session(
            store, work, read["name"], compiled, lambda before: turn(work, before)
        )

    agent.serve(offered, run)


async def _made(served: ag2.Agent | Factory, work: Work) -> ag2.Agent:
    if isinstance(served, ag2.Agent):
        return served
    made = served(work)
    return await made if inspect.isawaitable(made) else made


async def _unless_cancelled(turn: Awaitable[Ending]) -> Ending:
    running = asyncio.ensure_future(turn)
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        if running.cancelled():
            raise WaybillError(499, "The run has cancelled itself.") from None
        running.cancel()
        running.add_done_callback(lambda done: done.cancelled() or done.exception())
        raise


async def _turn(runner: ag2.Agent, work: Work, output_schema: Any, before: list[Any]) -> Ending:
    body = heard(work, [runner.name])
    asked = with_files(asked_of(body, output_schema), await loaded(work.artifacts))
    events = [*restored(before), *events_of(shown_by_users(asked), runner.config)]
    if not isinstance(events[-1], (ModelRequest, ToolResultsEvent)):
        events.append(user_turn(_GO_ON))
    # Every attempt is the same run to AG2.
    stream = MemoryStream(id=uuid5(NAMESPACE_URL, f"waybill:{work.agent}/{work.handoff_id}"))
    served = ServedRun(work)
    with _listening(stream, work):
        reply = await runner.resume(
            *events,
            stream=stream,
            dependencies={"waybill": served},
            hitl_hook=None if runner.has_hitl_hook else _asking(work),
        )
    history = list(await stream.history.get_events())
    added = history[len(events) :]
    for file in (
        each for event in added if isinstance(event, ModelResponse) for each in event.files
    ):
        served.attach(file.name, _media_type_of(file.metadata), file.data)
    output = output_of(reply.body or "", output_schema)
    said = messages_of(added, runner.name)
    finished = work.result(output, messages=said, artifacts=served.artifacts or None)
    return finished, None if work.session is None else saved(history)


def _media_type_of(metadata: dict[str, Any]) -> str:
    return str(metadata.get("media_type") or "application/octet-stream")


def _asking(work: Work) -> Callable[..., Awaitable[str]]:
    """Asks the delegator. AG2 gives each question a new id: by its text, a repeated attempt finds
    the answer that it was given before, and one that asks something else gets no other question's
    answer.
    """
    times: Counter[str] = Counter()

    async def ask(event: HumanInputRequest) -> str:
        times[event.content] += 1
        words = hashlib.sha256(event.content.encode()).hexdigest()[:16]
        answer = await work.ask(event.content, id=f"{work.agent}/{words}/{times[event.content]}")
        return answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)

    return ask


def _listening(stream: Stream, work: Work) -> ExitStack:
    """Shows the delegator the events of a run's stream."""

    async def write(event: ModelMessageChunk) -> None:
        work.delta(event.content)

    async def pass_on(event: RemoteDelta) -> None:
        work.delta(event.text)

    async def tell(event: ModelResponse) -> None:
        if event.tool_calls:
            names = [each.name for each in event.tool_calls.calls]
            said = event.content or f"Calls {', '.join(names)}."
            await _report(work, said, data={"calls": names})

    async def report(event: RemoteProgress) -> None:
        about = {"by": event.by, "data": event.data}
        await _report(work, event.message or event.by, fraction=event.fraction, data=about)

    async def add(event: UsageEvent) -> None:
        count(event)

    hearing = (
        (ModelMessageChunk, write),
        (RemoteDelta, pass_on),
        (ModelResponse, tell),
        (RemoteProgress, report),
        (UsageEvent, add),
    )
    listening = ExitStack()
    for kind, hear in hearing:
        listening.enter_context(stream.where(kind).sub_scope(hear))
    return listening


async def _report(work: Work, message: str, **about: Any) -> None:
    try:
        await work.progress(message[:65_536], **about)
    except WaybillError:
        # The attempt is over, and its cancellation says so too. Lost progress does not fail the
        # work.
        pass
