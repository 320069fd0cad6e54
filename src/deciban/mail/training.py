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
from contextlib import contextmanager
from itertools import chain, islice, repeat, tee
from math import inf
from typing import NamedTuple, Protocol, TypeAlias, TypeVar, cast

from deciban.kernels import messages as kernel
from deciban.kernels.lexicon import Lexicon, Tokens
from deciban.mail.copies import group, signature
from deciban.mail.envelope import canonical, digest
from deciban.mail.garbage import rare_collections
from deciban.mail.lessons import read
from deciban.mail.mailboxes import Place, size
from deciban.mail.mailboxes import read as contents
from deciban.mail.model import PREFIXES, TEXT_PREFIXES, Pair, level, summarize_left
from deciban.mail.store import Lesson, Store
from deciban.mail.times import delivery_time
from deciban.mail.tokens import tokens as tokens_of

__all__ = ["Report", "train"]

#: Messages in one transaction.
TRANSACTION_MESSAGES = 20_000
#: Messages that one process reads and counts at a time, at most.
BATCH_MESSAGES = 500
#: Other processes, if not asked for, are started where so many of the first messages have so many
#: bytes: it takes as long as reading some megabytes.
PROBED_MESSAGES, MIN_PARALLEL_BYTES = 2_000, 1 << 23
#: Blocks of a transaction, unless they were larger than that.
BLOCKS = 20
#: Messages of a transaction whose levels are computed, if none are near copies.
SAMPLE_MESSAGES = 1000
#: Bytes of messages that are kept between the two times that they are looked at, of those of a
#: batch and of all, where one process reads them.
MAX_BATCH_BYTES, MAX_KEPT_BYTES = 1 << 24, 1 << 26

LabelledPlace: TypeAlias = tuple[Place, bool]
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


class Task(NamedTuple):
    """A message to learn: where it lies, its lesson, and its canonical bytes if they are kept."""

    place: Place
    lesson: Lesson
    message: bytes | None = None


class Glance(NamedTuple):
    """A message as it is seen first: its digest, its delivery time, its bytes if they are kept."""

    digest: bytes
    time: float | None
    message: bytes | None


class Sampled(NamedTuple):
    """A message of the sample, by the places of its tokens among those of its block.

    ``counts`` are how many messages of the block had each of them.
    """

    lesson: Lesson
    places: array[int]
    counts: array[int]


class BatchCounts(NamedTuple):
    """The counts of a batch: tokens of its messages, and those that are in the sample.

    A token has one number, ``ham + 2 ** 32 * spam``: half as much to send and to add up.
    """

    lessons: list[Lesson]
    tokens: list[str]
    counts: array[int]
    sample: list[Sampled]


class BlockMessage(NamedTuple):
    """A message of the sample, with its tokens and their counts in its block."""

    block: int
    lesson: Lesson
    tokens: Tokens
    counts: array[int]


class Block(NamedTuple):
    """Messages that were counted together, and those of them that are in the sample."""

    lessons: list[Lesson]
    sample: list[BlockMessage]


class LeftOut(NamedTuple):
    """What a level is computed from: all counts, less those of the block and of near copies.

    The totals have neither already; near copies are taken to have all the tokens of the message.
    """

    totals: Pair
    tokens: Tokens
    block: array[int]
    copies: Pair


class Total(NamedTuple):
    """The counts of all blocks, the class totals of each, and the sample of all."""

    lessons: list[Lesson]
    tokens: Lexicon
    blocks: list[Pair]
    sample: list[BlockMessage]


@rare_collections()
def train(store: Store, messages: Iterable[LabelledPlace], processes: int | None = None) -> Report:
    """Learn messages that are not known yet, with so many processes, or as many as are worth it."""
    rest = iter(messages)
    first = list(islice(rest, PROBED_MESSAGES))
    with _mapping(_n_processes(first) if processes is None else processes, first) as run:
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
        late = store.known(task.lesson.digest for task in tasks)
        if late:  # another program was faster: count again, without those
            total = _count_all(run, [task for task in tasks if task.lesson.digest not in late])
        rows, levels = store.rows_of(total.tokens), _levels(store, total)
        lessons = [lesson._replace(level=levels.get(lesson.digest)) for lesson in total.lessons]
        store.add(lessons, rows)
    return _class_totals(total.lessons)


def _digests(run: Map, labelled: Iterable[LabelledPlace]) -> list[Task]:
    """Every message with its digest, in the order of delivery."""
    room = MAX_BATCH_BYTES
    if run is not map:  # what others can read is not sent to and fro
        room, labelled = 0, ((place.unread(), spam) for place, spam in labelled)
    batches, again = tee(_batches(labelled, BATCH_MESSAGES))
    tasks: list[Task] = []
    times: list[float | None] = []
    left = MAX_KEPT_BYTES
    for glances, batch in zip(run(_glance_batch, batches, repeat(room)), again, strict=True):
        for (name, time, message), (place, spam) in zip(glances, batch, strict=True):
            left -= len(message or b"")
            lesson = Lesson(name, spam)
            tasks.append(Task(place.unread(), lesson, message if left >= 0 else None))
            times.append(time)
    order = _delivery_order([task.lesson for task in tasks], times)
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
        before = store.known(task.lesson.digest for task in tasks)
    for task in tasks:
        name = task.lesson.digest
        first = before.get(name) or (chosen[name].lesson if name in chosen else None)
        if first is None:
            chosen[name] = task
        elif first.spam == task.lesson.spam:
            known += 1
        else:
            both.add(name)
    new = [task for name, task in chosen.items() if name not in both]
    return new, Report(known=known, conflicts=len(both))


def _count_all(run: Map, tasks: list[Task]) -> Total:
    """The counts of all messages; batches are added up while others are still read."""
    every = max(1, len(tasks) // SAMPLE_MESSAGES)
    size = min(BATCH_MESSAGES, -(-len(tasks) // BLOCKS))
    total = Total([], Lexicon(PREFIXES), [], [])
    batches = _batches(tasks, size)
    if run is map:
        for number, batch in enumerate(batches):
            _add_block(total, _count_block(batch, every, total.tokens, number))
    else:
        for counts in run(_count_batch, batches, repeat(every)):
            _add_block(total, _received(total, counts))
    return total


def _received(total: Total, batch: BatchCounts) -> Block:
    """A block that another process counted, by the lexicon of all."""
    numbers = total.tokens.merge(batch.tokens, batch.counts)
    block = len(total.blocks)
    messages = [
        BlockMessage(block, lesson, total.tokens.message(places, numbers), counts)
        for lesson, places, counts in batch.sample
    ]
    return Block(batch.lessons, messages)


def _add_block(total: Total, block: Block) -> None:
    """Add a block whose tokens are counted already."""
    total.lessons.extend(block.lessons)
    total.blocks.append(_class_totals(block.lessons))
    total.sample.extend(block.sample)


def _levels(store: Store, total: Total) -> Levels:
    """The levels of the sample, by all counts that are left without blocks and near copies.

    What the store has of the tokens is added to the counts.
    """
    totals = store.totals().plus(_class_totals(total.lessons))
    if not all(totals):  # there is nothing to tell apart
        return {}
    store.merge_into(total.tokens)
    levels: Levels = {}
    for number, copies in _copies(total).items():
        own = total.sample[number]
        left = totals.minus(total.blocks[own.block]).minus(copies)
        levels[own.lesson.digest] = _level(LeftOut(left, own.tokens, own.counts, copies))
    return levels


def _copies(total: Total) -> dict[int, Pair]:
    """Of the sample, the first of all near copies, and how many copies there are.

    The copies are those in other blocks, as many as there would be if all messages were sampled.
    """
    sample, texts = total.sample, len(TEXT_PREFIXES)
    first = group([signature(kernel.texts(own.tokens, texts)) for own in sample])
    copies: dict[int, Pair] = {}
    for own, one in zip(sample, first, strict=True):
        outside = own.lesson.one if own.block != sample[one].block else Pair(0, 0)
        copies[one] = copies.get(one, Pair(0, 0)).plus(outside)
    scale = len(total.lessons) / max(1, len(sample))
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


def _glance_batch(labelled: Sequence[LabelledPlace], room: int) -> list[Glance]:
    """Digests and times of messages; their bytes too, as far as there is room."""
    out: list[Glance] = []
    for place, _ in labelled:
        message = canonical(contents(place))
        room -= len(message)
        time = delivery_time(message)
        out.append(Glance(digest(message), time, message if room >= 0 else None))
    return out


@rare_collections()
def _count_batch(tasks: Sequence[Task], every: int) -> BatchCounts:
    """Count a batch of messages, by a lexicon of its own."""
    lexicon = Lexicon()
    lessons, messages = _count_block(tasks, every, lexicon, 0)
    sample = [Sampled(own.lesson, own.tokens.numbers_of(), own.counts) for own in messages]
    return BatchCounts(lessons, lexicon.texts, lexicon.counts(), sample)


def _count_block(tasks: Sequence[Task], every: int, lexicon: Lexicon, number: int) -> Block:
    """Count messages; one that has changed since its digest was taken is skipped."""
    own = [(at, task.lesson, _tokens(task, lexicon)) for at, task in enumerate(tasks)]
    messages = [(at, lesson, tokens) for at, lesson, tokens in own if tokens is not None]
    sample = [
        (lesson, tokens, tokens.counts()) for at, lesson, tokens in messages if not at % every
    ]
    for _, lesson, tokens in messages:
        tokens.count(lesson.unit)
    return Block(
        [lesson for _, lesson, _ in messages],
        [
            BlockMessage(number, lesson, tokens, tokens.counts(before))
            for lesson, tokens, before in sample
        ],
    )


def _tokens(task: Task, lexicon: Lexicon) -> Tokens | None:
    """The tokens of a message; None if it is no longer the one of its digest."""
    if task.message is not None:
        return tokens_of(task.message, lexicon)
    message = read(contents(task.place), lexicon)
    return message.tokens if message.digest == task.lesson.digest else None


def _batches(rows: Iterable[T], size: int) -> Iterator[list[T]]:
    """Consecutive rows, ``size`` at a time."""
    waiting = iter(rows)
    return iter(lambda: list(islice(waiting, size)), [])


def _n_processes(first: Sequence[LabelledPlace]) -> int:
    """How many processes are worth starting, by the first messages."""
    if sum(size(place) for place, _ in first) < MIN_PARALLEL_BYTES:
        return 1
    from deciban.threads import n_cores

    return n_cores()


@contextmanager
def _mapping(processes: int, first: Sequence[LabelledPlace]) -> Iterator[Map]:
    """``map``, in other processes if there is work for them."""
    if processes == 1 or len(first) < BATCH_MESSAGES:
        yield cast("Map", map)
        return
    from concurrent.futures import ProcessPoolExecutor  # slow to import
    from multiprocessing import get_context

    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        yield pool.map
