"""NaiveBayes: the estimator of mixed tables."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted

from deciban import decision, explanation, labels, scores, storage
from deciban.calibration import Calibration
from deciban.choices import Choice, Wishes
from deciban.counts import Counts
from deciban.engines import threads
from deciban.errors import InputError, ModelFileError, ParameterError
from deciban.mixed import files
from deciban.mixed.model import Model
from deciban.mixed.rows import Rows, gather, learn
from deciban.params import fixed_prior
from deciban.schema import Schema
from deciban.settings import check_smoothing
from deciban.source.columns import Batch
from deciban.storage.document import field

FloatArray = NDArray[np.float64]

#: A temperature is fitted on no more rows than this, evenly spaced.
CALIBRATION_ROWS = 50_000


class NaiveBayes(ClassifierMixin, BaseEstimator):
    """Naive Bayes on tables as they are: numbers, categories, booleans, times, with holes.

    It takes frames (pandas, Polars, pyarrow), arrays, lists of dicts, and files
    or queries with ``target`` naming the column of labels. One pass over the
    rows fills a table of counts; how each column is modelled, how much it is
    smoothed and whether a hole says something is then chosen by the table.

    Parameters
    ----------
    kinds
        ``{column: kind}`` where inference is to be overruled; see :mod:`deciban.schema`
    numeric
        ``"auto"``, ``"gaussian"``, ``"histogram"`` (bins of equal frequency) or ``"mdl"``
    missing
        ``"auto"``, ``"skip"`` (a hole says nothing) or ``"value"`` (it is a value of its own)
    smoothing
        ``"auto"`` (empirical Bayes, column by column), a number >= 0, or ``{column: number}``
    method
        ``"bayes"``, ``"map"`` or ``"ml"``
    prior
        class priors: None (as counted), ``"uniform"``, or probabilities in the order of the classes
    calibrate
        whether the evidence is discounted so that probabilities can be trusted; False
        is the pure model

    >>> rows = [{"size": "S", "age": 1}, {"size": "M", "age": None}, {"size": "L", "age": 9}]
    >>> m = NaiveBayes(calibrate=False).fit(rows, ["a", "a", "b"])
    >>> m.predict([{"size": "L", "age": 8}])
    array(['b'], dtype='<U1')

    """

    model_: Model
    classes_: NDArray[Any]
    target_: str | None
    n_features_in_: int

    def __init__(
        self,
        *,
        kinds: Mapping[str, str] | None = None,
        numeric: str = "auto",
        missing: str = "auto",
        smoothing: Any = "auto",
        method: str = "bayes",
        prior: Any = None,
        calibrate: bool = True,
    ) -> None:
        self.kinds = kinds
        self.numeric = numeric
        self.missing = missing
        self.smoothing = smoothing
        self.method = method
        self.prior = prior
        self.calibrate = calibrate

    # ------------------------------------------------------------------ learning

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        target: str | None = None,
        sql: str | None = None,
        sample_weight: Any = None,
    ) -> Self:
        """Count the rows of a table, with labels ``y`` or in the column ``target``."""
        wishes = self._wishes()
        rows = gather(self, X, y, target, sql, sample_weight, kinds=self.kinds)
        counts = learn(rows, rows.schema)
        self._adopt(Model(rows.schema, counts, wishes, self._prior_for(counts)))
        rows.remember(self)
        if self.calibrate:
            self.model_ = self.model_.calibrated(self._measured(rows))
        return self

    def partial_fit(
        self,
        X: Any,
        y: Any = None,
        classes: Any = None,
        *,
        target: str | None = None,
        sql: str | None = None,
        sample_weight: Any = None,
    ) -> Self:
        """Count some more rows; a class that appears later is allowed."""
        if not hasattr(self, "model_"):
            return self.fit(X, y, target=target, sql=sql, sample_weight=sample_weight)
        rows = gather(self, X, y, target, sql, sample_weight, schema=self.schema_)
        before = self.model_
        self._with(before.counts + learn(rows, self.schema_), before.calibration)
        if self.calibrate:
            more = self._measured(rows)
            kept = before.calibration or Calibration.nothing()
            self.model_ = self.model_.calibrated(kept + more)
        return self

    def forget(
        self,
        X: Any,
        y: Any = None,
        *,
        target: str | None = None,
        sql: str | None = None,
        sample_weight: Any = None,
    ) -> Self:
        """Take rows back that were counted before, exactly; the discount stays as it is."""
        check_is_fitted(self)
        rows = gather(self, X, y, target, sql, sample_weight, schema=self.schema_)
        before = self.model_
        self._with(before.counts - learn(rows, self.schema_), before.calibration)
        return self

    def decay(self, factor: float) -> Self:
        """Multiply the weight of everything learned so far."""
        check_is_fitted(self)
        before = self.model_
        kept = before.calibration
        self._with(before.counts * factor, None if kept is None else kept * factor)
        return self

    def recalibrate(
        self,
        X: Any,
        y: Any = None,
        *,
        target: str | None = None,
        sql: str | None = None,
        sample_weight: Any = None,
    ) -> Self:
        """Fit the discount anew on rows that are counted."""
        check_is_fitted(self)
        rows = gather(self, X, y, target, sql, sample_weight, schema=self.schema_)
        self.model_ = self.model_.calibrated(self._measured(rows))
        return self

    def __add__(self, other: object) -> Self:
        """The model of both data sets."""
        return self._combined(other, lambda a, b: a + b)

    def __sub__(self, other: object) -> Self:
        """The model without the rows of the other."""
        return self._combined(other, lambda a, b: a - b)

    def _combined(self, other: object, combine: Callable[[Counts, Counts], Counts]) -> Self:
        if not isinstance(other, NaiveBayes):
            raise InputError(
                f"NaiveBayes and {type(other).__name__} do not add up.",
                hint="combine two models of this class",
            )
        check_is_fitted(self)
        check_is_fitted(other)
        if [(c.name, c.kind) for c in self.schema_.columns] != [
            (c.name, c.kind) for c in other.schema_.columns
        ]:
            raise InputError(
                "the models have different columns or kinds of columns.",
                hint="state the kinds of columns where inference differs",
            )
        result: Self = clone(self)
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self, name):
                setattr(result, name, getattr(self, name))
        mine, theirs = self.model_.calibration, other.model_.calibration
        counts = combine(self.model_.counts, other.model_.counts)
        both = mine + theirs if mine is not None and theirs is not None else mine
        grown = counts.weight.sum() > self.model_.counts.weight.sum()
        result._adopt(
            Model(
                self.schema_,
                counts,
                self._wishes(),
                result._prior_for(counts),
                both if grown else mine,
            )
        )
        return result

    # ------------------------------------------------------------------ scoring

    def predict_joint_log_proba(self, X: Any) -> FloatArray:
        """``log P(c, x)`` of every row and class; the evidence is discounted if calibrated."""
        return self._scored(X, lambda joint: None)

    def predict_log_proba(self, X: Any) -> FloatArray:
        """``log P(c | x)`` of every row and class."""
        return self._scored(
            X, lambda joint: scores.normalise(joint, self.model_.log_prior, logarithm=True)
        )

    def predict_proba(self, X: Any) -> FloatArray:
        """``P(c | x)`` of every row and class; rows sum to one."""
        return self._scored(X, lambda joint: scores.normalise(joint, self.model_.log_prior))

    def predict(self, X: Any) -> NDArray[Any]:
        """The likeliest class of every row."""
        posterior = self.predict_proba(X)
        return np.asarray(self.classes_[posterior.argmax(axis=1)])

    def decide(self, X: Any, loss: Any = None, abstain: float | None = None) -> NDArray[Any]:
        """The answer of least expected loss; None is an abstention."""
        return decision.decide(self.predict_proba(X), self.classes_, loss, abstain)

    def evidence(self, X: Any, against: Any = None) -> FloatArray:
        """Decibans of every column for every class, (rows, columns, classes), prior apart."""
        check_is_fitted(self)
        at = explanation.position(against, self.classes_)
        parts = [self.model_.explain(batch) for batch in self._batches(X)]
        shape = (0, len(self.schema_.names), len(self.classes_))
        return explanation.decibans(np.concatenate([np.empty(shape), *parts]), at)

    def prior_evidence(self, against: Any = None) -> FloatArray:
        """Decibans of the prior for every class."""
        check_is_fitted(self)
        return explanation.decibans(
            self.model_.log_prior, explanation.position(against, self.classes_)
        )

    def leave_one_out(
        self,
        X: Any,
        y: Any = None,
        *,
        target: str | None = None,
        sql: str | None = None,
        sample_weight: Any = None,
    ) -> FloatArray:
        """``log P(c | x)`` of counted rows, each as if it had never been seen.

        The choices (bins, smoothing, shapes, discount) stay; exact for one scoring pass.
        """
        check_is_fitted(self)
        rows = gather(self, X, y, target, sql, sample_weight, schema=self.schema_)

        def work(part: tuple[Batch, NDArray[np.intp], FloatArray]) -> FloatArray:
            prior, said = self.model_.left_out(*part)
            joint = prior + self.model_.discount * said
            scores.normalise(joint, self.model_.log_prior, logarithm=True)
            return joint

        return np.concatenate(list(threads.run(work, rows.coded(self.classes_))))

    def _scored(self, X: Any, finish: Callable[[FloatArray], None]) -> FloatArray:
        check_is_fitted(self)

        def work(batch: Batch) -> FloatArray:
            joint = np.empty((batch.n_rows, len(self.classes_)))
            self.model_.fill_joint(batch, joint)
            finish(joint)
            return joint

        _ = self.model_.params  # once, before the threads ask for it
        parts = list(threads.run(work, self._batches(X)))
        return np.concatenate([np.empty((0, len(self.classes_))), *parts])

    def _batches(self, X: Any) -> Iterator[Batch]:
        return gather(self, X, None, None, None, None, schema=self.schema_).batches()

    # ------------------------------------------------------------------ files

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a ``.deciban`` file: whole, or not at all."""
        check_is_fitted(self)
        named = hasattr(self, "feature_names_in_")
        storage.save(path, files.to_stored(self.model_, self.get_params(), self.target_, named))

    @classmethod
    def from_stored(cls, stored: storage.Stored) -> Self:
        """The estimator of a file that was read."""
        model = files.from_stored(stored)
        about = stored.description
        try:
            found = cls(**field(about, "parameters", dict))
        except TypeError:
            raise ModelFileError("the parameters are not those of NaiveBayes.") from None
        found._wishes()
        found._adopt(model)
        found.target_ = about["target"]
        found.n_features_in_ = len(model.schema.names)
        if field(about, "named", bool):
            found.feature_names_in_ = labels.objects(model.schema.names)
        return found

    # ------------------------------------------------------------------ the model

    @property
    def schema_(self) -> Schema:
        """What each column is, and why."""
        return self.model_.schema

    @property
    def choices_(self) -> dict[str, Choice]:
        """How each counted column is modelled."""
        return self.model_.choices

    @property
    def counts_(self) -> Counts:
        """The table of counts."""
        return self.model_.counts

    @property
    def temperature_(self) -> float:
        """One over the discount of the evidence: 1 is the pure model."""
        return 1.0 / self.model_.discount

    def _adopt(self, model: Model) -> None:
        _ = model.params  # fails before anything changes
        self.model_ = model
        self.classes_ = model.counts.classes

    def _with(self, counts: Counts, calibration: Calibration | None) -> None:
        self._adopt(
            Model(self.schema_, counts, self._wishes(), self._prior_for(counts), calibration)
        )

    def _measured(self, rows: Rows) -> Calibration:
        """The calibration of counted rows: evenly spaced ones, if there are many."""
        stride = max(1, round(rows.n_rows / CALIBRATION_ROWS))
        total = Calibration.nothing()
        for batch, y, weight in rows.coded(self.classes_, stride):
            prior, said = self.model_.left_out(batch, y, weight)
            total = total + Calibration.of(prior, said, y, weight)
        return total * stride

    def _prior_for(self, counts: Counts) -> Any:
        if self.prior is None:
            return None
        return np.exp(fixed_prior(self.prior, len(counts.classes)))

    def _wishes(self) -> Wishes:
        for name, allowed in (
            ("numeric", ("auto", "gaussian", "histogram", "mdl")),
            ("missing", ("auto", "skip", "value")),
            ("method", ("bayes", "map", "ml")),
        ):
            if getattr(self, name) not in allowed:
                raise ParameterError(
                    f"{name} must be one of {', '.join(map(repr, allowed))}, "
                    f"got {getattr(self, name)!r}.",
                    hint=f"{allowed[0]!r} is the default",
                )
        if isinstance(self.smoothing, Mapping):
            for value in self.smoothing.values():
                check_smoothing(value)
        elif self.smoothing != "auto":
            check_smoothing(self.smoothing)
        return Wishes(self.numeric, self.missing, self.smoothing, self.method)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags
