"""Reasons: what every column says about every class, in decibans."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from deciban import explanation
from deciban.families import family
from deciban.naive_bayes.dropins.model import BLOCK
from deciban.naive_bayes.dropins.pieces import pieces
from deciban.naive_bayes.dropins.rows import FloatArray, Rows, canonical, is_sparse, rows_of, stored
from deciban.naive_bayes.dropins.scoring import Scoring


class Explaining(explanation.Explainable, Scoring):
    """The methods that give reasons."""

    def _pieces(self) -> list[explanation.Piece]:
        return pieces(self)

    def evidence(self, X: Any, against: Any = None) -> Any:
        """What every column says about every class, in decibans, prior apart.

        A dense X gives an array (rows, columns, classes). The evidence of the
        columns and :meth:`prior_evidence` add up to ten times the decimal
        logarithm of the odds of the joints: of a class against the class
        ``against``, or by default against the geometric mean of all others
        (for two classes: the other one).

        A sparse X gives a list with one CSR matrix (rows, columns) a class: how
        far each non-zero moves the evidence from that of a row of zeros, which
        ``prior_evidence(zeros=True)`` includes.

        >>> from deciban.naive_bayes import MultinomialNB
        >>> m = MultinomialNB().fit([[2, 1], [0, 3]], ["spam", "ham"])
        >>> m.evidence([[1, 1]])[0].round(1)           # two words; ham, spam
        array([[-4.8,  4.8],
               [ 3. , -3. ]])
        """
        X = self._checked(X)
        at = explanation.position(against, self.classes_)
        return self._sparse_evidence(X, at) if is_sparse(X) else self._dense_evidence(X, at)

    def prior_evidence(self, against: Any = None, *, zeros: bool = False) -> FloatArray:
        """What the prior says about every class; with ``zeros``, and a row of zeros.

        >>> from deciban.naive_bayes import MultinomialNB
        >>> m = MultinomialNB().fit([[1], [1], [1]], ["spam", "ham", "ham"])
        >>> m.prior_evidence().round(1)
        array([ 3., -3.])
        """
        check_is_fitted(self)
        at = explanation.position(against, self.classes_)
        prior = explanation.decibans(self._params.log_prior, at)
        if not zeros:
            return prior
        with np.errstate(invalid="ignore"):
            return np.asarray(prior + self._zero_evidence(at).sum(axis=0))

    def _dense_evidence(self, X: Any, against: int | None) -> FloatArray:
        shape = (*X.shape, len(self.classes_))
        out = np.empty(shape)

        def work(part: slice) -> None:
            rows = self._scorable(rows_of(X, part))
            out[part] = explanation.decibans(self._explain(rows), against)

        self._each_chunk(X, work, extra=shape[1] * shape[2])
        return out

    def _sparse_evidence(self, X: Any, against: int | None) -> list[Any]:
        """Value by value, so that memory follows the non-zeros."""
        X = canonical(X)
        n_classes = len(self.classes_)
        zero = self._zero_evidence(against)
        data = [np.empty(X.nnz) for _ in range(n_classes)]

        def work(part: slice) -> None:
            rows = Rows(X, part)
            said = explanation.decibans(self._explain_entries(rows), against)
            moved = _moved(said, zero[rows.indices])
            for c in range(n_classes):
                data[c][X.indptr[part.start] : X.indptr[part.stop]] = moved[:, c]

        self._each_chunk(X, work, extra=stored(X) * n_classes)
        # Every matrix has its own indices: changing one changes neither the others nor X.
        parts = ((values, X.indices.copy(), X.indptr.copy()) for values in data)
        return [type(X)(part, shape=X.shape) for part in parts]

    def _explain(self, rows: Any) -> FloatArray:
        """The log-likelihood of scorable rows: (rows, columns, classes)."""
        kind, parts = self._params.blocks[BLOCK]
        return np.asarray(family(kind).explain(parts, rows))

    def _explain_entries(self, rows: Rows) -> FloatArray:
        """The log-likelihood of every stored value: (values, classes)."""
        kind, parts = self._params.blocks[BLOCK]
        some = _columns(parts, rows.indices)
        return np.asarray(family(kind).explain(some, self._entries(rows)[None, :])[0])

    def _zero_evidence(self, against: int | None) -> FloatArray:
        zeros = self._scorable(np.zeros((1, self.n_features_in_)))
        return explanation.decibans(self._explain(zeros)[0], against)


def _columns(parts: Any, at: Any) -> Any:
    """The parameters, tables of (columns, classes), of these columns in this order."""
    tables = (getattr(parts, field.name) for field in fields(parts))
    return type(parts)(*(None if table is None else table[at] for table in tables))


def _moved(said: FloatArray, before: FloatArray) -> FloatArray:
    """The difference; infinite evidence that stays the same has not moved."""
    with np.errstate(invalid="ignore"):
        return np.where(said == before, 0.0, said - before)
