"""What a written field can be: fields of text to numbers, truth values and times.

The grammar, blanks around a field left aside:

- INTEGER ``-?(0|[1-9][0-9]*)`` within 64 bits
- NUMBER ``[+-]?[0-9]*.?[0-9]*([eE][+-]?[0-9]+)?`` with at least one digit, or
  ``inf``, ``infinity``, ``nan``; never with a leading zero before a digit:
  ``00123`` is a code, not a quantity
- BOOLEAN ``true``, ``false``, in any case
- DATE ``YYYY-MM-DD``; CLOCK ``HH:MM:SS`` with up to nine decimals
- MOMENT a date, or a date, ``T`` or a blank, ``HH:MM``, seconds or not, and ``Z`` or an offset
- numbers in the ways of other countries, and dates in other orders: see ``written.pxi``
"""

import numpy as np

from cpython.mem cimport PyMem_Free, PyMem_Malloc
from libc.math cimport INFINITY, NAN
from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.string cimport memcpy

cdef extern from "Python.h":
    double PyOS_string_to_double(const char* text, char** end, void* overflow) except? -1

cpdef enum:
    BOOLEAN = 1
    INTEGER = 2
    NUMBER = 4
    DATE = 8
    MOMENT = 16
    CLOCK = 32
    NESTED = 64      # only in JSON
    LIST = 128       # of texts, only in JSON
    # Numbers by their decimal sign and by what sets thousands apart.
    POINT = 1 << 8
    POINT_COMMA = 1 << 9
    POINT_SPACE = 1 << 10
    POINT_QUOTE = 1 << 11
    COMMA = 1 << 12
    COMMA_POINT = 1 << 13
    COMMA_SPACE = 1 << 14
    COMMA_QUOTE = 1 << 15
    # Dates by what they begin with; each has a bit for those that a time of day may follow.
    DAY_FIRST = 1 << 16
    DAY_FIRST_MOMENT = 1 << 17
    MONTH_FIRST = 1 << 18
    MONTH_FIRST_MOMENT = 1 << 19
    YEAR_FIRST = 1 << 20
    YEAR_FIRST_MOMENT = 1 << 21

cdef enum:
    SECONDS_PER_DAY = 86_400
    NO_DAY = -10_000_000
    NO_ZONE = -1_000_000
    POINTS = 0xF << 8
    COMMAS = 0xF << 12
    DAYS_FIRST = 3 << 16
    MONTHS_FIRST = 3 << 18
    YEARS_FIRST = 3 << 20
    DATES = 63 << 16
    MOMENTS = (2 << 16) | (2 << 18) | (2 << 20)

cdef int64_t NO_CLOCK = -(1 << 60)
cdef int64_t MICROSECONDS_PER_HOUR = 3600 * 1_000_000

cdef uint64_t MAX_INTEGER = 0x7FFFFFFFFFFFFFFF
cdef uint64_t MAX_EXACT_INTEGER = 1 << 53      # up to here every whole number is a double
cdef double[23] POWERS_OF_TEN = [10.0 ** i for i in range(23)]


cdef struct Field:
    const uint8_t* at
    Py_ssize_t n


cdef struct Value:
    int kinds
    int64_t whole      # an integer, or microseconds
    double number
    bint slow          # the number needs more care than the fast path has


cdef inline Value no_value() noexcept nogil:
    cdef Value v
    v.kinds, v.whole, v.number, v.slow = 0, 0, 0, False
    return v


include "blanks.pxi"
include "numerals.pxi"
include "clock.pxi"
include "written.pxi"


cdef inline Value time(Field f) noexcept nogil:
    cdef:
        Value v = no_value()
        int64_t day, micro, east
        Py_ssize_t used
        Field rest
    if f.n >= 8 and f.at[2] == c":":
        v.whole = clock(f, True, &used)
        v.kinds = CLOCK if v.whole >= 0 and used == f.n else 0
        return v
    if f.n < 10 or f.at[4] != c"-":
        return v
    day = days(f)
    if day == NO_DAY:
        return v
    v.whole = day * SECONDS_PER_DAY * 1_000_000
    if f.n == 10:
        v.kinds = DATE | MOMENT | YEARS_FIRST
        return v
    if not (f.at[10] == c"T" or f.at[10] == c" "):
        return v
    rest.at, rest.n = f.at + 11, f.n - 11
    micro = clock(rest, False, &used)
    if micro < 0:
        return v
    rest.at, rest.n = rest.at + used, rest.n - used
    east = zone(rest)
    if east == NO_ZONE:
        return v
    v.whole += micro - east * 1_000_000
    v.kinds = MOMENT | YEAR_FIRST_MOMENT
    return v


cdef inline Value value_of(Field f, int kinds) noexcept nogil:
    """The field as one of some kinds; numbers and moments as they are written plainly."""
    cdef Value v = no_value()
    if kinds & (NUMBER | INTEGER | POINTS | COMMAS):
        v = number(f)
    if not v.kinds & kinds and kinds & (BOOLEAN | NUMBER):
        v = word(f)
    if not v.kinds & kinds and kinds & (DATE | MOMENT | CLOCK | YEARS_FIRST):
        v = time(f)
    if not v.kinds & kinds and kinds & DATES:
        v = written_date(f, kinds)
    v.kinds &= kinds
    return v


cdef inline int json_kinds(Field f, int kinds) noexcept nogil:
    """The kinds that a value of JSON has: only what is in quotes can be a time."""
    if f.n >= 2 and f.at[0] == c'"':
        f.at, f.n = f.at + 1, f.n - 2
        return value_of(f, kinds & (DATE | MOMENT | CLOCK | DATES)).kinds
    if f.n and f.at[0] == c"[":
        f = trim(f.at + 1, f.n - 1)
        return kinds & (LIST if f.n and (f.at[0] == c'"' or f.at[0] == c"]") else NESTED)
    if f.n and f.at[0] == c"{":
        return kinds & NESTED
    return value_of(f, kinds & (BOOLEAN | INTEGER | NUMBER)).kinds


def kinds(const int64_t[::1] offsets, const uint8_t[::1] data, missing, int possible, list affixes):
    """Which of the ``possible`` kinds all fields have that are not missing, and their affixes.

    The affixes that some field has are bits: 1 for none, ``1 << (i + 1)`` for that of number i.
    """
    cdef:
        const uint8_t[::1] gap = missing.view(np.uint8), text = b"".join(affixes) + b"\0"
        const int64_t[::1] ends = np.cumsum([0] + [len(affix) for affix in affixes])
        Py_ssize_t i, n = gap.shape[0]
        int every = possible, kinds_of_field
        uint64_t seen = 0
        Affixes known
        Written w
        Field f
    known.text, known.ends, known.n = &text[0], &ends[0], len(affixes)
    with nogil:
        for i in range(n):
            if gap[i]:
                continue
            f = trim(&data[0] + offsets[i], offsets[i + 1] - offsets[i])
            kinds_of_field = value_of(f, every).kinds
            if kinds_of_field:
                seen |= 1
            elif every & (POINTS | COMMAS):
                w = written_number(f, known, 0)
                kinds_of_field, seen = w.kinds, seen | w.affix
            every &= kinds_of_field
            if not every:
                break
    return every, seen


def kinds_in_json(const int64_t[::1] offsets, const uint8_t[::1] data, missing, int possible):
    """Which of the ``possible`` kinds all values have; NESTED is added when some value is nested."""
    cdef:
        const uint8_t[::1] gap = missing.view(np.uint8)
        Py_ssize_t i, n = gap.shape[0]
        int some = 0, kinds_of_field, every = possible & ~NESTED
    with nogil:
        for i in range(n):
            if gap[i]:
                continue
            kinds_of_field = json_kinds(
                trim(&data[0] + offsets[i], offsets[i + 1] - offsets[i]), every | NESTED | LIST)
            some |= kinds_of_field & (NESTED | LIST)
            every &= kinds_of_field
    return every | (some & NESTED) | (NESTED if some & LIST and not every & LIST else 0)


def odd(const int64_t[::1] offsets, const uint8_t[::1] data, missing, int kinds, list affixes):
    """The rows whose field is there and has none of some kinds."""
    cdef:
        const uint8_t[::1] gap = missing.view(np.uint8), text = b"".join(affixes) + b"\0"
        const int64_t[::1] ends = np.cumsum([0] + [len(affix) for affix in affixes])
        Py_ssize_t i, n = gap.shape[0]
        uint8_t[::1] out = np.zeros(n, dtype=np.uint8)
        Affixes known
        Field f
    known.text, known.ends, known.n = &text[0], &ends[0], len(affixes)
    with nogil:
        for i in range(n):
            if not gap[i]:
                f = trim(&data[0] + offsets[i], offsets[i + 1] - offsets[i])
                out[i] = not (value_of(f, kinds).kinds or written_number(f, known, 0).kinds & kinds)
    return np.flatnonzero(out)


def trim_fields(const int64_t[::1] offsets, const uint8_t[::1] data, missing):
    """Offsets, bytes and gaps without blanks around fields, of any width; None if there are none.

    A field of blanks alone is a gap.
    """
    cdef:
        const uint8_t[::1] gap = missing.view(np.uint8)
        Py_ssize_t i, n = gap.shape[0], total = 0
        int64_t[::1] starts
        uint8_t[::1] out, gaps
        bint some = False
        Field f, bare
    with nogil:
        for i in range(n):
            if not gap[i] and offsets[i + 1] > offsets[i]:
                f.at, f.n = &data[0] + offsets[i], offsets[i + 1] - offsets[i]
                if is_blank_ended(f):
                    some = True
                    break
    if not some:
        return None
    starts, gaps = np.zeros(n + 1, dtype=np.int64), missing.view(np.uint8).copy()
    out = np.empty(max(offsets[n] - offsets[0], 1), dtype=np.uint8)
    with nogil:
        for i in range(n):
            f.at, f.n = &data[0] + offsets[i], offsets[i + 1] - offsets[i]
            if not gap[i] and f.n:
                bare = trim_all(f)
                gaps[i] = bare.n == 0
                memcpy(&out[total], bare.at, bare.n)
                total += bare.n
            starts[i + 1] = total
    return np.asarray(starts), np.asarray(out)[:total], np.asarray(gaps).view(np.bool_)


def mark_missing(const int64_t[::1] offsets, const uint8_t[::1] data, missing, list markers):
    """``missing``, and also where the field, blanks left aside, is one of the markers."""
    cdef:
        const uint8_t[::1] text = b"".join(markers) + b"\0"
        int64_t[::1] ends = np.cumsum([0] + [len(m) for m in markers])
        uint8_t[::1] out = missing.view(np.uint8).copy()
        Py_ssize_t i, k, j, n = out.shape[0], n_markers = len(markers), longest
        bint[256] begins      # some marker, or a blank, begins with this byte
        bint blank = b"" in markers
        Field f
    longest = max([len(m) for m in markers], default=-1)
    for i in range(256):
        begins[i] = i == c" " or i == c"\t"
    for m in markers:
        if m:
            begins[<uint8_t>m[0]] = True
    with nogil:
        for i in range(n):
            if out[i]:
                continue
            if offsets[i + 1] == offsets[i]:
                out[i] = blank
                continue
            if not begins[data[offsets[i]]]:
                continue
            f = trim(&data[offsets[i]], offsets[i + 1] - offsets[i])
            if f.n > longest:
                continue
            for k in range(n_markers):
                if ends[k + 1] - ends[k] == f.n:
                    j = 0
                    while j < f.n and f.at[j] == text[ends[k] + j]:
                        j += 1
                    if j == f.n:
                        out[i] = 1
                        break
    return np.asarray(out).view(np.bool_)


def whole(const int64_t[::1] offsets, const uint8_t[::1] data, missing, int kind):
    """Integers, truth values or microseconds; fields of another kind are added to the missing."""
    cdef:
        uint8_t[::1] gap = missing.view(np.uint8).copy()
        Py_ssize_t i, n = gap.shape[0]
        int64_t[::1] out = np.zeros(n, dtype=np.int64)
        Field f
        Value v
    with nogil:
        for i in range(n):
            if gap[i]:
                continue
            f = trim(&data[0] + offsets[i], offsets[i + 1] - offsets[i])
            v = written_date(f, kind) if kind & DATES else value_of(f, kind)
            if kind & DATES and not v.kinds & kind:
                v = time(f)                  # ISO's order is never mistaken for another
                v.kinds = kind if v.kinds & (MOMENT if kind & MOMENTS else DATE) else 0
            if v.kinds & kind:
                out[i] = v.whole
            else:
                gap[i] = 1
    return np.asarray(out), np.asarray(gap).view(np.bool_)


def numbers(const int64_t[::1] offsets, const uint8_t[::1] data, missing):
    """Numbers, correctly rounded; NaN where missing or no number."""
    cdef:
        const uint8_t[::1] gap = missing.view(np.uint8)
        Py_ssize_t i, n = gap.shape[0]
        double[::1] out = np.full(n, NAN)
        Field f
        Value v
    with nogil:
        for i in range(n):
            if gap[i]:
                continue
            f = trim(&data[0] + offsets[i], offsets[i + 1] - offsets[i])
            v = value_of(f, NUMBER)
            if v.slow:
                with gil:
                    out[i] = parse_slowly(f)
            elif v.kinds:
                out[i] = v.number
    return np.asarray(out)


cdef double parse_slowly(Field f):
    """Python's own correctly rounded conversion; too large is infinite."""
    cdef char* text = <char*>PyMem_Malloc(f.n + 1)
    if text == NULL:
        raise MemoryError
    try:
        memcpy(text, f.at, f.n)
        text[f.n] = 0
        return PyOS_string_to_double(text, NULL, NULL)
    finally:
        PyMem_Free(text)


def written_numbers(const int64_t[::1] offsets, const uint8_t[::1] data, missing, int kind,
                    list affixes):
    """Numbers of a kind that is not plain, correctly rounded; NaN where missing or none."""
    cdef:
        const uint8_t[::1] gap = missing.view(np.uint8), text = b"".join(affixes) + b"\0"
        const int64_t[::1] ends = np.cumsum([0] + [len(affix) for affix in affixes])
        Py_ssize_t i, n = gap.shape[0]
        double[::1] out = np.full(n, NAN)
        Affixes known
        Written w
        Field f
        Value v
    known.text, known.ends, known.n = &text[0], &ends[0], len(affixes)
    with nogil:
        for i in range(n):
            if gap[i]:
                continue
            w = written_number(
                trim(&data[0] + offsets[i], offsets[i + 1] - offsets[i]), known, kind)
            if not w.kinds & kind:
                continue
            f.at, f.n = <const uint8_t*>w.plain, w.n
            v = number(f)
            if v.slow:
                with gil:
                    out[i] = parse_slowly(f)
            elif v.kinds:
                out[i] = v.number
    return np.asarray(out)
