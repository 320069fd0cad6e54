"""A model made from a table that was sent: what its columns are, how far it is, how good it is.

There is one table at a time, and one training; whoever sends another table replaces the first.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from deciban import files, schema
from deciban.aode import AODE
from deciban.ensemble import BayesClassifier
from deciban.errors import DecibanError
from deciban.estimators.counted import CountedClassifier
from deciban.evaluation import evaluate
from deciban.naive_bayes import NaiveBayes
from deciban.plain import PlainDict, plain
from deciban.serve.bodies import TrainingRequest
from deciban.serve.problems import Problem, ProblemError, of_error
from deciban.sources.batch import Batch
from deciban.sources.scan import BatchScan, Scan, hold, peek, scan_batches, wrap
from deciban.sources.spaced_rows import SpacedRows
from deciban.sources.tabular import Value

__all__ = ["Trainer"]

MODELS = {"NaiveBayes": NaiveBayes, "AODE": AODE, "BayesClassifier": BayesClassifier}
#: Rows that are shown of a table, and different values that are counted of a column.
PREVIEW_ROWS, MAX_DISTINCT_VALUES = 8, 100
#: A model is judged on no more rows, evenly spaced; one that is not its counts on every n-th row.
MAX_QUALITY_ROWS, HELD_OUT_STEP = 20_000, 5
#: Resamples that intervals of its quality rest on.
N_RESAMPLES = 200

Stage = Literal["none", "waiting", "reading", "fitting", "judging", "done", "failed"]


@dataclass
class Training:
    """How far a training is; ``total`` rows are to be read, if that is known."""

    target: str
    model: str
    total: int | None
    stage: Stage = "waiting"
    rows: int = 0
    began: float = field(default_factory=time.monotonic)
    seconds: float = 0.0
    problem: Problem | None = None
    quality: PlainDict | None = None
    file: bytes = field(default=b"", repr=False)

    def enter(self, stage: Stage) -> None:
        """Say what is being done."""
        self.stage, self.seconds = stage, time.monotonic() - self.began

    @property
    def is_running(self) -> bool:
        """Whether it goes on."""
        return self.stage not in ("done", "failed")

    def describe(self) -> PlainDict:
        """As a page shows it."""
        seconds = time.monotonic() - self.began if self.is_running else self.seconds
        return {
            "stage": self.stage,
            "target": self.target,
            "model": self.model,
            "rows": self.rows,
            "total": self.total,
            "seconds": round(seconds, 3),
            "problem": self.problem,
            "quality": self.quality,
            "bytes": len(self.file),
        }


class Trainer:
    """The table that was sent last, and the training that goes on or was the last."""

    def __init__(self, adopt: Callable[[Any], None]) -> None:
        """``adopt`` is called with a model that was trained."""
        self._adopt = adopt
        self._table: tuple[str, Scan] | None = None
        self._training: Training | None = None
        self._pool = ThreadPoolExecutor(1, "deciban-training")

    def stop(self) -> None:
        """Wait for a training that goes on."""
        self._pool.shutdown()

    # ------------------------------------------------------------------ the table

    def take(self, name: str, table: Scan) -> PlainDict:
        """Keep a table, and say what its columns are."""
        described = _describe(name, table)
        self._table = (name, table)
        return described

    def table(self) -> PlainDict | None:
        """What the columns of the table are; None where there is no table."""
        return None if self._table is None else _describe(*self._table)

    def _require_table(self) -> tuple[str, Scan]:
        if self._table is None:
            raise ProblemError(409, "there is no table yet.", "send one to /api/table")
        return self._table

    # ------------------------------------------------------------------ the training

    def start(self, request: TrainingRequest) -> PlainDict:
        """Begin to train; other trainings are refused meanwhile."""
        if self._training is not None and self._training.is_running:
            raise ProblemError(429, "another training goes on.", "wait for it")
        _, table = self._require_table()
        table.require(request.target)
        training = Training(request.target, request.model, table.n_rows)
        self._training = training
        self._pool.submit(self._run, training, table, request)
        return training.describe()

    def state(self) -> PlainDict:
        """How far the last training is."""
        return {"stage": "none"} if self._training is None else self._training.describe()

    def model_file(self) -> bytes:
        """The model that was trained last."""
        if self._training is None or self._training.stage != "done":
            raise ProblemError(409, "no model has been trained.", "see /api/training")
        return self._training.file

    def _run(self, training: Training, table: Scan, request: TrainingRequest) -> None:
        try:
            estimator, quality = _train(training, table, request)
            training.file, training.quality = files.to_bytes(estimator.to_stored()), quality
            self._adopt(estimator)
            training.enter("done")
        except DecibanError as error:
            training.problem = of_error(error)
            training.enter("failed")
        except BaseException as error:
            training.problem = Problem.of(500, "the training failed.")
            training.enter("failed")
            if not isinstance(error, MemoryError):
                raise


def _train(training: Training, table: Scan, request: TrainingRequest) -> tuple[Any, PlainDict]:
    """A fitted estimator, and how good it is on rows that it has not seen."""
    estimator = MODELS[request.model](kinds=dict(request.kinds) or None)
    target = request.target
    training.enter("reading")
    if isinstance(estimator, CountedClassifier):
        sample = SpacedRows(MAX_QUALITY_ROWS)
        estimator.partial_fit(_watch(table, training, sample), target=target)
        training.enter("judging")
        rows = scan_batches(table.names, sample.batches)
        judged = evaluate(estimator, rows, target=target, leave_one_out=True, bootstrap=N_RESAMPLES)
        return estimator, judged.to_dict()
    held = hold(_watch(table, training, None))
    training.enter("judging")
    judged = _judge_held_out(type(estimator)(kinds=dict(request.kinds) or None), held, target)
    training.enter("fitting")
    return estimator.fit(held, target=target), judged.to_dict()


def _watch(table: Scan, training: Training, sample: SpacedRows | None) -> Scan:
    """The table, of which every row that is read is counted; the first reading gives a sample."""
    readings = iter((True,))

    def read() -> Iterator[Batch]:
        is_first = next(readings, False)
        if not is_first:
            training.enter("fitting")
        for batch in table:
            if is_first:
                training.rows += batch.n_rows
                if sample is not None:
                    sample.add(batch)
            yield batch

    return wrap(table, read)


def _judge_held_out(estimator: Any, table: Scan, target: str) -> Any:
    """How good a model of four fifths of the rows is on the others."""
    whole = Batch.concatenate([batch for batch in table if batch.n_rows])
    each = np.arange(whole.n_rows)
    learnt = whole.take(each[each % HELD_OUT_STEP > 0])
    held_out = whole.take(each[each % HELD_OUT_STEP == 0])
    estimator.fit(scan_batches(table.names, [learnt]), target=target)
    rows = scan_batches(table.names, [held_out])
    return evaluate(estimator, rows, target=target, bootstrap=N_RESAMPLES)


def _describe(name: str, table: Scan) -> PlainDict:
    """The columns of a table by its first rows: what each is taken for, why, and some rows."""
    first, _ = peek(table, schema.INFERENCE_ROWS)
    formats = table.formats() if isinstance(table, BatchScan) else None
    columns = schema.infer(first, None, formats).columns
    rows = [row for batch in first for row in batch.slice(0, PREVIEW_ROWS).tolist()]
    distinct = {
        column.name: _distinct([batch.columns[column.name].tolist() for batch in first])
        for column in columns
    }
    return plain(  # type: ignore[no-any-return]
        {
            "name": name,
            "rows": table.n_rows,
            "columns": [
                {
                    "name": column.name,
                    "kind": column.kind,
                    "reason": column.reason,
                    "distinct": distinct[column.name],
                }
                for column in columns
            ],
            "preview": rows[:PREVIEW_ROWS],
        }
    )


def _distinct(parts: list[list[Value]]) -> int:
    """How many different values there are, as far as that matters."""
    values = set()
    for part in parts:
        for value in part:
            values.add(value)
            if len(values) > MAX_DISTINCT_VALUES:
                return len(values)
    return len(values)
