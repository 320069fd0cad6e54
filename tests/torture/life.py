"""A long life: taught and made to forget, a model is as if only what is left had ever been."""

import gc
import io
import resource
import sys
from unittest import mock

import letters
from deciban import AODE, NaiveBayes
from deciban.cli import delivery
from deciban.mail import envelope
from deciban.mail.lessons import learn, read, relearn, score, unlearn
from deciban.mail.store import Store
from torture import deeds
from torture.part import Part, check

#: Rows that one life of a model is taught, and the most in one lesson.
N_ROWS, MAX_LESSON = 4000, 200
#: Lessons that one life of a store has, and messages through one filter.
N_LESSONS, N_MESSAGES = 400, 100


def model_life(chance, folder):
    """Rows are learnt and forgotten in random order; what is left decides, to the bit."""
    kind = chance.choice([NaiveBayes, AODE])
    rows = deeds.rows(chance, N_ROWS)
    first, waiting, known = rows[:60], rows[60:], []
    model, steps = kind(calibrate=False).fit(first, target="fruit"), 60
    while waiting or len(known) > MAX_LESSON:
        if waiting and (not known or chance.random() < 0.6):
            size = min(len(waiting), chance.randint(1, MAX_LESSON))
            lesson, waiting = waiting[:size], waiting[size:]
            model.partial_fit(lesson, target="fruit")
            known += lesson
        else:
            chance.shuffle(known)
            size = chance.randint(1, min(len(known), MAX_LESSON))
            model.forget(known[:size], target="fruit")
            known = known[size:]
        steps += size
    fresh = kind(calibrate=False).fit(first, target="fruit")
    chance.shuffle(known)
    fresh.partial_fit(known, target="fruit")
    check(model.counts_ == fresh.counts_, f"{kind.__name__}: other counts than a fresh model")
    return steps


def mail_life(chance, folder):
    """Messages are learnt, moved and taken back; the store is that of what is left."""
    path, known = folder / "mail.db", {}
    with Store(str(path), create=True) as store:
        for _ in range(N_LESSONS):
            raw = message(chance.randrange(60))
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
    return N_LESSONS


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


def filtered(chance, folder):
    """Messages of any bytes through ``mail filter``: one header is added, memory stays flat."""
    path = folder / "mail.db"
    with Store(str(path), create=True) as store:
        letters.learnt(store)
    before = 0
    for number in range(N_MESSAGES):
        raw = _any_message(chance)
        out = _screened(raw, str(path))
        check(out != raw, f"no header was added to {raw!r}")
        check(envelope.without_header(out) == envelope.without_header(raw), f"other bytes: {raw!r}")
        if number == N_MESSAGES // 4:
            before = _held()
    check(_held() - before < 32 << 20, f"memory grew from {before} to {_held()} bytes")
    return N_MESSAGES


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


PARTS = [
    Part("life of a model", "equal, to the bit, to a model of what is left", model_life),
    Part("life of a mail store", "equal to a fresh store of what is left", mail_life),
    Part("mail filter", "byte for byte but for one header; memory is flat", filtered),
]
