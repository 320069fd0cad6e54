"""A nomogram: points for each feature, their total, and the probability, to be read with a pencil.

A feature's weakest value has no points, and the feature with the widest range
has 100. With ``unit`` points a deciban and D(v) the decibans of value v,
``points = unit * (D(v) - min D)``; the prior and all the minima are
``start``, so ``start + total / unit`` are the decibans between the two classes
and ``1 / (1 + 10**(-decibans / 10))`` is the probability.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from deciban.charts import Chart
from deciban.errors import InputError
from deciban.families.piece import Piece, as_number, missing_name
from deciban.labels import Labels
from deciban.models.scores import DECIBANS
from deciban.sources.tabular import Row, Value

FloatArray = NDArray[np.float64]

#: The points of the widest scale.
MAX_POINTS = 100.0


@dataclass(frozen=True, eq=False)
class Scale:
    """One feature's scale: the points of its values.

    ``missing`` are the points where a row has no such value: it is no evidence.
    """

    feature: str
    name: str
    kind: Literal["number", "category", "amount"]
    values: tuple[Value, ...]
    labels: tuple[str, ...]
    points: FloatArray = field(repr=False)
    missing: float = 0.0
    edges: tuple[float, ...] | None = field(default=None, repr=False)

    def read(self, value: Value) -> float:
        """The points of a value; between the values of a curve or an amount, on the line."""
        if value is None or value != value:
            return self.missing
        if self.edges is not None:
            at = np.searchsorted(self.edges, as_number(value), side="right")
            return float(self.points[int(at)])
        if self.kind == "category":
            if value not in self.values:
                known = ", ".join(self.labels[:8])
                raise InputError(f"{self.name} has no value {value!r}.", hint=f"some are {known}")
            return float(self.points[self.values.index(value)])
        x = np.array([as_number(known) for known in self.values])
        return _interpolate(as_number(value), x, self.points)


def _interpolate(value: float, x: FloatArray, points: FloatArray) -> float:
    """Interpolated; beyond the ends, continued."""
    if len(x) < 2:
        return float(points[0])
    at = int(np.clip(np.searchsorted(x, value), 1, len(x) - 1))
    slope = (points[at] - points[at - 1]) / (x[at] - x[at - 1])
    return float(points[at - 1] + slope * (value - x[at - 1]))


@dataclass(frozen=True, eq=False)
class Nomogram:
    """The scales of all features, and how total points become a probability.

    >>> from deciban import NaiveBayes
    >>> m = NaiveBayes(smoothing=1, calibrate=False).fit({"x": ["S", "S", "L"]}, ["a", "a", "b"])
    >>> chart = m.nomogram()
    >>> points = chart.scales[0].read("L")
    >>> points, round(chart.probability(points), 4), m.predict_proba({"x": ["L"]}).round(4)
    (100.0, 0.64, array([[0.36, 0.64]]))
    """

    of: Hashable
    against: Hashable
    scales: tuple[Scale, ...] = field(repr=False)
    start: float
    unit: float

    def total(self, values: Row) -> float:
        """The points of a row, given by the names of the scales; what is left out is missing."""
        return sum(scale.read(self._value(scale, values)) for scale in self.scales)

    @staticmethod
    def _value(scale: Scale, values: Row) -> Value:
        """Whether a value is missing shows in the value itself."""
        if scale.name == missing_name(scale.feature) and scale.name not in values:
            value = values.get(scale.feature)
            return value is None or value != value
        return values.get(scale.name)

    def probability(self, total: float) -> float:
        """Of the class ``of``, if it is one of the two, from total points."""
        return float(1.0 / (1.0 + 10.0 ** (-(self.start + total / self.unit) / 10.0)))

    def points(self, probability: float) -> float:
        """The total points at which a probability is reached."""
        odds = 10.0 * np.log10(probability / (1.0 - probability))
        return float(self.unit * (odds - self.start))

    @property
    def most(self) -> float:
        """The largest total."""
        return float(sum(scale.points.max() for scale in self.scales))

    def chart(self) -> Chart:
        """An Altair chart: the scales below each other, total points and probability."""
        from deciban.charts import nomogram
        from deciban.charts.notebook import offline

        return offline(nomogram.chart(self))

    def _repr_html_(self) -> str:
        from deciban.charts.notebook import chart_html

        head = ("feature", "value", "points")
        rows = [
            (scale.name, label, f"{points:.0f}")
            for scale in self.scales
            for label, points in zip(scale.labels, scale.points, strict=True)
        ]
        return chart_html(self.chart, f"Points for {self.of} against {self.against}", [head, *rows])


def build_nomogram(
    pieces: Iterable[Piece], classes: Labels, prior: FloatArray, a: int, b: int
) -> Nomogram:
    """The nomogram of class a against class b; ``prior`` is in decibans against one class."""
    pairs = [(piece, _pair_evidence(piece, a, b)) for piece in pieces]
    pairs = [(piece, of) for piece, of in pairs if len(of) and np.ptp(of) > 1e-9]
    widest = max((float(np.ptp(of)) for _, of in pairs), default=1.0)
    unit = MAX_POINTS / widest
    start = float(prior[a] - prior[b]) + sum(float(of.min()) for _, of in pairs)
    scales = tuple(
        Scale(
            piece.feature,
            piece.name,
            piece.kind,
            piece.values,
            piece.labels,
            unit * (of - of.min()),
            -unit * float(of.min()),
            piece.edges,
        )
        for piece, of in pairs
    )
    labels = classes.tolist()
    return Nomogram(labels[a], labels[b], scales, start, unit)


def _pair_evidence(piece: Piece, a: int, b: int) -> FloatArray:
    """Decibans for a against b; what is impossible would have no place on paper."""
    with np.errstate(invalid="ignore"):
        of = DECIBANS * (piece.log_likelihood[:, a] - piece.log_likelihood[:, b])
    if not np.isfinite(of).all():
        raise InputError(
            f"a value of {piece.name!r} excludes a class: no scale can show that.",
            hint="fit with smoothing above 0",
        )
    return np.asarray(of)
