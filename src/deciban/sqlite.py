"""One SQLite file in WAL mode that many may read while one writes: made, opened and checked.

What is written in a transaction is on the disk when the transaction ends, or nothing of it
ever is, whenever the program is killed. Errors of SQLite and of the system are said in plain
words. Stores of mail and of models that learn are such files; :class:`Layout` says which.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from reprlib import repr as short
from typing import Any, NamedTuple, Self

from deciban.errors import FileError, ModelFileError, ModelWriteError

__all__ = ["Database", "Layout"]

#: Seconds to wait while others write.
BUSY_SECONDS = 60.0


class Layout(NamedTuple):
    """What a file holds: its tables, by which number it is known, and what people call it.

    ``application`` and ``version`` are written into the file. ``making`` says how a file comes
    to be, ``renewing`` what to do about one that cannot be used: both end hints. Versions that
    are ``older`` are opened too: whoever opens them brings them up to date.
    """

    name: str
    application: int
    version: int
    tables: str
    making: str
    renewing: str
    older: tuple[int, ...] = ()


class Database:
    """A file that is open. Ask and change inside ``reading()`` or ``writing()``.

    >>> import tempfile
    >>> layout = Layout("notebook", 0x6E6F7465, 1, "CREATE TABLE notes (text TEXT)", "", "")
    >>> folder = tempfile.TemporaryDirectory()
    >>> with Database(f"{folder.name}/notes.db", layout, create=True) as database:
    ...     with database.writing():
    ...         _ = database.connection.execute("INSERT INTO notes VALUES ('a')")
    ...     with database.reading():
    ...         database.connection.execute("SELECT text FROM notes").fetchall()
    [('a',)]
    >>> folder.cleanup()
    """

    def __init__(self, path: str, layout: Layout, *, create: bool = False) -> None:
        self.path, self.layout = path, layout
        self.connection: sqlite3.Connection = _connect(path, layout, create)

    def close(self) -> None:
        """Close the file."""
        self.connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def reading(self) -> Iterator[None]:
        """One state of the file, whatever others write meanwhile."""
        with self._transaction("BEGIN"):
            yield

    @contextmanager
    def writing(self) -> Iterator[None]:
        """All that is done inside, or nothing; after it, it is on the disk."""
        with self._transaction("BEGIN IMMEDIATE"):
            yield

    def select(
        self, query: str, types: tuple[type, ...], parameters: Sequence[object] = ()
    ) -> list[tuple[Any, ...]]:
        """The rows of a query, whose values must have these types: others are not of our writing.

        SQLite itself keeps any value in any column, and a damaged page may hold any value.
        """
        rows = self.rows(query, parameters)
        columns = zip(zip(*rows, strict=True), types, strict=True) if rows else ()
        if any({*map(type, column)} != {of} for column, of in columns):
            raise self.damage(f"{short(rows)} where {types} are expected")
        return rows

    def rows(self, query: str, parameters: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """The rows of a query, whatever their values are: for whoever looks at them anyway."""
        with _plain_errors(self.path, self.layout):  # also outside of transactions
            return self.connection.execute(query, parameters).fetchall()

    def select_one(self, query: str, types: tuple[type, ...]) -> tuple[Any, ...]:
        """The one row of a query."""
        rows = self.select(query, types)
        if len(rows) != 1:
            raise self.damage(f"{len(rows)} rows instead of one")
        return rows[0]

    def version(self) -> int:
        """The number of the version of the tables."""
        return _number(self.connection, "PRAGMA user_version")

    def execute_all(self, statements: str) -> None:
        """Execute statements, which are separated by semicolons, in the present transaction."""
        _execute_all(self.connection, statements)

    def damage(self, what: str) -> ModelFileError:
        """An error about content that nobody can have written."""
        hint = f"restore it from a backup, or {self.layout.renewing}"
        return ModelFileError(f"{self.path} is damaged: it has {what}.", hint=hint)

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[None]:
        with _plain_errors(self.path, self.layout):
            self.connection.execute(begin)
            try:
                yield
                self.connection.execute("COMMIT")
            except BaseException:
                if self.connection.in_transaction:
                    self.connection.execute("ROLLBACK")
                raise


def _connect(path: str, layout: Layout, create: bool) -> sqlite3.Connection:
    """A connection to the file of this path; it is made first with ``create``."""
    if not create and not Path(path).exists():
        raise FileError(f"there is no store at {path}.", hint=layout.making)
    with _plain_errors(path, layout):
        if create:
            Path(path).parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        connection = _open(path, create)
        try:
            _prepare(connection, path, layout, create)
        except BaseException:
            connection.close()
            raise
    return connection


def _open(path: str, create: bool) -> sqlite3.Connection:
    """A connection; one that only reads, if the folder cannot be written and nobody is writing.

    Readers of a log in WAL mode write marks beside it. Where they may not, and there
    is no log, the file itself is all there is. Threads may share a connection, in turns.
    """
    log = Path(f"{path}-wal")
    alone = not create and not os.access(Path(path).parent, os.W_OK) and not log.exists()
    name = f"{Path(path).absolute().as_uri()}?immutable=1" if alone else path
    return sqlite3.connect(
        name, timeout=BUSY_SECONDS, isolation_level=None, uri=alone, check_same_thread=False
    )


def _prepare(connection: sqlite3.Connection, path: str, layout: Layout, create: bool) -> None:
    connection.execute("PRAGMA synchronous = FULL")  # what is acknowledged outlives a power cut
    if create and _is_empty(connection):
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("BEGIN IMMEDIATE")
        if _is_empty(connection):  # another may have been faster
            _execute_all(connection, layout.tables)
            connection.execute(f"PRAGMA application_id = {layout.application}")
            connection.execute(f"PRAGMA user_version = {layout.version}")
        connection.execute("COMMIT")
    _check(connection, path, layout)


def _execute_all(connection: sqlite3.Connection, statements: str) -> None:
    for statement in filter(str.strip, statements.split(";")):
        connection.execute(statement)


def _is_empty(connection: sqlite3.Connection) -> bool:
    return not _number(connection, "SELECT count(*) FROM sqlite_schema")


def _check(connection: sqlite3.Connection, path: str, layout: Layout) -> None:
    if _number(connection, "PRAGMA application_id") != layout.application:
        raise ModelFileError(
            f"{path} is no {layout.name}, but another SQLite file.", hint="--store names another"
        )
    version = _number(connection, "PRAGMA user_version")
    if version not in (layout.version, *layout.older):
        raise ModelFileError(
            f"{path} is a store of version {version}, this program has version {layout.version}.",
            hint=f"{layout.renewing}, or install the program it was made with",
        )


def _number(connection: sqlite3.Connection, query: str) -> int:
    return int(connection.execute(query).fetchone()[0])


@contextmanager
def _plain_errors(path: str, layout: Layout) -> Iterator[None]:
    """Raise errors of SQLite and of the system in plain words."""
    try:
        yield
    except sqlite3.OperationalError as error:
        raise _operational_error(path, str(error), layout) from error
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:  # also in what SQLite says of it
        hint = f"restore it from a backup, or {layout.renewing}"
        raise ModelFileError(f"{path} is damaged or no store: {error}.", hint=hint) from error
    except OSError as error:
        if isinstance(error, FileError):
            raise
        hint = "see its folder and the permissions; --store names another"
        raise FileError(f"{path} cannot be opened: {error.strerror}.", hint=hint) from error


def _operational_error(path: str, cause: str, layout: Layout) -> Exception:
    if "locked" in cause:
        message = f"{path} has been busy for {BUSY_SECONDS:.0f} s."
        return ModelWriteError(message, hint="another program is writing; try again later")
    if "readonly" in cause or "full" in cause or "disk I/O" in cause:
        hint = "see the permissions of it and of its folder, and the space on the disk"
        return ModelWriteError(f"{path} cannot be written: {cause}.", hint=hint)
    if "no such" in cause:
        hint = f"{layout.renewing}, or restore it from a backup"
        return ModelFileError(f"{path} is a damaged store: {cause}.", hint=hint)
    return FileError(
        f"{path} cannot be opened: {cause}.", hint="see its permissions and its folder"
    )
