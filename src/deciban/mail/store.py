"""The live store: one SQLite file in WAL mode, that many may read while one learns.

A lesson is one message with its class, known by the digest of the message. It is
recorded in the same transaction that counts its tokens, so a lesson is counted once
or not at all, whenever the program is killed, and taking it back subtracts exactly
what it added. SQLite's log holds the lessons since the last checkpoint, and reading
adds them up. Looking up a message reads the buckets of its own tokens and no others.

Tables
------
tokens : how many messages of ham and of spam had each token, by its hash, in buckets of about a
    hundred rows. See :mod:`deciban.kernels.buckets`.
hashing : the secret of the hashes, which nobody else knows, the number of buckets as a power of
    two, and the number of tokens.
lessons : the digest, the class and the level of every message learnt.
levels : how many lessons of ham and of spam came at each level of raw evidence, as seen
    by the model that did not know them. See :mod:`deciban.mail.model`.
totals : how many messages of ham and of spam were learnt.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from deciban.errors import NegativeCountError
from deciban.kernels import buckets as kernel
from deciban.kernels import messages as message_kernel
from deciban.kernels.lexicon import Lexicon, Tokens
from deciban.mail.model import PREFIXES, TEXT_PREFIXES, Calibration, Counts, Pair, calibrate
from deciban.mail.tables import LAYOUT, TOKEN_TABLES
from deciban.sqlite import Database

__all__ = ["Lesson", "Store"]

#: No more tokens than this are remembered from one message to the next.
MAX_REMEMBERED_TOKENS = 1 << 19
#: That is, if they have so many characters in the mean.
TOKEN_CHARACTERS = 32
#: No more buckets than these are remembered.
MAX_REMEMBERED_BUCKETS = 1 << 14
#: Tokens of a bucket in the mean, at most, and the bits of the numbers of buckets.
BUCKET_TOKENS, MAX_BUCKET_BITS = 128, 24
#: Bytes of a token in its bucket.
ROW_BYTES = 16
#: More messages than anybody has.
MAX_MESSAGES = 1 << 31
#: What one message of spam adds to a number that counts both classes; one of ham adds 1.
SPAM_UNIT = 1 << 32
#: The bits of a hash.
HASH_MASK = (1 << 64) - 1


class Lesson(NamedTuple):
    """One message learnt: its digest, its class, and the level it came at (none if unknown)."""

    digest: bytes
    spam: bool
    level: int | None = None

    @property
    def one(self) -> Pair:
        """One message of its class."""
        return Pair(0, 1) if self.spam else Pair(1, 0)

    @property
    def unit(self) -> int:
        """What it adds to the counts of a lexicon."""
        return SPAM_UNIT if self.spam else 1


class Hashing(NamedTuple):
    """The secret of the hashes, the bits of the numbers of buckets, and the number of tokens."""

    secret: int
    bits: int
    tokens: int


class Memory:
    """What was read of one state of the file.

    The counts of the lexicon are those of the first ``known`` of its tokens.
    """

    def __init__(self, state: tuple[int, int], totals: Pair, levels: dict[int, Pair]) -> None:
        self.state, self.totals, self.levels = state, totals, levels
        self.calibration: Calibration = calibrate(levels)
        self.lexicon: Lexicon | None = None
        self.known = self.forgotten = 0
        self.buckets: dict[int, bytes] = {}


class Store(Database):
    """A store that is open. Ask and change inside ``reading()`` or ``writing()``.

    Most tokens of a message are in others as well: what was read is remembered, and believed inside
    ``reading()`` as long as nobody has written since.

    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> lesson, tokens = Lesson(b"digest", True), Lexicon()
    >>> tokens.tokens(["free"]).count(lesson.unit)
    >>> with Store(f"{folder.name}/mail.db", create=True) as store:
    ...     with store.writing():
    ...         store.add([lesson], store.rows_of(tokens))
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
        if self.version() == 1:
            self._upgrade()

    def _upgrade(self) -> None:
        """Put the tokens of a store of version 1, of which each had a row, into buckets."""
        with self.writing():
            if self.version() != 1:  # another was faster
                return
            lexicon = Lexicon()
            with self._sound():
                lexicon.merge_rows(self.rows("SELECT token, ham, spam FROM tokens"))
            self.connection.execute("DROP TABLE tokens")
            self.execute_all(TOKEN_TABLES)
            self._count(self.rows_of(lexicon))
            self.connection.execute(f"PRAGMA user_version = {LAYOUT.version}")

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
        self._memory = Memory(state, self.totals(), self.levels())
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
        own, lexicon = list(tokens), Lexicon()
        lexicon.tokens(own)
        self.merge_into(lexicon)
        pairs = {
            token: (count % SPAM_UNIT, count // SPAM_UNIT)
            for token, count in zip(lexicon.texts, lexicon.counts(), strict=True)
            if count
        }
        return Counts(self.totals(), *message_kernel.known(own, pairs, TEXT_PREFIXES))

    @property
    def lexicon(self) -> Lexicon:
        """What messages are read with that are to be looked up: what was read is remembered."""
        own = self._lexicon
        if max(len(own), own.characters // TOKEN_CHARACTERS) > MAX_REMEMBERED_TOKENS:
            self._lexicon = Lexicon(PREFIXES)
        return self._lexicon

    def look_up(self, messages: Sequence[Tokens]) -> None:
        """Give the tokens of some messages, all of one lexicon, the counts of the store."""
        if not messages:
            return
        memory = self._believed or Memory((0, 0), self.totals(), {})
        lexicon = messages[0].lexicon
        if any(tokens.lexicon is not lexicon for tokens in messages):
            raise ValueError("messages that are looked up at once must be of one lexicon.")
        if memory.lexicon is not lexicon or memory.forgotten != lexicon.forgotten:
            memory.lexicon, memory.known = lexicon, 0
            lexicon.forget()
        self.merge_into(lexicon, memory.known)
        memory.known, memory.forgotten = len(lexicon), lexicon.forgotten

    def merge_into(self, lexicon: Lexicon, first: int = 0) -> None:
        """Add the counts of the store to those of a lexicon, for its tokens from a number on."""
        if first == len(lexicon) or not any(self.totals()):
            return
        hashing = self._hashing()
        keys = kernel.keys(lexicon, first, hashing.secret)
        buckets = self._believed.buckets if self._believed else {}
        if len(buckets) > MAX_REMEMBERED_BUCKETS:
            buckets.clear()
        wanted = [number for number in kernel.numbers(keys, hashing.bits) if number not in buckets]
        buckets.update(self._buckets(wanted, hashing.bits))
        kernel.merge(lexicon, first, keys, buckets, hashing.bits)

    def _hashing(self) -> Hashing:
        """How tokens are found."""
        query = "SELECT secret, bits, tokens FROM hashing"
        secret, bits, tokens = self.select_one(query, (int, int, int))
        if not (0 <= bits <= MAX_BUCKET_BITS and tokens >= 0):
            raise self.damage(f"{tokens} tokens in buckets by {bits} bits")
        return Hashing(secret & HASH_MASK, bits, tokens)

    def _buckets(self, numbers: list[int], bits: int) -> dict[int, bytes]:
        """The rows of these buckets, by their numbers."""
        buckets = dict.fromkeys(numbers, b"")
        query = "SELECT bucket, rows FROM json_each(?) CROSS JOIN tokens ON bucket = value"
        for number, rows in self.select(query, (int, bytes), (json.dumps(numbers),)):
            with self._sound():
                kernel.check(rows, number, bits)
            buckets[number] = rows
        return buckets

    @contextmanager
    def _sound(self) -> Iterator[None]:
        """Rows that nobody can have written are damage."""
        try:
            yield
        except ValueError as error:
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
        return self._hashing().tokens

    # Changes

    def rows_of(self, tokens: Lexicon) -> bytes:
        """The tokens that have a count, as they are kept here."""
        return kernel.counted(tokens, self._hashing().secret)

    def add(self, lessons: list[Lesson], tokens: bytes) -> None:
        """Record lessons that are not known yet, and count the tokens of all of them."""
        self._count(tokens)
        # Those in order are inserted faster, and so is what SQLite itself has, such as an int.
        rows = sorted((digest, int(spam), level) for digest, spam, level in lessons)
        self.connection.executemany("INSERT INTO lessons VALUES (?, ?, ?)", rows)
        self.connection.executemany(
            "INSERT INTO levels VALUES (?, ?, ?) ON CONFLICT (level) DO UPDATE SET"
            " ham = ham + excluded.ham, spam = spam + excluded.spam",
            [(at, *pair) for at, pair in _count_levels(lessons).items()],
        )
        self._add_total(lessons, 1)

    def _count(self, rows: bytes) -> None:
        """Add to the counts of tokens."""
        hashing = self._make_room(len(rows) // ROW_BYTES)
        parts = dict(kernel.cut(rows, hashing.bits))
        before = self._buckets(list(parts), hashing.bits)
        with self._sound():
            after = {number: kernel.add(before[number], own) for number, own in parts.items()}
        self._write(hashing, before, after)

    def take(self, lesson: Lesson, tokens: Iterable[str]) -> None:
        """Take back a lesson, and everything that it added."""
        lexicon, hashing = Lexicon(), self._hashing()
        lexicon.tokens(tokens).count(lesson.unit)
        parts = dict(kernel.cut(self.rows_of(lexicon), hashing.bits))
        before = self._buckets(list(parts), hashing.bits)
        after: dict[int, bytes] = {}
        for number, rows in parts.items():
            left = kernel.subtract(before[number], rows)
            if left is None:
                raise self._never_counted()
            after[number] = left
        self._write(hashing, before, after)
        query = "DELETE FROM lessons WHERE digest = ?"
        changed = self.connection.execute(query, (lesson.digest,)).rowcount
        if lesson.level is not None:
            changed += self.connection.execute(
                "UPDATE levels SET ham = ham - ?, spam = spam - ? WHERE level = ?"
                " AND ham >= ? AND spam >= ?",
                (*lesson.one, lesson.level, *lesson.one),
            ).rowcount
            self.connection.execute("DELETE FROM levels WHERE ham = 0 AND spam = 0")
        if changed != 1 + (lesson.level is not None):
            raise self._never_counted()
        self._add_total([lesson], -1)

    def _never_counted(self) -> NegativeCountError:
        message = f"{self.path} never counted what is to be taken back."
        return NegativeCountError(message, hint="the store is damaged: train a new one")

    def _make_room(self, tokens: int) -> Hashing:
        """More buckets, if those that there are would be too full with so many tokens more."""
        hashing = self._hashing()
        bits = hashing.bits
        while hashing.tokens + tokens > BUCKET_TOKENS << bits and bits < MAX_BUCKET_BITS:
            bits += 1
        if bits > hashing.bits:
            rows = b"".join(self._buckets(list(range(1 << hashing.bits)), hashing.bits).values())
            self.connection.execute("DELETE FROM tokens")
            self._replace(dict(kernel.cut(rows, bits)))
            self.connection.execute("UPDATE hashing SET bits = ?", (bits,))
        return hashing._replace(bits=bits)

    def _write(self, hashing: Hashing, before: dict[int, bytes], after: dict[int, bytes]) -> None:
        """Write buckets that have changed."""
        self._replace(after)
        more = sum(map(len, after.values())) - sum(map(len, before.values()))
        tokens = hashing.tokens + more // ROW_BYTES
        self.connection.execute("UPDATE hashing SET tokens = ?", (tokens,))

    def _replace(self, buckets: dict[int, bytes]) -> None:
        """Write buckets; one that is empty has no row."""
        query = "INSERT OR REPLACE INTO tokens VALUES (?, ?)"
        self.connection.executemany(query, [item for item in buckets.items() if item[1]])
        empty = [(number,) for number, rows in buckets.items() if not rows]
        self.connection.executemany("DELETE FROM tokens WHERE bucket = ?", empty)

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
