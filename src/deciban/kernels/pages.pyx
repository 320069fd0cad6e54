"""HTML to text in one pass over the characters: tags, what they hide, and references to characters.

What a tag with a style does is told by whoever calls, once for each that is different. For programs
that read one message and end: nothing here needs NumPy.
"""

from cpython.unicode cimport PyUnicode_Substring

cimport cython
from libc.stdint cimport uint8_t, uint16_t, uint32_t
from libc.stdlib cimport free, malloc
from libc.string cimport memchr, memcpy

cdef extern from "Python.h":
    int PyUnicode_KIND(object text)
    void* PyUnicode_DATA(object text)
    object PyUnicode_FromKindAndData(int kind, const void* data, Py_ssize_t n)

ctypedef fused Point:
    uint8_t
    uint16_t
    uint32_t

cdef enum:
    MAX_KNOWN_REFERENCE = 40    # characters of a reference whose meaning may be kept
    MAX_NAME = 32               # characters of the name of a reference

#: The meaning of references to characters, as far as it was asked for.
REFERENCES = {}
MAX_REFERENCES = 4096


cdef inline Py_ssize_t find(const Point* at, Py_ssize_t i, Py_ssize_t n, Point wanted) noexcept nogil:
    """Where a character is next; ``n`` if it is not."""
    cdef const void* place
    if Point is uint8_t:
        place = memchr(at + i, wanted, n - i) if i < n else NULL
        return n if place == NULL else <const uint8_t*>place - at
    else:
        while i < n and at[i] != wanted:
            i += 1
        return i


cdef inline bint is_name(uint32_t c) noexcept nogil:
    return 65 <= (c & ~<uint32_t>32) <= 90 or c == 33


cdef inline Py_ssize_t tag_end(
    const Point* at, Py_ssize_t i, Py_ssize_t n, bint* is_tag
) noexcept nogil:
    """From a ``<`` on: where ``</?[a-zA-Z!][^<>]*>`` ends, or else where it cannot any more."""
    i += 1
    is_tag[0] = False
    if i < n and at[i] == 47:
        i += 1
    if i >= n or not is_name(at[i]):
        return i
    while i < n and at[i] != 60 and at[i] != 62:
        i += 1
    is_tag[0] = i < n and at[i] == 62
    return i


# What is within a tag


cdef inline bint is_word(uint8_t c) noexcept nogil:
    return 65 <= (c & 223) <= 90 or 48 <= c <= 57 or c == 95


cdef inline bint is_space(uint8_t c) noexcept nogil:
    return 9 <= c <= 13 or 28 <= c <= 32


cdef inline bint has(const uint8_t* at, Py_ssize_t i, Py_ssize_t n, const char* wanted) noexcept nogil:
    """Whether ASCII goes on with a word in lower case, in any case."""
    cdef Py_ssize_t j = 0
    while wanted[j]:
        if i + j >= n or at[i + j] | 32 != <uint8_t>wanted[j]:
            return False
        j += 1
    return True


cdef bint may_hide(const uint8_t* at, Py_ssize_t i, Py_ssize_t n) noexcept nogil:
    """Whether attributes have a word of those that hide; ``-`` is like itself in any case."""
    while i < n:
        if has(at, i, n, "none") or has(at, i, n, "hidden") or has(at, i, n, "font-size") or (
            has(at, i, n, "opacity")
        ):
            return True
        i += 1
    return False


cdef inline Py_ssize_t linking(const uint8_t* at, Py_ssize_t i, Py_ssize_t n) noexcept nogil:
    """How long the name of an attribute is that links; 0 if none begins here."""
    if has(at, i, n, "href"):
        return 4
    if has(at, i, n, "src"):
        return 3
    if has(at, i, n, "action"):
        return 6
    return 10 if has(at, i, n, "background") else 0


cdef inline Py_ssize_t after_spaces(const uint8_t* at, Py_ssize_t i, Py_ssize_t n) noexcept nogil:
    while i < n and is_space(at[i]):
        i += 1
    return i


cdef list targets_of(str inside, const uint8_t* at, Py_ssize_t i, Py_ssize_t n):
    """Where links go, in attributes of ASCII."""
    cdef:
        list out = []
        Py_ssize_t name, value, end
    while i < n:
        name = 0 if is_word(at[i - 1]) else linking(at, i, n)
        value = after_spaces(at, i + name, n)
        if not name or value >= n or at[value] != 61:
            i += 1
            continue
        value = end = after_spaces(at, value + 1, n)
        if value < n and (at[value] == 34 or at[value] == 39):
            end = find(at, value + 1, n, at[value])
            if end < n:
                out.append(PyUnicode_Substring(inside, value + 1, end))
                i = end + 1
                continue
            end = value
        while end < n and not is_space(at[end]) and at[end] != 62:
            end += 1
        if end > value:
            out.append(PyUnicode_Substring(inside, value, end))
        i = max(end, i + 1)
    return out


cdef tuple describe_plain(str inside, frozenset inline):
    """What a tag of ASCII does that has no style; None of one that may have."""
    cdef:
        const uint8_t* at = <const uint8_t*>PyUnicode_DATA(inside)
        Py_ssize_t n = len(inside), start = at[0] == 47, i = start + 1
        str name
    while i < n and is_word(at[i]) and at[i] != 95:
        i += 1
    if start == 0 and may_hide(at, i, n):
        return None
    name = PyUnicode_Substring(inside, start, i).lower()
    return name, start == 0, "" if name in inline else " ", (
        [] if start else targets_of(inside, at, i, n)
    ), False


# A page


cdef struct Side:
    uint8_t* at     # characters as wide as those of the page
    Py_ssize_t n


cdef inline void append(Side* side, const Point* at, Py_ssize_t start, Py_ssize_t stop) noexcept nogil:
    if stop > start:
        memcpy(side.at + side.n * sizeof(Point), at + start, (stop - start) * sizeof(Point))
        side.n += stop - start


cdef scan_points(const Point* at, Py_ssize_t n, str text, frozenset inline, describe):
    cdef:
        Side[2] sides           # shown, hidden
        Side* into = &sides[0]
        Py_ssize_t i = 0, begin = 0, end, depth = 0
        bint is_tag, opens, hides
        dict tags = {}
        list links = [], targets
        set names = set()
        str name, gap, hiding = None, inside
        tuple tag
        Point space = 32
    sides[0].n = sides[1].n = 0
    # Every tag is longer than the gap that takes its place.
    sides[0].at = <uint8_t*>malloc(n * sizeof(Point) + 1)
    sides[1].at = <uint8_t*>malloc(n * sizeof(Point) + 1)
    try:
        if sides[0].at == NULL or sides[1].at == NULL:
            raise MemoryError
        while True:
            i = find(at, i, n, <Point>60)
            if i >= n:
                break
            end = tag_end(at, i, n, &is_tag)
            if not is_tag:
                i = end
                continue
            append(into, at, begin, i)
            inside = PyUnicode_Substring(text, i + 1, end)
            i = begin = end + 1
            tag = tags.get(inside)
            if tag is None:
                tag = describe_plain(inside, inline) if inside.isascii() else None
                if tag is None:
                    tag = tuple(describe(inside))
                tags[inside] = tag
                name, opens, gap, targets, hides = tag
                if opens:
                    names.add(name)
                    links.extend(targets)
                    if hides:
                        names.add("hidden")
            name, opens, gap, targets, hides = tag
            if gap:
                append(into, &space, 0, 1)
            if hiding is not None and name == hiding:
                depth += 1 if opens else -1
                if not depth:
                    into, hiding = &sides[0], None
            elif hides and hiding is None:
                into, hiding, depth = &sides[1], name, 1
        append(into, at, begin, n)
        shown = PyUnicode_FromKindAndData(sizeof(Point), sides[0].at, sides[0].n)
        hidden = PyUnicode_FromKindAndData(sizeof(Point), sides[1].at, sides[1].n)
        return shown, hidden, links, names
    finally:
        free(sides[0].at)
        free(sides[1].at)


def scan(str text not None, frozenset inline not None, describe):
    """What is shown and what is hidden, links, and names of tags that open.

    ``inline`` are the names of tags in which a word goes on. ``describe`` gets what is between the
    angle brackets of a tag that may hide, and returns a tuple: a name in lower case, whether it
    opens, a space if words end there or an empty text, links, whether it hides.

    >>> scan("a<b>c</b><p>d<a href=x>", frozenset({"a", "b"}), None)
    ('ac d', '', ['x'], {...})
    """
    cdef:
        void* data = PyUnicode_DATA(text)
        int kind = PyUnicode_KIND(text)
    if kind == 1:
        return scan_points(<const uint8_t*>data, len(text), text, inline, describe)
    if kind == 2:
        return scan_points(<const uint16_t*>data, len(text), text, inline, describe)
    return scan_points(<const uint32_t*>data, len(text), text, inline, describe)


cdef inline bint is_digit(uint32_t c) noexcept nogil:
    return 48 <= c <= 57


cdef inline bint is_hex_digit(uint32_t c) noexcept nogil:
    return is_digit(c) or 97 <= (c | 32) <= 102


cdef inline bint in_name(uint32_t c) noexcept nogil:
    return not (c == 9 or c == 10 or c == 12 or c == 32 or c == 60 or c == 38 or c == 35 or c == 59)


cdef Py_ssize_t reference_end(const Point* at, Py_ssize_t i, Py_ssize_t n) noexcept nogil:
    """From an ``&`` on: where a reference ends; where it is, if there is none."""
    cdef Py_ssize_t ampersand = i, start
    i += 1
    if i < n and at[i] == 35:
        i += 1
        start = i
        while i < n and is_digit(at[i]):
            i += 1
        if i == start and i < n and (at[i] | 32) == 120:
            i += 1
            start = i
            while i < n and is_hex_digit(at[i]):
                i += 1
    else:
        start = i
        while i < n and i - start < MAX_NAME and in_name(at[i]):
            i += 1
    if i == start:
        return ampersand
    return i + 1 if i < n and at[i] == 59 else i


cdef str unescape_points(const Point* at, Py_ssize_t n, str text, mean):
    cdef:
        list pieces = []
        Py_ssize_t i, begin = 0, end
    i = find(at, 0, n, <Point>38)
    while i < n:
        end = reference_end(at, i, n)
        if end > i:
            reference = PyUnicode_Substring(text, i, end)
            meaning = REFERENCES.get(reference)
            if meaning is None:
                meaning = mean(reference)
                if end - i <= MAX_KNOWN_REFERENCE and len(REFERENCES) < MAX_REFERENCES:
                    REFERENCES[reference] = meaning
            if begin < i:
                pieces.append(PyUnicode_Substring(text, begin, i))
            pieces.append(meaning)
            begin = end
        i = find(at, max(end, i + 1), n, <Point>38)
    if not begin:
        return text
    pieces.append(PyUnicode_Substring(text, begin, n))
    return "".join(pieces)


def unescape(str text not None, mean):
    """A text with the meaning of references to characters in their places.

    >>> unescape("a &amp; b &#65 &c &", {"&amp;": "&", "&#65": "A", "&c": "&c"}.get)
    'a & b A &c &'
    """
    cdef:
        void* data = PyUnicode_DATA(text)
        int kind = PyUnicode_KIND(text)
    if kind == 1:
        return unescape_points(<const uint8_t*>data, len(text), text, mean)
    if kind == 2:
        return unescape_points(<const uint16_t*>data, len(text), text, mean)
    return unescape_points(<const uint32_t*>data, len(text), text, mean)
