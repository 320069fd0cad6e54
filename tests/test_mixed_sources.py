"""The same data give the same model, whichever way they come."""

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from deciban import NaiveBayes, sources
from deciban.errors import DecibanError, InputError, MissingValueError, ParameterError, ShapeError
from mixed import part, records, table

X, Y = table(300, n_classes=3)
WHOLE = {**X, "label": Y}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The table in files of every kind."""
    at = tmp_path_factory.mktemp("files")
    frame = pl.DataFrame(WHOLE)
    frame.write_csv(at / "rows.csv")
    frame.write_csv(at / "rows.tsv", separator="\t")
    frame.write_parquet(at / "rows.parquet")
    lines = frame.with_columns(pl.col("when").dt.strftime("%Y-%m-%d %H:%M:%S"))
    lines.write_ndjson(at / "rows.jsonl")
    for i in range(3):
        frame[i * 100 : (i + 1) * 100].write_csv(at / f"part{i}.csv")
    import gzip

    (at / "rows.csv.gz").write_bytes(gzip.compress((at / "rows.csv").read_bytes()))
    return at


def frames():
    whole = pl.DataFrame(WHOLE)
    return (whole[start : start + 70] for start in range(0, 300, 70))


def connection():
    con = duckdb.connect()
    con.register("rows", pa.table(WHOLE))
    return con


WITH_LABELS = {
    "dict": lambda: X,
    "pandas": lambda: pd.DataFrame(X),
    "polars": lambda: pl.DataFrame(X),
    "pyarrow": lambda: pa.table(X),
    "records": lambda: records(X),
    "numpy": lambda: np.array([list(row.values()) for row in records(X)], dtype=object),
    "lists": lambda: [list(row.values()) for row in records(X)],
}
WITH_TARGET = {
    "pandas": lambda at: pd.DataFrame(WHOLE),
    "polars": lambda at: pl.DataFrame(WHOLE),
    "lazy": lambda at: pl.LazyFrame(WHOLE),
    "pyarrow": lambda at: pa.table(WHOLE),
    "reader": lambda at: pa.table(WHOLE).to_reader(max_chunksize=17),
    "records": lambda at: records(WHOLE),
    "frames": lambda at: frames(),
    "list of frames": lambda at: list(frames()),
    "csv": lambda at: at / "rows.csv",
    "tsv": lambda at: str(at / "rows.tsv"),
    "parquet": lambda at: at / "rows.parquet",
    "json lines": lambda at: at / "rows.jsonl",
    "gzip": lambda at: at / "rows.csv.gz",
    "glob": lambda at: str(at / "part*.csv"),
    "small batches": lambda at: sources.scan(pl.DataFrame(WHOLE), rows=7),
    "relation": lambda at: connection().sql("select * from rows"),
}


@pytest.fixture(scope="module")
def reference():
    return NaiveBayes().fit(X, Y)


def renamed(model):
    """The names that an array's columns have, by position."""
    return {f"x{j}": name for j, name in enumerate(X)} if "x0" in model.schema_.names else {}


def check_same(model, reference):
    names = renamed(model)
    if not names:
        assert model.counts_ == reference.counts_
        assert [(c.name, c.kind) for c in model.schema_.columns] == [
            (c.name, c.kind) for c in reference.schema_.columns
        ]
    want = reference.predict_joint_log_proba(X)
    found = model.predict_joint_log_proba({n: X[names.get(n, n)] for n in model.schema_.names})
    np.testing.assert_array_equal(found, want)
    assert model.classes_.tolist() == reference.classes_.tolist()
    assert model.temperature_ == reference.temperature_ > 0


@pytest.mark.parametrize("way", WITH_LABELS)
def test_with_labels(way, reference):
    check_same(NaiveBayes().fit(WITH_LABELS[way](), Y), reference)


@pytest.mark.parametrize("way", WITH_TARGET)
def test_with_the_name_of_the_target(way, reference, folder):
    model = NaiveBayes().fit(WITH_TARGET[way](folder), target="label")
    check_same(model, reference)
    assert model.target_ == "label"


@pytest.mark.parametrize("way", WITH_TARGET)
def test_scored_with_the_target_still_there(way, reference, folder):
    model = NaiveBayes().fit(WHOLE, target="label")
    found = model.predict_proba(WITH_TARGET[way](folder))
    np.testing.assert_array_equal(found, reference.predict_proba(X))


def test_a_query(reference):
    con = connection()
    check_same(NaiveBayes().fit(con, sql="select * from rows", target="label"), reference)


@pytest.mark.parametrize("labels", [pd.Series(Y), pl.Series(Y), np.array(Y), np.array(Y, object)])
def test_labels_of_any_kind(labels, reference):
    check_same(NaiveBayes().fit(X, labels), reference)


def test_the_order_of_the_columns_does_not_matter(reference):
    turned = dict(reversed(list(X.items())))
    np.testing.assert_array_equal(reference.predict_proba(turned), reference.predict_proba(X))
    np.testing.assert_allclose(
        NaiveBayes().fit(turned, Y).predict_proba(X), reference.predict_proba(X), rtol=1e-12
    )


@pytest.mark.parametrize("size", [1, 13, 64, 1000])
def test_the_size_of_batches_does_not_matter(size, monkeypatch):
    from deciban.sources import sample

    monkeypatch.setattr(sample, "SAMPLE_ROWS", 100)
    one = NaiveBayes().fit(sources.scan(WHOLE, rows=300), target="label")
    other = NaiveBayes().fit(sources.scan(WHOLE, rows=size), target="label")
    assert one.counts_ == other.counts_
    np.testing.assert_allclose(one.model_.calibration.loss, other.model_.calibration.loss)
    np.testing.assert_array_equal(one.predict_proba(X), other.predict_proba(X))


def test_a_file_is_read_once():
    whole = sources.scan(pl.DataFrame(WHOLE))
    reads = []

    def read():
        reads.append(1)
        return iter(whole)

    NaiveBayes().fit(sources.BatchScan(whole.names, read), target="label")
    assert len(reads) == 1


def test_weights_by_name():
    weight = [float(i % 4) for i in range(300)]
    by_name = NaiveBayes().fit({**WHOLE, "w": weight}, target="label", sample_weight="w")
    given = NaiveBayes().fit(X, Y, sample_weight=weight)
    assert by_name.counts_ == given.counts_
    assert "w" not in by_name.schema_.names
    more = {**WHOLE, "w": [0.0] * 299 + [1.0]}
    small = sources.scan(more, rows=10)
    assert NaiveBayes().fit(small, target="label", sample_weight="w").counts_.weight.sum() == 1


# What goes wrong


@pytest.mark.parametrize(
    ("how", "error", "match"),
    [
        (lambda: NaiveBayes().fit(X), MissingValueError, "y is None.*Hint"),
        (lambda: NaiveBayes().fit(X, Y[:5]), ShapeError, "y has 5"),
        (lambda: NaiveBayes().fit(X, [*Y, "ham"]), ShapeError, "y has 301"),
        (lambda: NaiveBayes().fit(X, Y, target="age"), ParameterError, "both"),
        (lambda: NaiveBayes().fit(np.ones((3, 2)), target="x1"), ParameterError, "no names"),
        (lambda: NaiveBayes().fit(WHOLE, target="lable"), InputError, "perhaps 'label'"),
        (lambda: NaiveBayes().fit(X, Y, sample_weight=[1.0]), ShapeError, "sample_weight has 1"),
        (lambda: NaiveBayes().fit(X, Y, sample_weight=[-1.0] * 300), InputError, "Negative"),
        (lambda: NaiveBayes().fit(X, Y, sample_weight=[0.0] * 300), InputError, "weight is zero"),
        (lambda: NaiveBayes().fit(X, Y, sample_weight="agee"), InputError, "perhaps 'age'"),
        (lambda: NaiveBayes().partial_fit({**X, "label": [None, *Y[1:]]}, target="label"),
         MissingValueError, "'label' has no value in row 0"),
        (lambda: NaiveBayes().partial_fit(X, [None, *Y[1:]]), MissingValueError, "no value in row"),
        (lambda: NaiveBayes().fit({"x": [1.0, 2.0]}, [0.5, 1.5]), InputError, "continuous"),
        (lambda: NaiveBayes().fit({"x": [1, 2], "t": [0.5, 1.5]}, target="t"), InputError,
         "continuous"),
        (lambda: NaiveBayes().fit({"x": [1.0, np.inf]}, [0, 1]), MissingValueError, "'x'"),
        (lambda: NaiveBayes().fit({"x": []}, []), ShapeError, "no"),
        (lambda: NaiveBayes().fit([], []), ShapeError, "array"),
        (lambda: NaiveBayes().fit([["a"], ["a", "b"]], [0, 1]), ShapeError, "Hint"),
        (lambda: NaiveBayes().fit(pd.DataFrame([[1, 2]], columns=["a", "a"]), [1]), InputError,
         "two columns have the same name 'a'"),
        (lambda: NaiveBayes().fit("nowhere.csv", target="label"), DecibanError, "nowhere"),
    ],
)  # fmt: skip
def test_a_clear_error(how, error, match):
    with pytest.raises(error, match=match) as found:
        how()
    assert "Hint:" in str(found.value)


def test_columns_too_few_too_many(reference):
    less = {name: values for name, values in X.items() if name != "age"}
    with pytest.raises(InputError, match="there is no column 'age'"):
        reference.predict({**less})
    with pytest.raises(InputError, match=r"there is no column 'age'\. Hint: perhaps 'agee'"):
        reference.predict({**less, "agee": X["age"]})
    with pytest.raises(ShapeError, match=r"column 'agee' was not there .* nearest is 'age'"):
        reference.predict({**X, "agee": X["age"]})
    with (
        pytest.raises(ShapeError, match="expecting 5 features"),
        pytest.warns(UserWarning, match="does not have valid feature names"),
    ):
        reference.predict(np.ones((2, 3)))


def test_labels_of_later_parts_are_found_in_the_column_of_training():
    model = NaiveBayes(calibrate=False).fit(WHOLE, target="label")
    X1, y1 = part(X, Y, range(10))
    model.forget({**X1, "label": y1})
    assert model.counts_.weight.sum() == 290
    model.partial_fit({**X1, "label": y1})
    assert model.counts_ == NaiveBayes().fit(X, Y).counts_
    assert model.leave_one_out(WHOLE).shape == (300, 3)
