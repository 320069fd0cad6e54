"""Many messages at once: read by all cores, counted, and added in few transactions.

Messages are taken in the order of their digests, which mixes ham and spam whatever
the order of the folders. Each process counts its share, and shares are added up. The
levels of a sample are found by leaving each message out of the counts of all others.
"""

from __future__ import annotations

import os
from collections import Counter
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
#: Messages that one process reads at a time, at least.
SHARE = 500
#: Parts that many messages are cut into.
PARTS = 16
#: Messages of a transaction whose levels are found.
SAMPLE = 500

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
    ham: Counter[str]
    spam: Counter[str]
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
        all_ = _merged(shares)
        found = _levels(store, all_)
        lessons = [lesson._replace(level=found.get(lesson.digest)) for lesson in all_.lessons]
        store.add(lessons, _pairs(all_, {**all_.ham, **all_.spam}))
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
    lessons, ham, spam, sample = shares[0] if shares else Share([], Counter(), Counter(), {})
    for share in shares[1:]:
        lessons += share.lessons
        sample |= share.sample
        ham.update(share.ham)
        spam.update(share.spam)
    return Share(lessons, ham, spam, sample)


def _pairs(share: Share, tokens: Iterable[str]) -> dict[str, Pair]:
    ham, spam = share.ham, share.spam
    return {token: Pair(ham[token], spam[token]) for token in tokens}


def _levels(store: Store, share: Share) -> dict[bytes, int | None]:
    """The level of each message of the sample, as if it alone had not been learnt."""
    tokens = {token for own in share.sample.values() for token in own}
    before, more = store.counts(tokens), _pairs(share, tokens)
    totals = before.totals.plus(_numbers(share.lessons))
    counts = more | {token: pair.plus(more[token]) for token, pair in before.tokens.items()}
    lessons = {lesson.digest: lesson for lesson in share.lessons}
    return {
        name: level(left_out(Counts(totals, {t: counts[t] for t in own}), lessons[name]))
        for name, own in share.sample.items()
    }


def _numbers(lessons: list[Lesson]) -> Pair:
    spam = sum(lesson.spam for lesson in lessons)
    return Pair(len(lessons) - spam, spam)


# What runs in other processes


def _named(labelled: Sequence[Labelled]) -> list[Task]:
    return [(place, Lesson(digest(canonical(contents(place))), spam)) for place, spam in labelled]


def _count(tasks: Sequence[Task], every: int) -> Share:
    """Count a share of the messages; one that has changed since it was named is left out."""
    share = Share([], Counter(), Counter(), {})
    for number, (place, lesson) in enumerate(tasks):
        message = read(contents(place))
        if message.digest != lesson.digest:
            continue
        share.lessons.append(lesson)
        (share.spam if lesson.spam else share.ham).update(message.tokens)
        if number % every == 0:
            share.sample[lesson.digest] = list(message.tokens)
    return share


def _shares(rows: Sequence[Any]) -> Iterator[Sequence[Any]]:
    """The rows in parts that several processes can take, but not in crumbs."""
    size = max(SHARE, len(rows) // PARTS)
    return (rows[start : start + size] for start in range(0, len(rows), size))


@contextmanager
def _mapping(processes: int | None, messages: int) -> Iterator[Map]:
    """``map``, in other processes if there is work for them."""
    wanted = min(processes or len(os.sched_getaffinity(0)), -(-messages // SHARE))
    if wanted < 2:
        yield map
        return
    with ProcessPoolExecutor(wanted, mp_context=get_context("spawn")) as pool:
        yield pool.map
