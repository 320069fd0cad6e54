"""One row to its posterior by the shortest way, for requests of one row."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from deciban.encoding.row import RowEncoder
from deciban.models import scores
from deciban.models.columns import constant_values, required_columns
from deciban.models.protocol import Model, ScoresRows
from deciban.plain import PlainDict
from deciban.serve.bodies import Asked

__all__ = ["ShortWay"]

FloatArray = NDArray[np.float64]


class ShortWay:
    """Scores a row of a model without making a table; what it cannot tell, tables can.

    >>> from deciban import NaiveBayes
    >>> m = NaiveBayes(smoothing=1, calibrate=False).fit({"x": ["S", "S", "L"]}, ["a", "a", "b"])
    >>> short = ShortWay(m.model_, text=None)
    >>> short.posterior({"x": "L"}).round(2), short.posterior({"x": "M"})
    (array([[0.36, 0.64]]), None)
    """

    def __init__(self, model: Model, text: str | None) -> None:
        """``text`` is the column that a text alone belongs to."""
        self._model = model if isinstance(model, ScoresRows) else None
        self._log_prior, self._text = model.log_prior, text
        self._encoder = RowEncoder.of(model.caster)
        #: What columns hold that a row leaves out.
        self._absent: PlainDict = {
            **dict.fromkeys(required_columns(model), model.absent_value),
            **constant_values(model),
        }

    def posterior(self, asked: Asked, *, log: bool = False) -> FloatArray | None:
        """``P(c | x)``, (1, classes); None where a table must tell, such as what was unseen."""
        if self._model is None:
            return None
        if isinstance(asked, str):
            if self._text is None:
                return None
            asked = {self._text: asked}
        row = {**self._absent, **asked}
        if len(row) > len(self._absent):  # a name that is not known, or not used
            return None
        joint = self._model.log_joint_row(row)
        if joint is None or not self._encoder.knows(row):
            return None
        scores.normalise(joint, self._log_prior, logarithm=log)
        return joint
