"""Faults at every step of a write, so that none is left to chance.

A step is a system call that changes what is on the disk, or, of SQLite, a statement.
``Steps`` counts them and goes wrong at one of them; ``everywhere`` does so at each in
turn, in a process of its own that ends there.
"""

import contextlib
import io
import json
import os
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
import traceback
from functools import partial
from pathlib import Path
from unittest import mock


def kill(_=None):
    """End this process at once: nothing is flushed, closed or cleaned up."""
    os.kill(os.getpid(), signal.SIGKILL)


def interrupt(_=None):
    """Ctrl-C, here and now; also where a shell in the background told its programs to ignore it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.raise_signal(signal.SIGINT)


class Steps:
    """The names of the steps so far; ``fail`` is called at a number, or at each of several."""

    def __init__(self, at=(), fail=kill):
        self.names, self._fail = [], fail
        self._at = [at] if isinstance(at, int) else at

    def __call__(self, name):
        self.names.append(name)
        if len(self.names) - 1 in self._at:
            self._fail()


# ---------------------------------------------------------------------- files


class _Raw(io.FileIO):
    """A file whose system calls are steps. A write may end in the middle."""

    def __init__(self, path, steps):
        self._steps = steps
        super().__init__(path, "r+b")

    def write(self, data):
        self._steps("write")
        half = len(data) // 2
        done = super().write(data[:half])
        self._steps("write half")
        return done + super().write(data[half:])

    def close(self):
        try:
            if not self.closed:
                self._steps("close")
        finally:
            super().close()


class _Buffered(io.BufferedRandom):
    def __init__(self, raw, steps):
        self._steps = steps
        super().__init__(raw)

    def flush(self):
        if not self.closed:
            self._steps("flush")
        super().flush()


@contextlib.contextmanager
def watched(steps):
    """Every system call that writes a file and gives it its name is a step."""
    calls = {name: getattr(os, name) for name in ("open", "chmod", "fsync", "replace")}
    path_open = Path.open

    def opened(self, mode="r", *args, **kwargs):
        if mode != "r+b":
            return path_open(self, mode, *args, **kwargs)
        steps("open")
        return _Buffered(_Raw(self, steps), steps)

    def called(name, *args, **kwargs):
        steps(_named(name, *args))
        result = calls[name](*args, **kwargs)
        if name == "replace":
            steps("renamed")
        return result

    with contextlib.ExitStack() as stack:
        stack.enter_context(mock.patch.object(Path, "open", opened))
        for name in calls:
            stack.enter_context(mock.patch.object(os, name, partial(called, name)))
        yield steps


def _named(call, *args):
    """The step that a system call is."""
    if call == "fsync":
        return "fsync folder" if stat.S_ISDIR(os.fstat(args[0]).st_mode) else "fsync"
    if call == "open":
        return "open folder" if args[1] & os.O_DIRECTORY else "create"
    return {"replace": "rename"}.get(call, call)


# ---------------------------------------------------------------------- SQLite


@contextlib.contextmanager
def traced(steps):
    """Every statement of every connection is a step, before it runs."""
    connect = sqlite3.connect

    def connected(*args, **kwargs):
        connection = connect(*args, **kwargs)
        connection.set_trace_callback(lambda sql: steps(sql.split(None, 1)[0]))
        return connection

    with mock.patch.object(sqlite3, "connect", connected):
        yield steps


# ---------------------------------------------------------------------- processes


def everywhere(act, template, out, watch=watched, fail=kill):
    """Do ``act(folder)`` in a copy of a folder, and then again with a fault at each step.

    Run by a process without threads, which forks. Copies are ``out/0``, ``out/1`` ... by
    the number of the step, with what was printed in ``out/0.txt`` ...; ``out/steps.json``
    has the name of each step and how its process ended. ``out/whole`` is without a fault.
    """
    noted = Path(out, "names.json")

    def work(folder, at=()):
        with watch(Steps(at, lambda: fail(folder))) as steps:
            code = act(folder)
            steps("returned")
        if at == ():
            noted.write_text(json.dumps(steps.names))
        return code

    assert _forked(work, template, Path(out, "whole")) == 0
    names = json.loads(noted.read_text())
    ended = [_forked(work, template, Path(out, str(at)), at) for at in range(len(names))]
    Path(out, "steps.json").write_text(json.dumps(list(zip(names, ended, strict=True))))


def _forked(work, template, folder, *args):
    """How a process ends that works in a copy of the template: its code, or minus the signal."""
    shutil.copytree(template, folder)
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    printed = os.open(folder.with_suffix(".txt"), os.O_WRONLY | os.O_CREAT)
    os.dup2(printed, 1)
    os.dup2(printed, 2)
    code = 70
    try:
        code = work(folder, *args) or 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def run(script, template, out, *arguments):
    """Run a script that calls ``everywhere``; the steps, and how each process ended."""
    out.mkdir()
    run_script(script, template, out, *arguments)
    return [tuple(entry) for entry in json.loads(Path(out, "steps.json").read_text())]


def run_script(script, *arguments):
    """Run a script in a process that can import what the tests can."""
    command = [sys.executable, "-c", script, *map(str, arguments)]
    subprocess.run(command, check=True, env=environment())


def environment():
    """That of a process that can import what the tests can, and has no threads to fork."""
    path = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    return {**os.environ, "PYTHONPATH": path, "OPENBLAS_NUM_THREADS": "1"}
