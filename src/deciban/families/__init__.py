"""Families: the mathematics of one kind of column each.

Every family is a module with the same five functions, so that the layers
above loop over families and know none of them by name:

``count(X, y, n_classes, weight)``
    the sums of a block of columns per class: arrays (classes, cells) that add up
``impossible(sums)``
    where sums, after a subtraction, can no longer come from any data
``estimate(sums, rows, cells, settings)``
    parameters from the sums; immutable, laid out (cells, classes)
``add(params, X, out)``
    add each row's log-likelihood under every class to ``out`` (rows, classes)
``explain(params, X)``
    the same, column by column: (rows, columns, classes)

Conventions: K classes, d columns; ``X`` is a C-contiguous float64 matrix
(codes are int64), or CSR for the bag families; log is the natural logarithm.
The numeric histogram will live here as one more sibling.
"""

from __future__ import annotations

from types import ModuleType

from deciban.errors import ParameterError
from deciban.families import bernoulli, categorical, complement, gaussian, multinomial

FAMILIES: dict[str, ModuleType] = {
    "bernoulli": bernoulli,
    "categorical": categorical,
    "complement": complement,
    "gaussian": gaussian,
    "multinomial": multinomial,
}


def family(name: str) -> ModuleType:
    """The family of that name.

    >>> family("gaussian").__name__
    'deciban.families.gaussian'
    """
    if name not in FAMILIES:
        raise ParameterError(
            f"unknown family {name!r}.", hint=f"one of {', '.join(sorted(FAMILIES))}"
        )
    return FAMILIES[name]
