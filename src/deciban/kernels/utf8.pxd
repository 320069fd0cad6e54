"""One character of UTF-8, read or written."""

from libc.stdint cimport int64_t, uint8_t, uint32_t


cdef inline bint continues(const uint8_t* at, Py_ssize_t n) noexcept nogil:
    """Whether the second to the last of ``n`` bytes continue a character."""
    cdef Py_ssize_t i
    for i in range(1, n):
        if at[i] & 0xC0 != 0x80:
            return False
    return True


cdef inline Py_ssize_t decode(const uint8_t* at, const uint8_t* end, uint32_t* c) noexcept nogil:
    """Read the character at ``at``; how many bytes it has. A byte that is not UTF-8 is U+FFFD."""
    cdef uint32_t b = at[0], low = 0
    cdef Py_ssize_t n
    if b < 0x80:
        c[0] = b
        return 1
    n = 2 if 0xC2 <= b < 0xE0 else 3 if 0xE0 <= b < 0xF0 else 4 if 0xF0 <= b < 0xF5 else 0
    c[0] = 0xFFFD
    if n == 0 or end - at < n or not continues(at, n):
        return 1
    if n == 2:
        c[0] = ((b & 0x1F) << 6) | (at[1] & 0x3F)
        return 2
    low = ((b & 0x0F) << 12) | ((at[1] & 0x3F) << 6) | (at[2] & 0x3F)
    if n == 4:
        low = ((b & 0x07) << 18) | ((at[1] & 0x3F) << 12) | ((at[2] & 0x3F) << 6) | (at[3] & 0x3F)
    if low < (0x800 if n == 3 else 0x10000) or 0xD800 <= low < 0xE000 or low > 0x10FFFF:
        return 1
    c[0] = low
    return n


cdef inline uint8_t* encode(int64_t c, uint8_t* out) noexcept nogil:
    """Write a character at ``out``; where the next one goes."""
    if c < 0x80:
        out[0] = c
        return out + 1
    if c < 0x800:
        out[0] = 0xC0 | (c >> 6)
        out[1] = 0x80 | (c & 0x3F)
        return out + 2
    if c < 0x10000:
        out[0] = 0xE0 | (c >> 12)
        out[1] = 0x80 | ((c >> 6) & 0x3F)
        out[2] = 0x80 | (c & 0x3F)
        return out + 3
    out[0] = 0xF0 | (c >> 18)
    out[1] = 0x80 | ((c >> 12) & 0x3F)
    out[2] = 0x80 | ((c >> 6) & 0x3F)
    out[3] = 0x80 | (c & 0x3F)
    return out + 4
