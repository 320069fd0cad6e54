"""The different words, hosts, signs and links of one text, as tokens of a lexicon.

For programs that read one message and end: nothing here needs NumPy. A text is in lower
case already; what a letter is, is what Python says, as in its regular expressions.
"""

from deciban.kernels.lexicon cimport (
    FNV_PRIME, Point, Tokens, add_token, fetch_slot, hash_points, key_of, long_key, short_key,
)

cimport cython
from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t

cdef extern from "Python.h":
    int PyUnicode_KIND(object text)
    void* PyUnicode_DATA(object text)
    bint Py_UNICODE_ISALNUM(uint32_t c) nogil
    bint Py_UNICODE_ISDIGIT(uint32_t c) nogil
    bint Py_UNICODE_ISDECIMAL(uint32_t c) nogil
    bint Py_UNICODE_ISSPACE(uint32_t c) nogil

#: What the first characters are: of words, of hosts, of the host and of the path of a link, signs.
cdef enum:
    WORDLY = 1      # a letter, a digit or the underscore
    HOSTLY = 2      # that, or a hyphen
    IN_HOST = 4
    IN_PATH = 8
    CURRENCY = 16
    MARKED = 32     # an exclamation or a question mark
    EURO = 0x20AC
    MAX_LINK_PART = 200
cdef uint8_t[256] KINDS
for _c in range(256):
    KINDS[_c] = (
        (WORDLY | HOSTLY if chr(_c).isalnum() or chr(_c) == "_" else 0)
        | (HOSTLY if chr(_c) == "-" else 0)
        | (0 if chr(_c).isspace() or chr(_c) in "/\"'<>()[]" else IN_HOST)
        | (0 if chr(_c).isspace() or chr(_c) in "\"'<>()" else IN_PATH)
        | (CURRENCY if chr(_c) in "$£¥" else MARKED if chr(_c) in "!?" else 0)
    )


cdef inline int kind_of(uint32_t c) noexcept nogil:
    """What a character is; those beyond Latin-1 are asked for."""
    if c < 256:
        return KINDS[c]
    if Py_UNICODE_ISALNUM(c):
        return WORDLY | HOSTLY | IN_HOST | IN_PATH
    return 0 if Py_UNICODE_ISSPACE(c) else IN_HOST | IN_PATH | sign_of(c)


include "pieces.pxi"


# Words


cdef int find_words(Text text, const Point* at, Py_ssize_t i, Py_ssize_t n) except -1:
    """The runs of two or more letters from ``i`` to ``n``."""
    cdef:
        uint64_t h
        Py_ssize_t start
    while i < n:
        if not kind_of(at[i]) & WORDLY:
            i += 1
            continue
        start, h = i, text.start
        while i < n and kind_of(at[i]) & WORDLY:
            h = (h ^ at[i]) * FNV_PRIME
            i += 1
        if i - start < 2 or i - start > text.longest:
            continue
        if text.numbers or not Py_UNICODE_ISDIGIT(at[start]):
            add_hashed(text, at, start, i, h)
    return 0


cdef enum:
    LETTER = 1      # of a script without spaces
    MARK = 2        # belongs to the letter before it
    PLANES = 0x20000    # the first two have a table
    MAX_RANGES = 64


cdef class Unspaced:
    """Scripts without spaces, by the first and last characters of their blocks, and their marks."""

    cdef:
        uint8_t flags[PLANES]
        uint32_t first[MAX_RANGES]
        uint32_t last[MAX_RANGES]
        int n_ranges

    def __init__(self, ranges, str marks):
        cdef uint32_t c, first, last
        for first, last in ranges:
            for c in range(first, min(last + 1, <uint32_t>PLANES)):
                self.flags[c] = LETTER if is_letter(c) else 0
            if last >= PLANES:
                if self.n_ranges == MAX_RANGES:
                    raise ValueError(f"at most {MAX_RANGES} blocks are needed")
                self.first[self.n_ranges] = max(first, <uint32_t>PLANES)
                self.last[self.n_ranges] = last
                self.n_ranges += 1
        for mark in marks:
            c = ord(mark)
            if c >= PLANES:
                raise ValueError("marks of the first two planes are needed")
            self.flags[c] |= MARK

    cdef inline uint8_t of(self, uint32_t c) noexcept nogil:
        cdef int i
        if c < PLANES:
            return self.flags[c]
        for i in range(self.n_ranges):
            if self.first[i] <= c <= self.last[i]:
                return LETTER if is_letter(c) else 0
        return 0


cdef inline bint is_letter(uint32_t c) noexcept nogil:
    """What regular expressions call ``[^\\W\\d]``, of characters that are no underscores."""
    return Py_UNICODE_ISALNUM(c) and not Py_UNICODE_ISDECIMAL(c)


cdef inline int add_short(Text text, const Point* at, Py_ssize_t start, Py_ssize_t stop) except -1:
    """Add a piece, if it is neither too long nor a number."""
    if stop - start > text.longest or (not text.numbers and Py_UNICODE_ISDIGIT(at[start])):
        return 0
    return add(text, at, start, stop)


cdef int find_any_words(
    Text text, Unspaced scripts, const Point* at, Py_ssize_t i, Py_ssize_t n
) except -1:
    """Words; of scripts without spaces characters with their marks, and pairs of them."""
    cdef Py_ssize_t start, before
    while i < n:
        before = -1
        while i < n and scripts.of(at[i]) & LETTER:
            start = i
            i += 1
            while i < n and scripts.of(at[i]) & MARK:
                i += 1
            add_short(text, at, start, i)
            if before >= 0:
                add_short(text, at, before, i)
            before = start
        start = i
        while i < n and kind_of(at[i]) & WORDLY and not scripts.of(at[i]) & LETTER:
            i += 1
        if i - start >= 2:
            add_short(text, at, start, i)
        elif i < n and i == start and not scripts.of(at[i]) & LETTER:
            i += 1
    return 0


# Hosts


cdef int find_hosts(Text text, const Point* at, Py_ssize_t i, Py_ssize_t n) except -1:
    """Names joined by dots from ``i`` to ``n``."""
    cdef Py_ssize_t start, dots
    while i < n:
        if not kind_of(at[i]) & HOSTLY:
            i += 1
            continue
        start, dots = i, 0
        while i < n and (kind_of(at[i]) & HOSTLY or (
            at[i] == 46 and i + 1 < n and kind_of(at[i + 1]) & HOSTLY
        )):
            dots += at[i] == 46
            i += 1
        if dots:
            add_domains(text, at, start, i)
    return 0


cdef int add_domains(Text text, const Point* at, Py_ssize_t start, Py_ssize_t stop) except -1:
    """A host and the domains above it, or an address and its networks."""
    cdef:
        Py_ssize_t i = stop - 1, last
        bint address = True
    while at[i] != 46:
        address = address and Py_UNICODE_ISDIGIT(at[i])
        i -= 1
    last = i
    add(text, at, start, stop)
    if address:  # from the first name on; one number alone is no network
        for i in range(first_dot(at, start) + 1, last + 1):
            if at[i] == 46:
                add(text, at, start, i)
    else:
        for i in range(start, last):
            if at[i] == 46:
                add(text, at, i + 1, stop)
    return 0


cdef inline Py_ssize_t first_dot(const Point* at, Py_ssize_t i) noexcept nogil:
    while at[i] != 46:
        i += 1
    return i


# Signs and links


cdef inline int sign_of(uint32_t c) noexcept nogil:
    """Whether a character is one of money, or a mark."""
    return KINDS[c] if c < 256 else CURRENCY if c == EURO else 0


cdef int find_signs(Text text, const Point* at, Py_ssize_t n) except -1:
    """Sums of money (``[$£€¥] ?\\d[\\d.,]*``) and rows of marks (``[!?]{2,}``)."""
    cdef:
        Py_ssize_t i = 0, start
        int kind
    while i < n:
        kind = sign_of(at[i])
        start = i
        i += 1
        if kind & MARKED:
            while i < n and sign_of(at[i]) & MARKED:
                i += 1
            if i - start >= 2:
                add(text, at, start, i)
        elif kind & CURRENCY:
            if i < n and at[i] == 32:
                i += 1
            if i == n or not Py_UNICODE_ISDECIMAL(at[i]):
                i = start + 1
                continue
            while i < n and (at[i] == 46 or at[i] == 44 or Py_UNICODE_ISDECIMAL(at[i])):
                i += 1
            add(text, at, start, i)
    return 0


cdef inline bint follows(const Point* at, Py_ssize_t i, Py_ssize_t n, const char* wanted) noexcept nogil:
    """Whether the text goes on with some ASCII."""
    cdef Py_ssize_t j = 0
    while wanted[j]:
        if i + j >= n or at[i + j] != <uint8_t>wanted[j]:
            return False
        j += 1
    return True


cdef inline Py_ssize_t link_host(const Point* at, Py_ssize_t i, Py_ssize_t n) noexcept nogil:
    """Where the host of a link begins that itself begins here; -1 if none does."""
    if at[i] == 119:
        return i + 4 if follows(at, i, n, "www.") else -1
    if not follows(at, i, n, "http"):
        return -1
    i += 5 if i + 4 < n and at[i + 4] == 115 else 4
    return i + 3 if follows(at, i, n, "://") else -1


cdef Py_ssize_t add_link(
    Text text, Unspaced scripts, const Point* at, Py_ssize_t i, Py_ssize_t n
) except -2:
    """Add the hosts and the words of a link that begins here; where it ends, -1 if there is none."""
    cdef Py_ssize_t host = link_host(at, i, n), stop
    if host < 0:
        return -1
    stop = host
    while stop < n and stop - host < MAX_LINK_PART and kind_of(at[stop]) & IN_HOST:
        stop += 1
    if stop == host:
        return -1
    find_hosts(text, at, host, stop)
    if stop < n and at[stop] == 47:
        host = stop
        stop += 1
        while stop < n and stop - host <= MAX_LINK_PART and kind_of(at[stop]) & IN_PATH:
            stop += 1
        if sizeof(Point) == 1:
            find_words(text, at, host, stop)
        else:
            find_any_words(text, scripts, at, host, stop)
    return stop


cdef int find_links(Text text, Unspaced scripts, const Point* at, Py_ssize_t n) except -1:
    cdef Py_ssize_t i = 0, stop
    while i < n:
        if at[i] == 104 or at[i] == 119:
            stop = add_link(text, scripts, at, i, n)
            if stop >= 0:
                i = stop
                continue
        i += 1
    return 0


cdef enum:      # what is looked for in a text
    WORDS = 0
    HOSTS = 1
    SIGNS = 2
    LINKS = 3
    LINK = 4


cdef Py_ssize_t find_points(
    Text text, Unspaced scripts, int what, const Point* at, Py_ssize_t n
) except -2:
    cdef Py_ssize_t found = 0
    if what == HOSTS:
        find_hosts(text, at, 0, n)
    elif what == SIGNS:
        find_signs(text, at, n)
    elif what == LINKS:
        find_links(text, scripts, at, n)
    elif what == LINK:
        found = add_link(text, scripts, at, 0, n)
    elif Point is uint8_t:
        find_words(text, at, 0, n)
    else:
        find_any_words(text, scripts, at, 0, n)
    add_waiting(text, at)
    return found


cdef Py_ssize_t find_in(
    str text, Unspaced scripts, int what, str prefix, Tokens out, Py_ssize_t longest=0,
    bint numbers=True,
) except -2:
    """Look for something in a text, whatever the width of its characters."""
    cdef:
        void* data = PyUnicode_DATA(text)
        int kind = PyUnicode_KIND(text)
        Py_ssize_t n = len(text)
        Text opened = open_text(text, prefix, out, longest, numbers)
    if kind == 1:
        return find_points(opened, scripts, what, <const uint8_t*>data, n)
    if kind == 2:
        return find_points(opened, scripts, what, <const uint16_t*>data, n)
    return find_points(opened, scripts, what, <const uint32_t*>data, n)


def words(
    str text not None, Unspaced scripts not None, str prefix not None, Py_ssize_t longest,
    bint numbers, Tokens out not None,
):
    """Add the runs of two or more letters, up to the longest; ``numbers`` also if digits begin.

    Of scripts without spaces, characters with their marks and pairs of them are added.
    """
    find_in(text, scripts, WORDS, prefix, out, longest, numbers)


def hosts(str text not None, str prefix not None, Tokens out not None):
    """Add names joined by dots, with the domains above each; addresses with their networks."""
    find_in(text, None, HOSTS, prefix, out)


def signs(str text not None, str prefix not None, Tokens out not None):
    """Add sums of money, and exclamation and question marks that follow each other."""
    find_in(text, None, SIGNS, prefix, out)


def links(
    str text not None, Unspaced scripts not None, str prefix not None, Py_ssize_t longest,
    Tokens out not None,
):
    """Add the hosts and the words of the paths of links to the web, wherever they are."""
    find_in(text, scripts, LINKS, prefix, out, longest)


def link(
    str text not None, Unspaced scripts not None, str prefix not None, Py_ssize_t longest,
    Tokens out not None,
):
    """Add what :func:`links` adds of a text that is one link; False if it does not begin so."""
    if not text.startswith(("h", "w")):
        return False
    return find_in(text, scripts, LINK, prefix, out, longest) >= 0
