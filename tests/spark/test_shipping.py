"""Executors that do not have deciban: what they say, and how it is shipped to them."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import venv
from pathlib import Path

import pytest

import deciban

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("shipping")


@pytest.fixture(scope="module")
def others(folder):
    """Every package of this environment but deciban."""
    made = folder / "others"
    made.mkdir()
    for entry in Path(sysconfig.get_path("purelib")).iterdir():
        if not entry.name.startswith(("deciban", "_deciban")) and entry.suffix != ".pth":
            (made / entry.name).symlink_to(entry)
    return made


def environment(path, others):
    """A virtual environment that has these packages; its folder of packages is returned."""
    venv.create(path, symlinks=True)
    (packages,) = path.glob("lib/python*/site-packages")
    (packages / "others.pth").write_text(f"{others}\n", encoding="utf-8")
    return packages


def trained(folder, *arguments):
    env = {**os.environ, "PYTHONPATH": str(HERE.parent), "SPARK_LOCAL_DIRS": str(folder),
           "SPARK_WORKER_DIR": str(folder / "workers")}  # fmt: skip
    # What executors find must be what was shipped: not the path of this process.
    done = subprocess.run(
        [sys.executable, HERE / "shipping_session.py", *map(str, arguments)],
        capture_output=True, text=True, env=env, cwd=folder, timeout=3000, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.strip().splitlines()[-1])


def test_executors_without_deciban_say_so(folder, others):
    environment(folder / "bare", others)
    report = trained(folder, folder / "bare" / "bin" / "python")
    assert report["error"] == "MissingPackageError"
    assert "deciban is not installed on the executors of Spark" in report["message"]
    assert "spark.archives" in report["message"]


def test_an_environment_is_shipped_as_an_archive(folder, others):
    made = folder / "made"
    packages = environment(made, others)
    source = Path(deciban.__file__).parent
    shutil.copytree(source, packages / "deciban", ignore=shutil.ignore_patterns("__pycache__"))
    archive = folder / "environment.tar.gz"
    with tarfile.open(archive, "w:gz", compresslevel=1) as packed:
        packed.add(made, ".")
    shutil.rmtree(made)
    report = trained(folder, "./environment/bin/python", archive)
    assert report == {"same": True, "scored": 120}
