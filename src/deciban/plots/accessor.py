"""``model.plot``: every chart of a model, made by Altair when it is asked for."""

from __future__ import annotations

from typing import Any

from deciban.errors import ParameterError
from deciban.explanation import Explainable
from deciban.plots.reliability import reliability


class Plot:
    """The charts of one model; each is an Altair chart."""

    def __init__(self, model: Any) -> None:
        self._model = model

    def evidence(
        self, column: str | None = None, *, row: Any = None, of: Any = None, against: Any = None
    ) -> Any:
        """The evidence curve of a column, with its band; or one row's explanation.

        Categories and bins are bars or steps; ``of`` is the class that is shown.
        """
        if (column is None) == (row is None):
            raise ParameterError(
                "either a column or a row is drawn.",
                hint='plot.evidence("age"), or plot.evidence(row={...})',
            )
        if row is not None:
            return self._model.explain(row, against).chart()
        return self._model.curve(column, against).chart(of)

    def importance(self, most: int = 30) -> Any:
        """The strongest features."""
        return self._model.importance().chart(most)

    def nomogram(self, of: Any = None, against: Any = None) -> Any:
        """The nomogram of a class against another."""
        return self._model.nomogram(of, against).chart()

    def reliability(self, X: Any, y: Any, bins: int = 10, of: Any = None) -> Any:
        """How often what is predicted comes true."""
        return reliability(self._model, X, y, bins, of).chart()

    def __repr__(self) -> str:
        kinds = "evidence, importance, nomogram, reliability"
        return f"the charts of a {type(self._model).__name__}: {kinds}"


class Plotted(Explainable):
    """A model that gives reasons, and draws them."""

    @property
    def plot(self) -> Plot:
        """The charts of this model.

        >>> from deciban import NaiveBayes
        >>> m = NaiveBayes().fit({"x": ["S", "S", "L"]}, [1, 1, 2])
        >>> type(m.plot.evidence("x")).__name__
        'LayerChart'
        """
        return Plot(self)
