"""Real crews and flows of CrewAI, with scripted models."""

from __future__ import annotations

import json
from typing import Any

from crewai import Agent, BaseLLM, Crew, Task
from crewai.llms.base_llm import llm_call_context
from pydantic import PrivateAttr


class Saying(BaseLLM):
    """Gives its scripted replies one after the other, repeats the last one, and records its
    requests."""

    _says: list[Any] = PrivateAttr()
    _asked: list[str] = PrivateAttr(default_factory=list)

    def __init__(self, *says: Any) -> None:
        super().__init__(model="saying")
        self._says = list(says)

    @property
    def asked(self) -> list[str]:
        return self._asked

    def call(self, messages: Any, *_args: Any, **_options: Any) -> str:
        text = messages if isinstance(messages, str) else "\n".join(m["content"] for m in messages)
        self._asked.append(text)
        said = self._says[min(len(self._asked), len(self._says)) - 1]
        return said() if callable(said) else said

    async def acall(self, messages: Any, *args: Any, **options: Any) -> str:
        return self.call(messages, *args, **options)

    def supports_function_calling(self) -> bool:
        return False


class Streaming(Saying):
    """Streams its text word by word, and tool calls besides."""

    def call(self, messages: Any, *args: Any, **options: Any) -> str:
        said: str = super().call(messages, *args, **options)
        with llm_call_context():
            for word in said.split(" "):
                self._emit_stream_chunk_event(f"{word} ")
            function = {"name": "look", "arguments": "{}"}
            self._emit_stream_chunk_event(
                "{}", tool_call={"index": 0, "type": "function", "function": function}
            )
        return said


def final(words: str) -> str:
    return f"Thought: I now can give a great answer\nFinal Answer: {words}"


def action(tool: str, **arguments: Any) -> str:
    return f"Thought: I need it\nAction: {tool}\nAction Input: {json.dumps(arguments)}"


def member(role: str, *says: Any, **options: Any) -> Agent:
    llm = Saying(*says)
    return Agent(role=role, goal="g", backstory="b", llm=llm, **options)


def task(agent: Any, description: str = "{instruction}", **options: Any) -> Task:
    return Task(description=description, expected_output="a line", agent=agent, **options)


def crew(*tasks: Task, agents: list[Any] | None = None, **options: Any) -> Crew:
    members = agents or list({id(each.agent): each.agent for each in tasks}.values())
    return Crew(agents=members, tasks=list(tasks), **options)


def writers() -> Crew:
    writer, critic = (
        member("writer", final("a draft")),
        member("critic", final("a better draft")),
    )
    return crew(task(writer), task(critic, "make it better"))


class Counting(Saying):
    """Replies with the number of the delegator's turns that it was shown."""

    def call(self, messages: Any, *args: Any, **options: Any) -> str:
        super().call(messages, *args, **options)
        return final(f"heard {self.asked[-1].count('[turn]')}")


def counting(description: str) -> Crew:
    counter = Agent(role="counter", goal="g", backstory="b", llm=Counting(""))
    return crew(task(counter, description))


class Seeing(Saying):
    """Accepts images, and records what the request to its host would contain of them."""

    _seen: list[dict[str, Any]] = PrivateAttr(default_factory=list)

    def __init__(self, *says: Any) -> None:
        super().__init__(*says)
        self.model, self.provider = "gpt-4o", "openai"

    @property
    def seen(self) -> list[dict[str, Any]]:
        return self._seen

    def supports_multimodal(self) -> bool:
        return True

    def call(self, messages: Any, *args: Any, **options: Any) -> str:
        words = []
        for each in self._format_messages(messages):
            content = each["content"]
            blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
            words += [block["text"] for block in blocks if block["type"] == "text"]
            self._seen += [block for block in blocks if block["type"] != "text"]
        return super().call("\n".join(words), *args, **options)


def seeing(role: str, *says: Any) -> Agent:
    return Agent(role=role, goal="g", backstory="b", llm=Seeing(*says))
