"""Converts an error of a framework's run to a WaybillError."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from ..protocol.error import WaybillError
from .as_data import failure_as_data, spelled_out

_CAUSES_DEEP = 8
_COMMON: Mapping[str, int] = {"TimeoutError": 504, "CancelledError": 499}
# HTTP statuses after which the same request may succeed.
_PASSING = frozenset((408, 425, 429, 500, 502, 503, 504))


def failure_from(thrown: BaseException, parts: Sequence[WaybillError] = ()) -> WaybillError:
    """A failed child is a 424, whatever the child's own status."""
    chain = _causes_of(thrown)
    words = " ".join(str(each) for each in chain)
    for part in parts:
        # Frameworks report it with its own message, or with the text that a model was given.
        spelled = (part.message, spelled_out(failure_as_data(part)))
        if part in chain or any(each in words for each in spelled):
            return WaybillError(
                424,
                f"A part of the work ended with {part.status}: {part.message}",
                cause=thrown,
                retryable=part.retryable,
                retry_after_ms=part.retry_after_ms,
            )
    for each in chain:
        if isinstance(each, WaybillError):
            return each
    for each in chain:
        name = "TimeoutError" if isinstance(each, asyncio.TimeoutError) else type(each).__name__
        if name in _COMMON:
            return WaybillError(_COMMON[name], str(each) or name, cause=thrown)
    # An HTTP status describes a request that the run made, not the handoff.
    is_passing = any(getattr(each, "status_code", None) in _PASSING for each in chain)
    return WaybillError(
        500, str(thrown) or type(thrown).__name__, cause=thrown, retryable=is_passing
    )


def _causes_of(thrown: BaseException) -> list[BaseException]:
    chain: list[BaseException] = []
    each: BaseException | None = thrown
    while each is not None and len(chain) < _CAUSES_DEEP:
        chain.append(each)
        each = each.__cause__ or each.__context__
    return chain
