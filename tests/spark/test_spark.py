"""Spark, as two real workers: the numbers of rows in memory, whatever the partitions."""

import os
import signal
import warnings
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from deciban import AODE, BayesClassifier, NaiveBayes, progress
from deciban.engines import ENGINES
from deciban.engines.spark import merging, partitions, score, tasks
from deciban.errors import InputError, MissingValueError, ParameterError
from deciban.sources.labelled import labelled_scan
from deciban.sources.spark import n_cores
from places import N_ROWS, TABLES, categories, many_categories, mixed

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")


def put(spark, table, n_partitions=4):
    return spark.createDataFrame(table).repartition(n_partitions)


def fitted(make, X, **how):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "AODE counts no text")
        return make().fit(X, target="label", **how)


@pytest.mark.parametrize("name", list(TABLES))
@pytest.mark.parametrize("make", [NaiveBayes, AODE])
def test_the_same_model(make, name, spark):
    table = TABLES[name]()
    how = {"sample_weight": "weight"} if name == "categories" else {}
    one, other = fitted(make, put(spark, table), **how), fitted(make, table, **how)
    assert one.schema_.names == other.schema_.names
    assert one.counts_ == other.counts_
    assert one.choices_ == other.choices_
    assert one.temperature_ == other.temperature_
    rows = table.select(one.schema_.names)
    np.testing.assert_array_equal(one.predict_proba(rows), other.predict_proba(rows))


def test_a_hundred_thousand_categories(spark):
    make = partial(NaiveBayes, kinds={"city": "categorical"})
    table = many_categories()
    one, other = fitted(make, put(spark, table)), fitted(make, table)
    assert one.counts_.tables["categories"].cells.size == 100_000
    assert one.counts_ == other.counts_
    assert one.choices_ == other.choices_
    assert one.temperature_ == other.temperature_
    rows = table.select(one.schema_.names).slice(0, 1_000)
    np.testing.assert_array_equal(one.predict_proba(rows), other.predict_proba(rows))


def test_the_same_flagship(spark):
    table = mixed(150)
    one = fitted(BayesClassifier, put(spark, table, 2))
    rows = table.select(one.schema_.names)
    wanted = fitted(BayesClassifier, table).predict_proba(rows)
    np.testing.assert_allclose(one.predict_proba(rows), wanted, rtol=1e-9)


def test_learning_and_forgetting(spark):
    table = mixed()
    model = NaiveBayes().fit(table.slice(0, N_ROWS // 2), target="label")
    before, more = model.counts_, put(spark, table.slice(N_ROWS // 2), 2)
    model.partial_fit(more, target="label")
    assert model.counts_ == NaiveBayes().fit(table, target="label").counts_
    assert model.forget(more, target="label").counts_ == before


def test_scores_are_a_data_frame_that_is_made_when_asked(spark):
    table = mixed(120)
    model = NaiveBayes().fit(table, target="label")
    frame = put(spark, table, 2).withColumnRenamed("label", "truth").selectExpr("*", "1 AS id")
    scored = model.predict(frame, output="frame")
    assert scored.columns == [*frame.columns, "prediction", "p_late", "p_no", "p_yes"]
    rows = scored.toArrow()
    wanted = model.predict_proba(rows.select(model.schema_.names))
    found = np.column_stack([rows.column(f"p_{c}").to_numpy() for c in model.classes_])
    np.testing.assert_array_equal(found, wanted)
    assert rows.column("prediction").to_pylist() == model.classes_[wanted.argmax(axis=1)].tolist()
    probabilities = model.predict_proba(frame, output="frame")
    assert probabilities.columns[-3:] == ["late", "no", "yes"]
    with pytest.raises(ParameterError, match="has a column 'prediction' already"):
        model.predict(scored, output="frame")


def test_a_large_model_is_sent_as_a_file(spark, monkeypatch):
    table = mixed(60)
    model = NaiveBayes().fit(table, target="label")
    monkeypatch.setattr(score, "MAX_CLOSURE_BYTES", 10)
    for _ in range(2):
        scored = model.predict(put(spark, table, 2), output="frame").toArrow()
        wanted = model.predict_proba(scored.select(model.schema_.names))
        np.testing.assert_array_equal(scored.column("p_no").to_numpy(), wanted[:, 1])


@pytest.mark.parametrize("make", [NaiveBayes, AODE])
@pytest.mark.parametrize("n_shards", [1, 5])
def test_many_parts_are_merged_by_executors(make, n_shards, spark, monkeypatch):
    """Also those of empty partitions, and of a class that one partition alone has."""
    monkeypatch.setattr(merging, "DRIVER_BYTES", 1)
    monkeypatch.setattr(merging, "TASK_BYTES", 1)
    table = categories(100, 300)
    wanted = make().fit(table, target="label", sample_weight="weight")
    frame = spark.createDataFrame(table).repartition(5, "label")
    if n_shards > 1:
        monkeypatch.setattr(merging, "SHARD_BYTES", 20_000)
    one = make().fit(frame, target="label", sample_weight="weight")
    assert one.counts_ == wanted.counts_
    assert one.choices_ == wanted.choices_
    assert one.temperature_ == wanted.temperature_
    rows = table.select(one.schema_.names)
    np.testing.assert_array_equal(one.predict_proba(rows), wanted.predict_proba(rows))


@pytest.mark.parametrize("n_tasks", [32, None])
@pytest.mark.parametrize("n_rows", [320, 20])
def test_samples_of_many_partitions(n_rows, n_tasks, spark, monkeypatch):
    """First pieces suffice; where all partitions have the same few rows, all pieces are fetched.

    Where the number of tasks is not known, sizes are asked for before anything is fetched.
    """
    monkeypatch.setattr(partitions, "max_tasks", lambda session: n_tasks)
    table = mixed(n_rows)
    copies = pa.concat_tables([table] * (320 // n_rows))
    frame = spark.createDataFrame(copies).repartition(32)
    one = ENGINES["spark"].sample(labelled_scan(frame, target="label"), 64)
    other = ENGINES["memory"].sample(labelled_scan(copies, target="label"), 64)
    assert one.n_rows == other.n_rows == min(n_rows, 64)
    assert one.settled.keys.tolist() == other.settled.keys.tolist()
    assert one.settled.weight.tolist() == other.settled.weight.tolist()
    assert one.stands_for == other.stands_for


def test_a_training_is_two_jobs(spark):
    """One for the kinds of columns, and one for the counts: small parts come with their sizes."""
    frame = spark.range(500).selectExpr("id % 7 AS x", "IF(id % 3 = 0, 'a', 'b') AS label")
    spark.sparkContext.setJobGroup("two jobs", "")
    try:
        NaiveBayes().fit(frame, target="label")
        jobs = spark.sparkContext.statusTracker().getJobIdsForGroup("two jobs")
    finally:
        spark.sparkContext.setLocalProperty("spark.jobGroup.id", None)
    assert len(jobs) == 2


def test_small_partitions_are_gathered(spark, monkeypatch):
    """So that a task has work, and each core some tasks; fewer than that stay as they are."""
    frame = spark.range(1_000).selectExpr("id % 7 AS x", "IF(id % 3 = 0, 'a', 'b') AS label")
    many = frame.repartition(300)
    assert partitions.gather(many).rdd.getNumPartitions() == partitions.MIN_TASKS
    assert partitions.gather(frame.repartition(3)).rdd.getNumPartitions() == 3
    monkeypatch.setattr(partitions, "MIN_TASKS", 1)
    assert n_cores(spark) == 2
    assert partitions.gather(many).rdd.getNumPartitions() == 2 * partitions.TASKS_PER_CORE
    one = NaiveBayes().fit(many, target="label")
    assert one.counts_ == NaiveBayes().fit(frame.toArrow(), target="label").counts_


def test_progress_is_that_of_the_tasks(spark, monkeypatch):
    seen = []

    class Bar(progress.Progress):
        def reach(self, done, total):
            seen.append((done, total))

    frame = spark.range(100).selectExpr("id % 7 AS x", "id % 2 AS label").repartition(3)
    monkeypatch.setattr(tasks, "REFRESH_SECONDS", 0.01)
    with Bar("counting", shown=False) as bar:
        monkeypatch.setattr(progress, "current", bar)
        NaiveBayes().fit(frame, target="label")
    assert seen
    assert all(0 <= done <= total for done, total in seen)
    assert any(total for _, total in seen)


def test_an_executor_is_killed_and_the_answer_is_the_same(spark, tmp_path):
    """The first attempt at some partition ends the worker's own process of Java."""
    table, marker = mixed(), tmp_path / "killed"
    target = str(marker)

    def kill_once(batches):
        from pyspark import TaskContext

        for batch in batches:
            if TaskContext.get().partitionId() == 1 and not Path(target).exists():
                Path(target).touch()
                daemon = os.getppid()
                status = Path(f"/proc/{daemon}/stat").read_text(encoding="ascii")
                os.kill(int(status.rpartition(")")[2].split()[1]), signal.SIGKILL)
            yield batch

    frame = spark.createDataFrame(table).repartition(4)
    dying = frame.mapInArrow(kill_once, frame.schema)
    kinds = {c.name: c.kind for c in NaiveBayes().fit(table, target="label").schema_.columns}
    one = NaiveBayes(kinds=kinds).fit(dying, target="label")
    assert marker.exists()
    assert one.counts_ == NaiveBayes(kinds=kinds).fit(table, target="label").counts_


REFUSED = {
    "an array": ("SELECT array(1) AS tags, 'a' AS label", "'tags' has.*list"),
    "a struct": ("SELECT struct(1) AS s, 'a' AS label", "'s' has the type struct"),
    "no rows": ("SELECT 1 AS x, 'a' AS label WHERE false", "there are no rows"),
    "in the middle": ("SELECT raise_error('odd') AS x, 'a' AS label", "Spark stopped: .*odd"),
    "infinity": ("SELECT double('inf') AS x, 'a' AS label", "infinity in column 'x'"),
}


@pytest.mark.parametrize("case", list(REFUSED))
def test_what_is_refused(case, spark):
    sql, message = REFUSED[case]
    with pytest.raises(InputError, match=message) as caught:
        NaiveBayes().fit(spark.sql(sql), target="label")
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_rows_without_a_label(spark):
    frame = spark.sql("SELECT id AS x, IF(id < 5, 'a', NULL) AS label FROM range(10)")
    with pytest.raises(MissingValueError, match="'label' has no value"):
        NaiveBayes().fit(frame, target="label")
    with pytest.raises(InputError, match="no column 'lable'"):
        NaiveBayes().fit(frame, target="lable")


def test_a_table_that_does_not_exist(spark):
    with pytest.raises(Exception, match=r"(?i)not.*found"):
        NaiveBayes().fit(spark.table("nowhere"), target="label")


def test_groups_are_sampled_here(spark):
    """What executors cannot do is done where the model is."""
    sql = "SELECT id % 7 AS x, id % 5 AS g, IF(id % 3 = 0, 'a', 'b') AS label FROM range(60)"
    model = NaiveBayes().fit(spark.sql(sql), target="label", groups="g")
    assert model.counts_.weight.sum() == 60
