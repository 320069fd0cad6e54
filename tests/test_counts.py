"""The algebra of counts: the same laws for every family, and for a mixture of them."""

import copy

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deciban.errors import InputError, NegativeCountError
from deciban.stats import counts
from deciban.stats.counts import Counts
from deciban.stats.exact import ExactSum

BAGS = ("bernoulli", "multinomial", "complement")
KINDS = ("categorical", "gaussian", *BAGS, "histogram")
MIXED = dict(zip("abcdef", KINDS, strict=True))
FAMILIES = [*KINDS, MIXED]

labels = st.sampled_from(["ham", "spam", 1, 2, ("a", 1)])
categories = st.one_of(
    st.none(), st.sampled_from(["S", "M", 3, 3.5, ("L",), ""]), st.text(max_size=2)
)
numbers = st.one_of(
    st.floats(-1e140, 1e140),
    st.just(float("nan")),
    st.sampled_from([1e140, 1e-140, 1e9, 1e9 + 1, 0.1]),
)
VALUES = {
    "categorical": categories,
    "gaussian": numbers,
    "bernoulli": st.integers(0, 1),
    "multinomial": st.integers(0, 9),
    "complement": st.integers(0, 9),
    "histogram": numbers,
}
law = settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))


@st.composite
def columns(draw, family, n_rows):
    """Columns by name; a family has some of its own."""
    names = (
        [*"abcdef"] if isinstance(family, dict) else draw(st.sampled_from(["a", "ab", "b", "bc"]))
    )
    kinds = family if isinstance(family, dict) else dict.fromkeys(names, family)
    several = {n: st.lists(VALUES[kinds[n]], min_size=n_rows, max_size=n_rows) for n in names}
    return {name: draw(values) for name, values in several.items()}


@st.composite
def rows(draw, family, weighted=False):
    """Labelled rows: columns, labels and whole weights."""
    n = draw(st.integers(1, 5))
    y = draw(st.lists(labels, min_size=n, max_size=n))
    weight = draw(st.lists(st.integers(1, 3), min_size=n, max_size=n)) if weighted else None
    return draw(columns(family, n)), y, weight


def objects(values):
    """An array of Python objects: labels may be tuples."""
    out = np.empty(len(values), dtype=object)
    out[:] = values
    return out


def counted(X, y, family, weight=None):
    columns = {name: objects(values) for name, values in X.items()}
    weight = [weight] * len(y) if isinstance(weight, float) else weight
    return Counts.of(columns, objects(y), family=family, weight=weight)


def count(data, family, weight=None):
    X, y, stated = data
    return counted(X, y, family, stated if weight is None else weight)


def snapshot(table):
    """A copy of everything that is counted, to see that it stays."""
    return copy.deepcopy((table.classes, table.weight, table.tables))


def unchanged(before, table):
    classes, weight, tables = before
    return Counts(classes, weight, tables) == table and len(table.classes) == len(classes)


over_all = pytest.mark.parametrize("family", FAMILIES, ids=[*KINDS, "mixed"])


@over_all
@law
@given(st.data())
def test_addition_is_commutative_and_associative(family, data):
    a, b, c = (count(data.draw(rows(family, weighted=True)), family) for _ in range(3))
    assert a + b == b + a
    assert (a + b) + c == a + (b + c)


@over_all
@law
@given(st.data())
def test_what_was_added_can_be_taken_back(family, data):
    a, b, c = (count(data.draw(rows(family, weighted=True)), family) for _ in range(3))
    assert (a + b) - b == a
    assert (b + a) - b == a
    assert ((a + b) - b) + b == a + b
    assert (a + b + c) - (b + c) == (a + b + c) - b - c
    nothing = a - a
    assert nothing.weight.sum() == 0
    assert len(nothing.classes) == 0
    assert nothing + a == a


@over_all
@law
@given(st.data())
def test_chunks_in_any_order_give_the_same_counts(family, data):
    X, y, weight = data.draw(rows(family, weighted=True))
    order = data.draw(st.permutations(range(len(y))))
    cuts = sorted(data.draw(st.sets(st.integers(1, len(y)))) | {len(y)})
    parts = [order[i:j] for i, j in zip([0, *cuts], cuts, strict=False) if j > i]
    several = [
        counted(
            {name: [values[i] for i in part] for name, values in X.items()},
            [y[i] for i in part],
            family,
            [weight[i] for i in part],
        )
        for part in parts
    ]
    assert counts.merge(several) == counted(X, y, family, weight)


@over_all
@law
@given(st.data())
def test_weight_k_is_k_copies_and_two_halves_are_one(family, data):
    X, y, weight = data.draw(rows(family, weighted=True))
    once = counted(X, y, family)
    copies = {name: np.repeat(objects(values), weight) for name, values in X.items()}
    assert counted(copies, np.repeat(objects(y), weight), family) == counted(X, y, family, weight)
    half = counted(X, y, family, 0.5)
    assert half + half == once
    assert once - half == half


@over_all
@law
@given(st.data())
def test_decay_is_a_change_of_weight(family, data):
    rows_a = data.draw(rows(family))
    a, b = count(rows_a, family), count(data.draw(rows(family)), family)
    assert a * 2 == 2.0 * a == np.float64(2) * a == a + a
    assert a * 0.5 == count(rows_a, family, weight=0.5)
    assert a * 0.5 * 0.5 == a * 0.25
    assert a * 0.9 * 0.9 == a * 0.81
    assert a * 0.3 == count(rows_a, family, weight=0.3)
    assert (a + b) * 0.5 == a * 0.5 + b * 0.5
    assert a * 0 == a - a
    assert a * 0.3 * 0.3 - count(rows_a, family, weight=0.09) == a - a


@over_all
@law
@given(st.data())
def test_what_was_never_added_cannot_be_taken_back(family, data):
    a, b = (count(data.draw(rows(family)), family) for _ in range(2))
    before, other = snapshot(a), snapshot(b)
    with pytest.raises(NegativeCountError, match="only rows that were added can be taken away"):
        a - (a + b)
    assert unchanged(before, a)
    assert unchanged(other, b)


@over_all
@law
@given(st.data())
def test_a_difference_of_one_row_shows(family, data):
    X, y, weight = data.draw(rows(family, weighted=True))
    a, b = (counted(X, y, family, w) for w in (weight, [weight[0] + 1, *weight[1:]]))
    assert a != b
    assert a != "counts"


# What an error says


def test_an_error_names_the_class():
    a, b = Counts.of({"x": ["S"]}, ["ham"]), Counts.of({"x": ["S", "S"]}, ["spam", "spam"])
    with pytest.raises(NegativeCountError, match=r"2 rows of class spam .* it has 0"):
        a - b


@pytest.mark.parametrize(
    ("family", "has", "takes"),
    [
        ("categorical", ["S", "L"], ["M"]),
        ("categorical", ["S", "L"], [None, None]),
        ("gaussian", [1.0, 2.0], [3.0]),
        ("gaussian", [1e9, 1e9 + 5, 1e9 + 2], [1e9 + 6]),
        ("gaussian", [1e9, 1e9 + 5], [1e9 + 1, 1e9 + 4]),
        ("gaussian", [1.0, 2.0], [np.nan, np.nan]),
        ("multinomial", [1, 2], [4]),
        ("multinomial", [1, 2], [0, 0]),
        ("bernoulli", [1, 1], [0]),
        ("complement", [1, 2], [4]),
        ("histogram", [1.0, 2.0], [3.0]),
        ("histogram", [1.0, 2.0], [np.nan, np.nan]),
    ],
)
def test_the_right_number_of_wrong_rows_is_noticed(family, has, takes):
    """As many rows as there are, but other values: the sums that are left have no data."""
    a = Counts.of({"size": has}, ["ham"] * len(has), family=family)
    b = Counts.of({"size": takes}, ["ham"] * len(takes), family=family)
    with pytest.raises(NegativeCountError, match="column size in class ham"):
        a - b


def test_rows_of_one_block_alone_can_be_too_many():
    a = Counts.of({"x": [None]}, [1]) + Counts.of({"z": [1.0]}, [1], family="gaussian")
    b = Counts.of({"x": [None, None]}, [1, 1])
    with pytest.raises(NegativeCountError, match="block 'categorical' in class 1"):
        a - b


def test_one_family_a_block():
    x = Counts.of({"x": [1.0]}, [1], family="gaussian")
    other = Counts(x.classes, x.weight, {"categorical": x.tables["gaussian"]})
    with pytest.raises(InputError, match="moments on one side and categories on the other"):
        other + Counts.of({"x": [1]}, [1])
    assert other != Counts.of({"x": [1]}, [1])


# Whole numbers are exact, fractions nearly


def test_one_row_in_a_million_million_is_kept():
    a, b = Counts.of({"x": ["S"]}, [1]), Counts.of({"x": ["S"]}, [1], weight=[4e12])
    assert (a + b) - b == a
    assert a + b != b


def test_the_rounding_of_fractions_is_nothing():
    X, y = {"x": [1.0, 2.0, 4.0], "z": [0, 1, 1]}, [0, 0, 0]
    family = {"x": "gaussian", "z": "categorical"}
    a = Counts.of(X, y, family=family, weight=[0.1, 0.2, 0.3])
    b = Counts.of({"x": [8.0], "z": [0]}, [1], family=family, weight=[0.7])
    sum_of_parts = b
    for i in range(3):
        part = {name: values[i : i + 1] for name, values in X.items()}
        sum_of_parts = sum_of_parts + Counts.of(part, [0], family=family, weight=[(i + 1) / 10])
    assert sum_of_parts == a + b
    left = (a * 0.1) - (a * 0.1)
    assert len(left.classes) == 0
    assert (a + b) - b == a


def test_decay_keeps_the_variance_of_a_distant_column():
    x = 1e9 + np.random.default_rng(0).standard_normal(100)
    a = Counts.of({"x": x}, [0] * 100, family="gaussian")
    from deciban.stats.moments import pool_classes

    n, *mean_and_spread = pool_classes(a.tables["gaussian"].sums)
    for _ in range(40):
        a = a * 0.97
    left, mean, spread = pool_classes(a.tables["gaussian"].sums)
    np.testing.assert_allclose([mean, spread / left * n], mean_and_spread, rtol=1e-13)


# What vanishes, and what stays


def test_labels_vanish_with_their_last_row():
    X = {"size": ["S", "M", "L"], "colour": [None, None, "red"]}
    a = Counts.of(X, ["ham", "ham", "spam"])
    left = a - Counts.of({"size": ["L"], "colour": ["red"]}, ["spam"])
    assert left.classes.tolist() == ["ham"]
    assert left.tables["categorical"].cells.columns.tolist() == ["size"]
    assert [v.tolist() for v in left.tables["categorical"].cells.values] == [["M", "S"]]


def test_rows_without_any_word_are_still_rows():
    """The absence of a word counts: five rows without it are not the same as none."""
    without = Counts.of({"word": [0] * 5}, [0] * 5, family="bernoulli")
    one = Counts.of({"word": [1]}, [0], family="bernoulli")
    left = (without + one) - one
    assert left.tables["bernoulli"].rows.tolist() == [5.0]
    assert left + one == without + one
    assert without != Counts.of({"size": [None] * 5}, [0] * 5)


def test_zero_and_absent_are_the_same():
    a = Counts.of({"x": ["S", "M"]}, [1, 2])
    assert a + Counts.of({"y": ["red"]}, [3]) * 0 == a
    assert a + Counts.of({"x": ["L"]}, [3]) != a
    wider = a.align(np.array([1, 2, 9]), {})
    assert wider == a
    assert wider.prune().classes.tolist() == [1, 2]


def test_a_class_stays_while_one_block_has_rows_of_it():
    """A model may keep a block without the weights: rows of weight zero are rows there."""
    x = Counts.of({"x": ["S", "M"]}, [1, 2])
    weightless = Counts(x.classes, np.array([0.0, 1.0]), x.tables)
    assert weightless.prune().classes.tolist() == [1, 2]


def test_alignment_loses_nothing():
    a = Counts.of({"x": ["S", "M"]}, [1, 2])
    with pytest.raises(InputError, match="class 2 has counts that would be lost"):
        a.align(np.array([1]), {})
    fewer = Counts.of({"x": ["S"]}, [1]).tables["categorical"].cells
    with pytest.raises(InputError, match="column x has counts that would be lost"):
        a.align(a.classes, {"categorical": fewer})


def test_labels_that_are_equal_in_python_are_one():
    a = Counts.of({"x": [1, 2]}, [1, 2])
    b = Counts.of({"x": [1.0, 2.0]}, [1.0, 2.0])
    assert (a + b).weight.tolist() == [2.0, 2.0]
    assert a == b


def test_identical_labels_are_shared_and_not_copied():
    a, b = (Counts.of({"x": ["S", "M"]}, [1, 2]) for _ in range(2))
    total = a + b
    assert total.classes is a.classes
    assert total.tables["categorical"].cells is a.tables["categorical"].cells


def test_frames_and_matrices_are_columns_too():
    pd = pytest.importorskip("pandas")
    X = {"x": [1.0, 2.0], "z": [3.0, np.nan]}
    assert Counts.of(pd.DataFrame(X), [0, 1], family="gaussian") == Counts.of(
        X, [0, 1], family="gaussian"
    )
    by_number = Counts.of([[1.0, 3.0], [2.0, np.nan]], [0, 1], family="gaussian")
    assert by_number.tables["gaussian"].cells.columns.tolist() == [0, 1]


def test_a_count_says_what_it_holds():
    a = Counts.of({"x": ["S"], "z": ["T"]}, [1])
    assert repr(a) == "<Counts of 1 rows, 1 classes, categorical: 2 columns>"
    assert isinstance(
        Counts.of({"x": [1]}, [1], family="gaussian").tables["gaussian"].sums["n"], ExactSum
    )
    assert a.__mul__("2") is NotImplemented
    assert a.__add__(1) is NotImplemented
    assert a.__sub__(1) is NotImplemented


def test_more_rows_than_one_pass_of_the_kernel(monkeypatch):
    from deciban.stats import moments

    X = np.random.default_rng(0).standard_normal((10, 2))
    want = Counts.of(X, [0, 1] * 5, family="gaussian")
    monkeypatch.setattr(moments, "MAX_KERNEL_ROWS", 3)
    assert Counts.of(X, [0, 1] * 5, family="gaussian") == want


@given(st.floats(-1e100, 1e100), st.floats(0.5, 1.0), st.integers(1, 30))
def test_a_constant_column_can_be_taken_away_after_many_decays(value, factor, times):
    counts = Counts.of({"x": [value] * 5}, ["a"] * 5, family="gaussian")
    for _ in range(times):
        counts = counts * factor
    assert counts - counts * 0 == counts
    assert (counts + counts) - counts == counts
