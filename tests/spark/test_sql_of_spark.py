"""A model as SQL answers as it does in Python: the tests of other databases, in Spark SQL."""

import datetime
import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deciban import NaiveBayes
from deciban.errors import InputError
from test_sql import (
    check,
    check_generated,
    table,
    test_a_long_table_of_hostile_values_is_joined_safely,
    test_aode_answers_as_in_python,
    test_drop_ins_and_logistic_regression,
    test_long_tables_of_whole_numbers_are_joined_to_the_last_digit,
    test_loss_abstaining_and_other_base_rates,
    test_naive_bayes_of_every_family_answers_as_in_python,
    test_no_category_label_or_name_is_read_as_sql,
    test_numbers_booleans_and_whole_numbers_are_labels,
    test_rows_that_python_refuses_have_no_answer,
    test_the_ensemble_answers_as_in_python,
)

__all__ = [
    "test_a_long_table_of_hostile_values_is_joined_safely",
    "test_aode_answers_as_in_python",
    "test_drop_ins_and_logistic_regression",
    "test_long_tables_of_whole_numbers_are_joined_to_the_last_digit",
    "test_loss_abstaining_and_other_base_rates",
    "test_naive_bayes_of_every_family_answers_as_in_python",
    "test_no_category_label_or_name_is_read_as_sql",
    "test_numbers_booleans_and_whole_numbers_are_labels",
    "test_rows_that_python_refuses_have_no_answer",
    "test_the_ensemble_answers_as_in_python",
]

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")


class SparkSQL:
    """A session with a table of rows; ``key`` is the number of each row."""

    dialect = "spark"
    lacks = ("clock",)

    def __init__(self, session):
        self.session = session

    def run(self, query):
        return [tuple(row) for row in self.session.sql(query).collect()]

    def store(self, name, rows):
        columns = {"key": range(len(next(iter(rows.values())))), **rows}
        arrays = {n: pa.array(list(values)) for n, values in columns.items()}
        holes = [n for n, array in arrays.items() if pa.types.is_null(array.type)]
        frame = pa.table({**arrays, **{n: arrays[n].cast(pa.float64()) for n in holes}})
        self.session.createDataFrame(frame).coalesce(1).createOrReplaceTempView(name)


@pytest.fixture(scope="module")
def database(spark):
    return SparkSQL(spark)


@settings(max_examples=6, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_generated_tables(database, data):
    check_generated(database, data)


class Elsewhere(SparkSQL):
    """Rows are stored by a session of UTC, with times of a type, and read by one of New York."""

    def __init__(self, session, kind):
        super().__init__(session)
        self.kind = kind

    def store(self, name, rows):
        super().store("stored", rows)
        frame = self.session.table("stored")
        frame.withColumn("when", frame["when"].cast(self.kind)).createOrReplaceTempView(name)
        self.session.conf.set("spark.sql.session.timeZone", "America/New_York")


@pytest.mark.parametrize("kind", ["timestamp", "timestamp_ntz"])
def test_times_are_those_of_training_whatever_the_zone_of_the_session(spark, kind):
    database = Elsewhere(spark, kind)
    rows, y = table(database)
    rows = {name: rows[name] for name in ("when", "day")}
    model = NaiveBayes().fit(rows, y)
    try:
        check(database, model, {name: [*values[:30], None] for name, values in rows.items()})
    finally:
        spark.conf.set("spark.sql.session.timeZone", "UTC")


def test_times_of_a_day_are_refused():
    model = NaiveBayes().fit({"x": [datetime.time(h) for h in range(1, 5)]}, list("abab"))
    with pytest.raises(InputError, match=r"spark has none.*Hint"):
        model.to_sql("new", "spark")


def test_a_view(database):
    rows = {"x": [1.0, math.nan, 3.0, 4.0], "t": ["it's", "b", "\\", "b"]}
    model = NaiveBayes(kinds={"t": "categorical"}).fit(rows, ["a", "b", "a", "b"])
    session = database.session
    session.createDataFrame(pa.table(rows)).write.saveAsTable("stored_rows")
    session.sql(model.to_sql("stored_rows", "spark", keep=["x"], view="scored_rows"))
    lines = session.sql("SELECT * FROM scored_rows").collect()
    wanted = {repr(x): p for x, p in zip(rows["x"], model.predict_proba(rows), strict=True)}
    assert len(lines) == 4
    for line in lines:
        np.testing.assert_allclose([line.p_a, line.p_b], wanted[repr(line.x)], atol=1e-9)
