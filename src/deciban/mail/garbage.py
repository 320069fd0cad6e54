"""Reading mail makes many objects and hardly any cycles among them.

Python looks for cycles whenever some hundred objects more were made than freed, which takes a sixth
of the time of reading thousands of messages.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["rare_collections"]

#: Objects more before the young are looked at, and how often before the older ones are.
THRESHOLDS = 50_000, 20, 100


@contextmanager
def rare_collections() -> Iterator[None]:
    """Look for cycles less often inside.

    >>> with rare_collections():
    ...     gc.get_threshold()
    (50000, 20, 100)
    """
    before = gc.get_threshold()
    gc.set_threshold(*THRESHOLDS)
    try:
        yield
    finally:
        gc.set_threshold(*before)
