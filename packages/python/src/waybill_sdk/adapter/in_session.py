"""One run of a framework as a turn of its conversation."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

from ..protocol.error import WaybillError
from ..protocol.instant import now_ms
from ..protocol.schema import CompiledSchema
from ..serving.outcome import Finished, Paused, result_of
from ..serving.work import Work
from .session_store import EndedTurn, Kept, Moved, SessionStore

_ASK_AGAIN_AFTER_MS = 1_000

Ending: TypeAlias = tuple["Finished | Paused", Any]
"""The outcome of a run, and what is kept of the conversation after it."""


async def in_session(
    store: SessionStore,
    work: Work,
    capability: str,
    output: CompiledSchema,
    run: Callable[[Any], Awaitable[Ending]],
) -> Finished | Paused:
    """Runs with what was kept after the previous turn: None if there is none, or if the work names
    no session.

    Runs of one session are serialized. A completed turn is kept before its result is sent, and does
    not run again: another attempt at it returns the same result.
    """
    session = work.session
    if session is None:
        ending, _ = await run(None)
        return ending
    # Two capabilities with one name would let two agents of the framework write into one thread.
    thread = f"{work.agent}:{session.key}:{capability}"
    handoff_id, until = work.handoff_id, int(work.deadline.timestamp() * 1000)
    async with store.turn(thread):
        kept, ended = await store.aside(lambda: store.read(thread, handoff_id))
        if ended is not None:
            session.found(ended.had_conversation)
            return ended.finished
        _assert_free(kept, work)
        had = kept.state is not None
        session.found(had)
        ending, state = await run(kept.state)
        try:
            if isinstance(ending, Paused):
                await store.aside(
                    lambda: store.ask(thread, kept, handoff_id=handoff_id, until=until)
                )
                return ending
            # An output that is not the promised one is a failure, and no turn of the conversation.
            result_of(ending, output)
            await store.aside(
                lambda: store.end(
                    thread,
                    kept,
                    handoff_id=handoff_id,
                    until=until,
                    state=state,
                    ended=EndedTurn(ending, had),
                )
            )
        except Moved:
            raise WaybillError(
                301,
                "Another process has continued the conversation meanwhile: this turn is retried.",
                retry_after_ms=_ASK_AGAIN_AFTER_MS,
            ) from None
        return ending


def _assert_free(kept: Kept, work: Work) -> None:
    is_own = kept.asked_by == work.handoff_id
    if kept.asked_by is not None and not is_own and now_ms() < kept.asked_until:
        raise WaybillError(
            301,
            f"The conversation waits for the answer to a question of {kept.asked_by}: answer that, or wait "
            "until its deadline.",
            retry_after_ms=_ASK_AGAIN_AFTER_MS,
        )
    # A store that has lost the conversation has nothing that the run could overwrite.
    if work.resume is not None and not is_own and kept.version > 0:
        raise WaybillError(
            500,
            "The conversation has continued without this turn, which was paused. Hand the work off again, as a new turn.",
            retryable=False,
        )
