"""Real processes: many read while one learns, and kills at any time lose and double nothing."""

import os
import random
import signal
import subprocess
import sys
import time

import pytest

from commands import COMMAND, process
from deciban.mail.envelope import canonical, digest
from deciban.mail.lessons import read, unlearn
from deciban.mail.store import Store
from letters import HAM, NEW_HAM, SPAM, everything, learnt

#: Learns message after message of a folder, and says which one is safe.
LEARNER = """
import sys
from deciban.mail.lessons import learn, read
from deciban.mail.store import Store
store = Store(sys.argv[1])
for number in range(int(sys.argv[2]), 100_000):
    raw = b"Subject: lesson %d\\n\\nwords number %d of the lesson, and more\\n" % (number, number)
    learn(store, read(raw), number % 2 == 0)
    print(number, flush=True)
"""
#: Classifies for ever; every answer must be a state between two lessons.
READER = """
import sys
from deciban.mail.store import Store
store = Store(sys.argv[1])
while True:
    with store.reading():
        totals = store.totals()
        lessons = store._connection.execute("SELECT count(*), sum(spam) FROM lessons").fetchone()
        word = store.counts(["lesson"]).tokens["lesson"]
    assert (sum(totals), totals.spam) == lessons, (totals, lessons)
    assert word == totals, (word, totals)
    print(sum(totals), flush=True)
"""


def lesson(number):
    return b"Subject: lesson %d\n\nwords number %d of the lesson, and more\n" % (number, number)


def start(code, *arguments):
    """A process whose output waits in the pipe: ``communicate`` does not see what was buffered."""
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
    )


def killed(running):
    running.send_signal(signal.SIGKILL)
    out, err = running.communicate()
    assert err == b""
    return [int(line) for line in out.splitlines(keepends=True) if line.endswith(b"\n")]


def test_kills_lose_no_acknowledged_lesson_and_double_none(tmp_path):
    path = str(tmp_path / "mail.db")
    with Store(path, create=True):
        pass
    chance, acknowledged, first = random.Random(7), set(), 0
    first_lessons = start(LEARNER, path, 0)
    assert first_lessons.stdout.readline() == b"0\n"
    readers = [start(READER, path) for _ in range(2)]
    acknowledged |= {0, *killed(first_lessons)}
    for _ in range(5):
        learners = [start(LEARNER, path, first) for _ in range(2)]  # the same lessons, at once
        for learner in learners:
            learner.stdout.readline()
        time.sleep(chance.uniform(0, 0.12))
        for learner in learners:
            acknowledged |= {first, *killed(learner)}
        first = chance.choice([max(acknowledged), max(acknowledged) + 1, 0])
    for reader in readers:
        assert killed(reader), "a reader saw nothing"

    with Store(path) as store:
        totals = store.totals()
        assert len(acknowledged) <= sum(totals) <= len(acknowledged) + 11  # one a kill is unsaid
        known = {
            n for n in range(max(acknowledged) + 12) if store.lesson(digest(canonical(lesson(n))))
        }
        assert acknowledged <= known
        assert len(known) == sum(totals) == sum(store.counts(["lesson"]).tokens["lesson"])
        check = store._connection.execute("PRAGMA integrity_check").fetchone()
        assert check == ("ok",)
        for number in known:
            assert unlearn(store, read(lesson(number))) == "taken"
        assert everything(store) == {"tokens": [], "levels": [], "lessons": [], "totals": [(0, 0)]}


@pytest.fixture(scope="module")
def taught(tmp_path_factory):
    path = tmp_path_factory.mktemp("store") / "mail.db"
    with Store(str(path), create=True) as store:
        learnt(store)
    return path


def test_deliveries_at_once(taught):
    running = [
        subprocess.Popen(
            [*COMMAND, "mail", "filter", "--store", str(taught)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        for _ in range(4)
    ]
    with Store(str(taught)) as store, store.writing():  # in the midst of a lesson
        for each in running:
            out, _ = each.communicate(NEW_HAM)
            assert each.returncode == 0
            assert b"\nX-Deciban: ham; p=0.0" in out


def test_codes_are_those_of_bogofilter(taught, tmp_path):
    environment = {"DECIBAN_MAIL": str(taught)}
    assert process("mail", "classify", stdin=SPAM[0], **environment).code == 0
    assert process("mail", "classify", stdin=HAM[0], **environment).code == 1
    assert process("mail", "classify", stdin=b"", **environment).code == 2
    failed = process("mail", "classify", stdin=HAM[0], DECIBAN_MAIL=str(tmp_path / "nowhere"))
    assert (failed.code, failed.out) == (3, "")
    assert "there is no store" in failed.err


def test_training_by_processes_that_are_killed(taught, tmp_path):
    folder = tmp_path / "spam"
    folder.mkdir()
    for number in range(600):
        (folder / str(number)).write_bytes(lesson(number))
    store = tmp_path / "mail.db"
    command = [*COMMAND, "mail", "train", "--spam", str(folder), "--store", str(store)]
    for seconds in (0.3, 0.6, 0.9):
        running = subprocess.Popen(command, start_new_session=True, stdout=subprocess.PIPE)
        time.sleep(seconds)
        os.killpg(running.pid, signal.SIGKILL)
        running.communicate()
    ended = process(*command[len(COMMAND) :])
    assert (ended.code, ended.err) == (0, "")
    with Store(str(store)) as opened:
        assert opened.totals() == (0, 600)
        assert opened.counts(["lesson"]).tokens["lesson"] == (0, 600)


HEAVY = {"numpy", "typer", "click", "rich", "scipy", "sklearn", "duckdb"}


@pytest.mark.parametrize("command", ["classify", "filter"])
@pytest.mark.parametrize("raw", [HAM[0], "Subject: 免费\n\nได้ฟรี ごめん 免费".encode()])
def test_a_delivery_imports_nothing_heavy(taught, command, raw):
    code = (
        "import sys\nfrom deciban.cli.exits import run\n"
        "run(sys.argv[1:])\nprint(*sys.modules, file=sys.stderr)"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code, "mail", command, "--store", str(taught)],
        input=raw,
        capture_output=True,
        check=True,
    )
    assert HEAVY.isdisjoint(name.split(".")[0] for name in ended.stderr.decode().split())
