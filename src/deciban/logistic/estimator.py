"""Logistic regression as an estimator: a thin shell over its fitting and its model."""

from __future__ import annotations

import os
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import Tags

from deciban import encoding, files
from deciban.errors import ModelFileError, ParameterError
from deciban.evaluation.classifier import HasClassCount, HasFeatureNames
from deciban.files.model import with_units
from deciban.labels import Labels
from deciban.logistic import closed_form, fitting, penalty, stored
from deciban.logistic.bounds import seen_range, union
from deciban.logistic.checks import check_finite, check_several, row_weights
from deciban.logistic.classifier import LinearClassifier
from deciban.logistic.columns import ColumnSummary, summarises_all, summarize
from deciban.logistic.fitting import Options
from deciban.logistic.held_out import FoldFit, TrainingRows, refuse_more_rows, split_units
from deciban.logistic.left_out import FittedRows
from deciban.logistic.options import check_options
from deciban.logistic.solvers import Prior, Problem
from deciban.models.class_weights import ClassWeight
from deciban.progress import shows_progress
from deciban.sources.kept_rows import KeptRows
from deciban.sources.matrix import CheckedMatrix, finite_matrix
from deciban.sources.matrix_units import take_units
from deciban.sources.tabular import Tabular, UnitsLike
from deciban.sources.unit_folds import Split
from deciban.sources.unit_sample import TrainingUnits
from deciban.sources.units import unit_source
from deciban.transaction import all_or_nothing

FloatArray = NDArray[np.float64]


class LogisticRegression(LinearClassifier):
    """Maximum conditional likelihood with an L2 penalty: the optimum, or a warning.

    Minimises ``sum_i loss_i + lam / 2 * |w|**2`` with a free intercept.

    Parameters
    ----------
    C
        one over the penalty, as scikit-learn's users know it; ``"auto"`` leaves it to the rows,
        each left out of the fit (see :mod:`deciban.logistic.penalty`), and ``C_`` is what they say;
        a number beyond all that were seen then says what the outermost one says
    lam
        the penalty itself, instead of C; 0 is allowed
    multi_class
        three or more classes: ``"softmax"``, one model of all; ``"ovr"``, one
        classifier a class against the rest. Two classes are one classifier
    fit_intercept
        whether logits have a constant term
    class_weight
        None, ``"balanced"``, or a mapping of classes to weights
    solver
        ``"auto"`` by the size of the problem (see :mod:`deciban.logistic.solvers.selection`),
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

    C_: float
    _posteriors: list[Prior] | None
    _columns: ColumnSummary | None
    _bounds: FloatArray | None
    #: What is known of the groups or times of the rows; None where they had none.
    units_: TrainingUnits | None = None

    def __init__(
        self,
        C: float | str = 1.0,
        *,
        lam: float | None = None,
        multi_class: str = "softmax",
        fit_intercept: bool = True,
        class_weight: ClassWeight = None,
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

    @shows_progress("learning")
    def fit(
        self,
        X: Tabular,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        groups: UnitsLike = None,
        time: UnitsLike = None,
    ) -> Self:
        """Find the optimum of these rows; what was learned before is forgotten.

        ``groups`` are what rows belong to, such as a patient: one value a row, the name of a
        column of a frame, which is no feature then, or ``"auto"`` for rows that hold the same.
        The penalty of ``C="auto"``, sets, novelty and ``evaluate()`` then rest on folds that hold
        whole groups out; with ``time``, on folds that hold out what came later.

        >>> m = LogisticRegression(lam=2.0).fit([[-1.0], [1.0]], [0, 1])
        >>> m.coef_.round(3)                       # w = 1 / (1 + exp(w))
        array([[0.401]])
        """
        with all_or_nothing(self):
            options, units = self._options(), None
            y = encoding.require_labels(y, type(self).__name__)
            if groups is not None or time is not None:
                X, units = take_units(X, unit_source(groups, time))
            X = finite_matrix(self, X, reset=True)
            encoding.check_length(X, len(y), "X")
            labelled = encoding.class_codes(y)
            check_several(labelled.classes)
            warm = self.warm_start and self._knows(labelled.classes, X.shape[1])
            self.classes_ = labelled.classes
            weight = self._row_weights(labelled.codes, sample_weight)
            rows = TrainingRows(X, labelled.codes, weight, labelled.classes)
            self.units_, splits = (None, None) if units is None else split_units(rows, units)
            problems = self._first_problems(X, labelled.codes, weight, options, splits)
            start = (
                self._coefficients() if warm else self._start(X, labelled.codes, weight, problems)
            )
            self._solve(problems, start, options, fitting.MAX_POSTERIOR_FLOPS)
            self._bounds = seen_range(X, weight) if options.lam is None else None
            self._columns = summarize(X, labelled.codes, weight, len(self.classes_))
            if splits is None:
                self._keep_rows(X, labelled.codes, weight, None)
            else:
                lam = 1.0 / self.C_ if options.lam is None else options.lam
                self._left_out = FoldFit(options, lam, self._coefficients()).score(rows, splits)
        return self

    def partial_fit(
        self,
        X: Tabular,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
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
            options = self._options()
            first = not self._is_fitted()
            refuse_more_rows(self.units_)
            y = encoding.require_labels(y, type(self).__name__)
            self.classes_ = encoding.partial_fit_classes(classes, None if first else self.classes_)
            check_several(self.classes_)
            X = finite_matrix(self, X, reset=first)
            encoding.check_length(X, len(y), "X")
            codes = encoding.codes_of(y, self.classes_)
            weight = self._row_weights(codes, sample_weight)
            if first:
                problems = self._first_problems(X, codes, weight, options)
            else:
                priors = self._posteriors or self._penalties_around(X, codes, weight, options)
                problems = fitting.problems(X, codes, weight, priors, options.fit_intercept)
            start = np.hstack([problem.prior.centre for problem in problems])
            before = vars(self).get("_fitted")
            self._solve(problems, start, options)
            if first:
                self._bounds = seen_range(X, weight) if options.lam is None else None
            elif self._bounds is not None:
                self._bounds = union(self._bounds, seen_range(X, weight))
            known = None if first else self._columns
            more = summarize(X, codes, weight, len(self.classes_))
            self._columns = more if known is None else known + more
            self._keep_rows(X, codes, weight, None if first else before)
        return self

    @classmethod
    def from_gaussian(cls, model: closed_form.GaussianClassifier) -> Self:
        """The classifier that a Gaussian naive Bayes of shared variances is, in closed form.

        ``w_j = (mu_1j - mu_0j) / s_j**2``: see docs/logistic.md for the derivation.

        >>> from deciban.naive_bayes import GaussianNB
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
        >>> nb = GaussianNB(shared_variance=True, var_smoothing=0).fit(X, y)
        >>> m = LogisticRegression.from_gaussian(nb)
        >>> m.coef_, m.intercept_
        (array([[8.]]), array([-12.]))
        """
        var = closed_form.shared_variance(model)
        mean, prior = np.asarray(model.theta_), np.asarray(model.class_prior_)
        result = cls()
        result.classes_ = np.asarray(model.classes_)
        check_several(result.classes_)
        W = fitting.identified(closed_form.gaussian_coefficients(mean, var, prior))
        result._set_coefficients(W)
        result.n_iter_ = np.zeros(1, dtype=np.int64)
        result.n_features_in_ = len(W) - 1
        result._posteriors = result._bounds = None
        weight = np.asarray(model.class_count_ if isinstance(model, HasClassCount) else prior)
        result._columns = closed_form.gaussian_columns(mean, var, weight)
        if isinstance(model, HasFeatureNames):
            result.feature_names_in_ = model.feature_names_in_
        return result

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write the model to a ``.deciban`` file; :func:`deciban.load` reads it.

        A model file that is there is replaced; any other file only if ``overwrite`` is True.

        >>> import tempfile, deciban
        >>> m = LogisticRegression().fit([[-1.0], [1.0]], ["a", "b"])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     m.save(f"{folder}/m.deciban")
        ...     deciban.load(f"{folder}/m.deciban").predict([[3.0]])
        array(['b'], dtype='<U1')
        """
        files.save(path, self.to_stored(), overwrite=overwrite)

    def to_stored(self) -> files.Stored:
        """What a file of the model holds."""
        model = self.model_
        posteriors = tuple((p.centre, p.precision) for p in self._posteriors or ())
        chosen = 1.0 / self.C_ if "C_" in vars(self) else None
        training = stored.Training(self.get_params(deep=False), self.n_iter_, posteriors, chosen)
        return with_units(stored.to_stored(model, training), self.units_)

    @classmethod
    def from_stored(cls, content: files.Stored) -> Self:
        """The estimator of a file, checked."""
        model, training = stored.read(content)
        try:
            result = cls(**training.parameters)
            result._options()
        except (TypeError, ParameterError) as error:
            raise ModelFileError(
                f"the parameters are not those of {cls.__name__}: {error}"
            ) from None
        result.classes_, result.n_iter_ = model.classes, training.n_iter
        result.coef_, result.intercept_ = model.coef, model.intercept
        result._columns, result.n_features_in_ = model.columns, model.coef.shape[1]
        result._bounds = model.bounds
        if model.feature_names is not None:
            result.feature_names_in_ = model.feature_names
        result._posteriors = [Prior(*posterior) for posterior in training.posteriors] or None
        result._left_out, result.units_ = model.left_out, training.units
        if training.penalty is not None:
            result.C_ = 1.0 / training.penalty
        return result

    # ------------------------------------------------------------------ fitting

    def _options(self) -> Options:
        return check_options(self.get_params(deep=False))

    def _row_weights(
        self, codes: NDArray[np.intp], sample_weight: ArrayLike | None
    ) -> FloatArray | None:
        return row_weights(sample_weight, self.class_weight, self.classes_, codes)

    def _solve(
        self,
        problems: list[Problem],
        start: FloatArray,
        options: Options,
        max_flops: float = np.inf,
    ) -> None:
        """Go to the optimum, and keep it with its posterior."""
        with np.errstate(over="ignore", invalid="ignore"):  # checked afterwards
            solutions = fitting.solve(problems, start, options)
            posteriors = fitting.laplace_posteriors(problems, solutions, max_flops)
        check_finite(posteriors)
        self._left_out = self._fitted = None  # other coefficients, other scores
        self._set_coefficients(fitting.coefficients(solutions, options.fit_intercept))
        self.n_iter_ = np.array([solution.n_iter for solution in solutions])
        self._posteriors = posteriors

    def _keep_rows(
        self,
        X: CheckedMatrix,
        codes: NDArray[np.intp],
        weight: FloatArray | None,
        before: FittedRows | None,
    ) -> None:
        """Keep some rows, with those of earlier batches, to be judged when somebody asks."""
        kept, summarised = KeptRows.of(X, codes, self.classes_, weight), summarises_all(X)
        if before is not None:
            kept, summarised = before.kept + kept, before.summarised and summarised
        model, posteriors = self.model_, self._posteriors or []
        self._fitted = FittedRows(model, kept, posteriors, bool(self.fit_intercept), summarised)

    def _start(
        self,
        X: CheckedMatrix,
        codes: NDArray[np.intp],
        weight: FloatArray | None,
        problems: list[Problem],
    ) -> FloatArray:
        """Where a fit begins unless it goes on from another, (width, logits)."""
        if self.start == "zero":
            return fitting.start_at_zero(problems)
        n_classes = len(self.classes_)
        return fitting.start_at_naive_bayes(X, codes, weight, n_classes, problems)

    def _is_fitted(self) -> bool:
        return "coef_" in vars(self)

    def _knows(self, classes: Labels, n_columns: int) -> bool:
        """Whether there are coefficients of these classes and so many columns."""
        return (
            self._is_fitted()
            and np.array_equal(self.classes_, classes)
            and self.coef_.shape[1] == n_columns
        )

    def _first_problems(
        self,
        X: CheckedMatrix,
        codes: NDArray[np.intp],
        weight: FloatArray | None,
        options: Options,
        splits: list[Split] | None = None,
    ) -> list[Problem]:
        """The problems of the first rows, which may choose the penalty."""
        lam, n_classes, n_columns = options.lam, len(self.classes_), X.shape[1]
        if "C_" in vars(self):
            del self.C_
        if lam is None:
            lam = penalty.select(X, codes, weight, n_classes, splits)
            self.C_ = 1.0 / lam
            if options.fit_intercept:
                X, codes, weight = penalty.add_prior_rows(X, codes, weight, n_classes)
        priors = fitting.l2_priors(options, lam, n_columns, n_classes)
        return fitting.problems(X, codes, weight, priors, options.fit_intercept)

    def _penalties_around(
        self,
        X: CheckedMatrix,
        codes: NDArray[np.intp],
        weight: FloatArray | None,
        options: Options,
    ) -> list[Prior]:
        """The penalty around the coefficients of a closed form, which has no posterior."""
        lam, n_classes = options.lam, len(self.classes_)
        if lam is None:
            lam = penalty.select(X, codes, weight, n_classes)
        penalties = fitting.l2_priors(options, lam, X.shape[1], n_classes)
        centres = np.hsplit(self._coefficients(), len(penalties))
        return [Prior(W, p.precision) for W, p in zip(centres, penalties, strict=True)]

    def _set_coefficients(self, W: FloatArray) -> None:
        """Coefficients and intercept from those of the solvers, (width, logits)."""
        self.coef_, self.intercept_ = fitting.split_intercept(W, bool(self.fit_intercept))

    def _coefficients(self) -> FloatArray:
        """Coefficients and intercept as the solvers have them, (width, logits)."""
        rows = [self.coef_.T, self.intercept_[None]] if self.fit_intercept else [self.coef_.T]
        return np.vstack(rows)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
