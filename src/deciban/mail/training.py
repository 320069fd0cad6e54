"""Many messages at once: read by all cores, counted, and added in few transactions.

Messages are taken in the order of their delivery, or in that in which they were given where they do
not say. Each process counts a block of consecutive ones, and the counts are added up. The
levels are those of a sample, and each is computed by counts without the whole block of its message,
since tomorrow's mail is not today's, and without its near copies in other blocks. Of near copies
only the first has a level: a campaign that was seen a thousand times was seen once.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from itertools import chain, islice, repeat, tee
from math import inf
from multiprocessing import get_context
from typing import NamedTuple, Protocol, TypeAlias, TypeVar, cast

from deciban.kernels import messages as kernel
from deciban.kernels.frequencies import Frequencies
from deciban.mail.copies import group, signature
from deciban.mail.envelope import canonical, digest
from deciban.mail.lessons import read
from deciban.mail.mailboxes import Place
from deciban.mail.mailboxes import read as contents
from deciban.mail.model import TEXT_PREFIXES, Counts, Pair, level
from deciban.mail.store import Lesson, Store
from deciban.mail.times import delivery_time
from deciban.threads import n_cores

__all__ = ["Report", "train"]

#: Messages in one transaction.
TRANSACTION_MESSAGES = 20_000
#: Messages that one process reads and counts at a time, at most.
BATCH_MESSAGES = 500
#: Blocks of a transaction, unless they were larger than that.
BLOCKS = 20
#: Messages of a transaction whose levels are computed, if none are near copies.
SAMPLE_MESSAGES = 1000
#: What one message of spam adds to a number that counts both classes; one of ham adds 1.
SPAM_UNIT = 1 << 32
HAM_BITS = SPAM_UNIT - 1

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


class Sampled(NamedTuple):
    """A message of the sample: its tokens, and how many messages of its block had each of them."""

    lesson: Lesson
    tokens: list[str]
    counts: array[int]


class BatchCounts(NamedTuple):
    """The counts of a batch: tokens of its messages, and those that are in the sample.

    A token has one number, ``ham + SPAM_UNIT * spam``: half as much to send and to add up.
    """

    lessons: list[Lesson]
    tokens: list[str]
    counts: array[int]
    sample: list[Sampled]


class LeftOut(NamedTuple):
    """What a level is computed from: all counts, less those of the block and of near copies.

    The totals have neither already; near copies are taken to have all the tokens of the message.
    """

    digest: bytes
    totals: Pair
    tokens: list[str]
    counts: array[int]
    block: array[int]
    copies: Pair


class Total(NamedTuple):
    """The counts of all batches, and the sample of each of them with its class totals."""

    lessons: list[Lesson]
    tokens: Frequencies
    sample: list[tuple[Pair, list[Sampled]]]

    def pairs(self, tokens: list[str]) -> dict[str, tuple[int, int]]:
        """How many messages of ham and of spam had each of these tokens."""
        counts = self.tokens.counts(tokens)
        return {t: (n & HAM_BITS, n >> 32) for t, n in zip(tokens, counts, strict=True)}


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
    """Every message with its digest, in the order of delivery."""
    batches, again = tee(_batches(labelled, BATCH_MESSAGES))
    tasks: list[Task] = []
    times: list[float | None] = []
    for seen, batch in zip(run(_batch_digests, batches), again, strict=True):
        for (name, time), (place, spam) in zip(seen, batch, strict=True):
            tasks.append((place, Lesson(name, spam)))
            times.append(time)
    order = _delivery_order([lesson for _, lesson in tasks], times)
    return [tasks[number] for number in order]


def _delivery_order(lessons: list[Lesson], times: list[float | None]) -> list[int]:
    """The numbers of messages in the order of their delivery.

    One without a time comes at that of the message before it in its class. As long as there is
    none, ham and spam come side by side, each in its own order.
    """
    totals, places, clock = _class_totals(lessons), [0, 0], [-inf, -inf]
    keys: list[tuple[float, float, bytes]] = []
    for lesson, time in zip(lessons, times, strict=True):
        if time is not None:
            clock[lesson.spam] = time
        place = places[lesson.spam] / totals[lesson.spam] if time is None else 0.0
        keys.append((clock[lesson.spam], place, lesson.digest))
        places[lesson.spam] += 1
    return sorted(range(len(keys)), key=keys.__getitem__)


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
    size = min(BATCH_MESSAGES, -(-len(tasks) // BLOCKS))
    total = Total([], Frequencies(), [])
    for batch in run(_count_batch, _batches(tasks, size), repeat(every)):
        total.lessons.extend(batch.lessons)
        total.tokens.merge(batch.tokens, batch.counts)
        total.sample.append((_class_totals(batch.lessons), batch.sample))
    return total


def _levels(store: Store, run: Map, total: Total) -> Iterator[Levels]:
    """The levels of the sample, by all counts that are left without blocks and near copies."""
    tokens = list({token for _, block in total.sample for own in block for token in own.tokens})
    known = Frequencies()
    known.merge(tokens, total.tokens.counts(tokens))
    before = store.counts(tokens)
    known.merge(list(before.tokens), array("q", map(_number, before.tokens.values())))
    totals = before.totals.plus(_class_totals(total.lessons))
    if not all(totals):  # there is nothing to tell apart
        return iter(())
    rows = (
        LeftOut(
            own.lesson.digest,
            totals.minus(block).minus(copies),
            own.tokens,
            known.counts(own.tokens),
            own.counts,
            copies,
        )
        for block, own, copies in _without_copies(total)
    )
    return run(_batch_levels, _batches(rows, SAMPLE_MESSAGES // 4))


def _without_copies(total: Total) -> Iterator[tuple[Pair, Sampled, Pair]]:
    """The first of all near copies of the sample: class totals of its block, it, and its copies.

    The copies are those in other blocks, as many as there would be if all messages were sampled.
    """
    rows = [(at, own) for at, (_, block) in enumerate(total.sample) for own in block]
    first = group([signature(kernel.texts(own.tokens, TEXT_PREFIXES)) for _, own in rows])
    scale = len(total.lessons) / max(1, len(rows))
    copies: dict[int, Pair] = {}
    for (at, own), one in zip(rows, first, strict=True):
        outside = own.lesson.one if at != rows[one][0] else Pair(0, 0)
        copies[one] = copies.get(one, Pair(0, 0)).plus(outside)
    for one, (ham, spam) in copies.items():
        at, own = rows[one]
        yield total.sample[at][0], own, Pair(round(ham * scale), round(spam * scale))


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


def _batch_digests(labelled: Sequence[LabelledPlace]) -> list[tuple[bytes, float | None]]:
    messages = (canonical(contents(place)) for place, _ in labelled)
    return [(digest(message), delivery_time(message)) for message in messages]


def _count_batch(tasks: Sequence[Task], every: int) -> BatchCounts:
    """Count a batch of messages; one that has changed since its digest was taken is skipped."""
    lessons: list[Lesson] = []
    sample: list[tuple[Lesson, list[str]]] = []
    frequencies = Frequencies()
    for number, (place, lesson) in enumerate(tasks):
        message = read(contents(place))
        if message.digest != lesson.digest:
            continue
        tokens = list(message.tokens)
        frequencies.add(tokens, SPAM_UNIT if lesson.spam else 1)
        lessons.append(lesson)
        if number % every == 0:
            sample.append((lesson, tokens))
    own = [Sampled(lesson, tokens, frequencies.counts(tokens)) for lesson, tokens in sample]
    texts = frequencies.texts
    return BatchCounts(lessons, texts, frequencies.counts(texts), own)


def _batch_levels(rows: Sequence[LeftOut]) -> Levels:
    """Levels; that of a message is 0 if nothing of a class is left without it."""
    return {row.digest: level(_left_counts(row)) or 0 for row in rows}


def _left_counts(row: LeftOut) -> Counts:
    """The counts of a message's tokens without its block and its near copies."""
    known, unknown = kernel.left(row.tokens, row.counts, row.block, *row.copies, TEXT_PREFIXES)
    return Counts(Pair(max(0, row.totals.ham), max(0, row.totals.spam)), known, unknown)


def _number(pair: tuple[int, int]) -> int:
    """One number for messages of ham and of spam."""
    ham, spam = pair
    return ham + SPAM_UNIT * spam


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
