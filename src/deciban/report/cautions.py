"""What to be careful about, in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from deciban.encoding.unseen import UnseenValues
from deciban.evaluation import Evaluation
from deciban.evaluation.rounding import ROUNDING
from deciban.report.drift import Drift
from deciban.report.leakage import SingleColumn
from deciban.report.novelty import NewRows
from deciban.report.training import TrainingSummary

#: Classes with fewer rows, in training or here, are too small to trust.
MIN_CLASS_ROWS = 30
#: A stated probability that is off by more than this on average misleads.
MAX_CALIBRATION_ERROR = 0.05

Kind = Literal["leakage", "drift", "small class", "same rows", "no gain", "calibration",
               "unknown class", "unseen", "new rows"]  # fmt: skip


@dataclass(frozen=True)
class Caution:
    """One thing to be careful about."""

    kind: Kind
    what: str
    text: str


def list_cautions(
    evaluation: Evaluation,
    trained: TrainingSummary,
    alone: Sequence[SingleColumn],
    drifts: Sequence[Drift],
    unseen: Mapping[str, UnseenValues],
    new: NewRows | None = None,
) -> list[Caution]:
    """All of them, the gravest first."""
    return [
        *_same_rows(evaluation, trained, drifts),
        *_no_gain(evaluation),
        *_leakage(alone),
        *_unknown_classes(evaluation, trained),
        *_unseen(unseen),
        *_new_rows(evaluation, new),
        *_drifts(drifts),
        *_small_classes(evaluation, trained),
        *_calibration(evaluation),
    ]


def _rows_of(evaluation: Evaluation) -> dict[object, float]:
    totals = (evaluation.confusion.sum(axis=1) + evaluation.abstained).tolist()
    return dict(zip(evaluation.classes.tolist(), totals, strict=True))


def _same_rows(
    evaluation: Evaluation, trained: TrainingSummary, drifts: Sequence[Drift]
) -> Iterator[Caution]:
    here = {label: n for label, n in _rows_of(evaluation).items() if n}
    if evaluation.leave_one_out or here != {c: n for c, n in trained.classes.items() if n}:
        return
    if all(drift.index < 1e-3 for drift in drifts):
        yield Caution(
            "same rows",
            "these rows",
            "These look like the rows that the model was trained on: it has seen the answers, "
            "and the figures flatter it. Use rows that were kept apart, or leave-one-out.",
        )


def _no_gain(evaluation: Evaluation) -> Iterator[Caution]:
    if evaluation.baseline is None:
        return
    if evaluation.log_loss >= evaluation.baseline.log_loss - ROUNDING:
        yield Caution(
            "no gain",
            "the model",
            f"Its probabilities are no better than the shares of the classes: log loss "
            f"{evaluation.log_loss:.3f}, without looking at the columns "
            f"{evaluation.baseline.log_loss:.3f}.",
        )


def _leakage(alone: Sequence[SingleColumn]) -> Iterator[Caution]:
    for one in alone:
        if one.suspect:
            yield Caution(
                "leakage",
                one.column,
                f"{one.column} alone is right in {_percent(one.accuracy)} of the rows. Is it known "
                "when the question is asked, or does it follow from the answer?",
            )


def _unknown_classes(evaluation: Evaluation, trained: TrainingSummary) -> Iterator[Caution]:
    for label, n in _rows_of(evaluation).items():
        if label not in trained.classes:
            yield Caution(
                "unknown class",
                str(label),
                f"{n:,.0f} rows are {label}, which the model has never seen: it cannot be right "
                "about them.",
            )


def _unseen(unseen: Mapping[str, UnseenValues]) -> Iterator[Caution]:
    for name, values in unseen.items():
        yield Caution("unseen", name, f"{name} has {values}. What they say rests on no row.")


def _new_rows(evaluation: Evaluation, new: NewRows | None) -> Iterator[Caution]:
    if new is not None and new.moved and not evaluation.leave_one_out:
        yield Caution(
            "new rows",
            "these rows",
            f"{new.new:,} of {new.rows:,} rows are as unlikely as one in a hundred was in "
            f"training; chance would make no more than {new.by_chance:,}. They have moved, or are "
            "of a class that the model does not know.",
        )


def _drifts(drifts: Sequence[Drift]) -> Iterator[Caution]:
    for drift in drifts:
        if drift.verdict != "the same":
            yield Caution(
                "drift",
                drift.column,
                f"{drift.column} is not as it was in training (stability index "
                f"{drift.index:.2f}): {drift.cell} was {_percent(drift.before)} of the rows then "
                f"and is {_percent(drift.now)} now.",
            )


def _small_classes(evaluation: Evaluation, trained: TrainingSummary) -> Iterator[Caution]:
    here = _rows_of(evaluation)
    for label, n in trained.classes.items():
        sides = []
        if n is not None and n < MIN_CLASS_ROWS:
            sides.append(f"{n:,.6g} rows in training")
        if here.get(label, 0.0) < MIN_CLASS_ROWS:
            sides.append(f"{here.get(label, 0.0):,.6g} here")
        if sides:
            yield Caution(
                "small class",
                str(label),
                f"{label} has {' and '.join(sides)}: too few to trust what is learned of it "
                "or its figures.",
            )


def _calibration(evaluation: Evaluation) -> Iterator[Caution]:
    low = evaluation.intervals.get("calibration_error", (evaluation.calibration_error,))[0]
    if low > MAX_CALIBRATION_ERROR:
        yield Caution(
            "calibration",
            "probabilities",
            f"Stated probabilities are off by {_percent(evaluation.calibration_error)} on average: "
            "read them with the reliability diagram beside.",
        )


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
