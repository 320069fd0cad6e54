"""Where hypothesis keeps what it learns, and fixtures that scikit-learn's own tests ask for."""

import os
from pathlib import Path

import hypothesis
import numpy as np
import pytest
from hypothesis.configuration import set_hypothesis_home_dir

# Nothing is left behind in the checkout. A busy machine fails no test, and every run tries the
# same examples; `pytest --hypothesis-profile explore` looks for others.
set_hypothesis_home_dir(Path(__file__).parents[1] / ".venv" / "cache" / "hypothesis")
patient = {"deadline": None, "suppress_health_check": [hypothesis.HealthCheck.too_slow]}
hypothesis.settings.register_profile("explore", **patient)
hypothesis.settings.register_profile("deciban", derandomize=True, **patient)
# Mutants need no smallest example of a failure, which may take minutes to find.
generate = (hypothesis.Phase.explicit, hypothesis.Phase.generate)
hypothesis.settings.register_profile("mutants", derandomize=True, phases=generate, **patient)
hypothesis.settings.load_profile("deciban")


# Sessions of Spark take a minute to start: `make test-engines` asks for them.
collect_ignore = [] if os.environ.get("DECIBAN_TEST_SPARK") else ["spark"]


@pytest.fixture
def global_random_seed():
    return 42


@pytest.fixture
def global_dtype():
    return np.float64
