"""Classes that nobody has named: a table without any labels."""

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning

from deciban import NaiveBayes
from deciban.errors import MissingValueError


def groups(n=200, seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, n)
    X = {
        "size": rng.normal(8.0 * truth, 1.0),
        "shape": np.array(["round", "square"])[(truth + (rng.random(n) < 0.1)) % 2],
    }
    return X, truth


@pytest.mark.parametrize("form", ["dict", "frame", "file", "matrix"])
def test_groups_are_found_without_labels(form, tmp_path):
    X, truth = groups()
    frame = pd.DataFrame(X)
    frame.to_parquet(tmp_path / "t.parquet")
    table = {
        "dict": X,
        "frame": frame,
        "file": str(tmp_path / "t.parquet"),
        "matrix": np.column_stack([X["size"], X["shape"] == "round"]).astype(float),
    }[form]
    model = NaiveBayes(n_classes=2, n_starts=3).fit(table)
    assert model.classes_.tolist() == [0, 1]
    share = np.mean(model.predict(table) == truth)
    assert max(share, 1 - share) > 0.95
    again = NaiveBayes(n_classes=2, n_starts=3).fit(X, [None] * len(truth))
    if form == "dict":
        np.testing.assert_array_equal(model.predict_proba(X), again.predict_proba(X))


def test_without_a_number_of_classes_labels_are_asked_for():
    X, _ = groups(20)
    with pytest.raises(MissingValueError, match="requires y to be passed"):
        NaiveBayes().fit(X)
    with pytest.raises(MissingValueError, match="requires y to be passed"):
        NaiveBayes(n_classes=2).partial_fit(X)


def test_the_warning_names_a_parameter_that_there_is():
    X, _ = groups()
    with pytest.warns(ConvergenceWarning, match="raise max_rounds or tol") as warned:
        NaiveBayes(n_classes=2, n_starts=1, max_rounds=1, tol=0.0).fit(X)
    hint = str(warned[0].message).rpartition("raise ")[2].rstrip(".")
    assert set(hint.split(" or ")) <= set(NaiveBayes().get_params())
