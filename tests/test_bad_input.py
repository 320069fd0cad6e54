"""Bad input is refused by an error of ours that shows it and gives a hint; nothing changes."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from deciban.errors import DecibanError
from deciban.naive_bayes import BernoulliNB, CategoricalNB, GaussianNB, MultinomialNB
from models import FIVE, state, table

each = pytest.mark.parametrize("kind", FIVE)
X, Y = table()
LEARNING = ["fit", "partial_fit", "forget"]
ASKING = ["predict", "predict_proba", "predict_log_proba", "predict_joint_log_proba", "decide",
          "evidence"]  # fmt: skip


def spoilt(value, at=(1, 2)):
    """The table with one bad value."""
    rows = X.astype(object if isinstance(value, str | dict) else float)
    rows[at] = value
    return rows


def refused(model, call, *args, says="", **kwargs):
    """The call raises our error, with a hint, and leaves the model as it was."""
    before = state(model)
    with pytest.raises(DecibanError) as caught:
        getattr(model, call)(*args, **kwargs)
    message = str(caught.value)
    assert isinstance(caught.value, ValueError)
    assert " Hint: " in message, message
    assert says in message, message
    assert state(model) == before


def asked(call, rows):
    n = len(rows) if isinstance(rows, list) else [*rows.shape, 12][0]
    return (rows, Y[:n]) if call in LEARNING else (rows,)


#: What no classifier takes, and what the message says of it.
MATRICES = {
    "wrong width": (X[:, :3], "X has 3 features, but {} is expecting 4"),
    "no rows": (X[:0], "0 sample(s) (shape=(0, 4))"),
    "no columns": (X[:, :0], "0 feature(s) (shape=(12, 0))"),
    "a vector": (X[0], "Expected 2D array, got 1D"),
    "a number": (np.float64(3), "got scalar array"),
    "a cube": (np.zeros((2, 2, 2)), "dim 3"),
    "ragged": ([[1, 2, 3, 4], [1, 2]], "inhomogeneous"),
    "complex": (X + 1j, "Complex data"),
    "infinity": (spoilt(np.inf), "inf"),
    "minus infinity": (spoilt(-np.inf), "inf"),
    "sparse infinity": (sparse.csr_array(spoilt(np.inf)), "inf"),
    "stray index": (
        sparse.csr_array((np.ones(12), np.full(12, 2), np.arange(13)), shape=(12, 4)),
        "column 7 of 4",
    ),
}
MATRICES["stray index"][0].indices[5] = 7


@each
@pytest.mark.parametrize("what", MATRICES)
@pytest.mark.parametrize("call", LEARNING + ASKING)
def test_matrices(kind, what, call):
    rows, says = MATRICES[what]
    if call == "fit" and what == "wrong width":
        return
    refused(kind().fit(X, Y), call, *asked(call, rows), says=says.format(kind.__name__))


@each
@pytest.mark.parametrize("call", ["fit", "partial_fit"])
def test_a_first_call_that_fails_leaves_nothing(kind, call):
    named = {"classes": [0, 1, 2]} if call == "partial_fit" else {}
    refused(kind(), call, spoilt(np.inf), Y, says="inf", **named)
    refused(kind(), call, X, [*Y[:-1], None], says="row 11", **named)


SOME_REFUSE = [
    (np.nan, [MultinomialNB, BernoulliNB], "nan"),
    (-3.0, [MultinomialNB, CategoricalNB], "-3"),
    ("red", [GaussianNB, MultinomialNB, BernoulliNB], "'red'"),
    ({}, [GaussianNB, MultinomialNB, BernoulliNB, CategoricalNB], "'dict'"),
]


@pytest.mark.parametrize(
    ("kind", "value", "says"), [(kind, v, says) for v, kinds, says in SOME_REFUSE for kind in kinds]
)
@pytest.mark.parametrize("call", LEARNING + ASKING)
def test_values(kind, value, says, call):
    refused(kind().fit(X, Y), call, *asked(call, spoilt(value)), says=says)


@pytest.mark.parametrize("call", LEARNING + ASKING)
@pytest.mark.parametrize("value", [np.nan, -2.0])
def test_sparse_values(call, value):
    rows = sparse.csr_array(spoilt(value))
    refused(MultinomialNB().fit(X, Y), call, *asked(call, rows), says=f"{value:g}")


LABELS = {
    "none at all": (None, "y is None"),
    "too few": (Y[:5], "X has 12 rows, y has 5"),
    "missing": ([*Y[:-1].astype(float), np.nan], "1 labels are missing, the first in row 11"),
    "None": ([*Y[:-1], None], "1 labels are missing, the first in row 11"),
    "two columns": (np.zeros((12, 2)), "shape (12, 2)"),
    "fractions": (Y + 0.5, "0.5"),
    "infinite": (np.where(Y == 0, np.inf, 1.0), "inf"),
    "complex": (Y + 1j, "0.+1.j"),
    "lists": ([[1, 2], [3]] * 6, ""),
}


@each
@pytest.mark.parametrize("what", LABELS)
@pytest.mark.parametrize("call", LEARNING)
def test_labels(kind, what, call):
    y, says = LABELS[what]
    refused(kind().fit(X, Y), call, X, y, says=says)


WEIGHTS = {
    "all zero": (np.zeros(12), "0"),
    "negative": (np.arange(12) - 1.0, "-1"),
    "missing": (np.where(np.arange(12) == 3, np.nan, 1), "nan"),
    "infinite": (np.where(np.arange(12) == 3, np.inf, 1), "inf"),
    "too few": (np.ones(5), "sample_weight has 5 rows, y has 12"),
    "a matrix": (np.ones((12, 2)), "(12, 2)"),
    "words": (["heavy"] * 12, "'heavy'"),
}


@each
@pytest.mark.parametrize("what", WEIGHTS)
@pytest.mark.parametrize("call", LEARNING)
def test_weights(kind, what, call):
    weight, says = WEIGHTS[what]
    refused(kind().fit(X, Y), call, X, Y, sample_weight=weight, says=says)


@each
def test_classes_of_a_partial_fit(kind):
    refused(kind(), "partial_fit", X, Y, says="classes must be passed on the first call")
    refused(kind(), "partial_fit", X, Y, classes=[], says="classes is empty")
    refused(kind(), "partial_fit", X, Y, classes=[0, 1], says="[2] in y do not exist")
    refused(kind(), "partial_fit", X, Y, classes=[0, None, 1], says="row 1")
    model = kind().fit(X, Y)
    refused(model, "partial_fit", X, Y, classes=[0, 1], says="`classes=[0, 1]` is not the same")
    refused(model, "partial_fit", X, Y + 7, says="[7 8 9] in y do not exist")
    refused(model, "forget", X, Y + 7, says="[7 8 9] in y do not exist")


@each
def test_column_names(kind):
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = kind().fit(frame, Y)
    for call in [*LEARNING[1:], *ASKING]:
        refused(model, call, *asked(call, frame[list("abdc")]), says="same order")
        refused(model, call, *asked(call, frame.rename(columns={"a": "z"})), says="- z")
    refused(kind(), "fit", frame.rename(columns={"a": 0}), Y, says="['int', 'str']")


PARAMETERS = [
    *[(kind, {"alpha": -1.5}, "-1.5") for kind in FIVE[1:]],
    *[(kind, {"alpha": [1, 2]}, "Got 2 elements instead of 4") for kind in FIVE[1:]],
    *[(kind, {"alpha": np.inf}, "inf") for kind in FIVE[1:]],
    *[(kind, {"alpha": None}, "None") for kind in FIVE[1:]],
    *[(kind, {"class_prior": [0.5, 0.5]}, "got 2 priors for 3 classes") for kind in FIVE[1:]],
    *[(kind, {"class_prior": [0.5, 0.5, 0.5]}, "1.5") for kind in FIVE[1:]],
    (GaussianNB, {"priors": [1.5, -0.5, 0]}, "-0.5"),
    (GaussianNB, {"priors": "flat"}, "'flat'"),
    (GaussianNB, {"var_smoothing": -1}, "-1"),
    (GaussianNB, {"var_smoothing": "x"}, "'x'"),
    (GaussianNB, {"var_smoothing": np.nan}, "nan"),
    (BernoulliNB, {"binarize": "x"}, "'x'"),
    (BernoulliNB, {"binarize": np.nan}, "nan"),
    (BernoulliNB, {"binarize": None}, "zeros and ones, got 4"),
]


@pytest.mark.parametrize(("kind", "chosen", "says"), PARAMETERS)
@pytest.mark.parametrize("call", LEARNING)
def test_parameters(kind, chosen, says, call):
    model = kind().fit(X, Y).set_params(**chosen)
    refused(model, call, X[:6] if call == "forget" else X, Y[:6] if call == "forget" else Y,
            says=says)  # fmt: skip


def test_a_threshold_below_the_zeros_of_a_sparse_matrix():
    model = BernoulliNB(binarize=-1.0)
    refused(model, "fit", sparse.csr_array(X), Y, says="threshold < 0, got -1.0")


LOSSES = [
    ({"loss": [[0, 1], [1, 0]]}, "(3, 3), got (2, 2)"),
    ({"loss": [[0, 1], [1]]}, "one length"),
    ({"loss": np.full((3, 3), np.nan)}, "nan"),
    ({"loss": "dear"}, "'dear'"),
    ({"loss": {(0, 7): 1}}, "7"),
    ({"loss": {0: 1}}, "0"),
    ({"abstain": -0.5}, "-0.5"),
    ({"abstain": np.nan}, "nan"),
    ({"abstain": "never"}, "'never'"),
]


@each
@pytest.mark.parametrize(("chosen", "says"), LOSSES)
def test_losses(kind, chosen, says):
    refused(kind().fit(X, Y), "decide", X, says=says, **chosen)


@each
def test_one_class_is_no_error(kind):
    """As in scikit-learn: there is only one answer, and it is certain."""
    model = kind().fit(X, np.zeros(12))
    assert model.predict_proba(X).tolist() == [[1.0]] * 12
    assert not model.evidence(X).any()
    assert model.decide(X, loss=[[0]]).tolist() == [0.0] * 12
