"""The context that CrewAI gives a task from earlier tasks: a remote agent's words are marked in it
as data.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from crewai import Task
from crewai.hooks.contexts import StepContext
from crewai.hooks.dispatch import InterceptionPoint, register
from crewai.utilities.formatter import DIVIDERS

from ..adapter.as_data import marked_as_data
from .made import names_made
from .member import RemoteMember
from .tool import RemoteTool


def _mark(step: StepContext) -> None:
    if step.kind != "task" or not step.payload:
        return
    crew, named = getattr(step.agent, "crew", None), step.task.context
    tasks = [*getattr(crew, "tasks", []), *(named if isinstance(named, list) else [])]
    step.payload = _marked(step.payload, [each for each in tasks if _is_remote(each)])


def _is_remote(task: Task) -> bool:
    if isinstance(task.agent, RemoteMember):
        return True
    tools: list[Any] = [*(task.tools or []), *(getattr(task.agent, "tools", None) or [])]
    return any(isinstance(each, RemoteTool) and each.result_as_answer for each in tools)


def _marked(context: str, tasks: Iterable[Task]) -> str:
    outputs = [(each.output, names_made(each)) for each in tasks if each.output is not None]
    # The longest first: an output may contain the divider, and between two of them another's
    # output.
    for output, files in sorted(outputs, key=lambda each: -len(each[0].raw)):
        if output.raw:
            data = {"output": output.raw, **({"files": files} if files else {})}
            told = marked_as_data(output.agent.strip(), data)
            context = _whole(output.raw).sub(lambda _, told=told: told, context)  # type: ignore[misc]
    return context


def _whole(words: str) -> re.Pattern[str]:
    """Everything between two dividers, or at an end."""
    divider = re.escape(DIVIDERS)
    return re.compile(rf"(?:\A|(?<={divider})){re.escape(words)}(?=\Z|{divider})")


register(InterceptionPoint.PRE_STEP, _mark)
