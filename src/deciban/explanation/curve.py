"""The evidence curve of one column: the decibans of each value, with a credible band."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from deciban.charts import Chart
from deciban.errors import InputError, ParameterError
from deciban.families.piece import Piece
from deciban.labels import Labels
from deciban.models.scores import decibans
from deciban.sources.tabular import Value

FloatArray = NDArray[np.float64]

#: How many samples of the posterior a band is made of, and of how many numbers at most.
BAND_DRAWS, MAX_BAND_NUMBERS = 1000, 1 << 23
BAND_SEED = 20


@dataclass(frozen=True, eq=False)
class Curve:
    """Decibans of each value for every class, (values, classes), with a credible band.

    ``against`` is the class compared with, None for all others. ``low`` and
    ``high`` hold ``level`` of the posterior of the counts: few rows, wide band;
    None where the model keeps no counts. ``rows`` are the rows behind each value.

    >>> from deciban import NaiveBayes
    >>> m = NaiveBayes(smoothing=1, calibrate=False).fit({"x": ["S", "S", "L"]}, ["a", "a", "b"])
    >>> c = m.curve("x")
    >>> c.x, c.of("a").round(1), c.rows.tolist()
    (('L', 'S'), array([-4.3,  3.5]), [1.0, 2.0])
    """

    column: str
    kind: Literal["number", "category", "amount"]
    x: tuple[Value, ...]
    labels: tuple[str, ...]
    classes: tuple[Hashable, ...]
    against: Hashable
    decibans: FloatArray = field(repr=False)
    low: FloatArray | None = field(repr=False)
    high: FloatArray | None = field(repr=False)
    level: float
    rows: FloatArray | None = field(repr=False)
    edges: tuple[float, ...] | None = None

    def of(self, label: Hashable) -> FloatArray:
        """The curve of one class."""
        return np.asarray(self.decibans[:, self.place(label)])

    def place(self, label: Hashable) -> int:
        """Where a class stands."""
        if label not in self.classes:
            known = ", ".join(map(str, self.classes[:10]))
            raise InputError(f"unknown class {label!r}.", hint=f"one of {known}")
        return self.classes.index(label)

    def chart(self, of: Hashable = None) -> Chart:
        """An Altair chart: a curve with its band, or a bar for each category."""
        from deciban.charts import curve
        from deciban.charts.notebook import offline

        return offline(curve.chart(self, of))

    def _repr_html_(self) -> str:
        from deciban.charts.notebook import chart_html

        head = ("value", *map(str, self.classes))
        rows = [
            (label, *(f"{value:+.1f}" for value in of))
            for label, of in zip(self.labels, self.decibans, strict=True)
        ]
        return chart_html(self.chart, f"Decibans of {self.column}", [head, *rows])


def evidence_curve(piece: Piece, classes: Labels, at: int | None, level: float) -> Curve:
    """The curve of a piece; ``at`` is the class compared with."""
    if not 0.0 < level < 1.0:
        raise ParameterError(f"level must be between 0 and 1, got {level!r}.", hint="try 0.95")
    evidence = decibans(piece.log_likelihood, at)
    low, high = _band(piece, evidence, at, level)
    labels = tuple(classes.tolist())
    return Curve(
        piece.name,
        piece.kind,
        piece.values,
        piece.labels,
        labels,
        None if at is None else labels[at],
        evidence,
        low,
        high,
        level,
        None if piece.rows is None else piece.rows.sum(axis=1),
        piece.edges,
    )


def _band(
    piece: Piece, evidence: FloatArray, at: int | None, level: float
) -> tuple[FloatArray | None, FloatArray | None]:
    if piece.draws is None:
        return None, None
    n = max(100, min(BAND_DRAWS, MAX_BAND_NUMBERS // max(evidence.size, 1)))
    draws = decibans(piece.draws(np.random.default_rng(BAND_SEED), n), at)
    tail = (1.0 - level) / 2.0
    low, high = np.quantile(draws, [tail, 1.0 - tail], axis=0)
    # What is shown is the logarithm of a mean, which may leave the quantiles of a skew posterior.
    return np.minimum(low, evidence), np.maximum(high, evidence)
