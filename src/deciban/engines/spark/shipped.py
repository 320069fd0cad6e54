"""What an executor runs first: it is sent as code, so that it can say what the executor lacks.

Nothing of deciban is imported at the top: an executor that does not have it says so in our words.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Iterator
from importlib import import_module
from typing import Any

__all__ = ["run"]


def run(payload: bytes, hint: str, *arguments: Any) -> Iterator[Any]:
    """Do the work that was packed on the driver; one task has one core."""
    try:
        import_module("deciban.errors")
    except ImportError:
        raise RuntimeError(
            f"deciban is not installed on this executor of Spark. Hint: {hint}."
        ) from None
    os.environ.setdefault("DECIBAN_THREADS", "1")
    work = pickle.loads(payload)
    yield from work(*arguments)
