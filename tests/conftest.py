"""Where hypothesis keeps what it learns, and fixtures that scikit-learn's own tests ask for."""

from pathlib import Path

import hypothesis
import numpy as np
import pytest
from hypothesis.configuration import set_hypothesis_home_dir

# Nothing is left behind in the checkout, and a busy machine fails no test.
set_hypothesis_home_dir(Path(__file__).parents[1] / ".venv" / "cache" / "hypothesis")
hypothesis.settings.register_profile("deciban", deadline=None)
hypothesis.settings.load_profile("deciban")


@pytest.fixture
def global_random_seed():
    return 42


@pytest.fixture
def global_dtype():
    return np.float64
