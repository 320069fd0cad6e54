"""The headers of a message: where each begins and ends, and what is plain in them.

For programs that read one message and end: nothing here needs NumPy.
"""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from cpython.unicode cimport (
    PyUnicode_DecodeASCII, PyUnicode_FindChar, PyUnicode_READ_CHAR, PyUnicode_Tailmatch,
)

from libc.stdint cimport uint8_t
from libc.string cimport memchr

cdef extern from "Python.h":
    object PyUnicode_New(Py_ssize_t n, Py_UCS4 largest)
    void* PyUnicode_DATA(object text)

cdef enum:
    MAX_NAMES = 4096        # names of headers that are kept
    MAX_NAME_LENGTH = 80

#: Names of headers in lower case, by their bytes: every message has mostly those of the others.
NAMES = {}


cdef str lower_name(const uint8_t* at, Py_ssize_t n):
    """The name of a header in lower case."""
    cdef:
        bytes key = (<const char*>at)[:n]
        str name = NAMES.get(key)
        uint8_t* data
        Py_ssize_t i
    if name is not None:
        return name
    name = PyUnicode_New(n, 127)
    data = <uint8_t*>PyUnicode_DATA(name)
    for i in range(n):
        data[i] = at[i] + 32 if 65 <= at[i] <= 90 else at[i]
    if n <= MAX_NAME_LENGTH and len(NAMES) < MAX_NAMES:
        NAMES[key] = name
    return name


cdef Py_ssize_t value_end(const uint8_t* at, Py_ssize_t i, Py_ssize_t end) noexcept nogil:
    """Where the line ends that is the last of a value: the next one is not indented."""
    cdef const void* newline
    while True:
        newline = memchr(at + i, 10, end - i) if i < end else NULL
        if newline == NULL:
            return -1
        i = <const uint8_t*>newline - at
        if i + 1 >= end or not (at[i + 1] == 32 or at[i + 1] == 9):
            return i
        i += 1


def fields(bytes raw not None, Py_ssize_t start, Py_ssize_t end):
    r"""Headers that are well formed, up to the empty line that ends them; None if some are not.

    Names are in lower case. Bytes of a value that are not ASCII are surrogates.

    >>> fields(b"A: b\n c\nD:e\n\n", 0, 14)
    [('a', 'b\n c'), ('d', 'e')]
    >>> fields(b"A b\n\n", 0, 5) is None
    True
    """
    cdef:
        const uint8_t* at = <const uint8_t*>PyBytes_AS_STRING(raw)
        Py_ssize_t i, colon, begin, stop
        list out = []
    start, end = max(0, start), min(end, PyBytes_GET_SIZE(raw))  # as of a slice
    if end - start < 2 or at[end - 1] != 10 or at[end - 2] != 10:
        return None
    i = start
    end -= 1
    while i < end:
        colon = i
        while colon < end and 33 <= at[colon] <= 126 and at[colon] != 58:
            colon += 1
        if colon == i or colon == end or at[colon] != 58:
            return None
        stop = value_end(at, colon + 1, end)
        if stop < 0 or memchr(at + colon, 13, stop - colon) != NULL:
            return None
        begin = colon + 1
        while begin < stop and (at[begin] == 32 or at[begin] == 9):
            begin += 1
        value = PyUnicode_DecodeASCII(<const char*>at + begin, stop - begin, "surrogateescape")
        out.append((lower_name(at + i, colon - i), value))
        i = stop + 1
    return out if out else None


def first(list headers not None, str begin not None):
    """The first values of the headers whose names begin so.

    >>> first([("a-b", "1"), ("c", "2"), ("a-b", "3")], "a-")
    {'a-b': '1'}
    """
    cdef:
        dict out = {}
        str name
    for name, value in headers:
        if PyUnicode_Tailmatch(name, begin, 0, len(name), -1) and name not in out:
            out[name] = value
    return out


cdef inline bint is_encoded(str value) except -1:
    """Whether there is ``=?`` in a value."""
    cdef Py_ssize_t n = len(value), i = PyUnicode_FindChar(value, 61, 0, n, 1)
    while 0 <= i < n - 1:
        if PyUnicode_READ_CHAR(value, i + 1) == 63:
            return True
        i = PyUnicode_FindChar(value, 61, i + 1, n, 1)
    return False


def unfold(list raw not None, decode):
    """Headers on one line each; the values that are not plain by ``decode``.

    >>> unfold([("a", "b\\n c"), ("d", "=?e")], str.upper)
    [('a', 'b  c'), ('d', '=?E')]
    """
    cdef:
        list out = []
        str name, value
    for name, value in raw:
        if not value.isascii() or is_encoded(value):
            value = decode(value)
        elif PyUnicode_FindChar(value, 10, 0, len(value), 1) >= 0:
            value = value.replace("\n", " ")
        out.append((name, value))
    return out


def by_field(list headers not None, dict fields not None, default, Py_ssize_t longest):
    """The values of headers by the field of their names, each cut to the longest; None has none.

    >>> by_field([("from", "a"), ("x", "b"), ("date", "c")], {"from": 1, "date": None}, 2, 9)
    {1: ['a'], 2: ['b']}
    """
    cdef:
        dict out = {}
        str name, value
        list values
    for name, value in headers:
        field = fields.get(name, default)
        if field is None:
            continue
        values = out.get(field)
        if values is None:
            values = out[field] = []
        values.append(value if len(value) <= longest else value[:longest])
    return out
