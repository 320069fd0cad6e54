"""The bootstrap: figures of rows drawn anew, with replacement, many times over.

What is a sum over rows, a count or a bin becomes a product with the matrix of how
often each row was drawn; areas under curves are sums over sorted rows. A row of
weight w is drawn like any other and then counts w times. The generator is seeded
and draws one resample after the other: batches cannot show.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deciban.errors import ParameterError
from deciban.evaluation.areas import Ranking
from deciban.evaluation.metrics import (
    CLASS_METRICS,
    Key,
    RowTerms,
    calibration_error,
    from_counts,
    scored_classes,
)
from deciban.evaluation.reliability import Interval

FloatArray = NDArray[np.float64]

#: Numbers in a batch of resamples.
BATCH_NUMBERS = 1 << 21
#: Areas of more resamples than this, or of more numbers, would take too long.
MAX_AREA_RESAMPLES, MAX_AREA_NUMBERS, MIN_AREA_RESAMPLES = 200, 40_000_000, 50
#: Confusion matrices of more classes than this get no intervals.
MAX_CONFUSION_CLASSES = 30


def check_settings(resamples: int, confidence: float, seed: int, bins: int = 1) -> None:
    """Refuse what is no number of resamples or bins, no share, no seed."""
    for name, value, least, hint in (
        ("bootstrap", resamples, 0, "0 makes no intervals"),
        ("bins", bins, 1, "10 is usual"),
        ("seed", seed, 0, "0 is as good as any"),
    ):
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
            message = f"{name} must be a whole number >= {least}, got {value!r}."
            raise ParameterError(message, hint=hint)
    if isinstance(confidence, bool) or not isinstance(confidence, Real) or not 0 < confidence < 1:
        message = f"confidence must be a number between 0 and 1, got {confidence!r}."
        raise ParameterError(message, hint="0.95 is usual")


def resample(n_rows: int, resamples: int, seed: int) -> Iterator[FloatArray]:
    """How often each row is drawn, (some resamples, rows) at a time.

    >>> [w.sum(axis=1).tolist() for w in resample(4, 2, seed=0)]
    [[4.0, 4.0]]
    """
    rng = np.random.default_rng(seed)
    batch = max(1, BATCH_NUMBERS // n_rows)
    for start in range(0, resamples, batch):
        size = min(batch, resamples - start)
        out = np.empty((size, n_rows))
        for row in out:
            row[:] = np.bincount(rng.integers(0, n_rows, n_rows), minlength=n_rows)
        yield out


def interval(values: FloatArray, confidence: float) -> Interval:
    """Between which a share ``confidence`` of the values lies; those undefined do not count."""
    known = values[~np.isnan(values)]
    if not len(known):
        return np.nan, np.nan
    low, high = np.quantile(known, [(1 - confidence) / 2, (1 + confidence) / 2])
    return float(low), float(high)


def intervals(
    terms: RowTerms, figures: Mapping[Key, float], resamples: int, confidence: float, seed: int
) -> dict[Key, Any]:
    """The interval of every figure, by its name, or (name, class)."""
    if resamples == 0:
        return {}
    values = replicates(terms, resamples, seed)
    out: dict[Key, Any] = {}
    for key, some in values.items():
        if some.ndim > 1:
            out[key] = np.apply_along_axis(interval, 0, some, confidence).transpose(1, 2, 0)
            continue
        low, high = interval(some, confidence)
        # Noise can only add to a distance: resampled, it is too great. Reflected, it is not.
        if key == "calibration_error":
            low, high = (max(0.0, 2 * figures[key] - end) for end in (high, low))
        out[key] = (low, high)
    return out


def replicates(terms: RowTerms, resamples: int, seed: int) -> dict[Key, FloatArray]:
    """Every figure of every resample."""
    cells = _Cells.of(terms)
    curves = _Curves.of(terms, cells.order)
    sums, weight = terms.sums[cells.order], terms.decisions.predictions.weight[cells.order]
    left = min(resamples, curves.resamples)
    parts: list[dict[Key, FloatArray]] = []
    for times in resample(len(weight), resamples, seed):
        weights = times * weight
        part = _means(weights, sums) | _bins(terms, cells, weights) | _counts(terms, cells, weights)
        parts.append(part | curves.areas(weights[:left]))
        left -= min(left, len(weights))
    return {key: np.concatenate([part[key] for part in parts]) for key in parts[0]}


@dataclass(frozen=True, eq=False)
class _Cells:
    """Rows that are the same to every count: of one truth, one answer and one bin.

    Resampled rows are taken in their order, so that sums over a cell are sums of neighbours.
    """

    order: NDArray[np.intp]
    starts: NDArray[np.intp]
    truth: NDArray[np.intp]
    answer: NDArray[np.intp]
    bin: NDArray[np.intp]
    true: NDArray[np.bool_]
    stated: FloatArray

    @classmethod
    def of(cls, terms: RowTerms) -> _Cells:
        """Sort once."""
        stated, true = terms.confidence
        decisions = terms.decisions
        keys = (decisions.predictions.codes, decisions.answers, terms.bin, true)
        order = np.lexsort(keys)
        sides = [key[order] for key in keys]
        new = np.any([np.diff(side.astype(np.intp)) != 0 for side in sides], axis=0)
        starts = np.append(0, 1 + np.flatnonzero(new))
        truth, answer, bins, came = (side[starts] for side in sides)
        return cls(order, starts, truth, answer, bins, came, stated[order])

    def sum_cells(self, weights: FloatArray) -> FloatArray:
        """Sums over each cell."""
        return np.add.reduceat(weights, self.starts, axis=1)


def _means(weights: FloatArray, sums: FloatArray) -> dict[Key, FloatArray]:
    means = weights @ sums / weights.sum(axis=1, keepdims=True)
    names = ("log_loss", "brier", "expected_cost", "realised_cost")
    return dict(zip(names, means.T, strict=True))


def _bins(terms: RowTerms, cells: _Cells, weights: FloatArray) -> dict[Key, FloatArray]:
    amount, stated = cells.sum_cells(weights), cells.sum_cells(weights * cells.stated)
    sides = (amount, stated, amount * cells.true)
    bins = np.stack([_sum_groups(side, cells.bin, terms.n_bins) for side in sides], axis=-1)
    return {"calibration_error": calibration_error(bins)}


def _counts(terms: RowTerms, cells: _Cells, weights: FloatArray) -> dict[Key, FloatArray]:
    k, amount = terms.n_classes, cells.sum_cells(weights)
    given = amount * (cells.answer >= 0)
    truth = _sum_groups(amount, cells.truth, k)
    right = _sum_groups(amount * (cells.answer == cells.truth), cells.truth, k)
    answered = _sum_groups(given, np.maximum(cells.answer, 0), k)
    averages, per_class = from_counts(right, truth, answered, amount.sum(axis=1), terms.occurring)
    out: dict[Key, FloatArray] = dict(averages.items())
    for name, values in zip(CLASS_METRICS, per_class, strict=True):
        for c, label in enumerate(terms.decisions.predictions.classes.tolist()):
            out[name, label] = values[:, c]
    if k <= MAX_CONFUSION_CLASSES:
        pairs = _sum_groups(given, cells.truth * k + np.maximum(cells.answer, 0), k * k)
        out["confusion"] = pairs.reshape(len(weights), k, k)
    return out


def _sum_groups(amount: FloatArray, group: NDArray[np.intp], n_groups: int) -> FloatArray:
    """Sums of the columns of each group, (resamples, groups)."""
    out = np.zeros((n_groups, len(amount)))
    np.add.at(out, group, amount.T)
    return out.T


@dataclass(frozen=True, eq=False)
class _Curves:
    """Areas of resamples: fewer of them, since each needs all rows in order."""

    rankings: list[Ranking]
    resamples: int

    @classmethod
    def of(cls, terms: RowTerms, order: NDArray[np.intp]) -> _Curves:
        """The classes whose areas count, each sorted once."""
        rows = terms.decisions.predictions
        rankings = [
            Ranking.of(rows.codes[order] == c, rows.scores[order, c]) for c in scored_classes(rows)
        ]
        most = MAX_AREA_NUMBERS // (len(rows.codes) * len(rankings))
        return cls(rankings, max(MIN_AREA_RESAMPLES, min(MAX_AREA_RESAMPLES, most)))

    def areas(self, weights: FloatArray) -> dict[Key, FloatArray]:
        """The means over the classes, (resamples,) each."""
        means = np.empty((0, 2))
        if len(weights):
            means = np.mean([ranking.areas(weights) for ranking in self.rankings], axis=0)
        return {"roc_auc": means[:, 0], "average_precision": means[:, 1]}
