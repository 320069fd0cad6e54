"""What the type of a column in memory says: categories, intervals, periods, lists, durations."""

import datetime as dt
from decimal import Decimal
from uuid import UUID

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from deciban import NaiveBayes, load, scan
from deciban.errors import InputError
from deciban.kernels.texts import utf8_or_nothing

N = 60
Y = ["ab"[i % 3 == 0] for i in range(N)]
TAGS = [["x", "big y"] if i % 3 else ["c++", None] for i in range(N)]
CUT = pd.cut(pd.Series([i % 3 for i in range(N)]), 3)

LETTERS, MONTHS = ["pqr"[i % 3] for i in range(N)], [f"2024-0{1 + i % 3}" for i in range(N)]

CATEGORIES = {
    "integers": pd.DataFrame({"x": pd.Categorical([i % 3 for i in range(N)])}),
    "floats": pd.DataFrame({"x": pd.Categorical([i % 3 + 0.5 for i in range(N)])}),
    "texts": pd.DataFrame({"x": pd.Categorical([str(i % 3) for i in range(N)])}),
    "dict": {"x": pd.Categorical([i % 3 for i in range(N)])},
    "index": {"x": pd.CategoricalIndex([i % 3 for i in range(N)])},
    "cut": pd.DataFrame({"x": CUT}),
    "intervals": pd.DataFrame({"x": pd.Series(pd.arrays.IntervalArray(CUT.astype("interval")))}),
    "interval objects": {"x": list(CUT.astype(object))},
    "periods": pd.DataFrame({"x": pd.PeriodIndex(MONTHS, freq="M")}),
    "polars": pl.DataFrame({"x": pl.Series(LETTERS, dtype=pl.Categorical)}),
    "enum": pl.DataFrame({"x": pl.Series(LETTERS, dtype=pl.Enum(["p", "q", "r"]))}),
    "arrow": pa.table({"x": pa.array([i % 3 for i in range(N)]).dictionary_encode()}),
}  # fmt: skip


@pytest.mark.parametrize("name", CATEGORIES)
def test_a_type_of_names_is_categorical(name, tmp_path):
    X = CATEGORIES[name]
    model = NaiveBayes().fit(X, Y)
    (column,) = model.schema_.columns
    assert column.kind == "categorical"
    assert model.predict(X).tolist() == Y
    model.save(tmp_path / "m.deciban")
    assert load(tmp_path / "m.deciban").predict(X).tolist() == Y


def test_names_that_do_not_repeat_are_categorical_if_their_type_says_so():
    model = NaiveBayes().fit(pd.DataFrame({"x": pd.Categorical([f"a{i}" for i in range(N)])}), Y)
    assert model.schema_.columns[0].kind == "categorical"


def test_intervals_and_periods_are_named_as_pandas_writes_them():
    X = pd.DataFrame({"x": CUT, "p": pd.PeriodIndex(["2024-01"] * N, freq="M")})
    X.loc[0, "x"] = None
    first, second = (row for batch in scan(X.iloc[:2]) for row in batch.tolist())
    assert first == {"x": None, "p": "2024-01"}
    assert second["x"] == str(CUT[1])


BAGS = {
    "pandas": pd.DataFrame({"x": TAGS}),
    "arrays": pd.DataFrame({"x": [np.array(tags, dtype=object) for tags in TAGS]}),
    "polars": pl.DataFrame({"x": TAGS}),
    "arrow": pa.table({"x": TAGS}),
    "large": pa.table({"x": pa.array(TAGS, pa.large_list(pa.large_string()))}),
    "sliced": pa.table({"x": [["no"], *TAGS]}).slice(1),
    "rows": [{"x": tags, "n": 1} for tags in TAGS],
    "sets": {"x": [set(tags) - {None} for tags in TAGS]},
}


@pytest.mark.parametrize("name", BAGS)
def test_a_list_of_texts_is_a_bag_of_words(name):
    X = BAGS[name]
    model = NaiveBayes().fit(X, Y)
    assert (model.schema_.columns[0].kind, model.schema_.columns[0].format) == ("text", "bag")
    assert model.predict(X).tolist() == Y
    assert "big_y" in str(
        model.explain({"x": ["x", "big y"], **({"n": 1} if name == "rows" else {})})
    )


def test_every_item_is_a_word():
    texts = {row["x"] for batch in scan(BAGS["polars"]) for row in batch.tolist()}
    assert texts == {"_x big_y", "c__"}


def test_a_missing_list_is_missing():
    rows = [
        row["x"]
        for batch in scan(pl.DataFrame({"x": [["ab"], None, []]}))
        for row in batch.tolist()
    ]
    assert rows == ["ab", None, ""]


@pytest.mark.parametrize("X", [pl.DataFrame({"x": [[1, 2]]}), {"x": [[1, 2]]}, {"x": [[1], "a"]}])
def test_other_lists_are_refused(X):
    with pytest.raises(InputError, match="'x' has"):
        list(scan(X))


def test_amounts_durations_and_times_of_day():
    X = pd.DataFrame(
        {
            "price": [Decimal(i % 3) / 4 for i in range(N)],
            "took": pd.to_timedelta([i % 3 for i in range(N)], unit="h"),
            "at": [dt.time(i % 3, 30) for i in range(N)],
            "for": pd.Series([dt.timedelta(hours=i % 3) for i in range(N)], dtype=object),
        }
    )
    model = NaiveBayes().fit(X, Y)
    assert [c.kind for c in model.schema_.columns] == ["numeric", "numeric", "time", "numeric"]
    assert model.predict(X).tolist() == Y
    row = {"price": Decimal("0.25"), "took": dt.timedelta(hours=1), "at": dt.time(1, 30),
           "for": dt.timedelta(hours=1)}  # fmt: skip
    assert model.predict([row]).tolist() == ["a"]
    assert model.explain(row).answer == "a"


def test_uuids_are_texts():
    rows = [UUID(int=i) for i in range(2)]
    assert [r["x"] for b in scan({"x": rows}) for r in b.tolist()] == [str(value) for value in rows]


@pytest.mark.parametrize(
    "gap", [None, float("nan"), np.nan, pd.NA, pd.NaT], ids=["None", "nan", "np.nan", "NA", "NaT"]
)
def test_objects_with_holes_are_texts(gap):
    values = ["né", gap, "", "北京"] * 3
    for column in (pd.Series(values, dtype=object), values):
        got = [row["x"] for batch in scan({"x": column}) for row in batch.tolist()]
        assert got == ["né", None, "", "北京"] * 3


def test_the_compiled_loop_takes_texts_and_holes_alone():
    offsets, data, missing = utf8_or_nothing(["né", None, float("nan"), "x"])
    assert (offsets.tolist(), data.tobytes(), missing.tolist()) == (
        [0, 3, 3, 3, 4], "néx".encode(), [False, True, True, False],
    )  # fmt: skip
    for other in ([], [None], [1], ["x", 1], ["x", b"y"], ["x", "\udc80"], [float("nan")]):
        assert utf8_or_nothing(other) is None


DAYS = pd.date_range("2024-01-01", periods=N, freq="36h", tz="Europe/Berlin")
#: Values of pandas that are no Series.
ARRAYS = {
    "index with a zone": DAYS,
    "array with a zone": DAYS.array,
    "integers": pd.array([i % 7 if i % 5 else None for i in range(N)], dtype="Int64"),
    "truth values": pd.array([i % 2 == 0 if i % 5 else None for i in range(N)], dtype="boolean"),
    "texts": pd.array([*LETTERS[:-1], None], dtype="str"),
    "kept by pyarrow": pd.array(LETTERS, dtype="string[pyarrow]"),
}


@pytest.mark.parametrize("name", ARRAYS)
def test_an_index_or_array_of_pandas_is_what_its_series_is(name):
    values, series = ARRAYS[name], pd.Series(ARRAYS[name])
    model, same = NaiveBayes().fit({"x": values}, Y), NaiveBayes().fit({"x": series}, Y)
    assert model.schema_ == same.schema_
    assert model.counts_ == same.counts_
    assert (model.predict_proba({"x": values}) == same.predict_proba({"x": series})).all()


def test_masked_values_are_missing():
    values = np.ma.masked_array(np.arange(N) % 7, np.arange(N) % 5 == 0)
    holes = [None if i % 5 == 0 else i % 7 for i in range(N)]
    model, same = NaiveBayes().fit({"x": values}, Y), NaiveBayes().fit({"x": holes}, Y)
    assert model.schema_ == same.schema_
    assert model.counts_ == same.counts_
    rows = np.ma.stack([values, values * 2.5], axis=1)
    of_matrix = NaiveBayes().fit(rows, Y)
    lists = [[None if x is None else x, None if x is None else x * 2.5] for x in holes]
    assert of_matrix.counts_ == NaiveBayes().fit(lists, Y).counts_
    np.testing.assert_array_equal(of_matrix.predict_proba(rows), of_matrix.predict_proba(lists))
    one = of_matrix.predict_proba(rows[:1])
    np.testing.assert_array_equal(one, of_matrix.predict_proba(lists[:1]))


def test_an_index_with_a_zone_says_when_rows_were():
    X = {"x": [i % 7 for i in range(N)]}
    model, same = (NaiveBayes().fit(X, Y, time=each) for each in (DAYS, DAYS.tz_convert(None)))
    assert (model.predict_proba(X) == same.predict_proba(X)).all()


def test_an_integer_of_a_nullable_column_that_is_too_large_is_named():
    with pytest.raises(InputError, match="column 'x' has the integer 18446744073709551615"):
        NaiveBayes().fit({"x": pd.array([2**64 - 1] * N, dtype="UInt64")}, Y)


def test_a_name_with_nul_is_refused():
    frame = pl.DataFrame({"a\0b": [1, 2]})  # Polars itself would end the process
    with pytest.raises(InputError, match="NUL character"):
        NaiveBayes().fit(frame, ["x", "y"])


def test_categories_may_be_moments_with_a_zone():
    moments = pd.date_range("2000-01-01", periods=2, tz="Asia/Kolkata")
    frame = pd.DataFrame({"when": pd.Series(moments.repeat(4)).astype("category")})
    model = NaiveBayes().fit(frame, ["x"] * 4 + ["y"] * 4)
    assert model.predict(frame).tolist() == ["x"] * 4 + ["y"] * 4
