"""System calls that go wrong at a chosen number, in a process that is forked for it."""

import contextlib
import ctypes
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import traceback
from dataclasses import dataclass, field
from pathlib import Path

#: Faults of shim.c; an error number is a fault too, negative if only one call fails.
COUNT, KILL, KILL_HALFWAY, INTERRUPT = 0, 1000, 1001, 1002
SOURCE = Path(__file__).with_name("shim.c")


def build(folder: Path) -> Path:
    """The compiled shim."""
    library = folder / "shim.so"
    compiler = os.environ.get("CC", "cc")
    command = [compiler, "-O2", "-shared", "-fPIC", "-o", str(library), str(SOURCE), "-ldl"]
    subprocess.run(command, check=True)
    return library


@dataclass
class Ended:
    """How a process ended: its code or minus a signal, its calls, what it said and acknowledged."""

    code: int
    calls: int
    printed: str
    acknowledged: list[str] = field(default_factory=list)


def fork(act, folder: Path, at: int = -1, fault: int = COUNT) -> Ended:
    """Run ``act(folder, acknowledge)`` in a forked process in which call number ``at`` goes wrong.

    The process must have been started under the shim, and must have no threads.
    """
    return begin(act, folder, at, fault).end()


@dataclass
class Running:
    """A forked process, the pipe that it acknowledges into, and the file that it prints into."""

    child: int
    pipe: int
    said: Path

    def end(self) -> Ended:
        """Wait for its end."""
        with os.fdopen(self.pipe) as lines:
            notes = [json.loads(line) for line in lines if line.endswith("\n")]
        code = os.waitstatus_to_exitcode(os.waitpid(self.child, 0)[1])
        printed = self.said.read_text(errors="replace") if self.said.exists() else ""
        self.said.unlink(missing_ok=True)
        calls = next((note["calls"] for note in notes if "calls" in note), -1)
        return Ended(code, calls, printed, [note["done"] for note in notes if "done" in note])


def begin(act, folder: Path, at: int = -1, fault: int = COUNT, seconds: float = 0.0) -> Running:
    """Begin what :func:`fork` does; a process that has ``seconds`` is ended after them."""
    here, there = os.pipe()
    said = folder.with_name(f"{folder.name}-{here}.said")
    child = os.fork()
    if not child:
        os.close(here)
        signal.setitimer(signal.ITIMER_REAL, seconds)  # its signal ends a process at once
        _work(act, folder, there, said, at, fault)
    os.close(there)
    return Running(child, here, said)


def _work(act, folder, pipe, said, at, fault) -> None:
    """The life of a forked process."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    printed = os.open(said, os.O_WRONLY | os.O_CREAT)
    os.dup2(printed, 1)
    os.dup2(printed, 2)
    sys.stdout, sys.stderr = (io.TextIOWrapper(os.fdopen(n, "wb", 0), "utf-8") for n in (1, 2))

    def note(**what):
        os.write(pipe, (json.dumps(what) + "\n").encode())

    code, library = 70, ctypes.CDLL(None)
    try:
        library.torture_arm(at, fault)
        code = act(folder, lambda name: note(done=name)) or 0
    except BaseException:
        library.torture_disarm()
        traceback.print_exc()
    finally:
        note(calls=library.torture_disarm())
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


@contextlib.contextmanager
def copy_of(template: Path, folder: Path):
    """A copy of a folder, that is gone afterwards unless something went wrong."""
    shutil.copytree(template, folder)
    yield folder
    shutil.rmtree(folder)
