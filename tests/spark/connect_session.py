"""A training by Spark Connect, in a process of its own: prints what it learned as JSON."""

import json
import os
import sys
import warnings
from itertools import product

import numpy as np

os.environ.update(SPARK_LOCAL_IP="127.0.0.1", PYSPARK_PYTHON=sys.executable)
warnings.simplefilter("ignore")


def sent_as_file(model, frame, score):
    """Whether scores are those of the model, twice, where it is too large to travel with a job."""
    score.MAX_CLOSURE_BYTES = 10
    same = []
    for _ in range(2):
        rows = model.predict(frame, output="frame").toArrow()
        wanted = model.predict_proba(rows.select(model.schema_.names))
        same.append(bool(np.array_equal(rows.column("p_no").to_numpy(), wanted[:, 1])))
    return same


def reached(work, progress):
    """What a bar was told while something ran: the number of tasks that ended, and of all."""
    told = []

    class Bar(progress.Progress):
        def reach(self, done, total):
            told.append([done, total])

    with Bar("counting", shown=False) as bar:
        progress.current = bar
        work()
    return told


if __name__ == "__main__":
    from pyspark.sql import SparkSession

    from deciban import AODE, NaiveBayes, progress
    from deciban.engines.spark import score
    from places import TABLES

    # The server says how far it is every so often: also while a small job runs.
    builder = SparkSession.builder.remote("local[2]")
    session = builder.config("spark.connect.progress.reportInterval", "10ms").getOrCreate()
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
    report["sent as a file"] = sent_as_file(other, frame, score)
    report["progress"] = reached(lambda: NaiveBayes().fit(frame, target="label"), progress)
    session.stop()
    print(json.dumps(report))
