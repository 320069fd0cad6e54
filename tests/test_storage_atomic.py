"""The old file or the new one, whole: killed writers, full disks, several writers at once."""

import errno
import os
import signal
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import faults
from deciban import files
from deciban.errors import DecibanError, InputError, ModelWriteError
from deciban.files import archive, atomic

OLD, NEW = {"x": np.zeros(30_000)}, {"x": np.random.default_rng(0).random(30_000)}

SAVING = """
import sys
import numpy as np
from deciban.files import archive
models = [{"x": np.zeros(30_000)}, {"x": np.random.default_rng(0).random(30_000)}]
print("ready", flush=True)
for i in range(int(sys.argv[2])):
    archive.write(sys.argv[1], "kind", {}, models[i % 2])
"""


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "m.deciban"
    archive.write(path, "kind", {}, OLD)
    return path


def saver(path, times=10**9):
    """Another process that saves two models in turns."""
    command = [sys.executable, "-c", SAVING, str(path), str(times)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    return process


def which(path):
    """The model that is there; it must be one of the two."""
    found = archive.read(path).arrays["x"]
    return ["old", "new"][[np.array_equal(found, x["x"]) for x in (OLD, NEW)].index(True)]


def only(path):
    """Nothing but the file is left in its folder, and it is whole."""
    assert list(path.parent.iterdir()) == [path]
    return which(path)


KILLED = """
import sys
from pathlib import Path
import numpy as np
import faults
from deciban.files import archive
NEW = {"x": np.random.default_rng(0).random(30_000)}
def act(folder):
    archive.write(folder / "m.deciban", "kind", {}, NEW)
faults.everywhere(act, sys.argv[1], sys.argv[2])
"""
STEPS = {"create", "chmod", "open", "write", "write half", "flush", "fsync", "close", "rename",
         "renamed", "open folder", "fsync folder", "returned"}  # fmt: skip


def test_a_killed_writer_leaves_a_whole_file(path, tmp_path_factory):
    out = tmp_path_factory.mktemp("killed") / "out"
    steps = faults.run(KILLED, path.parent, out)
    names = [name for name, _ in steps]
    assert set(names) == STEPS
    assert names.count("write") >= 5
    assert names.index("fsync") < names.index("rename")
    assert {ended for _, ended in steps} == {-signal.SIGKILL}
    created, renamed = names.index("create"), names.index("renamed")
    for at in range(len(steps)):
        there = out / str(at) / path.name
        assert which(there) == ("old" if at < renamed else "new"), names[at]
        strays = [stray for stray in there.parent.iterdir() if stray != there]
        assert len(strays) == (created < at < renamed), names[at]
        assert all(stray.match(".deciban-*.tmp") for stray in strays)
        archive.write(there, "kind", {}, NEW)  # the next one is not in its way
        assert which(there) == "new"


def test_what_killed_writers_left_is_swept_away_and_nothing_else(path):
    left, written, other = (
        path.with_name(n) for n in (".deciban-0.tmp", ".deciban-1.tmp", "x.tmp")
    )
    for stray in (left, written, other):
        stray.write_text("half")
    with written.open("rb") as writer:
        atomic._lock(writer)  # as one does who is still writing
        archive.write(path, "kind", {}, NEW)
        assert sorted(path.parent.iterdir()) == sorted([written, other, path])


def test_where_there_are_no_locks_only_old_files_are_swept_away(path, monkeypatch):
    def no_locks(*_, **__):
        raise OSError(errno.ENOTSUP, "no locks")

    monkeypatch.setattr(atomic, "_lock", no_locks)
    old, fresh = (path.with_name(n) for n in (".deciban-0.tmp", ".deciban-1.tmp"))
    for stray in (old, fresh):
        stray.write_text("half")
    hours_ago = time.time() - 2 * atomic.ABANDONED_SECONDS
    os.utime(old, (hours_ago, hours_ago))
    archive.write(path, "kind", {}, NEW)
    assert sorted(path.parent.iterdir()) == sorted([fresh, path])


def test_a_file_that_is_swept_away_before_it_is_locked_is_made_again(path, monkeypatch):
    lock, swept = atomic._lock, []

    def late(file, **how):
        if not swept:
            swept.extend(path.parent.glob(".deciban-*.tmp"))
            swept[0].unlink()
        lock(file, **how)

    monkeypatch.setattr(atomic, "_lock", late)
    archive.write(path, "kind", {}, NEW)
    assert swept
    assert only(path) == "new"


def test_a_file_whose_lock_one_has_who_sweeps_is_made_again(path, monkeypatch):
    lock, sweeping = atomic._lock, []

    def contended(file, **how):
        if not sweeping:  # a sweeper was faster, and is about to take the file away
            sweeping.append(next(path.parent.glob(".deciban-*.tmp")).open("rb"))
            lock(sweeping[0])
            threading.Thread(target=sweep).start()
        lock(file, **how)

    def sweep():
        Path(sweeping[0].name).unlink()
        sweeping[0].close()

    monkeypatch.setattr(atomic, "_lock", contended)
    archive.write(path, "kind", {}, NEW)
    assert only(path) == "new"


def test_nobody_sweeps_a_file_that_is_about_to_take_its_place(path, monkeypatch):
    replace = Path.replace

    def swept(self, target):
        atomic._sweep(path.parent)
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", swept)
    archive.write(path, "kind", {}, NEW)
    assert only(path) == "new"


def test_two_writers_at_once(path):
    writers = [saver(path, 40) for _ in range(2)]
    while any(process.poll() is None for process in writers):
        which(path)
    for process in writers:
        process.stdout.close()
        assert process.returncode == 0
    only(path)


# Failures


def steps_of_a_write(path):
    """The steps that replace the old model by the new one; the old one is put back."""
    before = path.read_bytes()
    with faults.watched(faults.Steps()) as steps:
        archive.write(path, "kind", {}, NEW)
    path.write_bytes(before)
    return steps.names


@pytest.mark.parametrize("lasting", [False, True])
@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO, errno.EACCES])
def test_a_failing_step_leaves_what_was_there(path, code, lasting):
    def fail():
        raise OSError(code, os.strerror(code))

    before, names = path.read_bytes(), steps_of_a_write(path)
    renamed = names.index("renamed")
    for at, name in enumerate(names):
        if name == "renamed":  # no call of its own that could fail
            continue
        path.write_bytes(before)
        message = "cannot be written" if at < renamed else "is written, but might not survive"
        with (
            faults.watched(faults.Steps(range(at, 10**6) if lasting else at, fail)),
            pytest.raises(ModelWriteError, match=rf"m\.deciban {message}.* Hint: ") as caught,
        ):
            archive.write(path, "kind", {}, NEW)
        assert caught.value.errno == code
        assert isinstance(caught.value, OSError)
        assert isinstance(caught.value, DecibanError)
        assert only(path) == ("old" if at < renamed else "new"), name


def test_a_disk_that_is_full(path):
    """A limit on the size of files stands in for a full disk: writing stops in the middle."""
    code = f"""
import resource, numpy as np
from deciban.files import archive
from deciban.errors import ModelWriteError
resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))
try:
    archive.write({str(path)!r}, "kind", {{}}, {{"x": np.random.default_rng(0).random(30_000)}})
except ModelWriteError as error:
    print(error)
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "m.deciban cannot be written: File too large. Hint: " in run.stdout
    assert only(path) == "old"


def test_ctrl_c_passes_and_leaves_what_was_there(path):
    before, names = path.read_bytes(), steps_of_a_write(path)
    for at, name in enumerate(names):
        path.write_bytes(before)
        with faults.watched(faults.Steps(at, faults.interrupt)), pytest.raises(KeyboardInterrupt):
            archive.write(path, "kind", {}, NEW)
        assert only(path) == ("old" if at < names.index("renamed") else "new"), name


@pytest.fixture
def nobody():
    """No rights, also where the tests run as root."""
    before = os.geteuid()
    if before == 0:
        os.seteuid(65534)
    yield
    os.seteuid(before)


def test_a_folder_without_permission(nobody):
    """The folder of the system's programs is anybody's to read and nobody's to write."""
    with pytest.raises(ModelWriteError, match=r"Permission denied.* Hint: choose a folder"):
        archive.write("/usr/bin/m.deciban", "kind", {}, NEW)
    assert not os.path.lexists("/usr/bin/m.deciban")


def test_places_where_no_file_can_be(tmp_path):
    with pytest.raises(ModelWriteError, match=r"No such file or directory\. Hint: make the folder"):
        archive.write(tmp_path / "none" / "m.deciban", "kind", {}, {})
    with pytest.raises(ModelWriteError, match=r"something else .* Hint: name a file"):
        archive.write(tmp_path, "kind", {}, {})
    with pytest.raises(ModelWriteError, match="File name too long"):
        archive.write(tmp_path / ("x" * 300), "kind", {}, {})
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(ModelWriteError, match="something else than a file"):
        archive.write(pipe, "kind", {}, {})
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    archive.write(tmp_path / ("x" * 255), "kind", {}, {})


# What stays as it was


def test_links_and_permissions_stay(path):
    link = path.with_name("link.deciban")
    link.symlink_to(path)
    path.chmod(0o640)
    archive.write(link, "kind", {}, NEW)
    assert link.is_symlink()
    assert which(path) == "new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_new_file_follows_the_umask(tmp_path):
    before = os.umask(0o027)
    try:
        archive.write(tmp_path / "m", "kind", {}, {})
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "m").stat().st_mode) == 0o640


def test_a_model_that_cannot_be_saved_leaves_what_was_there(path):
    from deciban.stats.counts import Counts

    odd = np.empty(1, dtype=object)
    odd[0] = complex(1, 2)
    stored = files.Stored("kind", Counts.of({"x": odd}, [1]))
    with pytest.raises(
        InputError, match=r"label \(1\+2j\) of type complex cannot be saved.* Hint: "
    ):
        files.save(path, stored)
    assert only(path) == "old"


def test_the_bytes_reach_the_disk_before_the_name(path, monkeypatch):
    steps = []
    fsync, replace = os.fsync, atomic.Path.replace

    def synced(handle):
        steps.append(
            "folder" if stat.S_ISDIR(os.fstat(handle).st_mode) else os.fstat(handle).st_size
        )
        fsync(handle)

    def renamed(self, target):
        steps.append("rename")
        return replace(self, target)

    monkeypatch.setattr(atomic.os, "fsync", synced)
    monkeypatch.setattr(atomic.Path, "replace", renamed)
    archive.write(path, "kind", {}, NEW)
    assert steps == [path.stat().st_size, "rename", "folder"]
