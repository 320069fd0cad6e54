"""Tables that DuckDB has, with the column of their labels. Their rows are sampled here."""

from __future__ import annotations

from typing import NamedTuple

from deciban.engines.local.sample import sample
from deciban.sources.duckdb import DuckDBScan, quote
from deciban.sources.labelled import LabelledScan

__all__ = ["Labelled", "labelled", "sample"]

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
