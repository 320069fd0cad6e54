"""How long BayesClassifier takes to learn tables and to answer, beside LightGBM's defaults.

    python bench/tables_fit.py [DIRECTORY] [--only NAME,NAME] [--runs 2] [--rows 100000]
                               [--threads 2] [--wide]

Every Parquet file of the directory is a table with a column ``label`` and perhaps ``split``, as
in ``quality.py``. Of larger tables so many rows are learned from, the same for both; a fifth
of the table, or no more than as many rows, is held out. Both are fitted in turn in one process,
and the best time of each counts: seconds of the clock and of all processors, of which the latter
say more on a busy machine. Predicting is measured on so many rows of the table, drawn with
copies where there are fewer. ``--wide`` measures made tables of many columns instead.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

import peers
from deciban import BayesClassifier, NaiveBayes
from deciban.threads import n_threads
from quality import MIN_PROBABILITY

#: Those that the flagship is measured on, where no others are asked for.
TABLES = (
    "adult", "bank_marketing", "letter", "connect4_binary", "magic_gamma", "covertype",
    "kddcup99_10pct",
)  # fmt: skip
HELD_OUT_SHARE = 0.2
#: Rows and columns of the tables of ``--wide``; so many columns depend on the class.
WIDE, N_TELLING = ((200, 3_000), (5_000, 800)), 20


class Seconds(NamedTuple):
    """Of the clock, and of all processors together."""

    wall: float
    cpu: float


class Figures(NamedTuple):
    """What one side reached on one table."""

    fit: Seconds
    predict: Seconds
    log_loss: float


def clocked(work: Callable[[], Any]) -> tuple[Any, Seconds]:
    """What the work returns, and how long it took."""
    wall, cpu = time.perf_counter(), time.process_time()
    out = work()
    return out, Seconds(time.perf_counter() - wall, time.process_time() - cpu)


def best(of: list[Seconds]) -> Seconds:
    """The least of each."""
    return Seconds(min(each.wall for each in of), min(each.cpu for each in of))


class Lightgbm:
    """LightGBM's defaults on frames whose texts are categories of the values of training."""

    def __init__(self, train: pd.DataFrame, threads: int) -> None:
        self._threads = threads
        plain = peers.plain(train)
        self._kinds = {
            column: pd.CategoricalDtype(sorted(plain[column].unique()))
            for column in peers.split_columns(train)[1]
        }

    def prepare(self, frame: pd.DataFrame) -> pd.DataFrame:
        """The frame as LightGBM takes it: not part of what is measured."""
        out = peers.plain(frame).astype(self._kinds)
        out.columns = [f"x{j}" for j in range(out.shape[1])]
        return out

    def fit(self, train: pd.DataFrame, y: np.ndarray) -> Any:
        """A fitted model."""
        from lightgbm import LGBMClassifier

        return LGBMClassifier(random_state=0, n_jobs=self._threads, verbose=-1).fit(train, y)


def split(frame: pd.DataFrame, rows: int) -> tuple[Any, ...]:
    """Rows to learn from, rows held out, their classes."""
    y = frame["label"].astype(str).to_numpy()
    X = frame.drop(columns=["label", "split"], errors="ignore")
    held = min(int(HELD_OUT_SHARE * len(y)), rows)
    _, counts = np.unique(y, return_counts=True)
    stratify = y if counts.min() > 1 else None
    parts = train_test_split(X, y, test_size=held, random_state=0, stratify=stratify)
    train, test, y_train, y_test = parts
    return train.iloc[:rows], test, y_train[:rows], y_test


def log_loss(model: Any, proba: np.ndarray, y: np.ndarray) -> float:
    """In nats; of a class that training never saw, as if it had the least probability."""
    classes = np.asarray(model.classes_)
    at = np.minimum(np.searchsorted(classes, y), len(classes) - 1)
    given = np.where(classes[at] == y, proba[np.arange(len(y)), at], 0.0)
    return float(-np.log(np.clip(given, MIN_PROBABILITY, 1.0)).mean())


def measure(frame: pd.DataFrame, rows: int, runs: int, threads: int) -> tuple[Figures, ...]:
    """Ours and LightGBM's."""
    train, test, y, truth = split(frame, rows)
    many = test.iloc[np.random.default_rng(0).integers(0, len(test), rows)]
    peer = Lightgbm(train, threads)
    prepared = peer.prepare(train)
    sides = [
        (lambda: BayesClassifier(progress=False).fit(train, y), test, many),
        (lambda: peer.fit(prepared, y), peer.prepare(test), peer.prepare(many)),
    ]
    fits: list[list[Seconds]] = [[], []]
    models: list[Any] = [None, None]
    for _ in range(runs):
        for side, (fit, *_) in enumerate(sides):
            models[side], seconds = clocked(fit)
            fits[side].append(seconds)
    return tuple(
        Figures(best(fits[side]), answer_seconds(model, queries, runs), loss)
        for side, (model, (_, held, queries)) in enumerate(zip(models, sides, strict=True))
        for loss in [log_loss(model, model.predict_proba(held), truth)]
    )


def answer_seconds(model: Any, queries: pd.DataFrame, runs: int) -> Seconds:
    """How long a fitted model takes to answer, at best."""
    return best([clocked(lambda: model.predict_proba(queries))[1] for _ in range(max(2, runs))])


def line(name: str, rows: int, ours: Figures, theirs: Figures) -> str:
    """One table: seconds of both and the ratio, by the clock and by processors."""
    out = f"{name:20}{rows:8,}"
    for a, b in ((ours.fit, theirs.fit), (ours.predict, theirs.predict)):
        out += f"{a.wall:8.2f}{b.wall:8.2f}{a.wall / b.wall:7.2f}{a.cpu / b.cpu:7.2f}"
    return out + f"{ours.log_loss:10.4f}{theirs.log_loss:9.4f}"


def wide_table(rows: int, columns: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Normal numbers of which some have a mean by class."""
    rng = np.random.default_rng(0)
    y, X = rng.integers(0, 2, rows), rng.normal(size=(rows, columns))
    X[:, :N_TELLING] += 0.5 * y[:, None]
    return pd.DataFrame(X, columns=[f"x{j}" for j in range(columns)]), y


def print_wide(threads: int) -> None:
    """Print the seconds of fits on tables of many columns, by the clock and of processors."""
    for rows, columns in WIDE:
        X, y = wide_table(rows, columns)
        fits = {
            "NaiveBayes": lambda X=X, y=y: NaiveBayes().fit(X, y),
            "BayesClassifier": lambda X=X, y=y: BayesClassifier(progress=False).fit(X, y),
            "LightGBM": lambda X=X, y=y: Lightgbm(X, threads).fit(X, y),
        }
        for name, fit in fits.items():
            seconds = clocked(fit)[1]
            size = f"{rows:,} x {columns:,}"
            print(f"{name:20}{size:>14}{seconds.wall:8.2f}{seconds.cpu:8.2f}", flush=True)


def main() -> None:
    """Print a line for every table, and the mean ratios."""
    parser = argparse.ArgumentParser(description="BayesClassifier beside LightGBM on tables.")
    parser.add_argument("directory", nargs="?", default="../shared/data/tabular", type=Path)
    parser.add_argument("--only", default=",".join(TABLES))
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--threads", type=int, default=n_threads())
    parser.add_argument("--wide", action="store_true", help="made tables of many columns")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.wide:
        print_wide(options.threads)
        return
    files = [options.directory / f"{name}.parquet" for name in options.only.split(",")]
    head = "".join(f"{title:>16}{'ratio':>7}{'cpu':>7}" for title in ("fit", "predict"))
    print(f"{'ours, LightGBM':28}{head}{'log loss':>19}")
    ratios = []
    for file in files:
        if not file.exists():
            print(f"tables_fit: there is no {file}")
            continue
        frame = pd.read_parquet(file)
        ours, theirs = measure(frame, options.rows, options.runs, options.threads)
        pairs = ((ours.fit, theirs.fit), (ours.predict, theirs.predict))
        ratios.append([part for a, b in pairs for part in (a.wall / b.wall, a.cpu / b.cpu)])
        print(line(file.stem, min(len(frame), options.rows), ours, theirs), flush=True)
    if ratios:
        fit, fit_cpu, answer, answer_cpu = np.mean(ratios, axis=0)
        print(f"mean ratio: fit {fit:.2f} ({fit_cpu:.2f} of processors), ", end="")
        print(f"largest {np.max(ratios, axis=0)[0]:.2f}; predict {answer:.2f} ({answer_cpu:.2f})")


if __name__ == "__main__":
    main()
