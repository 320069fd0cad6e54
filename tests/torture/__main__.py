"""``make torture MINUTES=n``: every part for its share of the time, and a table at the end.

Each part runs in a process of its own, from a seed that is printed. If it breaks a promise or dies,
the folder of the attempt stays, a line says how to see it again, and the exit code is 1.
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

from torture import shim
from torture.part import Part
from torture.parts import PARTS

TESTS = Path(__file__).parents[1]
#: Seconds that a part may take beyond its share before it counts as hanging.
PATIENCE_SECONDS = 600


@dataclass
class Result:
    """What a part tried, and how it failed, if it did."""

    part: Part
    tried: int = 0
    attempts: int = 0
    seed: int = 0
    seconds: float = 0.0
    failed: str = ""
    saved: str = ""


def main() -> int:
    """Run the parts; 0 if every promise held."""
    options = _options()
    shutil.rmtree(options.folder, ignore_errors=True)
    options.folder.mkdir(parents=True)
    chosen = [part for part in PARTS.values() if options.part in ("", part.name)]
    if not chosen:
        print(f"no part {options.part!r}; there are: {', '.join(PARTS)}")
        return 2
    library = shim.build(options.folder)
    workers = min(options.processes, len(chosen))
    second = options.minutes * 60 * workers / sum(part.share for part in chosen)
    print(f"torture: {len(chosen)} parts, {options.minutes:g} minutes, seed {options.seed}")
    with ThreadPoolExecutor(workers) as pool:
        results = list(pool.map(lambda part: _run(part, options, library, second), chosen))
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


def _run(part: Part, options: argparse.Namespace, library: Path, second: float) -> Result:
    """One part, watched."""
    seconds = second * part.share
    result, begin = Result(part), time.monotonic()
    command = [
        sys.executable, "-m", "torture.worker", part.name, "--seed", str(options.seed),
        "--seconds", str(seconds), "--folder", str(options.folder),
    ]  # fmt: skip
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=_environment(part, library),
    ) as process:
        try:
            out, errors = process.communicate(timeout=seconds + PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            out, errors = process.communicate()
            result.failed = "it hangs"
    _read(result, out)
    if process.returncode and not result.failed:
        result.failed = f"the process ended with {process.returncode}\n{errors[-2000:]}"
    result.seconds = time.monotonic() - begin
    _tell(result)
    return result


def _environment(part: Part, library: Path) -> dict[str, str]:
    """No threads where a process forks, and no files written but those under torture."""
    path = os.pathsep.join([str(TESTS), *filter(None, [os.environ.get("PYTHONPATH")])])
    more = {"PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
    if part.preload:
        more |= {"LD_PRELOAD": str(library), "OPENBLAS_NUM_THREADS": "1", "DECIBAN_THREADS": "1"}
    return {**os.environ, **more}


def _read(result: Result, out: str) -> None:
    for line in out.splitlines():
        if line.startswith("{"):
            said = json.loads(line)
            result.seed = said.get("seed", result.seed)
            result.tried += said.get("tried", 0)
            result.attempts += "tried" in said
            result.failed = said.get("failed", result.failed)
            result.saved = said.get("saved", result.saved)


def _tell(result: Result) -> None:
    """A line when a part has ended, and more if it failed."""
    name, seed = result.part.name, result.seed
    print(f"{name:24s} {result.tried:9,d} tried  {'FAILED' if result.failed else 'ok'}", flush=True)
    if result.failed:
        print(result.failed)
        print(f"see it again: make torture PART='{name}' SEED={seed} MINUTES=0")
        if result.saved:
            print(f"saved in {result.saved}")


def _show(results: list[Result]) -> None:
    """The table for docs/reliability.md."""
    print("\n| part | tried | failed | promised |\n| --- | ---: | ---: | --- |")
    for result in results:
        failed = int(bool(result.failed))
        print(f"| {result.part.name} | {result.tried:,} | {failed} | {result.part.promise} |")
    failed = sum(bool(result.failed) for result in results)
    print(f"\n{len(results) - failed} passed, {failed} failed")


if __name__ == "__main__":
    sys.exit(main())
