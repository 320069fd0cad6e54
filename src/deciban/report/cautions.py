"""What to be careful about, in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from deciban.evaluation import Evaluation
from deciban.report.drift import Drift
from deciban.report.leaks import Alone
from deciban.report.trained import Trained

#: Classes with fewer rows, in training or here, are too small to trust.
FEW = 30
#: A stated probability that is off by more than this on average misleads.
OFF = 0.05

Kind = Literal["leakage", "drift", "small class", "same rows", "no gain", "calibration",
               "unknown class"]  # fmt: skip


@dataclass(frozen=True)
class Caution:
    """One thing to be careful about."""

    kind: Kind
    what: str
    text: str


def cautions(
    found: Evaluation, trained: Trained, alone: Sequence[Alone], drifts: Sequence[Drift]
) -> list[Caution]:
    """All of them, the gravest first."""
    return [
        *_same(found, trained, drifts),
        *_gain(found),
        *_leaks(alone),
        *_unknown(found, trained),
        *_drifts(drifts),
        *_small(found, trained),
        *_calibration(found),
    ]


def _rows_of(found: Evaluation) -> dict[object, float]:
    totals = (found.confusion.sum(axis=1) + found.abstained).tolist()
    return dict(zip(found.classes.tolist(), totals, strict=True))


def _same(found: Evaluation, trained: Trained, drifts: Sequence[Drift]) -> Iterator[Caution]:
    here = {label: n for label, n in _rows_of(found).items() if n}
    if found.leave_one_out or here != {c: n for c, n in trained.classes.items() if n}:
        return
    if all(drift.index < 1e-3 for drift in drifts):
        yield Caution(
            "same rows",
            "these rows",
            "These look like the rows that the model was trained on: it has seen the answers, "
            "and the figures flatter it. Use rows that were kept apart, or leave-one-out.",
        )


def _gain(found: Evaluation) -> Iterator[Caution]:
    if found.baseline is not None and found.log_loss >= found.baseline.log_loss:
        yield Caution(
            "no gain",
            "the model",
            f"Its probabilities are no better than the shares of the classes: log loss "
            f"{found.log_loss:.3f}, without looking at the columns {found.baseline.log_loss:.3f}.",
        )


def _leaks(alone: Sequence[Alone]) -> Iterator[Caution]:
    for one in alone:
        if one.suspect:
            yield Caution(
                "leakage",
                one.column,
                f"{one.column} alone is right in {_percent(one.accuracy)} of the rows. Is it known "
                "when the question is asked, or does it follow from the answer?",
            )


def _unknown(found: Evaluation, trained: Trained) -> Iterator[Caution]:
    for label, n in _rows_of(found).items():
        if label not in trained.classes:
            yield Caution(
                "unknown class",
                str(label),
                f"{n:,.0f} rows are {label}, which the model has never seen: it cannot be right "
                "about them.",
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


def _small(found: Evaluation, trained: Trained) -> Iterator[Caution]:
    here = _rows_of(found)
    for label, n in trained.classes.items():
        sides = []
        if n is not None and n < FEW:
            sides.append(f"{n:,.6g} rows in training")
        if here.get(label, 0.0) < FEW:
            sides.append(f"{here.get(label, 0.0):,.6g} here")
        if sides:
            yield Caution(
                "small class",
                str(label),
                f"{label} has {' and '.join(sides)}: too few to trust what is learned of it "
                "or its figures.",
            )


def _calibration(found: Evaluation) -> Iterator[Caution]:
    low = found.intervals.get("calibration_error", (found.calibration_error,))[0]
    if low > OFF:
        yield Caution(
            "calibration",
            "probabilities",
            f"Stated probabilities are off by {_percent(found.calibration_error)} on average: "
            "read them with the reliability diagram beside.",
        )


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
