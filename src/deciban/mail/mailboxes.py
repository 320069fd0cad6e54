"""Where messages lie: Maildir, mbox, a folder of files, one file, the standard input.

A mailbox is a list of places, and a place can be read on its own, by any process,
so that many of them can be read at once and none need be held in memory. A file outside a Maildir
has to be opened to see whether it is an mbox: what was read of the first small ones is kept, to
open them once.
"""

from __future__ import annotations

import mmap
import os
import re
import stat
import sys
from collections.abc import Iterable, Iterator, Sequence
from io import FileIO
from pathlib import Path
from typing import NamedTuple

from deciban.errors import FileError

__all__ = ["Place", "places", "read", "size", "some_places", "split"]

#: Larger files are not read to see whether they are an mbox, but mapped into memory.
MAX_READ_BYTES = 1 << 16
#: The bytes of messages that are kept by their places, in all.
MAX_KEPT_BYTES = 1 << 24
_HINT = "give a Maildir, an mbox, a folder of messages, or a message"
#: How the line begins that separates the messages of an mbox.
_FROM = b"From "
#: What comes before a message: an empty line, and after it "From ", a sender, a time.
_SEPARATOR = re.compile(rb"\n\r?\n(?=From [^\n]*\d\d:\d\d[^\n]*\d{4}[^\n]*\n)")


class Place(NamedTuple):
    """A message: the bytes from ``start`` to ``end`` of a file, or all of it; ``kept`` if known.

    ``once`` says that they cannot be read again: they came out of a pipe.
    """

    path: str
    start: int = 0
    end: int = -1
    kept: bytes | None = None
    once: bool = False

    def unread(self) -> Place:
        """The message without its bytes, if these can be read again."""
        return self if self.once else Place(self.path, self.start, self.end)

    def __str__(self) -> str:
        return self.path if self.end < 0 else f"{self.path}[{self.start}:{self.end}]"


def places(paths: Iterable[str]) -> Iterator[Place]:
    """All messages of files and folders, in the order of their names."""
    room = MAX_KEPT_BYTES
    for path in paths:
        kind = _kind(path)
        if kind == "maildir":  # a file of which is one message, whatever line it begins with
            for folder in ("cur", "new"):
                yield from map(Place, _files(Path(path, folder)))
            continue
        for file in _files(path) if kind == "folder" else [path]:
            for place in _inside(file, MAX_READ_BYTES if room > 0 else len(_FROM)):
                room -= len(place.kept or b"")
                yield place


def some_places(paths: Sequence[str]) -> list[Place]:
    """All messages of files and folders; it is an error if there is none."""
    messages = list(places(paths))
    if not messages:
        raise FileError(f"there are no messages in {', '.join(paths)}.", hint=_HINT)
    return messages


def read(place: Place) -> bytes:
    """The bytes of a message."""
    if place.kept is not None:
        return place.kept
    try:
        if place.end < 0:
            return _first_bytes(place.path, sys.maxsize).bytes
        with FileIO(place.path) as file:
            file.seek(place.start)
            return file.read(place.end - place.start)
    except OSError as error:
        raise _read_error(place.path, error) from None


def size(place: Place) -> int:
    """How many bytes a message has; 0 if it is no longer there."""
    if place.kept is not None:
        return len(place.kept)
    if place.end >= 0:
        return place.end - place.start
    try:
        return Path(place.path).stat().st_size
    except OSError:
        return 0


def split(box: bytes | mmap.mmap) -> list[tuple[int, int]]:
    r"""Where the messages of an mbox start and end.

    >>> split(b"From a Thu Aug 22 13:17:22 2002\n\nx\n\nFrom b Thu Aug 22 13:17:23 2002\n\ny")
    [(0, 36), (36, 70)]
    """
    several = box.find(b"\nFrom ") >= 0  # which is found out much faster
    starts = [separator.end() for separator in _SEPARATOR.finditer(box)] if several else []
    return list(zip([0, *starts], [*starts, len(box)], strict=True))


def _kind(path: str) -> str:
    if not Path(path).is_dir():
        return "file"
    return "maildir" if Path(path, "cur").is_dir() and Path(path, "new").is_dir() else "folder"


def _files(folder: str | Path) -> Iterator[str]:
    """The files of a folder and of those in it, by name; none that is hidden."""
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError as error:
        raise _read_error(folder, error) from None
    for entry in entries:
        if entry.name.startswith("."):
            continue
        if entry.is_dir():
            yield from _files(entry.path)
        else:
            yield entry.path


def _inside(path: str, n: int) -> list[Place]:
    """The messages of a file: many if it is an mbox. So many bytes are read, and kept if all."""
    try:
        begin = _first_bytes(path, n)
        whole = begin.bytes if begin.is_all else None
        if path.endswith(".eml") or not begin.bytes.startswith(_FROM):
            return [Place(path, 0, -1, whole, begin.once)]
        spans = _split_mapped(path) if whole is None else split(whole)
    except OSError as error:
        raise _read_error(path, error) from None
    if len(spans) == 1:
        return [Place(path, 0, -1, whole, begin.once)]
    kept = [None if whole is None else whole[start:end] for start, end in spans]
    return [Place(path, *span, own, begin.once) for span, own in zip(spans, kept, strict=True)]


class _Begin(NamedTuple):
    """The first bytes of a file, whether they are known to be all, and cannot be read again."""

    bytes: bytes
    is_all: bool
    once: bool


def _first_bytes(path: str, n: int) -> _Begin:
    """So many bytes of a file, or all, by few calls of the system; a pipe is read to its end."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        once = not stat.S_ISREG(os.fstat(descriptor).st_mode)
        n = sys.maxsize if once else n
        pieces: list[bytes] = []
        while n > 0 and (piece := os.read(descriptor, min(n, MAX_READ_BYTES))):
            pieces.append(piece)
            n -= len(piece)
    finally:
        os.close(descriptor)
    return _Begin(b"".join(pieces), n > 0, once)


def _split_mapped(path: str) -> list[tuple[int, int]]:
    """Where the messages of a large mbox start and end."""
    with FileIO(path) as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as box:
        return split(box)


def _read_error(path: str | Path, error: OSError) -> FileError:
    return FileError(f"{str(path) or repr(path)} cannot be read: {error.strerror}.", hint=_HINT)
