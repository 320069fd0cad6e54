"""Fixtures that scikit-learn's own tests ask for."""

import numpy as np
import pytest


@pytest.fixture
def global_random_seed():
    return 42


@pytest.fixture
def global_dtype():
    return np.float64
