"""The same numbers everywhere: one model from the same rows, wherever they are."""

import warnings
from functools import partial

import numpy as np
import pytest

import postgres
from deciban import AODE, BayesClassifier, NaiveBayes
from deciban.errors import InputError
from places import N_ROWS, ON_SERVER, PLACES, TABLES, in_arrow, many_categories, mixed


@pytest.fixture(scope="module")
def server():
    with postgres.server() as url:
        yield url


@pytest.fixture
def place(request, tmp_path):
    """A function that puts a table into a place, with what belongs there."""
    name = request.param
    where = request.getfixturevalue("server") if name in ON_SERVER else tmp_path
    return lambda table: PLACES[name](table, where)


MANY = many_categories()
EVERYWHERE = pytest.mark.parametrize("place", list(PLACES), indirect=True)


def fitted(make, X, how, **more):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "AODE counts no text")
        return make().fit(X, target="label", **how, **more)


def check_same(one, other, table):
    rows = table.select(one.schema_.names)
    assert one.schema_.names == other.schema_.names
    assert [c.kind for c in one.schema_.columns] == [c.kind for c in other.schema_.columns]
    assert one.classes_.tolist() == other.classes_.tolist()
    assert one.counts_ == other.counts_
    assert one.choices_ == other.choices_
    assert one.temperature_ == other.temperature_
    np.testing.assert_array_equal(one.predict_proba(rows), other.predict_proba(rows))


@EVERYWHERE
@pytest.mark.parametrize("name", list(TABLES))
@pytest.mark.parametrize("make", [NaiveBayes, AODE])
def test_the_same_model(make, name, place):
    table = TABLES[name]()
    more = {"sample_weight": "weight"} if name == "categories" else {}
    with in_arrow(table, None) as (X, how):
        wanted = fitted(make, X, how, **more)
    with place(table) as (X, how):
        check_same(fitted(make, X, how, **more), wanted, table)


@EVERYWHERE
def test_a_hundred_thousand_categories(place):
    """Each of them once, and some of them again."""
    make = partial(NaiveBayes, kinds={"city": "categorical"})
    table = MANY
    wanted = fitted(make, table, {})
    with place(table) as (X, how):
        model = fitted(make, X, how)
    assert model.counts_.tables["categories"].cells.size == 100_000
    check_same(model, wanted, table.slice(0, 1_000))


@EVERYWHERE
def test_the_same_flagship(place):
    table = mixed(150)
    wanted = fitted(BayesClassifier, table, {}).predict_proba(table)
    with place(table) as (X, how):
        model = fitted(BayesClassifier, X, how)
    np.testing.assert_array_equal(model.predict_proba(table), wanted)


@EVERYWHERE
def test_learning_and_forgetting(place):
    table = mixed()
    model = NaiveBayes().fit(table.slice(0, N_ROWS // 2), target="label")
    before = model.counts_
    with place(table.slice(N_ROWS // 2)) as (X, how):
        model.partial_fit(X, target="label", **how)
        assert model.counts_ == NaiveBayes().fit(table, target="label").counts_
        assert model.forget(X, target="label", **how).counts_ == before


@EVERYWHERE
def test_infinity_is_refused(place):
    table = mixed(60)
    numbers = table.column("number").to_pylist()
    numbers[7] = float("inf")
    table = table.set_column(0, "number", [numbers])
    with place(table) as (X, how), pytest.raises(InputError, match="infinity in column 'number'"):
        fitted(NaiveBayes, X, how)


@EVERYWHERE
def test_an_unknown_target(place):
    with place(mixed(60)) as (X, how), pytest.raises(InputError, match="no column 'lable'"):
        NaiveBayes().fit(X, target="lable", **how)
