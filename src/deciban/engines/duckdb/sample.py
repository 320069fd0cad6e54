"""Tables that DuckDB has, with the column of their labels. Their rows are sampled here."""

from __future__ import annotations

from typing import NamedTuple

from deciban.engines.local.sample import sample
from deciban.sources.duckdb import DuckDBScan, quote
from deciban.sources.labelled import LabelledScan
from deciban.sources.tabular import Value

__all__ = ["Labelled", "labelled", "sample"]

#: DuckDB's types of labels that are equal for DuckDB exactly when they are equal here.
LABEL_TYPES = ("VARCHAR", "BOOLEAN", "TINYINT", "SMALLINT", "INTEGER", "BIGINT")

#: The most labels in a batch of an answer.
MAX_BATCH_LABELS = 1 << 16


class Labelled(NamedTuple):
    """A table that DuckDB has, and the column of its labels."""

    table: DuckDBScan
    target: str

    def labels(self) -> list[Value]:
        """The different labels, among them None where rows have none."""
        label = quote(self.target, '"')
        sql = f"SELECT DISTINCT {label} AS label FROM {self.table.sql}"
        batches = self.table.ask(sql, MAX_BATCH_LABELS)
        return [label for batch in batches for label in batch.columns["label"].tolist()]


def labelled(scan: LabelledScan) -> Labelled | None:
    """The table of a scan if DuckDB knows the labels of its rows and all rows count once."""
    table, target = scan.scan, scan.target
    if not isinstance(table, DuckDBScan) or target is None or scan.weight is not None:
        return None
    if scan.units is not None:  # whole groups are sampled, or all rows in their order
        return None
    return Labelled(table, target) if table.types[target] in LABEL_TYPES else None
