"""The wheel that ``make wheel`` built, in an environment that has nothing else."""

import os
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

from sessions import BLOCK, steady

ROOT = Path(__file__).parents[1]
TAG = f"cp{sys.version_info.major}{sys.version_info.minor}"
PLAIN_REPORT = """
from deciban import NaiveBayes
from deciban.report import report
rows = {"x": ["a", "b"] * 9, "y": [0, 1] * 9}
report(NaiveBayes().fit(rows, target="y"), rows, bootstrap=0)
"""


@pytest.fixture(scope="module")
def built():
    wheels = sorted((ROOT / "dist").glob(f"deciban-*-{TAG}-*.whl"))
    if not wheels:
        pytest.skip("dist/ has no wheel of this Python: make wheel builds it")
    return wheels[-1]


@pytest.mark.skipif(sys.platform != "linux", reason="manylinux is of Linux")
def test_what_is_built_is_for_any_linux_and_holds_no_more_than_the_package(built):
    assert "manylinux" in built.name
    names = zipfile.ZipFile(built).namelist()
    assert any(name.startswith("deciban/kernels/exact.") for name in names)
    assert "deciban/templates/report/style.css" in names
    assert "deciban/py.typed" in names
    assert {name.partition("/")[0].partition("-")[0] for name in names} == {"deciban"}
    (sdist,) = (ROOT / "dist").glob("deciban-*.tar.gz")
    with tarfile.open(sdist) as archive:
        held = {name.partition("/")[2] for name in archive.getnames()}
    assert {"meson.build", "pyproject.toml", "src/deciban/kernels/exact.pyx"} <= held
    assert not any(name.endswith(".so") for name in held)


def test_a_plain_install_does_what_the_readme_shows(built, tmp_path):
    venv.create(tmp_path / "venv", with_pip=True)
    bin = tmp_path / "venv" / ("Scripts" if sys.platform == "win32" else "bin")
    clean = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "PYTHONHOME")}
    environment = {**clean, "PATH": f"{bin}{os.pathsep}{clean['PATH']}", "COLUMNS": "100"}
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "fruit.csv").write_bytes((ROOT / "docs" / "fruit.csv").read_bytes())

    def run(*command):
        return subprocess.run(command, cwd=tmp_path, env=environment, text=True, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)  # fmt: skip

    installed = run(bin / "python", "-m", "pip", "install", "--quiet", built)
    assert installed.returncode == 0, installed.stdout
    session = BLOCK.search((ROOT / "README.md").read_text(encoding="utf-8"))[1]
    commands = [line[2:] for line in session.splitlines() if line.startswith("$ ")]
    printed = "".join(f"$ {line}\n{run('bash', '-c', line).stdout}" for line in commands)
    assert steady(printed) == steady(session)
    # What it cannot do says how to get it.
    assert "pip install 'deciban[charts]'" in run(bin / "python", "-c", PLAIN_REPORT).stdout
