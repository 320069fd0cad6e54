"""Real processes: many read while one learns, and a kill at any step loses and doubles nothing."""

import signal
import subprocess
import sys

import pytest

import faults
from commands import COMMAND, process
from deciban.errors import DecibanError
from deciban.mail.store import Store
from letters import HAM, NEW_HAM, SPAM, everything, learnt


def lesson(number):
    return b"Subject: lesson %d\n\nwords number %d of the lesson, and more\n" % (number, number)


#: Learns, moves and takes back a message in turn; each with a fault at every statement. What
#: others see at that moment is noted, and every lesson that was acknowledged.
LEARNER = """
import json, sys
import faults
from deciban.mail.lessons import learn, read, relearn, unlearn
from deciban.mail.store import Store
from letters import HAM, everything
act = {"learn": lambda store, message: learn(store, message, True),
       "relearn": lambda store, message: relearn(store, message, True),
       "unlearn": unlearn}[sys.argv[3]]
message = read(HAM[0] if sys.argv[3] != "learn" else b"Subject: new\\n\\nminutes of a free lesson")
def work(folder):
    with Store(str(folder / "mail.db")) as store:
        act(store, message)
        (folder / "acknowledged").touch()
def fail(folder):
    with Store(str(folder / "mail.db")) as other, other.reading():
        seen = repr(everything(other))
    (folder / "seen").write_text(seen)
    faults.kill()
faults.everywhere(work, sys.argv[1], sys.argv[2], watch=faults.traced, fail=fail)
"""


@pytest.mark.parametrize("deed", ["learn", "relearn", "unlearn"])
def test_a_kill_at_any_statement_loses_nothing_acknowledged_and_doubles_nothing(
    taught, tmp_path, deed
):
    steps = faults.run(LEARNER, taught.parent, tmp_path / "out", deed)
    names = [name for name, _ in steps]
    assert {"BEGIN", "SELECT", "INSERT", "UPDATE", "COMMIT"} - set(names) <= (
        {"INSERT"} if deed == "unlearn" else set()
    )
    assert names.count("COMMIT") == 1
    assert {ended for _, ended in steps} == {-signal.SIGKILL}
    before, after = contents(taught), contents(tmp_path / "out" / "whole" / "mail.db")
    assert before != after
    for at, name in enumerate(names):
        folder = tmp_path / "out" / str(at)
        committed = at > names.index("COMMIT")
        assert (folder / "seen").read_text() == repr(after if committed else before), name
        assert contents(folder / "mail.db") == (after if committed else before), name
        assert committed or not (folder / "acknowledged").exists()


def contents(path):
    """All that is in a store, which must be sound."""
    with Store(str(path)) as store:
        assert store.connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        return everything(store)


#: Trains on six messages, two in a transaction, with a fault at every statement.
TRAINER = """
import sys
import faults
from deciban.mail import training
from deciban.mail.mailboxes import Place
from deciban.mail.store import Store
training.TRANSACTION_MESSAGES = 2
def work(folder):
    messages = [(Place(str(path)), True) for path in sorted((folder / "spam").iterdir())]
    with Store(str(folder / "mail.db"), create=True) as store:
        training.train(store, messages, processes=1)
if len(sys.argv) > 3:
    from pathlib import Path
    for folder in map(Path, sys.argv[3:]):
        work(folder)
else:
    faults.everywhere(work, sys.argv[1], sys.argv[2], watch=faults.traced)
"""


def test_training_that_was_killed_at_any_statement_goes_on_where_it_was(tmp_path):
    spam = tmp_path / "template" / "spam"
    spam.mkdir(parents=True)
    for number in range(6):
        (spam / str(number)).write_bytes(lesson(number))
    out = tmp_path / "out"
    steps = faults.run(TRAINER, spam.parent, out)
    names = [name for name, _ in steps]
    assert names.count("COMMIT") == 1 + 1 + 3  # tables, one reading, three transactions
    assert {ended for _, ended in steps} == {-signal.SIGKILL}
    folders = [out / str(at) for at in range(len(steps))]
    learnt_so_far = [totals(folder / "mail.db") for folder in folders]
    assert learnt_so_far == sorted(learnt_so_far)
    assert set(learnt_so_far) == {0, 2, 4, 6}
    faults.run_script(TRAINER, out, out, *folders)
    whole = contents(out / "whole" / "mail.db")
    assert all(contents(folder / "mail.db") == whole for folder in folders)


def totals(path):
    """How many messages a store has learnt; it may not be there yet."""
    try:
        with Store(str(path)) as store:
            return store.totals().spam
    except DecibanError:
        return 0


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
    sure = ("--lost", "3")  # two dozen lessons do not make anybody surer than 0.96
    assert process("mail", "classify", *sure, stdin=SPAM[0], **environment).code == 0
    assert process("mail", "classify", stdin=HAM[0], **environment).code == 1
    assert process("mail", "classify", stdin=b"", **environment).code == 2
    failed = process("mail", "classify", stdin=HAM[0], DECIBAN_MAIL=str(tmp_path / "nowhere"))
    assert (failed.code, failed.out) == (3, "")
    assert "there is no store" in failed.err


#: Trains by several processes; all of them are killed at one statement.
TOGETHER = """
import os, signal, sys
import faults
from deciban.cli.exits import run
if __name__ == "__main__":
    end = lambda: os.killpg(0, signal.SIGKILL)
    with faults.traced(faults.Steps(int(sys.argv[1]), end)) as steps:
        code = run(["mail", "train", "--spam", sys.argv[2], "--store", sys.argv[3]])
    print(*steps.names, file=sys.stderr)
    sys.exit(code)
"""


def test_training_by_processes_that_are_killed(tmp_path):
    folder = tmp_path / "spam"
    folder.mkdir()
    for number in range(600):
        (folder / str(number)).write_bytes(lesson(number))
    script, store, whole = (tmp_path / name for name in ("train.py", "mail.db", "whole.db"))
    script.write_text(TOGETHER)
    for path in (store, whole):
        Store(str(path), create=True).close()

    def trained(at, store):
        command = [sys.executable, str(script), str(at), str(folder), str(store)]
        return subprocess.run(
            command,
            start_new_session=True,
            capture_output=True,
            check=False,
            env=faults.environment(),
        )

    names = trained(-1, whole).stderr.decode().split()
    inserted, total = names.index("INSERT"), len(names) - 1 - names[::-1].index("UPDATE")
    assert names[total + 1] == "COMMIT"
    for at in (inserted + 1, (inserted + total) // 2, total, total + 1):
        assert trained(at, store).returncode == -signal.SIGKILL
        assert totals(store) == 0
    assert trained(-1, store).returncode == 0
    assert contents(store) == contents(whole)
    with Store(str(store)) as opened:
        assert opened.totals() == (0, 600)
        assert opened.counts(["lesson"]).tokens["lesson"] == (0, 600)


HEAVY = {"numpy", "typer", "click", "rich", "scipy", "sklearn", "duckdb", "email", "dataclasses"}


def imported(*arguments, stdin=b""):
    """The packages that a run has imported."""
    code = (
        "import sys\nfrom deciban.cli.exits import run\n"
        "run(sys.argv[1:])\nprint(*sys.modules, file=sys.stderr)"
    )
    command = [sys.executable, "-c", code, "mail", *map(str, arguments)]
    ended = subprocess.run(command, input=stdin, capture_output=True, check=True)
    return {name.split(".")[0] for name in ended.stderr.decode().split()}


@pytest.mark.parametrize("command", ["classify", "filter"])
@pytest.mark.parametrize("raw", [HAM[0], "Subject: 免费\n\nได้ฟรี ごめん 免费".encode()])
def test_a_delivery_imports_nothing_heavy(taught, command, raw):
    assert HEAVY.isdisjoint(imported(command, "--store", taught, stdin=raw))


def test_training_imports_nothing_heavy(tmp_path):
    (tmp_path / "new").write_bytes(b"Date: Thu, 22 Aug 2002 18:26:25 +0700\n\nHello")
    assert HEAVY.isdisjoint(imported("train", "--ham", tmp_path, "--store", tmp_path / "mail.db"))
