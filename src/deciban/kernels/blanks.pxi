"""Blanks around fields; part of fields.pyx."""


cdef inline Field trim(const uint8_t* at, Py_ssize_t n) noexcept nogil:
    cdef Field f
    while n > 0 and (at[0] == c" " or at[0] == c"\t"):
        at += 1
        n -= 1
    while n > 0 and (at[n - 1] == c" " or at[n - 1] == c"\t"):
        n -= 1
    f.at, f.n = at, n
    return f


cdef inline bint has_at(const uint8_t* at, Py_ssize_t n, const char* text, Py_ssize_t size) noexcept nogil:
    """Whether the bytes begin with some others."""
    cdef Py_ssize_t i
    if n < size:
        return False
    for i in range(size):
        if at[i] != <uint8_t>text[i]:
            return False
    return True


cdef inline int space_at(const uint8_t* at, Py_ssize_t n) noexcept nogil:
    """How many bytes the blank is that is here: plain, unbroken, thin; 0 for none."""
    if n and at[0] == c" ":
        return 1
    if has_at(at, n, "\xc2\xa0", 2):
        return 2
    if has_at(at, n, "\xe2\x80\xaf", 3) or has_at(at, n, "\xe2\x80\x89", 3):
        return 3
    return 0


cdef inline Field trim_wide(Field f) noexcept nogil:
    """Without blanks of any width at both ends."""
    cdef int size = space_at(f.at, f.n)
    while size:
        f.at += size
        f.n -= size
        size = space_at(f.at, f.n)
    while f.n:
        if f.at[f.n - 1] == c" ":
            f.n -= 1
        elif f.n >= 2 and space_at(f.at + f.n - 2, 2) == 2:
            f.n -= 2
        elif f.n >= 3 and space_at(f.at + f.n - 3, 3) == 3:
            f.n -= 3
        else:
            break
    return f


cdef inline bint is_blank_ended(Field f) noexcept nogil:
    cdef Field bare
    if 32 < f.at[0] < 128 and 32 < f.at[f.n - 1] < 128:
        return False
    bare = trim_all(f)
    return bare.n < f.n


cdef inline Field trim_all(Field f) noexcept nogil:
    """Without blanks, tabs and line ends at both ends."""
    cdef Py_ssize_t n = -1
    while f.n != n:
        n = f.n
        f = trim_wide(f)
        while f.n and (f.at[0] == c"\t" or f.at[0] == c"\n" or f.at[0] == c"\r"):
            f.at, f.n = f.at + 1, f.n - 1
        while f.n and (f.at[f.n - 1] == c"\t" or f.at[f.n - 1] == c"\n" or f.at[f.n - 1] == c"\r"):
            f.n -= 1
    return f
