"""One session of Spark for all tests: a cluster of two workers on this machine."""

import os
import sys

import pytest

CLUSTER = "local-cluster[2,1,1024]"


@pytest.fixture(scope="session")
def spark(tmp_path_factory):
    os.environ.update(
        SPARK_LOCAL_IP="127.0.0.1",
        PYSPARK_PYTHON=sys.executable,
        SPARK_WORKER_DIR=str(tmp_path_factory.mktemp("workers")),
        SPARK_LOCAL_DIRS=str(tmp_path_factory.mktemp("blocks")),
    )
    from pyspark.sql import SparkSession

    settings = {
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.executor.memory": "1g",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.warehouse.dir": str(tmp_path_factory.mktemp("warehouse")),
    }
    builder = SparkSession.builder.master(CLUSTER).appName("deciban")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()
