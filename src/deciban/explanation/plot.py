"""``model.plot``: every chart of a model, made by Altair when it is asked for."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

from deciban.charts import Chart
from deciban.errors import ParameterError

if TYPE_CHECKING:
    from deciban.explanation.explainable import Explainable


class Plot:
    """The charts of one model; each is an Altair chart."""

    def __init__(self, model: Explainable[Any]) -> None:
        self._model = model

    def evidence(
        self,
        column: str | None = None,
        *,
        row: object = None,
        of: Hashable = None,
        against: Hashable = None,
    ) -> Chart:
        """The evidence curve of a column, with its band; or one row's explanation.

        Categories and bins are bars or steps; ``of`` is the class that is shown.
        """
        if row is not None and column is None:
            return self._model.explain(row, against).chart()
        if column is not None and row is None:
            return self._model.curve(column, against).chart(of)
        raise ParameterError(
            "either a column or a row is drawn.",
            hint='plot.evidence("age"), or plot.evidence(row={...})',
        )

    def importance(self, most: int = 30) -> Chart:
        """The strongest features."""
        return self._model.importance().chart(most)

    def nomogram(self, of: Hashable = None, against: Hashable = None) -> Chart:
        """The nomogram of a class against another."""
        return self._model.nomogram(of, against).chart()

    def reliability(self, X: object, y: object, bins: int = 10, of: Hashable = None) -> Chart:
        """How often what is predicted comes true."""
        from deciban.evaluation import measure_reliability

        return measure_reliability(self._model, X, y, bins, of).chart()

    def __repr__(self) -> str:
        kinds = "evidence, importance, nomogram, reliability"
        return f"the charts of a {type(self._model).__name__}: {kinds}"
