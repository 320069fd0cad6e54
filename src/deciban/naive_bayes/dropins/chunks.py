"""The chunks in which the rows of a matrix are counted and scored."""

from __future__ import annotations

from deciban import threads

#: All threads together hold no more numbers than this in copies of their chunks: 16 MB.
MAX_COPIED_NUMBERS = 1 << 21


def count_chunks(n_rows: int, width: int, table_size: int, *, copied: bool) -> list[slice]:
    """Chunks that are worth a table of their own: larger than the table, but one a core.

    ``width`` numbers a row; where they are ``copied``, memory bounds the chunk as well.

    >>> len(count_chunks(1 << 20, 10, 100, copied=True)) > 4
    True
    """
    cores = threads.n_threads()
    share = -(-n_rows // cores)
    numbers = max(threads.COUNT_CHUNK_VALUES, 4 * table_size)
    if copied:
        numbers = min(numbers, max(MAX_COPIED_NUMBERS // cores, threads.SCORE_CHUNK_VALUES))
    rows = numbers // max(1, width)
    if not copied:
        rows = max(rows, -(-share // 2))  # two a core: should one be busy, the other helps
    return threads.chunks(n_rows, min(rows, max(share, 1))) or [slice(0, 0)]


def score_chunks(n_rows: int, width: int, *, gathered: bool = False) -> list[slice]:
    """Chunks that stay in the cache with their scores: ``width`` numbers a row.

    Where scores are ``gathered`` from a large table, it is the table that must
    stay in the cache: the fewer chunks the better.

    >>> score_chunks(3, 1 << 20)
    [slice(0, 1, None), slice(1, 2, None), slice(2, 3, None)]
    """
    rows = threads.SCORE_CHUNK_VALUES // max(1, width)
    if gathered:
        share = -(-n_rows // threads.n_threads())
        rows = max(rows, min(share, threads.SCORE_CHUNK_VALUES))
    return threads.chunks(n_rows, rows)
