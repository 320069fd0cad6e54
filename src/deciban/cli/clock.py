"""When the command began: what it prints is the time it took, reading programs included."""

from __future__ import annotations

import time

_began = time.perf_counter()


def begin() -> None:
    """A command begins now."""
    global _began  # noqa: PLW0603
    _began = time.perf_counter()


def seconds() -> float:
    """Since the command began."""
    return time.perf_counter() - _began
