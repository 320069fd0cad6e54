"""Data frames of Spark, classic or Connect: rows stay where they are until they are asked for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from deciban.errors import DecibanError, InputError, MissingPackageError
from deciban.sources import arrow, column_names
from deciban.sources.batch import Batch
from deciban.sources.scan import Place, check_names

__all__ = [
    "SHIP_HINT",
    "SparkScan",
    "errors_of_spark",
    "is_connect",
    "is_spark",
    "n_cores",
    "scan_spark",
]

#: How executors get deciban.
SHIP_HINT = (
    "ship it with the job: pack an environment that has deciban (venv-pack or conda-pack), set "
    "spark.archives to environment.tar.gz#environment and PYSPARK_PYTHON to "
    "./environment/bin/python, or install deciban on every worker"
)


def is_spark(source: object) -> bool:
    """Whether it is a data frame of Spark; Spark is not imported."""
    kinds = type(source).__mro__
    return any(k.__module__.startswith("pyspark.sql") and k.__name__ == "DataFrame" for k in kinds)


def is_connect(session: object) -> bool:
    """Whether a session is one of Spark Connect."""
    return type(session).__module__.startswith("pyspark.sql.connect")


def n_cores(session: Any) -> int | None:
    """How many cores the executors of a session have; None where that is not known or changes."""
    if is_connect(session):
        return None
    settings = session.sparkContext.getConf()
    if settings.get("spark.dynamicAllocation.enabled", "false").lower() == "true":
        return None
    stated = [int(settings.get(f"spark.executor.{what}", "1")) for what in ("instances", "cores")]
    return max(int(session.sparkContext.defaultParallelism), stated[0] * stated[1])


@dataclass(frozen=True, eq=False)
class SparkScan:
    """The rows of a data frame; ``rows`` is the most rows in a batch where they are read here."""

    frame: Any
    names: tuple[str, ...]
    rows: int
    place: Place = "spark"
    rereadable: bool = True
    n_rows: int | None = None

    def __iter__(self) -> Iterator[Batch]:
        return _read(self.frame, self.rows)

    def head(self, n_rows: int) -> Iterator[Batch]:
        """The first rows; of every partition as many are read, so these are gathered before."""
        cores = n_cores(self.frame.sparkSession)
        frame = self.frame if cores is None else self.frame.coalesce(cores)
        return _read(frame.limit(n_rows), self.rows)

    def require(self, name: str) -> str:
        """The name if there is such a column, otherwise an error that suggests the nearest."""
        if name not in self.names:
            raise column_names.unknown(name, self.names)
        return name


def scan_spark(frame: Any, rows: int) -> SparkScan:
    """A data frame of Spark."""
    with errors_of_spark():
        names = tuple(frame.columns)
    check_names(names)
    return SparkScan(frame, names, rows)


def _read(frame: Any, rows: int) -> Iterator[Batch]:
    """Rows that are brought here, as Arrow."""
    with errors_of_spark():
        table = frame.toArrow()
    yield from arrow.read_or_explain(arrow.open_stream(table), rows)


@contextmanager
def errors_of_spark() -> Iterator[None]:
    """Let whatever Spark raises in the block be an error of ours, cut to the line that says why."""
    try:
        yield
    except (DecibanError, MemoryError):
        raise
    except Exception as error:
        raise explain(error) from None


def explain(error: Exception) -> DecibanError:
    """What an error of Spark means."""
    text = str(error)
    if "No module named 'deciban'" in text or "deciban is not installed on" in text:
        return MissingPackageError(
            "deciban is not installed on the executors of Spark.", hint=SHIP_HINT
        )
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    said = [line for line in lines if line.startswith("deciban.errors.")]
    line = said[-1].partition(": ")[2] if said else (lines[0] if lines else type(error).__name__)
    return InputError(f"Spark stopped: {line[:500].rstrip('.')}.", hint="check the data frame")
