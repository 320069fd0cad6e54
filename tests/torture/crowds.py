"""Many at once: processes on one store, threads on one model."""

import copy
import json
import os
import subprocess
import sys
import threading

import numpy as np

from deciban import NaiveBayes
from deciban.mail.lessons import learn, read, score, unlearn
from deciban.mail.store import Store
from torture import deeds
from torture.life import message, tokens
from torture.part import Part, check

N_PROCESSES, N_LESSONS, N_THREADS, N_ASKED = 16, 12, 8, 10


def crowd_on_a_store(chance, folder):
    """Sixteen processes learn, take back and classify on one store; the sum is right."""
    path = folder / "mail.db"
    with Store(str(path), create=True):
        pass
    begin = chance.randrange(10**6)
    command = [sys.executable, "-m", "torture.crowds", str(path)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    started = [
        subprocess.Popen(
            [*command, str(begin + N_LESSONS * number)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment,
        )
        for number in range(N_PROCESSES)
    ]  # fmt: skip
    kept = []
    for process in started:
        out, errors = process.communicate()
        check(process.returncode == 0, errors.decode())
        kept += json.loads(out)
    with Store(str(path)) as store, Store(str(folder / "fresh.db"), create=True) as fresh:
        sound = store.connection.execute("PRAGMA integrity_check").fetchone()
        check(sound == ("ok",), f"the store is damaged: {sound}")
        for number in kept:
            learn(fresh, read(message(number)), number % 2 == 0)
        check(tokens(store) == tokens(fresh), "the sum is not that of the lessons")
    return N_PROCESSES * N_LESSONS


def work(path: str, begin: int) -> list[int]:
    """One of the processes: the messages that it leaves learnt."""
    with Store(path) as store:
        for number in range(begin, begin + N_LESSONS):
            check(learn(store, read(message(number)), number % 2 == 0) == "learnt", "not learnt")
            score(store, read(message(number + 1)))
            if number % 3 == 0:
                check(unlearn(store, read(message(number))) == "taken", "not taken back")
    return [number for number in range(begin, begin + N_LESSONS) if number % 3]


def crowd_on_a_model(chance, folder):
    """Threads ask one model while a copy of it is taught: no answer changes."""
    rows = deeds.rows(chance, 300)
    model = NaiveBayes().fit(rows[:200], target="fruit")
    expected, wrong = model.predict_proba(rows), []

    def ask():
        answers = (model.predict_proba(rows) for _ in range(N_ASKED))
        wrong.extend(answer for answer in answers if not np.array_equal(answer, expected))

    threads = [threading.Thread(target=ask) for _ in range(N_THREADS)]
    for thread in threads:
        thread.start()
    taught = copy.deepcopy(model)
    for at in range(200, 300, 20):
        taught.partial_fit(rows[at : at + 20], target="fruit")
    for thread in threads:
        thread.join()
    check(not wrong, "an answer changed while a copy was taught")
    counts = NaiveBayes().fit(rows[:200], target="fruit").partial_fit(rows[200:], target="fruit")
    check(taught.counts_ == counts.counts_, "the copy counted otherwise")
    return N_THREADS * N_ASKED


PARTS = [
    Part(
        "16 processes on a store",
        "the sum is right, and nobody is turned away",
        crowd_on_a_store,
        wanted=2000,
    ),
    Part(
        "8 threads on a model",
        "no answer changes while a copy learns",
        crowd_on_a_model,
        wanted=10_000,
    ),
]

if __name__ == "__main__":
    print(json.dumps(work(sys.argv[1], int(sys.argv[2]))))
