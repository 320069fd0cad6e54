"""The penalty of a regression: from strong to weak, until held-out rows lose.

Each fit starts from the one before, under the next stronger penalty; so the
path costs little more than its last fits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple, TypeVar

Fit = TypeVar("Fit")


class Selected(NamedTuple):
    """A penalty and the loss of held-out rows under it."""

    penalty: float
    loss: float


def select(
    penalties: Iterable[float],
    refit: Callable[[float, Fit], Fit],
    held_out_loss: Callable[[Fit], float],
    start: Fit,
    null_loss: float = float("inf"),
    patience: int = 1,
    min_gain: float = 0.0,
) -> tuple[Selected, Fit]:
    """The penalty of least held-out loss, and the fit under it.

    ``null_loss`` is that of ``start``, which is kept, with an infinite penalty,
    where no penalty does better. The path ends after ``patience`` penalties
    that do not gain; ``min_gain`` or less is no gain, so that of two that cannot be
    told apart the stronger one is taken.

    >>> select([9, 3, 1, 0], lambda penalty, _: penalty, lambda fit: abs(fit - 2.5), 99)
    (Selected(penalty=3, loss=0.5), 3)
    """
    fit = best_fit = start
    best, failures = Selected(float("inf"), null_loss), 0
    for penalty in penalties:
        fit = refit(penalty, fit)
        loss = held_out_loss(fit)
        failures += 1
        if loss < best.loss - min_gain:
            best, best_fit, failures = Selected(penalty, loss), fit, 0
        if failures == patience:
            break
    return best, best_fit
