"""The command with Spark, as the shell runs it."""

import os
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from deciban import NaiveBayes, load
from places import mixed

COMMAND = Path(sys.executable).parent / "deciban"


def run(folder, *arguments):
    settings = {
        "spark.ui.enabled": "false", "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1", "spark.sql.session.timeZone": "UTC",
    }  # fmt: skip
    submit = " ".join(f"--conf {name}={value}" for name, value in settings.items())
    places = {
        **os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_SUBMIT_ARGS": f"--master local[2] {submit} pyspark-shell",
        "SPARK_LOCAL_DIRS": str(folder),
    }  # fmt: skip
    return subprocess.run(
        [COMMAND, *arguments], capture_output=True, text=True, env=places, cwd=folder,
        timeout=3000, check=False,
    )  # fmt: skip


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    path = tmp_path_factory.mktemp("rows") / "t.parquet"
    pl.from_arrow(mixed()).write_parquet(path)
    return path


def test_a_table_is_trained_on(rows, tmp_path):
    done = run(
        tmp_path, "train", "--engine", "spark", f"parquet.`{rows}`", "--target", "label",
        "-o", "m.deciban",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    wanted = NaiveBayes().fit(mixed(), target="label")
    model = load(tmp_path / "m.deciban")
    assert model.counts_ == wanted.counts_
    assert model.temperature_ == wanted.temperature_


def test_a_table_that_does_not_exist(tmp_path):
    done = run(
        tmp_path, "train", "--engine", "spark", "nowhere", "--target", "y", "-o", "m.deciban"
    )
    assert done.returncode == 1
    assert "Spark stopped" in done.stderr
    assert "nowhere" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "m.deciban").exists()
