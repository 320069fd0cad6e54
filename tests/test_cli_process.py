"""The command as a process of its own: codes, streams, signals, and what it imports."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from commands import COMMAND, FRUIT, process

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


def test_ctrl_c_leaves_nothing_behind(model, tmp_path):
    out = tmp_path / "out.csv"
    out.write_text("old")
    running = subprocess.Popen(
        [*COMMAND, "predict", str(model), "-", "-o", str(out)],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    running.stdin.write(b"id,grams,colour,ripe,picked\n")
    running.stdin.flush()
    time.sleep(0.8)
    running.send_signal(signal.SIGINT)
    _, said = running.communicate()
    assert (running.returncode, said) == (130, b"interrupted: nothing was written.\n")
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
