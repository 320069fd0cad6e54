"""Spark Connect: the numbers of rows in memory."""

import json
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent


def test_the_same_model(tmp_path):
    places = {**os.environ, "PYTHONPATH": str(HERE.parent), "SPARK_LOCAL_DIRS": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, HERE / "connect_session.py"],
        capture_output=True, text=True, env=places, cwd=tmp_path, timeout=3000, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    report = json.loads(done.stdout.strip().splitlines()[-1])
    assert report.pop("session").startswith("pyspark.sql.connect")
    assert report.pop("scored") == [400, ["prediction", "p_late", "p_no", "p_yes"]]
    assert report.pop("sent as a file") == [True, True]
    told = report.pop("progress")
    assert all(0 <= done <= total for done, total in told), told
    assert any(total for _, total in told), told
    assert len(report) == 6
    assert all(same == [True, True, True] for same in report.values()), report
