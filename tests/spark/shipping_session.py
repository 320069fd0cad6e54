"""Trainings on executors whose Python is not the driver's; prints what came of them as JSON.

shipping_session.py PYTHON [ARCHIVE]
"""

import json
import os
import sys
import warnings

warnings.simplefilter("ignore")

if __name__ == "__main__":
    python, *archive = sys.argv[1:]
    os.environ.update(SPARK_LOCAL_IP="127.0.0.1", PYSPARK_PYTHON=python)
    from pyspark.sql import SparkSession

    from deciban import NaiveBayes
    from deciban.errors import DecibanError
    from places import mixed

    builder = SparkSession.builder.master("local-cluster[1,1,1024]")
    for name in ("spark.driver.host", "spark.driver.bindAddress"):
        builder = builder.config(name, "127.0.0.1")
    builder = builder.config("spark.ui.enabled", "false")
    builder = builder.config("spark.sql.session.timeZone", "UTC")
    if archive:
        builder = builder.config("spark.archives", f"{archive[0]}#environment")
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    table = mixed(120)
    frame = session.createDataFrame(table).repartition(2)
    try:
        model = NaiveBayes().fit(frame, target="label")
        rows = model.predict(frame.drop("label"), output="frame").toArrow()
        same = model.counts_ == NaiveBayes().fit(table, target="label").counts_
        report = {"same": bool(same), "scored": rows.num_rows}
    except DecibanError as error:
        report = {"error": type(error).__name__, "message": str(error)}
    session.stop()
    print(json.dumps(report))
