"""Why a call failed."""
from __future__ import annotations

from enum import IntEnum


class Code(IntEnum):
    """The codes of gRPC."""

    OK = 0
    CANCELLED = 1
    UNKNOWN = 2
    INVALID_ARGUMENT = 3
    DEADLINE_EXCEEDED = 4
    NOT_FOUND = 5
    ALREADY_EXISTS = 6
    PERMISSION_DENIED = 7
    RESOURCE_EXHAUSTED = 8
    FAILED_PRECONDITION = 9
    ABORTED = 10
    OUT_OF_RANGE = 11
    UNIMPLEMENTED = 12
    INTERNAL = 13
    UNAVAILABLE = 14
    DATA_LOSS = 15
    UNAUTHENTICATED = 16


class Error(Exception):
    """A call was refused, or nobody answered.

    `code` says of which kind it is, `reason` why, for programs (an `ErrorReason` of the interface without its prefix, or
    empty), and `field` which field of the request is to blame, as a path, or empty. `fields` has all of these with what
    is wrong with each; `metadata` what else was told, such as the limit and its value; `retry_after` after how many
    seconds trying again may help, or None.
    """

    def __init__(self, code: Code, message: str, reason: str = "", fields: list[tuple[str, str]] | None = None,
                 metadata: dict[str, str] | None = None, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.reason = reason
        self.fields = fields or []
        self.metadata = metadata or {}
        self.retry_after = retry_after

    @property
    def field(self) -> str:
        """The path of the first field that is to blame."""
        return self.fields[0][0] if self.fields else ""

    def __str__(self) -> str:
        reason = f" ({self.reason})" if self.reason else ""
        return f"{self.code.name}{reason}: {self.message}"

    def __reduce__(self):
        return type(self), (self.code, self.message, self.reason, self.fields, self.metadata, self.retry_after)


class NotVerified(Exception):
    """An answer is not proven by its certificate, or there is nothing that proves it."""


def of_status(code: int, message: str, reason: str, fields: list[tuple[str, str]], metadata: dict[str, str],
              retry_after: float | None) -> Error:
    """The exception for a status; called by the engine."""
    return Error(Code(code), message, reason, fields, metadata, retry_after)
