"""Explaining beside predicting, and beside shap on the equivalent scikit-learn model.

    python bench/explain.py [adult.parquet]

prints, for 100,000 rows, the time to predict, to explain (arrays of every
column's evidence for the answer against the runner-up), and their ratio, of which
no more than 3 is asked; then shap's LinearExplainer on a logistic regression over
the same columns one-hot. Without a file, a made-up table of the shape of adult.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd

from deciban import NaiveBayes
from side_by_side import best, seconds

ROWS, ASKED_RATIO = 100_000, 3.0


def table(path: str | None) -> tuple[pd.DataFrame, pd.Series]:
    """The rows of a file with the column ``label``, or made up: six numbers, eight categories."""
    if path is not None and Path(path).exists():
        data = pd.read_parquet(path).drop(columns="split", errors="ignore")
    else:
        rng = np.random.default_rng(0)
        y = rng.integers(0, 2, 48_842)
        data = pd.DataFrame({f"n{j}": rng.normal(y * j / 6, 1).round(2) for j in range(6)})
        for j in range(8):
            data[f"c{j}"] = [f"v{v}" for v in (y + rng.integers(0, 3 + j, len(y)))]
        data["label"] = np.where(y, "yes", "no")
    whole = pd.concat([data] * (1 + ROWS // len(data)), ignore_index=True).iloc[:ROWS]
    return whole.drop(columns="label"), whole["label"]


def main() -> None:
    """Print one line a work."""
    X, y = table(sys.argv[1] if len(sys.argv) > 1 else None)
    model = NaiveBayes().fit(X, y)
    explain, predict = best(lambda: model.explain_rows(X).total, lambda: model.predict(X), runs=7)
    print(f"{len(X):,} rows, {X.shape[1]} columns")
    print(f"predict           {predict * 1e3:8.1f} ms")
    print(f"explain           {explain * 1e3:8.1f} ms")
    print(f"explain / predict {explain / predict:8.2f}     asked: at most {ASKED_RATIO:g}")
    some = model.explain_rows(X)
    objects = seconds(lambda: some[:1000])
    print(f"as objects        {objects * 1e3:8.1f} ms a thousand")
    shap_beside(X, y, explain)


def shap_beside(X: pd.DataFrame, y: pd.Series, ours: float) -> None:
    """Shap's LinearExplainer on scikit-learn's logistic regression."""
    import shap
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import StandardScaler

    holes = dict.fromkeys(X.select_dtypes(exclude="number"), "?")
    wide = pd.get_dummies(X.fillna(holes)).astype(float)
    values = StandardScaler().fit_transform(wide.fillna(0.0))
    peer = LogisticRegression(max_iter=200).fit(values, y)
    explainer = shap.LinearExplainer(peer, values[:1000])
    theirs = min(seconds(lambda: explainer.shap_values(values)) for _ in range(3))
    print(
        f"shap.LinearExplainer {theirs * 1e3:5.1f} ms, its rows being one-hot already "
        f"({values.shape[1]} columns): {theirs / ours:.2f} of ours"
    )


if __name__ == "__main__":
    main()
