"""The rows of a table explained at once: arrays first, objects when they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from deciban.encoding.unseen import UnseenValues
from deciban.explanation.explanation import Explanation, Part, Term
from deciban.labels import Labels
from deciban.models import scores
from deciban.models.protocol import Model, WordContribution
from deciban.models.scores import DECIBANS
from deciban.schema import ColumnSchema
from deciban.sources.tabular import Value

FloatArray = NDArray[np.float64]
Codes = NDArray[np.intp]
#: So many rows are shown in a notebook.
MAX_SHOWN_ROWS = 5
#: Why values count as unseen, by row and column.
Marks: TypeAlias = dict[int, dict[str, str]]


@dataclass(frozen=True, eq=False)
class Explanations(Sequence[Explanation]):
    """The explanations of the rows of a table; each is made when it is asked for.

    ``answer`` and ``runner_up`` are positions among ``classes``, ``prior`` and
    ``decibans`` (rows, features) are for the answer against the runner-up, and
    ``total`` is their sum. ``evidence`` (rows, features, classes) is against the first class;
    ``exact_evidence`` gives prior and evidence of a row against any class, also where some class
    is impossible. ``unseen`` has the reason why a value was unseen, by row and column. Identifiers
    are not among the terms.
    """

    model: Model = field(repr=False)
    probabilities: FloatArray
    answer: Codes
    runner_up: Codes
    prior_evidence: FloatArray
    evidence: FloatArray
    row: Callable[[int], Sequence[Value]] = field(repr=False)
    exact_evidence: Callable[[int, int], tuple[FloatArray, FloatArray]] = field(repr=False)
    unseen: Marks = field(default_factory=dict, repr=False)

    @property
    def classes(self) -> Labels:
        """The classes, in order."""
        return self.model.classes

    @property
    def features(self) -> tuple[str, ...]:
        """The columns, in order."""
        return self.model.schema.names

    @property
    def prior(self) -> FloatArray:
        """Decibans of the prior for each row's answer."""
        return self.prior_evidence[self.answer] - self.prior_evidence[self.runner_up]

    @property
    def decibans(self) -> FloatArray:
        """Decibans of every feature for each row's answer, (rows, features)."""
        return scores.differences(self.evidence, self.answer, self.runner_up)

    @property
    def total(self) -> FloatArray:
        """Decibans of each row's answer."""
        return np.asarray(self.prior + self.decibans.sum(axis=1))

    def __len__(self) -> int:
        return len(self.answer)

    def __iter__(self) -> Iterator[Explanation]:
        return (self[i] for i in range(len(self)))

    def _repr_html_(self) -> str:
        from deciban.templates import render

        shown = self[:MAX_SHOWN_ROWS]
        return render("some_explanations.html.jinja", explanations=shown, n=len(self))

    @overload
    def __getitem__(self, i: int) -> Explanation: ...
    @overload
    def __getitem__(self, i: slice) -> list[Explanation]: ...
    def __getitem__(self, i: int | slice) -> Explanation | list[Explanation]:
        if isinstance(i, slice):
            return [self[j] for j in range(*i.indices(len(self)))]
        if not -len(self) <= i < len(self):
            raise IndexError(f"row {i} of {len(self)}")
        return self._explanation(i % len(self))

    def _explanation(self, i: int) -> Explanation:
        a, b = int(self.answer[i]), int(self.runner_up[i])
        prior, evidence = self._against(i, b)
        columns = zip(self.model.schema.columns, self.row(i), evidence, strict=True)
        unseen = self.unseen.get(i, {})
        terms = tuple(
            self._term(column, value, decibans, a, b, unseen.get(column.name, ""))
            for column, value, decibans in columns
            if column.kind != "identifier"
        )
        labels = self.classes.tolist()
        return Explanation(
            labels[a],
            labels[b] if len(labels) > 1 else None,
            float(prior[a]),
            terms,
            self._sum(i, prior[a], evidence[:, a]),
            float(self.probabilities[i, a]),
            tuple(labels),
            tuple(self.probabilities[i].tolist()),
            tuple(prior.tolist()),
        )

    def _against(self, i: int, b: int) -> tuple[FloatArray, FloatArray]:
        """Evidence for every class against class b: of the prior, of each feature."""
        evidence = self.evidence[i]
        if not np.isfinite(evidence).all():
            return self.exact_evidence(i, b)
        prior = self.prior_evidence - self.prior_evidence[b]
        return prior, evidence - evidence[:, b, None]

    def _sum(self, i: int, prior: float, evidence: FloatArray) -> float:
        """The total; where one feature excludes what another demands, the odds shown."""
        total = float(prior + evidence.sum()) if not _contradicts(evidence) else np.nan
        if not np.isnan(total):
            return total
        odds = self.probabilities[i, [self.answer[i], self.runner_up[i]]]
        with np.errstate(divide="ignore"):
            return float(DECIBANS * (np.log(odds[0]) - np.log(odds[1])))

    def _term(
        self, column: ColumnSchema, value: Value, evidence: FloatArray, a: int, b: int, unseen: str
    ) -> Term:
        parts: tuple[Part, ...] = ()
        if column.kind == "text" and isinstance(value, str):
            words = self.model.word_contributions(column.name, value)
            parts = tuple(_part(word, a, b) for word in words)
        by_class = tuple(evidence.tolist())
        return Term(column.name, value, float(evidence[a]), by_class, parts, unseen)


def mark(
    marks: Marks, start: int, unseen: Mapping[str, UnseenValues], rows: Mapping[str, Codes]
) -> None:
    """Put the reasons of some unseen values, in rows after ``start``, to the others."""
    for name, some in rows.items():
        for i in some.tolist():
            marks.setdefault(start + i, {})[name] = unseen[name].reason


def _part(word: WordContribution, a: int, b: int) -> Part:
    """A word, and its decibans for class a against class b."""
    decibans = DECIBANS * word.by_class
    return Part(word.token, word.start, word.stop, float(decibans[a] - decibans[b]))


def _contradicts(evidence: FloatArray) -> bool:
    """Whether one feature excludes what another demands."""
    return bool(np.isposinf(evidence).any() and np.isneginf(evidence).any())


def best_two(probabilities: FloatArray) -> tuple[Codes, Codes]:
    """The likeliest class of every row, and the next; the first of equals.

    >>> best_two(np.array([[0.2, 0.5, 0.3], [0.5, 0.5, 0.0]]))
    (array([1, 0]), array([2, 1]))
    """
    answer = probabilities.argmax(axis=1)
    if probabilities.shape[1] == 1:
        return answer, answer
    if probabilities.shape[1] == 2:
        return answer, 1 - answer
    others = probabilities.copy()
    others[np.arange(len(answer)), answer] = -1.0
    return answer, others.argmax(axis=1)


def posterior(prior: FloatArray, evidence: FloatArray) -> FloatArray:
    """``P(c | x)`` of every row from decibans against one class; NaN where one is impossible."""
    with np.errstate(invalid="ignore", over="ignore"):
        # Rows last: classes are few, and NumPy takes the maximum of few numbers at a time slowly.
        log = np.ascontiguousarray(scores.sum_contributions(evidence, prior).T) / DECIBANS
        odds = np.exp(log - log.max(axis=0))
        return np.ascontiguousarray((odds / odds.sum(axis=0)).T)
