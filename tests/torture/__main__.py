"""``make torture MINUTES=n``: every part in turns until time is up, and a table at the end.

Next is always the part that had the least time, of those that have not tried yet what a long run
wants of them; in the end, of all. Each turn is a process of its own, from a seed that goes on
where the last turn ended. If a part breaks a promise or dies, the folder of the attempt stays, a
line says how to see it again, and the exit code is 1.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

from torture import shim
from torture.part import Part
from torture.parts import PARTS

TESTS = Path(__file__).parents[1]
#: Minutes from which on parts are tried that take many.
LONG_MINUTES = 60
#: Seconds that a turn may take beyond its time before it counts as hanging.
PATIENCE_SECONDS = 600


@dataclass
class Result:
    """What a part has tried so far, and how it failed, if it did."""

    part: Part
    seed: int
    tried: int = 0
    attempts: int = 0
    seconds: float = 0.0
    running: bool = False
    failed: str = ""
    saved: str = ""

    @property
    def left(self) -> int:
        """How many cases are still to be tried, of those that are wanted."""
        return max(0, self.part.wanted - self.tried)


class Schedule:
    """Which part is next, of those that wait."""

    def __init__(self, results: list[Result], seconds: float) -> None:
        self._results, self._lock = results, Lock()
        self._until = time.monotonic() + seconds

    @property
    def seconds_left(self) -> float:
        """The time that is left, or 0."""
        return max(0.0, self._until - time.monotonic())

    def take(self) -> Result | None:
        """The next part; after the end, only one that was never tried. None twice that is long."""
        with self._lock:
            waiting = [
                result
                for result in self._results
                if not result.running and not result.failed
                if not result.attempts or (self.seconds_left and not result.part.long)
            ]
            chosen = min(
                waiting, key=lambda result: (not result.left, result.seconds), default=None
            )
            if chosen is not None:
                chosen.running = True
            return chosen


def main() -> int:
    """Run the parts; 0 if every promise held."""
    options = _options()
    shutil.rmtree(options.folder, ignore_errors=True)
    options.folder.mkdir(parents=True)
    chosen = [part for part in PARTS.values() if _is_chosen(part, options)]
    if not chosen:
        print(f"no part {options.part!r}; there are: {', '.join(PARTS)}")
        return 2
    library = shim.build(options.folder)
    results = [Result(part, options.seed) for part in chosen]
    schedule = Schedule(results, options.minutes * 60)
    turn = options.minutes * 60 * options.processes / len(chosen)

    def work(_: int) -> None:
        while (result := schedule.take()) is not None:
            _run(result, min(turn, schedule.seconds_left), options.folder, library)

    print(f"torture: {len(chosen)} parts, {options.minutes:g} minutes, seed {options.seed}")
    with ThreadPoolExecutor(options.processes) as pool:
        list(pool.map(work, range(options.processes)))
    _show(results)
    return int(any(result.failed for result in results))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make torture")
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--part", default="")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--folder", type=Path, default=Path("build/torture"))
    options = parser.parse_args()
    options.folder = options.folder.resolve()
    return options


def _is_chosen(part: Part, options: argparse.Namespace) -> bool:
    if options.part:
        return part.name == options.part
    return not part.long or options.minutes >= LONG_MINUTES


def _run(result: Result, seconds: float, folder: Path, library: Path) -> None:
    """One turn of a part, watched."""
    part = result.part
    command = [
        sys.executable, "-m", "torture.worker", part.name, "--seed", str(result.seed),
        "--seconds", str(seconds), "--cases", str(result.left), "--folder", str(folder),
    ]  # fmt: skip
    begin = time.monotonic()
    patience = None if part.long else seconds + PATIENCE_SECONDS
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=_environment(part, library),
    ) as process:
        try:
            out, errors = process.communicate(timeout=patience)
        except subprocess.TimeoutExpired:
            process.kill()
            out, errors = process.communicate()
            result.failed = "it hangs"
    _read(result, out)
    result.seconds += time.monotonic() - begin
    if process.returncode and not result.failed:
        result.failed = f"the process ended with {process.returncode}\n{errors[-2000:]}"
    _tell(result)
    result.running = False


def _environment(part: Part, library: Path) -> dict[str, str]:
    """No threads where a process forks, and no files written but those under torture."""
    path = os.pathsep.join([str(TESTS), *filter(None, [os.environ.get("PYTHONPATH")])])
    more = {"PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
    if part.preload:
        more |= {"LD_PRELOAD": str(library), "OPENBLAS_NUM_THREADS": "1", "DECIBAN_THREADS": "1"}
    return {**os.environ, **more}


def _read(result: Result, out: str) -> None:
    """Add up what a turn said; the next one begins after its last whole attempt."""
    for line in out.splitlines():
        if line.startswith("{"):
            said = json.loads(line)
            result.tried += said.get("tried", 0)
            result.attempts += "tried" in said
            result.seed = said.get("seed", result.seed) + ("tried" in said)
            result.failed = said.get("failed", result.failed)
            result.saved = said.get("saved", result.saved)


def _tell(result: Result) -> None:
    """A line after a turn, and more if it failed."""
    name, wanted = result.part.name, result.part.wanted
    said = "FAILED" if result.failed else "ok"
    print(f"{name:28s} {result.tried:11,d} of {wanted:9,d}  {said}", flush=True)
    if result.failed:
        print(result.failed)
        print(f"see it again: make torture PART='{name}' SEED={result.seed} MINUTES=0")
        if result.saved:
            print(f"saved in {result.saved}")


def _show(results: list[Result]) -> None:
    """The table for docs/reliability.md."""
    print("\n| part | tried | wanted of an hour | failed | promised |")
    print("| --- | ---: | ---: | ---: | --- |")
    for result in results:
        part, failed = result.part, int(bool(result.failed))
        print(f"| {part.name} | {result.tried:,} | {part.wanted:,} | {failed} | {part.promise} |")
    failed = sum(bool(result.failed) for result in results)
    print(f"\n{len(results) - failed} passed, {failed} failed")


if __name__ == "__main__":
    sys.exit(main())
