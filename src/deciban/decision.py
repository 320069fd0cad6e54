"""From posteriors to answers: loss, risk, abstention and changed base rates.

A posterior says what to believe; a loss says what to do about it. The answer of
least conditional risk is the best one, and with 0/1 loss it is the most probable
class::

    risk        R(c_i | x) = sum_j loss[i][j] * P(c_j | x)
    answer      argmin_i R(c_i | x), or none if abstaining costs less
    paid        mean over rows of loss[answer][truth]
    base rates  P'(c | x)  is proportional to  P(c | x) * new[c] / old[c]
    threshold   t = a / (a + b),  a = loss[1][0] - loss[0][0],  b = loss[0][1] - loss[1][1]

Conventions
-----------
posterior
    (rows, classes) float64; every row is >= 0 and sums to 1 within 1e-6.
classes
    the K labels in the order of the columns; no label twice, none of them None.
loss
    ``loss[i][j]`` is the cost of answering ``classes[i]`` when ``classes[j]`` is
    the truth; a negative cost is a gain. ``None`` is 0/1 loss: right 0, wrong 1.
    Where a function takes no classes, the classes are ``0 .. K-1``.
abstain
    the cost of not answering, a number >= 0; ``None`` means always answer.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from numbers import Real
from reprlib import repr as short
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from deciban.errors import MissingValueError, ParameterError, ShapeError
from deciban.labels import Labels, class_array, codes_in, index_of

__all__ = [
    "decide",
    "expected_risk",
    "loss_matrix",
    "overall_risk",
    "rebase",
    "rebase_log",
    "risk",
    "threshold",
]

FloatArray: TypeAlias = npt.NDArray[np.float64]
PairCosts: TypeAlias = Mapping[tuple[Any, Any], float]
Loss: TypeAlias = npt.ArrayLike | PairCosts | None
Cost: TypeAlias = float | None
Rates: TypeAlias = npt.ArrayLike | Mapping[Any, float]

SUM_TOLERANCE = 1e-6  # how far from 1 probabilities may sum
TIE_TOLERANCE = 1e-9  # a risk this close to the cost of abstaining, relatively, is equal to it
MAX_MAGNITUDE = 1e100  # of any number given; beyond it sums could overflow


# Loss, risk and answers


def loss_matrix(loss: Loss, classes: Iterable[Hashable]) -> FloatArray:
    """The loss as a (K, K) matrix: rows are answers, columns are truths.

    A mapping ``{(answer, truth): cost}`` names the exceptions to 0/1 loss: a pair it
    does not name costs 0 if the answer is right and 1 if it is wrong.

    >>> loss_matrix({("spam", "ham"): 5}, ["ham", "spam"]).tolist()
    [[0.0, 1.0], [5.0, 0.0]]
    """
    labels = class_array(classes)
    loss = {} if loss is None else loss
    matrix = _named_costs(loss, labels) if isinstance(loss, Mapping) else _numbers(loss, "loss")
    if matrix.shape == 2 * labels.shape:
        return matrix.copy()
    message = f"loss must have shape {2 * labels.shape}, got {matrix.shape}."
    raise ShapeError(message, hint="loss[i][j] is the cost of answer i when the truth is j")


def risk(posterior: npt.ArrayLike, loss: Loss = None) -> FloatArray:
    """Conditional risk of every answer, (rows, K): what it costs on average.

    >>> risk([[0.75, 0.25]], [[0, 5], [1, 0]]).tolist()
    [[1.25, 0.75]]
    """
    p = _posterior(posterior)
    return _risk(p, _matrix_or_none(loss, range(p.shape[1])))


def decide(
    posterior: npt.ArrayLike, classes: Iterable[Hashable], loss: Loss = None, abstain: Cost = None
) -> Labels:
    """The answer of least risk for every row; of equals, the first in class order.

    With `abstain`, a row whose least risk is greater than that cost gets None, and the
    result is an object array. A risk equal to the cost (to 1e-9 of it) is answered.

    >>> decide([[0.75, 0.25], [1.0, 0.0]], ["ham", "spam"], loss=[[0, 5], [1, 0]]).tolist()
    ['spam', 'ham']
    >>> decide([[0.75, 0.25], [1.0, 0.0]], ["ham", "spam"], abstain=0.1).tolist()
    [None, 'ham']
    """
    p, labels = _posterior(posterior), class_array(classes)
    _check_columns(p, labels)
    matrix = _matrix_or_none(loss, labels)
    answers: Labels = labels[_least_risk(p, matrix)]
    if abstain is None:
        return answers
    answers = answers.astype(object)
    answers[_risk(p, matrix).min(axis=1) > abstention_cost(abstain) * (1 + TIE_TOLERANCE)] = None
    return answers


def expected_risk(posterior: npt.ArrayLike, loss: Loss = None, abstain: Cost = None) -> float:
    """Mean cost that the best answers will have, if the posterior is right.

    >>> expected_risk([[0.75, 0.25], [1.0, 0.0]])
    0.125
    """
    least = risk(posterior, loss).min(axis=1)
    return _mean(least if abstain is None else np.minimum(least, abstention_cost(abstain)))


def overall_risk(
    answers: Iterable[Hashable],
    truth: Iterable[Hashable],
    classes: Iterable[Hashable],
    loss: Loss = None,
    abstain: Cost = None,
    weights: npt.ArrayLike | None = None,
) -> float:
    """Mean cost that these answers did have; an answer None costs `abstain`.

    >>> overall_risk(["a", "b", None, "b"], ["a", "a", "a", "b"], ["a", "b"], abstain=0.5)
    0.375
    """
    labels = class_array(classes)
    index = index_of(labels)
    answered = codes_in(answers, index if abstain is None else index | {None: -1}, "answers")
    true = codes_in(truth, index, "truth")
    if answered.shape != true.shape:
        message = f"answers has {len(answered)} rows, truth has {len(true)}."
        raise ShapeError(message, hint="give one truth per row")
    matrix = _matrix_or_none(loss, labels)
    costs = (answered != true).astype(np.float64) if matrix is None else matrix[answered, true]
    if abstain is not None:
        costs[answered < 0] = abstention_cost(abstain)
    return _mean(costs, weights)


def threshold(loss: Loss) -> float:
    """The probability of class 1 above which answering class 1 has the lesser risk.

    It exists if being wrong costs more than being right, whichever class is the truth.

    >>> threshold([[0, 4], [1, 0]])
    0.2
    """
    matrix = loss_matrix(loss, range(2))
    false_alarm, miss = matrix[1, 0] - matrix[0, 0], matrix[0, 1] - matrix[1, 1]
    if false_alarm <= 0 or miss <= 0:
        message = f"loss {matrix.tolist()} has no threshold: a = {false_alarm}, b = {miss}."
        raise ParameterError(message, hint="being wrong must cost more: a > 0 and b > 0")
    return float(false_alarm / (false_alarm + miss))


# Base rates


def rebase(
    posterior: npt.ArrayLike, old: Rates, new: Rates, classes: Iterable[Hashable] | None = None
) -> FloatArray:
    """The posterior under class rates `new`, from the posterior under class rates `old`.

    Rates are one number per class, or a mapping from every one of `classes` (0 .. K-1
    if not given) to its rate; they sum to 1 within 1e-6. New rate 0 rules a class out.

    >>> rebase([[0.5, 0.5]], old=[0.5, 0.5], new=[0.75, 0.25]).round(9).tolist()
    [[0.75, 0.25]]
    """
    return np.exp(rebase_log(_log(_posterior(posterior)), old, new, classes))


def rebase_log(
    log_posterior: npt.ArrayLike, old: Rates, new: Rates, classes: Iterable[Hashable] | None = None
) -> FloatArray:
    """:func:`rebase` on natural logarithms: nothing underflows.

    The rows need not be normalised (log joints will do); the result is.

    >>> rebase_log([[-2000.0, -2000.0]], [0.5, 0.5], [1.0, 0.0]).tolist()
    [[0.0, -inf]]
    """
    logs = _check_table(log_posterior, "log_posterior", allow=-np.inf)
    labels = class_array(range(logs.shape[1]) if classes is None else classes)
    _check_columns(logs, labels)
    before, after = _rates(old, "old", labels), _rates(new, "new", labels)
    wrong = np.argwhere((logs > -np.inf) & (before == 0))
    if wrong.size:
        row, column = wrong[0].tolist()
        message = f"old is 0 for {labels.tolist()[column]!r}, its posterior in row {row} is not."
        raise ParameterError(message, hint="old is the rates that the posterior was made with")
    shift = _log(after) - np.log(before, where=before > 0, out=np.zeros_like(before))
    return _normalise(logs + shift)


# The arithmetic


def _risk(p: FloatArray, matrix: FloatArray | None) -> FloatArray:
    """``p @ matrix.T``; without a matrix, 0/1 loss in linear memory for any K."""
    if matrix is not None:
        return np.asarray(p @ matrix.T)
    best = p.argmax(axis=1)[:, None]
    others = p.copy()
    np.put_along_axis(others, best, 0.0, axis=1)
    out: FloatArray = p.sum(axis=1, keepdims=True) - p
    # 1 - p of a near-certain class would lose every digit of a small risk.
    np.put_along_axis(out, best, others.sum(axis=1, keepdims=True), axis=1)
    return out


def _least_risk(p: FloatArray, matrix: FloatArray | None) -> npt.NDArray[np.intp]:
    """The answer of least risk: the greatest saving over the worst answer to each truth.

    Adding a constant to a column changes no decision, and savings of 0/1 loss are the
    identity matrix: argmax of the posterior is then exact, ties included.
    """
    savings = p if matrix is None else p @ (matrix.max(axis=0) - matrix).T
    return np.asarray(savings.argmax(axis=1))


def _log(p: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore"):
        return np.log(p)


def _normalise(logs: FloatArray) -> FloatArray:
    """Rows of logarithms shifted so that their exponentials sum to 1."""
    top = logs.max(axis=1, keepdims=True)
    impossible = np.flatnonzero(top == -np.inf)
    if impossible.size:
        message = f"row {impossible[0]} has no class left: each has posterior 0 or new rate 0."
        raise ParameterError(message, hint="give a small rate instead of 0")
    logs = logs - top
    return np.asarray(logs - np.log(np.exp(logs).sum(axis=1, keepdims=True)))


# Checks


def _numbers(values: object, name: str, allow: float = 0.0) -> FloatArray:
    try:
        raw = np.asarray(values)
    except ValueError:
        message = f"{name} must have rows of one length, got {short(values)}."
        raise ShapeError(message, hint="fill up the short rows") from None
    try:
        if raw.dtype.kind not in "buifO":  # a string of digits is no number
            raise TypeError
        array = raw.astype(np.float64, copy=False)
    except (TypeError, ValueError, OverflowError):
        message = f"{name} must be numbers, got {short(values)}."
        raise ParameterError(message, hint="convert to float first") from None
    wrong = np.argwhere(~((array >= -MAX_MAGNITUDE) & (array <= MAX_MAGNITUDE) | (array == allow)))
    if len(wrong):
        value, place = array[tuple(wrong[0])], wrong[0].tolist()
        size = f"finite and at most {MAX_MAGNITUDE} in size"
        message = f"{name} must be {size}, got {value} at {place}."
        raise MissingValueError(message, hint="fill in what is missing; for infinite cost, 1e6")
    return array


def _check_table(values: object, name: str, allow: float = 0.0) -> FloatArray:
    array = _numbers(values, name, allow)
    if array.ndim != 2 or array.shape[1] == 0:
        message = f"{name} must be (rows, classes), got shape {array.shape}."
        raise ShapeError(message, hint="one row of two classes is [[0.9, 0.1]]")
    return array


def _posterior(values: object) -> FloatArray:
    p = _check_table(values, "posterior")
    wrong = np.flatnonzero(~_is_distribution(p))
    if wrong.size:
        row = wrong[0]
        message = f"posterior must be >= 0 and sum to 1 in each row, got {p[row]} in row {row}."
        raise ParameterError(message, hint="give probabilities, not scores or logarithms")
    return p


def _is_distribution(p: FloatArray) -> npt.NDArray[np.bool_]:
    near = np.abs(p.sum(axis=-1) - 1) <= SUM_TOLERANCE
    return np.asarray(near & (p.min(axis=-1) >= 0))


def _rates(rates: Rates, name: str, labels: Labels) -> FloatArray:
    if isinstance(rates, Mapping):
        index = index_of(labels)
        if len(codes_in(rates, index, f"the mapping of {name} rates")) < len(index):
            left = next(c for c in index if c not in rates)
            message = f"the {name} rates have no rate for {left!r}."
            raise ParameterError(message, hint="name every class; 0 rules a class out")
        rates = [rates[label] for label in index]
    array = _numbers(rates, f"the {name} rates")
    if array.shape != labels.shape:
        message = f"there must be {len(labels)} {name} rates, got shape {array.shape}."
        raise ShapeError(message, hint="give one rate per class, in class order")
    if not _is_distribution(array):
        message = (
            f"the {name} rates must be >= 0 and sum to 1 within {SUM_TOLERANCE}, "
            f"got {array.tolist()}."
        )
        raise ParameterError(message, hint="divide counts by their total")
    return array


def abstention_cost(cost: float) -> float:
    if isinstance(cost, Real) and not isinstance(cost, bool) and 0 <= cost <= MAX_MAGNITUDE:
        return float(cost)
    message = f"abstain must be a number from 0 to {MAX_MAGNITUDE}, got {cost!r}."
    raise ParameterError(message, hint="it is the cost of not answering; None is always answer")


def _mean(costs: FloatArray, weights: npt.ArrayLike | None = None) -> float:
    if not len(costs):
        raise ShapeError("the mean risk of 0 rows does not exist.", hint="give at least one row")
    w = np.ones_like(costs) if weights is None else _numbers(weights, "weights")
    if w.shape != costs.shape:
        message = f"weights must have shape {costs.shape}, got {w.shape}."
        raise ShapeError(message, hint="give one weight per row")
    if w.min() < 0 or w.sum() == 0:
        message = f"weights must be >= 0 and not all 0, got {w.min()} as the least."
        raise ParameterError(message, hint="a weight of k counts a row k times")
    return float(costs @ w / w.sum())


def _check_columns(table: FloatArray, labels: Labels) -> None:
    if table.shape[1] != len(labels):
        message = f"the posterior has {table.shape[1]} columns, there are {len(labels)} classes."
        raise ShapeError(message, hint="give one class per column, in the same order")


def _matrix_or_none(loss: Loss, classes: Iterable[Hashable]) -> FloatArray | None:
    return None if loss is None else loss_matrix(loss, classes)


def _named_costs(pairs: PairCosts, labels: Labels) -> FloatArray:
    odd = [key for key in pairs if not (isinstance(key, tuple) and len(key) == 2)]
    if odd:
        message = f"a key of loss must be a pair (answer, truth), got {odd[0]!r}."
        raise ParameterError(message, hint='write {("spam", "ham"): 5}')
    index = index_of(labels)
    answers, truths = (codes_in([key[side] for key in pairs], index, "loss") for side in (0, 1))
    matrix = 1 - np.eye(len(labels))
    matrix[answers, truths] = _numbers(list(pairs.values()), "loss.values()")
    return matrix
