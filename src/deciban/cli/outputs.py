"""What a command is about to write: never over what it reads, nor over what is not its own."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from itertools import combinations
from pathlib import Path
from stat import S_ISREG
from typing import IO

from deciban.errors import ParameterError
from deciban.files.overwriting import check_overwrite
from deciban.sources import files

__all__ = ["check_outputs"]


def check_outputs(
    outputs: Sequence[str | None],
    data: Sequence[str] = (),
    beside: Sequence[str | None] = (),
    *,
    force: bool,
) -> None:
    """Refuse outputs that would be lost or would destroy something, before any work is done.

    ``data`` are paths, globs, or ``-`` for the standard input, ``beside`` other files that are
    read. That an output is one of them shows by the file, whatever the way to it: links of both
    kinds, another spelling. Without an output, it is the standard output that must be none.
    """
    some = [path for path in outputs if path is not None]
    for one, other in combinations(some, 2):
        if _is_same(one, other):
            raise ParameterError(
                f"{one} would be written twice.", hint="give every output a file of its own"
            )
    if "-" in some:
        raise ParameterError(
            "- is the standard input, and no file to write.",
            hint="predict writes to the standard output without -o; ./- is a file of that name",
        )
    read = list(_statuses(data, beside))
    for path in some:
        _refuse_inputs(path, _status(path), read)
        if not force:
            check_overwrite(path, hint="name another file, or add --force to replace it")
    if not some:
        _refuse_inputs("the standard output", _stream_status(sys.stdout), read)


def _refuse_inputs(
    output: str, status: os.stat_result | None, read: Sequence[tuple[str, os.stat_result]]
) -> None:
    for path, other in read:
        if status is not None and os.path.samestat(status, other):
            same = "" if path == output else f", the same file as {path}"
            raise ParameterError(
                f"{output}{same} is one of the inputs, and would be destroyed.",
                hint="write to another file",
            )


def _statuses(
    data: Sequence[str], beside: Sequence[str | None]
) -> Iterator[tuple[str, os.stat_result]]:
    """The files that are read, by what the system knows them by; devices and pipes are none."""
    for path in data:
        if path == "-":
            yield from _known("the standard input", _stream_status(sys.stdin))
        else:
            for file in files.matching(path):
                yield from _known(str(file), _status(file))
    for other in beside:
        if other is not None:
            yield from _known(other, _status(other))


def _known(name: str, status: os.stat_result | None) -> Iterator[tuple[str, os.stat_result]]:
    if status is not None:
        yield name, status


def _status(path: str | Path) -> os.stat_result | None:
    try:
        return Path(path).stat() if Path(path).is_file() else None
    except OSError:
        return None


def _stream_status(stream: IO[str]) -> os.stat_result | None:
    """The file that a stream is redirected to or from, if it is one."""
    try:
        status = os.fstat(stream.fileno())
    except (OSError, ValueError, AttributeError):
        return None
    return status if S_ISREG(status.st_mode) else None


def _is_same(one: str, other: str) -> bool:
    """Whether two paths name one file, which need not be there yet."""
    return Path(one).resolve() == Path(other).resolve() or (
        Path(one).exists() and Path(other).exists() and Path(one).samefile(other)
    )
