"""compare: models on the same rows, row by row, so that "better" means something.

Two models err on the same hard rows; the interval of the difference of each row is
far narrower than the intervals of both figures would make believe.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from deciban.decision import Loss
from deciban.errors import ParameterError
from deciban.evaluation.bootstrap import check_settings, interval, resample
from deciban.evaluation.classifier import Classifier
from deciban.evaluation.decisions import Decisions, decide
from deciban.evaluation.predictions import predict
from deciban.evaluation.reliability import Interval
from deciban.evaluation.rounding import ROUNDING
from deciban.evaluation.text import align, between, figure, html
from deciban.plain import PlainDict, plain
from deciban.progress import shows_progress

FloatArray = NDArray[np.float64]

#: What is compared, and whether more is better.
COMPARED_METRICS = {"log_loss": False, "accuracy": True, "realised_cost": False}


@dataclass(frozen=True)
class Difference:
    """How much better ``first`` is than ``second``: positive is better, whatever the measure."""

    measure: str
    first: str
    second: str
    advantage: float
    interval: Interval

    @property
    def better(self) -> str | None:
        """The better model; None if the interval holds 0: they cannot be told apart."""
        low, high = self.interval
        return self.first if low > 0 else self.second if high < 0 else None

    def __str__(self) -> str:
        sign = -1 if self.advantage < 0 else 1
        names = (self.first, self.second)[::sign]
        low, high = sorted((sign * self.interval[0], sign * self.interval[1]))
        ends = f"{abs(self.advantage):.4f} [{low:.4f}, {high:.4f}]"
        what = self.measure.replace("_", " ")
        if self.better is None:
            return f"{what}: {names[0]} and {names[1]} cannot be told apart, {ends}"
        return f"{what}: {names[0]} is better than {names[1]} by {ends}"


@dataclass(frozen=True, eq=False)
class Comparison:
    """The figures of each model, and the paired differences of every two.

    >>> from deciban import NaiveBayes, compare
    >>> X, y = {"x": list("SSSLLL"), "z": list("uvuvuv")}, ["a", "a", "a", "b", "b", "a"]
    >>> both = NaiveBayes().fit(X, y)
    >>> only = NaiveBayes(kinds={"z": "identifier"}).fit(X, y)
    >>> result = compare({"both": both, "only x": only}, X, y)
    >>> result.rows, result.difference("both", "only x", "accuracy").better
    (6, None)
    """

    rows: int
    confidence: float
    figures: Mapping[str, Mapping[str, float]]
    differences: Sequence[Difference]

    def difference(self, first: str, second: str, measure: str = "log_loss") -> Difference:
        """The difference of two models, the first against the second."""
        for d in self.differences:
            if d.measure == measure and {d.first, d.second} == {first, second}:
                if d.first == first:
                    return d
                low, high = d.interval
                return Difference(measure, first, second, -d.advantage, (-high, -low))
        raise ParameterError(
            f"there is no {measure} of {first!r} against {second!r}.",
            hint=f"models: {', '.join(self.figures)}; measures: {', '.join(COMPARED_METRICS)}",
        )

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        yield from align(self._figures(), right={1, 2, 3})
        yield ""
        yield f"paired differences, {100 * self.confidence:g} % intervals"
        yield from map(str, self.differences)

    def _figures(self) -> list[tuple[str, ...]]:
        names = [name.replace("_", " ") for name in COMPARED_METRICS]
        rows = [(f"{self.rows:,} rows", *names)]
        for name, figures in self.figures.items():
            rows.append((name, *(figure(figures[measure]) for measure in COMPARED_METRICS)))
        return rows

    def _repr_html_(self) -> str:
        rows = [("", "better", "by", f"{100 * self.confidence:g} % interval")]
        for d in self.differences:
            pair = f"{d.measure.replace('_', ' ')}: {d.first}, {d.second}"
            rows.append((pair, d.better or "-", f"{d.advantage:.4f}", between(d.interval)))
        return html(("", self._figures()), ("", rows))

    def to_dict(self) -> PlainDict:
        """All of it as JSON has it."""
        out: PlainDict = plain(
            {
                "rows": self.rows,
                "confidence": self.confidence,
                "figures": {name: dict(values) for name, values in self.figures.items()},
                "differences": [{**vars(d), "better": d.better} for d in self.differences],
            }
        )
        return out


@shows_progress("comparing")
def compare(
    models: Mapping[str, Classifier] | Sequence[Classifier],
    X: object,
    y: object = None,
    loss: Loss = None,
    *,
    target: str | None = None,
    sample_weight: object = None,
    abstain: float | None = None,
    leave_one_out: bool = False,
    bootstrap: int = 1000,
    confidence: float = 0.95,
    seed: int = 0,
) -> Comparison:
    """Which of some models is better on the same rows, and whether that can be told.

    ``models`` is a mapping from names, or a list; the rest is as in :func:`evaluate`. A
    row without an answer is not right.

    >>> from deciban import NaiveBayes
    >>> X, y = {"x": list("SSSLLL") * 9, "z": list("TTUTUU") * 9}, list("aaabbb") * 9
    >>> both = NaiveBayes(calibrate=False).fit(X, y)
    >>> one = NaiveBayes(calibrate=False, kinds={"x": "identifier"}).fit(X, y)
    >>> print(compare({"both": both, "one": one}, X, y).difference("both", "one", "accuracy"))
    accuracy: both is better than one by 0.3333 [0.2037, 0.4630]
    """
    by_name = _by_name(models)
    check_settings(bootstrap, confidence, seed)
    decisions = {}
    for name, model in by_name.items():
        predictions = predict(
            model, X, y, target=target, sample_weight=sample_weight, leave_one_out=leave_one_out
        )
        decisions[name] = decide(predictions, loss, abstain)
    return compare_decisions(decisions, bootstrap, confidence, seed)


def compare_decisions(
    decisions: Mapping[str, Decisions], bootstrap: int, confidence: float, seed: int
) -> Comparison:
    """The comparison of decisions that models made about the same rows."""
    terms = np.stack([_terms(rows) for rows in decisions.values()])
    weight = next(iter(decisions.values())).predictions.weight
    means = weight @ terms / weight.sum()
    figures = {
        name: dict(zip(COMPARED_METRICS, row, strict=True))
        for name, row in zip(decisions, means.tolist(), strict=True)
    }
    pairs = list(combinations(range(len(decisions)), 2))
    signs = np.array([1.0 if more else -1.0 for more in COMPARED_METRICS.values()])
    gaps = np.concatenate([signs * _difference(terms[a], terms[b]) for a, b in pairs], axis=1)
    ends = _intervals(gaps, weight, bootstrap, confidence, seed)
    differences = _differences(list(decisions), gaps, weight, ends)
    return Comparison(len(weight), confidence, figures, differences)


def _terms(decisions: Decisions) -> FloatArray:
    """What each row adds to the compared metrics, (rows, metrics)."""
    right = (decisions.answers == decisions.predictions.codes).astype(np.float64)
    return np.stack([decisions.log_loss, right, decisions.realised_cost], axis=1)


def _difference(a: FloatArray, b: FloatArray) -> FloatArray:
    """``a - b``, zero where it is no more than the sums behind them may be off by."""
    gap = a - b
    off = ROUNDING * np.maximum(1.0, np.maximum(np.abs(a), np.abs(b)))
    return np.asarray(np.where(np.isfinite(gap) & (np.abs(gap) <= off), 0.0, gap))


def _intervals(
    gaps: FloatArray, weight: FloatArray, resamples: int, confidence: float, seed: int
) -> list[Interval]:
    values = [np.empty((0, gaps.shape[1]))]
    for times in resample(len(weight), resamples, seed):
        weights = times * weight
        values.append(weights @ gaps / weights.sum(axis=1, keepdims=True))
    return [interval(column, confidence) for column in np.concatenate(values).T]


def _differences(
    names: list[str], gaps: FloatArray, weight: FloatArray, ends: list[Interval]
) -> list[Difference]:
    means = (weight @ gaps / weight.sum()).tolist()
    keys = [(a, b, m) for a, b in combinations(names, 2) for m in COMPARED_METRICS]
    return [
        Difference(m, a, b, mean, end)
        for (a, b, m), mean, end in zip(keys, means, ends, strict=True)
    ]


def _by_name(
    models: Mapping[str, Classifier] | Sequence[Classifier],
) -> dict[str, Classifier]:
    """Models by name; those of a list are named by their class and place."""
    if isinstance(models, Mapping):
        by_name = {str(name): model for name, model in models.items()}
    elif isinstance(models, list | tuple):
        kinds = [type(model).__name__ for model in models]
        by_name = {
            kind if kinds.count(kind) == 1 else f"{kind} {i}": model
            for i, (kind, model) in enumerate(zip(kinds, models, strict=True), start=1)
        }
    else:
        by_name = {}
    if len(by_name) < 2:
        raise ParameterError(
            f"compare needs two or more models, got {models!r}.",
            hint='pass {"one": model, "other": model}, or a list',
        )
    return by_name
