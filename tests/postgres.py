"""A PostgreSQL server for the tests: in a temporary folder, on a port of this machine alone."""

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest

MISSING = "PostgreSQL is not installed: apt-get install postgresql"


def programs():
    """The folder of initdb and pg_ctl, or None."""
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    on_path = shutil.which("initdb")
    folders += [Path(on_path).parent] if on_path else []
    return next((each for each in folders if (each / "initdb").exists()), None)


def require():
    """The folder of the programs; where there is none the test is skipped, but not in CI."""
    folder = programs()
    if folder is None:
        if os.environ.get("CI") == "true":
            pytest.fail(MISSING)
        pytest.skip(MISSING)
    return folder


@contextmanager
def server():
    """A server that is running: its address."""
    folder, user = require(), _user()
    with tempfile.TemporaryDirectory(prefix="deciban-pg-") as home:
        if user is not None:
            os.chown(home, user.pw_uid, user.pw_gid)
        data, port = f"{home}/data", _free_port()
        options = f"-c listen_addresses=127.0.0.1 -c unix_socket_directories={home} -p {port}"
        options += " -c fsync=off"
        setup = ["-A", "trust", "--locale=C", "-E", "UTF8", "-U", "postgres", "-D", data]
        _run(user, home, folder / "initdb", *setup)
        _run(user, home, folder / "pg_ctl", "-w", "-D", data, "-l", f"{home}/log", "-o", options,
             "start")  # fmt: skip
        try:
            yield f"postgresql://postgres@127.0.0.1:{port}/postgres"
        finally:
            _run(user, home, folder / "pg_ctl", "-D", data, "-m", "immediate", "stop")


def _user():
    """PostgreSQL does not run as root."""
    if os.getuid():
        return None
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    pytest.skip("there is no user but root")


def _run(user, home, *command):
    how = {} if user is None else {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
    subprocess.run(
        list(map(str, command)), check=True, cwd=home, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, **how,
    )  # fmt: skip


def _free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]
