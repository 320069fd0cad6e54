"""The model file: a zip of one JSON document and of arrays.

::

    model.json         what it is: format, version, kind, the document, the table of arrays
    arrays/NAME.npy    numbers, as numpy saves them

Nothing in it can run. Everything is checked before it is used: the names are
those of the table and no others, every size agrees with the type and shape that
the table states and is bounded before memory is taken, and every byte of
content is under a checksum (CRC-32 of the zip, SHA-256 of each array). Equal
content gives equal bytes.

The promise: a file of format version N is read by every later release of
deciban. A file of a later format is refused with the version that wrote it.
"""

from __future__ import annotations

import os
import re
import struct
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from reprlib import repr as short
from typing import IO, BinaryIO, TypeAlias

from deciban.errors import InputError, ModelFileError
from deciban.files import atomic, document, npy
from deciban.files.description import FileEntry
from deciban.files.overwriting import check_overwrite
from deciban.labels import Array
from deciban.version import __version__

FORMAT = "deciban model"
#: The version that is written; it and all before it are read, see :mod:`deciban.files.upgrade`.
VERSION = 3
#: The most bytes that a file may unpack to, unless the caller says otherwise.
MAX_UNPACKED_BYTES = 4 << 30
#: Deflate makes nothing smaller than by this factor: who says more, lies.
MAX_COMPRESSION = 1100
#: The most arrays, and the most bytes of the zip's own directory of them.
MAX_ARRAYS = 4096
MAX_DIRECTORY_BYTES = 1 << 20

_ABOUT = "model.json"
_NAME = re.compile(r"[a-z0-9][a-z0-9_.]{0,99}")
#: The last record of a zip; one beyond 2 GiB has two more before it.
_END = struct.Struct("<4s4H2LH")
_LARGE_END = struct.Struct("<4sQ2H2L4Q4sLQL")

Arrays: TypeAlias = dict[str, Array]


@dataclass(frozen=True)
class Content:
    """What a model file holds."""

    kind: str
    document: dict[str, object]
    arrays: Arrays
    #: The version of deciban that wrote it.
    writer: str
    version: int


def write(
    path: str | os.PathLike[str],
    kind: str,
    content: Mapping[str, object],
    arrays: Mapping[str, Array],
    *,
    overwrite: bool = False,
) -> None:
    """Save a document and arrays as a whole, or leave what was there before.

    What is there must be a file of deciban's own, unless ``overwrite``.

    >>> import tempfile
    >>> import numpy as np
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write(f"{folder}/m.deciban", "note", {"text": "hello"}, {"x": np.arange(3)})
    ...     read(f"{folder}/m.deciban")  # doctest: +ELLIPSIS
    Content(kind='note', document={'text': 'hello'}, arrays={'x': array([0, 1, 2])}, ...)
    """
    if not overwrite:
        check_overwrite(path)  # before the work
    _check_arrays(arrays)
    with atomic.replacement(path, overwrite=overwrite) as file:
        _write_zip(file, kind, content, arrays)


def to_bytes(kind: str, content: Mapping[str, object], arrays: Mapping[str, Array]) -> bytes:
    """A document and arrays as the bytes that a file of them would have.

    >>> from_bytes(to_bytes("note", {"text": "hello"}, {})).document
    {'text': 'hello'}
    """
    _check_arrays(arrays)
    buffer = BytesIO()
    _write_zip(buffer, kind, content, arrays)
    return buffer.getvalue()


def _write_zip(
    file: BinaryIO, kind: str, content: Mapping[str, object], arrays: Mapping[str, Array]
) -> None:
    plans = {name: npy.Plan.of(arrays[name]) for name in sorted(arrays)}
    about = document.dumps(
        {
            "format": FORMAT,
            "version": VERSION,
            "deciban": __version__,
            "kind": kind,
            "document": content,
            "arrays": {name: plan.entry for name, plan in plans.items()},
        }
    )
    with zipfile.ZipFile(file, "w") as archive:
        with _open_member(archive, _ABOUT, len(about)) as stream:
            stream.write(about)
        for name, plan in plans.items():
            with _open_member(archive, _member_name(name), plan.size) as stream:
                npy.write(stream, arrays[name], plan)


def _check_arrays(arrays: Mapping[str, Array]) -> None:
    """Refuse arrays that the reader would not take back."""
    for name in arrays:
        if not _NAME.fullmatch(name):
            raise InputError(
                f"an array cannot be named {short(name)}.",
                hint="use small letters, digits, _ and .",
            )
    size = sum(array.nbytes for array in arrays.values())
    most = MAX_UNPACKED_BYTES - document.MAX_JSON_BYTES - MAX_DIRECTORY_BYTES
    if size > most or len(arrays) > MAX_ARRAYS:
        raise InputError(
            f"the model has {size} bytes in {len(arrays)} arrays; a file holds {most} bytes "
            f"in {MAX_ARRAYS} arrays.",
            hint="count fewer columns",
        )


def _member_name(name: str) -> str:
    return f"arrays/{name}.npy"


def _open_member(archive: zipfile.ZipFile, name: str, size: int) -> IO[bytes]:
    """A stream that writes one file of the zip."""
    info = zipfile.ZipInfo(name)  # its date is 1980: equal content gives equal bytes
    info.compress_type, info.file_size = zipfile.ZIP_DEFLATED, size
    info.create_system, info.external_attr = 3, 0o644 << 16
    return archive.open(info, "w")


# ---------------------------------------------------------------------- reading


def read(path: str | os.PathLike[str], *, limit: int = MAX_UNPACKED_BYTES) -> Content:
    """The content of a file, if every part of it is as it was written.

    ``limit`` bounds the bytes that it may unpack to. A file that does not exist
    or may not be opened is Python's own error.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     read(file.name)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    deciban.errors.ModelFileError: ... it has 0 bytes. Hint: ...
    """
    with Path(path).open("rb") as file, errors_about(path):
        return _read_zip(file, limit)


def from_bytes(
    data: bytes, what: str = "these bytes", *, limit: int = MAX_UNPACKED_BYTES
) -> Content:
    """The content of the bytes of a file, checked as a file is; errors name ``what`` they are."""
    with errors_about(what):
        return _read_zip(BytesIO(data), limit)


def _read_zip(file: BinaryIO, limit: int) -> Content:
    size = _check_end(file)
    with zipfile.ZipFile(file) as archive:
        members = _members(archive, min(limit, MAX_COMPRESSION * size))
        return _content(archive, members)


def unpacked_size(data: bytes) -> int:
    """How many bytes the files in the bytes of an archive say that they have."""
    with zipfile.ZipFile(BytesIO(data)) as archive:
        return sum(info.file_size for info in archive.infolist())


@contextmanager
def errors_about(path: str | os.PathLike[str]) -> Iterator[None]:
    """Let errors in the block name this file; whatever a damaged zip makes zipfile raise is one."""
    hint = "take a copy that was written as a whole"
    try:
        yield
    except ModelFileError as error:
        raise ModelFileError(f"{os.fspath(path)} cannot be read: {error}") from None
    except MemoryError:
        raise
    except Exception as error:
        what = f"{type(error).__name__}: {error}"
        raise ModelFileError(f"{os.fspath(path)} is damaged. {what}.", hint=hint) from error


def _check_end(file: BinaryIO) -> int:
    """The size of the file, if it ends as a zip whose directory is not too long."""
    size = file.seek(0, os.SEEK_END)
    if size < _END.size:
        raise ModelFileError(f"it has {size} bytes.", hint="the file was cut off, or is another")
    tail_size = min(size, _END.size + _LARGE_END.size)
    file.seek(size - tail_size)
    tail = file.read(tail_size)
    mark, *_, directory, _, comment = _END.unpack(tail[-_END.size :])
    if mark != b"PK\x05\x06" or comment:
        raise ModelFileError(
            "it does not end as a model file does.", hint="the file was cut off, or is another"
        )
    directory = max(directory, _large_directory(tail, size))
    if directory > MAX_DIRECTORY_BYTES:
        raise ModelFileError(f"its directory has {directory} bytes.")
    return size


def _large_directory(tail: bytes, size: int) -> int:
    """The length of the directory as a zip beyond 2 GiB states it; else 0."""
    if len(tail) < _END.size + _LARGE_END.size:
        return 0
    mark, *_, directory, _, locator, _, at, _ = _LARGE_END.unpack(tail[: -_END.size])
    if locator != b"PK\x06\x07":
        return 0
    if mark != b"PK\x06\x06" or at != size - len(tail):
        raise ModelFileError("its directory is not where it should be.")
    return int(directory)


def _members(archive: zipfile.ZipFile, most: int) -> dict[str, zipfile.ZipInfo]:
    """The files in the zip, by name; together they have no more than ``most`` bytes."""
    members = {info.filename: info for info in archive.infolist()}
    if len(members) < len(archive.infolist()):
        raise ModelFileError("a name is there twice.")
    if any(info.compress_type != zipfile.ZIP_DEFLATED for info in members.values()):
        raise ModelFileError("it is packed by another method than deflate.")
    total = sum(info.file_size for info in members.values())
    if total > most:
        raise ModelFileError(
            f"it would unpack to {total} bytes, no more than {most} are accepted.",
            hint="if you trust it, load it with a larger limit",
        )
    return members


def _content(archive: zipfile.ZipFile, members: Mapping[str, zipfile.ZipInfo]) -> Content:
    """The document and the arrays, if the zip has the files that its table of arrays names."""
    about = _about(archive, members)
    plans = npy.stated_plans(about.arrays)
    if set(members) != {_ABOUT, *map(_member_name, plans)} or not all(map(_NAME.fullmatch, plans)):
        raise ModelFileError("the files in it are not those that it names.")
    files = [members[_member_name(name)] for name in plans]
    for name, file, size in zip(plans, files, npy.sizes(plans.values()), strict=True):
        if file.file_size != size:
            raise ModelFileError(f"array {name!r} does not have the size of its type and shape.")
    arrays = npy.read_all(archive.open, zip(files, plans.values(), strict=True))
    return Content(
        about.kind,
        about.document,
        dict(zip(plans, arrays, strict=True)),
        about.deciban,
        about.version,
    )


def _about(archive: zipfile.ZipFile, members: Mapping[str, zipfile.ZipInfo]) -> FileEntry:
    """What the file says about itself, if this version can read it."""
    if _ABOUT not in members:
        raise ModelFileError(f"there is no {_ABOUT} in it.", hint="it is a zip of something else")
    with archive.open(members[_ABOUT]) as stream:
        about = document.loads(stream.read(document.MAX_JSON_BYTES + 1))
        if stream.read(1):
            raise ModelFileError(f"{_ABOUT} is longer than stated.")
    if about.get("format") != FORMAT:
        raise ModelFileError(f"its format is {short(about.get('format'))}, not {FORMAT!r}.")
    version = about.get("version")
    if type(version) is int and version > VERSION:
        raise ModelFileError(
            f"it has format version {version}, written by deciban {short(about.get('deciban'))}; "
            f"this is deciban {__version__}, which reads versions 1 to {VERSION}.",
            hint="install a later deciban",
        )
    return document.read(about, FileEntry)
