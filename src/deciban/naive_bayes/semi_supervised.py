"""A table with missing labels: the weight of an unlabelled row, EM, and what comes of it."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np

from deciban.errors import InputError, MissingValueError, ParameterError
from deciban.naive_bayes import leave_one_out
from deciban.naive_bayes.em_rows import Rounds, UnlabelledRows
from deciban.naive_bayes.model import NaiveBayesModel
from deciban.naive_bayes.row_choices import choose_texts
from deciban.sources.labelled import LabelledBatch, LabelledScan
from deciban.sources.sample import Sample
from deciban.sources.units import ARGUMENTS, UnitSource
from deciban.stats.counts import Counts

#: The weights of an unlabelled row that ``"auto"`` tries.
WEIGHTS = (1.0, 0.3, 0.1, 0.03, 0.0)


@dataclass(frozen=True)
class UnlabelledOptions:
    """What the user asks of rows without labels."""

    n_classes: int | None
    weight: float | None
    rounds: Rounds

    @classmethod
    def of(cls, estimator: Any) -> UnlabelledOptions:
        """The parameters of an estimator, checked; a weight of None is to be chosen."""
        n_classes, weight = estimator.n_classes, estimator.unlabelled
        if n_classes is not None:
            n_classes = _whole("n_classes", n_classes, "the classes of a table without labels")
        if isinstance(weight, str) and weight == "auto":
            weight = None
        elif not _number(weight):
            raise ParameterError(
                f'unlabelled must be a number >= 0 or "auto", got {weight!r}.',
                hint="it is the weight of a row without a label; 1 is that of a labelled one",
            )
        if not _number(estimator.tol):
            raise ParameterError(
                f"tol must be a number >= 0, got {estimator.tol!r}.",
                hint="EM stops when it gains less than that, in nats a row",
            )
        most = _whole("max_rounds", estimator.max_rounds, "rounds of EM")
        starts = _whole("n_starts", estimator.n_starts, "random starts")
        seed = _whole("random_state", estimator.random_state, "the seed of the starts", least=0)
        return cls(n_classes, weight, Rounds(most, float(estimator.tol), starts, seed))


@dataclass(frozen=True, eq=False)
class Completed:
    """Counts of all rows, J after every round, and the weight of an unlabelled row."""

    counts: Counts
    likelihood: list[float]
    weight: float


def _refuse_units(units: UnitSource | None) -> None:
    """Rows without a label are counted under every class: they cannot be left out exactly."""
    if units is not None:
        what = ARGUMENTS[units.kind]
        raise InputError(
            f"some rows have no label, which does not go together with {what}.",
            hint=f"leave rows without a label out, or {what}",
        )


def complete(
    model: NaiveBayesModel,
    rows: LabelledScan,
    sample: Sample | None,
    options: UnlabelledOptions,
) -> Completed:
    """The counts of labelled rows, and softly those of the rows put aside."""
    _refuse_units(rows.units)
    model, aside = model.with_all_words(), rows.unlabelled or []
    known = len(model.counts.classes)
    if options.n_classes is not None and known not in (0, options.n_classes):
        raise ParameterError(
            f"n_classes is {options.n_classes}, and the labels have {known} classes.",
            hint="n_classes is for tables without any labels",
        )
    if known:
        first = calibrate(model, sample)
        if options.weight is not None:
            return _completed(first, aside, options.weight, options)
        return _best(first, aside, sample, options)
    if options.n_classes is None:
        raise MissingValueError(
            "Input y contains NaN or None in every row: there is no label to begin with.",
            hint="label some rows, or say how many classes to find, such as n_classes=2",
        )
    counts, run = UnlabelledRows.alone(model, aside, options.n_classes).learn(None, options.rounds)
    return Completed(counts, run.likelihood, 1.0)


def calibrate(model: NaiveBayesModel, sample: Sample | None) -> NaiveBayesModel:
    """The model with its texts selected and its evidence calibrated on counted rows left out."""
    if sample is None or not sample.batches:
        return model
    chosen = choose_texts(model, sample)
    rows = leave_one_out.score_sample(chosen, sample)
    return chosen.with_calibration(leave_one_out.calibrate(chosen, rows, sample.stands_for))


def _completed(
    first: NaiveBayesModel, aside: list[LabelledBatch], weight: float, options: UnlabelledOptions
) -> Completed:
    if weight == 0:
        return Completed(first.counts, [], 0.0)
    counts, run = UnlabelledRows.beside(first, aside, weight).learn(first, options.rounds)
    return Completed(counts, run.likelihood, weight)


def _best(
    first: NaiveBayesModel,
    aside: list[LabelledBatch],
    sample: Sample | None,
    options: UnlabelledOptions,
) -> Completed:
    """The weight under which labelled rows, each left out of its class, are likeliest."""
    if sample is None:
        raise ParameterError(
            'unlabelled="auto" needs calibrate=True: labelled rows choose it, each left out.',
            hint="state a number, such as unlabelled=1.0",
        )
    tried = [_completed(first, aside, weight, options) for weight in WEIGHTS]
    return min(tried, key=lambda done: _loss(first.with_counts(done.counts), sample))


def _loss(model: NaiveBayesModel, sample: Sample) -> float:
    calibration = calibrate(model, sample).calibration
    return float(np.inf) if calibration is None else float(calibration.loss.min())


def _whole(name: str, value: object, what: str, least: int = 1) -> int:
    if isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= least:
        return int(value)
    raise ParameterError(
        f"{name} must be a whole number >= {least}, got {value!r}.", hint=f"it is {what}"
    )


def _number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and 0 <= float(value) < np.inf
