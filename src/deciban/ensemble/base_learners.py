"""The base learners of a table without its texts, each fitted in folds.

- ``linear``: the evidence of the counts, each column with a weight of its own,
  and a linear term on the raw columns (a logistic regression whose offset is
  the weighted evidence)
- ``products``: a logistic regression on the columns, and squares and products of numbers
- ``trees``: shallow boosted trees on binned columns
- ``pairs``: AODE, where its table fits
- ``logistic``: a logistic regression on the columns alone. Where rows are many, ``linear`` and
  ``products`` contain it; where they are few, but many for its coefficients, no other is as sure
- ``radial``: radial basis functions of all numbers at once, where a table is mostly numbers

All of them see a row only through :class:`~deciban.ensemble.training_table.TrainingTable`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from deciban.aode.calibration import StrengthCalibration
from deciban.aode.counting import count
from deciban.aode.model import AODEModel
from deciban.aode.pair_counts import counted_columns
from deciban.ensemble import evidence_weights, linear, radial, trees
from deciban.ensemble.logits import FloatArray
from deciban.ensemble.model import AdditiveTerms
from deciban.ensemble.training_table import TrainingTable
from deciban.ensemble.trees import Forest
from deciban.errors import InputError
from deciban.sources.labelled import LabelledBatch

#: Strength and temperature of AODE are selected on no more rows than this.
MAX_CALIBRATION_ROWS = 1_000
#: The rows from which on a base learner usually deserves half of the weight that all have where
#: rows are many. Fitted on every second of 52 tables, 4 to 128 rows each.
HALF_WEIGHT_ROWS = {
    "linear": 10.0, "products": 100.0, "trees": 30.0, "pairs": 0.0, "logistic": 30.0,
    "radial": 100.0,
}  # fmt: skip
#: All base learners, in their order; which are fitted unless they are asked for, the table says.
LEARNERS = ("linear", "products", "trees", "pairs", "logistic", "radial")
#: Between so many rows a logistic regression is fitted as well, if there are more than so many of
#: them for each of its coefficients. Of 30 tables 12 gained and 4 lost, both halves alike.
MIN_LOGISTIC_ROWS, MAX_LOGISTIC_ROWS, MIN_ROWS_PER_COEFFICIENT = 100, 1_000, 5
#: Radial basis functions are fitted between so many rows: of more, trees learn what is smooth as
#: well; and on so many numbers, so many for each category, for no more classes. From 50 rows on
#: instead of 500, of 21 tables of fewer rows 7 gained and 2 lost, and of 13 that nothing else was
#: chosen by 5 and 6, which gained in the mean. More categories changed next to nothing.
MIN_RADIAL_ROWS, MAX_RADIAL_ROWS, MIN_NUMBERS_PER_CATEGORY = 50, 10_000, 3
MIN_RADIAL_NUMBERS, MAX_RADIAL_NUMBERS, MAX_RADIAL_CLASSES = 2, 200, 50
#: AODE is fitted where rows times pairs of columns times classes are no more than this.
MAX_AODE_SCORES = 2e9
#: Products and trees, which are fitted again and again, are for no more classes than this.
MAX_REFITTED_CLASSES = 200


class FoldFits(NamedTuple):
    """What the folds of a base learner were fitted to: from the first fold the others go on.

    ``rows`` is the evidence of the rows, ``evidence`` the weights of its parts; ``nearby`` is the
    regression of a table of some of the rows.
    """

    rows: FloatArray | None = None
    evidence: tuple[FloatArray, ...] = ()
    regression: linear.LinearFit | None = None
    nearby: linear.LinearFit | None = None
    forests: tuple[Forest, ...] = ()
    radial: radial.RadialFit | None = None
    aode: AODEModel | None = None


NOTHING_FITTED = FoldFits()


@dataclass(frozen=True, eq=False)
class BaseLearner:
    """The terms of a base learner, and its logits of held-out rows, (rows, classes).

    ``note`` says what was selected, ``by_fold`` is what each fold was fitted to.
    """

    name: str
    note: str
    terms: AdditiveTerms
    held_out: FloatArray
    by_fold: FoldFits = NOTHING_FITTED


@dataclass(frozen=True)
class Unfitted:
    """A base learner that could not be fitted; ``note`` says why."""

    name: str
    note: str


def zero_terms(table: TrainingTable) -> AdditiveTerms:
    """Terms of the sizes of a table that add nothing."""
    return AdditiveTerms.zero(
        len(evidence_weights.evidence_columns(table.counted)),
        table.features.n_numbers,
        len(table.features.linear_columns),
        table.features.product_columns.shape[1],
        table.n_classes,
    )


def usual_learners(table: TrainingTable) -> tuple[str, ...]:
    """The base learners that are fitted to a table unless others are asked for."""
    rows, features = float(table.weight.sum()), table.features
    n_terms = len(features.linear_columns)
    enough = max(MIN_LOGISTIC_ROWS, MIN_ROWS_PER_COEFFICIENT * n_terms * (table.n_classes - 1))
    n_numbers, n_categories = features.n_numbers, len(features.n_indicators)
    smooth = MIN_RADIAL_NUMBERS <= n_numbers <= MAX_RADIAL_NUMBERS
    smooth = smooth and n_numbers >= MIN_NUMBERS_PER_CATEGORY * n_categories
    few = table.n_classes <= MAX_RADIAL_CLASSES
    fitted = {
        "logistic": enough < rows <= MAX_LOGISTIC_ROWS,
        "radial": smooth and few and MIN_RADIAL_ROWS <= rows <= MAX_RADIAL_ROWS,
    }
    return tuple(name for name in LEARNERS if fitted.get(name, True))


def usual_weights(learners: Sequence[BaseLearner], n_rows: float) -> FloatArray:
    """The weights that base learners usually have where there are so many rows; their sum is 1."""
    half = np.array([HALF_WEIGHT_ROWS[learner.name] for learner in learners])
    weights = n_rows / (n_rows + half)
    return np.asarray(weights / weights.sum())


def fit_linear(table: TrainingTable, begun: FoldFits = NOTHING_FITTED) -> BaseLearner:
    """The weighted evidence of the counts, and a linear term on the raw columns."""
    evidence = begun.rows
    if evidence is None:
        evidence = evidence_weights.leave_one_out(
            table.counted, table.part.batch, table.y, table.single_weight, table.remaining
        )
    weights = list(begun.evidence)
    many = evidence.shape[0] * evidence.shape[1] > evidence_weights.MAX_FRESH_NUMBERS
    for inside, _ in table.splits[len(weights) :]:
        start = weights[0] if weights and (many or begun.evidence) else None
        rows = evidence[inside], table.y[inside], table.weight[inside]
        weights.append(evidence_weights.fit(*rows, start))
    offsets = [evidence_weights.logits(W, evidence) for W in weights]
    Z = table.features.linear(table.numbers, table.codes)
    regression = linear.fit(
        Z, table.y, table.weight, table.splits, offsets, begun.regression, begun.nearby
    )
    mean, n_parts = np.mean(weights, axis=0), evidence.shape[1]
    terms = replace(
        zero_terms(table),
        constants=mean[n_parts:] + regression.coef[-1],
        evidence=mean[:n_parts],
        linear=regression.coef[:-1],
    )
    note = f"penalty {regression.penalty:g}"
    fits = FoldFits(rows=evidence, evidence=tuple(weights), regression=regression)
    return BaseLearner("linear", note, terms, regression.held_out, fits)


def fit_products(table: TrainingTable, begun: FoldFits = NOTHING_FITTED) -> BaseLearner | Unfitted:
    """A logistic regression on the columns, and squares and products of numbers."""
    features = table.features
    if not features.n_numbers:
        return Unfitted("products", "there are no numbers")
    if table.n_classes > MAX_REFITTED_CLASSES:
        return Unfitted("products", _too_many(table))
    Z = np.hstack([features.linear(table.numbers, table.codes), features.products(table.numbers)])
    return _fit_regression("products", table, Z, begun)


def fit_logistic(table: TrainingTable, begun: FoldFits = NOTHING_FITTED) -> BaseLearner:
    """A logistic regression on the columns alone."""
    Z = table.features.linear(table.numbers, table.codes)
    return _fit_regression("logistic", table, Z, begun)


def _fit_regression(name: str, table: TrainingTable, Z: FloatArray, begun: FoldFits) -> BaseLearner:
    """A logistic regression on linear terms, and on products where Z has more columns."""
    offsets = [table.offset] * len(table.splits)
    regression = linear.fit(
        Z, table.y, table.weight, table.splits, offsets, begun.regression, begun.nearby
    )
    n_linear = len(table.features.linear_columns)
    terms = replace(
        zero_terms(table),
        constants=table.prior_logits + regression.coef[-1],
        linear=regression.coef[:n_linear],
    )
    if Z.shape[1] > n_linear:
        terms = replace(terms, products=regression.coef[n_linear:-1])
    note, fits = f"penalty {regression.penalty:g}", FoldFits(regression=regression)
    return BaseLearner(name, note, terms, regression.held_out, fits)


def fit_radial(table: TrainingTable, begun: FoldFits = NOTHING_FITTED) -> BaseLearner | Unfitted:
    """Radial basis functions, of which rows are left out in closed form."""
    fitted = begun.radial
    if fitted is None:
        splits = None if table.remaining is None else table.splits
        Z = table.features.bent(table.numbers)
        rows = table.y, table.weight, table.held_weight
        fitted = radial.fit(Z, *rows, table.prior_logits, splits)
    if fitted is None:
        return Unfitted("radial", "all rows are alike")
    terms = replace(zero_terms(table), constants=fitted.constants, radial=fitted.basis)
    note = f"{len(fitted.basis)} centres, penalty {fitted.penalty:g}"
    return BaseLearner("radial", note, terms, fitted.held_out, FoldFits(radial=fitted))


def fit_trees(
    table: TrainingTable, advance: Callable[[], None], begun: FoldFits = NOTHING_FITTED
) -> BaseLearner | Unfitted:
    """Shallow boosted trees; every fold is a step of progress."""
    if table.n_classes > MAX_REFITTED_CLASSES:
        return Unfitted("trees", _too_many(table))
    cells = table.features.cells(table.numbers, table.codes)
    boosted = trees.fit(
        table.features, cells, table.y, table.weight, table.splits, table.prior_logits, advance,
        begun.forests,
    )  # fmt: skip
    forest = Forest.mean(boosted.forests)
    terms = replace(zero_terms(table), constants=table.prior_logits, forest=forest)
    note = f"{', '.join(map(str, boosted.rounds))} rounds"
    fits = FoldFits(forests=boosted.forests)
    return BaseLearner("trees", note, terms, boosted.held_out, fits)


def _too_many(table: TrainingTable) -> str:
    return f"{table.n_classes:,} classes are too many: no more than {MAX_REFITTED_CLASSES}"


def fit_aode(
    table: TrainingTable,
    whole: LabelledBatch,
    memory_limit: int,
    begun: FoldFits = NOTHING_FITTED,
) -> BaseLearner | Unfitted:
    """AODE of all rows; those of the table, left out of its counts, are the held-out rows."""
    model = begun.aode or _aode(table, whole, memory_limit)
    if isinstance(model, str):
        return Unfitted("pairs", model)
    held_out = _aode_held_out(model, table)
    terms = replace(zero_terms(table), aode=model, aode_weight=1.0)
    return BaseLearner("pairs", f"m = {model.m:g}", terms, held_out, FoldFits(aode=model))


def _aode_held_out(model: AODEModel, table: TrainingTable) -> FloatArray:
    """The logits of the rows that some split holds out, left out of the counts; 0 for others."""
    rows = table.held_rows
    if table.remaining is not None or len(rows) == len(table.y):
        return model.leave_one_out_joint(
            table.part.batch, table.y, table.single_weight, table.remaining
        )
    out = np.zeros((len(table.y), table.n_classes))
    batch = table.part.take(rows).batch
    out[rows] = model.leave_one_out_joint(batch, table.y[rows], table.single_weight[rows], None)
    return out


def _aode(table: TrainingTable, whole: LabelledBatch, memory_limit: int) -> AODEModel | str:
    """The model, or why there is none; strength and temperature are selected on the table."""
    schema, n_rows = table.counted.schema, table.part.batch.n_rows
    n_columns = len(counted_columns(schema))
    if n_columns < 2:
        return "there is but one column"
    if n_rows * n_columns**2 * len(whole.classes) > MAX_AODE_SCORES:
        return "there are too many pairs of columns for so many rows"
    try:
        pair_counts = count(schema, iter([whole]), "auto", memory_limit)
    except InputError as error:
        return str(error)
    if pair_counts is None:
        return "there are no rows"
    model = AODEModel(schema, pair_counts)
    some = np.arange(0, n_rows, -(-n_rows // MAX_CALIBRATION_ROWS))
    if table.remaining is None:
        rows = model.judge(table.part.take(some))
    else:
        rows = model.judge(table.part, np.intersect1d(some, table.held_rows))
    return replace(model, calibration=StrengthCalibration.of(rows))
