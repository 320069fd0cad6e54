"""Which columns of a table a model needs."""

from __future__ import annotations

from deciban.models.protocol import HasCounts, Model
from deciban.stats.categories import constant_columns


def required_columns(model: Model) -> list[str]:
    """The columns that are used, and had more than one value in training: others say nothing.

    >>> from deciban import NaiveBayes
    >>> X = {"size": ["S", "S", "L"], "shop": ["A", "A", "A"], "id": ["k1", "k2", "k3"]}
    >>> m = NaiveBayes(kinds={"id": "identifier"}).fit(X, [1, 1, 2])
    >>> required_columns(m.model_)
    ['size']
    """
    tables = model.counts.tables.values() if isinstance(model, HasCounts) else ()
    constant = constant_columns(tables)
    return [name for name in model.caster.types if name not in constant]
