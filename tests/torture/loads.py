"""Killed at random moments, several processes at once: what was acknowledged is there, once.

When a process is killed depends on the machine; what it does meanwhile depends on the seed.
"""

import contextlib
import functools
import signal
import time

from deciban import NaiveBayes
from deciban.mail.lessons import learn, read, unlearn
from deciban.mail.store import Store
from torture import deeds
from torture.life import message, tokens
from torture.part import Part, check
from torture.servers import killed_servers
from torture.shim import begin, copy_of, fork
from torture.trial import rehearse, verify

#: Processes at once, how often they are begun in one attempt, and what each of them does.
N_AT_ONCE, N_ROUNDS, N_STEPS = 4, 15, 20


def killed_together(chance, seconds, tasks):
    """How processes ended that did ``(act, place)`` at once, and how many of them were killed.

    ``seconds`` is how long one takes alone; several take longer.
    """
    moments = [chance.uniform(0.001, 2 * seconds) for _ in tasks]
    running = [begin(*task, seconds=at) for task, at in zip(tasks, moments, strict=True)]
    ended = [one.end() for one in running]
    for one in ended:
        check(one.code in (0, -signal.SIGALRM), f"a process ended with {one.code}: {one.printed}")
    return ended, sum(one.code != 0 for one in ended)


def alone(act, place):
    """How long it takes to do something when nobody else is at work, in seconds."""
    start = time.monotonic()
    ended = fork(act, place)
    check(ended.code == 0, f"without a fault it ended with {ended.code}: {ended.printed}")
    return time.monotonic() - start


def killed_deeds(chance, folder):
    """Any deed in several places at once."""
    deed, n = chance.choice(DEEDS)(chance), 0
    template, states, _ = rehearse(deed, folder)
    with copy_of(template, folder / "alone") as place:
        seconds = alone(deed.act, place)
    for _ in range(N_ROUNDS):
        with contextlib.ExitStack() as stack:
            copies = [copy_of(template, folder / str(i)) for i in range(N_AT_ONCE)]
            places = [stack.enter_context(copy) for copy in copies]
            ended, some = killed_together(chance, seconds, [(deed.act, p) for p in places])
            for place, one in zip(places, ended, strict=True):
                verify(deed, place, one.acknowledged, states, f"{deed.name}, killed at random: ")
        n += some
    return n


def killed_savers(chance, folder):
    """Different models saved over one file: it is one of them, whole."""
    some, known = deeds.rows(chance, 60), set()
    models = [NaiveBayes().fit(some[: 30 + 5 * i], target="fruit") for i in range(N_AT_ONCE)]
    for model in models:
        model.save(folder / "m.deciban")
        known.add(deeds.File.digest(folder))

    def save(model, place, acknowledge):
        for _ in range(N_STEPS):
            model.save(place / "m.deciban")

    tasks = [(functools.partial(save, model), folder) for model in models]
    seconds, n = alone(*tasks[0]), 0
    for _ in range(N_ROUNDS):
        n += killed_together(chance, seconds, tasks)[1]
        check(deeds.File.digest(folder) in known, "the file is none of those that were saved")
        models[0].save(folder / "m.deciban")
        left = {entry.name for entry in folder.iterdir()} - {"m.deciban", "tmp"}
        check(not left, f"{sorted(left)} are left after the next run")
    return n


def killed_learners(chance, folder):
    """Messages learnt and taken back on one store."""
    rehearsal = folder / "rehearsal"
    for place in (folder, rehearsal):
        with Store(str(place / "mail.db"), create=True):
            pass
    seconds = alone(functools.partial(_teach, 0), rehearsal)
    starts = iter(range(chance.randrange(10**6), 10**9, N_STEPS))
    there, n = set(), 0
    for _ in range(N_ROUNDS):
        begins = [next(starts) for _ in range(N_AT_ONCE)]
        tasks = [(functools.partial(_teach, start), folder) for start in begins]
        ended, some = killed_together(chance, seconds, tasks)
        with Store(str(folder / "mail.db")) as store:
            for start, one in zip(begins, ended, strict=True):
                there |= _left(store, start, len(one.acknowledged))
        n += some
    _compare(folder, there)
    return n


def _teach(start, folder, acknowledge):
    with Store(str(folder / "mail.db")) as store:
        for sign, number in _plan(start):
            letter = read(message(number))
            learn(store, letter, number % 2 == 0) if sign > 0 else unlearn(store, letter)
            acknowledge(f"{sign * number}")


def _plan(start):
    """What one process does: each third message is taken back."""
    for number in range(start, start + N_STEPS):
        yield +1, number
        if number % 3 == 0:
            yield -1, number


def _left(store, start, n_acknowledged):
    """The messages of one process that are there: what it acknowledged, perhaps one step more."""
    states = [set()]
    for sign, number in _plan(start):
        states.append(states[-1] | {number} if sign > 0 else states[-1] - {number})
    found = {
        number
        for number in range(start, start + N_STEPS)
        if store.lesson(read(message(number)).digest)
    }
    check(
        found in states[n_acknowledged : n_acknowledged + 2],
        f"{sorted(found)} are learnt after {n_acknowledged} steps",
    )
    return found


def _compare(folder, there):
    """See that a store is sound, and the sum of the messages that are there."""
    with Store(str(folder / "mail.db")) as store, Store(str(folder / "f.db"), create=True) as fresh:
        sound = store.connection.execute("PRAGMA integrity_check").fetchone()
        check(sound == ("ok",), f"the store is damaged: {sound}")
        for number in sorted(there):
            learn(fresh, read(message(number)), number % 2 == 0)
        check(tokens(store) == tokens(fresh), "the sum is not that of the lessons")


DEEDS = (deeds.Saving, deeds.Command, deeds.MailLessons, deeds.MailTraining, deeds.Teaching)
PARTS = [
    Part(
        f"kill at random: {what}",
        "the old state or the new one, whole; nothing acknowledged is lost or doubled",
        attempt,
        wanted=1000,
        preload=True,
    )
    for what, attempt in {
        "any of these": killed_deeds,
        "one model file": killed_savers,
        "one mail store": killed_learners,
        "the server": killed_servers,
    }.items()
]
