"""All or nothing: an update that fails leaves an object as it was."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def all_or_nothing(thing: object) -> Iterator[None]:
    """Put the attributes of an object back if what is done to it fails.

    What the attributes hold must be replaced, not changed in place.

    >>> class Model:
    ...     rows = 0
    >>> model = Model()
    >>> try:
    ...     with all_or_nothing(model):
    ...         model.rows = 5
    ...         raise ValueError
    ... except ValueError:
    ...     print(model.rows)
    0
    """
    before = dict(thing.__dict__)
    try:
        yield
    except BaseException:
        thing.__dict__.update(before)  # at no time is anything missing: other threads may ask
        for name in thing.__dict__.keys() - before.keys():
            del thing.__dict__[name]
        raise
