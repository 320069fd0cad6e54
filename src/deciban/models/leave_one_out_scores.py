"""The log posteriors of training rows that were left out: all that an evaluation needs of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["MAX_STORED_SCORES", "MIN_STORED_ROWS", "LeaveOneOutScores"]

FloatArray = NDArray[np.float64]

#: No more scores than this are written to a file, one for each row and class: 1.6 MB.
MAX_STORED_SCORES = 200_000
#: Of so many classes that fewer rows than these were left, none are written.
MIN_STORED_ROWS = 100


@dataclass(frozen=True, eq=False)
class LeaveOneOutScores:
    """Log posteriors, (rows, classes), of training rows, each taken out of what was learned.

    ``codes`` are the positions of their true classes. Models of counts leave each row out of the
    counts, a regression out of its optimum, and models that are fitted in folds hold it out.
    """

    log_posterior: FloatArray
    codes: NDArray[np.intp]
    weight: FloatArray

    @classmethod
    def of(
        cls,
        log_posterior: FloatArray,
        codes: NDArray[np.intp],
        weight: FloatArray,
        stands_for: FloatArray | float = 1.0,
    ) -> LeaveOneOutScores:
        """Those of the rows that weigh anything.

        Where some rows stand for more than others, they weigh more, in the mean what they weighed.
        """
        each = np.broadcast_to(stands_for, weight.shape)
        if np.ptp(each) > 0:
            weight = weight * (each / np.average(each, weights=weight))
        there = np.flatnonzero(weight > 0)
        return cls(log_posterior[there], codes[there], weight[there])

    def thin(self) -> LeaveOneOutScores | None:
        """Evenly spaced rows, as many as a file holds; None where that would be too few.

        >>> scores = LeaveOneOutScores(np.zeros((6, 90_000)), np.zeros(6, int), np.ones(6))
        >>> scores.thin() is None
        True
        """
        n_rows, n_classes = self.log_posterior.shape
        most = MAX_STORED_SCORES // n_classes
        if n_rows <= most:
            return self
        if most < MIN_STORED_ROWS:
            return None
        some = slice(None, None, -(-n_rows // most))
        return LeaveOneOutScores(self.log_posterior[some], self.codes[some], self.weight[some])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LeaveOneOutScores) and all(
            np.array_equal(getattr(self, name), getattr(other, name)) for name in vars(self)
        )

    __hash__ = None  # type: ignore[assignment]
