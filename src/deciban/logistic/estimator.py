"""Logistic regression as an estimator: a thin shell over :mod:`deciban.logistic.solvers`."""

from __future__ import annotations

import os
import warnings
from contextlib import nullcontext
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from deciban import checks, encoding, threads
from deciban import files as storage
from deciban.logistic import closed
from deciban.logistic import solvers as logistic
from deciban.logistic import stored as files
from deciban.logistic.answering import Answering
from deciban.logistic.checks import row_weights, several
from deciban.logistic.solvers import Prior, Problem, Solution, split
from deciban.logistic.solvers.choice import MOST_NEWTON
from deciban.logistic.solvers.dense import Dense
from deciban.logistic.solvers.sparse import Sparse
from deciban.sources.matrix import finite_matrix, is_sparse
from deciban.transaction import all_or_nothing

FloatArray = NDArray[np.float64]

#: A fit keeps a full posterior if it costs no more operations than this.
MOST_WORK = 1e8


class LogisticRegression(Answering):
    """Maximum conditional likelihood with an L2 penalty: the optimum, or a warning.

    Minimises ``sum_i loss_i + lam / 2 * |w|**2`` with a free intercept.

    Parameters
    ----------
    C
        one over the penalty, as scikit-learn's users know it
    lam
        the penalty itself, instead of C; 0 is allowed
    multi_class
        three or more classes: ``"softmax"``, one model of all; ``"ovr"``, one
        classifier a class against the rest. Two classes are one classifier
    fit_intercept
        whether scores have a constant term
    class_weight
        None, ``"balanced"``, or a mapping of classes to weights
    solver
        ``"auto"`` by the size of the problem (see :mod:`deciban.logistic.solvers.choice`),
        ``"newton"``, ``"newton-cg"``, ``"lbfgs"``, or ``"gradient"``, the textbook's descent
    start
        ``"zero"``, or ``"bayes"``: begin at the naive Bayes solution
    tol
        the largest derivative at the end, as a share of the rows' weight
    max_iter
        the most iterations; None is 200, for gradients alone 10,000
    warm_start
        begin where the last fit ended

    >>> m = LogisticRegression(C=1.0).fit([[-1.0], [0.0], [1.0], [2.0]], ["a", "a", "b", "b"])
    >>> m.coef_.round(3), m.intercept_.round(3)
    (array([[0.958]]), array([-0.479]))

    """

    _posteriors: list[Prior] | None

    def __init__(
        self,
        C: float = 1.0,
        *,
        lam: float | None = None,
        multi_class: str = "softmax",
        fit_intercept: bool = True,
        class_weight: Any = None,
        solver: str = "auto",
        start: str = "zero",
        tol: float = 1e-8,
        max_iter: int | None = None,
        warm_start: bool = False,
    ) -> None:
        self.C = C
        self.lam = lam
        self.multi_class = multi_class
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.solver = solver
        self.start = start
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the optimum of these rows; what was learned before is forgotten.

        >>> m = LogisticRegression(lam=2.0).fit([[-1.0], [1.0]], [0, 1])
        >>> m.coef_.round(3)                       # w = 1 / (1 + exp(w))
        array([[0.401]])
        """
        with all_or_nothing(self):
            self._check_settings()
            y = encoding.require_labels(y, type(self).__name__)
            X = finite_matrix(self, X, reset=True)
            encoding.check_length(X, len(y), "X")
            labelled = encoding.class_codes(y)
            several(labelled.classes)
            before = self._coefficients() if self.warm_start and hasattr(self, "coef_") else None
            same = before is not None and np.array_equal(self.classes_, labelled.classes)
            self.classes_ = labelled.classes
            priors = self._penalties(X.shape[1])
            weight = self._weights(labelled.codes, sample_weight)
            problems = self._problems(X, labelled.codes, weight, priors)
            starts = before if same else None
            if starts is None or starts.shape != np.hstack([p.centre for p in priors]).shape:
                starts = self._starts(X, labelled.codes, weight, problems)
            solutions = self._solved(problems, starts)
            self._adopt(solutions)
            self._posteriors = _posteriors(problems, solutions, MOST_WORK)
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from some more rows; the first call names all the classes there will be.

        What was learned so far is kept as a normal distribution of the
        coefficients (Laplace's approximation), and is the prior of the next
        rows. One batch gives what ``fit`` gives; later ones each solve a small
        problem of their own. Up to 1,500 coefficients the distribution has a
        full precision matrix, beyond that (and after a large ``fit``) its diagonal.
        A closed form (:meth:`from_gaussian`) has none: it becomes the centre of the penalty.

        >>> m = LogisticRegression().partial_fit([[-1.0], [0.5]], [0, 1], classes=[0, 1])
        >>> m.partial_fit([[0.0], [1.0]], [0, 1]).coef_.shape
        (1, 1)
        """
        with all_or_nothing(self):
            self._check_settings()
            first = not hasattr(self, "coef_")
            y = encoding.require_labels(y, type(self).__name__)
            self.classes_ = encoding.partial_fit_classes(classes, None if first else self.classes_)
            several(self.classes_)
            X = finite_matrix(self, X, reset=first)
            encoding.check_length(X, len(y), "X")
            codes = encoding.codes_of(y, self.classes_)
            priors = self._penalties(X.shape[1]) if first else self._learned()
            weight = self._weights(codes, sample_weight)
            problems = self._problems(X, codes, weight, priors)
            solutions = self._solved(problems, np.hstack([prior.centre for prior in priors]))
            self._adopt(solutions)
            self._posteriors = _posteriors(problems, solutions)
        return self

    @classmethod
    def from_gaussian(cls, model: Any) -> Self:
        """The same classifier as a Gaussian naive Bayes of shared variances, in closed form.

        ``w_j = (mu_1j - mu_0j) / s_j**2``: see docs/logistic.md for the derivation.

        >>> from deciban.naive_bayes import GaussianNB
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
        >>> nb = GaussianNB(shared_variance=True, var_smoothing=0).fit(X, y)
        >>> m = LogisticRegression.from_gaussian(nb)
        >>> m.coef_, m.intercept_
        (array([[8.]]), array([-12.]))
        """
        var = closed.shared_variance(model)
        W = closed.of_gaussian(np.asarray(model.theta_), var, np.asarray(model.class_prior_))
        found = cls()
        found.classes_ = np.asarray(model.classes_)
        several(found.classes_)
        W = W[:, 1:] - W[:, :1] if W.shape[1] == 2 else W - W.mean(axis=1, keepdims=True)
        found.coef_, found.intercept_ = np.ascontiguousarray(W[:-1].T), W[-1].copy()
        found.n_iter_ = np.zeros(1, dtype=np.int64)
        found.n_features_in_ = len(W) - 1
        found._posteriors = None
        if hasattr(model, "feature_names_in_"):
            found.feature_names_in_ = model.feature_names_in_
        return found

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a ``.deciban`` file; :func:`deciban.load` reads it.

        >>> import tempfile, deciban
        >>> m = LogisticRegression().fit([[-1.0], [1.0]], ["a", "b"])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     m.save(f"{folder}/m.deciban")
        ...     deciban.load(f"{folder}/m.deciban").predict([[3.0]])
        array(['b'], dtype='<U1')
        """
        check_is_fitted(self)
        storage.save(path, files.to_stored(self))

    @classmethod
    def from_stored(cls, stored: storage.Stored) -> Self:
        """The model of a file, checked."""
        parameters, state = files.from_stored(stored, cls._get_param_names())
        found = cls(**parameters)
        found._check_settings()
        for name, value in state.items():
            setattr(found, name, value)
        return found

    # ------------------------------------------------------------------ fitting

    def _check_settings(self) -> None:
        checks.one_of("multi_class", self.multi_class, "softmax", "ovr")
        checks.one_of("start", self.start, "zero", "bayes")
        checks.number("tol", self.tol, "1e-8 is usual", above=True)
        if self.max_iter is not None:
            checks.number("max_iter", self.max_iter, "None is usual", least=1)
        logistic.choose(self.solver, 1, 1)
        self._lam()

    def _lam(self) -> float:
        if self.lam is not None:
            return checks.number("lam", self.lam, "0 is no penalty, 1 is usual")
        return 1.0 / checks.number("C", self.C, "lam=0 is no penalty", above=True)

    def _weights(self, codes: NDArray[np.intp], sample_weight: Any) -> FloatArray | None:
        return row_weights(sample_weight, self.class_weight, self.classes_, codes)

    def _penalties(self, n_columns: int) -> list[Prior]:
        """One prior for each problem that is solved."""
        K = len(self.classes_)
        single = K == 2 or self._one_by_one()
        lam, number = self._lam(), K if self._one_by_one() else 1
        prior = Prior.l2(lam, n_columns, 1 if single else K, intercept=bool(self.fit_intercept))
        return [prior] * number

    def _learned(self) -> list[Prior]:
        """What is known so far, as the prior of what comes."""
        if self._posteriors:
            return self._posteriors
        penalties = self._penalties(self.n_features_in_)
        centres = np.hsplit(self._coefficients(), len(penalties))
        return [Prior(W, p.precision) for W, p in zip(centres, penalties, strict=True)]

    def _problems(
        self, X: Any, codes: NDArray[np.intp], weight: FloatArray | None, priors: list[Prior]
    ) -> list[Problem]:
        intercept = bool(self.fit_intercept)
        design = (Sparse if is_sparse(X) else split.design)(X, intercept, threads.run)
        if len(priors) == 1:
            return [Problem(design, codes, priors[0], weight, run=threads.run)]
        return [
            Problem(design, (codes == c).astype(np.intp), prior, weight, run=threads.run)
            for c, prior in enumerate(priors)
        ]

    def _starts(
        self, X: Any, codes: NDArray[np.intp], weight: FloatArray | None, problems: list[Problem]
    ) -> FloatArray:
        """Zero, or as far towards naive Bayes as lowers the objective."""
        shape = problems[0].prior.centre.shape
        if self.start == "zero":
            return np.zeros((shape[0], shape[1] * len(problems)))
        W = closed.naive_bayes(X, codes, len(self.classes_), weight)[: shape[0]]
        W = W[:, 1:] - W[:, :1] if len(self.classes_) == 2 else W - W.mean(axis=1, keepdims=True)
        parts = np.hsplit(W, len(problems))
        return np.hstack([_scaled(p, part) for p, part in zip(problems, parts, strict=True)])

    def _solved(self, problems: list[Problem], starts: FloatArray) -> list[Solution]:
        usual = 10_000 if self.solver in ("gradient", "lbfgs") else 200
        most = usual if self.max_iter is None else int(self.max_iter)
        parts = np.hsplit(np.ascontiguousarray(starts), len(problems))
        alone = nullcontext() if isinstance(problems[0].design, Dense) else threads.without_blas()
        with alone:
            return [
                _checked(problem, logistic.solve(problem, part.copy(), self.solver, self.tol, most))
                for problem, part in zip(problems, parts, strict=True)
            ]

    def _adopt(self, solutions: list[Solution]) -> None:
        W = np.hstack([solution.point.W for solution in solutions])
        if self.fit_intercept and len(solutions) == 1 and W.shape[1] > 1:
            W[-1] -= W[-1].mean()  # softmax sees differences only
        d = len(W) - bool(self.fit_intercept)
        self.coef_ = np.ascontiguousarray(W[:d].T)
        self.intercept_ = W[d].copy() if self.fit_intercept else np.zeros(W.shape[1])
        self.n_iter_ = np.array([solution.n_iter for solution in solutions])

    def _coefficients(self) -> FloatArray:
        """Coefficients and intercept as the solvers have them."""
        parts = [self.coef_.T, self.intercept_[None]] if self.fit_intercept else [self.coef_.T]
        return np.vstack(parts)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _posteriors(
    problems: list[Problem], solutions: list[Solution], most_work: float = np.inf
) -> list[Prior]:
    """Laplace's approximation: each optimum, and the curvature there."""
    found = []
    for problem, solution in zip(problems, solutions, strict=True):
        size = solution.point.W.size
        small = size <= MOST_NEWTON and len(problem.y) * size**2 <= most_work
        curvature = problem.hessian if small or problem.prior.full else problem.diagonal
        found.append(Prior(solution.point.W, curvature(solution.point)))
    return found


def _scaled(problem: Problem, W: FloatArray) -> FloatArray:
    """W, W / 2, W / 4 and so on: naive Bayes counts what columns share more than once."""
    best, lowest = np.zeros_like(W), problem.at(np.zeros_like(W)).value
    for halvings in range(8):
        point = problem.at(W / 2**halvings)
        if point.value >= lowest and np.any(best):
            break
        if point.value < lowest:
            best, lowest = point.W, point.value
    return best


def _checked(problem: Problem, solution: Solution) -> Solution:
    """Say so where there is no optimum, or where it was not reached."""
    free = not problem.prior.diagonal()[: problem.design.width - 1].any()
    if free and problem.separated(solution.point):
        warnings.warn(
            "the classes are perfectly separable and lam is 0: there is no optimum, coefficients "
            "grow without end. Hint: lam > 0 makes the optimum exist.",
            ConvergenceWarning,
            stacklevel=4,
        )
    elif not solution.converged:
        warnings.warn(
            f"no convergence after {solution.n_iter} iterations: the largest derivative is "
            f"{problem.steepness(solution.point):.1e} of the rows' weight. "
            "Hint: raise max_iter, scale the columns, or use another solver.",
            ConvergenceWarning,
            stacklevel=4,
        )
    return solution
