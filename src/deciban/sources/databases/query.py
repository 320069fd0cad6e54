"""What is asked of a database: a query, or all rows of a table."""

from __future__ import annotations

from deciban.errors import ParameterError

__all__ = ["TableName", "query_of", "quote_name", "table_query"]


class TableName(str):
    """The name of a table, perhaps with its schema before a point; not a query."""

    __slots__ = ()


def query_of(sql: str | None, table: str | None) -> str | None:
    """What is stated of a query or a table: one of both, or nothing.

    >>> query_of("SELECT 1 AS x", None), query_of(None, "visits")
    ('SELECT 1 AS x', 'visits')
    """
    if sql is not None and table is not None:
        raise ParameterError(
            f"rows come from a query or from a table, got both: {table!r} and a query.",
            hint="leave one of sql and table out",
        )
    stated = sql if table is None else table
    if stated is not None and (not isinstance(stated, str) or not stated.strip()):
        raise ParameterError(
            f"{'sql' if table is None else 'table'} must be a text, got {stated!r}.",
            hint="sql='SELECT ...', or table='name'",
        )
    return sql if table is None else TableName(table)


def table_query(query: str, mark: str = '"') -> str:
    """The query, or the one for all rows of a table.

    >>> table_query(TableName("main.odd name"))
    'SELECT * FROM "main"."odd name"'
    """
    if not isinstance(query, TableName):
        return query.strip().rstrip(";")
    return f"SELECT * FROM {'.'.join(quote_name(part, mark) for part in query.split('.'))}"


def quote_name(name: str, mark: str = '"') -> str:
    """A name as SQL writes it."""
    return mark + name.replace(mark, 2 * mark) + mark
