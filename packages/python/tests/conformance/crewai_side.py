"""CrewAI in the suite: a flow of crews that plays is served; crews with a remote member, or a tool, call."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from crewai import Agent as CrewAgent
from crewai import BaseLLM, Crew, Flow, Task
from crewai.events.types.llm_events import LLMCallType
from crewai.flow.flow import start
from crewai.llms.base_llm import llm_call_context
from crewai.tools.tool_failure import ToolExecutionFailedError, ToolFailurePolicy
from peer import Act, Calling, Stage
from pydantic import BaseModel, PrivateAttr

from waybill_sdk import Agent, HandoffResult, WaybillError, Work
from waybill_sdk.adapter.media import media_from, media_in
from waybill_sdk.adapter.speech import spoken
from waybill_sdk.adapter.threads import await_in
from waybill_sdk.adapter.words import asked_of, text_message, words_of
from waybill_sdk.crewai import RemoteMember, RemoteTool, serve
from waybill_sdk.crewai.files import ShownFiles


class Model(BaseLLM):
    """Says what it is told to, and then the output of whatever its tool has given."""

    _says: str = PrivateAttr()
    _is_asked: bool = PrivateAttr(default=False)
    _heard: list[dict[str, Any]] = PrivateAttr(default_factory=list)

    def __init__(self, says: str) -> None:
        super().__init__(model="saying")
        self._says = says

    @property
    def heard(self) -> list[dict[str, Any]]:
        """All of the request, its system message too."""
        return self._heard

    def call(self, messages: Any, *_args: Any, **_options: Any) -> str:
        self._heard = [text_message(each["role"], each["content"]) for each in messages]
        if not self._is_asked:
            self._is_asked = True
            return self._says
        observed = next(
            each["content"].rpartition("Observation:")[2]
            for each in reversed(messages)
            if "Observation:" in each["content"]
        )
        # As a model is to take it: the data that stands in the marking.
        _opening, _whose, data, *_closing = observed.strip().split("\n")
        return f"Thought: I know\nFinal Answer: {words_of(json.loads(data)['output'])}"

    async def acall(self, messages: Any, *args: Any, **options: Any) -> str:
        return self.call(messages, *args, **options)

    def supports_function_calling(self) -> bool:
        return False


def member(model: Model, **options: Any) -> CrewAgent:
    return CrewAgent(role="player", goal="g", backstory="b", llm=model, **options)


def offer(agent: Agent, capability: dict[str, Any], act: Act) -> None:
    loop = asyncio.get_running_loop()
    serve(agent, capability, lambda work: playing(act, work, loop))


class Seeing(Model):
    """One that takes files, and keeps what the request to its host would show of them."""

    _seen: list[dict[str, Any]] = PrivateAttr(default_factory=list)

    def __init__(self) -> None:
        super().__init__("Final Answer: Seen.")
        self.model, self.provider = "gpt-4o", "openai"

    @property
    def seen(self) -> list[dict[str, Any]]:
        return self._seen

    def supports_multimodal(self) -> bool:
        return True

    def call(self, messages: Any, *args: Any, **options: Any) -> str:
        for each in self._format_messages(messages):
            content = each["content"]
            self._seen += [] if isinstance(content, str) else content
        return super().call([{"role": "user", "content": ""}], *args, **options)


async def seen_in(flow: Flow[Any]) -> list[dict[str, Any]]:
    """What a model in a crew of the flow is shown of the flow's files, in words and as a picture."""
    model = Seeing()
    agent = member(model)
    task = Task(description="{history} {instruction}", expected_output="-", agent=agent)
    inputs = {name: flow.state[name] for name in ("history", "instruction")}
    await Crew(agents=[agent], tasks=[task]).akickoff(inputs)
    parts = [
        media_from("image", each["image_url"]["url"])
        if each["type"] == "image_url"
        else {"type": "text", "text": each["text"]}
        for each in model.seen
    ]
    return [{"role": "user", "content": parts}]


class Playing(Stage):
    def __init__(
        self,
        flow: Flow[Any],
        source: Work,
        shown: asyncio.Queue[str | None],
        messages: list[dict[str, Any]],
    ) -> None:
        seen = {"messages": messages} if messages else {"input": dict(flow.state)}
        super().__init__(seen, source)
        self._flow = flow
        self._shown = shown
        self._loop = asyncio.get_running_loop()

    async def show(self, message: str) -> None:
        self._loop.call_soon_threadsafe(self._shown.put_nowait, message)

    async def ask(self, id: str, text: str) -> Any:
        return await asyncio.to_thread(self._flow.ask, text, metadata={"id": id})


def has_files(work: Work) -> bool:
    messages = work.body.get("messages", [])
    return "artifacts" in work.body or any(media_in(each) for each in messages)


def playing(act: Act, work: Work, loop: asyncio.AbstractEventLoop) -> Flow[Any]:
    class Play(Flow[Any]):
        @start()
        async def play(self) -> Any:
            shown: asyncio.Queue[str | None] = asyncio.Queue()
            messages = await seen_in(self) if has_files(work) else []
            stage = Playing(self, work, shown, messages)
            played = asyncio.ensure_future(await_in(loop, act(stage)))
            played.add_done_callback(lambda _: shown.put_nowait(None))
            try:
                while (message := await shown.get()) is not None:
                    await saying(message).akickoff()
                given = await played
                if "usage" in given:
                    reported(given["usage"])
                return given.get("output")
            finally:
                played.cancel()

    return Play()


def reported(usage: dict[str, int]) -> None:
    """As a provider of CrewAI tells of what its API has counted."""
    used = {"prompt_tokens": usage["input_tokens"], "completion_tokens": usage["output_tokens"]}
    with llm_call_context():
        Model("")._emit_call_completed_event("", LLMCallType.LLM_CALL, usage=used)


def saying(words: str) -> Crew:
    """A crew whose one task comes to this."""
    agent = member(Model(f"Thought: I know\nFinal Answer: {words}"))
    return Crew(
        agents=[agent], tasks=[Task(description="Say it.", expected_output="-", agent=agent)]
    )


async def call(calling: Calling) -> dict[str, Any]:
    request = calling.request
    got: list[HandoffResult] = []
    options: dict[str, Any] = {
        "on_result": got.append,
        "agent": calling.agent,
        "capability": request["capability"]["name"],
        "to": request.get("to"),
        "timeout": request["timeoutMs"] / 1000,
        "session": request.get("session"),
        "run": request["run"],
        "on_question": calling.answer,
        "on_progress": lambda event: calling.show(event.message),
    }
    made = _with_member if request["capability"]["takes"] != "structured" else _with_tool
    model = Model("Final Answer: So it is.")
    listening = Task(description="Hear.", expected_output="-", agent=member(model))
    crew = made(request, options)
    crew.agents, crew.tasks = [*crew.agents, listening.agent], [*crew.tasks, listening]
    try:
        ended = await crew.akickoff()
        return {
            "output": ended.tasks_output[-2].raw,
            "messages": got[-1].messages,
            "artifacts": got[-1].artifacts,
            "heard": {"inWords": request["step"], "messages": model.heard},
            "usage": {
                "input_tokens": ended.token_usage.prompt_tokens,
                "output_tokens": ended.token_usage.completion_tokens,
            },
        }
    except ToolExecutionFailedError as error:
        told = error.record.failure
        raise WaybillError(
            told.details["status"], told.message, cause=told.details.get("cause")
        ) from error


def _with_member(request: dict[str, Any], options: dict[str, Any]) -> Crew:
    *before, last = asked_of(request["work"])
    history = "\n".join(spoken(each) for each in before)
    remote = RemoteMember(role=request["step"], **options)
    task = Task(
        description=spoken(last),
        expected_output="What was asked for.",
        agent=remote,
        input_files=ShownFiles([*before, last], request["work"].get("artifacts", [])).files,
    )
    known = Task(
        description="-", expected_output="-", agent=member(Model(f"Final Answer: {history}"))
    )
    tasks = [known, task] if history else [task]
    return Crew(agents=[each.agent for each in tasks], tasks=tasks)


class Given(BaseModel):
    query: str | None = None
    depth: int | None = None


def _with_tool(request: dict[str, Any], options: dict[str, Any]) -> Crew:
    given = json.dumps(request["work"].get("input", {}))
    name = request["step"].replace("-", "_")
    tool = RemoteTool(name=name, description="Knows it.", args_schema=Given, **options)
    model = Model(f"Thought: I need it\nAction: {name}\nAction Input: {given}")
    agent = member(model, tools=[tool], tool_failure_policy=ToolFailurePolicy.RAISE)
    return Crew(
        agents=[agent], tasks=[Task(description="Find out.", expected_output="-", agent=agent)]
    )
