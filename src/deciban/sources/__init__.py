"""Anything tabular as a stream of batches: the first step of source, encode, count.

A source is one of

- a frame of pandas or Polars (lazy ones are collected batch by batch), a
  pyarrow table or reader, or any object with ``__arrow_c_stream__``
- a two-dimensional NumPy array, a dict of columns, a list of dicts or of tuples
- a path or glob of CSV, TSV, Parquet, JSON, Excel, Arrow, ORC or Avro; "-" is the standard input
- a DuckDB relation; the URL of a database or a connection to one, and ``sql`` or ``table``
- an iterable of tables, or of dicts that are rows

and each becomes the same few column types (:mod:`deciban.sources.columns`).
None of these libraries is imported here; files need DuckDB.

Reading order: ``columns``, ``batch``, ``scan`` (the contract), ``open`` (what X is);
then ``objects``, ``frames``, ``arrow``, ``stream``, ``texts``, ``matrix`` for what is in
memory, and for what is not ``options``, ``files``, ``encodings``, ``spool``, ``delimited``,
``excel``, ``json_lines``, ``formats`` (how fields are written), ``field_types``, ``arrow_files``
and ``duckdb``. ``labelled`` adds labels and weights, ``sample`` keeps some rows, ``row`` is a
single one, ``held`` a table whose rows are looked up.
"""

from __future__ import annotations

from deciban.sources.batch import Batch
from deciban.sources.columns import Booleans, Column, Integers, Numbers, Strings, Times
from deciban.sources.open import batches, names, scan
from deciban.sources.scan import BATCH_ROWS, BatchScan, Scan

__all__ = [
    "BATCH_ROWS",
    "Batch",
    "BatchScan",
    "Booleans",
    "Column",
    "Integers",
    "Numbers",
    "Scan",
    "Strings",
    "Times",
    "batches",
    "names",
    "scan",
]
