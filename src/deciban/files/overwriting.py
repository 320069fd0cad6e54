"""Which files may be replaced: empty ones, and those that deciban knows as its own.

A model file and a page of HTML say in their first bytes what wrote them. Other files carry no
mark: tables of predictions, charts, PDF. They are replaced only if the caller says so.
"""

from __future__ import annotations

import os
import zlib
from pathlib import Path

from deciban.errors import ExistingFileError

__all__ = ["PAGE_MARK", "check_overwrite", "is_own"]

#: What every page has in its head; the templates write it.
PAGE_MARK = b'<meta name="generator" content="deciban">'
#: How a model file begins: a zip whose first member is the document, which names its format.
_ZIP_MARK, _FIRST_MEMBER, _FORMAT_MARK = b"PK\x03\x04", b"model.json", b'"format": "deciban model"'
#: A mark is within so many bytes.
_HEAD_BYTES = 4096
#: The bytes of a zip before the name of its first member.
_ZIP_HEADER_BYTES = 30


def is_own(path: str | os.PathLike[str]) -> bool:
    """Whether a file is a model or a page that deciban wrote, or holds nothing to be lost.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     empty = is_own(file.name)
    ...     _ = Path(file.name).write_bytes(b"a,b")
    ...     empty, is_own(file.name)
    (True, False)
    """
    with Path(path).open("rb") as file:
        head = file.read(_HEAD_BYTES)
    return not head or PAGE_MARK in head or _is_model(head)


def _is_model(head: bytes) -> bool:
    size = int.from_bytes(head[26:28], "little")
    name = head[_ZIP_HEADER_BYTES : _ZIP_HEADER_BYTES + size]
    if not head.startswith(_ZIP_MARK) or name != _FIRST_MEMBER:
        return False
    extra = int.from_bytes(head[28:30], "little")
    try:
        about = zlib.decompressobj(-zlib.MAX_WBITS).decompress(
            head[_ZIP_HEADER_BYTES + size + extra :], _HEAD_BYTES
        )
    except zlib.error:
        return False
    return _FORMAT_MARK in about


def check_overwrite(
    path: str | os.PathLike[str], *, hint: str = "name another file, or pass overwrite=True"
) -> None:
    """Refuse to replace a file that is not known as deciban's own.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     check_overwrite(f"{folder}/new.deciban")
    """
    try:
        if not Path(path).is_file() or is_own(path):
            return
        what = "is not a file that deciban knows as its own"
    except PermissionError:
        what = "may not be read"
    except OSError:
        return  # whoever writes there will say what is wrong
    raise ExistingFileError(f"{os.fspath(path)} is there already, and {what}.", hint=hint)
