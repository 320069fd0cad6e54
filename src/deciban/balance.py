"""Imbalanced classes: fewer rows, more rows or weights, and probabilities put right again.

Resampling changes how common the classes are in what a model learns from, so its
probabilities are about a table that does not exist. Everything here says what was dropped
or repeated, and has ``correct``, which turns such probabilities into those of the whole table.

For a table of counts resampling is rarely needed: :func:`reweighted` gives the classes of a
model any base rates, exactly, with every row still counted; and :mod:`deciban.decision`
decides by costs. See ``docs/imbalance.md``.

>>> kept = undersample({"x": list("aabab")}, ["no", "no", "no", "no", "yes"])
>>> kept.y.tolist(), len(kept.rows)
(['no', 'yes'], 2)
>>> print(kept)
class  rows  kept  dropped  repeated  weight
no        4     1        3         0       4
yes       1     1        0         0       1
>>> kept.correct([[0.5, 0.5]]).round(9).tolist()    # as likely here is 4 : 1 there
[[0.8, 0.2]]
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deciban import checks, decision, encoding
from deciban.errors import InputError, ParameterError
from deciban.labels import Labels
from deciban.sources.frames import take_rows
from deciban.sources.tabular import Tabular
from deciban.stats.counts import Counts

__all__ = [
    "Resampled",
    "Weighted",
    "class_weights",
    "oversample",
    "reweighted",
    "undersample",
]

FloatArray = NDArray[np.float64]
RowCounts = NDArray[np.int64]
Rows = NDArray[np.intp]


class _Rebalanced:
    """The shares of the classes before and after resampling or weighting."""

    classes: Labels
    count: RowCounts

    @property
    def old(self) -> FloatArray:
        """The share of every class among all rows of the table."""
        return np.asarray(self.count / self.count.sum())

    @property
    def new(self) -> FloatArray:
        """The share of every class that a model of the result learns."""
        raise NotImplementedError

    def correct(self, proba: ArrayLike) -> FloatArray:
        """Probabilities of a model of these rows, with classes as common as before.

        >>> class_weights(["no", "no", "no", "yes"]).correct([[0.5, 0.5]]).round(9).tolist()
        [[0.75, 0.25]]
        """
        return decision.rebase(proba, self.new, self.old)


@dataclass(frozen=True, eq=False)
class Resampled(_Rebalanced):
    """Rows that were chosen, and what was dropped or repeated, class by class.

    ``rows`` are positions in the table that was given, ``X`` and ``y`` its rows, ``weight``
    what each is worth if the whole table is to be counted: with it, nothing is to be corrected.
    """

    X: Tabular
    y: Labels
    rows: Rows
    weight: FloatArray
    classes: Labels
    count: RowCounts
    kept: RowCounts
    repeated: RowCounts

    @property
    def dropped(self) -> RowCounts:
        """How many rows of every class are not there any more."""
        return self.count - (self.kept - self.repeated)

    @property
    def new(self) -> FloatArray:
        """The share of every class among the chosen rows."""
        return np.asarray(self.kept / self.kept.sum())

    def __str__(self) -> str:
        head = ("class", "rows", "kept", "dropped", "repeated", "weight")
        columns = (self.count, self.kept, self.dropped, self.repeated, self.count)
        body = zip(*([str(v) for v in c.tolist()] for c in columns), strict=True)
        return _table(head, [(str(n), *row) for n, row in zip(self.classes, body, strict=True)])


@dataclass(frozen=True, eq=False)
class Weighted(_Rebalanced):
    """A weight for every class, and for every row its class's: ``sample_weight=result.weight``."""

    weight: FloatArray
    classes: Labels
    count: RowCounts
    each: FloatArray

    @property
    def new(self) -> FloatArray:
        """The share of every class in the weight of all rows."""
        total = self.count * self.each
        return np.asarray(total / total.sum())

    @property
    def by_class(self) -> dict[Hashable, float]:
        """The weights by name, as scikit-learn's ``class_weight`` takes them.

        >>> class_weights(["no", "no", "no", "yes"]).by_class
        {'no': 0.6666666666666666, 'yes': 2.0}
        """
        return dict(zip(self.classes.tolist(), self.each.tolist(), strict=True))

    def __str__(self) -> str:
        rows = zip(self.classes, self.count, self.each, strict=True)
        body = [(str(c), str(n), f"{w:g}", f"{n * w:g}") for c, n, w in rows]
        return _table(("class", "rows", "each", "weight"), body)


def undersample(X: Tabular, y: ArrayLike, ratio: float = 1.0, seed: int = 0) -> Resampled:
    """Drop rows of the larger classes, until none has more than ``1 / ratio`` times the smallest.

    The rows keep their order. ``weight`` lets the rows that stay stand for those that
    went, so that every class keeps its whole weight.

    >>> kept = undersample([[1], [2], [3], [4]], [0, 0, 0, 1], ratio=0.5)
    >>> kept.y.tolist(), kept.dropped.tolist(), kept.weight.tolist()
    ([0, 0, 1], [1, 0], [1.5, 1.5, 1.0])
    """
    labelled, count = _class_counts(y)
    most = np.floor(count.min() / _ratio(ratio) + 1e-9).astype(np.int64)
    target = np.minimum(count, most)
    rng = np.random.default_rng(checks.whole_number("seed", seed, 0, "0 is the default"))
    rows = [
        rng.permutation(np.flatnonzero(labelled.codes == c))[:n]
        for c, n in enumerate(target.tolist())
    ]
    return _resample(X, labelled, np.sort(np.concatenate(rows)), count, target)


def oversample(X: Tabular, y: ArrayLike, ratio: float = 1.0, seed: int = 0) -> Resampled:
    """Repeat rows of the smaller classes, until each has ``ratio`` times the rows of the largest.

    Every row stays; those that are repeated follow at the end. A class is repeated as a
    whole before any of its rows is there once more than another.

    >>> more = oversample([[1], [2], [3], [4]], [0, 0, 0, 1])
    >>> more.y.tolist(), more.repeated.tolist()
    ([0, 0, 0, 1, 1, 1], [0, 2])
    """
    labelled, count = _class_counts(y)
    target = np.maximum(count, np.ceil(count.max() * _ratio(ratio) - 1e-9).astype(np.int64))
    rng = np.random.default_rng(checks.whole_number("seed", seed, 0, "0 is the default"))
    rows = [np.arange(len(labelled.codes))]
    for c, n in enumerate((target - count).tolist()):
        own = np.flatnonzero(labelled.codes == c)
        whole, rest = divmod(n, len(own))
        rows += [np.tile(own, whole), rng.permutation(own)[:rest]]
    return _resample(X, labelled, np.concatenate(rows), count, target)


def class_weights(y: ArrayLike, weights: Mapping[Hashable, float] | str = "balanced") -> Weighted:
    """Weights that make all classes equally heavy, or those that are stated by class.

    ``"balanced"`` is ``rows / (classes * rows of the class)``: the whole weight stays.

    >>> class_weights(["a", "a", "b"], {"a": 1, "b": 5}).weight.tolist()
    [1.0, 1.0, 5.0]
    """
    labelled, count = _class_counts(y)
    if isinstance(weights, str):
        if weights != "balanced":
            raise ParameterError(
                f'weights must be "balanced" or a dict, got {weights!r}.',
                hint="{'yes': 5, 'no': 1} makes every row of yes count five times",
            )
        each = count.sum() / (len(count) * count)
    else:
        each = _stated(weights, labelled.classes)
    return Weighted(each[labelled.codes], labelled.classes, count, each)


@runtime_checkable
class Recountable(Protocol):
    """A fitted model of counts that can be made anew from others."""

    @property
    def counts_(self) -> Counts:
        """The table of counts."""

    def with_counts(self, counts: Counts) -> Self:
        """Another model of the same columns and parameters, with other counts."""


def reweighted(
    model: Any, priors: Mapping[Hashable, float] | Sequence[float] | str = "uniform"
) -> Any:
    """The model with its rows weighted so that the classes are as common as ``priors`` says.

    Exact: the table's counts of every class are multiplied, as if every row had been counted
    with that weight. The whole weight stays. Given a :class:`~deciban.Counts`, it is that.

    >>> from deciban import NaiveBayes
    >>> model = NaiveBayes().fit({"x": list("aabab")}, ["no", "no", "no", "no", "yes"])
    >>> reweighted(model, {"no": 0.5, "yes": 0.5}).counts_.weight
    array([2.5, 2.5])
    """
    if isinstance(model, Counts):
        return _scaled(model, priors)
    if not isinstance(model, Recountable):
        raise InputError(
            f"{type(model).__name__} is no fitted model of counts.",
            hint="fit NaiveBayes, or pass Counts",
        )
    return model.with_counts(_scaled(model.counts_, priors))


# ---------------------------------------------------------------------- counts


def _scaled(counts: Counts, priors: Mapping[Hashable, float] | Sequence[float] | str) -> Counts:
    K = len(counts.classes)
    stated: Any = np.full(K, 1 / K) if isinstance(priors, str) and priors == "uniform" else priors
    if isinstance(stated, Mapping):
        stated = _stated(stated, counts.classes)
    share = np.asarray(stated, dtype=np.float64)
    if share.shape != (K,) or not np.all(share > 0) or abs(share.sum() - 1) > 1e-6:
        raise ParameterError(
            f"priors must be {K} numbers > 0 that sum to 1, got {priors!r}.",
            hint='"uniform" gives every class the same',
        )
    if not np.all(counts.weight > 0):
        raise InputError("a class without rows cannot be given weight.", hint="leave it out")
    factor = share * counts.weight.sum() / counts.weight
    return counts.scale_classes(factor)


# ---------------------------------------------------------------------- rows


def _class_counts(y: ArrayLike) -> tuple[encoding.Labelled, RowCounts]:
    """The code of every row, and how many rows every class has."""
    labelled = encoding.class_codes(y)
    count = np.bincount(labelled.codes, minlength=len(labelled.classes))
    return labelled, count.astype(np.int64)


def _resample(
    X: Tabular, labelled: encoding.Labelled, rows: Rows, count: RowCounts, target: RowCounts
) -> Resampled:
    """Some rows of a table, of which every class now has its target instead of its count."""
    codes, classes = labelled.codes[rows], labelled.classes
    return Resampled(
        take_rows(X, rows, len(labelled.codes)), classes[codes], rows, (count / target)[codes],
        classes, count, kept=target, repeated=np.maximum(target - count, 0),
    )  # fmt: skip


def _stated(weights: Mapping[Hashable, float], classes: Labels) -> FloatArray:
    named = classes.tolist()
    for name in weights:
        if name not in named:
            raise ParameterError(f"there is no class {name!r}.", hint=f"the classes are {named}")
    missing = [name for name in named if name not in weights]
    if missing:
        raise ParameterError(f"class {missing[0]!r} has no weight.", hint="name every class")
    by_class = encoding.batch_weights([weights[name] for name in named], len(named))
    if by_class is None or not np.all(by_class > 0):
        raise ParameterError(f"weights must be > 0, got {dict(weights)!r}.", hint="1 is unchanged")
    return by_class


def _ratio(ratio: float) -> float:
    if checks.is_number(ratio) and 0 < ratio <= 1:
        return float(ratio)
    raise ParameterError(
        f"ratio must be > 0 and <= 1, got {ratio!r}.",
        hint="it is the smallest class's rows by the largest's; 1 makes all equal",
    )


def _table(head: Sequence[str], body: Sequence[Sequence[str]]) -> str:
    """Columns: the first to the left, numbers to the right."""
    widths = [max(map(len, column)) for column in zip(head, *body, strict=True)]
    lines = [
        "  ".join(
            cell.ljust(width) if j == 0 else cell.rjust(width)
            for j, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in (head, *body)
    ]
    return "\n".join(lines)
