"""The five drop-in classifiers against scikit-learn's, side by side.

    python bench/speed.py

prints, for each work, both times, the ratio, what is asked for, the time to
read the same bytes once, and the peak memory above the input.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
import sklearn.naive_bayes as peer

import deciban.naive_bayes as deciban
from deciban.threads import n_threads
from side_by_side import best, peak, reading

ROWS = 1_000_000


class Work(NamedTuple):
    """One line of the report."""

    name: str
    ours: Callable[[], Any]
    theirs: Callable[[], Any]
    asked: float
    arrays: list[np.ndarray]


def fit_and_score(
    name: str, kind: str, X: Any, y: np.ndarray, fit: float, score: float | None
) -> Iterator[Work]:
    """The fit of one classifier and, where asked for, its probabilities."""
    ours, theirs = getattr(deciban, kind), getattr(peer, kind)
    arrays = [X.data, X.indices] if sp.issparse(X) else [X]
    yield Work(
        f"{name}, fit", lambda: ours().fit(X, y), lambda: theirs().fit(X, y), fit, [*arrays, y]
    )
    if score is not None:
        a, b = ours().fit(X, y), theirs().fit(X, y)
        yield Work(
            f"{name}, predict_proba",
            lambda: a.predict_proba(X),
            lambda: b.predict_proba(X),
            score,
            arrays,
        )


def bags(rng: np.random.Generator) -> sp.csr_matrix:
    """200k documents over 100k words, 9.4 million non-zeros, words as frequent as in real text."""
    n, words, nonzeros = 200_000, 100_000, 9_400_000
    frequency = 1.0 / np.arange(2, words + 2)
    drawn = rng.choice(words, size=int(nonzeros * 1.35), p=frequency / frequency.sum())
    rows = rng.integers(0, n, len(drawn))
    X = sp.csr_matrix((np.ones(len(drawn)), (rows, drawn)), shape=(n, words))
    X.sum_duplicates()
    keep = np.sort(rng.permutation(X.nnz)[: min(nonzeros, X.nnz)])
    rows = np.repeat(np.arange(n), np.diff(X.indptr))[keep]
    return sp.csr_matrix((X.data[keep], (rows, X.indices[keep])), shape=(n, words))


def works() -> Iterator[Work]:
    """All that is measured; each data set is dropped before the next is made."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 5, ROWS)
    X = rng.integers(0, 10, (ROWS, 20))
    yield from fit_and_score("Categorical 1M x 20", "CategoricalNB", X, y, 25, 8)
    X = (X > 4).astype(np.float64)
    yield from fit_and_score("Bernoulli 1M x 20", "BernoulliNB", X, y, 10, None)
    X = rng.normal(size=(ROWS, 20))
    yield from fit_and_score("Gaussian 1M x 20", "GaussianNB", X, y, 15, 8)
    X = bags(rng)
    y = rng.integers(0, 20, X.shape[0])
    yield from fit_and_score("Multinomial 200k x 100k CSR", "MultinomialNB", X, y, 5, 5)
    X = rng.integers(0, 10, (100_000, 50))
    y = rng.integers(0, 1000, 100_000)
    yield from fit_and_score("Categorical, 1000 classes", "CategoricalNB", X, y, 25, None)


def main() -> None:
    """Print one line a work."""
    print(f"deciban against scikit-learn, {n_threads()} threads, best of several runs")
    print(f"{'work':38}{'ours':>9}{'theirs':>10}{'ratio':>8}{'asked':>7}{'read':>9}{'peak':>9}")
    for work in works():
        ours, theirs = best(work.ours, work.theirs, runs=5)
        read = reading(work.arrays)
        megabytes = peak(work.ours) / 1e6
        print(
            f"{work.name:38}{ours * 1e3:7.1f}ms{theirs * 1e3:8.0f}ms{theirs / ours:7.1f}x"
            f"{work.asked:6.0f}x{read * 1e3:7.1f}ms{megabytes:7.1f}MB",
            flush=True,
        )


if __name__ == "__main__":
    main()
