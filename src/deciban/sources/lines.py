"""JSON lines: one object a line, one column a key.

Numbers, truth values and text have JSON's own types; text in which every
value is an ISO date or time is times, since JSON has no other way to write
them. A key that an object lacks, and null, are missing. A column that mixes
text with other values is text.

The file is read three times: for all its keys, for the types, for the rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

from deciban.errors import FileError
from deciban.sources import duck
from deciban.sources.columns import Batch
from deciban.sources.naming import checked
from deciban.sources.scanning import Scan
from deciban.sources.written import How, settled, typed

__all__ = ["scan"]

_SAMPLE = 2048


def scan(files: Sequence[Path], how: How) -> Scan:
    """One table from files of JSON lines."""
    source = ", ".join(duck.quoted(duck.literal(path)) for path in files)
    source = f"[{source}], format = 'newline_delimited'"
    path, connection = str(files[0]), duck.connect()
    names = _keys(connection, source, path)
    read = partial(_read, connection, source, path)
    how = replace(how, missing=how.missing or ())
    kinds = cache(lambda: settled(names, partial(read, "JSON"), how, json=True))
    return Scan(names, lambda: typed(read("VARCHAR", names, None, how.rows), kinds(), how))


def _read(
    connection: Any,
    source: str,
    path: str,
    kind: str,
    names: Sequence[str],
    limit: int | None = None,
    rows: int = 65_536,
) -> Iterator[Batch]:
    """Some keys, as JSON or as text."""
    columns = ", ".join(f"{duck.quoted(name)}: '{kind}'" for name in names)
    sql = f"SELECT * FROM read_json({source}, columns = {{{columns}}})"
    sql += f" LIMIT {limit}" if limit else ""
    return duck.ask(connection, sql, path, rows)


def _keys(connection: Any, source: str, path: str) -> tuple[str, ...]:
    """All keys: those of the first rows in their order, then the others by name."""
    every = (
        "SELECT DISTINCT unnest(if(json_type(json) = 'OBJECT', json_keys(json), [NULL])) "
        f"FROM read_json_objects({source})"
    )
    early = f"SELECT json_keys(json) FROM read_json_objects({source}) LIMIT {_SAMPLE}"
    found = set(duck.first_column(connection, every, path))
    if None in found:
        raise FileError(f"{path} has a line that is no object.", hint="give one JSON object a line")
    order = [key for keys in duck.first_column(connection, early, path) for key in keys]
    names = checked(list(dict.fromkeys([*order, *sorted(found)])))
    _refuse_case(names, path)
    return names


def _refuse_case(names: Sequence[str], path: str) -> None:
    seen: dict[str, str] = {}
    for name in names:
        other = seen.setdefault(name.lower(), name)
        if other != name:
            raise FileError(
                f"{path} has the keys {other!r} and {name!r}, which differ only in case.",
                hint="rename one of them",
            )
