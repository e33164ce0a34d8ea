"""Where a crew or a flow needs a human, its delegator is asked. The run waits in memory."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

from crewai.core.providers.human_input import SyncHumanInputProvider
from crewai.flow.async_feedback import ConsoleProvider, PendingFeedbackContext
from crewai.flow.flow_config import flow_config

from ..adapter.threads import await_in, wait_in
from ..adapter.words import words_of
from ..serving.work import Work

_QUESTION_LENGTH = 65_536
_IS_THIS_WANTED = (
    "Is this as wanted? Leave the answer empty if it is, else say what to change.\n\n{}"
)


class FeedbackAsked(SyncHumanInputProvider):
    """For tasks with `human_input`. An empty answer approves the output as it is."""

    def __init__(self, work: Work, loop: asyncio.AbstractEventLoop) -> None:
        self._work = work
        self._loop = loop
        self._answer = ""

    def handle_feedback(self, formatted_answer: Any, context: Any) -> Any:
        self._answer = self._get_output_string(formatted_answer)
        return super().handle_feedback(formatted_answer, context)

    async def handle_feedback_async(self, formatted_answer: Any, context: Any) -> Any:
        self._answer = self._get_output_string(formatted_answer)
        return await super().handle_feedback_async(formatted_answer, context)

    def _prompt_input(self, crew: Any) -> str:  # type: ignore[override]
        return _words(wait_in(self._loop, self._ask()))

    async def _prompt_input_async(self, crew: Any) -> str:  # type: ignore[override]
        return _words(await await_in(self._loop, self._ask()))

    async def _ask(self) -> Any:
        text = _IS_THIS_WANTED.format(self._answer)[:_QUESTION_LENGTH]
        return await self._work.ask(text, data={"answer": self._answer})


class InputAsked:
    """For `ask` of a flow."""

    def __init__(self, work: Work, loop: asyncio.AbstractEventLoop) -> None:
        self._work = work
        self._loop = loop

    def request_input(
        self, message: str, flow: Any, metadata: dict[str, Any] | None = None
    ) -> str | None:
        about = metadata or {}
        asked = self._work.ask(message[:_QUESTION_LENGTH], id=about.get("id"), data=metadata)
        return _words(wait_in(self._loop, asked))


review_wanted: ContextVar[Callable[[PendingFeedbackContext], str] | None] = ContextVar(
    "review_wanted", default=None
)
"""The reviewer of what the methods of this run's flows have returned."""


def reviewer(
    work: Work, loop: asyncio.AbstractEventLoop
) -> Callable[[PendingFeedbackContext], str]:
    """For methods with `human_feedback`. An empty answer means its default outcome."""

    def review(wanted: PendingFeedbackContext) -> str:
        output = wanted.to_dict()["method_output"]
        about = {"method": wanted.method_name, "output": output, "emit": wanted.emit}
        text = f"{wanted.message}\n\n{words_of(output)}"[:_QUESTION_LENGTH]
        return _words(wait_in(loop, work.ask(text, data=about)))

    return review


class _Reviewed:
    """CrewAI has one provider for all flows of a process, and those that are not served keep
    theirs.
    """

    def __init__(self, others: Any) -> None:
        self._others = others or ConsoleProvider()

    def request_feedback(self, context: PendingFeedbackContext, flow: Any) -> Any:
        review = review_wanted.get()
        if review is None:
            return self._others.request_feedback(context, flow)
        return review(context)


def review_flows() -> None:
    if not isinstance(flow_config.hitl_provider, _Reviewed):
        flow_config.hitl_provider = _Reviewed(flow_config.hitl_provider)


def _words(answer: Any) -> str:
    return "" if answer is None else words_of(answer)
