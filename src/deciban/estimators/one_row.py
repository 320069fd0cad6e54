"""Answers about one row: River's methods, for any estimator over a model.

A row is a dict by the names of the columns, a list or array of values in their order, or a text.
A column that it lacks is missing; a column that training did not have says nothing.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deciban.encoding.row import row_batch
from deciban.errors import InputError, ShapeError
from deciban.models import scores
from deciban.models.protocol import Scored, ScoresRows
from deciban.schema import Schema
from deciban.sources.tabular import Row, Value

__all__ = ["OneRow", "name_values", "row_posterior"]

FloatArray = NDArray[np.float64]


class OneRow:
    """The methods that answer about one row at a time."""

    @abstractmethod
    def _row_model(self) -> Scored | None:
        """The model that answers; None where nothing was learned yet."""

    def predict_proba_one(self, x: Value) -> dict[Hashable, float]:
        """``P(c | x)`` of one row, by class: as ``predict_proba`` says of a table of that row.

        The row is a dict, a list or array of one value for each column, or a text. A column that
        it lacks is missing. ``unseen_`` stays as it is.

        >>> from deciban import NaiveBayes
        >>> m = NaiveBayes(smoothing=1, calibrate=False).fit({"x": ["S", "S", "L"]}, [1, 1, 2])
        >>> {label: round(p, 2) for label, p in m.predict_proba_one({"x": "L"}).items()}
        {1: 0.36, 2: 0.64}
        """
        model = self._row_model()
        if model is None:
            return {}
        posterior = row_posterior(model, name_values(x, model.schema))
        return dict(zip(model.classes.tolist(), posterior.tolist(), strict=True))

    def predict_one(self, x: Value) -> Hashable:
        """The likeliest class of one row; None where nothing was learned yet.

        >>> from deciban import NaiveBayes
        >>> NaiveBayes().fit({"x": ["S", "S", "L"]}, ["a", "a", "b"]).predict_one({"x": "S"})
        'a'
        """
        model = self._row_model()
        if model is None:
            return None
        posterior = row_posterior(model, name_values(x, model.schema))
        answer: Hashable = model.classes[int(posterior.argmax())]
        return answer.item() if isinstance(answer, np.generic) else answer


def row_posterior(model: Scored, row: Row) -> FloatArray:
    """``P(c | x)`` of one row, (classes,)."""
    joint = _short_way(type(model))(model, row)
    if joint is None:
        joint = np.empty((1, len(model.classes)))
        model.log_joint(row_batch(row, model.caster), joint)
    scores.normalise(joint, model.log_prior)
    return np.asarray(joint[0])


@cache
def _short_way(of: type) -> Callable[[Any, Row], FloatArray | None]:
    """How models of a type score one row; asked once, the answer takes longer than a row."""
    return of.log_joint_row if issubclass(of, ScoresRows) else lambda model, row: None


def name_values(x: Value, schema: Schema) -> Row:
    """A row by the names of its columns.

    >>> from deciban.schema import ColumnSchema
    >>> name_values([3, "S"], Schema((ColumnSchema("n", "numeric", ""),
    ...                               ColumnSchema("s", "categorical", ""))))
    {'n': 3, 's': 'S'}
    """
    if isinstance(x, Mapping):
        return x if set(map(type, x)) <= {str} else {str(name): value for name, value in x.items()}
    names = schema.names
    if isinstance(x, str):
        some = schema.texts or names
        if len(some) != 1:
            raise InputError(
                f"a text alone does not say which of {len(some)} columns it is.",
                hint="give a dict by the names of the columns",
            )
        return {some[0]: x}
    if not isinstance(x, Sequence | np.ndarray) and not hasattr(x, "tolist"):
        raise InputError(
            f"a row is needed, got {type(x).__name__}.",
            hint="give a dict, or a list of one value for each column",
        )
    values = x.tolist() if hasattr(x, "tolist") else x
    if not isinstance(values, Sequence) or len(values) != len(names):
        raise ShapeError(
            f"the row has {np.size(x)} values, the model {len(names)} columns.",
            hint="give one value for each, or a dict; predict takes tables",
        )
    return dict(zip(names, values, strict=True))
