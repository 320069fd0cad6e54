"""Pieces of a text as tokens of a lexicon; part of letters.pyx."""

cdef enum:
    MAX_WAITING = 32    # pieces: while they are found, memory answers

cdef struct Piece:
    uint64_t key        # what its token is looked for by
    Py_ssize_t start
    Py_ssize_t stop


@cython.final
@cython.freelist(2)
cdef class Text:
    """A text that is looked at, what its tokens begin with, and what they are added to.

    Pieces wait until there are some: their places in the lexicon are read meanwhile.
    """

    cdef:
        Piece[MAX_WAITING] waiting
        int n_waiting
        str text
        str prefix
        Tokens out
        uint64_t start      # the hash of the prefix
        Py_ssize_t longest
        bint numbers


cdef Text open_text(str text, str prefix, Tokens out, Py_ssize_t longest=0, bint numbers=True):
    cdef Text opened = Text.__new__(Text)
    if prefix and not (prefix.isascii() and prefix.endswith(":")):
        raise ValueError(f"a prefix of ASCII with a colon is needed, got {prefix!r}.")
    out.begin()
    opened.text, opened.prefix, opened.out = text, prefix, out
    opened.longest, opened.numbers = longest, numbers
    opened.start = hash_points(<const uint8_t*>PyUnicode_DATA(prefix), 0, len(prefix), out.lexicon.start)
    return opened


cdef inline int add(Text text, const Point* at, Py_ssize_t start, Py_ssize_t stop) except -1:
    """Add a piece of the text."""
    cdef uint64_t key
    if text.prefix:
        key = long_key(hash_points(at, start, stop, text.start))
    else:
        key = key_of(at + start, stop - start, text.start)
    return add_piece(text, at, Piece(key, start, stop))


cdef inline int add_hashed(
    Text text, const Point* at, Py_ssize_t start, Py_ssize_t stop, uint64_t h
) except -1:
    """Add a piece of the text, whose hash with the prefix is known."""
    cdef uint64_t key = 0 if text.prefix else short_key(at + start, stop - start)
    return add_piece(text, at, Piece(key if key else long_key(h), start, stop))


cdef inline int add_piece(Text text, const Point* at, Piece piece) except -1:
    fetch_slot(text.out.lexicon, piece.key)
    text.waiting[text.n_waiting] = piece
    text.n_waiting += 1
    return add_waiting(text, at) if text.n_waiting == MAX_WAITING else 0


cdef int add_waiting(Text text, const Point* at) except -1:
    """Add the pieces that wait."""
    cdef:
        Piece* piece
        int i
    for i in range(text.n_waiting):
        piece = &text.waiting[i]
        add_token(text.out, at, piece.start, piece.stop, piece.key, text.text, text.prefix)
    text.n_waiting = 0
    return 0
