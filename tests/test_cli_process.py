"""The command as a process of its own: codes, streams, signals, and what it imports."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import faults
from commands import COMMAND, FRUIT, process

#: A device that takes nothing.
FULL = Path("/dev/full")
HEAVY = ("sklearn", "scipy.stats", "pandas", "polars", "pyarrow", "rich")


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "m.deciban"
    ended = process("train", FRUIT, "-t", "fruit", "-o", path)
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.startswith("200 rows in ")
    return path


def test_codes_and_streams(model, tmp_path):
    good = process("predict", model, "-", stdin=FRUIT.read_bytes())
    assert (good.code, good.err) == (0, "")
    assert len(good.out.splitlines()) == 201
    wrong = process("predict", model, tmp_path / "nowhere.csv")
    assert (wrong.code, wrong.out) == (1, "")
    assert "does not exist" in wrong.err
    usage = process("predict", model)
    assert (usage.code, usage.out) == (2, "")
    assert "DATA" in usage.err


def test_help_names_every_command():
    ended = process("--help", COLUMNS="100")
    assert ended.code == 0
    for name in ("train", "update", "forget", "merge", "predict", "inspect", "version"):
        assert name in ended.out


def test_names_that_the_terminal_cannot_show_are_no_mistake(tmp_path):
    data = tmp_path / "d.csv"
    data.write_text("größe,☃\nS,ja\nM,nein\n", encoding="utf-8")
    ended = process("inspect", data, PYTHONIOENCODING="ascii")
    assert ended.code == 0
    assert "gr??e" in ended.out


def test_a_reader_that_stops_reading(model, tmp_path):
    head, *rows = FRUIT.read_text().splitlines(keepends=True)
    long = tmp_path / "long.csv"
    long.write_text(head + "".join(rows) * 500)
    running = subprocess.Popen(
        [*COMMAND, "predict", str(model), str(long)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert running.stdout.readline().startswith(b"prediction,")
    running.stdout.close()
    assert running.stderr.read() == b""
    running.stderr.close()
    assert running.wait() == 141


#: Predicts, and is interrupted at every step of writing the answers.
INTERRUPTED = """
import sys
import duckdb, numpy
import deciban.cli.app, deciban.cli.prediction
import faults
from deciban.cli.exits import run
def act(folder):
    return run(["predict", sys.argv[3], sys.argv[4], "-o", str(folder / "out.csv"), "--force"])
faults.everywhere(act, sys.argv[1], sys.argv[2], fail=faults.interrupt)
"""


def test_ctrl_c_while_it_writes_leaves_what_was_there(model, tmp_path):
    template, out = tmp_path / "template", tmp_path / "out"
    template.mkdir()
    (template / "out.csv").write_text("old")
    steps = faults.run(INTERRUPTED, template, out, model, FRUIT)
    names = [name for name, _ in steps]
    renamed = names.index("renamed")
    assert {"create", "write", "flush", "fsync", "close", "rename"} <= set(names[:renamed])
    for at, (name, ended) in enumerate(steps[:renamed]):
        assert ended == 130, name
        assert (out / f"{at}.txt").read_text() == "interrupted: no file was written.\n"
        assert (out / str(at) / "out.csv").read_text() == "old"
        assert len(list((out / str(at)).iterdir())) == 1
    assert names[-1] == "returned"
    for at in range(renamed, len(steps) - 1):
        said = (out / f"{at}.txt").read_text()
        assert steps[at][1] == 130, steps[at]
        assert said == "interrupted: out.csv was written before.\n"
        assert (out / str(at) / "out.csv").read_text().startswith("prediction,")


#: A standard input that is interrupted instead of giving more, as by Ctrl-C at a terminal.
WAITING = """
import io, signal, sys
from deciban.cli import main
class Typed(io.RawIOBase):
    def __init__(self):
        self.lines = [b"id,grams,colour,ripe,picked\\n", b"1,2,red,true,2024-01-01\\n"]
    def readable(self):
        return True
    def readinto(self, buffer):
        if not self.lines:
            signal.raise_signal(signal.SIGINT)
        line = self.lines.pop(0)
        buffer[: len(line)] = line
        return len(line)
sys.stdin = io.TextIOWrapper(io.BufferedReader(Typed()))
main()
"""


def test_ctrl_c_while_it_reads_leaves_nothing_behind(model, tmp_path):
    out = tmp_path / "out.csv"
    out.write_text("old")
    ended = subprocess.run(
        [sys.executable, "-c", WAITING, "predict", str(model), "-", "-o", str(out), "--force"],
        capture_output=True,
        check=False,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    )
    assert (ended.returncode, ended.stderr) == (130, b"interrupted: no file was written.\n")
    assert out.read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.csv"]


def test_devices_are_written_to_and_not_replaced(model):
    ended = process("predict", model, FRUIT, "-o", "/dev/null", "--format", "csv")
    assert ended.code == 0
    if Path("/dev/full").exists():
        full = process("predict", model, FRUIT, "-o", "/dev/full", "--format", "csv")
        assert full.code == 1
        assert "No space left on device" in full.err
        assert "Traceback" not in full.err


def imported(*arguments):
    code = (
        "import sys\n"
        "from deciban.cli.exits import run\n"
        "assert run(sys.argv[1:]) == 0\n"
        "print(*sys.modules, file=sys.stderr)"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(ended.stderr.split())


def test_predicting_imports_nothing_heavy(model):
    assert imported("predict", model, FRUIT).isdisjoint(HEAVY)
    assert imported("inspect", model).isdisjoint(HEAVY)


def unbuffered_no_more(command, **streams):
    """A process that writes as Python does by itself: what it prints, in one piece at its end."""
    return subprocess.run(
        [*COMMAND, *map(str, command)],
        env={name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"},
        stderr=subprocess.PIPE,
        check=False,
        **streams,
    )


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    path = tmp_path_factory.mktemp("mail")
    (path / "one.eml").write_text("Subject: agenda\n\nfor monday\n")
    assert process("mail", "learn", "--ham", path / "one.eml", "--store", path / "s.db").code == 0
    return path


def printing(model, store):
    """Commands that print, and the code that says that this could not be done."""
    message = [store / "one.eml", "--store", store / "s.db"]
    return [
        (["inspect", model], 1),
        (["explain", model, FRUIT, "--limit", 3], 1),
        (["predict", model, FRUIT], 1),
        (["train", FRUIT, "-t", "fruit", "-o", store / "new.deciban"], 1),
        (["mail", "classify", *message], 3),
        (["mail", "explain", *message], 1),
        (["mail", "filter", "--store", store / "s.db"], 75),
    ]


@pytest.mark.skipif(not FULL.exists(), reason="no device that is always full")
def test_output_that_cannot_be_written(model, store):
    for command, code in printing(model, store):
        for close in (False, True):
            with (store / "one.eml").open("rb") as message, FULL.open("wb") as full:
                streams = {"preexec_fn": lambda: os.close(1)} if close else {"stdout": full}
                ended = unbuffered_no_more(command, stdin=message, **streams)
            assert ended.returncode == code, command
            (line,) = ended.stderr.decode().splitlines()
            assert line.startswith("error: ")
            assert "bug" not in line


def test_a_reader_that_reads_nothing(model, store):
    for command, code in printing(model, store):
        reading, writing = os.pipe()
        os.close(reading)
        with (store / "one.eml").open("rb") as message, os.fdopen(writing, "wb") as pipe:
            ended = unbuffered_no_more(command, stdin=message, stdout=pipe)
        assert ended.returncode == (141 if code == 1 else code), command
        assert (ended.stderr == b"") == (code == 1)


def test_input_that_is_closed(model, store):
    for command, code in [
        (["predict", model, "-"], 1),
        (["mail", "classify", "--store", store / "s.db"], 3),
        (["mail", "filter", "--store", store / "s.db"], 75),
    ]:
        ended = unbuffered_no_more(command, stdout=subprocess.PIPE, preexec_fn=lambda: os.close(0))
        assert (ended.returncode, ended.stdout) == (code, b""), command
        (line,) = ended.stderr.decode().splitlines()
        assert line.startswith("error: ")
        assert "bug" not in line
