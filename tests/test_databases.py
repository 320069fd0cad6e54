"""Databases: URLs and connections, what they refuse, and that nothing is left behind."""

import sqlite3
import subprocess
import sys
from contextlib import contextmanager

import duckdb
import numpy as np
import psycopg
import pyarrow as pa
import pytest

import deciban
import postgres
from commands import done, run
from deciban import NaiveBayes
from deciban.errors import DecibanError, InputError, MissingPackageError, ParameterError
from deciban.sources.databases.errors import hide_secrets
from deciban.sources.databases.postgres import connect
from deciban.sources.row_keys import seed_of
from deciban.sources.scan import BatchScan
from deciban.sources.spark import explain
from places import in_postgres, in_sqlite, mixed

SECRET = "swordfish-17"


@pytest.fixture(scope="module")
def server():
    with postgres.server() as url:
        yield url


@pytest.fixture(scope="module")
def visits(server):
    """A server with the table t, and roles: one with a password, one that may read nothing."""
    with in_postgres(mixed(), server), psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE ROLE stranger LOGIN PASSWORD '{SECRET}'")
        connection.execute("CREATE TYPE mood AS ENUM ('sad', 'glad')")
        connection.execute("CREATE DOMAIN small AS int4")
        yield server


def model_of(source, **how):
    return NaiveBayes().fit(source, target="label", **how)


@pytest.fixture(scope="module")
def wanted():
    return model_of(mixed())


# ---------------------------------------------------------------------- connections


def test_connections_of_postgresql(visits, wanted):
    import sqlalchemy
    from adbc_driver_postgresql import dbapi

    sql = "SELECT * FROM t"
    with psycopg.connect(visits) as connection:
        assert model_of(connection, sql=sql).counts_ == wanted.counts_
        assert connection.info.transaction_status == psycopg.pq.TransactionStatus.IDLE
    with psycopg.connect(visits, autocommit=True) as connection:
        assert model_of(connection, table="public.t").counts_ == wanted.counts_
    url = visits.replace("postgresql://", "postgresql+psycopg://")
    engine = sqlalchemy.create_engine(url)
    assert model_of(engine, table="t").counts_ == wanted.counts_
    with engine.connect() as connection:
        assert model_of(connection, sql=f"{sql};").counts_ == wanted.counts_
    engine.dispose()
    numbers = "SELECT number, whole, name, flag, label FROM t"
    with dbapi.connect(visits) as connection:
        one = model_of(connection, sql=numbers)
    assert one.counts_ == model_of(visits, sql=numbers).counts_


def test_connections_of_sqlite(tmp_path, wanted):
    import sqlalchemy
    from adbc_driver_sqlite import dbapi

    with in_sqlite(mixed(), tmp_path) as (url, _):
        connection = sqlite3.connect(tmp_path / "t.db")
        assert model_of(connection, sql="SELECT * FROM t").counts_ == wanted.counts_
        assert not connection.in_transaction
        connection.close()
        engine = sqlalchemy.create_engine(url)
        with engine.connect() as one:
            assert model_of(one, table="t").counts_ == wanted.counts_
        numbers = "SELECT number, whole, name, label FROM t"
        streamed = model_of(engine, sql=numbers).counts_
        engine.dispose()
        assert streamed == model_of(url, sql=numbers).counts_
        with dbapi.connect(str(tmp_path / "t.db")) as connection:
            assert model_of(connection, sql=numbers).counts_ == streamed


def test_a_url_of_duckdb(tmp_path, wanted):
    table = mixed()
    with duckdb.connect(tmp_path / "t.duckdb") as connection:
        connection.register("rows", table)
        connection.execute("CREATE TABLE t AS FROM rows")
    url = f"duckdb:///{tmp_path}/t.duckdb"
    assert model_of(url, table="t").counts_ == wanted.counts_
    assert model_of(url, sql="FROM t").counts_ == wanted.counts_


def test_a_transaction_of_the_caller_stays(visits):
    with psycopg.connect(visits) as connection:
        connection.execute("CREATE TEMP TABLE mine AS SELECT * FROM t LIMIT 90")
        assert model_of(connection, table="mine").counts_.weight.sum() == 90
        status = connection.info.transaction_status
        assert status == psycopg.pq.TransactionStatus.INTRANS
        assert connection.execute("SELECT count(*) FROM mine").fetchone() == (90,)


def test_floats_come_bit_by_bit(visits):
    """Also where the server would write fewer digits."""
    values = [0.1 + 0.2, 1e308, 5e-324, -0.0, 1 / 3]
    with psycopg.connect(visits) as connection:
        connection.execute("SET extra_float_digits = 0")
        connection.execute("CREATE TEMP TABLE f (x float8, z float4)")
        for value in values:
            connection.execute("INSERT INTO f VALUES (%b, 0.1)", [value])
        batch = next(iter(deciban.scan(connection, table="f")))
    x, z = (batch.columns[name].values for name in "xz")
    assert x.tobytes() == np.array(values).tobytes()
    assert z.tolist() == [float(np.float32(0.1))] * 5


def test_other_types_of_postgresql(visits):
    sql = """SELECT 7::small AS a, 'glad'::mood AS b, 1.25::numeric AS c, 3::int2 AS d,
             'x'::char(3) AS e, '90 seconds'::interval AS f, '12:30'::time AS g,
             'infinity'::float8 AS h, NULL::int4 AS i, 9007199254740993 AS j"""
    row = next(iter(deciban.scan(visits, sql=sql))).tolist()[0]
    assert row == {
        "a": 7, "b": "glad", "c": 1.25, "d": 3, "e": "x", "f": 90.0, "g": "12:30:00",
        "h": float("inf"), "i": None, "j": 9007199254740993,
    }  # fmt: skip


def test_the_server_hashes_as_we_do(visits):
    """Keys can be computed where the rows are."""
    with psycopg.connect(visits) as connection:
        seed = seed_of("name")
        signed = seed - (1 << 64) if seed >> 63 else seed
        sql = "SELECT hashtextextended(%s, %s)"
        (found,) = connection.execute(sql, ["naïve \U0001f600", signed]).fetchone()
    from deciban.kernels.keys import hash_text

    assert found % (1 << 64) == hash_text("naïve \U0001f600".encode(), seed)


# ---------------------------------------------------------------------- what is refused

REFUSED = {
    "no table": ({"table": "visitors"}, '"visitors" does not exist.*Hint: check the names'),
    "no column": ({"sql": "SELECT nothing FROM t"}, 'column "nothing" does not exist'),
    "no SQL": ({"sql": "SELEKT 1"}, "syntax error"),
    "in the middle": (
        {"sql": "SELECT 1 / (whole - 3) AS x, label FROM t"}, "PostgreSQL stopped: division by zero"
    ),
    "an array": (
        {"sql": "SELECT ARRAY[1] AS tags, label FROM t"},
        r"column 'tags' has the type int4\[\], which cannot be counted.*several columns",
    ),
    "a record": ({"sql": "SELECT ROW(1) AS r, label FROM t"}, "column 'r' has the type record"),
    "bytes": ({"sql": "SELECT ''::bytea AS b, label FROM t"}, "column 'b' has the type bytea"),
    "two names": ({"sql": "SELECT 1 AS x, 2 AS x, label FROM t"}, "two columns have the same name"),
    "no rows": ({"sql": "SELECT * FROM t WHERE false"}, "there are no rows"),
    "no labels": (
        {"sql": "SELECT number, NULL::text AS label FROM t"}, "no rows have a label|no value|label"
    ),
    "infinite": (
        {"sql": "SELECT 'infinity'::timestamp AS w, label FROM t"}, "'w' has an infinite timestamp"
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", list(REFUSED))
def test_what_postgresql_refuses(case, visits):
    how, message = REFUSED[case]
    with pytest.raises(InputError, match=message) as caught:
        model_of(visits, **how)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
    check_nothing_left(visits)


def check_nothing_left(url):
    """No other session is in a transaction, and there is no table but t."""
    with psycopg.connect(url, autocommit=True) as connection:
        sql = (
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "
            "AND pid <> pg_backend_pid() AND state LIKE 'idle in%'"
        )
        assert connection.execute(sql).fetchone() == (0,)
        tables = "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'"
        assert connection.execute(tables).fetchone() == (1,)


def test_no_permission(visits):
    url = visits.replace("postgres@", f"stranger:{SECRET}@")
    with pytest.raises(InputError, match=r"permission denied for table t.*SELECT") as caught:
        model_of(url, table="t")
    assert SECRET not in str(caught.value)


def test_a_secret_in_a_url_is_never_shown(visits, tmp_path):
    """Not in errors of the server, of the driver or of ours; not in a model file."""
    url = visits.replace("postgres@", f"stranger:{SECRET}@")
    broken = url.replace("127.0.0.1:", "127.0.0.1:1")
    for source, how in [
        (url, {"sql": "SELECT 1 / 0"}),
        (url, {}),
        (broken, {"table": "t"}),
        (url.replace("/postgres", "/nowhere"), {"table": "t"}),
        (f"oracle://me:{SECRET}@host/db", {"table": "t"}),
    ]:
        with pytest.raises(DecibanError) as caught:
            model_of(source, **how)
        assert SECRET not in str(caught.value)
        assert "***" in str(caught.value) or "stranger" not in str(caught.value)
    with psycopg.connect(visits, autocommit=True) as connection:
        connection.execute("GRANT SELECT ON t TO stranger")
        model = model_of(url, table="t")
        connection.execute("REVOKE SELECT ON t FROM stranger")
    model.save(tmp_path / "m.deciban")
    assert SECRET.encode() not in (tmp_path / "m.deciban").read_bytes()
    assert SECRET not in repr(vars(model))


def test_hidden_secrets():
    assert hide_secrets("a postgresql://u:p@h/d b") == "a postgresql://u:***@h/d b"
    assert hide_secrets("host=h password='a b' user=u") == "host=h password=*** user=u"
    assert hide_secrets("nothing to hide") == "nothing to hide"


def test_a_connection_that_is_lost(visits):
    """The server ends the session while rows are read; the model is as it was."""
    model = model_of(mixed(100))
    before = model.counts_
    with psycopg.connect(visits) as one, psycopg.connect(visits, autocommit=True) as other:
        table = deciban.scan(one, sql="SELECT t.* FROM t, generate_series(1, 2000)", rows=1000)

        def read():
            for number, batch in enumerate(table):
                if number == 1:
                    other.execute("SELECT pg_terminate_backend(%s)", [one.info.backend_pid])
                yield batch

        with pytest.raises(InputError, match="PostgreSQL stopped: the connection was lost: "):
            model.partial_fit(BatchScan(table.names, read), target="label")
    assert model.counts_ == before


def test_a_connection_that_is_closed(visits, tmp_path):
    connection = psycopg.connect(visits)
    connection.close()
    with pytest.raises(InputError, match=r"PostgreSQL stopped: .*closed"):
        model_of(connection, table="t")
    other = sqlite3.connect(tmp_path / "t.db")
    other.close()
    with pytest.raises(InputError, match=r"SQLite stopped: .*closed"):
        model_of(other, table="t")


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"table": "t", "sql": "SELECT 1"}, "a query or from a table, got both"),
        ({"table": ""}, "table must be a text"),
        ({"sql": 7}, "sql must be a text"),
        ({}, "needs a query, or the name of a table"),
    ],
)
def test_what_is_asked(how, message):
    with pytest.raises(ParameterError, match=message):
        model_of("postgresql://nowhere/db", **how)


def test_tables_of_other_things():
    with pytest.raises(ParameterError, match="sql and table go with a database, got dict"):
        model_of({"x": [1], "label": ["a"]}, table="t")


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("SELECT [1, 2] AS tags, 'a' AS label", "column 'tags' has the type list.*several columns"),
        ("SELECT {'a': 1} AS s, 'a' AS label", "column 's' has the type struct"),
        ("SELECT 1 AS x, 'a' AS label WHERE false", "there are no rows"),
        ("SELECT error('odd') AS x, 'a' AS label", "DuckDB stopped: .*odd"),
        ("SELECT * FROM nowhere", "DuckDB refused the query: .*nowhere"),
    ],
)
def test_what_duckdb_refuses(sql, message):
    with duckdb.connect() as connection, pytest.raises(InputError, match=message):
        NaiveBayes().fit(connection, sql=sql, target="label")


def test_what_sqlite_refuses(tmp_path):
    connection = sqlite3.connect(tmp_path / "t.db")
    connection.execute("CREATE TABLE t (x DATE, b BLOB, n, label TEXT)")
    connection.execute("INSERT INTO t VALUES ('soon', x'00', 1, 'a')")
    connection.commit()
    for sql, message in [
        ("SELECT * FROM visitors", r"SQLite stopped: no such table: visitors.*name of the table"),
        ("SELECT b, label FROM t", "SQLite: column 'b' has the type BLOB"),
        ("SELECT x, label FROM t", "column 'x' is declared as a date, and some value is none"),
        ("SELEKT 1", "syntax error"),
    ]:
        with pytest.raises(InputError, match=message):
            model_of(connection, sql=sql)
        assert not connection.in_transaction
    schema = "SELECT count(*) FROM sqlite_temp_master"
    assert connection.execute(schema).fetchone() == (0,)
    connection.close()
    with pytest.raises(InputError, match=r"SQLite stopped: unable to open.*must be there"):
        model_of(f"sqlite:///{tmp_path}/none.db", table="t")
    assert not (tmp_path / "none.db").exists()


def test_values_of_sqlite_have_types_of_their_own(tmp_path):
    connection = sqlite3.connect(tmp_path / "t.db")
    connection.execute("CREATE TABLE t (n, s, w)")
    rows = [(1, "a", 2**53 + 1), (2.5, 7, None), (None, None, -3)]
    connection.executemany("INSERT INTO t VALUES (?, ?, ?)", rows)
    table = deciban.scan(connection, table="t", rows=1)
    found = [row for batch in table for row in batch.tolist()]
    connection.close()
    assert found == [
        {"n": 1.0, "s": "a", "w": 2**53 + 1},
        {"n": 2.5, "s": "7", "w": None},
        {"n": None, "s": None, "w": -3},
    ]


def test_a_name_is_no_query(visits):
    with pytest.raises(InputError, match="does not exist"):
        model_of(visits, table='t"; DROP TABLE t; --')
    check_nothing_left(visits)


def test_a_driver_that_is_missing():
    code = (
        "import sys; sys.modules['psycopg'] = None\n"
        "import deciban\n"
        "try:\n    deciban.scan('postgresql://localhost/db', table='t')\n"
        "except deciban.errors.MissingPackageError as error:\n    print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "psycopg, which is not installed. Hint: pip install 'psycopg[binary]'" in done.stdout


@pytest.mark.parametrize(
    ("url", "hint"),
    [
        ("mysql+nothere://me@localhost/db", "knows no such database"),
        ("oracle+cx_oracle://me@localhost/db", "install the driver of the database"),
    ],
)
def test_a_driver_that_sqlalchemy_lacks(url, hint):
    with pytest.raises(InputError, match=hint):
        deciban.scan(url, table="t")


def test_a_failed_connection_is_said_without_a_traceback():
    with pytest.raises(InputError, match="PostgreSQL stopped"):
        connect(f"postgresql://me:{SECRET}@127.0.0.1:1/db")


def test_one_state_of_the_table(visits):
    """Rows that are added while a table is read are not in the model."""
    with psycopg.connect(visits, autocommit=True) as writer:
        writer.execute("CREATE TABLE u AS SELECT * FROM t, generate_series(1, 20)")
        try:
            rows = iter(deciban.scan(visits, table="u", rows=500))
            n_rows = next(rows).n_rows
            writer.execute("DELETE FROM u")
            assert n_rows + sum(batch.n_rows for batch in rows) == 20 * mixed().num_rows
        finally:
            writer.execute("DROP TABLE u")


def test_predictions_of_rows_in_a_database(visits, wanted):
    rows = deciban.scan(visits, sql="SELECT * FROM t LIMIT 50")
    frame = wanted.predict(rows, output="frame")
    assert frame.shape == (50, 1 + len(wanted.classes_))
    first = pa.Table.from_batches(mixed().to_batches()).slice(0, 50)
    wanted_rows = wanted.predict_proba(first.select(wanted.schema_.names))
    assert frame.shape[0] == wanted_rows.shape[0]


# ---------------------------------------------------------------------- the command


@pytest.mark.parametrize("place", ["sqlite", "postgres"])
def test_the_command_trains_and_predicts_in_a_database(place, tmp_path, request):
    table, model = mixed(), tmp_path / "m.deciban"
    with placed(place, table, tmp_path, request) as url:
        done("train", url, "--table", "t", "-t", "label", "-o", model)
        query = ("--sql", "SELECT name, number, flag, day, moment, instant, price, whole FROM t")
        done("predict", model, url, *query, "--keep", "name", "--into", "scores", "--digits", "17")
        rows = list(deciban.scan(url, table="scores"))
        found = [row for batch in rows for row in batch.tolist()]
        wanted = deciban.load(model).predict_proba(table.select(deciban.load(model).schema_.names))
        assert [row["name"] for row in found] == table.column("name").to_pylist()
        posterior = [[row[f"p_{c}"] for c in ("late", "no", "yes")] for row in found]
        np.testing.assert_array_equal(posterior, wanted)
        again = run("predict", model, url, *query, "--into", "scores")
        assert again.code == 1
        assert "has a table 'scores' already" in again.err
        done("predict", model, url, *query, "--into", "scores", "--force")
        drop(url)
        over = run("predict", model, url, "--table", "t", "--into", "t", "--force")
        assert (over.code, over.out) == (1, "")
        assert "t is the table that is read, and would be destroyed" in over.err
        assert sum(batch.n_rows for batch in deciban.scan(url, table="t")) == table.num_rows


@contextmanager
def placed(place, table, folder, request):
    where = request.getfixturevalue("visits") if place == "postgres" else folder
    if place == "postgres":
        yield where
        return
    with in_sqlite(table, where) as (url, _):
        yield url


def drop(url):
    if url.startswith("postgresql"):
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("DROP TABLE scores")


def test_a_file_of_duckdb_is_not_written_to(tmp_path):
    table, model, url = mixed(60), tmp_path / "m.deciban", f"duckdb:///{tmp_path}/t.duckdb"
    with duckdb.connect(tmp_path / "t.duckdb") as connection:
        connection.register("rows", table)
        connection.execute("CREATE TABLE t AS FROM rows")
    done("train", url, "--table", "t", "-t", "label", "-o", model)
    ended = run("predict", model, url, "--table", "t", "--into", "scores")
    assert ended.code == 1
    assert "cannot be written into a table" in ended.err


def test_what_the_command_refuses(tmp_path, visits):
    url = visits.replace("postgres@", f"stranger:{SECRET}@")
    for arguments, message in [
        (["train", url, "-t", "label", "-o", tmp_path / "m"], "needs a query, or the name"),
        (["train", url, "--table", "t", "-t", "label", "-o", tmp_path / "m"], "permission denied"),
        (["train", url, url, "--table", "t", "-t", "y", "-o", tmp_path / "m"], "got 2 inputs"),
    ]:
        ended = run(*arguments)
        assert ended.code == 1
        assert message in ended.err
        assert SECRET not in ended.err + ended.out
        assert "Traceback" not in ended.err
    assert not list(tmp_path.iterdir())


# ---------------------------------------------------------------------- executors of Spark


def test_the_driver_says_how_to_ship_it():
    error = explain(Exception("Job aborted\n ModuleNotFoundError: No module named 'deciban'\n"))
    assert isinstance(error, MissingPackageError)
    assert "spark.archives" in str(error)
