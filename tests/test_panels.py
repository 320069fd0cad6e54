"""Scores gathered from panels: bags against a product of matrices."""

import doctest

import numpy as np
import pytest

from deciban.kernels import panels


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("n_classes", [1, 2, 3, 4, 7, 8, 9, 20, 31, 32, 33, 64, 70])
def test_bags_of_any_number_of_classes(n_classes, index):
    rng = np.random.default_rng(n_classes)
    table = rng.standard_normal((50, n_classes))
    X = rng.poisson(0.6, (40, 50)).astype(np.float64)
    X[7] = 0.0
    rows, columns = np.nonzero(X)
    pointers = np.append(0, np.cumsum(np.bincount(rows, minlength=40))).astype(index)
    out = np.ones((40, n_classes))
    panels.add_bags(X[rows, columns], columns.astype(index), pointers, panels.cut_bags(table), out)
    np.testing.assert_allclose(out, 1.0 + X @ table, rtol=1e-12, atol=1e-12)


def test_panels_of_another_width_are_refused():
    one = np.zeros(1, dtype=np.int32), np.array([0, 1], dtype=np.int32)
    with pytest.raises(ValueError, match="2, 4, 8"):
        panels.add_bags(np.ones(1), *one, np.zeros((1, 1, 6)), np.zeros((1, 6)))


def test_doctests():
    assert doctest.testmod(panels).failed == 0
