"""Workbooks of Excel and LibreOffice: a sheet is written out as CSV and read like one.

So numbers and dates that are texts in their cells are recognised as in any CSV, in each workbook
anew, because in others they may be cells of numbers. The first row that is not blank names the
columns.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from deciban.errors import FileError, MissingPackageError, ParameterError
from deciban.sources import delimited
from deciban.sources.column_names import nearest
from deciban.sources.formats import typed_types
from deciban.sources.options import ReadOptions
from deciban.sources.scan import BatchScan
from deciban.sources.spool import Spool, read_spools

if TYPE_CHECKING:
    from python_calamine import CalamineWorkbook

__all__ = ["scan"]

#: What a cell may hold.
Cell = int | float | str | bool | time | date | datetime | timedelta
#: So many rows are written at once.
BLOCK_ROWS = 1024


def scan(files: Sequence[Path], options: ReadOptions) -> BatchScan:
    """One table from a sheet of each workbook."""
    spools = [Spool(_csv_blocks(_rows(path, options.sheet)), ".csv") for path in files]
    fields = replace(options, encoding="utf-8", types=typed_types(options.types))
    table = delimited.scan([spool.path for spool in spools], "csv", fields)
    return replace(
        table,
        read=lambda: read_spools(iter(table), spools),
        reopen=lambda types: scan(files, replace(options, types={**types, **options.types})),
    )


def _rows(path: Path, sheet: str | int | None) -> Iterator[list[Cell]]:
    """The rows of a sheet."""
    try:
        import python_calamine
    except ImportError:
        raise MissingPackageError(
            f"{path} is a workbook, and python-calamine, which reads it, is not installed.",
            hint="pip install python-calamine, or save the sheet as CSV",
        ) from None
    try:
        book = python_calamine.CalamineWorkbook.from_path(path)
        name = _sheet_name(path, book, sheet)
        rows = book.get_sheet_by_name(name).iter_rows()
    except python_calamine.CalamineError as error:
        raise FileError(
            f"{path} cannot be read as a workbook: {error}.",
            hint="open it and save it again, or save the sheet as CSV",
        ) from None
    filled = next((row for row in rows if any(cell != "" for cell in row)), None)
    if filled is None:
        raise FileError(f"{path} has nothing in sheet {name!r}.", hint="name another with sheet")
    yield filled
    yield from rows


def _sheet_name(path: Path, book: CalamineWorkbook, sheet: str | int | None) -> str:
    names = book.sheet_names
    if not names:
        raise FileError(f"{path} has no sheets.", hint="open it and save it again")
    if sheet is None:
        return names[0]
    if sheet in names:
        return str(sheet)
    if str(sheet).isdecimal() and 1 <= int(sheet) <= len(names):
        return names[int(sheet) - 1]
    close = nearest(str(sheet), names)
    raise ParameterError(
        f"{path} has no sheet {sheet!r}.",
        hint=f"perhaps {close!r} was meant" if close else f"its sheets are {', '.join(names)}",
    )


def _csv_blocks(rows: Iterable[list[Cell]]) -> Iterator[bytes]:
    """The rows as CSV in UTF-8; rows without any value are left out."""
    out = io.StringIO()
    writer, n_rows = csv.writer(out), 0
    for row in rows:
        written = [_write(cell) for cell in row]
        if any(written):
            writer.writerow(written)
            n_rows += 1
        if n_rows == BLOCK_ROWS:
            yield out.getvalue().encode("utf-8", "replace")
            out.seek(0)
            out.truncate()
            n_rows = 0
    yield out.getvalue().encode("utf-8", "replace")


def _write(cell: Cell) -> str:
    """A cell as it is written in CSV: dates and times as ISO has them, durations in seconds.

    >>> _write(3.0), _write(0.1), _write(datetime(2024, 12, 31)), _write(True)
    ('3', '0.1', '2024-12-31', 'true')
    """
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, float):
        return str(int(cell)) if cell.is_integer() and abs(cell) < 2**53 else repr(cell)
    if isinstance(cell, datetime) and cell.time() == time():
        return cell.date().isoformat()
    if isinstance(cell, timedelta):
        return repr(cell.total_seconds())
    if isinstance(cell, time):
        return cell.isoformat("microseconds" if cell.microsecond else "seconds")
    if isinstance(cell, date):
        return cell.isoformat()
    return str(cell)
