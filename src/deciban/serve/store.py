"""The live store: a model that keeps learning, in one SQLite file.

The model is a checkpoint (a whole model file) and the deltas since then: lessons that were
learnt or taken back, in order. A lesson is recorded in the same transaction as its delta, so it
counts once or not at all, whenever the program is killed. What a lesson counts as is decided by
the model of the checkpoint alone, whoever adds it up and in whatever batches: all readers of a
store have the same model, to the bit.

Tables
------
origin : the digest of the model file that the store was made from.
checkpoint : one model file, and the position of the last delta that it contains.
deltas : lessons learnt (sign 1) and taken back (sign -1) after the checkpoint, by position.
lessons : every lesson that counts, by the name its caller chose; the position of its delta, when
    it was taught (seconds since 1970), and its log loss before it was learnt, if that is known.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from deciban import files
from deciban.errors import ParameterError
from deciban.files.model import from_bytes
from deciban.sqlite import Database, Layout

__all__ = ["Checkpoint", "Delta", "LiveStore", "Taught"]

#: The number says "deco" in ASCII.
LAYOUT = Layout(
    name="live store",
    application=0x6465636F,
    version=2,
    tables="""
CREATE TABLE origin (digest TEXT NOT NULL);
CREATE TABLE checkpoint (position INTEGER NOT NULL, model BLOB NOT NULL);
CREATE TABLE deltas (position INTEGER PRIMARY KEY AUTOINCREMENT,
    sign INTEGER NOT NULL CHECK (sign IN (-1, 1)), lesson BLOB NOT NULL);
CREATE TABLE lessons (id TEXT PRIMARY KEY, lesson BLOB NOT NULL, position INTEGER NOT NULL,
    taught REAL NOT NULL, loss REAL) WITHOUT ROWID;
CREATE INDEX lessons_in_order ON lessons (position);
""",
    making="deciban serve MODEL --learn makes one",
    renewing="make a new one with deciban serve MODEL --learn",
)


class Checkpoint(NamedTuple):
    """An estimator that has learnt all deltas up to a position."""

    position: int
    estimator: Any


class Delta(NamedTuple):
    """A lesson that was learnt (sign 1) or taken back (sign -1)."""

    position: int
    sign: int
    lesson: bytes


class Taught(NamedTuple):
    """A lesson that counts: its name, itself, when it was taught and how it was judged before."""

    id: str
    lesson: bytes
    taught: float
    loss: float | None


class LiveStore(Database):
    """A store that is open. Ask and change inside ``reading()`` or ``writing()``."""

    def __init__(self, path: str, *, create: bool = False) -> None:
        super().__init__(path, LAYOUT, create=create)
        self.connection.execute("PRAGMA secure_delete = ON")  # what is forgotten is overwritten

    def begin(self, model: str) -> None:
        """Start from a model file, unless that was done before; it must have been the same one."""
        content = Path(model).read_bytes()
        digest = sha256(content).hexdigest()
        with self.writing():
            row = self.connection.execute("SELECT digest FROM origin").fetchone()
            if row is None:
                self.connection.execute("INSERT INTO origin VALUES (?)", (digest,))
                self.connection.execute("INSERT INTO checkpoint VALUES (0, ?)", (content,))
            elif row[0] != digest:
                raise ParameterError(
                    f"{self.path} has learnt on from another model file than {model}.",
                    hint="name another --store, or deciban export it and serve what that gives",
                )

    # Questions

    def checkpoint_position(self) -> int:
        """The position of the checkpoint."""
        return self._number("SELECT position FROM checkpoint")

    def checkpoint(self) -> Checkpoint:
        """The checkpoint, read as every model file is."""
        query = "SELECT position, model FROM checkpoint"
        position, content = self.select_one(query, (int, bytes))
        return Checkpoint(position, from_bytes(content, f"the model in {self.path}"))

    def position(self) -> int:
        """The position of the last delta there ever was."""
        return self._number("SELECT coalesce(max(seq), 0) FROM sqlite_sequence")

    def deltas(self, after: int, limit: int) -> list[Delta]:
        """The next deltas after a position, in order."""
        query = "SELECT position, sign, lesson FROM deltas WHERE position > ? ORDER BY 1 LIMIT ?"
        return [Delta(*row) for row in self.select(query, (int, int, bytes), (after, limit))]

    def lesson(self, name: str) -> bytes | None:
        """A lesson that counts, if there is one of this name."""
        query = "SELECT lesson FROM lessons WHERE id = ?"
        row = self.connection.execute(query, (name,)).fetchone()
        return row[0] if row else None

    def n_lessons(self) -> int:
        """How many lessons count."""
        return self._number("SELECT count(*) FROM lessons")

    def last_lessons(self, n: int) -> list[Taught]:
        """The lessons that were taught last and count, the last first."""
        query = "SELECT id, lesson, taught, loss FROM lessons ORDER BY position DESC LIMIT ?"
        return [Taught(*row) for row in self.connection.execute(query, (n,))]

    def last_losses(self, n: int) -> list[tuple[float, float]]:
        """When lessons were taught, and their log loss before they were learnt; in order."""
        query = """SELECT taught, loss FROM lessons WHERE loss IS NOT NULL
            ORDER BY position DESC LIMIT ?"""
        return list(self.connection.execute(query, (n,)))[::-1]

    def _number(self, query: str) -> int:
        return int(self.select_one(query, (int,))[0])

    # Changes

    def learn(self, lessons: Iterable[tuple[str, bytes, float | None]]) -> int:
        """Record lessons whose names are not known: name, content, and log loss before.

        The position of the last delta there is.
        """
        rows, now = list(lessons), time.time()
        first = self.position() + 1
        self._append(1, [lesson for _, lesson, _ in rows])
        recorded = [
            (name, what, at, now, loss) for at, (name, what, loss) in enumerate(rows, first)
        ]
        self.connection.executemany("INSERT INTO lessons VALUES (?, ?, ?, ?, ?)", recorded)
        return first - 1 + len(rows)

    def forget(self, lessons: Iterable[tuple[str, bytes]]) -> None:
        """Take lessons back that count."""
        rows = list(lessons)
        self.connection.executemany("DELETE FROM lessons WHERE id = ?", [(n,) for n, _ in rows])
        self._append(-1, [lesson for _, lesson in rows])

    def _append(self, sign: int, lessons: list[bytes]) -> None:
        rows = [(sign, lesson) for lesson in lessons]
        self.connection.executemany("INSERT INTO deltas (sign, lesson) VALUES (?, ?)", rows)

    def replace_checkpoint(self, newer: Checkpoint) -> None:
        """Make a model the checkpoint and drop the deltas it contains, unless one is newer."""
        content = files.to_bytes(newer.estimator.to_stored())
        with self.writing():
            if self.checkpoint_position() < newer.position:
                row = (newer.position, content)
                self.connection.execute("UPDATE checkpoint SET position = ?, model = ?", row)
                self.connection.execute("DELETE FROM deltas WHERE position <= ?", row[:1])
