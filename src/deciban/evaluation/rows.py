"""Labelled rows: what a model says of each, and what it answers under a loss.

Conventions
-----------
classes : those of the model in its order, then those that only the labels have.
    The model gives the latter probability 0.
codes : the position of each row's true class.
answers : the position of each row's answer; -1 is none.
loss : (answers, truths), over all classes; 0/1 if nothing is stated.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deciban import decision, encoding, labels
from deciban.encoding import Labelled
from deciban.errors import InputError, MissingValueError, ParameterError, ShapeError
from deciban.labels import Labels
from deciban.sources.target_column import split_target

FloatArray = NDArray[np.float64]
Codes = NDArray[np.intp]

#: Probabilities of a true class below this are taken for this, as scikit-learn does.
LEAST = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class LeftOut:
    """What a model said of rows it was trained on, each as if it had never been seen.

    An estimator that keeps it after ``fit`` as ``_left_out_`` can be evaluated without rows.
    """

    log_posterior: FloatArray
    codes: Codes
    weight: FloatArray

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LeftOut) and all(
            np.array_equal(getattr(self, name), getattr(other, name)) for name in vars(self)
        )

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True, eq=False)
class Said:
    """Rows with their classes, weights, and the posterior (rows, classes) of a model."""

    classes: Labels
    known: int
    posterior: FloatArray
    codes: Codes
    weight: FloatArray
    class_weight: FloatArray
    left_out: bool
    guess: bool = False

    @property
    def scores(self) -> FloatArray:
        """What rows are ranked by; a guess that leaves each row out would rank them all wrong."""
        return np.zeros_like(self.posterior) if self.guess else self.posterior


@dataclass(frozen=True, eq=False)
class Judged:
    """The same with answers and their costs."""

    said: Said
    loss: FloatArray
    abstain: float | None
    answers: Codes
    expected: FloatArray

    @property
    def log_loss(self) -> FloatArray:
        """Of every row, in nats."""
        true = self.said.posterior[np.arange(len(self.said.codes)), self.said.codes]
        return -np.log(np.clip(true, LEAST, 1.0 - LEAST))

    @property
    def realised(self) -> FloatArray:
        """The cost of every row's answer."""
        cost = self.loss[self.answers, self.said.codes]
        return cost if self.abstain is None else np.where(self.answers < 0, self.abstain, cost)


def judged(said: Said, loss: Any = None, abstain: float | None = None) -> Judged:
    """The answers of least expected cost; only what the model knows can be an answer."""
    matrix = _loss(loss, said)
    posterior, among = said.posterior[:, : said.known], matrix[: said.known, : said.known]
    used = None if loss is None else among
    told = decision.decide(posterior, range(said.known), used, abstain)
    answers = np.array([-1 if a is None else a for a in told.tolist()], dtype=np.intp)
    least = decision.risk(posterior, used).min(axis=1)
    return Judged(
        said, matrix, abstain, answers, least if abstain is None else np.minimum(least, abstain)
    )


def guessed(judged: Judged) -> Judged:
    """Always the commonest class; its probabilities are the shares of the classes.

    Where rows are left out, so is each from the shares; a class then has a row more than it
    has, since the only row of a class would leave nothing.
    """
    said, weight = judged.said, judged.said.class_weight
    amount = np.tile(weight, (len(said.codes), 1))
    if said.left_out:
        amount[:, : said.known] += 1.0
        amount[np.arange(len(amount)), said.codes] -= np.minimum(said.weight, 1.0)
    posterior = amount / amount.sum(axis=1, keepdims=True)
    answers = np.full(len(posterior), weight.argmax())
    expected = (posterior @ judged.loss.T)[:, weight.argmax()]
    return Judged(
        replace(said, posterior=posterior, guess=True), judged.loss, None, answers, expected
    )


def _loss(loss: Any, said: Said) -> FloatArray:
    try:
        return decision.loss_matrix(loss, said.classes)
    except ShapeError as error:
        if len(said.classes) == said.known:
            raise
        unknown = said.classes[said.known :].tolist()
        raise ShapeError(
            f"{str(error).split(' Hint')[0]} The labels have {unknown}, unknown to the model.",
            hint='give the loss as pairs, {("answer", "truth"): cost}',
        ) from None


# ---------------------------------------------------------------------- what a model says


def kept(model: Any) -> Said:
    """What the model said of its training rows, left out one by one."""
    found = getattr(model, "_left_out_", None)
    if not isinstance(found, LeftOut):
        raise InputError(
            f"this {type(model).__name__} keeps no leave-one-out scores of its training rows.",
            hint="pass X and y; leave_one_out=True if they are the rows it was trained on",
        )
    classes = labels.label_array(model.classes_.tolist())
    posterior = np.exp(found.log_posterior)
    weight = _class_weight(model, classes, found.codes, found.weight)
    return Said(classes, len(classes), posterior, found.codes, found.weight, weight, True)


def said(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    target: str | None = None,
    sample_weight: Any = None,
    leave_one_out: bool = False,
) -> Said:
    """What the model says of labelled rows; labels are ``y`` or the column ``target``."""
    check_model(model)
    if y is None:
        name = target if target is not None else getattr(model, "target_", None)
        if name is None:
            raise MissingValueError(
                "there are no labels: neither y nor the name of their column.",
                hint="pass y, or target='column'",
            )
        split = split_target(X, name, sample_weight, by_name=hasattr(model, "schema_"))
        X, labelled, sample_weight = split.X, split.labels, split.weight
    else:
        if target is not None:
            raise ParameterError(
                f"labels are in y or in the column {target!r}; got both.", hint="pass one of them"
            )
        labelled = encoding.class_codes(y)
    weight = encoding.weights(sample_weight, len(labelled.codes))
    posterior = _posterior(model, X, labelled, weight, leave_one_out)
    return _joined(model, posterior, labelled, weight, leave_one_out)


def check_model(model: Any) -> None:
    """Whatever has probabilities and classes is a model."""
    if not hasattr(model, "predict_proba") or not hasattr(model, "classes_"):
        raise InputError(
            f"a fitted classifier with predict_proba and classes_ is needed, "
            f"got {type(model).__name__}.",
            hint="fit it first",
        )


def _posterior(
    model: Any, X: Any, labelled: Labelled, weight: FloatArray | None, leave_one_out: bool
) -> FloatArray:
    if leave_one_out:
        if not hasattr(model, "leave_one_out"):
            raise ParameterError(
                f"{type(model).__name__} cannot leave its rows out one by one.",
                hint="evaluate it on rows that it has not seen",
            )
        truth = labelled.classes[labelled.codes]
        found = np.asarray(np.exp(model.leave_one_out(X, truth, sample_weight=weight)))
    else:
        found = np.asarray(model.predict_proba(X), dtype=np.float64)
    if found.shape != (len(labelled.codes), len(model.classes_)):
        raise ShapeError(
            f"X has {len(found)} rows, y has {len(labelled.codes)}.", hint="give one label per row"
        )
    return found


def _joined(
    model: Any,
    posterior: FloatArray,
    labelled: Labelled,
    weight: FloatArray | None,
    left_out: bool,
) -> Said:
    """The classes of both sides; a row of weight 0 is not there."""
    mine = labels.label_array(np.asarray(model.classes_).tolist())
    classes = labels.union(mine, labels.label_array(labelled.classes.tolist()))
    codes = labels.positions(labels.label_array(labelled.classes.tolist()), classes)[labelled.codes]
    full = np.zeros((len(codes), len(classes)))
    full[:, : len(mine)] = posterior
    amount = np.ones(len(codes)) if weight is None else weight
    there = np.flatnonzero(amount)
    full, codes, amount = full[there], codes[there], amount[there]
    shares = _class_weight(model, classes, codes, amount)
    return Said(classes, len(mine), full, codes, amount, shares, left_out)


def _class_weight(model: Any, classes: Labels, codes: Codes, weight: FloatArray) -> FloatArray:
    """How much of each class there was in training; if the model does not say, among the rows."""
    found = getattr(getattr(model, "counts_", None), "weight", None)
    if found is None:
        found = getattr(model, "class_count_", None)
    if found is None or np.shape(found) != np.shape(model.classes_) or not np.sum(found) > 0:
        return np.bincount(codes, weight, len(classes)).astype(np.float64)
    return np.concatenate([found, np.zeros(len(classes) - len(found))])
