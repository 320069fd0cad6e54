"""A training by Spark Connect, in a process of its own: prints what it learned as JSON."""

import json
import os
import sys
import warnings
from itertools import product

import numpy as np

os.environ.update(SPARK_LOCAL_IP="127.0.0.1", PYSPARK_PYTHON=sys.executable)
warnings.simplefilter("ignore")

if __name__ == "__main__":
    from pyspark.sql import SparkSession

    from deciban import AODE, NaiveBayes
    from places import TABLES

    session = SparkSession.builder.remote("local[2]").getOrCreate()
    session.conf.set("spark.sql.session.timeZone", "UTC")
    report = {"session": type(session).__module__}
    for name, make in product(reversed(TABLES), (NaiveBayes, AODE)):
        table = TABLES[name]()
        frame = session.createDataFrame(table).repartition(3)
        how = {"sample_weight": "weight"} if name == "categories" else {}
        one, other = (make().fit(X, target="label", **how) for X in (frame, table))
        rows = table.select(one.schema_.names)
        report[f"{make.__name__}, {name}"] = [
            one.counts_ == other.counts_,
            one.temperature_ == other.temperature_,
            bool(np.array_equal(one.predict_proba(rows), other.predict_proba(rows))),
        ]
    scored = other.predict(frame, output="frame")
    report["scored"] = [scored.count(), scored.columns[-4:]]
    session.stop()
    print(json.dumps(report))
