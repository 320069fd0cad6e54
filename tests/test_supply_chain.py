"""Nothing that deciban does needs a network, and the wheel says what is in it."""

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

#: Every socket but those of this machine is refused, in this process.
WITHOUT_NETWORK = """
import runpy, socket, sys
def refuse(self, address, *_):
    if self.family not in (socket.AF_UNIX,):
        raise SystemExit(f"a connection to {address} was tried")
socket.socket.connect = socket.socket.connect_ex = refuse
def nowhere(*arguments, **_):
    raise SystemExit(f"the address of {arguments} was asked for")
socket.getaddrinfo = socket.gethostbyname = nowhere
runpy.run_path(sys.argv[1], run_name="__main__")
"""


def test_the_demo_needs_no_network():
    command = [sys.executable, "-c", WITHOUT_NETWORK, str(ROOT / "examples" / "demo.py")]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert ended.returncode == 0, ended.stderr


def test_a_connection_would_be_noticed(tmp_path):
    script = tmp_path / "calls.py"
    script.write_text("import socket; socket.create_connection(('127.0.0.1', 9))")
    command = [sys.executable, "-c", WITHOUT_NETWORK, str(script)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "was asked for" in ended.stderr


def test_every_dependency_is_pinned_and_every_pin_is_used():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    stated = [*project["build-system"]["requires"], *project["project"]["dependencies"]]
    for group in project["project"]["optional-dependencies"].values():
        stated += group
    for group in project["dependency-groups"].values():
        stated += group
    named = {_name(each) for each in stated} - {"deciban"}
    pins = {
        _name(line) for line in (ROOT / "constraints.txt").read_text().splitlines() if "==" in line
    }
    unpinned = {"threadpoolctl", "openmpi", "khiops-core"}  # come with those that need them
    assert named - pins <= unpinned
    assert pins <= named


def _name(requirement):
    """The name of the package in a requirement."""
    name = requirement.split(";")[0]
    for mark in "[<>=!~ ":
        name = name.split(mark)[0]
    return name.strip().lower()


def test_the_wheel_says_what_it_needs():
    found = sorted((ROOT / "dist").glob("*.cdx.json"))
    if not found:
        if os.environ.get("CI") == "true":
            pytest.fail("make wheel writes the list of components; there is none in dist/")
        pytest.skip("dist/ has no list of components: make wheel writes it")
    (bill,) = found
    content = json.loads(bill.read_text())
    names = {component["name"].lower() for component in content["components"]}
    assert {"numpy", "scikit-learn", "duckdb", "typer"} <= names
    assert content["metadata"]["component"]["name"] == "deciban"
