"""The reasons of a classifier of matrices: its rows have no names, or are a frame of numbers."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

from deciban import encoding
from deciban.encoding.unseen import NOTHING_UNSEEN, Unseen
from deciban.errors import ParameterError
from deciban.explanation.changeable import M
from deciban.explanation.explainable import Explainable
from deciban.explanation.explanations import Marks
from deciban.explanation.measurement import mean_curves
from deciban.families.piece import Piece
from deciban.labels import Labels
from deciban.models.measured_evidence import MeasuredEvidence
from deciban.sources.batch import Batch
from deciban.sources.frames import named_frame
from deciban.sources.held import HeldTable, refuse_sparse
from deciban.sources.matrix import scan_named
from deciban.sources.tabular import LabelsLike, Row, Tabular

FloatArray = NDArray[np.float64]


class MatrixExplainable(Explainable[M]):
    """The methods that say why, of an estimator that checks matrices as scikit-learn does."""

    feature_names_in_: Labels

    def evidence(self, X: Tabular, against: Hashable = None) -> Tabular:
        """Decibans, (rows, columns, classes); of a sparse matrix, one such matrix a class."""
        raise NotImplementedError

    def novelty(self, X: Tabular) -> FloatArray:
        """The share of training rows, each left out, as unlikely as each row, (rows,)."""
        raise NotImplementedError

    def _model(self) -> M:
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self, "model_")
        return self.model_

    def _hold(self, X: Tabular) -> HeldTable:
        """A dense matrix as it is."""
        refuse_sparse(X)
        return HeldTable.of_matrix(X)

    def _hold_rows(self, model: M, rows: Sequence[Row]) -> HeldTable:
        """Some rows as a matrix, with the names of its columns if they had names in training."""
        names = model.schema.names
        values = [[row[name] for name in names] for row in rows]
        try:
            matrix = np.array(values, dtype=np.float64)
        except (TypeError, ValueError):
            matrix = np.array(values, dtype=object)
        named = "feature_names_in_" in self.__dict__
        return HeldTable.of_matrix(named_frame(matrix, names) if named else matrix)

    def _held_novelty(self, model: M, held: HeldTable) -> FloatArray:
        """The novelty of the rows of a matrix, (rows,)."""
        return self.novelty(held.X)

    def _held_marks(self, model: M, held: HeldTable) -> tuple[Unseen, Marks]:
        """None: any number may come, and no category is among them."""
        return NOTHING_UNSEEN, {}

    def _held_evidence(self, model: M, held: HeldTable, against: int) -> FloatArray:
        """Decibans of held rows, (rows, columns, classes)."""
        return np.asarray(self.evidence(held.X, self.classes_[against]))

    def _measure(self, model: M, X: Tabular, y: LabelsLike, target: str | None) -> MeasuredEvidence:
        """What the columns say in the rows of a dense matrix."""
        if target is not None:
            raise ParameterError(
                f"target={target!r}: a matrix has no column of labels.", hint="pass y"
            )
        refuse_sparse(X)
        labels = encoding.require_labels(y, type(self).__name__)
        evidence = np.asarray(self.evidence(X))
        encoding.check_length(evidence, len(labels), "X")
        codes = encoding.codes_of(labels, self.classes_)
        return MeasuredEvidence.of_rows(evidence, codes, np.ones(len(codes)), self.classes_)

    def _mean_curves(self, model: M, X: Tabular) -> list[Piece]:
        """The mean contribution of about the same numbers in the rows of a dense matrix."""
        refuse_sparse(X)
        table = scan_named(np.asarray(X), model.schema.names)
        batch = Batch.concatenate([] if table is None else list(table))
        weight = np.ones(batch.n_rows)
        return list(mean_curves(model.schema, batch, model.contributions(batch), weight))
