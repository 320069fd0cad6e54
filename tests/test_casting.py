"""One rule: a value is cast to the type that its column had in training, wherever it comes from."""

import datetime
import json
from decimal import Decimal

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest

from commands import done, run
from deciban import AODE, BayesClassifier, NaiveBayes, load, scan
from deciban.errors import InputError
from deciban.naive_bayes import CategoricalNB

rng = np.random.default_rng(0)
N = 240
DAYS = [datetime.date(2024, 1, 1) + datetime.timedelta(days=i % 200) for i in range(N)]
TABLE = pd.DataFrame(
    {
        "age": rng.integers(20, 70, N),
        "height": rng.normal(170, 10, N),
        "zone": rng.choice(["1", "2", "3"], N),
        "rate": rng.choice(["1.0", "2.5"], N),
        "member": rng.random(N) < 0.5,
        "level": rng.integers(1, 4, N),
        "since": DAYS,
    }
)
LABELS = np.where(
    (TABLE["age"] > 45) ^ (TABLE["zone"] == "2") ^ TABLE["member"] ^ (TABLE["level"] == 3),
    "yes",
    "no",
)
KINDS = {"level": "categorical", "rate": "categorical"}
MODELS = {make.__name__: make for make in (NaiveBayes, AODE, BayesClassifier)}

#: A row as it was in training, and other ways to write each of its values.
PLAIN = {
    "age": 41, "height": 171.5, "zone": "2", "rate": "1.0", "member": True, "level": 3,
    "since": datetime.date(2024, 3, 4),
}  # fmt: skip
WAYS = [
    ("age", "41"), ("age", " 41.0 "), ("age", 41.0), ("age", Decimal(41)), ("age", np.int8(41)),
    ("height", "171.5"), ("height", Decimal("171.5")), ("height", np.float64(171.5)),
    ("zone", 2), ("zone", 2.0), ("zone", np.int64(2)), ("zone", Decimal(2)),
    ("rate", 1), ("rate", 1.0),
    ("member", "true"), ("member", "TRUE"), ("member", "yes"), ("member", "1"), ("member", 1),
    ("member", 1.0), ("member", np.bool_(True)),
    ("level", "3"), ("level", "3.0"), ("level", 3.0), ("level", Decimal(3)),
    ("since", "2024-03-04"), ("since", "2024-03-04T14:30"), ("since", pd.Timestamp("2024-03-04")),
    ("since", datetime.datetime(2024, 3, 4, 14, 30)), ("since", np.datetime64("2024-03-04")),
]  # fmt: skip


@pytest.fixture(scope="module", params=MODELS)
def model(request):
    return MODELS[request.param](kinds=KINDS).fit(TABLE, LABELS)


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("casting") / "m.deciban"
    NaiveBayes(kinds=KINDS).fit(TABLE.assign(y=LABELS), target="y").save(path)
    return path


@pytest.mark.parametrize(("name", "way"), WAYS, ids=str)
def test_a_value_is_what_it_was_in_training_however_it_is_written(model, name, way):
    expected = model.predict_proba([PLAIN])
    row = {**PLAIN, name: way}
    for rows in ([row], pd.DataFrame([row]), {key: [value] for key, value in row.items()}):
        np.testing.assert_array_equal(model.predict_proba(rows), expected)
        assert not model.unseen_
    why, plain = model.explain(row), model.explain(PLAIN)
    assert why.total == plain.total
    assert not any(term.unseen for term in why.terms)


@pytest.mark.parametrize("ending", ["jsonl", "csv", "parquet"])
def test_truth_values_of_files_are_numbers_where_these_were(file, ending, tmp_path):
    """As those of Python and of the service are."""
    rows = [{**PLAIN, "age": age, "level": True, "since": "2024-03-04"} for age in (True, False)]
    data, written = pd.DataFrame(rows), tmp_path / f"rows.{ending}"
    if ending == "jsonl":
        data.to_json(written, orient="records", lines=True)
    elif ending == "csv":
        data.to_csv(written, index=False)
    else:
        data.to_parquet(written)
    out = done(
        "predict", file, written, "--digits", "17", "--format", "jsonl", "--only-probabilities"
    )
    wanted = load(file).predict_proba(rows)
    answers = [list(json.loads(line).values()) for line in out.splitlines()]
    np.testing.assert_array_equal(answers, wanted)


def test_every_source_says_the_same(file, tmp_path):
    model = load(file)
    expected = model.predict_proba(TABLE)
    texts = TABLE.astype(str).assign(member=TABLE["member"].map({True: "true", False: "no"}))
    texts.to_csv(tmp_path / "t.csv", index=False)
    texts.to_parquet(tmp_path / "t.parquet")
    texts.to_json(tmp_path / "t.jsonl", orient="records", lines=True)
    connection = duckdb.connect()
    sources = [
        texts,
        pl.from_pandas(texts),
        texts.to_dict("records"),
        texts.to_dict("list"),
        connection.from_df(texts),
        *(tmp_path / f"t.{end}" for end in ("csv", "parquet", "jsonl")),
    ]
    for source in sources:
        np.testing.assert_array_equal(model.predict_proba(source), expected)
        assert not model.unseen_
    for end in ("csv", "parquet", "jsonl"):
        out = tmp_path / f"out-{end}.csv"
        done("predict", file, tmp_path / f"t.{end}", "-o", out, "--digits", "17", "--quiet")
        answers = pd.read_csv(out)
        np.testing.assert_allclose(answers[["p_no", "p_yes"]], expected, rtol=1e-12)


@pytest.mark.parametrize("as_array", [np.array, list, lambda rows: np.array(rows, dtype=object)])
def test_arrays_are_cast_by_the_place_of_a_column(as_array):
    names = ["x0", "x1", "x2"]
    table = TABLE[["age", "zone", "member"]].set_axis(names, axis=1)
    model = NaiveBayes().fit(table.to_numpy(dtype=object), LABELS)
    texts = [[str(value) for value in row] for row in table.to_numpy(dtype=object)]
    expected = model.predict_proba(table.to_numpy(dtype=object))
    np.testing.assert_array_equal(model.predict_proba(as_array(texts)), expected)
    assert not model.unseen_


def test_zeros_before_a_number_are_kept_in_a_column_of_texts(tmp_path):
    zips = ["01234", "01235", "99999"] * 20
    y = ["a", "b", "c"] * 20
    train = tmp_path / "train.csv"
    pd.DataFrame({"zip": [*zips, "none"], "y": [*y, "a"]}).to_csv(train, index=False)
    few = tmp_path / "few.csv"
    pd.DataFrame({"zip": zips[:3]}).to_csv(few, index=False)
    model = NaiveBayes().fit(train, target="y")
    assert model.predict(few).tolist() == ["a", "b", "c"]
    assert not model.unseen_


@pytest.mark.parametrize("nothing", [None, float("nan"), np.nan, pd.NA, pd.NaT, ""], ids=repr)
def test_holes_are_holes_in_every_column(model, nothing):
    expected = model.predict_proba([dict.fromkeys(PLAIN)])
    np.testing.assert_array_equal(model.predict_proba([dict.fromkeys(PLAIN, nothing)]), expected)
    assert not model.unseen_


@pytest.mark.parametrize("marker", ["NA", "null", "?", "  "])
def test_usual_markers_are_holes_where_no_text_is_expected(model, marker):
    hole, marked = ({**PLAIN, "age": v, "member": v, "since": v} for v in (None, marker))
    np.testing.assert_array_equal(model.predict_proba([marked]), model.predict_proba([hole]))
    assert not model.unseen_


def test_what_cannot_be_cast_is_missing_and_counted(model):
    row = {"age": "abc", "height": "tall", "member": "maybe", "level": "x", "since": "soon"}
    answer = model.predict_proba([{**PLAIN, **row}])
    unseen = model.unseen_
    hole = {**PLAIN, **dict.fromkeys(row)}
    np.testing.assert_array_equal(answer, model.predict_proba([hole]))
    assert {name: (values.count, values.examples) for name, values in unseen.items()} == {
        name: (1, (value,)) for name, value in row.items()
    }
    reasons = {name: values.reason for name, values in unseen.items()}
    assert reasons == {
        "age": "not a number", "height": "not a number", "member": "never seen",
        "level": "never seen", "since": "not a date",
    }  # fmt: skip


def test_a_whole_number_is_not_cut_out_of_a_fraction(model):
    model.predict_proba([{**PLAIN, "level": 2.5}])
    assert model.unseen_["level"].examples == (2.5,)
    model.predict_proba([{**PLAIN, "member": 2}])
    assert model.unseen_["member"].examples == (2,)


def test_text_takes_numbers():
    model = NaiveBayes(kinds={"note": "text"}).fit({"note": ["1 2", "2 3", "3"]}, ["a", "a", "b"])
    assert model.predict({"note": [3, 3.0]}).tolist() == model.predict(["3", "3"]).tolist()
    assert model.explain({"note": 3}).answer == model.explain({"note": "3"}).answer


@pytest.mark.parametrize("make", [NaiveBayes, AODE])
def test_rows_that_are_added_and_taken_back_are_cast(make):
    texts = TABLE.astype(str)
    model = make(kinds=KINDS).fit(TABLE, LABELS)
    before = model.counts_
    model.partial_fit(texts, LABELS)
    assert model.counts_ == before * 2
    model.forget(texts, LABELS)
    assert model.counts_ == before


@pytest.mark.parametrize("make", [NaiveBayes, AODE])
@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("age", "abc", "column 'age' is numeric and has the text 'abc'"),
        ("member", "maybe", "column 'member' is boolean and has the text 'maybe'"),
        ("level", "x", "column 'level' is categorical and has the text 'x'"),
        ("since", "soon", "column 'since' is date and has the text 'soon'"),
        ("since", 5, "column 'since' is date and has '5'"),
    ],
)
def test_a_row_that_cannot_be_cast_is_not_counted(make, name, value, message):
    model = make(kinds=KINDS).fit(TABLE, LABELS)
    before = model.counts_
    rows = [PLAIN, {**PLAIN, name: value}]
    rows = [{**row, name: str(row[name])} for row in rows] if isinstance(value, str) else rows[1:]
    for change in (model.partial_fit, model.forget):
        with pytest.raises(InputError, match=message):
            change(rows, ["yes"] * len(rows))
        assert model.counts_ == before


def test_rows_of_parquet_are_counted_as_those_of_a_frame(tmp_path):
    texts = TABLE.astype(str).assign(y=LABELS)
    texts.to_parquet(tmp_path / "t.parquet")
    one, other = (NaiveBayes(kinds=KINDS).fit(TABLE.assign(y=LABELS), target="y") for _ in "ab")
    assert one.partial_fit(tmp_path / "t.parquet").counts_ == other.partial_fit(texts).counts_


def test_labels_are_cast_too(tmp_path):
    X, y = {"x": list("SSLL") * 5}, [0, 0, 1, 1] * 5
    model = NaiveBayes().fit({**X, "y": y}, target="y")
    model.partial_fit({**X, "y": [str(label) for label in y]})
    assert model.classes_.tolist() == [0, 1]
    pd.DataFrame({**X, "y": [str(label) for label in y]}).to_parquet(tmp_path / "t.parquet")
    model.partial_fit(tmp_path / "t.parquet")
    assert model.counts_ == NaiveBayes().fit(X, y).counts_ * 3


def test_a_loaded_model_casts_as_it_did(file):
    model = load(file)
    plain = model.predict_proba([PLAIN])
    row = {"age": "41", "zone": 2, "rate": 1, "member": "yes", "level": "3", "since": "2024-03-04"}
    np.testing.assert_array_equal(model.predict_proba([{**PLAIN, **row}]), plain)


def test_the_command_explains_what_predict_accepts(file):
    row = {**PLAIN, "since": "2024-03-04", "zone": 2, "member": "yes", "age": "41"}
    lines = done("explain", file, "--row", json.dumps(row), "--json")
    assert json.loads(lines)["total"] == load(file).explain(PLAIN).total


def test_a_stray_word_in_a_large_file_is_one_hole(file, tmp_path):
    rows = TABLE.astype(str)
    rows.loc[7, "age"] = "unknown"
    path = tmp_path / "t.csv"
    rows.to_csv(path, index=False)
    for more in ((), ("--keep",)):
        ended = run(
            "predict", file, path, "-o", tmp_path / "out.jsonl", "--quiet", "--force", *more
        )
        assert (ended.code, ended.out) == (0, "")
        assert ended.err == "warning: column 'age' has 1 value not a number: 'unknown'.\n"
        lines = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
        hole = TABLE.to_dict("records")
        hole[7]["age"] = None
        expected = load(file).predict_proba(hole)[:, 1]
        np.testing.assert_allclose([line["p_yes"] for line in lines], expected, rtol=1e-5)
    assert lines[7]["age"] == "unknown"


def test_categories_of_a_drop_in_are_cast_in_tables(tmp_path):
    model = CategoricalNB().fit([["1", "a"], ["2", "b"], ["2", "a"]], ["x", "y", "y"])
    model.save(tmp_path / "m.deciban")
    pd.DataFrame({"x0": [1, 2], "x1": ["a", "b"]}).to_parquet(tmp_path / "t.parquet")
    out = done("predict", tmp_path / "m.deciban", tmp_path / "t.parquet", "--digits", "17")
    first = float(out.splitlines()[1].split(",")[1])
    assert first == model.predict_proba([["1", "a"]])[0, 0]


def test_models_whose_categories_are_of_other_types_are_not_put_together():
    one = NaiveBayes().fit({"zone": ["1", "2"] * 9}, list("ab") * 9)
    other = NaiveBayes(kinds={"zone": "categorical"}).fit({"zone": [1, 2] * 9}, list("ab") * 9)
    for combine in (lambda: one + other, lambda: one - other):
        with pytest.raises(InputError, match="'zone' has text as categories in one model and int"):
            combine()
    assert (one + one).counts_ == one.counts_ * 2


def test_a_value_is_cast_alike_whatever_stands_beside_it(model):
    """A column of several types is none of texts: each value is cast as what it is."""
    for name in PLAIN:
        ways = [
            way
            for column, way in WAYS
            if column == name and isinstance(way, bool | float | int | str)
        ]
        ways += [PLAIN[name]] if isinstance(PLAIN[name], bool | float | int | str) else []
        ways += [True, False, 1, 1.0, 0.5, "1", "true", "x", None]
        if name == "since":  # dates stand beside no texts
            continue
        alone = [model.predict_proba([{**PLAIN, name: way}])[0] for way in ways]
        together = model.predict_proba([{**PLAIN, name: way} for way in ways])
        np.testing.assert_array_equal(together, alone)


def test_lists_beside_texts_are_told_apart_only_by_who_knows_the_column():
    rows = [{"n": 1, "tags": ["red", "c++"]}, {"n": 2, "tags": "red"}]
    with pytest.raises(InputError, match="column 'tags' mixes list and text values"):
        NaiveBayes().fit(rows, ["a", "b"])
    m = NaiveBayes().fit([rows[0], {"n": 3, "tags": ["blue"]}], ["a", "b"])
    alone = np.concatenate([m.predict_proba([row]) for row in rows])
    np.testing.assert_array_equal(m.predict_proba(rows), alone)


def test_values_of_several_types_are_one_column_in_batches(model):
    ways = [True, 41, "41", 41.5, None, "x"] * 3
    rows = [{**PLAIN, "age": way} for way in ways]
    alone = np.concatenate([model.predict_proba([row]) for row in rows])
    table = scan(rows, rows=4)
    np.testing.assert_array_equal(model.predict_proba(table), alone)
    assert model.unseen_["age"].count == 3
