"""What the tests of the five classifiers share: data they all take, and a deep comparison."""

import numpy as np

from deciban.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB
from deciban.stats.exact import ExactSum

FIVE = [GaussianNB, MultinomialNB, ComplementNB, BernoulliNB, CategoricalNB]
METHODS = ["predict_joint_log_proba", "predict_log_proba", "predict_proba", "predict"]


def table(rows=12, columns=4, classes=3, seed=0):
    """Whole numbers 0 .. 4 that every classifier takes, and labels of every class."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 5, (rows, columns)).astype(float)
    y = np.concatenate([np.arange(classes), rng.integers(0, classes, rows - classes)])
    return X, y


def state(model):
    """Everything a model knows, as nested plain values that can be compared."""
    return _plain({k: v for k, v in vars(model).items() if k != "_params"})


def shown(model):
    """The public fitted attributes, but for the counts themselves."""
    return _plain(
        {k: v for k, v in vars(model).items() if k[0] != "_" and k[-1] == "_" and k != "counts_"}
    )


def _plain(value):
    if isinstance(value, ExactSum):
        value = value.carry()
        return value.digits.tolist(), value.base if value.nonzero().any() else 0
    if isinstance(value, np.ndarray):
        return value.dtype.kind, value.shape, value.tolist()
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if hasattr(value, "__dataclass_fields__"):
        # Rows that are kept to be judged come in the parts in which they were learned.
        fields = [name for name in value.__dataclass_fields__ if name != "kept"]
        return {name: _plain(getattr(value, name)) for name in fields}
    if type(value).__module__.startswith("deciban") and not vars(value):
        return type(value)  # families and statistics have no state
    return value


def assert_close(actual, expected, rtol=1e-9):
    """Numbers to a relative tolerance, anything else exactly, through lists.

    Where a number is expected to be undefined (NaN), any defined one will do.
    """
    if isinstance(expected, list):
        assert len(actual) == len(expected)
        for a, b in zip(actual, expected, strict=True):
            assert_close(a, b, rtol)
    elif np.asarray(expected).dtype.kind == "f":
        assert not np.isnan(actual).any()
        expected = np.where(np.isnan(expected), actual, expected)
        np.testing.assert_allclose(actual, expected, rtol=rtol, atol=1e-12)
    else:
        np.testing.assert_array_equal(actual, expected)
