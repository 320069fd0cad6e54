"""Logistic regression against scikit-learn's solvers and glum, at equal accuracy of the optimum.

    python bench/logistic.py [directory] [--only covertype,adult,imdb] [--repeats 3]

The optimum is the lower of two objectives: deciban's and that of a solver of
scikit-learn's, each with a tight tolerance. Deciban runs with its default
tolerance; each peer is given tighter and tighter ones, and its time is that of
the first with which its objective is within a millionth of the optimum. A second
line gives deciban's own by the same rule: the ratio to that is the one at equal
accuracy. All are fitted equally often; the best times count, by the clock and of
all cores. ``steep`` is the largest derivative, a row. liblinear penalises the
intercept, so its optimum is that of a column of ones.
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
MAX_RELATIVE_GAP = 1e-6
TOLERANCES = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9)
#: Passes over the rows that a stochastic solver may take, and iterations of the others.
PASSES, ITERATIONS = 100, 5000


class Task(NamedTuple):
    """Rows and labels."""

    name: str
    X: Any
    y: np.ndarray


class Fit(NamedTuple):
    """One fit: its time by the clock and of all cores, where it ended, its iterations."""

    seconds: float
    cpu: float
    value: float
    steep: float
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


def objective(
    task: Task, coef: np.ndarray, intercept: np.ndarray, *, bias: bool = False
) -> tuple[float, float]:
    """Summed loss plus ``|w|**2 / 2`` (``bias``: of the intercept too), and its steepest slope."""
    scores = task.X @ coef.T + intercept
    single = scores.shape[1] == 1
    if single:
        scores = np.column_stack([np.zeros(len(scores)), scores])
    own = scores[np.arange(len(scores)), task.y]
    most = scores.max(axis=1, keepdims=True)
    proba = np.exp(scores - most)
    mass = proba.sum(axis=1, keepdims=True)
    loss = float(np.sum(np.log(mass) + most) - own.sum())
    proba /= mass
    proba[np.arange(len(scores)), task.y] -= 1
    left = proba[:, 1:] if single else proba
    slopes = [task.X.T @ left + coef.T, left.sum(axis=0) + bias * intercept]
    steep = max(float(np.abs(slope).max()) for slope in slopes) / len(scores)
    return loss + 0.5 * np.sum(coef**2) + bias * 0.5 * np.sum(intercept**2), steep


def _fit(task: Task, model: Any, *, bias: bool = False) -> Fit:
    clock, cpu = time.perf_counter(), time.process_time()
    model.fit(task.X, task.y)
    clock, cpu = time.perf_counter() - clock, time.process_time() - cpu
    coef, intercept = np.atleast_2d(model.coef_), np.atleast_1d(model.intercept_)
    value, steep = objective(task, coef, intercept, bias=bias)
    return Fit(clock, cpu, value, steep, int(np.max(getattr(model, "n_iter_", 0))))


def ours(task: Task, **settings: Any) -> Fit:
    """Deciban, solver by the size of the problem, default tolerance."""
    return _fit(task, LogisticRegression(**settings))


def _sklearn(solver: str) -> Callable[[Task, float], Fit]:
    def fit(task: Task, tol: float) -> Fit:
        most = PASSES if solver in ("sag", "saga") else ITERATIONS
        model = Peer(solver=solver, tol=tol, max_iter=most, random_state=0)
        return _fit(task, model, bias=solver == "liblinear")

    return fit


def _glum(task: Task, tol: float) -> Fit:
    from glum import GeneralizedLinearRegressor

    # glum's objective is the mean loss.
    model = GeneralizedLinearRegressor(
        family="binomial", alpha=1 / len(task.y), l1_ratio=0, gradient_tol=tol, max_iter=1000
    )
    return _fit(task, model)


def small(task: Task) -> bool:
    """Whether a Hessian can be held."""
    return task.X.shape[1] < 10_000


def peers(task: Task) -> Iterator[tuple[str, Callable[[Task, float], Fit]]]:
    """Every solver that can do the task in memory, those that are often fastest first."""
    if small(task):
        yield "newton-cholesky", _sklearn("newton-cholesky")
    for solver in ("newton-cg", "lbfgs"):
        yield solver, _sklearn(solver)
    if task.y.max() == 1:
        yield "liblinear", _sklearn("liblinear")
        if small(task):
            yield "glum", _glum
    for solver in ("sag", "saga"):
        yield solver, _sklearn(solver)


def _with_ones(task: Task) -> Task:
    """The task with a column of ones: its coefficient is an intercept that is penalised."""
    ones = np.ones((len(task.y), 1))
    return Task(task.name, sp.hstack([task.X, sp.csr_matrix(ones)]).tocsr(), task.y)


def optima(task: Task) -> tuple[float, float]:
    """The lowest objective, by us and by a peer; and that with a penalised intercept."""
    peer = _sklearn("newton-cholesky" if small(task) else "newton-cg")(task, 1e-7)
    best = min(ours(task, tol=1e-10).value, peer.value)
    if task.y.max() > 1:
        return best, np.inf
    return best, ours(_with_ones(task), tol=1e-10, fit_intercept=False).value


def first_near(
    fit: Callable[[Task, float], Fit], task: Task, optimum: float, limit: float
) -> tuple[float, Fit | None]:
    """The loosest tolerance that comes near the optimum, and its fit; none if it takes too long."""
    for tol in TOLERANCES:
        result = fit(task, tol)
        if result.value <= optimum * (1 + MAX_RELATIVE_GAP):
            return tol, result
        if result.seconds > limit:
            break
    return tol, None


def best_of(fits: list[Fit]) -> Fit:
    """The best times of several equal fits."""
    first = fits[0]._asdict()
    best = {"seconds": min(f.seconds for f in fits), "cpu": min(f.cpu for f in fits)}
    return Fit(**first | best)


def line(name: str, fit: Fit, mine: Fit, optimum: float) -> None:
    """Times, ratios, and how near."""
    print(
        f"{name:24}{fit.seconds:9.3f} s{fit.cpu:9.3f} s cpu{fit.seconds / mine.seconds:7.1f}x"
        f"{fit.cpu / mine.cpu:7.1f}x cpu   gap {max(0.0, fit.value / optimum - 1):7.0e}"
        f"   steep {fit.steep:7.0e}{fit.iterations:6} iterations",
        flush=True,
    )


def report(task: Task, repeats: int, patience: float) -> None:
    """The time of each, and its ratio to ours."""
    rows, columns = task.X.shape
    print(f"\n{task.name}: {rows:,} x {columns:,}, {task.y.max() + 1} classes", flush=True)
    best, penalised = optima(task)
    mine = best_of([ours(task) for _ in range(repeats)])
    line("deciban", mine, mine, best)
    tol, near = first_near(lambda task, tol: ours(task, tol=tol), task, best, np.inf)
    if near is None:
        raise SystemExit("deciban does not come near the optimum")
    near = best_of([near, *(ours(task, tol=tol) for _ in range(repeats - 1))])
    line(f"  tol={tol:g}", near, mine, best)
    line("  start=bayes", best_of([ours(task, start="bayes") for _ in range(repeats)]), mine, best)
    times = {}
    for name, fit in peers(task):
        optimum, limit = penalised if name == "liblinear" else best, patience * mine.seconds + 10
        tol, result = first_near(fit, task, optimum, limit)
        if result is None:
            print(f"{name:24} not near the optimum in {limit:.0f} s (tol={tol:g})", flush=True)
            continue
        again = [fit(task, tol) for _ in range(repeats - 1)]
        times[name] = best_of([result, *again])
        line(f"{name} tol={tol:g}", times[name], mine, optimum)
    for measure in ("seconds", "cpu"):
        fastest = min(times, key=lambda name: getattr(times[name], measure))
        peer = getattr(times[fastest], measure)
        equal, default = peer / getattr(near, measure), peer / getattr(mine, measure)
        print(
            f"against the fastest by {measure}, {fastest}: {equal:.1f}x at equal accuracy, "
            f"{default:.1f}x at our default",
            flush=True,
        )


def main() -> None:
    """Print one block a task."""
    parser = argparse.ArgumentParser(description="Logistic regression, time to the optimum.")
    parser.add_argument("directory", nargs="?", default="../shared/data", type=Path)
    parser.add_argument("--only", default="", help="some tasks, by name")
    parser.add_argument("--repeats", type=int, default=3, help="fits of each, the best counts")
    parser.add_argument(
        "--patience", type=float, default=20, help="no peer is tried for longer, times our time"
    )
    options = parser.parse_args()
    if not options.directory.is_dir():
        print(f"logistic: no directory {options.directory}; pass one of data sets")
        return
    warnings.simplefilter("ignore")
    for name, made in TASKS.items():
        if not options.only or name in options.only.split(","):
            report(made(options.directory), options.repeats, options.patience)


if __name__ == "__main__":
    main()
