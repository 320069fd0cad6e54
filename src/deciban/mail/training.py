"""Many messages at once: read by all cores, counted, and added in few transactions.

Messages are taken in the order of their digests, which mixes ham and spam whatever
the order of the folders. Each process counts a batch, and the counts are added up. The
levels of a sample are those of leave-one-out: of each message by the counts of all others.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from itertools import chain, islice, repeat, tee
from multiprocessing import get_context
from typing import NamedTuple, Protocol, TypeAlias, TypeVar, cast

from deciban.kernels.frequencies import Frequencies
from deciban.mail.envelope import canonical, digest
from deciban.mail.lessons import leave_one_out, read
from deciban.mail.mailboxes import Place
from deciban.mail.mailboxes import read as contents
from deciban.mail.model import Counts, Pair, level
from deciban.mail.store import Lesson, Store
from deciban.threads import n_cores

__all__ = ["Report", "train"]

#: Messages in one transaction.
TRANSACTION_MESSAGES = 20_000
#: Messages that one process reads and counts at a time.
BATCH_MESSAGES = 500
#: Messages of a transaction whose levels are computed.
SAMPLE_MESSAGES = 500
#: What one message of spam adds to a number that counts both classes; one of ham adds 1.
SPAM_UNIT = 1 << 32

LabelledPlace: TypeAlias = tuple[Place, bool]
Task: TypeAlias = tuple[Place, Lesson]
#: The level of a message, by its digest.
Levels: TypeAlias = dict[bytes, int | None]
T = TypeVar("T")


class Map(Protocol):
    """``map``, in this process or in others."""

    def __call__(
        self, function: Callable[..., T], /, *iterables: Iterable[object]
    ) -> Iterator[T]: ...


class Report(NamedTuple):
    """What became of messages: learnt, known before, or given as both ham and spam."""

    ham: int = 0
    spam: int = 0
    known: int = 0
    conflicts: int = 0


class BatchCounts(NamedTuple):
    """The counts of a batch: tokens of its messages, and all tokens of those in the sample.

    A token has one number, ``ham + SPAM_UNIT * spam``: half as much to send and to add up.
    """

    lessons: list[Lesson]
    tokens: list[str]
    counts: array[int]
    sample: dict[bytes, list[str]]


class Total(NamedTuple):
    """The counts of all batches."""

    lessons: list[Lesson]
    tokens: Frequencies
    sample: dict[bytes, list[str]]

    def pairs(self, tokens: list[str]) -> dict[str, tuple[int, int]]:
        """How many messages of ham and of spam had each of these tokens."""
        counts = self.tokens.counts(tokens)
        return {t: (n % SPAM_UNIT, n // SPAM_UNIT) for t, n in zip(tokens, counts, strict=True)}


def train(store: Store, messages: Iterable[LabelledPlace], processes: int | None = None) -> Report:
    """Learn messages that are not known yet."""
    rest = iter(messages)
    first = list(islice(rest, BATCH_MESSAGES))
    with _mapping(processes, len(first) == BATCH_MESSAGES) as run:
        tasks, report = _select_new(store, _digests(run, chain(first, rest)))
        for start in range(0, len(tasks), TRANSACTION_MESSAGES):
            batch = tasks[start : start + TRANSACTION_MESSAGES]
            ham, spam = _learn_batch(store, run, batch)
            missed = len(batch) - ham - spam
            report = report._replace(
                ham=report.ham + ham, spam=report.spam + spam, known=report.known + missed
            )
    return report


def _learn_batch(store: Store, run: Map, tasks: list[Task]) -> Pair:
    """Learn messages in one transaction; how many of each class."""
    total = _count_all(run, tasks)
    with store.writing():
        late = store.known(lesson.digest for _, lesson in tasks)
        if late:  # another program was faster: count again, without those
            total = _count_all(run, [task for task in tasks if task[1].digest not in late])
        levels = _levels(store, run, total)  # by other processes, while tokens are written
        store.add(_with_levels(levels, total.lessons), total.pairs(total.tokens.texts))
    return _class_totals(total.lessons)


def _digests(run: Map, labelled: Iterable[LabelledPlace]) -> list[Task]:
    """Every message with its digest, in the order of the digests."""
    batches, again = tee(_batches(labelled, BATCH_MESSAGES))
    tasks = [
        (place, Lesson(digest, spam))
        for digests, batch in zip(run(_batch_digests, batches), again, strict=True)
        for digest, (place, spam) in zip(digests, batch, strict=True)
    ]
    return sorted(tasks, key=lambda task: task[1].digest)


def _select_new(store: Store, tasks: list[Task]) -> tuple[list[Task], Report]:
    """The messages to learn: each once, none that is known, none that is both ham and spam."""
    chosen: dict[bytes, Task] = {}
    both, known = set(), 0
    with store.reading():
        before = store.known(lesson.digest for _, lesson in tasks)
    for place, lesson in tasks:
        name = lesson.digest
        first = before.get(name) or (chosen[name][1] if name in chosen else None)
        if first is None:
            chosen[name] = (place, lesson)
        elif first.spam == lesson.spam:
            known += 1
        else:
            both.add(name)
    new = [task for name, task in chosen.items() if name not in both]
    return new, Report(known=known, conflicts=len(both))


def _count_all(run: Map, tasks: list[Task]) -> Total:
    """The counts of all messages; batches are added up while others are still read."""
    every = max(1, len(tasks) // SAMPLE_MESSAGES)
    total = Total([], Frequencies(), {})
    for batch in run(_count_batch, _batches(tasks, BATCH_MESSAGES), repeat(every)):
        total.lessons.extend(batch.lessons)
        total.tokens.merge(batch.tokens, batch.counts)
        total.sample.update(batch.sample)
    return total


def _levels(store: Store, run: Map, total: Total) -> Iterator[Levels]:
    """The level of each message of the sample, as if it alone had not been learnt."""
    counts = total.pairs(list({token for own in total.sample.values() for token in own}))
    before = store.counts(counts)
    for token, (ham, spam) in before.tokens.items():
        more = counts[token]
        counts[token] = (ham + more[0], spam + more[1])
    totals = before.totals.plus(_class_totals(total.lessons))
    rows = (
        (lesson, Counts(totals, {token: counts[token] for token in total.sample[lesson.digest]}))
        for lesson in total.lessons
        if lesson.digest in total.sample
    )
    return run(_batch_levels, _batches(rows, SAMPLE_MESSAGES // 4))


def _with_levels(levels: Iterable[Levels], lessons: list[Lesson]) -> Iterator[Lesson]:
    """The lessons with their levels; these are waited for when the first lesson is asked for."""
    by_digest = {name: level for batch in levels for name, level in batch.items()}
    for lesson in lessons:
        yield lesson._replace(level=by_digest.get(lesson.digest))


def _class_totals(lessons: list[Lesson]) -> Pair:
    """The lessons of ham and of spam."""
    spam = sum(lesson.spam for lesson in lessons)
    return Pair(len(lessons) - spam, spam)


# What runs in other processes


def _batch_digests(labelled: Sequence[LabelledPlace]) -> list[bytes]:
    return [digest(canonical(contents(place))) for place, _ in labelled]


def _count_batch(tasks: Sequence[Task], every: int) -> BatchCounts:
    """Count a batch of messages; one that has changed since its digest was taken is skipped."""
    batch = BatchCounts([], [], array("q"), {})
    frequencies = Frequencies()
    for number, (place, lesson) in enumerate(tasks):
        message = read(contents(place))
        if message.digest != lesson.digest:
            continue
        tokens = list(message.tokens)
        frequencies.add(tokens, SPAM_UNIT if lesson.spam else 1)
        batch.lessons.append(lesson)
        if number % every == 0:
            batch.sample[lesson.digest] = tokens
    texts = frequencies.texts
    return batch._replace(tokens=texts, counts=frequencies.counts(texts))


def _batch_levels(rows: Sequence[tuple[Lesson, Counts]]) -> Levels:
    return {lesson.digest: level(leave_one_out(counts, lesson)) for lesson, counts in rows}


def _batches(rows: Iterable[T], size: int) -> Iterator[list[T]]:
    """Consecutive rows, ``size`` at a time."""
    waiting = iter(rows)
    return iter(lambda: list(islice(waiting, size)), [])


@contextmanager
def _mapping(processes: int | None, many: bool) -> Iterator[Map]:
    """``map``, in other processes if there is work for them."""
    workers = processes or n_cores()
    if workers < 2 or not many:
        yield cast("Map", map)
        return
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        yield pool.map
