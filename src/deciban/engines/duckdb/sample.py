"""Evenly spaced rows, chosen by DuckDB: the others are not read."""

from __future__ import annotations

from typing import NamedTuple

from deciban.engines.local.sample import sample as sample_locally
from deciban.sources.duckdb import DuckDBScan, quote
from deciban.sources.labelled import LabelledBatch, LabelledScan
from deciban.sources.sample import Sample

__all__ = ["Labelled", "fill", "labelled", "sample"]

#: DuckDB's types of labels that are equal for DuckDB exactly when they are equal here.
LABEL_TYPES = ("VARCHAR", "BOOLEAN", "TINYINT", "SMALLINT", "INTEGER", "BIGINT")


class Labelled(NamedTuple):
    """A table that DuckDB has, and the column of its labels."""

    table: DuckDBScan
    target: str

    def n_rows(self) -> tuple[int, int]:
        """The number of rows, and how many of them have a label."""
        label = quote(self.target, '"')
        sql = f"SELECT count(*) AS n, count({label}) AS labels FROM {self.table.sql}"
        (batch,) = self.table.ask(sql, 1)
        n_rows, n_labels = (batch.columns[name].tolist()[0] for name in ("n", "labels"))
        return int(n_rows or 0), int(n_labels or 0)


def labelled(scan: LabelledScan) -> Labelled | None:
    """The table of a scan if DuckDB knows the labels of its rows and all rows count once."""
    table, target = scan.scan, scan.target
    if not isinstance(table, DuckDBScan) or target is None or scan.weight is not None:
        return None
    if scan.units is not None:  # whole groups are sampled, or all rows in their order
        return None
    return Labelled(table, target) if table.types[target] in LABEL_TYPES else None


def sample(scan: LabelledScan, k: int) -> Sample[LabelledBatch]:
    """Evenly spaced rows, no more than ``k``; where some row has no label, all are read here."""
    there = labelled(scan)
    n_rows, n_labels = (0, -1) if there is None else there.n_rows()
    if n_labels < n_rows:
        return sample_locally(scan, k)
    kept: Sample[LabelledBatch] = Sample(k)
    fill(kept, scan, n_rows)
    return kept


def fill(kept: Sample[LabelledBatch], scan: LabelledScan, n_rows: int) -> None:
    """Put evenly spaced rows of a table of so many rows into an empty sample."""
    kept.expect(n_rows)
    kept.batches.extend(scan.every(kept.stride).labelled_batches())
