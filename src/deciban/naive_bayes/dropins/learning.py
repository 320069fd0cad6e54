"""How a drop-in classifier learns: rows are counted, chunk by chunk on all cores, and added up.

A subclass names its family and says how rows are encoded (``_encoder``) and how parameters are
estimated (``_settings``, ``_stated_prior``); its fitted attributes show what the model holds.
"""

from __future__ import annotations

from copy import copy
from typing import Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from deciban import encoding, threads
from deciban.families.protocol import Family
from deciban.families.settings import Settings
from deciban.labels import Labels
from deciban.models.leave_one_out_scores import KeptScores, pool
from deciban.models.prior import StatedPrior, check_prior
from deciban.naive_bayes.dropins.answers import MatrixClassifier
from deciban.naive_bayes.dropins.left_out import score_units
from deciban.naive_bayes.dropins.model import BLOCK, UNWEIGHTED, DropInModel, Encoder
from deciban.sources import matrix
from deciban.sources.kept_rows import MAX_KEPT_ROWS, NOTHING_KEPT, KeptRows
from deciban.sources.matrix import (
    CheckedMatrix,
    FloatArray,
    MatrixRows,
    numbers_per_row,
    slice_rows,
)
from deciban.sources.matrix_units import rows_by_place, take_units, units_of
from deciban.sources.tabular import Tabular, UnitsLike
from deciban.sources.unit_sample import TrainingUnits, check_units, later_units
from deciban.sources.units import UnitSource
from deciban.stats.cells import Cells
from deciban.stats.counts import Counts
from deciban.stats.statistic import Matrix
from deciban.stats.table import Table

#: Checked rows, their classes by number, all classes, and weights.
CountedRows: TypeAlias = tuple[CheckedMatrix, encoding.Codes, Labels, FloatArray | None]


class LearningClassifier(MatrixClassifier):
    """A classifier that turns rows into counts, and these into a model."""

    _family: Family
    #: Whether rows are counted without their weights as well.
    _unweighted = False
    #: Whether scores start from the prior where there are several classes.
    _prior_of_many = True
    #: What is known of the groups or times of the rows; None where they had none.
    units_: TrainingUnits | None = None

    # ------------------------------------------------------------------ learning

    def fit(
        self,
        X: Tabular,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        groups: UnitsLike = None,
        time: UnitsLike = None,
    ) -> Self:
        """Count the rows of X, labelled y, and forget whatever was counted before.

        ``groups`` are what rows belong to, such as a patient: one value a row, the name of a
        column of a frame, which is no feature then, or ``"auto"`` for rows that hold the same.
        Sets, novelty and ``evaluate()`` leave whole groups out, exactly. With ``time``, each row
        is judged by what came before it. What is counted, and every answer, is the same.

        >>> from deciban.naive_bayes import MultinomialNB
        >>> MultinomialNB().fit([[2, 1], [0, 3]], ["spam", "ham"]).feature_count_
        array([[0., 3.],
               [2., 1.]])
        """
        fitted, units = copy(self), None  # what fails leaves this one as it was
        fitted.__dict__.pop("units_", None)  # of rows learned before
        if groups is not None or time is not None:
            X, units = fitted._take_units(X, groups, time, first=True)
        X, y = fitted._check_rows(X, y, reset=True)
        labelled = encoding.class_codes(y)
        given = sample_weight is not None
        weight = encoding.weights(sample_weight, len(y)) if given else None
        rows = X, labelled.codes, labelled.classes, weight
        fitted._learn(rows, units)
        self.__dict__ = fitted.__dict__
        return self

    def partial_fit(
        self,
        X: Tabular,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        groups: UnitsLike = None,
        time: UnitsLike = None,
    ) -> Self:
        """Count some more rows; the first call names all the classes there will be.

        ``groups`` or ``time`` are as in :meth:`fit`; all calls have the same of both, or neither.
        Rows of a group that was learned in an earlier call are counted, but not judged.

        >>> from deciban.naive_bayes import MultinomialNB
        >>> m = MultinomialNB().partial_fit([[2, 1]], ["spam"], classes=["ham", "spam"])
        >>> m.partial_fit([[0, 3]], ["ham"]).class_count_
        array([1., 1.])
        """
        first = "model_" not in self.__dict__
        known = encoding.partial_fit_classes(classes, None if first else self.classes_)
        fitted = copy(self)  # what fails leaves this one as it was
        units = None
        if any(each is not None for each in (self.units_, groups, time)):
            X, units = fitted._take_units(X, groups, time, first=first)
        X, y = fitted._check_rows(X, y, reset=first)
        codes = encoding.codes_of(y, known)
        rows = X, codes, known, encoding.weights(sample_weight, len(codes))
        fitted._learn(rows, units, None if first else self.model_)
        self.__dict__ = fitted.__dict__
        return self

    # ------------------------------------------------------------------ what a subclass says

    def _encoder(self) -> Encoder:
        """How rows are counted and scored."""
        raise NotImplementedError

    def _countable(self, rows: MatrixRows, cells: Cells) -> Matrix:
        """A chunk of rows as they are counted into these cells, checked."""
        return self._encoder().encode(rows, cells)

    def _settings(self, counts: Counts) -> Settings:
        """How parameters are estimated."""
        raise NotImplementedError

    def _stated_prior(self) -> StatedPrior:
        """The class prior as it is stated; None is as counted."""
        raise NotImplementedError

    def _cells(self, X: CheckedMatrix) -> Cells:
        """The cells that the rows fall into."""
        return Cells(np.arange(X.shape[1]))

    def _n_cells(self, cells: Cells) -> int:
        """How many cells there are: one a column."""
        return len(cells.columns)

    def _copies(self, X: CheckedMatrix) -> bool:
        """Whether encoding makes a copy of the rows."""
        sparse = not isinstance(X, np.ndarray)
        plain = X.dtype == np.float64 and (sparse or X.flags.c_contiguous)
        return not plain or (self._dense and sparse)

    # ------------------------------------------------------------------ counting

    def _count(
        self,
        X: CheckedMatrix,
        codes: encoding.Codes,
        classes: Labels,
        weight: FloatArray | None,
    ) -> Counts:
        """The counts of checked rows: chunks counted by all cores, then added up in order."""
        tables = {BLOCK: self._count_table(X, codes, len(classes), weight)}
        rows = tables[BLOCK].rows
        if self._unweighted:
            plain = weight is None
            tables[UNWEIGHTED] = (
                tables[BLOCK] if plain else self._count_table(X, codes, len(classes), None)
            )
        return Counts(classes, rows, tables)

    def _count_table(
        self, X: CheckedMatrix, codes: encoding.Codes, n_classes: int, weight: FloatArray | None
    ) -> Table:
        rows = np.bincount(codes, weight, n_classes).astype(np.float64)
        cells, statistic = self._cells(X), self._family.statistic

        def work(part: slice) -> Table:
            some = None if weight is None else weight[part]
            matrix = self._countable(slice_rows(X, part), cells)
            sums = statistic.count(matrix, codes[part], n_classes, some, cells)
            return Table(statistic, cells, rows, sums)

        chunks = self._count_chunks(X, n_classes * self._n_cells(cells))
        parts = [work(chunks[0])] if len(chunks) == 1 else threads.run(work, chunks)
        total: Table | None = None
        for part in parts:
            total = part if total is None else total + part
        assert total is not None
        return Table(statistic, cells, rows, total.sums)

    def _count_chunks(self, X: CheckedMatrix, table_size: int) -> list[slice]:
        return threads.count_chunks(X.shape[0], self._width(X), table_size, copied=self._copies(X))

    def _width(self, X: CheckedMatrix) -> int:
        """How many numbers an encoded row holds."""
        return int(X.shape[1]) if self._dense else numbers_per_row(X)

    def _empty(self, classes: Labels) -> Counts:
        """The counts of no rows: all columns and these classes."""
        none = np.empty((0, self.n_features_in_))
        return self._count(none, np.empty(0, dtype=np.intp), classes, None)

    # ------------------------------------------------------------------ the model

    def _take_units(
        self, X: Tabular, groups: UnitsLike, time: UnitsLike, *, first: bool
    ) -> tuple[Tabular, UnitSource | None]:
        """Rows without the column of their units, and these, which the first rows fix."""
        source = later_units(self.units_, groups, time, fixed=not first)
        X, units = take_units(X, source)
        if units is not None and self.units_ is None:
            self.units_ = TrainingUnits(units.kind, units.name)
        return X, units

    def _learn(
        self, rows: CountedRows, units: UnitSource | None, before: DropInModel | None = None
    ) -> None:
        """Count rows, beside those of the model ``before``; keep some, or judge those of units."""
        counts, scores = self._count(*rows), None
        if before is not None:
            counts, scores = before.counts + counts, before.scores
        if units is None or self.units_ is None:
            kept = KeptRows.of(*rows)
            self._adopt(counts, kept if before is None else before.kept + kept, scores)
            return
        sample = self.units_.sample(MAX_KEPT_ROWS)
        sample.add(rows_by_place(units_of(units, rows[0]), *rows[1:]))
        if before is None:
            check_units(sample)
        self.units_.check_order(sample)
        self._adopt(counts)
        judged = pool(scores, score_units(self.model_, rows[0], sample))
        self.model_, self.units_ = self.model_.with_left_out(judged), self.units_.after(sample)

    def _adopt(
        self,
        counts: Counts,
        kept: KeptRows = NOTHING_KEPT,
        scores: KeptScores | None = None,
    ) -> None:
        """Make these counts the model, with rows among them and what was said of others."""
        stated, n_classes = self._stated_prior(), len(counts.classes)
        self.model_ = DropInModel(
            type(self).__name__,
            self._names(),
            counts,
            self._family,
            self._settings(counts),
            None if stated is None else check_prior(stated, n_classes),
            self._encoder(),
            self._prior_of_many or n_classes == 1,
            kept,
            scores,
        )
        self.classes_ = counts.classes

    def _names(self) -> list[str] | None:
        """The names of the columns of the matrix, if it had any."""
        names = vars(self).get("feature_names_in_")
        return None if names is None else [str(name) for name in names]

    # ------------------------------------------------------------------ checking

    def _check_rows(self, X: Tabular, y: ArrayLike, *, reset: bool) -> tuple[CheckedMatrix, Labels]:
        y = encoding.require_labels(y, type(self).__name__)
        X = self._check_matrix(X, reset=reset)
        encoding.check_length(X, len(y), "X")
        return X, y

    def _check_matrix(self, X: Tabular, *, reset: bool = False) -> CheckedMatrix:
        """A matrix or CSR of the right width."""
        if not reset:
            check_is_fitted(self)
        return matrix.validate(self, X, reset=reset)
