"""A long life: taught and made to forget, a model is as if only what is left had ever been."""

import gc
import io
import resource
import sys
from functools import partial
from unittest import mock

import letters
from deciban import AODE, NaiveBayes
from deciban.cli import delivery
from deciban.mail import envelope
from deciban.mail.lessons import learn, read, relearn, score, unlearn
from deciban.mail.store import Store
from torture import deeds
from torture.part import Part, check

#: Rows that a model is taught and made to forget, and the most at once.
N_ROWS, MAX_LESSON = 6000, 200
#: Lessons of a store, and messages through one filter.
N_LESSONS, N_MESSAGES = 400, 100
#: The same in a long life: ten hours of messages are one a second.
LONG_ROWS, LONG_LESSON, LONG_LESSONS, LONG_MESSAGES = 1_000_000, 2000, 100_000, 36_000
#: Bytes by which a process may grow after a tenth of its messages.
MAX_GROWTH = 8 << 20


def model_life(chance, folder, n_rows=N_ROWS, most=MAX_LESSON):
    """Rows are learnt and forgotten in random order; what is left decides, to the bit."""
    kind = chance.choice([NaiveBayes, AODE])
    first, known, steps = deeds.rows(chance, 60), [], 0
    model = kind(calibrate=False).fit(first, target="fruit")
    while steps < n_rows:
        if not known or chance.random() < 0.6:
            lesson = deeds.rows(chance, chance.randint(1, most))
            model.partial_fit(lesson, target="fruit")
            known += lesson
        else:
            lesson = [
                _drawn(known, chance) for _ in range(chance.randint(1, min(len(known), most)))
            ]
            model.forget(lesson, target="fruit")
        steps += len(lesson)
    fresh = kind(calibrate=False).fit(first, target="fruit")
    chance.shuffle(known)
    fresh.partial_fit(known, target="fruit")
    check(model.counts_ == fresh.counts_, f"{kind.__name__}: other counts than a fresh model")
    answers = [one.predict_proba(first).tobytes() for one in (model, fresh)]
    check(answers[0] == answers[1], f"{kind.__name__}: other answers than a fresh model")
    return steps


def _drawn(items, chance):
    """One of the items, which is taken out."""
    at = chance.randrange(len(items))
    items[at], items[-1] = items[-1], items[at]
    return items.pop()


def mail_life(chance, folder, n_lessons=N_LESSONS):
    """Messages are learnt, moved and taken back; the store is that of what is left."""
    path, known = folder / "mail.db", {}
    with Store(str(path), create=True) as store:
        for _ in range(n_lessons):
            raw = message(chance.randrange(n_lessons // 6))
            letter, spam = read(raw), chance.random() < 0.5
            deed = chance.choice([learn, relearn, unlearn])
            if deed is unlearn:
                unlearn(store, letter)
                known.pop(letter.digest, None)
            elif deed is relearn or letter.digest not in known:
                deed(store, letter, spam)
                known[letter.digest] = raw, spam
        lived = tokens(store)
        check(0 <= score(store, read(letters.NEW_SPAM)).p <= 1, "no probability")
    with Store(str(folder / "fresh.db"), create=True) as fresh:
        for raw, spam in known.values():
            learn(fresh, read(raw), spam)
        check(tokens(fresh) == lived, "other counts than those of a fresh store")
    return n_lessons


def tokens(store):
    """What a store counts; in which order it was learnt shows in the levels alone."""
    everything = letters.everything(store)
    return everything["tokens"], everything["totals"]


def message(number):
    """A message that differs from others by its number."""
    some = [WORDS[(number * 7 + i * i) % len(WORDS)] for i in range(12)]
    text = f"From: a{number}@x.example\nSubject: {some[0]} {number}\n\n{' '.join(some)}\n"
    return text.encode()


WORDS = [f"word{i}" for i in range(40)] + ["free", "prize", "meeting", "minutes"]


def filtered(chance, folder, n_messages=N_MESSAGES):
    """Messages of any bytes through ``mail filter``: one header is added, memory stays flat."""
    path = folder / "mail.db"
    with Store(str(path), create=True) as store:
        letters.learnt(store)
    before = 0
    for number in range(n_messages):
        raw = _any_message(chance)
        out = _screened(raw, str(path))
        headless = envelope.with_header(raw, "") == raw  # it starts in the midst of a header
        check((out == raw) == headless, f"a header is not where it should be: {raw!r}")
        check(envelope.without_header(out) == envelope.without_header(raw), f"other bytes: {raw!r}")
        if number == n_messages // 10:
            before = _held()
    check(_held() - before < MAX_GROWTH, f"memory grew from {before} to {_held()} bytes")
    return n_messages


def _screened(raw, store):
    """What ``deciban mail filter`` writes."""
    out = io.TextIOWrapper(io.BytesIO())
    with (
        mock.patch.object(sys, "stdin", io.TextIOWrapper(io.BytesIO(raw))),
        mock.patch.object(sys, "stdout", out),
    ):
        check(delivery.screen(["--store", store]) == 0, "the filter failed")
    return out.buffer.getvalue()


def _held():
    gc.collect()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _any_message(chance):
    raw = bytearray(chance.choice([*letters.HAM, *letters.SPAM]))
    for _ in range(chance.randrange(20)):
        at = chance.randrange(len(raw))
        raw[at : at + chance.randrange(3)] = chance.randbytes(chance.randrange(4))
    return bytes(raw)


MODEL = "equal, to the bit, to a model of what is left"
MAIL = "equal to a fresh store of what is left"
FILTER = "byte for byte but for one header; memory is flat"
PARTS = [
    Part("lives of models", MODEL, model_life, wanted=100_000),
    Part("lives of mail stores", MAIL, mail_life, wanted=10_000),
    Part("mail filter", FILTER, filtered, wanted=1000),
    Part(
        "one long life of a model",
        MODEL,
        partial(model_life, n_rows=LONG_ROWS, most=LONG_LESSON),
        wanted=LONG_ROWS,
        long=True,
    ),
    Part(
        "one long life of a mail store",
        MAIL,
        partial(mail_life, n_lessons=LONG_LESSONS),
        wanted=LONG_LESSONS,
        long=True,
    ),
    Part(
        "ten hours of mail filter",
        FILTER,
        partial(filtered, n_messages=LONG_MESSAGES),
        wanted=LONG_MESSAGES,
        long=True,
    ),
]
