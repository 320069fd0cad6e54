"""How the time of fitting grows with rows, columns and classes, beside a peer of each model.

    python bench/cost.py [--runs 2] [--models NAME,NAME] [--seconds 20] [--svg cost.svg]

Tables are made: columns of normal numbers, of which half depend on the class. One side of the
table grows at a time, fourfold from step to step. Seconds are those of all processors, which a
busy machine changes least, the least of so many runs. The exponent is the slope of the last
step: 1 is in proportion, 2 with the square. A side that took more than so many ``--seconds`` is not
measured on what is larger still, nor a second time. Lines come as they are measured. ``--svg``
draws the curves.
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
from sklearn.linear_model import LogisticRegression as PeerRegression
from sklearn.naive_bayes import GaussianNB

from deciban import AODE, BayesClassifier, LogisticRegression, NaiveBayes

#: What grows, from what to what, while the others stay: rows, columns, classes.
USUAL = {"rows": 4_000, "columns": 16, "classes": 2}
STEPS = {
    "rows": (1_000, 4_000, 16_000, 64_000),
    "columns": (8, 32, 128, 512),
    "classes": (2, 8, 32),
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


#: Each model, and what people would use in its place.
MODELS: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
    "NaiveBayes": (NaiveBayes, GaussianNB),
    "AODE": (AODE, GaussianNB),
    "LogisticRegression": (LogisticRegression, lambda: PeerRegression(max_iter=1000)),
    "BayesClassifier": (lambda: BayesClassifier(progress=False), lightgbm),
}


def table(rows: int, columns: int, classes: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Normal numbers, half of them with a mean by class."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, classes, rows)
    means = rng.normal(size=(classes, columns)) * (np.arange(columns) % 2)
    X = means[y] + rng.normal(size=(rows, columns))
    return pd.DataFrame(X, columns=[f"x{j}" for j in range(columns)]), y


def seconds(
    make: Callable[[], Any], X: pd.DataFrame, y: np.ndarray, runs: int, most: float
) -> float:
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
    make = MODELS[model][SIDES.index(side)]
    for size in STEPS[axis]:
        if out and out[-1].seconds > most:
            break
        X, y = table(**{**USUAL, axis: size})
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
    return f"{points[0].model:20}{points[0].axis:9}{points[0].side:9}{times}{exponent(points)}"


def draw(measured: list[Measured], path: str) -> None:
    """The curves, one chart for each model and axis."""
    import altair as alt

    frame = pd.DataFrame(measured)
    chart = (
        alt.Chart(frame)
        .mark_line(point=True)
        .encode(
            x=alt.X("size:Q", scale=alt.Scale(type="log"), title=None),
            y=alt.Y("seconds:Q", scale=alt.Scale(type="log"), title="seconds"),
            color=alt.Color("side:N", title=None),
        )
        .properties(width=180, height=120)
        .facet(row="model:N", column="axis:N")
        .resolve_scale(x="independent", y="independent")
    )
    chart.save(path)


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
            print(line(points), flush=True)
    if options.svg:
        draw(measured, options.svg)


if __name__ == "__main__":
    main()
