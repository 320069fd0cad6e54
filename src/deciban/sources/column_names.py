"""Names of columns: the nearest one to a name that does not exist."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from deciban.errors import InputError

__all__ = ["nearest", "unknown"]


def nearest(name: str, names: Sequence[str]) -> str | None:
    """The most similar name, if one is similar at all.

    >>> nearest("lable", ["label", "text"])
    'label'
    """
    lower = {known.lower(): known for known in reversed(names)}
    close = difflib.get_close_matches(name.lower(), list(lower), n=1, cutoff=0.5)
    return lower[close[0]] if close else None


def unknown(name: str, names: Sequence[str]) -> InputError:
    """The error about a column that does not exist.

    >>> raise unknown("lable", ["label", "text"])
    Traceback (most recent call last):
    ...
    deciban.errors.InputError: there is no column 'lable'. Hint: perhaps 'label' was meant.
    """
    close = nearest(name, names)
    if close is not None:
        return InputError(f"there is no column {name!r}.", hint=f"perhaps {close!r} was meant")
    shown = ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")
    return InputError(f"there is no column {name!r}.", hint=f"the columns are {shown}")
