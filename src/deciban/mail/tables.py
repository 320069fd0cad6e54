"""The SQLite file of the store: made, opened and checked; its errors in plain words."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from deciban.errors import FileError, ModelFileError, ModelWriteError

__all__ = ["connect", "plain_errors"]

#: Written into the file: "deci" in ASCII, and the version of the tables and of the tokens.
APPLICATION, VERSION = 0x64656369, 1
#: Seconds to wait while others write.
BUSY_SECONDS = 60.0
_TABLES = f"""
CREATE TABLE tokens (token TEXT PRIMARY KEY, ham INTEGER NOT NULL CHECK (ham >= 0),
    spam INTEGER NOT NULL CHECK (spam >= 0)) WITHOUT ROWID;
CREATE TABLE levels (level INTEGER PRIMARY KEY, ham INTEGER NOT NULL CHECK (ham >= 0),
    spam INTEGER NOT NULL CHECK (spam >= 0)) WITHOUT ROWID;
CREATE TABLE lessons (digest BLOB PRIMARY KEY, spam INTEGER NOT NULL CHECK (spam IN (0, 1)),
    level INTEGER) WITHOUT ROWID;
CREATE TABLE totals (ham INTEGER NOT NULL CHECK (ham >= 0),
    spam INTEGER NOT NULL CHECK (spam >= 0));
INSERT INTO totals VALUES (0, 0);
PRAGMA application_id = {APPLICATION};
PRAGMA user_version = {VERSION};
"""


def connect(path: str, *, create: bool = False) -> sqlite3.Connection:
    """A connection to the store of this path; it is made first with ``create``."""
    if not create and not Path(path).exists():
        raise FileError(
            f"there is no store at {path}.",
            hint="deciban mail train or deciban mail learn makes one; --store names another",
        )
    with plain_errors(path):
        if create:
            Path(path).parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        connection = _open(path, create)
        try:
            _prepare(connection, path, create)
        except BaseException:
            connection.close()
            raise
    return connection


def _open(path: str, create: bool) -> sqlite3.Connection:
    """A connection; one that only reads, if the folder cannot be written and nobody is writing.

    Readers of a log in WAL mode write marks beside it. Where they may not, and there
    is no log, the file itself is all there is.
    """
    log = Path(f"{path}-wal")
    alone = not create and not os.access(Path(path).parent, os.W_OK) and not log.exists()
    name = f"{Path(path).absolute().as_uri()}?immutable=1" if alone else path
    return sqlite3.connect(name, timeout=BUSY_SECONDS, isolation_level=None, uri=alone)


def _prepare(connection: sqlite3.Connection, path: str, create: bool) -> None:
    connection.execute("PRAGMA synchronous = FULL")  # what is acknowledged outlives a power cut
    if create and _is_empty(connection):
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("BEGIN IMMEDIATE")
        if _is_empty(connection):  # another may have been faster
            for statement in filter(str.strip, _TABLES.split(";")):
                connection.execute(statement)
        connection.execute("COMMIT")
    _check(connection, path)


def _is_empty(connection: sqlite3.Connection) -> bool:
    return not _number(connection, "SELECT count(*) FROM sqlite_schema")


def _check(connection: sqlite3.Connection, path: str) -> None:
    if _number(connection, "PRAGMA application_id") != APPLICATION:
        raise ModelFileError(
            f"{path} is no store of mail, but another SQLite file.", hint="--store names another"
        )
    version = _number(connection, "PRAGMA user_version")
    if version != VERSION:
        raise ModelFileError(
            f"{path} is a store of version {version}, this program has version {VERSION}.",
            hint="train a new one from the messages, or install the program it was made with",
        )


def _number(connection: sqlite3.Connection, query: str) -> int:
    return int(connection.execute(query).fetchone()[0])


@contextmanager
def plain_errors(path: str) -> Iterator[None]:
    """Raise errors of SQLite and of the system in plain words."""
    try:
        yield
    except sqlite3.OperationalError as error:
        raise _operational_error(path, str(error)) from error
    except sqlite3.DatabaseError as error:
        hint = "restore it from a backup, or train a new one"
        raise ModelFileError(f"{path} is damaged or no store: {error}.", hint=hint) from error
    except OSError as error:
        hint = "see its folder and the permissions; --store names another"
        raise FileError(f"{path} cannot be opened: {error.strerror}.", hint=hint) from error


def _operational_error(path: str, cause: str) -> Exception:
    if "locked" in cause:
        message = f"{path} has been busy for {BUSY_SECONDS:.0f} s."
        return ModelWriteError(message, hint="another program is writing; try again later")
    if "readonly" in cause or "full" in cause or "disk I/O" in cause:
        hint = "see the permissions of it and of its folder, and the space on the disk"
        return ModelWriteError(f"{path} cannot be written: {cause}.", hint=hint)
    if "no such" in cause:
        hint = "train a new one, or restore it from a backup"
        return ModelFileError(f"{path} is a damaged store: {cause}.", hint=hint)
    return FileError(
        f"{path} cannot be opened: {cause}.", hint="see its permissions and its folder"
    )
