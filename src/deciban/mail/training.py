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
from deciban.kernels.lexicon import Lexicon, Tokens
from deciban.mail.copies import group, signature
from deciban.mail.envelope import canonical, digest
from deciban.mail.garbage import rare_collections
from deciban.mail.lessons import read
from deciban.mail.mailboxes import Place
from deciban.mail.mailboxes import read as contents
from deciban.mail.model import PREFIXES, TEXT_PREFIXES, Pair, level, summarize_left
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

LabelledPlace: TypeAlias = tuple[Place, bool]
Task: TypeAlias = tuple[Place, Lesson]
#: The levels of messages by their digests.
Levels: TypeAlias = dict[bytes, int]
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

    totals: Pair
    tokens: Tokens
    block: array[int]
    copies: Pair


class Total(NamedTuple):
    """The counts of all batches, and the sample of each of them with its class totals."""

    lessons: list[Lesson]
    tokens: Lexicon
    sample: list[tuple[Pair, list[Sampled]]]


@rare_collections()
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
        levels = _levels(store, total)
        lessons = [lesson._replace(level=levels.get(lesson.digest)) for lesson in total.lessons]
        store.add(lessons, total.tokens.rows())
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
    total = Total([], Lexicon(), [])
    for batch in run(_count_batch, _batches(tasks, size), repeat(every)):
        total.lessons.extend(batch.lessons)
        total.tokens.merge(batch.tokens, batch.counts)
        total.sample.append((_class_totals(batch.lessons), batch.sample))
    return total


def _levels(store: Store, total: Total) -> Levels:
    """The levels of the sample, by all counts that are left without blocks and near copies."""
    lexicon = Lexicon(PREFIXES)
    sample = [
        (block, own, lexicon.tokens(own.tokens)) for block, some in total.sample for own in some
    ]
    tokens = [message for _, _, message in sample]
    store.look_up(tokens)
    lexicon.merge(lexicon.texts, total.tokens.counts(lexicon.texts))
    totals = store.totals().plus(_class_totals(total.lessons))
    if not all(totals):  # there is nothing to tell apart
        return {}
    levels: Levels = {}
    for number, copies in _copies(total, tokens).items():
        block, own, message = sample[number]
        left = totals.minus(block).minus(copies)
        levels[own.lesson.digest] = _level(LeftOut(left, message, own.counts, copies))
    return levels


def _copies(total: Total, tokens: list[Tokens]) -> dict[int, Pair]:
    """Of the sample, the first of all near copies, and how many copies there are.

    The copies are those in other blocks, as many as there would be if all messages were sampled.
    """
    rows = [(at, own.lesson) for at, (_, block) in enumerate(total.sample) for own in block]
    first = group([signature(kernel.texts(own, len(TEXT_PREFIXES))) for own in tokens])
    copies: dict[int, Pair] = {}
    for (at, lesson), one in zip(rows, first, strict=True):
        outside = lesson.one if at != rows[one][0] else Pair(0, 0)
        copies[one] = copies.get(one, Pair(0, 0)).plus(outside)
    scale = len(total.lessons) / max(1, len(rows))
    return {
        one: Pair(round(ham * scale), round(spam * scale)) for one, (ham, spam) in copies.items()
    }


def _level(row: LeftOut) -> int:
    """The level of a message; 0 if nothing of a class is left without it."""
    totals = Pair(max(0, row.totals.ham), max(0, row.totals.spam))
    counts = kernel.left(row.tokens, row.block, *row.copies)
    return level(totals, summarize_left(totals, row.tokens, counts)) or 0


def _class_totals(lessons: list[Lesson]) -> Pair:
    """The lessons of ham and of spam."""
    spam = sum(lesson.spam for lesson in lessons)
    return Pair(len(lessons) - spam, spam)


# What runs in other processes


def _batch_digests(labelled: Sequence[LabelledPlace]) -> list[tuple[bytes, float | None]]:
    messages = (canonical(contents(place)) for place, _ in labelled)
    return [(digest(message), delivery_time(message)) for message in messages]


@rare_collections()
def _count_batch(tasks: Sequence[Task], every: int) -> BatchCounts:
    """Count a batch of messages; one that has changed since its digest was taken is skipped."""
    lessons: list[Lesson] = []
    sample: list[tuple[Lesson, Tokens]] = []
    lexicon = Lexicon()
    for number, (place, lesson) in enumerate(tasks):
        message = read(contents(place), lexicon)
        if message.digest != lesson.digest:
            continue
        message.tokens.count(SPAM_UNIT if lesson.spam else 1)
        lessons.append(lesson)
        if number % every == 0:
            sample.append((lesson, message.tokens))
    own = [Sampled(lesson, list(tokens), tokens.counts()) for lesson, tokens in sample]
    return BatchCounts(lessons, lexicon.texts, lexicon.counts(), own)


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
