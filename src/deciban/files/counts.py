"""Counts as bytes: what a model file holds of them, without a file."""

from __future__ import annotations

from deciban.errors import InputError, ModelFileError
from deciban.files import archive
from deciban.files.archive import errors_about
from deciban.files.description import CountsEntry
from deciban.files.document import read
from deciban.files.tables import counts_from, counts_to
from deciban.stats.counts import Counts

__all__ = ["from_bytes", "to_bytes"]

KIND = "counts"


def to_bytes(counts: Counts) -> bytes:
    """The counts as bytes; equal counts give equal bytes."""
    return archive.to_bytes(KIND, *counts_to(counts))


def from_bytes(data: bytes) -> Counts:
    """The counts in bytes, checked as those of a file are."""
    what = "these bytes"
    if not isinstance(data, bytes | bytearray | memoryview):
        raise InputError(
            f"counts are read from bytes, got {type(data).__name__}.",
            hint="pass what Counts.to_bytes gave",
        )
    content = archive.from_bytes(bytes(data), what)
    if content.kind != KIND:
        raise ModelFileError(
            f"these bytes hold a {content.kind}, not counts.", hint="a model file is read by load"
        )
    with errors_about(what):
        return counts_from(read(content.document, CountsEntry), content.arrays)
