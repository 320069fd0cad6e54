"""Families: the mathematics of one kind of column each.

Every family is a module with the same functions, so that the layers above
loop over families and know none of them by name:

``check(X, columns)``
    refuse values that the family cannot count
``count(X, y, n_classes, weight, cells)``
    the sums of a block of columns per class: arrays (classes, cells) that add up
``subtract(whole, part)``
    the sums that are left when those of a part are taken away
``impossible(left, whole, rows, cells)``
    where sums that are left can not come from any data of so many rows
``same(a, b)``
    whether two sums of the same cells are equal, up to the rounding of fractional weights
``estimate(sums, rows, cells, settings)``
    parameters from the sums; immutable, laid out (cells, classes)
``add(params, X, out)``
    add each row's log-likelihood under every class to ``out`` (rows, classes)
``explain(params, X)``
    the same, column by column: (rows, columns, classes)

Conventions: K classes, d columns; ``X`` is a C-contiguous float64 matrix
(codes are int64), or CSR for the bag families; log is the natural logarithm.
``sums`` maps names to arrays; ``rows`` is the weight of each class's rows.
A class without any data in a column takes every value to be equally likely.
The families of the columns of mixed tables (categorical, gaussian, histogram,
words) also have ``left_out(params, sums, cells, settings, X, y, weight)``: the
log-likelihoods of counted rows as if each had never been counted.
"""

from __future__ import annotations

from types import ModuleType

from deciban.errors import ParameterError
from deciban.families import (
    bernoulli,
    categorical,
    complement,
    gaussian,
    histogram,
    multinomial,
    words,
)

FAMILIES: dict[str, ModuleType] = {
    "bernoulli": bernoulli,
    "categorical": categorical,
    "complement": complement,
    "gaussian": gaussian,
    "histogram": histogram,
    "multinomial": multinomial,
    "words": words,
}


def family(name: str) -> ModuleType:
    """The family of that name.

    >>> family("gaussian").__name__
    'deciban.families.gaussian'
    """
    if not isinstance(name, str) or name not in FAMILIES:
        raise ParameterError(
            f"unknown family {name!r}.", hint=f"one of {', '.join(sorted(FAMILIES))}"
        )
    return FAMILIES[name]
