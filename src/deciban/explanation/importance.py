"""Which features carry how much: the mean evidence for the true class, in decibans a row.

For a feature j, with ``W_j(c, x)`` the decibans that it gives class c against the others in a row
x (what ``evidence`` and ``explain`` show for it), it is the mean of ``W_j(y, x)`` over rows of
training, with their true classes y; beside it the mean of its absolute value, what the feature
says either way. A feature that only misleads has less than nothing. It is measured

- of naive Bayes, whose evidence is a table, on all rows that are counted:
  ``sum_c P(c) sum_v P(v | c) W_j(c, v)`` with the shares P of the counts. It follows the counts
  when rows are added, taken back or merged. Of texts, v are the words that texts of a class have
  on average;
- of :class:`~deciban.AODE`, :class:`~deciban.BayesClassifier` and
  :class:`~deciban.LogisticRegression` on evenly spaced rows that they were fitted to. Rows that
  are added or merged add what was measured on some of them, rows that are taken back leave it as
  it is;
- of any model on rows that are given.

A file keeps what was measured, and no row.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, overload

import numpy as np
from numpy.typing import NDArray

from deciban.charts import Chart
from deciban.errors import InputError
from deciban.families.piece import Piece, missing_name
from deciban.labels import Labels
from deciban.models.measured_evidence import MeasuredEvidence, finite
from deciban.models.protocol import HasCounts, Model
from deciban.models.scores import decibans

if TYPE_CHECKING:
    from rich.console import RenderableType

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Weight:
    """A feature, and the decibans a row that it gives the true class; by class as well.

    ``absolute`` is the mean of their absolute values: how much it says, for or against. It is
    None where counts alone do not tell: of a text, and of a time, which is counted as several
    things.
    """

    feature: str
    decibans: float
    by_class: tuple[float, ...] = ()
    absolute: float | None = None


@dataclass(frozen=True)
class Importance(Sequence[Weight]):
    """The features of a model, the strongest first.

    >>> from deciban import NaiveBayes
    >>> X = {"size": ["S", "S", "L", "L"], "noise": [1, 2, 1, 2]}
    >>> m = NaiveBayes(smoothing=1, calibrate=False).fit(X, ["a", "a", "b", "b"])
    >>> features = m.importance()
    >>> features[0].feature, [round(features[name].decibans, 2) for name in X]
    ('size', [4.77, 0.0])
    """

    weights: tuple[Weight, ...]
    classes: tuple[Hashable, ...] = ()

    @classmethod
    def of_measured(
        cls, names: Sequence[str], measured: MeasuredEvidence, classes: Labels
    ) -> Importance:
        """From the mean evidence of columns by true class."""
        known = measured.among(classes)
        by_class = known.mean * known.share
        absolute = known.absolute @ known.share
        weights = [
            Weight(name, float(db.sum()), tuple(db.tolist()), None if math.isnan(a) else a)
            for name, db, a in zip(names, by_class, absolute.tolist(), strict=True)
        ]
        return cls.of(weights, classes.tolist())

    @classmethod
    def of(cls, weights: Iterable[Weight], classes: Sequence[Hashable] = ()) -> Importance:
        """The strongest first; equals by name."""
        ordered = sorted(weights, key=lambda w: (-w.decibans, w.feature))
        return cls(tuple(ordered), tuple(classes))

    def __len__(self) -> int:
        return len(self.weights)

    def __iter__(self) -> Iterator[Weight]:
        return iter(self.weights)

    @overload
    def __getitem__(self, at: int | str) -> Weight: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[Weight, ...]: ...
    def __getitem__(self, at: int | str | slice) -> Weight | tuple[Weight, ...]:
        """By position, or by the name of a feature."""
        if not isinstance(at, str):
            return self.weights[at]
        for weight in self.weights:
            if weight.feature == at:
                return weight
        names = ", ".join(w.feature for w in self.weights[:8])
        raise InputError(f"there is no feature {at!r}.", hint=f"some are {names}")

    def to_dict(self) -> dict[str, float]:
        """Decibans by feature."""
        return {weight.feature: weight.decibans for weight in self.weights}

    def chart(self, most: int = 30) -> Chart:
        """An Altair chart: a bar for each of the strongest features."""
        from deciban.charts import importance
        from deciban.charts.notebook import offline

        return offline(importance.chart(self, most))

    def __rich__(self) -> RenderableType:
        from deciban.explanation import terminal

        return terminal.importance(self)

    def __str__(self) -> str:
        from deciban.explanation import terminal

        return terminal.text(self.__rich__())

    def _repr_html_(self) -> str:
        from deciban.explanation import html

        return html.importance(self)


def importance_of(model: Model) -> Importance | None:
    """The importance of the columns of a model; None where it was not measured in training."""
    measured = model.measured_evidence
    if measured is None and isinstance(model, HasCounts) and model.additive:
        measured = _measure_counts(model, model.counts.weight)
    if measured is None:
        return None
    return Importance.of_measured(model.schema.names, measured, model.classes)


def _measure_counts(model: Model, weight: FloatArray) -> MeasuredEvidence:
    """The mean evidence of the rows that are counted, of a model whose evidence is a table."""
    pieces: dict[str, list[Piece]] = {name: [] for name in model.schema.names}
    for piece in model.pieces():
        pieces[piece.feature].append(piece)
    texts = model.expected_word_contributions()
    means = []
    for name, some in pieces.items():
        if name in texts:
            mean = np.diagonal(decibans(texts[name]))
            means.append((mean, np.full(len(weight), np.nan)))
        else:
            means.append(_measure_pieces(some, weight))
    mean, absolute = np.array(means).reshape(-1, 2, len(weight)).transpose(1, 0, 2)
    return MeasuredEvidence(model.classes, weight, mean, absolute)


def _measure_pieces(pieces: Sequence[Piece], weight: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Mean evidence of a column for each true class, (classes,), and that of its absolute value.

    Whether a value is missing is a piece of its own: it is added to what the value says.
    """
    mean = np.zeros(len(weight))
    for piece in pieces:
        mean += (_shares(piece, weight) * _finite_evidence(piece)).sum(axis=0)
    values = [piece for piece in pieces if piece.name != missing_name(piece.feature)]
    gaps = [piece for piece in pieces if piece.name == missing_name(piece.feature)]
    if len(values) > 1:
        return mean, np.full(len(weight), np.nan)
    present, missing = _finite_evidence(gaps[0]) if gaps else (0.0, 0.0)
    absolute = np.zeros(len(weight))
    for piece in values:
        absolute += (_shares(piece, weight) * np.abs(_finite_evidence(piece) + present)).sum(axis=0)
    if gaps:
        absolute += _shares(gaps[0], weight)[1] * np.abs(missing)
    return mean, np.maximum(absolute, np.abs(mean))


def _shares(piece: Piece, weight: FloatArray) -> FloatArray:
    """How often rows of each class have each value, (values, classes); of an amount, how much."""
    if piece.rows is None:
        return piece.share
    return np.asarray(piece.rows / np.where(weight > 0, weight, 1.0))


def _finite_evidence(piece: Piece) -> FloatArray:
    """Decibans of each value for every class, (values, classes)."""
    return finite(decibans(piece.log_likelihood))
