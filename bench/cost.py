"""How the time of fitting grows with rows, columns, classes and words, beside a peer of each model.

    python bench/cost.py [--runs 2] [--models NAME,NAME] [--seconds 20] [--svg cost.svg]

Tables are made: columns of normal numbers, of which half depend on the class. One side of the
table grows at a time, fourfold from step to step. Texts are made too, for the models that read
them: 100 words each, frequent and rare as in a language, of a vocabulary that grows. Seconds
are those of all processors, which a busy machine changes least, the least of so many runs. The
exponent is the slope of the last step: 1 is in proportion, 2 with the square. A side that took
more than so many ``--seconds`` is not measured on what is larger still, nor a second time. Lines
come as they are measured. ``--svg`` draws the curves.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from itertools import product
from math import log
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression as PeerRegression
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.pipeline import make_pipeline

from deciban import AODE, BayesClassifier, LogisticRegression, NaiveBayes

#: What a table has while another side of it grows, and how long a text is.
USUAL = {"rows": 4_000, "columns": 16, "classes": 2}
N_WORDS = 100
#: What grows, from what to what.
STEPS = {
    "rows": (1_000, 4_000, 16_000, 64_000),
    "columns": (8, 32, 128, 512),
    "classes": (2, 8, 32),
    "vocabulary": (1_000, 4_000, 16_000, 64_000),
}
SIDES = ("deciban", "peer")


class Measured(NamedTuple):
    """Seconds of one fit."""

    model: str
    side: str
    axis: str
    size: int
    seconds: float


def lightgbm() -> Any:
    """LightGBM's defaults on one core."""
    from lightgbm import LGBMClassifier

    return LGBMClassifier(random_state=0, n_jobs=1, verbose=-1)


def regression() -> Any:
    """Logistic regression as people fit it to a table."""
    return PeerRegression(max_iter=1000)


def words_regression() -> Any:
    """What people build for texts today."""
    words = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True)
    return make_pipeline(words, PeerRegression(C=10))


def words_bayes() -> Any:
    """scikit-learn's naive Bayes of words."""
    return make_pipeline(CountVectorizer(), MultinomialNB())


class Contest(NamedTuple):
    """A model, and what people would use in its place for tables and for texts."""

    model: Callable[[], Any]
    table_peer: Callable[[], Any]
    text_peer: Callable[[], Any] | None = None

    def maker(self, side: str, axis: str) -> Callable[[], Any] | None:
        """What makes one of both for what grows, if both can do it."""
        peer = self.text_peer if axis == "vocabulary" else self.table_peer
        return peer if side == "peer" or peer is None else self.model


MODELS = {
    "NaiveBayes": Contest(NaiveBayes, GaussianNB, words_bayes),
    "AODE": Contest(AODE, GaussianNB),
    "LogisticRegression": Contest(LogisticRegression, regression),
    "BayesClassifier": Contest(lambda: BayesClassifier(progress=False), lightgbm, words_regression),
}


def table(rows: int, columns: int, classes: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Normal numbers, half of them with a mean by class."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, classes, rows)
    means = rng.normal(size=(classes, columns)) * (np.arange(columns) % 2)
    X = means[y] + rng.normal(size=(rows, columns))
    return pd.DataFrame(X, columns=[f"x{j}" for j in range(columns)]), y


def texts(vocabulary: int) -> tuple[list[str], np.ndarray]:
    """Words by Zipf's law, of which every fourth is twice as likely in one of two classes."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, USUAL["rows"])
    rank = np.arange(1, vocabulary + 1)
    shares = [1 / rank * np.where(rank % 4 == label, 2.0, 1.0) for label in (0, 1)]
    names = np.array([f"w{j}" for j in range(vocabulary)])
    drawn = [
        names[rng.choice(vocabulary, N_WORDS, p=shares[label] / shares[label].sum())] for label in y
    ]
    return [" ".join(words) for words in drawn], y


def data(axis: str, size: int) -> tuple[Any, np.ndarray]:
    """What is learned when one side has grown to a size."""
    return texts(size) if axis == "vocabulary" else table(**{**USUAL, axis: size})


def seconds(make: Callable[[], Any], X: Any, y: np.ndarray, runs: int, most: float) -> float:
    """Of all processors, the least of some fits; one alone where it takes more than ``most``."""
    times: list[float] = []
    while len(times) < runs and not (times and times[-1] > most):
        start = time.process_time()
        make().fit(X, y)
        times.append(time.process_time() - start)
    return min(times)


def measure(model: str, side: str, axis: str, runs: int, most: float) -> list[Measured]:
    """One of both as one side of the table grows, until a fit takes more than ``most`` seconds."""
    out: list[Measured] = []
    make = MODELS[model].maker(side, axis)
    for size in STEPS[axis] if make else ():
        if out and out[-1].seconds > most:
            break
        X, y = data(axis, size)
        out.append(Measured(model, side, axis, size, seconds(make, X, y, runs, most)))
    return out


def exponent(points: list[Measured]) -> str:
    """The slope of the last step, if there is one."""
    if len(points) < 2:
        return ""
    a, b = points[-2:]
    return f"   exponent {log(b.seconds / a.seconds) / log(b.size / a.size):.1f}"


def line(points: list[Measured]) -> str:
    """The seconds of one of both at every size, and their exponent."""
    times = "".join(f"{point.size:>9,}:{point.seconds:8.3f}" for point in points)
    return f"{points[0].model:20}{points[0].axis:12}{points[0].side:9}{times}{exponent(points)}"


def draw(measured: list[Measured], path: str) -> None:
    """The curves: a row of charts for each model, a chart for each side of its data."""
    import altair as alt

    frame = pd.DataFrame(measured)
    seconds = alt.Scale(type="log", domain=[0.001, float(frame["seconds"].max())])

    def chart(model: str, axis: str) -> Any:
        part = frame[(frame["model"] == model) & (frame["axis"] == axis)]
        sizes = alt.Axis(values=sorted(part["size"].unique()), format="~s", grid=False)
        return (
            alt.Chart(part, title=f"{model}: {axis}", width=160, height=110)
            .mark_line(point=True)
            .encode(
                x=alt.X("size:Q", scale=alt.Scale(type="log", nice=False), axis=sizes, title=None),
                y=alt.Y("seconds:Q", scale=seconds, axis=alt.Axis(tickCount=4, grid=False)),
                color=alt.Color("side:N", title=None),
            )
        )

    rows = [
        alt.hconcat(*(chart(model, axis) for axis in of_model["axis"].unique()))
        for model, of_model in frame.groupby("model", sort=False)
    ]
    alt.vconcat(*rows).save(path)


def main() -> None:
    """Print two lines for each model and axis."""
    parser = argparse.ArgumentParser(description="How the time of fitting grows.")
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--seconds", type=float, default=20.0, help="larger tables are left out")
    parser.add_argument("--svg", default="", help="draw the curves into this file")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    measured = []
    for model in options.models.split(","):
        for axis, side in product(STEPS, SIDES):
            points = measure(model, side, axis, options.runs, options.seconds)
            measured += points
            if points:
                print(line(points), flush=True)
    if options.svg:
        draw(measured, options.svg)


if __name__ == "__main__":
    main()
