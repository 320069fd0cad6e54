"""Many messages at once: read by all cores, counted, and added in few transactions.

Messages are taken in the order of their digests, which mixes ham and spam whatever
the order of the folders. Each process counts its share, and shares are added up. The
levels of a sample are found by leaving each message out of the counts of all others.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from typing import Any, NamedTuple, TypeAlias

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
SHARE = 250
#: Messages of a transaction whose levels are found.
SAMPLE = 1_000

Labelled: TypeAlias = tuple[Place, bool]
Task: TypeAlias = tuple[Place, Lesson]
Map: TypeAlias = Callable[..., Iterator[Any]]


class Report(NamedTuple):
    """What became of messages: learnt, known before, or given as both ham and spam."""

    ham: int = 0
    spam: int = 0
    known: int = 0
    conflicts: int = 0


class Share(NamedTuple):
    """What a process counted: tokens of its messages, and all tokens of those in the sample."""

    lessons: list[Lesson]
    tokens: dict[str, Pair]
    sample: dict[bytes, list[str]]


def train(store: Store, messages: Iterable[Labelled], processes: int | None = None) -> Report:
    """Learn messages that are not known yet."""
    labelled = list(messages)
    with _mapping(processes, len(labelled)) as run:
        tasks, report = _unknown(store, _digests(run, labelled))
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
    shares = _counted(run, tasks)
    with store.writing():
        late = {task[1].digest for task in tasks if store.lesson(task[1].digest)}
        if late:  # another program was faster: count again, without those
            shares = _counted(run, [task for task in tasks if task[1].digest not in late])
        lessons, tokens, sample = _merged(shares)
        found = _levels(store, lessons, tokens, sample)
        store.add([lesson._replace(level=found.get(lesson.digest)) for lesson in lessons], tokens)
    return _numbers(lessons)


def _digests(run: Map, labelled: list[Labelled]) -> list[Task]:
    """Every message with its digest, in the order of the digests."""
    shares = run(_named, _shares(labelled))
    return sorted((task for share in shares for task in share), key=lambda task: task[1].digest)


def _unknown(store: Store, tasks: list[Task]) -> tuple[list[Task], Report]:
    """The messages to learn: each once, none that is known, none that is both ham and spam."""
    chosen: dict[bytes, Task] = {}
    both, known = set(), 0
    with store.reading():
        for place, lesson in tasks:
            before = store.lesson(lesson.digest)
            first = before or (chosen[lesson.digest][1] if lesson.digest in chosen else None)
            if first is None:
                chosen[lesson.digest] = (place, lesson)
            elif first.spam == lesson.spam:
                known += 1
            else:
                both.add(lesson.digest)
    wanted = [task for name, task in chosen.items() if name not in both]
    return wanted, Report(known=known, conflicts=len(both))


def _counted(run: Map, tasks: list[Task]) -> list[Share]:
    every = max(1, len(tasks) // SAMPLE)
    shares = list(_shares(tasks))
    return list(run(_count, shares, [every] * len(shares)))


def _merged(shares: list[Share]) -> Share:
    lessons, tokens, sample = shares[0] if shares else Share([], {}, {})
    for share in shares[1:]:
        lessons += share.lessons
        sample |= share.sample
        _add(tokens, share.tokens.items())
    return Share(lessons, tokens, sample)


def _add(total: dict[str, Pair], more: Iterable[tuple[str, Pair]]) -> None:
    for token, pair in more:
        before = total.get(token)
        total[token] = pair if before is None else Pair(before[0] + pair[0], before[1] + pair[1])


def _levels(
    store: Store, lessons: list[Lesson], tokens: dict[str, Pair], sample: dict[bytes, list[str]]
) -> dict[bytes, int | None]:
    """The level of each message of the sample, as if it alone had not been learnt."""
    before = store.counts({token for each in sample.values() for token in each})
    totals = before.totals.plus(_numbers(lessons))
    empty, found = Pair(0, 0), {}
    for lesson in lessons:
        if lesson.digest in sample:
            own = sample[lesson.digest]
            counts = {t: tokens[t].plus(before.tokens.get(t, empty)) for t in own}
            found[lesson.digest] = level(left_out(Counts(totals, counts), lesson))
    return found


def _numbers(lessons: list[Lesson]) -> Pair:
    spam = sum(lesson.spam for lesson in lessons)
    return Pair(len(lessons) - spam, spam)


# What runs in other processes


def _named(labelled: Sequence[Labelled]) -> list[Task]:
    return [(place, Lesson(digest(canonical(contents(place))), spam)) for place, spam in labelled]


def _count(tasks: Sequence[Task], every: int) -> Share:
    """Count a share of the messages; one that has changed since it was named is left out."""
    share = Share([], {}, {})
    sides: tuple[dict[str, int], dict[str, int]] = ({}, {})
    for number, (place, lesson) in enumerate(tasks):
        message = read(contents(place))
        if message.digest != lesson.digest:
            continue
        share.lessons.append(lesson)
        side = sides[lesson.spam]
        for token in message.tokens:
            side[token] = side.get(token, 0) + 1
        if number % every == 0:
            share.sample[lesson.digest] = list(message.tokens)
    ham, spam = sides
    pairs = ((token, Pair(ham.get(token, 0), spam.get(token, 0))) for token in {**ham, **spam})
    return share._replace(tokens=dict(pairs))


def _shares(rows: Sequence[Any]) -> Iterator[Sequence[Any]]:
    return (rows[start : start + SHARE] for start in range(0, len(rows), SHARE))


@contextmanager
def _mapping(processes: int | None, messages: int) -> Iterator[Map]:
    """``map``, in other processes if there is work for them."""
    wanted = min(processes or len(os.sched_getaffinity(0)), -(-messages // SHARE))
    if wanted < 2:
        yield map
        return
    with ProcessPoolExecutor(wanted, mp_context=get_context("spawn")) as pool:
        yield pool.map
