"""Shell sessions in the documentation: what was typed, and what was printed.

``python tests/sessions.py docs/cli.md`` writes into a page, and into its Chinese twin, what the
program prints now.
"""

import contextlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from commands import COMMAND, FRUIT, run

BLOCK = re.compile(r"^```console\n(.*?)^```$", re.M | re.S)
#: What differs from run to run.
TIMES = [
    (re.compile(r"in [\d.]+ s \([\d,]+ rows/s\)"), "in 0.02 s (10,000 rows/s)"),
    (re.compile(r'"seconds": [\d.e-]+'), '"seconds": 0.02'),
    (re.compile(r'"bytes": \d+'), '"bytes": 9876'),
    (re.compile(r"[\d,]+ bytes"), "9,876 bytes"),
]
COSTS = "answer,apple,cherry,plum\napple,0,1,1\ncherry,20,0,1\nplum,1,1,0\n"


def steady(text):
    """The text without times and sizes."""
    for pattern, instead in TIMES:
        text = pattern.sub(instead, text)
    return text


def replayed(page):
    """The page with what the sessions print now; all run one after the other in one folder."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(FRUIT, folder)
        shutil.copytree(FRUIT.parent, Path(folder, "docs"), ignore=shutil.ignore_patterns("*.md"))
        Path(folder, "costs.csv").write_text(COSTS)
        Path(folder, "bin").mkdir()
        for name, command in (("deciban", COMMAND), ("python", COMMAND[:1])):
            program = Path(folder, "bin", name)
            program.write_text(f'#!/bin/sh\nexec {shlex.join(command)} "$@"\n')
            program.chmod(0o755)
        shell = Shell(folder)
        return BLOCK.sub(lambda block: f"```console\n{shell.played(block[1])}```", page)


class Shell:
    """Runs commands; ``$?`` is the code of the one before."""

    def __init__(self, folder):
        self.folder, self.code = folder, 0

    def played(self, session):
        commands = [line for line in session.splitlines() if line.startswith("$ ")]
        return "".join(f"{line}\n{self.run(line[2:])}" for line in commands)

    def run(self, command):
        """What a command prints; a plain one runs inside this process, which is faster."""
        if not command.startswith("deciban ") or set("|<>();$") & set(command):
            return self._shell(command)
        with contextlib.chdir(self.folder):
            ended = run(*shlex.split(command)[1:])
        self.code = ended.code
        return ended.out + ended.err

    def _shell(self, command):
        ended = subprocess.run(
            ["bash", "-c", f"(exit {self.code}); {command}"],
            cwd=self.folder,
            env={**os.environ, "PATH": f"{self.folder}/bin:{os.environ['PATH']}"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        self.code = ended.returncode
        return ended.stdout


def rewrite(path):
    """Replay a page; its twin gets the same sessions."""
    page, twin = replayed(path.read_text(encoding="utf-8")), path.with_suffix(".zh.md")
    path.write_text(page, encoding="utf-8")
    if twin.exists():
        blocks = BLOCK.finditer(page)
        text = BLOCK.sub(lambda _: next(blocks)[0], twin.read_text(encoding="utf-8"))
        twin.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    rewrite(Path(sys.argv[1]))
