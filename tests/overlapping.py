"""Rows of classes that overlap, and whether as many of their sets hold the class as they should."""

import numpy as np
from scipy.stats import betabinom

ABC = np.array(list("abc"))


def table(n, seed, shares=(0.6, 0.3, 0.1)):
    """Rows of three classes that overlap, one of them rare: the best answer is often wrong."""
    rng = np.random.default_rng(seed)
    y = rng.choice(3, n, p=shares)
    x = rng.normal(0.8 * y, 1.0)
    letter = np.where(rng.random(n) < 0.3, y, rng.integers(0, 3, n))
    return {"x": x, "letter": ABC[letter]}, ABC[y]


def too_far(held, n, rows, coverage, chance=0.001):
    """Whether so many of n sets that held their class are not what chance gives."""
    rank = np.floor((rows + 1) * (1 - coverage))
    expected = betabinom(n, rows + 1 - rank, rank)
    return not expected.ppf(chance) <= held <= expected.ppf(1 - chance)


def held_by(sets, model, y):
    return sets[np.arange(len(y)), np.searchsorted(model.classes_, y)]
