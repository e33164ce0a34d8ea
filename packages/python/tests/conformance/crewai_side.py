"""CrewAI in the suite: a scripted flow is served, and for text a crew with a scripted model; crews
with a remote member, or a tool, call."""

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
from waybill_sdk.adapter.media import media_from
from waybill_sdk.adapter.speech import message_text
from waybill_sdk.adapter.threads import await_in, wait_in
from waybill_sdk.adapter.words import asked_of, text_message, words_of
from waybill_sdk.crewai import RemoteMember, RemoteTool, serve
from waybill_sdk.crewai.files import ShownFiles
from waybill_sdk.crewai.inputs import WORDS


class Model(BaseLLM):
    """Gives its scripted reply, and then the output of its tool."""

    _says: str = PrivateAttr()
    _is_asked: bool = PrivateAttr(default=False)
    _heard: list[dict[str, Any]] = PrivateAttr(default_factory=list)

    def __init__(self, says: str) -> None:
        super().__init__(model="saying")
        self._says = says

    @property
    def heard(self) -> list[dict[str, Any]]:
        """The complete request, with its system message."""
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
        # As a model should take it: only the data inside the marking.
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
    is_in_words = not capability["output_schema"]
    made = speaking if is_in_words else playing
    serve(agent, capability, lambda work: made(act, work, loop))


def speaking(act: Act, work: Work, loop: asyncio.AbstractEventLoop) -> Crew:
    """A crew whose one agent has a scripted model."""
    # An error of the model's host is final: otherwise CrewAI would call it again.
    agent = member(Mind(act, work, loop), max_retry_limit=0)
    description = "{history}\n\n{instruction}\n\n{expected_output}"
    return Crew(
        agents=[agent], tasks=[Task(description=description, expected_output="-", agent=agent)]
    )


class Mind(BaseLLM):
    """A scripted model. It sees what the request to its host would contain."""

    _act: Act = PrivateAttr()
    _source: Work = PrivateAttr()
    _loop: asyncio.AbstractEventLoop = PrivateAttr()

    def __init__(self, act: Act, source: Work, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(model="gpt-4o")
        self.provider = "openai"
        self._act, self._source, self._loop = act, source, loop

    def supports_multimodal(self) -> bool:
        return True

    def supports_function_calling(self) -> bool:
        return False

    def call(self, messages: Any, *_args: Any, **_options: Any) -> str:
        return self._said(wait_in(self._loop, self._act(self._stage(messages))))

    async def acall(self, messages: Any, *_args: Any, **_options: Any) -> str:
        return self._said(await await_in(self._loop, self._act(self._stage(messages))))

    def _stage(self, messages: Any) -> Stage:
        seen = [_seen(each) for each in self._format_messages(messages)]
        return Speaking({"messages": seen}, self._source, self)

    def _said(self, given: dict[str, Any]) -> str:
        if "usage" in given:
            reported(given["usage"])
        return f"Thought: I know\nFinal Answer: {words_of(given.get('output', ''))}"

    def stream(self, words: str) -> None:
        with llm_call_context():
            self._emit_stream_chunk_event(words)


class Speaking(Stage):
    """A request of a crew's model."""

    def __init__(self, seen: dict[str, Any], source: Work, mind: Mind) -> None:
        super().__init__(seen, source)
        self._mind = mind

    async def show(self, message: str) -> None:
        self.context.copy().run(self._mind.stream, message)

    async def ask(self, id: str, text: str) -> Any:
        """Like a tool of the crew that was made for this work."""
        return await self.source.ask(text, id=id)


def _seen(message: Any) -> dict[str, Any]:
    content = message["content"]
    if isinstance(content, str):
        return text_message(message["role"], content)
    parts = [
        media_from("image", each["image_url"]["url"])
        if each["type"] == "image_url"
        else {"type": "text", "text": each["text"]}
        for each in content
    ]
    return {"role": message["role"], "content": parts}


class Playing(Stage):
    def __init__(
        self,
        flow: Flow[Any],
        source: Work,
        shown: asyncio.Queue[str | None],
    ) -> None:
        # A flow takes each member of its input by name. The text repeats them.
        given = {name: each for name, each in flow.state.items() if name not in WORDS}
        super().__init__({"input": given}, source)
        self._flow = flow
        self._shown = shown
        self._loop = asyncio.get_running_loop()

    async def show(self, message: str) -> None:
        self._loop.call_soon_threadsafe(self._shown.put_nowait, message)

    async def ask(self, id: str, text: str) -> Any:
        return await asyncio.to_thread(self._flow.ask, text, metadata={"id": id})


def playing(act: Act, work: Work, loop: asyncio.AbstractEventLoop) -> Flow[Any]:
    class Play(Flow[Any]):
        @start()
        async def play(self) -> Any:
            shown: asyncio.Queue[str | None] = asyncio.Queue()
            stage = Playing(self, work, shown)
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
    """Reports usage like a provider of CrewAI."""
    used = {"prompt_tokens": usage["input_tokens"], "completion_tokens": usage["output_tokens"]}
    with llm_call_context():
        Model("")._emit_call_completed_event("", LLMCallType.LLM_CALL, usage=used)


def saying(words: str) -> Crew:
    """A crew whose one task returns this text."""
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
    history = "\n".join(message_text(each) for each in before)
    remote = RemoteMember(role=request["step"], **options)
    task = Task(
        description=message_text(last),
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
