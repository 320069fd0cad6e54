"""Errors as problem documents (RFC 9457): what was wrong, and the library's hint."""

from __future__ import annotations

import msgspec

from deciban.errors import (
    DecibanError,
    MissingPackageError,
    ModelWriteError,
    NegativeCountError,
)
from deciban.serve.learner import ConflictError

__all__ = ["Problem", "ProblemError", "of_error"]

_TITLES = {
    400: "The request cannot be read",
    401: "A token is needed",
    403: "This is not allowed",
    404: "There is nothing here",
    405: "This method is not known here",
    406: "No such answer can be given",
    408: "The request took too long",
    409: "This contradicts what is known",
    413: "The request is too large",
    415: "This type of content is not known",
    421: "This is another server",
    422: "The values cannot be used",
    429: "This is too much at once",
    500: "This is a bug of deciban",
    501: "A library is missing",
    503: "The service cannot do this now",
}
#: The first that an error is decides; whatever else is about values is 422.
_STATUSES: tuple[tuple[type[DecibanError], int], ...] = (
    (ConflictError, 409),
    (NegativeCountError, 409),
    (MissingPackageError, 501),
    (ModelWriteError, 503),
)


class Problem(msgspec.Struct, omit_defaults=True):
    """What a caller is told about a mistake."""

    title: str
    status: int
    detail: str
    hint: str = ""

    @classmethod
    def of(cls, status: int, detail: str, hint: str = "") -> Problem:
        """The problem of a status."""
        return cls(_TITLES[status], status, detail, hint)


class ProblemError(Exception):
    """A request that gets a problem for an answer."""

    def __init__(self, status: int, detail: str, hint: str = "") -> None:
        super().__init__(detail)
        self.problem = Problem.of(status, detail, hint)


def of_error(error: DecibanError) -> Problem:
    """The problem that an error of the library is.

    >>> from deciban.errors import InputError
    >>> of_error(InputError("there is no column 'aeg'.", hint="perhaps 'age' was meant"))
    Problem(title='The values cannot be used', status=422, detail="there is no column 'aeg'.", \
hint="perhaps 'age' was meant")
    """
    status = next((status for kind, status in _STATUSES if isinstance(error, kind)), 422)
    return Problem.of(status, error.message, error.hint)
