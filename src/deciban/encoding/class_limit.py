"""How many classes there may be: too many numbers are no names, and tables have to fit.

Every class has a row in every table of counts, so that memory and time grow with the classes.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from deciban import checks, labels
from deciban.errors import InputError, ParameterError
from deciban.labels import Labels

__all__ = ["MAX_NUMBER_CLASSES", "MAX_TABLE_BYTES", "NumberClasses", "refuse_large_table"]

#: So many different numbers may be classes, unless something else is stated.
MAX_NUMBER_CLASSES = 1000
#: The most bytes of a table of counts, of which a few copies are made.
MAX_TABLE_BYTES = 1 << 31


@dataclass
class NumberClasses:
    """The numbers that were labels so far; more than ``most`` of them are refused.

    Texts are names whatever their number. None is no limit.

    >>> numbers = NumberClasses(2)
    >>> numbers.add(np.array(["a", "b", "c"]))
    >>> numbers.add(np.array([1, 2]))
    >>> numbers.add(np.array([2, 3]))
    Traceback (most recent call last):
    ...
    deciban.errors.InputError: there are more than 2 classes, and they are numbers: 1, 2, 3. Hint: \
a number to predict calls for regression, or for bins as labels; if they are names, pass \
max_classes=None (--classes-ok).
    """

    most: int | None
    known: Labels = field(default_factory=lambda: np.empty(0, dtype=np.int64))

    def __post_init__(self) -> None:
        if self.most is not None and not checks.is_whole_number(self.most, 1):
            raise ParameterError(
                f"max_classes must be a whole number >= 1 or None, got {self.most!r}.",
                hint="None is no limit",
            )

    def add(self, classes: Labels) -> None:
        """Classes of some more rows."""
        if self.most is None or classes.dtype.kind not in "iuf":
            return
        self.known = labels.union(self.known, classes)
        if len(self.known) > self.most:
            some = [f"{value:g}" for value in np.sort(self.known)[:3].tolist()]
            raise InputError(
                f"there are more than {self.most} classes, and they are numbers: "
                f"{', '.join(some)}{', ...' if len(self.known) > len(some) else ''}.",
                hint="a number to predict calls for regression, or for bins as labels; "
                "if they are names, pass max_classes=None (--classes-ok)",
            )


def refuse_large_table(n_classes: int, n_cells: int) -> None:
    """Refuse counts of so many classes and values that no memory would hold their copies.

    >>> refuse_large_table(100_000, 40_000)
    Traceback (most recent call last):
    ...
    deciban.errors.InputError: counts of 100,000 classes by 40,000 values would take 32.0 GB, \
more than 2.1 GB. Hint: merge rare classes, or leave out columns of many values.
    """
    size = 8 * n_classes * n_cells
    if size > MAX_TABLE_BYTES:
        raise InputError(
            f"counts of {n_classes:,} classes by {n_cells:,} values would take "
            f"{size / 1e9:.1f} GB, more than {MAX_TABLE_BYTES / 1e9:.1f} GB.",
            hint="merge rare classes, or leave out columns of many values",
        )
