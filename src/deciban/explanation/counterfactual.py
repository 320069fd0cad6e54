"""Counterfactuals: the smallest set of changed values that turns the answer over.

In an additive model the decibans of class b against the answer a are a sum with
one term per feature, and changing feature j to the value that says most for b
gains ``g_j >= 0`` whatever the others are. The k features with the largest gains
gain most among all sets of k, so the least k for which that is enough is the
smallest number of changes by which b overtakes a. For the answer to be another
than a, some b must overtake it: the least k over all b is the smallest for any
other answer. If the answer is to be a *stated* one of several classes, it must
overtake them all; then changes for the strongest rival are made one after the
other until it does, which need not be the fewest. So it is where evidence does not
add up: the model itself is asked after every change.

Values are those seen in training: categories, and a value from each bin. Of
the features that are changed, numbers are then moved no further than needed.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deciban.sources.tabular import Row, Value

FloatArray = NDArray[np.float64]
#: New values by feature.
Changes = dict[str, Value]
#: A feature, and a value to try for it.
Trial = tuple[str, Value]
#: Decibans by which the new answer must be ahead.
MIN_LEAD = 1e-9


@dataclass(frozen=True)
class Change:
    """A feature, its value, the value it would have to have, and what that gains in decibans.

    With ``removes``, the word ``before`` is taken out of the text instead.
    """

    feature: str
    before: Value
    after: Value
    decibans: float
    removes: bool = False

    def __str__(self) -> str:
        what = f"without {self.before}" if self.removes else f"{self.before} -> {self.after}"
        return f"{self.feature}: {what}  {self.decibans:+.1f}"


@dataclass(frozen=True)
class Counterfactual:
    """The changes under which the answer is another.

    ``probability_before`` and ``probability_after`` are those of the new answer.

    >>> from deciban import NaiveBayes
    >>> X = {"size": ["S", "S", "S", "L", "L"], "ripe": ["no", "yes", "no", "yes", "yes"]}
    >>> m = NaiveBayes(smoothing=1, calibrate=False).fit(X, ["a", "a", "a", "b", "b"])
    >>> other = m.counterfactual({"size": "S", "ripe": "yes"})
    >>> other.answer, other.new_answer, [(c.feature, c.after) for c in other.changes]
    ('a', 'b', [('size', 'L')])
    """

    answer: Hashable
    new_answer: Hashable
    changes: tuple[Change, ...]
    probability_before: float
    probability_after: float

    def __str__(self) -> str:
        lines = [str(change) for change in self.changes]
        shares = f"{self.probability_before:.1%} -> {self.probability_after:.1%}"
        return "\n".join([f"{self.new_answer} instead of {self.answer}, {shares}", *lines])

    def _repr_html_(self) -> str:
        from deciban.templates import html_tables

        rows = [
            (c.feature, str(c.before), "(without it)" if c.removes else str(c.after),
             f"{c.decibans:+.1f}")
            for c in self.changes
        ]  # fmt: skip
        title = str(self).split("\n", 1)[0]
        return html_tables((title, [("change", "from", "to", "decibans"), *rows]))


@dataclass(frozen=True, eq=False)
class Problem:
    """What is searched: the row, values to try, and the model's log-odds and answers.

    ``log_odds`` gives the decibans of whole rows for every class against one, (rows, classes);
    ``answer`` the position of the class that a row is answered with.
    """

    row: Row
    values: Mapping[str, Sequence[Value]]
    log_odds: Callable[[Sequence[Row]], FloatArray]
    answer: Callable[[Row], int]


def search(problem: Problem, target: int | None, limit: int) -> Changes | None:
    """The changes, as new values by feature; None if there are none that do."""
    answer = problem.answer(problem.row)
    if target == answer:
        return {}
    now = problem.log_odds([problem.row])[0]
    trials = _trials(problem)
    if not trials:
        return None
    odds = problem.log_odds([{**problem.row, name: value} for name, value in trials])
    rivals = [target] if target is not None else [c for c in range(len(now)) if c != answer]
    changes = [_for_pair(problem, trials, odds, answer, c, limit, target) for c in rivals]
    possible = [one for one in changes if one is not None]
    return min(possible, key=len) if possible else None


def _trials(problem: Problem) -> list[Trial]:
    return [
        (name, value)
        for name, values in problem.values.items()
        for value in values
        if value != problem.row[name]
    ]


def _for_pair(
    problem: Problem,
    trials: Sequence[Trial],
    odds: FloatArray,
    answer: int,
    rival: int,
    limit: int,
    target: int | None,
) -> Changes | None:
    """The largest gains of the rival, until the model gives another answer."""
    now = problem.log_odds([problem.row])[0]
    gains = _best(trials, (odds[:, rival] - odds[:, answer]) - (now[rival] - now[answer]))
    changes: Changes = {}
    ahead = now[rival] - now[answer]
    for name, (value, gain) in sorted(gains.items(), key=lambda item: -item[1][1])[:limit]:
        changes[name] = value
        ahead += gain
        if ahead > MIN_LEAD and _succeeds(problem, changes, answer, target):
            return _shrink(problem, changes, answer, target)
    return _step_by_step(problem, answer, rival, target, limit)


def _best(trials: Sequence[Trial], gains: FloatArray) -> dict[str, tuple[Value, float]]:
    """The best value of each feature that gains anything."""
    best: dict[str, tuple[Value, float]] = {}
    for (name, value), gain in zip(trials, gains.tolist(), strict=True):
        if gain > MIN_LEAD and gain > best.get(name, (None, 0.0))[1]:
            best[name] = value, gain
    return best


def _succeeds(problem: Problem, changes: Row, answer: int, target: int | None) -> bool:
    place = problem.answer({**problem.row, **changes})
    return place == target if target is not None else place != answer


def _step_by_step(
    problem: Problem, answer: int, rival: int, target: int | None, limit: int
) -> Changes | None:
    """One change after the other, each the best for the rival against whoever leads now."""
    changes: Changes = {}
    while len(changes) < limit:
        row = {**problem.row, **changes}
        left = {name: v for name, v in problem.values.items() if name not in changes}
        trials = _trials(Problem(row, left, problem.log_odds, problem.answer))
        if not trials:
            return None
        odds = problem.log_odds([{**row, name: value} for name, value in trials])
        margin = odds[:, rival] - np.delete(odds, rival, axis=1).max(axis=1)
        name, value = trials[int(margin.argmax())]
        changes[name] = value
        if _succeeds(problem, changes, answer, target):
            return changes
    return None


def _shrink(problem: Problem, changes: Changes, answer: int, target: int | None) -> Changes:
    """The changes, with numbers moved no further than needed."""
    for name in reversed(list(changes)):
        for value in _nearer_values(problem.row[name], changes[name], problem.values[name]):
            if _succeeds(problem, {**changes, name: value}, answer, target):
                changes = {**changes, name: value}
                break
    return changes


def _nearer_values(before: Value, after: Value, values: Iterable[Value]) -> list[Value]:
    """Numbers nearer to what it is than what it would be, the nearest first."""
    if not all(isinstance(v, int | float) and not isinstance(v, bool) for v in (before, after)):
        return []
    nearer = [v for v in values if v != before and abs(v - before) < abs(after - before)]
    return sorted(nearer, key=lambda value: abs(value - before))
