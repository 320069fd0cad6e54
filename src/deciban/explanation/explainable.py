"""What a classifier needs to give reasons: a mixin over evidence and probabilities.

A model has ``classes_``, ``predict_proba(X)``, ``evidence(X, against)`` and
``prior_evidence(against)``, all in decibans, whose sum is the log-odds of each
class. Hooks say more: ``_pieces()`` gives the tables that an additive model
adds up, and the values that counterfactuals try; ``_importance()`` may be
overridden; ``_word_evidence(column, text)`` gives the words of a text in their
places. A model whose evidence is not additive sets ``_additive = False``: it
has no curves and no nomogram.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from deciban import checks
from deciban.errors import InputError
from deciban.explanation import explanations, rows
from deciban.explanation.counterfactual import Change, Changes, Counterfactual, Problem, Row, search
from deciban.explanation.curve import Curve, evidence_curve
from deciban.explanation.explanation import Explanation
from deciban.explanation.explanations import Explanations
from deciban.explanation.importance import Importance, sum_pieces
from deciban.explanation.nomogram import Nomogram, build_nomogram
from deciban.explanation.plot import Plot
from deciban.explanation.weights import DECIBANS
from deciban.families.piece import Piece
from deciban.labels import Labels, position
from deciban.sources import column_names
from deciban.sources.held import HeldTable

FloatArray = NDArray[np.float64]


class Explainable:
    """The methods that say why."""

    classes_: Labels

    if TYPE_CHECKING:

        def predict_proba(self, X: Any) -> FloatArray:
            """``P(c | x)``, (rows, classes)."""

        def evidence(self, X: Any, against: Hashable = None) -> Any:
            """Decibans, (rows, features, classes)."""

        def prior_evidence(self, against: Hashable = None) -> FloatArray:
            """Decibans of the prior, (classes,)."""

    #: Whether the evidence of a feature depends on its own value alone.
    _additive = True
    #: What stands for a value that a row does not have.
    _hole: float | None = None

    def explain(self, row: object, against: Hashable = None) -> Explanation:
        """Why this row gets its answer: the answer against the runner-up, or ``against``.

        A row is a dict (features left out are missing), a one-row frame, a list
        or array of values, or a text.

        >>> from deciban import NaiveBayes
        >>> X, y = {"x": ["S", "S", "L"]}, ["a", "a", "b"]
        >>> print(NaiveBayes(smoothing=1, calibrate=False).fit(X, y).explain({"x": "L"}))
        b rather than a: 64.0 %
               decibans
        x = L      +4.3                  │▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇
        prior      -1.8           ▇▇▇▇▇▇▇│
        total      +2.5                  │▇▇▇▇▇▇▇▇▇
        """
        self._check_fitted()
        X = rows.table(self, [rows.one_row(self, row)])
        return self.explain_rows(X, against)[0]

    def explain_rows(self, X: Any, against: Hashable = None) -> Explanations:
        """The explanation of every row of a table: arrays, and an object when one is asked for.

        >>> from deciban import NaiveBayes
        >>> m = NaiveBayes(smoothing=1, calibrate=False).fit({"x": ["S", "S", "L"]}, [1, 1, 2])
        >>> both = m.explain_rows({"x": ["S", "L"]})
        >>> both.total.round(1), both[1].answer
        (array([5.3, 2.5]), 2)
        """
        self._check_fitted()
        kept = HeldTable(X, rows.features(self), by_name=hasattr(self, "schema_"))
        first = self.classes_[0] if len(self.classes_) else None
        prior, evidence = self.prior_evidence(first), self.evidence(kept.X, first)
        probabilities = explanations.posterior(prior, evidence)
        if np.isnan(probabilities).any():
            probabilities = self.predict_proba(kept.X)
        answer, other = explanations.best_two(probabilities)
        at = position(against, self.classes_)
        if at is not None:
            # Where that class is the answer, it is compared with the runner-up.
            other = np.where(answer == at, other, at)
        names = tuple(rows.features(self))
        words = getattr(self, "_word_evidence", None)
        return Explanations(
            self.classes_,
            names,
            probabilities,
            answer,
            other,
            prior,
            evidence,
            kept.row,
            rows.ignored(self),
            words,
            lambda i, b: self._exact_evidence(kept, i, b),
        )

    def importance(self) -> Importance:
        """Which features carry how much: their expected evidence, in decibans a row.

        >>> from deciban import NaiveBayes
        >>> X = {"size": ["S", "S", "L", "L"], "noise": [1, 2, 1, 2]}
        >>> print(NaiveBayes(smoothing=1, calibrate=False).fit(X, [1, 1, 2, 2]).importance())
        feature  decibans a row
        size                2.4  ▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇
        noise               0.0
        """
        self._check_fitted()
        return Importance.from_evidence(self._importance(), self.classes_.tolist())

    def curve(self, column: str, against: Hashable = None, level: float = 0.95) -> Curve:
        """What each value of a column says for every class, and how sure that is.

        Numbers give a curve, categories a table. A time's hour and day of the
        week, and whether a value is missing, have curves of their own, such as
        ``"picked (weekday)"`` and ``"age (missing)"``.

        >>> from deciban import NaiveBayes
        >>> X, y = {"x": ["S", "S", "L"]}, ["a", "a", "b"]
        >>> c = NaiveBayes(smoothing=1, calibrate=False).fit(X, y).curve("x")
        >>> bool((c.low < c.decibans).all() and (c.decibans < c.high).all())
        True
        """
        self._check_fitted()
        pieces = {piece.name: piece for piece in self._additive_pieces()}
        if column not in pieces:
            raise column_names.unknown(str(column), list(pieces))
        at = position(against, self.classes_)
        return evidence_curve(pieces[column], self.classes_, at, level)

    def nomogram(self, of: Hashable = None, against: Hashable = None) -> Nomogram:
        """Points for every value, their total, and the probability: for a pencil.

        The probability is that of the class ``of`` against one other: of two
        classes the second against the first, of more the commonest against the next.

        >>> from deciban import NaiveBayes
        >>> m = NaiveBayes(smoothing=1, calibrate=False).fit({"x": ["S", "S", "L"]}, [1, 1, 2])
        >>> m.nomogram().of, m.nomogram().probability(0).__round__(2)
        (2, 0.23)
        """
        self._check_fitted()
        texts = rows.texts(self)
        if texts:
            raise InputError(
                f"{texts[0]!r} is a text: its words have no scale.", hint="explain shows them"
            )
        a, b = self._pair(of, against)
        prior = self.prior_evidence(self.classes_[0])
        return build_nomogram(self._additive_pieces(), self.classes_, prior, a, b)

    def counterfactual(
        self,
        row: object,
        target: Hashable = None,
        fixed: Iterable[str] = (),
        max_changes: int | None = None,
    ) -> Counterfactual | None:
        """The fewest values to change for another answer, or for ``target``; None if none do.

        Values are those seen in training; features in ``fixed`` stay as they are.
        See :mod:`deciban.explanation.counterfactual`.

        >>> from deciban import NaiveBayes
        >>> m = NaiveBayes(smoothing=1, calibrate=False).fit({"x": ["S", "S", "L"]}, [1, 1, 2])
        >>> print(m.counterfactual({"x": "S"}))
        2 instead of 1, 22.9% -> 64.0%
        x: S -> L  +7.8
        """
        self._check_fitted()
        one = rows.one_row(self, row)
        problem = Problem(one, self._trial_values(fixed), self._log_odds, self._answer)
        limit = len(one)
        if max_changes is not None:
            limit = checks.whole_number("max_changes", max_changes, 1, "None is no limit")
        changes = search(problem, position(target, self.classes_), limit)
        return None if not changes else self._counterfactual(one, changes)

    @property
    def plot(self) -> Plot:
        """The charts of this model.

        >>> from deciban import NaiveBayes
        >>> m = NaiveBayes().fit({"x": ["S", "S", "L"]}, [1, 1, 2])
        >>> type(m.plot.evidence("x")).__name__
        'LayerChart'
        """
        return Plot(self)

    # ------------------------------------------------------------------ hooks of a model

    def _pieces(self) -> Sequence[Piece]:
        """The tables that the model adds up; none if it has no such tables."""
        return ()

    def _importance(self) -> dict[str, FloatArray]:
        """The expected evidence of each feature for every class, (classes,) by feature."""
        prior = self.prior_evidence(self.classes_[0]) / DECIBANS
        share = np.exp(prior - prior.max())
        return sum_pieces(self._known_pieces(), share / share.sum(), rows.features(self))

    def _check_fitted(self) -> None:
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self)

    def _known_pieces(self) -> Sequence[Piece]:
        pieces = self._pieces()
        if not pieces:
            raise InputError(
                f"{type(self).__name__} has no tables of evidence.",
                hint="explain works without",
            )
        return pieces

    def _additive_pieces(self) -> Sequence[Piece]:
        """The tables of evidence, if that of a value does not depend on the other features."""
        if not self._additive:
            raise InputError(
                f"what a value says depends on the other features in {type(self).__name__}.",
                hint="explain shows what it says in one row",
            )
        return self._known_pieces()

    # ------------------------------------------------------------------ inside

    def _exact_evidence(self, kept: HeldTable, i: int, b: int) -> tuple[FloatArray, FloatArray]:
        """The evidence of one row against class b, also where some class is impossible."""
        against = self.classes_[b]
        values = dict(zip(rows.features(self), kept.row(i), strict=True))
        one = rows.table(self, [rows.one_row(self, values)])
        return self.prior_evidence(against), self.evidence(one, against)[0]

    def _pair(self, of: Hashable, against: Hashable) -> tuple[int, int]:
        """The two classes that are compared."""
        if len(self.classes_) < 2:
            raise InputError("there is only one class.", hint="a nomogram compares two")
        a, b = position(of, self.classes_), position(against, self.classes_)
        if a is None:
            common = self.prior_evidence(self.classes_[0]).argsort(kind="stable")[::-1].tolist()
            order = [1, 0] if len(self.classes_) == 2 else common
            a = next(c for c in order if c != b)
        if b is None:
            common = self.prior_evidence(self.classes_[0]).argsort(kind="stable")[::-1].tolist()
            b = next(c for c in common if c != a)
        if a == b:
            raise InputError(f"{of!r} is compared with itself.", hint="name two classes")
        return a, b

    def _trial_values(self, fixed: Iterable[str]) -> dict[str, Sequence[Any]]:
        """The values to try, by feature."""
        names = rows.features(self)
        stay = {fixed} if isinstance(fixed, str) else set(fixed)
        for name in stay:
            if name not in names:
                raise column_names.unknown(str(name), names)
        return {
            piece.feature: piece.values
            for piece in self._known_pieces()
            if piece.name == piece.feature and piece.feature not in stay
        }

    def _log_odds(self, some: Sequence[Row]) -> FloatArray:
        """Decibans of whole rows for every class against the first, (rows, classes)."""
        first = self.classes_[0]
        evidence = self.evidence(rows.table(self, some), first)
        with np.errstate(invalid="ignore"):
            total = evidence.sum(axis=1) + self.prior_evidence(first)
        return np.asarray(np.nan_to_num(total, nan=0.0, posinf=1e6, neginf=-1e6))

    def _answer(self, row: Row) -> int:
        return int(self.predict_proba(rows.table(self, [row]))[0].argmax())

    def _counterfactual(self, row: Row, changes: Changes) -> Counterfactual:
        before, after = self.predict_proba(rows.table(self, [row, {**row, **changes}]))
        a, b = int(before.argmax()), int(after.argmax())
        odds = self._log_odds([row, *({**row, name: value} for name, value in changes.items())])
        ahead = odds[:, b] - odds[:, a]
        gains = tuple(
            Change(name, row[name], value, float(gain))
            for (name, value), gain in zip(changes.items(), ahead[1:] - ahead[0], strict=True)
        )
        labels = self.classes_.tolist()
        return Counterfactual(labels[a], labels[b], gains, float(before[b]), float(after[b]))
