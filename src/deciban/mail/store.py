"""The live store: one SQLite file in WAL mode, that many may read while one learns.

A lesson is one message with its class, known by the digest of the message. It is
recorded in the same transaction that counts its tokens, so a lesson is counted once
or not at all, whenever the program is killed, and taking it back subtracts exactly
what it added. SQLite's log holds the lessons since the last checkpoint, and reading
adds them up. Looking up a message reads the rows of its own tokens and no others.

Tables
------
tokens : how many messages of ham and of spam had each token.
lessons : the digest, the class and the level of every message learnt.
levels : how many lessons of ham and of spam came at each level of raw evidence, as seen
    by the model that did not know them. See :mod:`deciban.mail.model`.
totals : how many messages of ham and of spam were learnt.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple, TypeVar

from deciban.errors import NegativeCountError
from deciban.kernels import messages as kernel
from deciban.kernels.lexicon import Lexicon, Tokens
from deciban.mail.model import PREFIXES, TEXT_PREFIXES, Calibration, Counts, Pair, calibrate
from deciban.mail.tables import LAYOUT
from deciban.sqlite import Database

__all__ = ["Lesson", "Store"]

#: No more tokens than this are remembered from one message to the next.
MAX_REMEMBERED_TOKENS = 1 << 19
#: That is, if they have so many characters in the mean.
TOKEN_CHARACTERS = 32
#: Tokens that are looked up in the time that it takes to read a page of them.
PAGE_TOKENS = 50
#: Rows that are written by one statement.
STATEMENT_ROWS = 100
#: More messages than anybody has.
MAX_MESSAGES = 1 << 31
#: A token or a level.
Key = TypeVar("Key", bound="str | int")


class Lesson(NamedTuple):
    """One message learnt: its digest, its class, and the level it came at (none if unknown)."""

    digest: bytes
    spam: bool
    level: int | None = None

    @property
    def one(self) -> Pair:
        """One message of its class."""
        return Pair(0, 1) if self.spam else Pair(1, 0)


@dataclass
class Memory:
    """What was read of one state of the file.

    The counts of the lexicon are those of the first ``known`` of its tokens, or of all.
    """

    state: tuple[int, int]
    totals: Pair
    levels: dict[int, Pair]
    calibration: Calibration
    lexicon: Lexicon | None = None
    known: int = 0
    forgotten: int = 0
    asked: int = 0
    has_all: bool = False


class Store(Database):
    """A store that is open. Ask and change inside ``reading()`` or ``writing()``.

    Most tokens of a message are in others as well: what was read is remembered, and believed inside
    ``reading()`` as long as nobody has written since.

    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> with Store(f"{folder.name}/mail.db", create=True) as store:
    ...     with store.writing():
    ...         store.add([Lesson(b"digest", True)], ["free", 0, 1])
    ...     with store.reading():
    ...         store.counts(["free", "lunch"])
    Counts(totals=Pair(ham=0, spam=1), tokens={'free': (0, 1)}, unknown=1)
    >>> folder.cleanup()
    """

    def __init__(self, path: str, *, create: bool = False) -> None:
        super().__init__(path, LAYOUT, create=create)
        self._lexicon = Lexicon(PREFIXES)
        self._memory: Memory | None = None
        self._believed: Memory | None = None

    @contextmanager
    def reading(self) -> Iterator[None]:
        """One state of the file, whatever others write meanwhile."""
        with super().reading():
            self._believed = self._recall()
            try:
                yield
            finally:
                self._believed = None

    def _recall(self) -> Memory:
        """What is remembered of the present state of the file; nothing of others is."""
        (version,) = self.select_one("PRAGMA data_version", (int,))  # others' changes, then our own
        state, memory = (version, self.connection.total_changes), self._memory
        if memory and memory.state == state:
            return memory
        levels = self.levels()
        self._memory = Memory(state, self.totals(), levels, calibrate(levels))
        return self._memory

    # Questions

    def totals(self) -> Pair:
        """How many messages of ham and of spam were learnt."""
        if self._believed:
            return self._believed.totals
        return self._pair(*self.select_one("SELECT ham, spam FROM totals", (int, int)))

    def levels(self) -> dict[int, Pair]:
        """How many lessons came at each level."""
        if self._believed:
            return self._believed.levels
        rows = self.select("SELECT level, ham, spam FROM levels", (int, int, int))
        return {level: self._pair(ham, spam) for level, ham, spam in rows}

    def calibration(self) -> Calibration:
        """What turns the evidence of tokens into log-odds, fitted to the levels."""
        return self._believed.calibration if self._believed else calibrate(self.levels())

    def counts(self, tokens: Iterable[str]) -> Counts:
        """What is known of these tokens, and the totals."""
        own, totals = list(tokens), self.totals()
        rows = self._rows_of(own) if any(totals) else []
        self._merge(Lexicon(), rows)
        pairs = {token: (ham, spam) for token, ham, spam in rows}
        return Counts(totals, *kernel.known(own, pairs, TEXT_PREFIXES))

    @property
    def lexicon(self) -> Lexicon:
        """What messages are read with that are to be looked up: what was read is remembered."""
        own = self._lexicon
        if max(len(own), own.characters // TOKEN_CHARACTERS) > MAX_REMEMBERED_TOKENS:
            self._lexicon = Lexicon(PREFIXES)
        return self._lexicon

    def look_up(self, messages: Sequence[Tokens]) -> None:
        """Give the tokens of some messages, all of one lexicon, the counts of the store.

        Tokens that are not remembered are looked up at once; once so many were asked for that it
        would have taken as long to read all that there are, these are read.
        """
        if not messages:
            return
        memory = self._believed or Memory((0, 0), self.totals(), {}, calibrate({}))
        lexicon = messages[0].lexicon
        if any(tokens.lexicon is not lexicon for tokens in messages):
            raise ValueError("messages that are looked up at once must be of one lexicon.")
        if memory.lexicon is not lexicon or memory.forgotten != lexicon.forgotten:
            memory.lexicon, memory.known, memory.has_all = lexicon, 0, False
            lexicon.forget()
        memory.asked += sum(map(len, messages))
        new = lexicon.texts[memory.known :]
        if any(memory.totals) and not memory.has_all and new:
            memory.has_all = self._is_worth_reading(memory.asked)
            if memory.has_all:
                lexicon.forget()
            self._merge(lexicon, self._all_rows() if memory.has_all else self._rows_of(new))
        memory.known, memory.forgotten = len(lexicon), lexicon.forgotten

    def merge_into(self, lexicon: Lexicon, messages: Iterable[Tokens]) -> None:
        """Add the counts of the store to those of a lexicon, for the tokens of some messages."""
        if any(self.totals()):
            tokens = {token for message in messages for token in message}
            self._merge(lexicon, self._rows_of(sorted(tokens)))

    def _is_worth_reading(self, asked: int) -> bool:
        """Whether to read all tokens, since to look up as many as were asked for takes as long."""
        (pages,) = self.select_one("PRAGMA page_count", (int,))
        return asked >= PAGE_TOKENS * pages and self.vocabulary() <= MAX_REMEMBERED_TOKENS // 2

    def _all_rows(self) -> list[tuple[str, int, int]]:
        """All tokens, and the messages of ham and of spam."""
        return self.rows("SELECT token, ham, spam FROM tokens")

    def _rows_of(self, tokens: list[str]) -> list[tuple[str, int, int]]:
        """Those of these tokens that are known, and the messages of ham and of spam."""
        return self.rows(
            "SELECT token, ham, spam FROM json_each(?) CROSS JOIN tokens ON token = value",
            (json.dumps(tokens, ensure_ascii=False),),
        )

    def _merge(self, lexicon: Lexicon, rows: list[tuple[str, int, int]]) -> None:
        """Add rows to the counts of a lexicon; one that nobody can have written is damage."""
        try:
            lexicon.merge_rows(rows)
        except (TypeError, ValueError, OverflowError) as error:
            raise self.damage(str(error)) from None

    def lesson(self, digest: bytes) -> Lesson | None:
        """What was learnt from a message, if anything."""
        query = "SELECT spam, level FROM lessons WHERE digest = ?"
        row = self.connection.execute(query, (digest,)).fetchone()
        return Lesson(digest, bool(row[0]), row[1]) if row else None

    def known(self, digests: Iterable[bytes]) -> dict[bytes, Lesson]:
        """What was learnt from those of these messages that are known."""
        if not any(self.totals()):
            return {}
        lessons = ((digest, self.lesson(digest)) for digest in digests)
        return {digest: lesson for digest, lesson in lessons if lesson}

    def _pair(self, ham: int, spam: int) -> Pair:
        """Two numbers of messages."""
        if not (0 <= ham < MAX_MESSAGES and 0 <= spam < MAX_MESSAGES):
            raise self.damage(f"the counts {ham} and {spam}")
        return Pair(ham, spam)

    def vocabulary(self) -> int:
        """How many tokens are known."""
        return int(self.connection.execute("SELECT count(*) FROM tokens").fetchone()[0])

    # Changes

    def add(self, lessons: list[Lesson], tokens: list[str | int]) -> None:
        """Record lessons that are not known yet, and count the tokens of all of them.

        Each token is followed by its messages of ham and of spam; those that are in order are
        added faster.
        """
        self._insert("tokens", tokens)
        self.connection.executemany("INSERT INTO lessons VALUES (?, ?, ?)", lessons)
        self._insert("levels", _flat(_count_levels(lessons)))
        self._add_total(lessons, 1)

    def take(self, lesson: Lesson, tokens: Iterable[str]) -> None:
        """Take back a lesson, and everything that it added."""
        self.connection.execute("DELETE FROM lessons WHERE digest = ?", (lesson.digest,))
        self._subtract("tokens", dict.fromkeys(tokens, lesson.one))
        self._subtract("levels", _count_levels([lesson]))
        self._add_total([lesson], -1)

    def _insert(self, table: str, values: Sequence[str | int]) -> None:
        """Add to what is counted, many rows by one statement: it takes half of the time."""
        whole = len(values) - len(values) % (3 * STATEMENT_ROWS)
        for n, start, stop in ((STATEMENT_ROWS, 0, whole), (1, whole, len(values))):
            rows = ", ".join(["(?, ?, ?)"] * n)
            self.connection.executemany(
                f"INSERT INTO {table} VALUES {rows} ON CONFLICT ({table[:-1]}) DO UPDATE SET"
                " ham = ham + excluded.ham, spam = spam + excluded.spam",
                (values[at : at + 3 * n] for at in range(start, stop, 3 * n)),
            )

    def _subtract(self, table: str, counts: Mapping[Key, tuple[int, int]]) -> None:
        name = table[:-1]
        rows = [(*pair, key) for key, pair in counts.items()]
        update = f"UPDATE {table} SET ham = ham - ?, spam = spam - ? WHERE {name} = ?"
        try:
            changed = self.connection.executemany(update, rows).rowcount
        except sqlite3.IntegrityError:
            changed = -1
        if changed != len(rows):
            message = f"{self.path} never counted what is to be taken back."
            raise NegativeCountError(message, hint="the store is damaged: train a new one")
        empty = f"DELETE FROM {table} WHERE {name} = ? AND ham = 0 AND spam = 0"
        self.connection.executemany(empty, [(key,) for key in counts])

    def _add_total(self, lessons: list[Lesson], sign: int) -> None:
        spam = sum(lesson.spam for lesson in lessons)
        self.connection.execute(
            "UPDATE totals SET ham = ham + ?, spam = spam + ?",
            (sign * (len(lessons) - spam), sign * spam),
        )


def _count_levels(lessons: list[Lesson]) -> dict[int, Pair]:
    levels: dict[int, Pair] = {}
    for lesson in lessons:
        if lesson.level is not None:
            levels[lesson.level] = levels.get(lesson.level, Pair(0, 0)).plus(lesson.one)
    return levels


def _flat(counts: Mapping[int, Pair]) -> list[str | int]:
    """Keys, each followed by its numbers."""
    return list(chain.from_iterable((key, *pair) for key, pair in counts.items()))
