"""The one tree of errors.

Every error that deciban raises about its input is a :class:`DecibanError`::

    DecibanError
    ├── InputError (ValueError)         values that cannot be used
    │   ├── ShapeError                  the wrong number of rows, columns or classes
    │   ├── MissingValueError           NaN, infinity or None where a value is needed
    │   ├── ParameterError              a setting outside its range
    │   └── UnhashableError (TypeError) a category or label that cannot be compared
    ├── FileError (OSError)             a file that cannot be found, opened or understood
    │   ├── ExistingFileError (FileExistsError) a file is in the way that is not deciban's own
    │   └── ModelWriteError             a file that could not be written
    ├── MissingPackageError (ImportError) an optional library that is not installed
    ├── ModelFileError (ValueError)     a file that holds no model, or a damaged one
    └── NegativeCountError (ValueError) taking away what was never added

What may be meant, and probably is not, is a :class:`DecibanWarning`::

    DecibanWarning (UserWarning)
    ├── DataWarning                     data that was perhaps not meant as it was read
    └── UnknownLabelWarning             labels that a model does not know

A message says what was wrong, the value that was wrong, what would be right,
and ends in a hint.
"""

from __future__ import annotations

__all__ = [
    "DataWarning",
    "DecibanError",
    "DecibanWarning",
    "ExistingFileError",
    "FileError",
    "InputError",
    "MissingPackageError",
    "MissingValueError",
    "ModelFileError",
    "ModelWriteError",
    "NegativeCountError",
    "ParameterError",
    "ShapeError",
    "UnhashableError",
    "UnknownLabelWarning",
]


class DecibanError(Exception):
    """The root of the tree.

    >>> from deciban.errors import InputError
    >>> raise InputError("y has 3 rows, X has 4.", hint="give one label per row")
    Traceback (most recent call last):
    ...
    deciban.errors.InputError: y has 3 rows, X has 4. Hint: give one label per row.
    """

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(f"{message} Hint: {hint}." if hint else message)
        self.message, self.hint = message, hint


class InputError(DecibanError, ValueError):
    """Values that cannot be used as they are."""


class ShapeError(InputError):
    """The wrong number of rows, columns or classes."""


class MissingValueError(InputError):
    """NaN, infinity or None where a value is needed."""


class ParameterError(InputError):
    """A setting outside its range."""


class UnhashableError(InputError, TypeError):
    """A category or label, such as a list or dict, that cannot be looked up."""


class FileError(DecibanError, OSError):
    """A file that cannot be found, opened or understood."""


class ExistingFileError(FileError, FileExistsError):
    """A file would be replaced that is not known as deciban's own; it is still there."""


class MissingPackageError(DecibanError, ImportError):
    """An optional library is needed and not installed."""


class NegativeCountError(DecibanError, ValueError):
    """A count would fall below zero: something is taken away that was never added."""


class ModelFileError(DecibanError, ValueError):
    """A file that holds no model, a damaged one, or one of a later format."""


class ModelWriteError(FileError):
    """A file that could not be written; the one that was there before is still there."""


class DecibanWarning(UserWarning):
    """The root of the warnings; a message ends in a hint, as those of errors do."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(f"{message} Hint: {hint}." if hint else message)


class DataWarning(DecibanWarning):
    """Data that was read in a way that may not be what was meant."""


class UnknownLabelWarning(DecibanWarning):
    """Rows that a model is judged by have labels that it does not know."""
