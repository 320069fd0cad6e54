"""Our logarithm of the gamma function is SciPy's."""

import numpy as np
from scipy.special import gammaln

from deciban.kernels.gamma import log_gamma


def test_it_is_scipys():
    x = np.concatenate([np.logspace(-300, 300, 2001), np.linspace(0, 60, 601), [np.inf]])
    np.testing.assert_allclose(log_gamma(x), gammaln(x), rtol=1e-14, atol=1e-15)


def test_shapes_and_strange_values():
    x = np.arange(1.0, 7).reshape(2, 3)
    assert log_gamma(x.T).shape == (3, 2)
    np.testing.assert_array_equal(
        log_gamma(np.array([0.0, -1.0, np.nan])), [np.inf, np.inf, np.nan]
    )
    assert log_gamma(np.array(5.0)).shape == ()
