"""Rows to a model: every view learned in folds, then the pool."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from deciban.aode.model import Model as Pairs
from deciban.ensemble import columns as seeing
from deciban.ensemble import evidence, folds, linear, pairs, pool, trees, weighing
from deciban.ensemble.columns import Columns
from deciban.ensemble.folds import Rows
from deciban.ensemble.linear import Linear
from deciban.ensemble.margins import FloatArray, centred, loss, prior
from deciban.ensemble.model import Model
from deciban.ensemble.report import Report, View
from deciban.ensemble.terms import Terms
from deciban.ensemble.trees import Grown
from deciban.ensemble.weighing import Read
from deciban.ensemble.words import Words
from deciban.naive_bayes.model import Model as Counted
from deciban.naive_bayes.texts import strings
from deciban.schema import Schema
from deciban.sources.batch import Batch
from deciban.sources.labelled import LabelledBatch
from deciban.text import Tokenizer

Readings = Sequence[tuple[str, Tokenizer]]


def steps(schema: Schema, readings: Readings) -> int:
    """How many times ``learn`` tells that a step is done."""
    return 2 * len(readings) + (5 + folds.FOLDS if _plain(schema) else 0)


def _plain(schema: Schema) -> bool:
    """Whether there are columns other than texts."""
    return bool(schema.numbers or schema.categories)


@dataclass(frozen=True, eq=False)
class Seen:
    """What the views learn from: different rows with their classes and weights, and the folds.

    They stand for ``n_rows`` rows of the table.
    """

    part: LabelledBatch
    columns: Columns
    numbers: FloatArray
    codes: NDArray[np.int64]
    y: NDArray[np.intp]
    weight: FloatArray
    n_classes: int
    n_rows: int
    splits: Sequence[tuple[Rows, Rows]]

    @property
    def one(self) -> FloatArray:
        """What is left out of the counts: of a row of weight k, one of k."""
        return np.minimum(self.weight, 1.0)

    @property
    def start(self) -> FloatArray:
        """The margins of knowing the class frequencies alone."""
        return prior(self.y, self.weight, self.n_classes)


@dataclass(frozen=True, eq=False)
class Weighed:
    """The first view: weights of the evidence, and a linear term that is added to it."""

    weights: FloatArray
    linear: Linear


@dataclass(frozen=True, eq=False)
class Pooled:
    """What the views of all columns but texts come to; ``judged`` are margins of rows unseen."""

    terms: Terms
    pairs: Pairs | None
    views: tuple[View, ...]
    weights: FloatArray
    judged: FloatArray


def learn(
    schema: Schema,
    readings: Readings,
    counted: Counted,
    whole: LabelledBatch,
    most: int,
    limit: int,
    seed: int,
    tell: Callable[[], None],
) -> Model:
    """The model of rows that are counted; no more than ``most`` are learned from by the views."""
    n_rows = whole.batch.n_rows
    part = whole if n_rows <= most else whole.take(np.arange(most) * n_rows // most)
    seen = _seen(counted, part, seed)
    if seen.n_classes == 1:
        return _of_one_class(schema, readings, counted, seen, whole)
    table = _table(counted, seen, whole, limit, tell) if _plain(schema) else None
    batch = seen.part.batch
    read = [
        weighing.learn(name, rule, batch, seen.y, seen.weight, seen.start, seen.splits, tell)
        for name, rule in readings
    ]
    return _joined(schema, counted, seen, whole, table, read)


def _table(
    counted: Counted, seen: Seen, whole: LabelledBatch, limit: int, tell: Callable[[], None]
) -> Pooled:
    """All columns but texts."""
    first = _weighed(counted, seen)
    tell()
    second = _products(seen)
    tell()
    cells = seen.columns.cells(seen.numbers, seen.codes)
    grown = trees.learn(seen.columns, cells, seen.y, seen.weight, seen.splits, seen.start, tell)
    tell()
    third = pairs.learn(counted.schema, whole, seen.part, limit)
    tell()
    found = _pooled(seen, first, second, grown, third)
    tell()
    return found


def _seen(counted: Counted, part: LabelledBatch, seed: int) -> Seen:
    numbers, codes = counted.columns(part.batch)
    y = part.codes_among(counted.counts.classes)
    dealt = folds.deal(_keys(counted, part.batch, numbers, codes), y, part.weights, seed)
    at, weight = dealt.rows, dealt.weight
    columns = seeing.fitted(counted.counts, numbers[at], weight)
    n_classes, splits = len(counted.counts.classes), folds.split(dealt.fold)
    found = replace(part.take(at), weight=weight)
    return Seen(found, columns, numbers[at], codes[at], y[at], weight, n_classes, len(y), splits)


def _keys(
    counted: Counted, batch: Batch, numbers: FloatArray, codes: NDArray[np.int64]
) -> folds.Keys:
    """What each row holds: its texts as well, which are not among those that are counted."""
    table = counted.counts.tables.get("categories")
    values = () if table is None else table.cells.values or ()
    schema = counted.schema
    texts = [strings(batch, name) for name in batch.columns if name not in schema.names]
    return folds.keys(numbers, codes, values, texts)


def _weighed(counted: Counted, seen: Seen) -> Weighed:
    said = evidence.left_out(counted, seen.part.batch, seen.y, seen.one)
    weights = [
        evidence.weigh(said[inside], seen.y[inside], seen.weight[inside])
        for inside, _ in seen.splits
    ]
    offsets = [evidence.margins(found, said) for found in weights]
    Z = seen.columns.linear(seen.numbers, seen.codes)
    found = linear.learn(Z, seen.y, seen.weight, seen.splits, offsets)
    return Weighed(np.mean(weights, axis=0), found)


def _products(seen: Seen) -> Linear | None:
    """A logistic regression with products; None where there are no numbers."""
    if not seen.columns.n_numbers:
        return None
    linear_terms = seen.columns.linear(seen.numbers, seen.codes)
    Z = np.hstack([linear_terms, seen.columns.products(seen.numbers)])
    offset = np.tile(seen.start, (len(seen.y), 1))
    return linear.learn(Z, seen.y, seen.weight, seen.splits, [offset] * len(seen.splits))


def _pooled(
    seen: Seen,
    first: Weighed,
    second: Linear | None,
    grown: Grown,
    third: Pairs | str,
) -> Pooled:
    """The shares of the views, and the one sum of terms that they come to."""
    judged = {"linear": first.linear.judged, "trees": grown.judged}
    if second is not None:
        judged["products"] = second.judged
    if not isinstance(third, str):
        judged["pairs"] = pairs.judged(third, seen.part.batch, seen.y, seen.one)
    share = dict(
        zip(judged, pool.shares([*judged.values()], seen.y, seen.weight).tolist(), strict=True)
    )
    notes = {
        "linear": f"penalty {first.linear.penalty:g}",
        "products": "there are no numbers" if second is None else f"penalty {second.penalty:g}",
        "trees": f"{', '.join(map(str, grown.rounds))} rounds",
        "pairs": third if isinstance(third, str) else f"m = {third.m:g}",
    }
    views = tuple(
        View(
            name,
            share.get(name, 0.0),
            loss(judged[name], seen.y, seen.weight) if name in judged else None,
            note,
        )
        for name, note in notes.items()
    )
    margins = sum((share[name] * judged[name] for name in judged), np.zeros(1))
    terms = _terms(seen, share, first, second, grown)
    pairs_ = None if isinstance(third, str) else third
    return Pooled(terms, pairs_, views, first.weights, np.asarray(margins))


def _joined(
    schema: Schema,
    counted: Counted,
    seen: Seen,
    whole: LabelledBatch,
    table: Pooled | None,
    read: Sequence[Read],
) -> Model:
    """Table and texts together: what they know of a row is added."""
    voices = ([] if table is None else [table.judged]) + [text.judged for text in read]
    alone = np.tile(seen.start, (len(seen.y), 1))
    said = np.stack([centred(judged) for judged in voices]) - alone
    strength = np.ones(1)
    if len(voices) > 1:
        strength = pool.strengths(said, alone, seen.y, seen.weight)
    own, believed = (0.0, strength) if table is None else (float(strength[0]), strength[1:])
    terms = _nothing(counted, seen) if table is None else table.terms.scaled(own)
    constants = terms.constants + (1.0 - strength.sum()) * seen.start
    for text, factor in zip(read, believed, strict=True):
        constants = constants + factor * text.constants
    views = () if table is None else table.views
    views += tuple(
        View(text.words.title, float(factor), loss(text.judged, seen.y, seen.weight), text.note)
        for text, factor in zip(read, believed, strict=True)
    )
    weights = np.empty(0) if table is None else table.weights
    return Model(
        schema,
        counted,
        None if table is None else table.pairs,
        seen.columns,
        replace(terms, constants=constants),
        _report(counted, seen, whole, alone + np.tensordot(strength, said, 1), views, weights),
        tuple(text.words.scaled(factor) for text, factor in zip(read, believed, strict=True)),
    )


def _terms(
    seen: Seen, share: dict[str, float], first: Weighed, second: Linear | None, grown: Grown
) -> Terms:
    """The terms of all views, each times its share."""
    n_parts = len(first.weights) - seen.n_classes
    n_linear = len(seen.columns.linear_columns)
    own = share["linear"] * first.linear.coefficients
    constants = share["linear"] * first.weights[n_parts:] + own[-1] + share["trees"] * seen.start
    terms, products = own[:-1], np.zeros((seen.columns.product_columns.shape[1], seen.n_classes))
    if second is not None:
        theirs = share["products"] * second.coefficients
        constants = constants + theirs[-1] + share["products"] * seen.start
        terms, products = terms + theirs[:n_linear], theirs[n_linear:-1]
    return Terms(
        constants,
        share["linear"] * first.weights[:n_parts],
        terms,
        products,
        grown.forest.scaled(share["trees"]),
        share.get("pairs", 0.0),
    )


def _report(
    counted: Counted,
    seen: Seen,
    whole: LabelledBatch,
    margins: FloatArray,
    views: tuple[View, ...],
    weights: FloatArray,
) -> Report:
    alone = np.tile(seen.start, (len(seen.y), 1))
    believed: dict[str, float] = {}
    for name, value in zip(evidence.names(counted), weights.tolist(), strict=False):
        believed.setdefault(name, value)
    return Report(
        whole.batch.n_rows,
        seen.n_rows,
        loss(margins, seen.y, seen.weight),
        loss(alone, seen.y, seen.weight),
        views,
        believed,
    )


def _of_one_class(
    schema: Schema, readings: Readings, counted: Counted, seen: Seen, whole: LabelledBatch
) -> Model:
    report = Report(whole.batch.n_rows, seen.n_rows, 0.0, 0.0)
    silent = tuple(Words.nothing(name, rule) for name, rule in readings)
    terms = _nothing(counted, seen)
    return Model(schema, counted, None, seen.columns, terms, report, silent)


def _nothing(counted: Counted, seen: Seen) -> Terms:
    """Terms that say nothing."""
    columns = seen.columns
    return Terms.nothing(
        len(evidence.names(counted)),
        len(columns.linear_columns),
        columns.product_columns.shape[1],
        seen.n_classes,
    )
