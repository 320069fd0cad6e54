"""Memory beyond the input: little for fit, no more than twice the result for predict."""

import tracemalloc

import numpy as np
import pytest
from scipy import sparse

from deciban.naive_bayes import CategoricalNB
from models import FIVE

MB = 1 << 20
ROWS, COLUMNS = 200_000, 40
FORMS = {
    "float64": lambda X: X,
    "float32, by column": lambda X: np.asfortranarray(X, dtype=np.float32),
    "int16": lambda X: X.astype(np.int16),
}


def peak(call, *args):
    """The most memory that was in use during a call, beyond that before it."""
    tracemalloc.start()
    result = call(*args)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return result, most


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    return rng.integers(0, 4, (ROWS, COLUMNS)).astype(float), rng.integers(0, 3, ROWS)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", FIVE)
def test_dense_rows(kind, form, data):
    X, y = FORMS[form](data[0]), data[1]
    model, most = peak(kind().fit, X, y)
    assert most < 64 * MB
    for method in (model.predict_proba, model.predict, model.decide):
        result, most = peak(method, X)
        assert most < 2 * result.nbytes + 8 * MB
    result, most = peak(model.evidence, X[: ROWS // 10])
    assert most < 2 * result.nbytes + 8 * MB


@pytest.mark.parametrize("kind", FIVE)
def test_sparse_rows_are_never_made_dense_all_at_once(kind):
    """As a dense matrix it would hold 200 MB."""
    rng = np.random.default_rng(1)
    X = sparse.random_array((5_000, 5_000), density=1e-3, format="csr", rng=rng)
    X.data = np.ceil(X.data * 3)
    y = rng.integers(0, 2, 5_000)
    model, most = peak(kind().fit, X, y)
    assert most < 64 * MB
    result, most = peak(model.predict_proba, X)
    assert most < 2 * result.nbytes + 16 * MB
    parts, most = peak(model.evidence, X)
    size = sum(part.data.nbytes + part.indices.nbytes + part.indptr.nbytes for part in parts)
    assert most < 2 * size + 16 * MB


def test_names():
    rng = np.random.default_rng(2)
    X = rng.choice(np.array(["red", "green", "blue", None], dtype=object), (100_000, 4))
    y = rng.integers(0, 2, len(X))
    model, most = peak(CategoricalNB().fit, X, y)
    assert most < 16 * MB
    result, most = peak(model.predict_proba, X)
    assert most < 2 * result.nbytes + 8 * MB
