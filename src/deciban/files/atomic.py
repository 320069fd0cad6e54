"""A file is replaced as a whole or not at all.

The new content goes to a temporary file in the same folder, is brought to the
disk, takes the name of the old one in one step, and the folder is brought to
the disk too. Whoever reads, or is killed, at any moment finds the old file or
the new one.

A file that is not known as deciban's own is replaced only if the caller says so, see
:mod:`deciban.files.overwriting`.

A killed writer leaves its temporary file, ``.deciban-*.tmp``, behind; the
next one to write into the folder removes it. Writers hold a lock on theirs, which
ends with them; where the system has no such locks, a file untouched for an hour
is taken for left behind.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from deciban.errors import ModelWriteError
from deciban.files.overwriting import check_overwrite

if sys.platform != "win32":
    import fcntl

#: Seconds after which a temporary file belongs to nobody, where nobody can lock it.
ABANDONED_SECONDS = 3600

_HINTS = {
    errno.ENOSPC: "make room on the disk",
    errno.EDQUOT: "make room on the disk",
    errno.EFBIG: "the disk or a limit allows no file of that size",
    errno.ENOENT: "make the folder first",
    errno.EISDIR: "name a file, not a folder",
}


#: The files that took their place, or were about to: the number that the system knows each by,
#: and the seconds on the monotonic clock.
_renamed: dict[Path, tuple[int, float]] = {}


@contextmanager
def output(path: str | os.PathLike[str], *, overwrite: bool = False) -> Iterator[BinaryIO]:
    """As :func:`replacement`; but a device or a pipe is written to, not replaced."""
    if _is_device(Path(path)):
        with Path(path).open("wb") as device:
            yield device
    else:
        with replacement(path, overwrite=overwrite) as new:
            yield new


@contextmanager
def replacement(path: str | os.PathLike[str], *, overwrite: bool = False) -> Iterator[BinaryIO]:
    """A file to write to that takes the place of ``path`` once all went well.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "note.txt")
    ...     with replacement(path) as file:
    ...         _ = file.write(b"new")
    ...     path.read_text(), len(list(path.parent.iterdir()))
    ('new', 1)
    """
    if not overwrite:
        check_overwrite(path)
    try:
        target = Path(path).resolve()  # through a link, not over it
        with _temporary(target) as (temporary, file):
            with file:
                yield file
                file.flush()
                os.fsync(file.fileno())
                _renamed[target] = os.fstat(file.fileno()).st_ino, time.monotonic()
            temporary.replace(target)
    except OSError as error:
        raise _write_error(path, "cannot be written", error) from error
    try:
        _sync_folder(target.parent)
    except OSError as error:
        raise _write_error(path, "is written, but might not survive a power cut", error) from error


def _is_device(path: Path) -> bool:
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def written(since: float) -> list[Path]:
    """The files that this process has written whole since a time on the monotonic clock.

    Also if it was interrupted right after the last step: what counts is the disk.

    >>> written(time.monotonic())
    []
    """
    return [
        path
        for path, (number, seconds) in _renamed.items()
        if seconds >= since and _number(path) == number
    ]


def _number(path: Path) -> int | None:
    try:
        return path.stat().st_ino
    except OSError:
        return None


@contextmanager
def _temporary(target: Path) -> Iterator[tuple[Path, BinaryIO]]:
    """An empty file beside the target, locked, that is gone or renamed afterwards."""
    mode = _mode(target)
    _sweep(target.parent)
    temporary = target.with_name(f".deciban-{secrets.token_hex(8)}.tmp")
    try:
        with _create(temporary) as file, _held(file):
            if mode is not None:
                temporary.chmod(mode)
            yield temporary, file
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise


def _create(temporary: Path) -> BinaryIO:
    """A new file with a lock on it; made again if another writer swept it away before the lock."""
    while True:
        temporary.touch(mode=0o666, exist_ok=False)
        with suppress(FileNotFoundError):
            file = temporary.open("r+b")
            with suppress(OSError):  # a system without locks
                _lock(file, wait=True)  # for one who sweeps
            if os.fstat(file.fileno()).st_nlink:
                return file
            file.close()


@contextmanager
def _held(file: BinaryIO) -> Iterator[None]:
    """Keep the lock on a file until the block ends, also when the file is closed before."""
    if sys.platform == "win32":  # no locks; a file that is open could not be renamed
        yield
        return
    another = os.dup(file.fileno())
    try:
        yield
    finally:
        os.close(another)


def _mode(target: Path) -> int | None:
    """The permissions of the file that is there, None if there is none; only a file is replaced."""
    try:
        mode = target.stat().st_mode
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(mode):
        code = errno.EISDIR if stat.S_ISDIR(mode) else errno.EINVAL
        raise OSError(code, "there is something else than a file")
    return stat.S_IMODE(mode)


def _sweep(folder: Path) -> None:
    """Remove what killed writers left behind."""
    for stray in folder.glob(".deciban-*.tmp"):
        with suppress(OSError), stray.open("rb") as file:
            if _is_abandoned(file):
                stray.unlink()


def _is_abandoned(file: BinaryIO) -> bool:
    """Whether no writer holds a file."""
    try:
        _lock(file)
    except BlockingIOError:
        return False
    except OSError:
        return time.time() - os.fstat(file.fileno()).st_mtime > ABANDONED_SECONDS
    return True


def _lock(file: BinaryIO, *, wait: bool = False) -> None:
    """Hold a file until it is closed or the process ends; it fails, or waits, if another does."""
    if sys.platform == "win32":
        raise OSError(errno.ENOTSUP, "there are no such locks")
    fcntl.flock(file.fileno(), fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)


def _sync_folder(folder: Path) -> None:
    """Bring the names in a folder to the disk."""
    if not hasattr(os, "O_DIRECTORY"):  # Windows
        return
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _write_error(path: str | os.PathLike[str], what: str, error: OSError) -> ModelWriteError:
    """An error of the system in plain words, with its number and a hint."""
    hint = _HINTS.get(error.errno or 0, "choose a folder that you may write to")
    message = f"{os.fspath(path)} {what}: {error.strerror or error}."
    write_error = ModelWriteError(message, hint=hint)
    write_error.errno = error.errno
    return write_error
