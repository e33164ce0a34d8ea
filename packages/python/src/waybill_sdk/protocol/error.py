"""The only error class."""

from __future__ import annotations

from typing import Any

from .status import RETRYABLE, STATUSES, Status


class WaybillError(Exception):
    """An error with a status of the table. Its message says what happened, why, and what to do."""

    def __init__(
        self,
        status: int,
        message: str,
        *,
        at: str | None = None,
        cause: Any = None,
        retryable: bool | None = None,
        retry_after_ms: int | None = None,
        refusals: list[dict[str, Any]] | None = None,
        received: int | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.row: Status = STATUSES.get(status, STATUSES[500])
        self.status: int = self.row.code
        self.at = at
        self.cause = cause
        self.retryable: bool = self.row.retry in RETRYABLE if retryable is None else retryable
        self.retry_after_ms = retry_after_ms
        # For a 422 before custody: why each agent that offers the capability refuses the input.
        self.refusals: list[dict[str, Any]] = refusals or []
        # For a 409 to an upload: the number of bytes of it that have arrived.
        self.received = received
        if isinstance(cause, BaseException):
            self.__cause__ = cause

    @property
    def code(self) -> str:
        return self.row.name

    @property
    def remedy(self) -> str:
        return self.row.remedy

    def __str__(self) -> str:
        return f"{self.status} {self.code}: {self.message}"

    @classmethod
    def of(cls, thrown: BaseException) -> WaybillError:
        """Converts anything raised to a WaybillError."""
        if isinstance(thrown, WaybillError):
            return thrown
        return cls(500, str(thrown) or type(thrown).__name__, cause=thrown, retryable=False)
