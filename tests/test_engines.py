"""Every engine counts, samples and scores alike: the place of the rows does not matter."""

from typing import get_args

import numpy as np
import polars as pl
import pytest

from deciban import AODE, BayesClassifier, NaiveBayes
from deciban.engines import ENGINES, Plan, Score
from deciban.errors import InputError, MissingValueError, ShapeError
from deciban.sources import sample, scan
from deciban.sources.duckdb import DuckDBScan
from deciban.sources.labelled import labelled_scan
from deciban.sources.row_sample import RowSample
from deciban.sources.scan import Place
from deciban.text import Tokenizer
from mixed import table

N_ROWS = 1500
X, Y = table(N_ROWS, n_classes=3)
WORDS = ["good film", "a bad film", "fine, good, good", "no words of note"]
TABLE = pl.DataFrame({**X, "note": [f"{WORDS[i % 4]} {i}" for i in range(N_ROWS)], "label": Y})
TOKENIZER = Tokenizer(one_letter=True)


def opened(form, folder, frame=TABLE, **options):
    """The rows of a frame in one of the forms that scans come from."""
    if form == "parquet":
        frame.write_parquet(folder / "t.parquet", row_group_size=200)
        data = str(folder / "t.parquet")
    elif form == "csv":
        frame.write_csv(folder / "t.csv")
        data = str(folder / "t.csv")
    else:
        data = scan(frame, rows=200)
    return labelled_scan(data, **{"target": "label", **options})


def engine(rows):
    return ENGINES[rows.scan.place]


def plan(rows, **options):
    return Plan(rows.schema, TOKENIZER, **options)


def contents(kept):
    rows = [row for batch in kept.batches for row in batch.batch.tolist()]
    labels = [c for batch in kept.batches for c in batch.classes[batch.codes].tolist()]
    return rows, labels, kept.stands_for, kept.rows_seen


FORMS = pytest.mark.parametrize("form", ["parquet", "csv", "memory"])


def test_every_place_has_an_engine():
    assert set(ENGINES) == set(get_args(Place))


def test_the_forms_are_of_several_places(tmp_path):
    places = {form: opened(form, tmp_path).scan.place for form in ("parquet", "csv", "memory")}
    assert places == {"parquet": "duckdb", "csv": "file", "memory": "memory"}


@FORMS
@pytest.mark.parametrize("place", list(ENGINES))
def test_counts(form, place, tmp_path):
    """Any engine takes any scan: what is not its own it hands on."""
    wanted = opened("memory", tmp_path)
    counts = ENGINES["memory"].count(wanted, plan(wanted))
    rows = opened(form, tmp_path)
    assert rows.schema == wanted.schema
    assert ENGINES[place].count(rows, plan(rows)) == counts
    assert counts.weight.sum() == N_ROWS


@FORMS
def test_counts_of_some_columns(form, tmp_path):
    rows = opened(form, tmp_path)
    some = type(rows.schema)(tuple(c for c in rows.schema.columns if c.name in ("size", "age")))
    kept = RowSample(50)
    counts = engine(rows).count(rows, Plan(some, sample=kept))
    names = {name: t.cells.columns.tolist() for name, t in counts.tables.items()}
    assert names == {"categories": ["size"], "moments": ["age"], "histogram": ["age"]}
    assert set(contents(kept)[0][0]) == set(rows.schema.names)


@FORMS
def test_the_empty_counts_change_nothing(form, tmp_path):
    rows = opened(form, tmp_path)
    counts = engine(rows).count(rows, plan(rows))
    empty = plan(rows).empty(counts.classes)
    assert empty + counts == counts
    assert set(empty.tables) == set(counts.tables)


@FORMS
@pytest.mark.parametrize("k", [1, 7, 100, N_ROWS - 1, N_ROWS, sample.ALL_ROWS])
def test_samples(form, k, tmp_path):
    """Counting fills the sample that is drawn without counting, wherever the rows are."""
    wanted = contents(ENGINES["memory"].sample(opened("memory", tmp_path), k))
    assert len(wanted[0]) == min(k, N_ROWS)
    rows, again = opened(form, tmp_path), opened(form, tmp_path)
    assert contents(engine(rows).sample(rows, k)) == wanted
    kept = RowSample(k)
    engine(again).count(again, plan(again, sample=kept))
    assert contents(kept) == wanted


@FORMS
def test_rows_without_weight_are_not_there(form, tmp_path):
    frame = TABLE.with_columns(w=pl.Series([float(i % 3) for i in range(N_ROWS)]))
    some = TABLE.filter(pl.Series([i % 3 > 0 for i in range(N_ROWS)]))
    rows = opened(form, tmp_path, frame, weight="w")
    wanted = ENGINES["memory"].sample(opened("memory", tmp_path, some), 90)
    assert contents(engine(rows).sample(rows, 90))[:2] == contents(wanted)[:2]
    again = opened(form, tmp_path, frame, weight="w")
    assert engine(again).count(again, plan(again)).weight.sum() == N_ROWS


@FORMS
def test_rows_without_a_label(form, tmp_path):
    """They are refused by name; where there is a list for them, they are put aside."""
    labels = [None if i in (3, 1234) else label for i, label in enumerate(Y)]
    frame = TABLE.with_columns(label=pl.Series(labels))
    for work in (lambda e, r: e.count(r, plan(r)), lambda e, r: e.sample(r, 10)):
        rows = opened(form, tmp_path, frame)
        with pytest.raises(MissingValueError, match="'label' has no value in row 3"):
            work(engine(rows), rows)
        rows = opened(form, tmp_path, frame)
        rows.unlabelled = []
        work(engine(rows), rows)
        assert sum(batch.n_rows for batch in rows.unlabelled) == 2


def test_nothing_to_count(tmp_path):
    rows = opened("memory", tmp_path, TABLE.head(0), caster=opened("memory", tmp_path).caster)
    with pytest.raises(ShapeError, match="there are no rows"):
        engine(rows).count(rows, plan(rows))
    rows = opened("memory", tmp_path, weight=np.zeros(N_ROWS))
    with pytest.raises(InputError, match="the total weight is zero"):
        engine(rows).count(rows, plan(rows))


@FORMS
@pytest.mark.parametrize("what", get_args(Score))
def test_scores(form, what, tmp_path):
    model = NaiveBayes().fit(TABLE, target="label").model_
    rows = opened(form, tmp_path, caster=model.caster)
    scores = engine(rows).score(rows, model, what)
    few = opened("memory", tmp_path, TABLE.head(20), caster=model.caster)
    np.testing.assert_array_equal(scores[:20], engine(few).score(few, model, what))
    assert scores.shape == (N_ROWS, 3)
    if what == "posterior":
        np.testing.assert_allclose(scores.sum(axis=1), 1)


@FORMS
def test_scores_of_no_rows(form, tmp_path):
    model = NaiveBayes().fit(TABLE, target="label").model_
    none = opened(form, tmp_path, TABLE.head(0), caster=model.caster)
    assert engine(none).score(none, model, "posterior").shape == (0, 3)


@pytest.mark.parametrize("make", [NaiveBayes, AODE])
@pytest.mark.filterwarnings("ignore:AODE counts no text")
def test_recalibrated_alike(make, tmp_path):
    path = tmp_path / "t.parquet"
    TABLE.write_parquet(path)
    assert isinstance(scan(path), DuckDBScan)
    model = make(calibrate=False).fit(TABLE, target="label")
    one, other = (make(calibrate=False).fit(TABLE, target="label") for _ in range(2))
    one.recalibrate(path, target="label")
    other.recalibrate(TABLE, target="label")
    assert one.temperature_ == other.temperature_
    assert model.counts_ == one.counts_


def test_all_rows_of_a_file_are_learned_from(tmp_path, monkeypatch):
    """The rows that BayesClassifier learns from are not a sample for calibration."""
    monkeypatch.setattr(sample, "SAMPLE_ROWS", 40)
    frame = pl.DataFrame(
        {"x": ["a", "b", "c"] * 30, "z": [1.5, 2.0] * 45, "label": ["p", "q"] * 45}
    )
    frame.write_parquet(tmp_path / "t.parquet")
    one = BayesClassifier().fit(tmp_path / "t.parquet", target="label")
    other = BayesClassifier().fit(frame, target="label")
    assert one.report_.rows == other.report_.rows == 90
    np.testing.assert_array_equal(one.predict_proba(frame), other.predict_proba(frame))
