"""Spools: temporary files with what cannot be read where it is."""

from __future__ import annotations

import os
import tempfile
import weakref
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from deciban.errors import DecibanError
from deciban.sources.batch import Batch

__all__ = ["Spool", "read_spools"]


class Spool:
    """A temporary file with some bytes; it is deleted when nobody reads it any more.

    ``called`` is what the bytes are to whoever gave them.

    >>> spool = Spool([b"a,b", b"1,2"], ".csv")
    >>> path = spool.path
    >>> path.read_bytes()
    b'a,b1,2'
    >>> del spool
    >>> path.exists()
    False
    """

    def __init__(self, blocks: Iterable[bytes], ending: str, called: str = "") -> None:
        self._called = called
        handle, name = tempfile.mkstemp(prefix="deciban-", suffix=ending)
        self.path = Path(name)
        weakref.finalize(self, self.path.unlink, missing_ok=True)
        with os.fdopen(handle, "wb") as file:
            for block in blocks:
                file.write(block)

    @contextmanager
    def named(self) -> Iterator[None]:
        """Errors name what was given, not the file: that is nobody's business."""
        try:
            yield
        except DecibanError as error:
            name = str(self.path)
            error.message = error.message.replace(name, self._called or name)
            error.args = (str(error).replace(name, self._called or name),)
            raise


def read_spools(batches: Iterator[Batch], spools: list[Spool]) -> Iterator[Batch]:
    """The batches, holding on to the temporary files until the last one."""
    yield from batches
    del spools
