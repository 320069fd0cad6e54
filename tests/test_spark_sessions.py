"""What is known of a session of Spark and of its workers, without one."""

import importlib
import sys
import zipfile
import zipimport
from functools import partial
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

from deciban import NaiveBayes, files
from deciban.engines.spark import partitions, score
from deciban.engines.spark.worker import drop_finders
from deciban.sources.labelled import labelled_scan
from deciban.sources.spark import n_cores


def session(parallelism, **settings):
    conf = {name.replace("_", "."): value for name, value in settings.items()}
    context = SimpleNamespace(defaultParallelism=parallelism, getConf=lambda: conf)
    return SimpleNamespace(sparkContext=context)


def test_the_cores_of_a_session():
    assert n_cores(session(6)) == 6
    assert n_cores(session(2, spark_executor_instances="50", spark_executor_cores="4")) == 200
    assert n_cores(session(300, spark_executor_cores="4")) == 300
    assert n_cores(session(2, spark_dynamicAllocation_enabled="true")) is None


def test_the_cores_of_connect_are_not_known():
    class Session:
        pass

    Session.__module__ = "pyspark.sql.connect.session"
    assert n_cores(Session()) is None
    assert partitions.max_tasks(Session()) is None


@pytest.mark.parametrize(("cores", "tasks"), [(1, 16), (2, 16), (3, 24), (400, 3_200)])
def test_the_most_tasks(cores, tasks):
    assert partitions.max_tasks(session(cores)) == tasks


@pytest.mark.parametrize(
    ("n_rows", "n_bytes", "sizes"),
    [(25, 1 << 20, [30, 30, 5]), (1_000, 1 << 20, [65]), (1_000, 1, [10, 10, 10, 10, 10, 10, 5])],
)
def test_rows_are_counted_in_larger_batches(n_rows, n_bytes, sizes, monkeypatch):
    """No larger than some rows or bytes, and without the empty ones that Spark may send."""
    monkeypatch.setattr(partitions, "BATCH_ROWS", n_rows)
    monkeypatch.setattr(partitions, "BATCH_BYTES", n_bytes)
    table = pa.table({"x": np.arange(65.0), "t": [f"text {i}" for i in range(65)]})
    sent = table.to_batches(10)
    batches = list(partitions._batches([sent[0].slice(0, 0), *sent, sent[0].slice(0, 0)]))
    assert [batch.n_rows for batch in batches] == sizes
    assert [row for batch in batches for row in batch.tolist()] == table.to_pylist()


@pytest.fixture
def archives(tmp_path, monkeypatch):
    """Two archives, each with a package of two modules."""
    for name in ("first", "second"):
        with zipfile.ZipFile(tmp_path / f"{name}.zip", "w") as archive:
            for module in ("__init__", "one", "two"):
                archive.writestr(f"{name}_package/{module}.py", f"name = {module!r}")
        monkeypatch.syspath_prepend(str(tmp_path / f"{name}.zip"))
    yield tmp_path
    for module in [
        name for name in sys.modules if name.endswith("_package") or "_package." in name
    ]:
        del sys.modules[module]


def finders(path):
    return [name for name in sys.path_importer_cache if name.startswith(str(path))]


def test_finders_of_one_archive_are_dropped(archives):
    for name in ("first", "second"):
        importlib.import_module(f"{name}_package.one")
    loader = sys.modules["first_package"].__spec__.loader
    assert isinstance(loader, zipimport.zipimporter)
    others = finders(archives / "second.zip")
    assert finders(archives / "first.zip")
    drop_finders(loader)
    assert not finders(archives / "first.zip")
    assert finders(archives / "second.zip") == others
    assert importlib.import_module("first_package.two").name == "two"


def test_modules_in_folders_have_nothing_to_drop():
    before = dict(sys.path_importer_cache)
    drop_finders(importlib.import_module("json").__spec__.loader)
    assert sys.path_importer_cache == before


LABELS = {
    "texts": ["no", "yes", "Ä"],
    "whole numbers": [-3, 0, 7],
    "numbers": [1.0, 2.0, 3.0],
    "truth values": [False, True, True],
}


@pytest.mark.parametrize("name", list(LABELS))
def test_answers_of_a_partition(name, tmp_path, monkeypatch):
    """What an executor adds to its rows: the answers as labels, and all probabilities."""
    monkeypatch.setattr(score, "prepare_worker", lambda: None)
    label = [LABELS[name][i % 3] for i in range(60)]
    table = pa.table({"x": [float(i % 3) for i in range(60)], "id": list(range(60))})
    model = NaiveBayes().fit({"x": table.column("x").to_pylist()}, label)
    model.save(tmp_path / "m.deciban")
    rows = labelled_scan({"x": [0.0]}, caster=model.model_.caster)
    added = ["prediction", *(f"p_{c}" for c in model.classes_.tolist())]
    work = partial(score._score_partition, rows, partial(files.open, tmp_path / "m.deciban"), added)
    scored = pa.Table.from_batches(work(True, table.to_batches(max_chunksize=25)))
    wanted = model.predict_proba(table.select(["x"]))
    assert scored.column_names == ["x", "id", *added]
    assert scored.column("id").to_pylist() == list(range(60))
    answers = model.classes_[wanted.argmax(axis=1)].tolist()
    assert scored.column("prediction").to_pylist() == answers
    found = np.column_stack([scored.column(name).to_numpy() for name in added[1:]])
    np.testing.assert_array_equal(found, wanted)
    bare = pa.Table.from_batches(work(False, table.slice(0, 0).to_batches()), table.schema)
    assert not bare.num_rows
