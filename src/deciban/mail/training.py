"""Many messages at once: read by all cores, counted, and added in few transactions.

Messages are taken in the order of their digests, which mixes ham and spam whatever
the order of the folders. Each process counts its share, and shares are added up. The
levels of a sample are found by leaving each message out of the counts of all others.
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from itertools import chain, islice, repeat, tee
from multiprocessing import get_context
from typing import Any, NamedTuple, TypeAlias, TypeVar

from deciban.kernels.frequencies import Frequencies
from deciban.mail.envelope import canonical, digest
from deciban.mail.lessons import left_out, read
from deciban.mail.mailboxes import Place
from deciban.mail.mailboxes import read as contents
from deciban.mail.model import Counts, Pair, level
from deciban.mail.store import Lesson, Store

__all__ = ["Report", "train"]

#: Messages in one transaction.
TOGETHER = 20_000
#: Messages that one process reads at a time.
SHARE = 500
#: Messages of a transaction whose levels are found.
SAMPLE = 500
#: A message of spam, in numbers that count both classes.
SPAM = 1 << 32

Labelled: TypeAlias = tuple[Place, bool]
Task: TypeAlias = tuple[Place, Lesson]
Map: TypeAlias = Callable[..., Iterator[Any]]
_Row = TypeVar("_Row")


class Report(NamedTuple):
    """What became of messages: learnt, known before, or given as both ham and spam."""

    ham: int = 0
    spam: int = 0
    known: int = 0
    conflicts: int = 0


class Share(NamedTuple):
    """What a process counted: tokens of its messages, and all tokens of those in the sample.

    A token has one number, ``ham + SPAM * spam``: half as much to send and to add up.
    """

    lessons: list[Lesson]
    tokens: list[str]
    counts: array[int]
    sample: dict[bytes, list[str]]


class Total(NamedTuple):
    """All shares together."""

    lessons: list[Lesson]
    tokens: Frequencies
    sample: dict[bytes, list[str]]

    def pairs(self, tokens: list[str]) -> dict[str, tuple[int, int]]:
        """How many messages of ham and of spam had each of these tokens."""
        counts = self.tokens.counts(tokens)
        return {t: (n % SPAM, n // SPAM) for t, n in zip(tokens, counts, strict=True)}


def train(store: Store, messages: Iterable[Labelled], processes: int | None = None) -> Report:
    """Learn messages that are not known yet."""
    waiting = iter(messages)
    first = list(islice(waiting, SHARE))
    with _mapping(processes, len(first) == SHARE) as run:
        tasks, report = _unknown(store, _digests(run, chain(first, waiting)))
        for start in range(0, len(tasks), TOGETHER):
            part = tasks[start : start + TOGETHER]
            ham, spam = _together(store, run, part)
            missed = len(part) - ham - spam
            report = report._replace(
                ham=report.ham + ham, spam=report.spam + spam, known=report.known + missed
            )
    return report


def _together(store: Store, run: Map, tasks: list[Task]) -> Pair:
    """Learn messages in one transaction; how many of each class."""
    total = _counted(run, tasks)
    with store.writing():
        late = store.known(lesson.digest for _, lesson in tasks)
        if late:  # another program was faster: count again, without those
            total = _counted(run, [task for task in tasks if task[1].digest not in late])
        levels = _levels(store, run, total)  # found by others while tokens are written
        store.add(_at(levels, total.lessons), total.pairs(total.tokens.texts))
    return _numbers(total.lessons)


def _digests(run: Map, labelled: Iterable[Labelled]) -> list[Task]:
    """Every message with its digest, in the order of the digests."""
    shares, again = tee(_shares(labelled, SHARE))
    tasks = [
        (place, Lesson(digest, spam))
        for digests, share in zip(run(_named, shares), again, strict=True)
        for digest, (place, spam) in zip(digests, share, strict=True)
    ]
    return sorted(tasks, key=lambda task: task[1].digest)


def _unknown(store: Store, tasks: list[Task]) -> tuple[list[Task], Report]:
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
    wanted = [task for name, task in chosen.items() if name not in both]
    return wanted, Report(known=known, conflicts=len(both))


def _counted(run: Map, tasks: list[Task]) -> Total:
    """The counts of all messages; shares are added up while others are still read."""
    every = max(1, len(tasks) // SAMPLE)
    total = Total([], Frequencies(), {})
    for share in run(_count, _shares(tasks, SHARE), repeat(every)):
        total.lessons.extend(share.lessons)
        total.tokens.merge(share.tokens, share.counts)
        total.sample.update(share.sample)
    return total


def _levels(store: Store, run: Map, total: Total) -> Iterator[dict[bytes, int | None]]:
    """The level of each message of the sample, as if it alone had not been learnt."""
    counts = total.pairs(list({token for own in total.sample.values() for token in own}))
    before = store.counts(counts)
    for token, (ham, spam) in before.tokens.items():
        more = counts[token]
        counts[token] = (ham + more[0], spam + more[1])
    totals = before.totals.plus(_numbers(total.lessons))
    rows = (
        (lesson, Counts(totals, {token: counts[token] for token in total.sample[lesson.digest]}))
        for lesson in total.lessons
        if lesson.digest in total.sample
    )
    return run(_leveled, _shares(rows, SAMPLE // 4))


def _at(levels: Iterable[dict[bytes, int | None]], lessons: list[Lesson]) -> Iterator[Lesson]:
    """The lessons with their levels; these are waited for when the first lesson is asked for."""
    found = {name: level for part in levels for name, level in part.items()}
    for lesson in lessons:
        yield lesson._replace(level=found.get(lesson.digest))


def _numbers(lessons: list[Lesson]) -> Pair:
    spam = sum(lesson.spam for lesson in lessons)
    return Pair(len(lessons) - spam, spam)


# What runs in other processes


def _named(labelled: Sequence[Labelled]) -> list[bytes]:
    return [digest(canonical(contents(place))) for place, _ in labelled]


def _count(tasks: Sequence[Task], every: int) -> Share:
    """Count a share of the messages; one that has changed since it was named is left out."""
    share = Share([], [], array("q"), {})
    counted = Frequencies()
    for number, (place, lesson) in enumerate(tasks):
        message = read(contents(place))
        if message.digest != lesson.digest:
            continue
        tokens = list(message.tokens)
        counted.add(tokens, SPAM if lesson.spam else 1)
        share.lessons.append(lesson)
        if number % every == 0:
            share.sample[lesson.digest] = tokens
    return share._replace(tokens=counted.texts, counts=counted.counts(counted.texts))


def _leveled(rows: Sequence[tuple[Lesson, Counts]]) -> dict[bytes, int | None]:
    return {lesson.digest: level(left_out(counts, lesson)) for lesson, counts in rows}


def _shares(rows: Iterable[_Row], size: int) -> Iterator[list[_Row]]:
    waiting = iter(rows)
    return iter(lambda: list(islice(waiting, size)), [])


@contextmanager
def _mapping(processes: int | None, many: bool) -> Iterator[Map]:
    """``map``, in other processes if there is work for them."""
    wanted = processes or len(os.sched_getaffinity(0))
    if wanted < 2 or not many:
        yield map
        return
    with ProcessPoolExecutor(wanted, mp_context=get_context("spawn")) as pool:
        yield pool.map
