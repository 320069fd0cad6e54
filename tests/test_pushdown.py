"""Categories that DuckDB counts in Parquet files: the same model as from memory, to the bit."""

import datetime

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deciban import NaiveBayes, sources
from deciban.engines import ENGINES, Plan
from deciban.engines.duckdb import count as grouping
from deciban.errors import FileError, MissingValueError
from deciban.sources import sample
from deciban.sources.labelled import labelled_scan
from deciban.sources.row_sample import RowSample
from mixed import table

X, Y = table(3000, n_classes=3)
HOSTILE = [
    'a"b',
    "it's",
    "select",
    "n",
    "label; DROP TABLE x",
    "number",
    "é 1",
    " ",
    "%s{}",
    "value",
]


@pytest.fixture
def pushed(monkeypatch):
    """The columns that the engine was asked to count."""
    asked = []
    group = grouping.group

    def watched(there, columns, *more):
        asked.extend(columns)
        return group(there, columns, *more)

    monkeypatch.setattr(grouping, "group", watched)
    return asked


def written(frame, path):
    frame.write_parquet(path, row_group_size=100)
    return path


def check_same(path, frame, target="label", **how):
    one = NaiveBayes(**how).fit(path, target=target)
    other = NaiveBayes(**how).fit(frame, target=target)
    assert one.counts_ == other.counts_
    assert one.schema_ == other.schema_
    assert one.classes_.tolist() == other.classes_.tolist()
    assert one.classes_.dtype.kind == other.classes_.dtype.kind
    assert one.temperature_ == other.temperature_
    rows = frame.head(50).drop(target)
    np.testing.assert_array_equal(one.predict_proba(rows), other.predict_proba(rows))
    for a, b in zip(one.counts_.tables.values(), other.counts_.tables.values(), strict=True):
        assert a.cells.columns.tolist() == b.cells.columns.tolist()
        np.testing.assert_array_equal(a.rows, b.rows)
    return one


def test_a_mixed_table(tmp_path, pushed):
    frame = pl.DataFrame({**X, "label": Y})
    check_same(written(frame, tmp_path / "t.parquet"), frame)
    assert pushed == ["size"]


@pytest.mark.parametrize("most", [7, 100, 1000])
def test_the_sample_is_that_of_a_stream(tmp_path, monkeypatch, most):
    monkeypatch.setattr(sample, "SAMPLE_ROWS", most)
    frame = pl.DataFrame({**X, "label": Y})
    for i in range(3):
        written(frame[i * 1000 : (i + 1) * 1000], tmp_path / f"t{i}.parquet")
    found = []
    for data in (str(tmp_path / "t*.parquet"), frame):
        kept = RowSample()
        scan = labelled_scan(data, target="label")
        ENGINES[scan.scan.place].count(scan, Plan(scan.schema, sample=kept))
        rows = [row for part in kept.batches for row in part.batch.tolist()]
        classes = [c for part in kept.batches for c in part.classes[part.codes].tolist()]
        found.append((rows, classes, kept.stands_for, kept.rows_seen))
    assert found[0] == found[1]
    assert 0 < len(found[0][0]) <= most


def test_two_files_make_one_model(tmp_path):
    frame = pl.DataFrame({**X, "label": Y})
    written(frame[:1234], tmp_path / "a.parquet")
    written(frame[1234:], tmp_path / "b.parquet")
    check_same(str(tmp_path / "*.parquet"), frame)


@pytest.mark.parametrize("target", HOSTILE)
def test_names_that_are_no_words(tmp_path, target, pushed):
    frame = pl.DataFrame({name: ["x", "y", "y", name] * 10 for name in HOSTILE})
    check_same(written(frame, tmp_path / "t.parquet"), frame, target)
    assert pushed == [name for name in HOSTILE if name != target]


VALUES = st.one_of(st.none(), st.text(max_size=3), st.sampled_from(["a", "A", "á", "a\0", "", " "]))


@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(rows=st.lists(st.tuples(VALUES, VALUES, st.sampled_from("ab")), min_size=1, max_size=40))
def test_any_text(tmp_path, rows):
    frame = pl.DataFrame(
        rows, schema={"x": pl.String, "y": pl.String, "label": pl.String}, orient="row"
    )
    kinds = {"x": "categorical", "y": "categorical"}
    check_same(written(frame, tmp_path / "t.parquet"), frame, kinds=kinds, calibrate=False)


@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    rows=st.lists(st.tuples(VALUES, VALUES, st.text(max_size=2)), min_size=2, max_size=40),
    n_first=st.integers(1, 5),
    n_texts=st.integers(1, 4),
)
def test_texts_beyond_the_first_rows(tmp_path, rows, n_first, n_texts):
    """Texts that the first rows have are read as codes; others are asked for afterwards."""
    frame = pl.DataFrame(
        rows, schema={"x": pl.String, "y": pl.String, "label": pl.String}, orient="row"
    )
    kinds = {"x": "categorical", "y": "categorical"}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grouping, "INFERENCE_ROWS", n_first)
        patch.setattr(grouping, "MAX_CODED_TEXTS", n_texts)
        check_same(written(frame, tmp_path / "t.parquet"), frame, kinds=kinds, calibrate=False)


def test_only_what_the_first_rows_lack_is_asked_for(tmp_path, monkeypatch, pushed):
    """Columns of few texts are read with the numbers, in one pass over the file."""
    monkeypatch.setattr(grouping, "INFERENCE_ROWS", 100)
    texts = {
        "known": ["s", "m", "l"] * 1000,
        "late": ["s"] * 2999 + ["m"],
        "gaps": ["s", None, "l"] * 1000,
        "many": [f"v{i % 300}" for i in range(3000)],
    }
    frame = pl.DataFrame({**texts, "number": np.arange(3000.0), "label": Y})
    kinds = {"many": "categorical"}
    check_same(written(frame, tmp_path / "t.parquet"), frame, calibrate=False, kinds=kinds)
    assert pushed == ["late", "gaps", "many"]
    pushed.clear()
    monkeypatch.setattr(grouping, "INFERENCE_ROWS", 10_000)
    check_same(written(frame, tmp_path / "t.parquet"), frame, calibrate=False, kinds=kinds)
    assert pushed == ["many", "gaps"]


@pytest.mark.parametrize(
    ("labels", "asked"),
    [
        ([True, False], True),
        ([-3, 7], True),
        (pl.Series([1, 2], dtype=pl.Int8), True),
        (pl.Series([1, 2], dtype=pl.UInt64), False),
        ([1.0, -0.0], False),
        ([datetime.date(2024, 1, 1), datetime.date(2023, 1, 1)], False),
    ],
)
def test_labels_of_any_type(tmp_path, labels, asked, pushed):
    frame = pl.DataFrame({"x": ["a", "b"] * 20, "label": pl.Series(list(labels) * 20)})
    if isinstance(labels, pl.Series):
        frame = frame.with_columns(pl.col("label").cast(labels.dtype))
    check_same(written(frame, tmp_path / "t.parquet"), frame)
    assert pushed == (["x"] if asked else [])


def test_other_categories_are_counted_here(tmp_path, pushed):
    """Floats, integers and truth values have rules of their own for what is the same."""
    frame = pl.DataFrame(
        {
            "float": [0.0, -0.0, float("nan"), None] * 10,
            "word": ["a", None, "b", "a"] * 10,
            "whole": [1, 2, None, 1] * 10,
            "truth": [True, None, False, True] * 10,
            "nothing": pl.Series([None] * 40, dtype=pl.String),
            "label": ["p", "q"] * 20,
        }
    )
    kinds = {"float": "categorical", "whole": "categorical"}
    model = check_same(written(frame, tmp_path / "t.parquet"), frame, kinds=kinds)
    assert pushed == ["word", "nothing"]
    assert model.counts_.tables["categories"].cells.columns.tolist() == frame.columns[:-1]


def test_weights_are_streamed(tmp_path, pushed):
    weight = [0.1 * (i % 4) for i in range(3000)]
    frame = pl.DataFrame({**X, "label": Y, "w": weight})
    path = written(frame, tmp_path / "t.parquet")
    one = NaiveBayes().fit(path, target="label", sample_weight="w")
    assert one.counts_ == NaiveBayes().fit(frame, target="label", sample_weight="w").counts_
    two = NaiveBayes().fit(written(frame.drop("w", "label"), path), Y, sample_weight=weight)
    assert two.counts_ == one.counts_
    assert pushed == []


def test_a_label_that_is_missing_is_named(tmp_path):
    frame = pl.DataFrame({"x": ["a", "b"] * 150, "label": ["p"] * 250 + [None] + ["q"] * 49})
    path = written(frame, tmp_path / "t.parquet")
    with pytest.raises(MissingValueError, match="'label' has no value in row 250"):
        NaiveBayes().partial_fit(path, target="label")
    assert NaiveBayes().fit(path, target="label").counts_.weight.sum() == pytest.approx(300)


def test_added_and_forgotten(tmp_path):
    frame = pl.DataFrame({**X, "label": Y})
    path = written(frame[:1000], tmp_path / "a.parquet")
    model = NaiveBayes().fit(frame[1000:], target="label")
    before = model.counts_
    assert model.partial_fit(path).counts_ == NaiveBayes().fit(frame, target="label").counts_
    assert model.forget(path).counts_ == before


def test_the_same_file_gives_the_same_bytes(tmp_path):
    frame = pl.DataFrame({"x": [f"v{i % 97}" for i in range(2000)], "label": ["p", "q"] * 1000})
    path = written(frame, tmp_path / "t.parquet")
    for name in ("1", "2"):
        NaiveBayes().fit(path, target="label").save(tmp_path / name)
    assert (tmp_path / "1").read_bytes() == (tmp_path / "2").read_bytes()


def test_a_file_that_changes_while_it_is_read(tmp_path, monkeypatch):
    frame = pl.DataFrame({**X, "label": Y})
    path = written(frame, tmp_path / "t.parquet")
    other = sources.scan(written(pl.concat([frame, frame]), tmp_path / "other.parquet"))
    group = grouping.group

    def late(there, columns, *more):
        return group(there._replace(table=other), columns, *more)

    monkeypatch.setattr(grouping, "group", late)
    with pytest.raises(FileError, match=r"t\.parquet changed while it was read"):
        NaiveBayes().fit(path, target="label")
