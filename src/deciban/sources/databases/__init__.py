"""Tables in databases: a connection or a URL, and a query or the name of a table.

Reading order: ``query`` (what is asked), ``errors`` (what a server says, in our words, without
secrets), ``postgres``, ``sqlite``, ``cursor`` (rows as batches), ``open`` (what a connection is).

Rows are read in one query, in a transaction that can only read, so that one training sees one
state of the table. Nothing is left behind on the server.
"""

from __future__ import annotations

from deciban.sources.databases.open import is_database, is_url, scan_database
from deciban.sources.databases.query import TableName

__all__ = ["TableName", "is_database", "is_url", "scan_database"]
