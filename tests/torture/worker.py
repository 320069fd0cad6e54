"""One part in a process of its own: attempts by rising seeds until it is enough or one fails.

A line of JSON says what is about to be tried, and one how many cases that were: whoever started
the process knows the seed of the attempt in which it died.
"""

import argparse
import json
import os
import random
import shutil
import sys
import tempfile
import time
import traceback
from pathlib import Path

from torture.parts import PARTS


def main() -> int:
    """Run a part from one seed on; 0 if every promise held."""
    parser = argparse.ArgumentParser()
    parser.add_argument("part")
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--cases", type=int, default=0, help="enough of them; 0: never enough")
    parser.add_argument("--folder", type=Path, required=True)
    options = parser.parse_args()
    os.environ.pop("LD_PRELOAD", None)  # what this process starts is not tortured
    until, seed, total = time.monotonic() + options.seconds, options.seed, 0
    while True:
        say(seed=seed)
        folder = (
            options.folder / f"{PARTS[options.part].name.replace(' ', '-').replace(':', '')}-{seed}"
        )
        folder.mkdir(parents=True)
        tempfile.tempdir = str(folder / "tmp")
        Path(tempfile.tempdir).mkdir()
        try:
            tried = PARTS[options.part].attempt(random.Random(seed), folder)
        except BaseException:
            Path(folder, "failure.txt").write_text(traceback.format_exc())
            say(failed=traceback.format_exc(), saved=str(folder))
            return 1
        shutil.rmtree(folder)
        say(tried=tried)
        seed, total = seed + 1, total + tried
        if time.monotonic() >= until or 0 < options.cases <= total:
            return 0


def say(**what) -> None:
    """One line for who started this process."""
    print(json.dumps(what), flush=True)


if __name__ == "__main__":
    sys.exit(main())
