"""Spools: temporary files with what cannot be read where it is."""

from __future__ import annotations

import os
import tempfile
import weakref
from collections.abc import Iterable, Iterator
from pathlib import Path

from deciban.sources.batch import Batch

__all__ = ["Spool", "read_spools"]


class Spool:
    """A temporary file with some bytes; it is deleted when nobody reads it any more.

    >>> spool = Spool([b"a,b", b"1,2"], ".csv")
    >>> path = spool.path
    >>> path.read_bytes()
    b'a,b1,2'
    >>> del spool
    >>> path.exists()
    False
    """

    def __init__(self, blocks: Iterable[bytes], ending: str) -> None:
        handle, name = tempfile.mkstemp(prefix="deciban-", suffix=ending)
        self.path = Path(name)
        weakref.finalize(self, self.path.unlink, missing_ok=True)
        with os.fdopen(handle, "wb") as file:
            for block in blocks:
                file.write(block)


def read_spools(batches: Iterator[Batch], spools: list[Spool]) -> Iterator[Batch]:
    """The batches, holding on to the temporary files until the last one."""
    yield from batches
    del spools
