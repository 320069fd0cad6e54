"""A training by Spark Connect, in a process of its own: prints what it learned as JSON."""

import json
import os
import sys
import warnings

import numpy as np

os.environ.update(SPARK_LOCAL_IP="127.0.0.1", PYSPARK_PYTHON=sys.executable)
warnings.simplefilter("ignore")

if __name__ == "__main__":
    from pyspark.sql import SparkSession

    from deciban import AODE, NaiveBayes
    from places import mixed

    session = SparkSession.builder.remote("local[2]").getOrCreate()
    session.conf.set("spark.sql.session.timeZone", "UTC")
    table = mixed()
    frame = session.createDataFrame(table).repartition(3)
    report = {"session": type(session).__module__}
    for make in (NaiveBayes, AODE):
        one, other = make().fit(frame, target="label"), make().fit(table, target="label")
        rows = table.select(one.schema_.names)
        report[make.__name__] = [
            one.counts_ == other.counts_,
            one.temperature_ == other.temperature_,
            bool(np.array_equal(one.predict_proba(rows), other.predict_proba(rows))),
        ]
    scored = other.predict(frame, output="frame")
    report["scored"] = [scored.count(), scored.columns[-4:]]
    session.stop()
    print(json.dumps(report))
