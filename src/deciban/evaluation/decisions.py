"""Decisions: the answers of least expected loss to some predictions, and what they cost.

Conventions
-----------
answers : the position of each row's answer among the classes; -1 is none.
loss : (answers, truths), over all classes; 0/1 if nothing is stated.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from deciban import decision
from deciban.decision import Loss
from deciban.errors import ShapeError
from deciban.evaluation.predictions import Predictions

FloatArray = NDArray[np.float64]
Codes = NDArray[np.intp]

#: Probabilities of a true class below this are taken for this, as scikit-learn does.
MIN_PROBABILITY = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class Decisions:
    """Predictions, the answer to each row, and the cost that is expected of it."""

    predictions: Predictions
    loss: FloatArray
    abstain: float | None
    answers: Codes
    expected_cost: FloatArray

    @property
    def log_loss(self) -> FloatArray:
        """Of every row, in nats."""
        true = self.predictions.true_probability
        return -np.log(np.clip(true, MIN_PROBABILITY, 1.0 - MIN_PROBABILITY))

    @property
    def realised_cost(self) -> FloatArray:
        """The cost of every row's answer."""
        cost = self.loss[self.answers, self.predictions.codes]
        return cost if self.abstain is None else np.where(self.answers < 0, self.abstain, cost)


def decide(predictions: Predictions, loss: Loss = None, abstain: float | None = None) -> Decisions:
    """The answers of least expected cost; only what the model knows can be an answer."""
    matrix, known = _loss_matrix(loss, predictions), predictions.n_known
    posterior = predictions.posterior[:, :known]
    used = None if loss is None else matrix[:known, :known]
    labels = decision.decide(posterior, range(known), used, abstain)
    answers = np.array([-1 if a is None else a for a in labels.tolist()], dtype=np.intp)
    risk = decision.risk(posterior, used).min(axis=1)
    expected = risk if abstain is None else np.minimum(risk, abstain)
    return Decisions(predictions, matrix, abstain, answers, expected)


def decide_commonest(decisions: Decisions) -> Decisions:
    """The baseline: always the commonest class; its probabilities are the shares of the classes.

    Where rows are left out, so is each from the shares; a class then has a row more than it
    has, since the only row of a class would leave nothing.
    """
    rows, weight = decisions.predictions, decisions.predictions.class_weight
    amount = np.tile(weight, (len(rows.codes), 1))
    if rows.leave_one_out:
        amount[:, : rows.n_known] += 1.0
        amount[np.arange(len(amount)), rows.codes] -= np.minimum(rows.weight, 1.0)
    posterior = amount / amount.sum(axis=1, keepdims=True)
    answers = np.full(len(posterior), weight.argmax())
    expected = (posterior @ decisions.loss.T)[:, weight.argmax()]
    guesses = replace(rows, posterior=posterior, is_baseline=True)
    return Decisions(guesses, decisions.loss, None, answers, expected)


def _loss_matrix(loss: Loss, predictions: Predictions) -> FloatArray:
    try:
        return decision.loss_matrix(loss, predictions.classes)
    except ShapeError as error:
        if len(predictions.classes) == predictions.n_known:
            raise
        unknown = predictions.classes[predictions.n_known :].tolist()
        raise ShapeError(
            f"{str(error).split(' Hint')[0]} The labels have {unknown}, unknown to the model.",
            hint='give the loss as pairs, {("answer", "truth"): cost}',
        ) from None
