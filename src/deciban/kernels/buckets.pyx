"""Tokens as a store of mail keeps them: rows of a keyed hash and two counts, in buckets.

A row is the hash of a token, 64 bits, and the messages of ham and of spam that had it, 32 bits
each, in the order of bytes of most machines (little-endian). Rows are sorted by their hashes, and
a bucket has those whose highest bits are its number. Whoever does not know the secret of a store
does not know which tokens have equal hashes; of a million, two have one with a probability of 3e-8.

Nothing here needs NumPy.
"""

from deciban.kernels.lexicon cimport FNV_PRIME, Lexicon, Point

from array import array

from cpython.array cimport array as Array
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE

from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc, qsort
from libc.string cimport memcpy

cdef extern from "Python.h":
    int PyUnicode_KIND(object text)
    void* PyUnicode_DATA(object text)

cdef enum:
    MAX_MESSAGES = 0x7FFFFFFF
    MAX_BITS = 30

cdef struct Row:
    uint64_t key
    uint32_t ham
    uint32_t spam


cdef inline uint64_t mix_points(const Point* at, Py_ssize_t n, uint64_t h) noexcept nogil:
    """A hash of the Fowler-Noll-Vo kind whose high bits depend on all characters alike."""
    cdef Py_ssize_t i
    for i in range(n):
        h = (h ^ at[i]) * FNV_PRIME
    h = (h ^ h >> 32) * <uint64_t>0x9E3779B97F4A7C15
    return h ^ h >> 29


cdef inline uint64_t hash_token(str token, uint64_t secret) noexcept:
    cdef:
        int kind = PyUnicode_KIND(token)
        void* data = PyUnicode_DATA(token)
    if kind == 1:
        return mix_points(<const uint8_t*>data, len(token), secret)
    if kind == 2:
        return mix_points(<const uint16_t*>data, len(token), secret)
    return mix_points(<const uint32_t*>data, len(token), secret)


cdef int compare(const void* a, const void* b) noexcept nogil:
    cdef:
        uint64_t one = (<const Row*>a).key
        uint64_t other = (<const Row*>b).key
    return -1 if one < other else one > other


cdef int sort(Row* rows, Py_ssize_t n) except -1:
    """Sort rows by their hashes: first by the highest bits, then those few that share them."""
    cdef:
        Row* old
        Py_ssize_t* ends
        Py_ssize_t i, start
        int shift = 64
    while shift > 40 and n >> (64 - shift) > 1:
        shift -= 1
    if shift == 64:
        return 0
    old = <Row*>malloc(n * sizeof(Row))
    ends = <Py_ssize_t*>calloc(((<Py_ssize_t>1) << (64 - shift)) + 1, sizeof(Py_ssize_t))
    if old == NULL or ends == NULL:
        free(old)
        free(ends)
        raise MemoryError
    memcpy(old, rows, n * sizeof(Row))
    for i in range(n):
        ends[(old[i].key >> shift) + 1] += 1
    for i in range((<Py_ssize_t>1) << (64 - shift)):
        ends[i + 1] += ends[i]
    for i in range(n):
        rows[ends[old[i].key >> shift]] = old[i]
        ends[old[i].key >> shift] += 1
    start = 0
    for i in range((<Py_ssize_t>1) << (64 - shift)):
        if ends[i] - start > 1:
            qsort(rows + start, ends[i] - start, sizeof(Row), compare)
        start = ends[i]
    free(old)
    free(ends)
    return 0


cdef inline const Row* rows_of(bytes rows) except? NULL:
    """The rows of a bucket."""
    if PyBytes_GET_SIZE(rows) % sizeof(Row):
        raise ValueError(f"a bucket of {len(rows)} bytes")
    return <const Row*>PyBytes_AS_STRING(rows)


cdef inline Py_ssize_t n_rows(bytes rows) noexcept:
    return PyBytes_GET_SIZE(rows) // sizeof(Row)


cdef inline int shift_of(int bits) except -1:
    """How far a hash is shifted to be the number of a bucket, of which there are 2 ** bits."""
    if not 0 <= bits <= MAX_BITS:
        raise ValueError(f"buckets by {bits} bits")
    return 64 - bits


cdef inline uint64_t bucket_of(uint64_t key, int shift) noexcept nogil:
    return key >> shift if shift < 64 else 0


def counted(Lexicon lexicon not None, uint64_t secret):
    """Rows of the tokens of a lexicon that have a count.

    >>> from deciban.kernels.lexicon import Lexicon
    >>> lexicon = Lexicon()
    >>> lexicon.merge(["a", "b", "c"], array("q", [1, 0, 2 << 32]))
    array('i', [0, 1, 2])
    >>> sorted(pairs(counted(lexicon, 7)))
    [(0, 2), (1, 0)]
    """
    cdef:
        Py_ssize_t n = len(lexicon.texts), i, used = 0
        bytes out = PyBytes_FromStringAndSize(NULL, n * sizeof(Row))
        Row* rows = <Row*>PyBytes_AS_STRING(out)
        int64_t count
    for i in range(n):
        count = lexicon.entries[i].count
        if count:
            rows[used] = Row(hash_token(lexicon.texts[i], secret), <uint32_t>count, count >> 32)
            used += 1
    sort(rows, used)
    return join_equal(out, used)


cdef bytes join_equal(bytes own, Py_ssize_t n):
    """Sorted rows, those of equal hashes added up."""
    cdef:
        Row* rows = <Row*>PyBytes_AS_STRING(own)
        Py_ssize_t i, used = 0
    for i in range(n):
        if used and rows[used - 1].key == rows[i].key:
            rows[used - 1].ham += rows[i].ham
            rows[used - 1].spam += rows[i].spam
        else:
            rows[used] = rows[i]
            used += 1
    return own[: used * sizeof(Row)]


def cut(bytes rows not None, int bits):
    """The buckets of rows, each with its number; those without a row are left out.

    >>> [number for number, _ in cut(array("Q", [1, 0, 1 << 63, 0]).tobytes(), 2)]
    [0, 2]
    """
    cdef:
        const Row* at = rows_of(rows)
        Py_ssize_t n = n_rows(rows), start = 0, stop
        int shift = shift_of(bits)
        list out = []
        uint64_t bucket
    while start < n:
        bucket, stop = bucket_of(at[start].key, shift), start + 1
        while stop < n and bucket_of(at[stop].key, shift) == bucket:
            stop += 1
        out.append((bucket, rows[start * sizeof(Row): stop * sizeof(Row)]))
        start = stop
    return out


def add(bytes rows not None, bytes more not None):
    """Rows with the counts of both.

    >>> pairs(add(array("Q", [1, 2]).tobytes(), array("Q", [1, 1 << 32, 2, 3]).tobytes()))
    [(2, 1), (3, 0)]
    """
    cdef:
        const Row* a = rows_of(rows)
        const Row* b = rows_of(more)
        Py_ssize_t n = n_rows(rows), m = n_rows(more), i = 0, j = 0, used = 0
        bytes out = PyBytes_FromStringAndSize(NULL, (n + m) * sizeof(Row))
        Row* to = <Row*>PyBytes_AS_STRING(out)
    while i < n or j < m:
        if j == m or (i < n and a[i].key < b[j].key):
            to[used] = a[i]
            i += 1
        else:
            to[used] = b[j]
            if i < n and a[i].key == b[j].key:
                to[used].ham = checked(<int64_t>a[i].ham + b[j].ham)
                to[used].spam = checked(<int64_t>a[i].spam + b[j].spam)
                i += 1
            j += 1
        used += 1
    return out[: used * sizeof(Row)]


cdef inline uint32_t checked(int64_t count) except? 0xFFFFFFFF:
    if not 0 <= count <= MAX_MESSAGES:
        raise ValueError(f"the count {count}")
    return <uint32_t>count


def subtract(bytes rows not None, bytes less not None):
    """Rows without the counts of others; None if these were never added.

    >>> pairs(subtract(array("Q", [1, 2, 2, 5]).tobytes(), array("Q", [1, 2, 2, 3]).tobytes()))
    [(2, 0)]
    >>> subtract(b"", array("Q", [1, 2]).tobytes()) is None
    True
    """
    cdef:
        const Row* a = rows_of(rows)
        const Row* b = rows_of(less)
        Py_ssize_t n = n_rows(rows), m = n_rows(less), i, j = 0, used = 0
        bytes out = PyBytes_FromStringAndSize(NULL, n * sizeof(Row))
        Row* to = <Row*>PyBytes_AS_STRING(out)
    for i in range(n):
        to[used] = a[i]
        if j < m and a[i].key == b[j].key:
            if a[i].ham < b[j].ham or a[i].spam < b[j].spam:
                return None
            to[used].ham -= b[j].ham
            to[used].spam -= b[j].spam
            j += 1
        used += to[used].ham > 0 or to[used].spam > 0
    return out[: used * sizeof(Row)] if j == m else None


def check(bytes rows not None, uint64_t bucket, int bits):
    """Refuse rows that nobody can have written into a bucket.

    >>> check(array("Q", [1, 1 << 31]).tobytes(), 0, 2)
    Traceback (most recent call last):
    ValueError: the count 2147483648
    """
    cdef:
        const Row* at = rows_of(rows)
        Py_ssize_t i
        int shift = shift_of(bits)
    for i in range(n_rows(rows)):
        checked(at[i].ham)
        checked(at[i].spam)
        if bucket_of(at[i].key, shift) != bucket or (i and at[i - 1].key >= at[i].key):
            raise ValueError(f"a row in the wrong place of the bucket {bucket}")


def pairs(bytes rows not None):
    """The messages of ham and of spam of each row."""
    cdef:
        const Row* at = rows_of(rows)
        Py_ssize_t i
    return [(at[i].ham, at[i].spam) for i in range(n_rows(rows))]


def keys(Lexicon lexicon not None, Py_ssize_t first, uint64_t secret):
    """The hashes of the tokens of a lexicon from a number on."""
    cdef:
        Py_ssize_t n = len(lexicon.texts) - first, i
        Array out = array("Q", bytes(8 * max(0, n)))
    for i in range(n):
        out.data.as_ulonglongs[i] = hash_token(lexicon.texts[first + i], secret)
    return out


def numbers(const uint64_t[::1] keys not None, int bits):
    """The different buckets of some hashes, in order.

    >>> numbers(array("Q", [3 << 62, 1, 2]), 2)
    [0, 3]
    """
    cdef:
        int shift = shift_of(bits)
        bytearray seen = bytearray(1 << bits)
        uint8_t* at = seen
        Py_ssize_t i
    for i in range(keys.shape[0]):
        at[bucket_of(keys[i], shift)] = 1
    return [i for i in range(<Py_ssize_t>1 << bits) if at[i]]


cdef inline Py_ssize_t find(const Row* at, Py_ssize_t n, uint64_t key, int bits) noexcept nogil:
    """Where a hash is among sorted rows, or would be: from where it is if they are spread evenly."""
    cdef Py_ssize_t i = ((key << bits) >> 32) * <uint64_t>n >> 32
    while i > 0 and at[i - 1].key >= key:
        i -= 1
    while i < n and at[i].key < key:
        i += 1
    return i


def merge(
    Lexicon lexicon not None, Py_ssize_t first, const uint64_t[::1] keys not None,
    dict buckets not None, int bits,
):
    """Add what buckets have to the counts of the tokens of a lexicon, which have these hashes.

    The tokens are those from the number ``first`` on.
    """
    cdef:
        int shift = shift_of(bits)
        Py_ssize_t i, j, n
        const Row* at
        bytes rows
    if not 0 <= first <= len(lexicon.texts) or len(lexicon.texts) - first != keys.shape[0]:
        raise ValueError("a hash is needed for every token")
    for i in range(keys.shape[0]):
        rows = buckets[bucket_of(keys[i], shift)]
        at = rows_of(rows)
        n = n_rows(rows)
        j = find(at, n, keys[i], bits)
        if j < n and at[j].key == keys[i]:
            lexicon.entries[first + i].count += at[j].ham + (<int64_t>at[j].spam << 32)
