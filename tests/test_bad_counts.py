"""Bad input is refused by one tree of errors that say what, which value, and what to do."""

import numpy as np
import pytest

from deciban import families
from deciban.errors import (
    DecibanError,
    InputError,
    MissingValueError,
    ParameterError,
    ShapeError,
    UnhashableError,
)
from deciban.families.bell import GaussianSettings
from deciban.families.categorical import CategoricalSettings
from deciban.families.histogram import HistogramSettings
from deciban.families.settings import Settings, check_smoothing
from deciban.families.words import WordSettings
from deciban.models.prior import class_prior
from deciban.stats import counts
from deciban.stats.counts import Counts

GOOD = Counts.of({"x": ["S", "M"]}, [1, 2])

REFUSED = {
    "NaN in a bag": (MissingValueError, "got nan", {"x": [1, np.nan]}, "multinomial"),
    "infinity in a bag": (MissingValueError, "got inf", {"x": [np.inf, 1]}, "bernoulli"),
    "a negative amount": (InputError, "amount >= 0 .* got -2", {"x": [1, -2]}, "complement"),
    "neither 0 nor 1": (InputError, "column x .* 0 or 1 .* got 2", {"x": [1, 2]}, "bernoulli"),
    "infinite number": (MissingValueError, "-inf .* column x", {"x": [-np.inf, 1]}, "gaussian"),
    "words as numbers": (InputError, "'x' .* gaussian: .*'S'", {"x": ["S", "M"]}, "gaussian"),
    "two columns in one": (ShapeError, "1 columns", {"x": [[1, 2], [3, 4]]}, "gaussian"),
    "categories in rows": (ShapeError, "shape", {"x": [["a", "b"], ["c", "d"]]}, "categorical"),
    "an odd length": (ShapeError, "3 rows, y has 2", {"x": [1, 2, 3]}, "categorical"),
    "no length": (InputError, "'x' cannot be counted", {"x": 7}, "categorical"),
    "a list as category": (UnhashableError, "hashable", {"x": [[1], "a"]}, "categorical"),
    "an unknown family": (ParameterError, "unknown family 'weibull'", {"x": [1, 2]}, "weibull"),
    "no family at all": (ParameterError, "'x' has no family", {"x": [1, 2]}, {"z": "gaussian"}),
    "a flat X": (ShapeError, "got list", [1, 2], "categorical"),
    "a ragged X": (ShapeError, "got list", [[1], [2, 3]], "gaussian"),
    "no X": (ShapeError, "got NoneType", None, "gaussian"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_columns_that_cannot_be_counted(case):
    error, message, X, kind = REFUSED[case]
    with pytest.raises(error, match=f"(?s){message}.* Hint: "):
        Counts.of(X, [1, 2], family=kind)


@pytest.mark.parametrize(
    ("error", "message", "y"),
    [
        (ShapeError, "y is empty", []),
        (MissingValueError, "the first in row 1", ["a", None]),
        (MissingValueError, "the first in row 0", [np.nan, 1.0]),
        (InputError, "0.5", [0.5, 1.0]),
        (MissingValueError, "infinity", [np.inf, 1.0]),
        (ShapeError, "shape", [[1, 2], [3, 4]]),
        (UnhashableError, "hashable", [[1], "a"]),
    ],
)
def test_labels_that_cannot_be_counted(error, message, y):
    with pytest.raises(error, match=f"{message}.* Hint: "):
        Counts.of({"x": ["S", "M"]}, y)


@pytest.mark.parametrize("kind", ["categorical", "gaussian", "multinomial"])
@pytest.mark.parametrize(
    ("error", "message", "weight"),
    [
        (InputError, "-1", [1, -1]),
        (InputError, "total weight is zero", [0, 0]),
        (MissingValueError, "NaN", [1, np.nan]),
        (MissingValueError, "infinity", [1, np.inf]),
        (ShapeError, "3 rows", [1, 2, 3]),
        (InputError, "numbers", ["a", "b"]),
    ],
)
def test_weights_that_cannot_be_counted(kind, error, message, weight):
    with pytest.raises(error, match=f"{message}.* Hint: "):
        Counts.of({"x": [1, 0]}, [1, 2], weight=weight, family=kind)


@pytest.mark.parametrize("factor", [-1, np.nan, np.inf, -0.5])
def test_factors_below_zero(factor):
    with pytest.raises(ParameterError, match=r"number >= 0, got .* Hint: "):
        GOOD * factor
    assert Counts.of({"x": ["S", "M"]}, [1, 2]) == GOOD


@pytest.mark.parametrize("factor", ["2", None, [1], 1j])
def test_factors_that_are_no_numbers(factor):
    with pytest.raises(TypeError):
        GOOD * factor


def test_nothing_to_merge():
    with pytest.raises(InputError, match="no counts to merge"):
        counts.merge([])


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        (Settings, {"method": "best"}),
        (Settings, {"smoothing": -1}),
        (Settings, {"smoothing": [1.0, -0.1]}),
        (Settings, {"smoothing": np.nan}),
        (Settings, {"smoothing": "1"}),
        (Settings, {"smoothing": None}),
        (Settings, {"smoothing": [[1.0]]}),
        (CategoricalSettings, {"method": "best"}),
        (CategoricalSettings, {"smoothing": -1}),
        (CategoricalSettings, {"sizes": -1}),
        (CategoricalSettings, {"sizes": 2.5}),
        (CategoricalSettings, {"sizes": [[1]]}),
        (CategoricalSettings, {"unseen": "guess"}),
        (GaussianSettings, {"floor": -1e-9}),
        (GaussianSettings, {"floor": np.nan}),
        (GaussianSettings, {"floor": "0"}),
        (HistogramSettings, {"bins": -2}),
        (HistogramSettings, {"bins": 2.5}),
        (WordSettings, {"weighting": "guess"}),
        (WordSettings, {"contrast": -1}),
        (WordSettings, {"length": np.nan}),
        (WordSettings, {"scale": "1"}),
        (WordSettings, {"idf": -1}),
        (WordSettings, {"uniformity": np.nan}),
    ],
)
def test_settings_outside_their_range(kind, settings):
    with pytest.raises(ParameterError, match=r"must be .*, got .*\. Hint: "):
        kind(**settings)


@pytest.mark.parametrize("settings", [{"smoothing": [1.0, 1.0]}, {"sizes": [2, 2, 2]}])
def test_settings_for_other_columns(settings):
    table = GOOD.tables["categorical"]
    with pytest.raises(ShapeError, match="values for 1 columns"):
        families.get("categorical").estimate(table, CategoricalSettings(**settings))


@pytest.mark.parametrize(
    ("error", "prior"),
    [
        (ParameterError, "flat"),
        (ShapeError, [1.0]),
        (ParameterError, [1.5, -0.5]),
        (ParameterError, [0.5, 0.6]),
        (ParameterError, [np.nan, 1.0]),
    ],
)
def test_priors_that_are_no_probabilities(error, prior):
    with pytest.raises(error, match="Hint: "):
        class_prior(GOOD.weight, stated=prior)


def test_priors_of_nothing_are_uniform():
    weight = GOOD.weight
    for nothing in (class_prior(weight * 0), class_prior(weight, 0.0, method="map")):
        np.testing.assert_allclose(np.exp(nothing), [0.5, 0.5])
    np.testing.assert_allclose(class_prior(weight, stated="uniform"), np.log([0.5, 0.5]))
    with pytest.raises(ParameterError, match="one smoothing"):
        class_prior(weight, smoothing=[1.0, 2.0])


def test_smoothing_may_be_any_number_from_zero():
    assert check_smoothing([0, 1, 2.5]).tolist() == [0.0, 1.0, 2.5]


@pytest.mark.parametrize("name", ["nothing", None, 3])
def test_unknown_families(name):
    with pytest.raises(ParameterError, match=r"unknown family .* Hint: one of bernoulli"):
        families.get(name)


def test_squares_that_do_not_fit_a_float():
    huge = Counts.of({"x": [1e200, -1e200]}, [0, 0], family="gaussian")
    with pytest.raises(InputError, match=r"do not fit a float.*Hint: divide"):
        families.get("gaussian").estimate(huge.tables["gaussian"], Settings())
    assert huge - huge == huge * 0


def test_every_error_is_of_one_tree():
    for error in (InputError, MissingValueError, ParameterError, ShapeError, UnhashableError):
        assert issubclass(error, DecibanError)
        assert issubclass(error, ValueError)
