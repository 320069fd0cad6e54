"""Scores of rows of Spark: brought here as arrays, or as a data frame that Spark makes."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from deciban import files
from deciban.engines.local.score import score, score_batch
from deciban.engines.spark.partitions import iter_nothing, read_batches
from deciban.engines.spark.worker import prepare_worker
from deciban.errors import ParameterError
from deciban.labels import Labels
from deciban.sources.labelled import LabelledScan
from deciban.sources.scan import BatchScan, scan_batches
from deciban.sources.spark import SparkScan, errors_of_spark

__all__ = ["MAX_CLOSURE_BYTES", "score", "scored_frame"]

#: A larger model is sent as a file beside the job: messages to a server are bounded.
MAX_CLOSURE_BYTES = 100_000_000
#: The files that were sent, by session.
_SENT: WeakKeyDictionary[Any, set[str]] = WeakKeyDictionary()


def scored_frame(
    frame: Any,
    rows: LabelledScan,
    stored: files.Stored,
    classes: Labels,
    *,
    answers: bool,
    prefix: str,
) -> Any:
    """A data frame with all columns, the answer, and a probability of each class, not run yet.

    ``stored`` is the model as a file holds it: that is what executors read.
    """
    scan = rows.scan
    if not isinstance(scan, SparkScan):
        raise TypeError("only rows of Spark are scored there")
    added = [*(["prediction"] if answers else []), *(f"{prefix}{c}" for c in classes.tolist())]
    _check_columns(frame.columns, added)
    bare = replace(rows, scan=BatchScan(scan.names, iter_nothing))
    with errors_of_spark():
        model_of = _send(frame.sparkSession, files.to_bytes(stored))
        work = partial(_score_partition, bare, model_of, added, answers)
        return frame.mapInArrow(work, _schema(frame, classes, added, answers))


def _check_columns(names: Sequence[str], added: Sequence[str]) -> None:
    taken = next((name for name in added if name in names), None)
    if taken is not None:
        raise ParameterError(
            f"the data frame has a column {taken!r} already, which answers would have.",
            hint="rename the column, or drop it",
        )


def _schema(frame: Any, classes: Labels, added: Sequence[str], answers: bool) -> Any:
    from pyspark.sql import types

    kinds = {
        "b": types.BooleanType,
        "i": types.LongType,
        "u": types.LongType,
        "f": types.DoubleType,
    }
    schema = types.StructType(list(frame.schema.fields))
    for place, name in enumerate(added):
        label = answers and place == 0
        kind = kinds.get(classes.dtype.kind, types.StringType) if label else types.DoubleType
        schema = schema.add(types.StructField(name, kind(), True))
    return schema


def _send(session: Any, model: bytes) -> Callable[[], files.Opened]:
    """How an executor gets the model: with the work, or as a file if it is large."""
    if len(model) <= MAX_CLOSURE_BYTES:
        return partial(files.open_bytes, model)
    name = f"{hashlib.sha256(model).hexdigest()}.deciban"
    path = Path(_folder().name) / name
    sent = _SENT.setdefault(session, set())
    if name not in sent:
        path.write_bytes(model)
        session.addArtifacts(str(path), file=True)
        sent.add(name)
    return partial(_open_file, name)


@cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    """Where executors fetch large models from, until this process ends."""
    return tempfile.TemporaryDirectory(prefix="deciban-", ignore_cleanup_errors=True)


def _open_file(name: str) -> files.Opened:
    from pyspark import SparkFiles

    return files.open(SparkFiles.get(name))


def _score_partition(
    rows: LabelledScan,
    model_of: Callable[[], files.Opened],
    added: Sequence[str],
    answers: bool,
    batches: Iterable[Any],
) -> Iterator[Any]:
    import pyarrow as pa

    prepare_worker()
    model = model_of().model
    text = model.classes.dtype.kind in "OU"
    labels = pa.array(list(map(str, model.classes.tolist())) if text else model.classes)
    for record_batch in batches:
        if not record_batch.num_rows:
            continue
        batch = read_batches([record_batch.select(list(rows.scan.names))])
        (cast,) = replace(rows, scan=scan_batches(rows.scan.names, [batch])).batches()
        posterior, _ = score_batch(cast, model, "posterior")
        columns = [pa.array(column) for column in np.ascontiguousarray(posterior.T)]
        if answers:
            columns.insert(0, labels.take(pa.array(posterior.argmax(axis=1))))
        names = [*record_batch.schema.names, *added]
        yield pa.RecordBatch.from_arrays([*record_batch.columns, *columns], names)
