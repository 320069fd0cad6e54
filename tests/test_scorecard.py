"""A scorecard says what the model says, read by a program in another language."""

import json
import math
import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from deciban import AODE, LogisticRegression, NaiveBayes
from deciban.errors import InputError
from deciban.naive_bayes import BernoulliNB, CategoricalNB, GaussianNB, MultinomialNB

READER = Path(__file__).parent / "scorecard.mjs"
MISSING = "Node is not installed: apt-get install nodejs"


def read_by_node(model, rows):
    """The probabilities of rows, (rows, classes), as the reader has them."""
    node = shutil.which("node")
    if node is None:
        if os.environ.get("CI") == "true":
            pytest.fail(MISSING)
        pytest.skip(MISSING)
    lines = [dict(zip(rows, line, strict=True)) for line in zip(*rows.values(), strict=True)]
    message = json.dumps({"card": json.loads(model.to_json()), "rows": lines})
    command = [node, str(READER)]
    done = subprocess.run(command, input=message, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def table(n=120):
    rng = np.random.default_rng(0)
    y = rng.choice(["yes", "no", "it's"], n)
    rows = {
        "size": [None if i % 9 == 0 else str(v) for i, v in enumerate(rng.choice(list("SML"), n))],
        "shop": [f"s{v}" for v in rng.integers(0, 50, n)],
        "height": (rng.normal(size=n) + (y == "yes")).tolist(),
        "count": [int(v) for v in rng.poisson(2 + 3 * (y == "no"))],
        "wind": rng.uniform(-400, 800, n).tolist(),
        "open": [bool(v) for v in rng.random(n) < 0.4],
    }
    return rows, y.tolist()


KINDS = {"wind": "cyclic:360", "shop": "categorical"}


@pytest.mark.parametrize("numeric", ["auto", "gaussian", "histogram", "poisson", "von_mises"])
def test_another_language_reads_the_same_probabilities(numeric):
    rows, y = table()
    model = NaiveBayes(kinds=KINDS, numeric=numeric).fit(rows, y)
    new = {name: list(values[:50]) for name, values in rows.items()}
    new["size"][:3] = ["XL", None, ""]
    new["height"][4] = None
    told = read_by_node(model, new)
    known = {**new, "height": [math.nan if v is None else v for v in new["height"]]}
    np.testing.assert_allclose(told, model.predict_proba(known), atol=1e-9)


@pytest.mark.parametrize(
    "model", [GaussianNB(), MultinomialNB(), BernoulliNB(), CategoricalNB(), LogisticRegression()]
)
def test_models_of_matrices_have_scorecards(model):
    rng = np.random.default_rng(1)
    X = rng.integers(0, 4, (60, 3)).astype(float)
    model.fit(X, (X[:, 0] + rng.integers(0, 2, 60)).astype(int) % 3)
    told = read_by_node(model, {f"x{j}": X[:, j].tolist() for j in range(3)})
    np.testing.assert_allclose(told, model.predict_proba(X), atol=1e-9)


def test_points_are_decibans_that_people_can_read():
    model = NaiveBayes(smoothing=1, calibrate=False).fit({"x": ["S", "S", "L"]}, ["a", "a", "b"])
    card = json.loads(model.to_json())
    (part,) = card["columns"][0]["parts"]
    assert part["values"] == ["L", "S"]
    odds = np.diff(part["points"], axis=1)[:, 0]
    evidence = model.evidence({"x": ["L", "S"]})[:, 0, 1]
    np.testing.assert_allclose(odds, evidence, atol=1e-12)
    prior = np.diff(card["prior"])[0]
    np.testing.assert_allclose(prior, model.prior_evidence()[1], atol=1e-12)


def test_a_row_that_is_refused_has_no_probabilities():
    model = LogisticRegression().fit([[1.0], [2.0], [3.0]], ["a", "a", "b"])
    assert read_by_node(model, {"x0": [None, 1.0]})[0] is None


def test_a_model_whose_columns_act_together_has_no_points():
    model = AODE().fit({"x": ["S", "L"] * 5, "z": ["a", "b"] * 5}, ["a", "b"] * 5)
    with pytest.raises(InputError, match=r"columns of a AODE act together.*Hint"):
        model.to_json()
