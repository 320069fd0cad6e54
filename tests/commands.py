"""Runs of the ``deciban`` command, inside this process (fast) or as a process of its own."""

import io
import os
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

from deciban.cli.exits import run as run_arguments

COMMAND = [sys.executable, "-m", "deciban.cli"]
#: What is said of rows that a model has learned: many tests judge it on these.
TRAINED_ON = "rows that the model was trained on"
FRUIT = Path(__file__).parents[1] / "docs" / "fruit.csv"


@dataclass(frozen=True)
class Ended:
    """How a run ended."""

    code: int
    out: str
    err: str


def run(*arguments, stdin=b""):
    """Run a command line inside this process."""
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", newline="") for _ in range(2))
    source = io.TextIOWrapper(io.BytesIO(stdin))
    with redirect_stdout(out), redirect_stderr(err), mock.patch.object(sys, "stdin", source):
        code = run_arguments([str(argument) for argument in arguments])
    return Ended(code, *(_text(stream) for stream in (out, err)))


def _text(stream):
    stream.flush()
    return stream.buffer.getvalue().decode()


def done(*arguments, stdin=b""):
    """The output of a run that goes well and complains of nothing but rows that were learned."""
    ended = run(*arguments, stdin=stdin)
    complaints = [line for line in ended.err.splitlines() if TRAINED_ON not in line]
    assert (ended.code, complaints) == (0, [])
    return ended.out


def process(*arguments, stdin=b"", **environment):
    """Run a command line as a process."""
    ended = subprocess.run(
        [*COMMAND, *map(str, arguments)],
        input=stdin,
        capture_output=True,
        check=False,
        env={**os.environ, **environment},
    )
    return Ended(ended.returncode, ended.stdout.decode(), ended.stderr.decode())
