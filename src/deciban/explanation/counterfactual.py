"""Counterfactuals: the smallest set of changed values that turns the answer over.

In an additive model the decibans of class b against the answer a are a sum with
one term per feature, and changing feature j to the value that says most for b
gains ``g_j >= 0`` whatever the others are. The k features with the largest gains
gain most among all sets of k, so the least k for which that is enough is the
smallest number of changes by which b overtakes a. For the answer to be another
than a, some b must overtake it: the least k over all b is the smallest for any
other answer. If the answer is to be a *stated* one of several classes, it must
overtake them all; then changes for the strongest rival are made one after the
other until it does, which need not be the fewest. The same is done where
evidence does not add up: the model itself is asked after every change.

Values are those seen in training: categories, and a value from each bin. Of
the features that are changed, numbers are then moved no further than needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
Row = Mapping[str, Any]
#: Decibans by which the second class must be ahead.
AHEAD = 1e-9


@dataclass(frozen=True)
class Change:
    """A feature, its value, the value it would have to have, and what that gains in decibans."""

    feature: str
    before: Any
    after: Any
    decibans: float


@dataclass(frozen=True)
class Counterfactual:
    """The changes under which the answer is another.

    ``probability_before`` and ``probability_after`` are those of the new answer.

    >>> from deciban import NaiveBayes
    >>> X = {"size": ["S", "S", "S", "L", "L"], "ripe": ["no", "yes", "no", "yes", "yes"]}
    >>> m = NaiveBayes(smoothing=1, calibrate=False).fit(X, ["a", "a", "a", "b", "b"])
    >>> found = m.counterfactual({"size": "S", "ripe": "yes"})
    >>> found.answer, found.new_answer, [(c.feature, c.after) for c in found.changes]
    ('a', 'b', [('size', 'L')])
    """

    answer: Any
    new_answer: Any
    changes: tuple[Change, ...]
    probability_before: float
    probability_after: float

    def __str__(self) -> str:
        lines = [f"{c.feature}: {c.before} -> {c.after}  {c.decibans:+.1f}" for c in self.changes]
        shares = f"{self.probability_before:.1%} -> {self.probability_after:.1%}"
        return "\n".join([f"{self.new_answer} instead of {self.answer}, {shares}", *lines])


@dataclass(frozen=True, eq=False)
class Asked:
    """What a search needs: the row, values to try, and the model's evidence and answers.

    ``said`` gives the decibans of whole rows for every class against one, (rows, classes).
    ``place`` is the answer of a row.
    """

    row: Row
    values: Mapping[str, Sequence[Any]]
    said: Callable[[Sequence[Row]], FloatArray]
    place: Callable[[Row], int]


def search(asked: Asked, target: int | None, most: int) -> dict[str, Any] | None:
    """The changes, as new values by feature; None if there are none that do."""
    answer = asked.place(asked.row)
    if target == answer:
        return {}
    now = asked.said([asked.row])[0]
    tried = _tried(asked)
    if not tried:
        return None
    said = asked.said([{**asked.row, name: value} for name, value in tried])
    rivals = [target] if target is not None else [c for c in range(len(now)) if c != answer]
    found = [_for_pair(asked, tried, said, answer, c, most, target) for c in rivals]
    some = [changes for changes in found if changes is not None]
    return min(some, key=len) if some else None


def _tried(asked: Asked) -> list[tuple[str, Any]]:
    return [
        (name, value)
        for name, values in asked.values.items()
        for value in values
        if value != asked.row[name]
    ]


def _for_pair(
    asked: Asked,
    tried: Sequence[tuple[str, Any]],
    said: FloatArray,
    answer: int,
    rival: int,
    most: int,
    target: int | None,
) -> dict[str, Any] | None:
    """The largest gains of the rival, until the model gives another answer."""
    now = asked.said([asked.row])[0]
    gains = _best(tried, (said[:, rival] - said[:, answer]) - (now[rival] - now[answer]))
    changes: dict[str, Any] = {}
    ahead = now[rival] - now[answer]
    for name, (value, gain) in sorted(gains.items(), key=lambda item: -item[1][1])[:most]:
        changes[name] = value
        ahead += gain
        if ahead > AHEAD and _done(asked, changes, answer, target):
            return _closer(asked, changes, answer, target)
    return _step_by_step(asked, answer, rival, target, most)


def _best(tried: Sequence[tuple[str, Any]], gains: FloatArray) -> dict[str, tuple[Any, float]]:
    """The best value of each feature that gains anything."""
    found: dict[str, tuple[Any, float]] = {}
    for (name, value), gain in zip(tried, gains.tolist(), strict=True):
        if gain > AHEAD and gain > found.get(name, (None, 0.0))[1]:
            found[name] = value, gain
    return found


def _done(asked: Asked, changes: Row, answer: int, target: int | None) -> bool:
    place = asked.place({**asked.row, **changes})
    return place == target if target is not None else place != answer


def _step_by_step(
    asked: Asked, answer: int, rival: int, target: int | None, most: int
) -> dict[str, Any] | None:
    """One change after the other, each the best for the rival against whoever leads now."""
    changes: dict[str, Any] = {}
    while len(changes) < most:
        row = {**asked.row, **changes}
        left = {name: v for name, v in asked.values.items() if name not in changes}
        tried = _tried(Asked(row, left, asked.said, asked.place))
        if not tried:
            return None
        odds = asked.said([{**row, name: value} for name, value in tried])
        margin = odds[:, rival] - np.delete(odds, rival, axis=1).max(axis=1)
        name, value = tried[int(margin.argmax())]
        changes[name] = value
        if _done(asked, changes, answer, target):
            return changes
    return None


def _closer(
    asked: Asked, changes: dict[str, Any], answer: int, target: int | None
) -> dict[str, Any]:
    """The same features with numbers moved no further than needed."""
    for name in reversed(list(changes)):
        for value in _nearer(asked.row[name], changes[name], asked.values[name]):
            if _done(asked, {**changes, name: value}, answer, target):
                changes = {**changes, name: value}
                break
    return changes


def _nearer(before: Any, after: Any, values: Iterable[Any]) -> list[Any]:
    """Numbers nearer to what it is than what it would be, the nearest first."""
    if not all(isinstance(v, int | float) and not isinstance(v, bool) for v in (before, after)):
        return []
    nearer = [v for v in values if v != before and abs(v - before) < abs(after - before)]
    return sorted(nearer, key=lambda value: abs(value - before))
