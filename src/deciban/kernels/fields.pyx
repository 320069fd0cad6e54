"""What a written field can be: fields of text to numbers, truth values and times.

The grammar, blanks around a field left aside:

- INTEGER ``-?(0|[1-9][0-9]*)`` within 64 bits
- NUMBER ``[+-]?[0-9]*.?[0-9]*([eE][+-]?[0-9]+)?`` with at least one digit, or
  ``inf``, ``infinity``, ``nan``; never with a leading zero before a digit:
  ``00123`` is a code, not a quantity
- BOOLEAN ``true``, ``false``, in any case
- DATE ``YYYY-MM-DD``; CLOCK ``HH:MM:SS`` with up to nine decimals
- MOMENT a date, or a date, ``T`` or a blank, ``HH:MM``, seconds or not, and ``Z`` or an offset
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

cdef enum:
    SECONDS_PER_DAY = 86_400
    NO_DAY = -10_000_000
    NO_ZONE = -1_000_000

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


cdef inline Field trim(const uint8_t* at, Py_ssize_t n) noexcept nogil:
    cdef Field f
    while n > 0 and (at[0] == c" " or at[0] == c"\t"):
        at += 1
        n -= 1
    while n > 0 and (at[n - 1] == c" " or at[n - 1] == c"\t"):
        n -= 1
    f.at, f.n = at, n
    return f


cdef inline bint is_word(Field f, const char* word, Py_ssize_t n) noexcept nogil:
    """Whether the field is a word of small letters, in any case."""
    cdef Py_ssize_t i
    if f.n != n:
        return False
    for i in range(n):
        if (f.at[i] | 32) != <uint8_t>word[i]:
            return False
    return True


cdef inline Value word(Field f) noexcept nogil:
    cdef Value v = no_value()
    cdef Field bare = f
    if is_word(f, "true", 4) or is_word(f, "false", 5):
        v.kinds, v.whole = BOOLEAN, f.n == 4
        return v
    if f.n and (f.at[0] == c"-" or f.at[0] == c"+"):
        bare.at += 1
        bare.n -= 1
    if is_word(bare, "nan", 3):
        v.kinds, v.number = NUMBER, NAN
    elif is_word(bare, "inf", 3) or is_word(bare, "infinity", 8):
        v.kinds, v.number = NUMBER, -INFINITY if f.at[0] == c"-" else INFINITY
    return v


cdef struct Digits:
    uint64_t value       # the first 19 significant digits
    int n                # how many significant digits there are
    int point            # the power of ten of the last one in value
    bint fraction        # there is a decimal point
    Py_ssize_t used      # bytes read; 0 when there was no digit


cdef inline Digits digits_of(const uint8_t* at, Py_ssize_t n) noexcept nogil:
    cdef:
        Digits d
        Py_ssize_t i
        bint seen = False
    d.value, d.n, d.point, d.fraction, d.used = 0, 0, 0, False, 0
    for i in range(n):
        if c"0" <= at[i] <= c"9":
            seen = True
            d.n += d.n > 0 or at[i] != c"0"
            if d.n <= 19:
                d.value = 10 * d.value + (at[i] - c"0")
                d.point -= d.fraction
            else:
                d.point += not d.fraction
        elif at[i] == c"." and not d.fraction:
            d.fraction = True
        else:
            break
    else:
        i = n
    d.used = i if seen else 0
    return d


cdef inline int exponent(const uint8_t* at, Py_ssize_t n, bint* good) noexcept nogil:
    """What follows the digits: nothing is 0, otherwise ``e`` and a power of ten."""
    cdef Py_ssize_t i = 1
    cdef int e = 0, sign = 1
    good[0] = n == 0
    if n < 2 or at[0] | 32 != c"e":
        return 0
    if at[1] == c"-" or at[1] == c"+":
        sign = -1 if at[1] == c"-" else 1
        i = 2
    good[0] = i < n
    while i < n:
        if not c"0" <= at[i] <= c"9":
            good[0] = False
            return 0
        e = min(10 * e + (at[i] - c"0"), 100_000)
        i += 1
    return sign * e


cdef inline Value number(Field f) noexcept nogil:
    """A number in decimal notation, exact: either as one division or product, or marked slow."""
    cdef:
        Value v = no_value()
        Digits d
        Py_ssize_t sign = f.n > 0 and (f.at[0] == c"-" or f.at[0] == c"+"), rest
        bint negative = f.n > 0 and f.at[0] == c"-", good
        int power
    if sign + 1 < f.n and f.at[sign] == c"0" and c"0" <= f.at[sign + 1] <= c"9":
        return v
    d = digits_of(f.at + sign, f.n - sign)
    rest = f.n - sign - d.used
    power = d.point + exponent(f.at + sign + d.used, rest, &good)
    if d.used == 0 or not good:
        return v
    v.kinds = NUMBER
    if (rest == 0 and not d.fraction and d.n <= 19 and (negative or sign == 0)
            and d.value - negative <= MAX_INTEGER):      # minus zero wraps round
        v.kinds = NUMBER | INTEGER
        v.whole = <int64_t>(0 - d.value) if negative else <int64_t>d.value
    if d.value == 0:
        v.number = 0
    elif d.value <= MAX_EXACT_INTEGER and d.n <= 19 and -22 <= power <= 22:
        v.number = d.value / POWERS_OF_TEN[-power] if power < 0 else d.value * POWERS_OF_TEN[power]
    else:
        v.slow = True
    v.number = -v.number if negative else v.number
    return v


include "clock.pxi"


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
        v.kinds = DATE | MOMENT
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
    v.kinds = MOMENT
    return v


cdef inline Value value_of(Field f, int kinds) noexcept nogil:
    """The field as one of some kinds."""
    cdef Value v = no_value()
    if kinds & (NUMBER | INTEGER):
        v = number(f)
    if not v.kinds & kinds and kinds & (BOOLEAN | NUMBER):
        v = word(f)
    if not v.kinds & kinds and kinds & (DATE | MOMENT | CLOCK):
        v = time(f)
    v.kinds &= kinds
    return v


cdef inline Value json_value(Field f, int kinds) noexcept nogil:
    """A value of JSON as one of some kinds: only what is in quotes can be a time."""
    cdef Value v
    if f.n >= 2 and f.at[0] == c'"':
        f.at, f.n = f.at + 1, f.n - 2
        return value_of(f, kinds & (DATE | MOMENT | CLOCK))
    v = value_of(f, kinds & (BOOLEAN | INTEGER | NUMBER))
    if f.n and (f.at[0] == c"{" or f.at[0] == c"["):
        v.kinds = kinds & NESTED
    return v


def kinds(const int64_t[::1] offsets, const uint8_t[::1] data, missing, int possible, bint json):
    """Which of the ``possible`` kinds all fields have that are not missing.

    In JSON, NESTED is added when some field is an object or a list.
    """
    cdef:
        const uint8_t[::1] gap = missing.view(np.uint8)
        Py_ssize_t i, n = gap.shape[0]
        int some = 0, kinds_of_field, every = possible & ~NESTED
        Field f
    with nogil:
        for i in range(n):
            if gap[i]:
                continue
            f = trim(&data[0] + offsets[i], offsets[i + 1] - offsets[i])
            if json:
                kinds_of_field = json_value(f, every | NESTED).kinds
                some |= kinds_of_field & NESTED
            else:
                kinds_of_field = value_of(f, every).kinds
            every &= kinds_of_field
            if not json and not every:
                break
    return every | some


def mark_missing(const int64_t[::1] offsets, const uint8_t[::1] data, missing, list markers):
    """``missing``, and also where the field, blanks left aside, is one of the markers."""
    cdef:
        const uint8_t[::1] text = b"".join(markers) + b"\0"
        int64_t[::1] ends = np.cumsum([0] + [len(m) for m in markers])
        uint8_t[::1] out = missing.view(np.uint8).copy()
        Py_ssize_t i, k, j, n = out.shape[0], n_markers = len(markers), longest
        Field f
    longest = max([len(m) for m in markers], default=-1)
    with nogil:
        for i in range(n):
            if out[i]:
                continue
            f.n = 0
            if offsets[i + 1] > offsets[i]:
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
        Value v
    with nogil:
        for i in range(n):
            if gap[i]:
                continue
            v = value_of(trim(&data[0] + offsets[i], offsets[i + 1] - offsets[i]), kind)
            if v.kinds:
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
