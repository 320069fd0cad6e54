"""Logistic regression against scikit-learn's solvers and glum, at equal accuracy of the optimum.

    python bench/logistic.py [directory] [--only covertype,adult,imdb]

The optimum is the lowest objective that anything here finds. Each solver is
given looser and tighter tolerances, and its time is that of the loosest fit
whose objective is within a millionth of the optimum. Solvers that penalise the
intercept (liblinear) are judged by their own objective's optimum: theirs.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression as Peer
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from deciban import LogisticRegression

#: How near to the optimum, as a share of it, counts as there.
NEAR = 1e-6
TOLERANCES = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9)


class Task(NamedTuple):
    """Rows and labels."""

    name: str
    X: Any
    y: np.ndarray


class Fit(NamedTuple):
    """One fit: its time, its objective, its iterations."""

    seconds: float
    value: float
    iterations: int


def covertype(directory: Path) -> Task:
    """581,012 rows of 54 numbers, standardised; 7 classes."""
    frame = pd.read_parquet(directory / "tabular" / "covertype.parquet")
    X = frame.drop(columns=["label", "split"], errors="ignore").to_numpy(dtype=float)
    return Task("covertype", StandardScaler().fit_transform(X), _codes(frame))


def adult(directory: Path) -> Task:
    """48,842 rows, one-hot and standardised, as CSR; 2 classes."""
    frame = pd.read_parquet(directory / "tabular" / "adult.parquet")
    X = frame.drop(columns=["label", "split"], errors="ignore")
    numbers = X.select_dtypes("number")
    names = X.drop(columns=numbers.columns).astype(str)
    parts = [
        StandardScaler().fit_transform(numbers.fillna(0)),
        OneHotEncoder().fit_transform(names),
    ]
    return Task("adult", sp.hstack([sp.csr_matrix(parts[0]), parts[1]]).tocsr(), _codes(frame))


def imdb(directory: Path) -> Task:
    """25,000 reviews as binary words and pairs of words: 1.5 million columns of CSR."""
    frame = pd.read_parquet(directory / "text" / "imdb.parquet")
    frame = frame[frame["split"] == "train"]
    words = CountVectorizer(ngram_range=(1, 2), binary=True, dtype=np.float64)
    return Task("imdb", words.fit_transform(frame["text"]), _codes(frame))


TASKS = {"covertype": covertype, "adult": adult, "imdb": imdb}


def _codes(frame: pd.DataFrame) -> np.ndarray:
    return frame["label"].astype("category").cat.codes.to_numpy().astype(np.intp)


def objective(task: Task, coef: np.ndarray, intercept: np.ndarray, *, bias: bool = False) -> float:
    """Summed loss plus ``|w|**2 / 2``; with ``bias``, of the intercept too."""
    scores = task.X @ coef.T + intercept
    if scores.shape[1] == 1:
        scores = np.column_stack([np.zeros(len(scores)), scores])
    own = scores[np.arange(len(scores)), task.y]
    most = scores.max(axis=1)
    loss = np.sum(np.log(np.exp(scores - most[:, None]).sum(axis=1)) + most - own)
    return float(loss + 0.5 * np.sum(coef**2) + bias * 0.5 * np.sum(intercept**2))


def _fitted(task: Task, model: Any, *, bias: bool = False) -> Fit:
    start = time.perf_counter()
    model.fit(task.X, task.y)
    seconds = time.perf_counter() - start
    coef, intercept = np.atleast_2d(model.coef_), np.atleast_1d(model.intercept_)
    steps = int(np.max(getattr(model, "n_iter_", 0)))
    return Fit(seconds, objective(task, coef, intercept, bias=bias), steps)


def ours(task: Task, tol: float, start: str = "zero") -> Fit:
    """Deciban, solver by the size of the problem."""
    return _fitted(task, LogisticRegression(tol=tol, start=start))


def _sklearn(solver: str) -> Callable[[Task, float], Fit]:
    def fit(task: Task, tol: float) -> Fit:
        model = Peer(solver=solver, tol=tol, max_iter=5000, random_state=0)
        return _fitted(task, model, bias=solver == "liblinear")

    return fit


def _glum(task: Task, tol: float) -> Fit:
    from glum import GeneralizedLinearRegressor

    # glum's objective is the mean loss.
    model = GeneralizedLinearRegressor(
        family="binomial", alpha=1 / len(task.y), l1_ratio=0, gradient_tol=tol, max_iter=1000
    )
    return _fitted(task, model)


def peers(task: Task) -> Iterator[tuple[str, Callable[[Task, float], Fit]]]:
    """Every solver that can do the task in memory and reasonable time."""
    for solver in ("lbfgs", "newton-cg", "sag", "saga"):
        yield solver, _sklearn(solver)
    small = task.X.shape[1] < 10_000
    if small:
        yield "newton-cholesky", _sklearn("newton-cholesky")
    if task.y.max() == 1:
        yield "liblinear", _sklearn("liblinear")
        if small:
            yield "glum", _glum


def first_near(
    fit: Callable[[Task, float], Fit], task: Task, optimum: float, limit: float
) -> Fit | None:
    """The loosest fit that is near the optimum; None if it takes longer than the limit."""
    for tol in TOLERANCES:
        found = fit(task, tol)
        if found.value <= optimum * (1 + NEAR):
            again = fit(task, tol) if found.seconds < 5 else found
            return min(found, again)
        if found.seconds > limit:
            return None
    return None


def report(task: Task) -> None:
    """The time of each, and its ratio to ours."""
    best = ours(task, 1e-9).value
    penalised = _sklearn("liblinear")(task, 1e-8).value if task.y.max() == 1 else best
    mine = first_near(ours, task, best, np.inf)
    if mine is None:
        raise SystemExit("deciban does not reach its own optimum")
    mine = min([mine] + [ours(task, _tolerance(task, best)) for _ in range(2)])
    print(f"\n{task.name}: {task.X.shape[0]:,} x {task.X.shape[1]:,}, {task.y.max() + 1} classes")
    print(f"{'deciban':18}{mine.seconds:9.3f} s{mine.iterations:7} iterations")
    bayes = first_near(lambda t, tol: ours(t, tol, "bayes"), task, best, np.inf)
    if bayes is not None:
        print(f"{'  start=bayes':18}{bayes.seconds:9.3f} s{bayes.iterations:7} iterations")
    times = {}
    for name, fit in peers(task):
        optimum = penalised if name == "liblinear" else best
        found = first_near(fit, task, optimum, limit=60 * mine.seconds)
        if found is None:
            print(
                f"{name:18}{'':>9}   not near the optimum in {60 * mine.seconds:.0f} s", flush=True
            )
            continue
        times[name] = found.seconds
        ratio = found.seconds / mine.seconds
        print(
            f"{name:18}{found.seconds:9.3f} s{found.iterations:7} iterations{ratio:8.1f}x",
            flush=True,
        )
    if times:
        fastest = min(times, key=lambda name: times[name])
        print(f"against the fastest, {fastest}: {times[fastest] / mine.seconds:.1f}x")


def _tolerance(task: Task, optimum: float) -> float:
    """The loosest tolerance with which ours is near the optimum."""
    return next(tol for tol in TOLERANCES if ours(task, tol).value <= optimum * (1 + NEAR))


def main() -> None:
    """Print one block a task."""
    parser = argparse.ArgumentParser(description="Logistic regression, time to the optimum.")
    parser.add_argument("directory", nargs="?", default="../shared/data", type=Path)
    parser.add_argument("--only", default="", help="some tasks, by name")
    options = parser.parse_args()
    if not options.directory.is_dir():
        print(f"logistic: no directory {options.directory}; pass one of data sets")
        return
    warnings.simplefilter("ignore")
    for name, made in TASKS.items():
        if not options.only or name in options.only.split(","):
            report(made(options.directory))


if __name__ == "__main__":
    main()
