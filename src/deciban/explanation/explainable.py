"""What a classifier needs to give reasons: a mixin over a model and the evidence of its rows.

A classifier has a fitted ``model_``, whose protocol says what reasons are made of: its schema and
classes, the contributions of rows, the tables that an additive model adds up, and the words of a
text in their places. Rows are tables by name; :class:`MatrixExplainable` has those of matrices.
"""

from __future__ import annotations

import operator
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from deciban import threads
from deciban.encoding.unseen import NOTHING_UNSEEN, Unseen, unseen_values
from deciban.errors import InputError
from deciban.explanation import explanations
from deciban.explanation.changeable import Changeable, M
from deciban.explanation.curve import Curve, evidence_curve
from deciban.explanation.explanation import Explanation
from deciban.explanation.explanations import Explanations, Marks
from deciban.explanation.importance import Importance, importance_of
from deciban.explanation.measurement import mean_curves, measure
from deciban.explanation.nomogram import Nomogram, build_nomogram
from deciban.explanation.plot import Plot
from deciban.explanation.strongest import Search, StrongestEvidence, strongest_words
from deciban.families.piece import Piece
from deciban.labels import position
from deciban.models.measured_evidence import MeasuredEvidence
from deciban.models.novelty import novelty as novelties
from deciban.models.scores import decibans
from deciban.sources import column_names
from deciban.sources.batch import Batch
from deciban.sources.held import HeldTable
from deciban.sources.labelled import LabelledBatch
from deciban.sources.row import read_row
from deciban.sources.tabular import LabelsLike, Row, Tabular, Value

FloatArray = NDArray[np.float64]


class Explainable(Changeable[M]):
    """The methods that say why."""

    #: The column of labels in training, which a row may have as well.
    target_: str | None = None
    #: What the last rows had that training did not.
    _unseen: Unseen = NOTHING_UNSEEN

    if TYPE_CHECKING:

        @property
        def model_(self) -> M:
            """The fitted model."""

        def _model(self) -> M:
            """The fitted model; an error if there is none yet."""

        def predict_proba(self, X: Tabular) -> FloatArray:
            """``P(c | x)``, (rows, classes)."""

        def prior_evidence(self, against: Hashable = None) -> FloatArray:
            """Decibans of the prior, (classes,)."""

        def _hold(self, X: Tabular) -> HeldTable:
            """The rows of a table, checked and held in memory."""

        def _labelled(
            self, X: Tabular, y: LabelsLike, target: str | None
        ) -> Iterable[LabelledBatch]:
            """Labelled rows, in the columns of the model."""

    def explain(self, row: object, against: Hashable = None, novelty: bool = False) -> Explanation:
        """Why this row gets its answer: the answer against the runner-up, or ``against``.

        A row is a dict (features left out are missing), a one-row frame, a list
        or array of values, or a text. With ``novelty``, it is also said how much of what was
        learned the row is unlike.

        >>> from deciban import NaiveBayes
        >>> X, y = {"x": ["S", "S", "L"]}, ["a", "a", "b"]
        >>> print(NaiveBayes(smoothing=1, calibrate=False).fit(X, y).explain({"x": "L"}))
        b rather than a: 64.0 %
               decibans
        x = L      +4.3                  │▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇
        prior      -1.8           ▇▇▇▇▇▇▇│
        total      +2.5                  │▇▇▇▇▇▇▇▇▇
        """
        model = self._model()
        held = self._hold_rows(model, [self._read_row(model, row)])
        why = self._explain(model, held, against)[0]
        if not novelty:
            return why
        (share,) = self._held_novelty(model, held).tolist()
        return replace(why, novelty=share)

    def _held_novelty(self, model: M, held: HeldTable) -> FloatArray:
        """The novelty of held rows, of which there are few, (rows,)."""
        return novelties(model, held.batches[0])

    def explain_rows(self, X: Tabular, against: Hashable = None) -> Explanations:
        """The explanation of every row of a table: arrays, and an object when one is asked for.

        >>> from deciban import NaiveBayes
        >>> m = NaiveBayes(smoothing=1, calibrate=False).fit({"x": ["S", "S", "L"]}, [1, 1, 2])
        >>> both = m.explain_rows({"x": ["S", "L"]})
        >>> both.total.round(1), both[1].answer
        (array([5.3, 2.5]), 2)
        """
        return self._explain(self._model(), self._hold(X), against)

    def importance(
        self, X: Tabular = None, y: LabelsLike = None, *, target: str | None = None
    ) -> Importance:
        """Which features carry how much: their mean evidence for the true class, in decibans a row.

        It is measured on rows of training, or on those that are given: ``X`` with labels ``y`` or
        in the column ``target``. See :mod:`deciban.explanation.importance`.

        >>> from deciban import NaiveBayes
        >>> X = {"size": ["S", "S", "L", "L"], "noise": [1, 2, 1, 2]}
        >>> m = NaiveBayes(smoothing=1, calibrate=False).fit(X, [1, 1, 2, 2])
        >>> print(m.importance())
        feature  decibans a row
        size                4.8  ▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇
        noise               0.0
        >>> m.importance({"size": ["S"], "noise": [1]}, [2])["size"].decibans.__round__(1)
        -4.8
        """
        model = self._model()
        if X is not None:
            measured = self._measure(model, X, y, target)
            return Importance.of_measured(model.schema.names, measured, self.classes_)
        weights = importance_of(model)
        if weights is None:
            raise InputError(
                f"what the columns of this {model.kind} say was not measured in training.",
                hint="importance(X, y) measures it on rows",
            )
        return weights

    def curve(
        self,
        column: str,
        against: Hashable = None,
        level: float = 0.95,
        *,
        X: Tabular = None,
    ) -> Curve:
        """What each value of a column says for every class, and how sure that is.

        Numbers give a curve, categories a table. A time's hour and day of the
        week, and whether a value is missing, have curves of their own, such as
        ``"picked (weekday)"`` and ``"age (missing)"``.

        Where what a value says depends on the other columns, the curve is the mean over rows of
        training with about that value, without a band; over the rows of ``X``, if they are given.

        >>> from deciban import NaiveBayes
        >>> X, y = {"x": ["S", "S", "L"]}, ["a", "a", "b"]
        >>> c = NaiveBayes(smoothing=1, calibrate=False).fit(X, y).curve("x")
        >>> bool((c.low < c.decibans).all() and (c.decibans < c.high).all())
        True
        """
        model = self._model()
        if X is not None:
            some: Sequence[Piece] = self._mean_curves(model, X)
        else:
            some = self._additive_pieces() if model.additive else self._measured_curves(model)
        pieces = {piece.name: piece for piece in some}
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
        texts = self._model().schema.texts
        if texts:
            raise InputError(
                f"{texts[0]!r} is a text: its words have no scale.", hint="explain shows them"
            )
        a, b = self._pair(of, against)
        prior = self.prior_evidence(self.classes_[0])
        return build_nomogram(self._additive_pieces(), self.classes_, prior, a, b)

    def words(
        self,
        class_: Hashable,
        n: int = 20,
        *,
        column: str | None = None,
        against: Hashable = None,
        min_texts: int = 3,
    ) -> StrongestEvidence:
        """The strongest words, or phrases, of texts for a class, in decibans.

        Words that fewer than ``min_texts`` texts of training had are left out, where the model has
        counted that; ``column`` is one of several texts. See :mod:`deciban.explanation.strongest`.

        >>> from deciban import NaiveBayes
        >>> texts, y = ["free money", "free lunch", "see you", "lunch money"], [1, 1, 0, 0]
        >>> m = NaiveBayes(smoothing=1, calibrate=False).fit(texts, y)
        >>> print(m.words(1, n=1, min_texts=2))
        The strongest words for 1
              decibans                            rows of 1, of others
        free      +4.8  ▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇                  2, 0
        """
        model = self._model()
        search = Search.among(model, class_, n, against, min_texts)
        return strongest_words(model, search, column)

    @property
    def plot(self) -> Plot:
        """The charts of this model.

        >>> from deciban import NaiveBayes
        >>> m = NaiveBayes().fit({"x": ["S", "S", "L"]}, [1, 1, 2])
        >>> type(m.plot.evidence("x")).__name__
        'LayerChart'
        """
        return Plot(self)

    # ------------------------------------------------------------------ the model

    def _html_repr(self) -> str:
        """The estimator in a notebook: what it has learned, and scikit-learn's diagram."""
        from sklearn.utils import estimator_html_repr
        from sklearn.utils.validation import _is_fitted

        diagram = str(estimator_html_repr(self))
        if not _is_fitted(self, "classes_"):
            return diagram
        from deciban.explanation.learned import learned_html

        return learned_html(self._model()) + diagram

    def _known_pieces(self) -> Sequence[Piece]:
        pieces = self._model().pieces()
        if not pieces:
            raise InputError(
                f"{type(self).__name__} has no tables of evidence: what its columns were in "
                "training is not known.",
                hint="explain works without; curve(column, X=rows) measures one",
            )
        return pieces

    def _additive_pieces(self) -> Sequence[Piece]:
        """The tables of evidence, if that of a value does not depend on the other features."""
        if not self._model().additive:
            raise InputError(
                f"what a value says depends on the other features in {type(self).__name__}.",
                hint="explain shows what it says in one row, curve(column) on average",
            )
        return self._known_pieces()

    def _measured_curves(self, model: M) -> Sequence[Piece]:
        """The curves that were measured in training, where evidence depends on other features."""
        measured = model.measured_evidence
        curves = () if measured is None else measured.among(model.classes).curves
        if not curves:
            raise InputError(
                f"what a value says depends on the other features in {type(self).__name__}, and "
                "was not measured in training, or of other classes.",
                hint="curve(column, X=rows) measures it",
            )
        return curves

    # ------------------------------------------------------------------ measuring

    def _measure(self, model: M, X: Tabular, y: LabelsLike, target: str | None) -> MeasuredEvidence:
        """What the columns say in labelled rows."""
        parts = (part for part in self._labelled(X, y, target) if part.batch.n_rows)
        each = list(threads.run(lambda part: measure(model, part), parts))
        if not each:
            raise InputError("there are no rows.", hint="give a table with labelled rows")
        return reduce(operator.add, each)

    def _mean_curves(self, model: M, X: Tabular) -> list[Piece]:
        """The mean contribution of about the same values in some rows."""
        batch = Batch.concatenate(list(self._hold(X).batches))
        return list(
            mean_curves(model.schema, batch, model.contributions(batch), np.ones(batch.n_rows))
        )

    # ------------------------------------------------------------------ rows

    def _read_row(self, model: M, row: object) -> dict[str, Value]:
        """The values of a row by the names of the columns; what is not named is absent."""
        return read_row(row, model.schema, ignore=self.target_, absent=model.absent_value)

    def _hold_rows(self, model: M, rows: Sequence[Row]) -> HeldTable:
        """Some rows as a table."""
        return HeldTable.of_rows(rows, model.schema.names, model.caster)

    def _held_evidence(self, model: M, held: HeldTable, against: int) -> FloatArray:
        """Decibans of held rows, (rows, columns, classes)."""
        return self._batch_evidence(model, held.batches, against)

    def _batch_evidence(
        self, model: M, batches: Iterable[Batch], against: int | None
    ) -> FloatArray:
        """Decibans of the rows of all batches, (rows, columns, classes)."""

        def work(batch: Batch) -> FloatArray:
            return decibans(model.contributions(batch), against)

        none = np.empty((0, len(model.schema.names), len(model.classes)))
        return np.concatenate([none, *threads.run(work, batches)])

    def _explain(self, model: M, held: HeldTable, against: Hashable) -> Explanations:
        evidence, prior = self._held_evidence(model, held, 0), decibans(model.log_prior, 0)
        probabilities = explanations.posterior(prior, evidence)
        if np.isnan(probabilities).any():
            probabilities = self.predict_proba(held.X)
        unseen, marks = self._held_marks(model, held)
        if unseen is not self._unseen:
            self._unseen = unseen
        answer, other = explanations.best_two(probabilities)
        at = None if against is None else position(against, self.classes_)
        if at is not None:
            # Where that class is the answer, it is compared with the runner-up.
            other = np.where(answer == at, other, at)

        def exact_evidence(i: int, b: int) -> tuple[FloatArray, FloatArray]:
            row = dict(zip(model.schema.names, held.row(i), strict=True))
            one = self._hold_rows(model, [self._read_row(model, row)])
            return decibans(model.log_prior, b), self._held_evidence(model, one, b)[0]

        return Explanations(
            model, probabilities, answer, other, prior, evidence, held.row, exact_evidence, marks
        )

    def _held_marks(self, model: M, held: HeldTable) -> tuple[Unseen, Marks]:
        """What held rows have that training did not, and in which of them."""
        return self._mark_unseen(model, held.batches)

    def _mark_unseen(self, model: M, batches: Iterable[Batch]) -> tuple[Unseen, Marks]:
        """What some rows have that training did not, and the reason by row and column."""
        unseen, start = NOTHING_UNSEEN, 0
        marks: Marks = {}
        for batch in batches:
            rows = model.unseen_rows(batch)
            if rows or batch.uncast:
                unseen += unseen_values(model.schema, batch, rows)
                explanations.mark(marks, start, unseen, rows)
                uncast = {name: some.rows for name, some in batch.uncast.items()}
                explanations.mark(marks, start, unseen, uncast)
            start += batch.n_rows
        return unseen, marks

    # ------------------------------------------------------------------ classes compared

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
