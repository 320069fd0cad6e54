"""What a part of the torture is: a name, a promise, and attempts numbered by their seed."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Part:
    """``attempt(chance, folder)`` returns how many cases it tried, or raises.

    An attempt depends on nothing but its seed. ``wanted`` is how many cases a long run shall try,
    ``preload`` whether its process runs under the shim that makes system calls go wrong (and
    without threads, so that it can fork). A part that is ``long`` is one attempt of many minutes.
    """

    name: str
    promise: str
    attempt: Callable[[random.Random, Path], int]
    wanted: int
    preload: bool = False
    long: bool = False


class BrokenPromiseError(AssertionError):
    """What was promised did not hold."""


def check(holds: bool, what: str) -> None:
    """Raise unless something holds; unlike ``assert``, also when Python optimises."""
    if not holds:
        raise BrokenPromiseError(what)


def smallest(items: list, fails: Callable[[list], bool]) -> list:
    """A part of a failing list that still fails, and of which no single item can be left out.

    >>> smallest([3, 1, 4, 1, 5], lambda some: 4 in some and 5 in some)
    [4, 5]
    """
    size = max(1, len(items) // 2)
    while True:
        at = 0
        while at < len(items):
            fewer = items[:at] + items[at + size :]
            if fails(fewer):
                items = fewer
            else:
                at += size
        if size == 1:
            return items
        size = max(1, size // 2)
