"""Written dates, times of a day and offsets from UTC; part of fields.pyx."""


cdef inline int two(const uint8_t* at) noexcept nogil:
    """Two digits, or -1."""
    if c"0" <= at[0] <= c"9" and c"0" <= at[1] <= c"9":
        return 10 * (at[0] - c"0") + at[1] - c"0"
    return -1


cdef inline int64_t day_number(int64_t y, int64_t m, int64_t d) noexcept nogil:
    """Days since 1970-01-01, or NO_DAY where the calendar has no such day."""
    cdef int64_t longest = 31, day
    if not 1 <= m <= 12:
        return NO_DAY
    if m == 2:
        longest = 28 + (y % 4 == 0 and (y % 100 != 0 or y % 400 == 0))
    elif m in (4, 6, 9, 11):
        longest = 30
    if not 1 <= d <= longest:
        return NO_DAY
    # Count from March, so that the odd day of a leap year is the last one; year 0 is 400.
    y += 400 - (m <= 2)
    day = (153 * (m - 3 if m > 2 else m + 9) + 2) // 5 + d - 1
    return 365 * y + y // 4 - y // 100 + y // 400 + day - 719468 - 146097


cdef inline int64_t days(Field f) noexcept nogil:
    """Days since 1970-01-01 of ``YYYY-MM-DD``, or NO_DAY."""
    cdef int64_t century = two(f.at), y = two(f.at + 2)
    if century < 0 or y < 0 or f.at[4] != c"-" or f.at[7] != c"-":
        return NO_DAY
    return day_number(100 * century + y, two(f.at + 5), two(f.at + 8))


cdef inline int64_t clock(Field f, bint seconds_needed, Py_ssize_t* used) noexcept nogil:
    """Microseconds since midnight of ``HH:MM[:SS[.ffffff]]``, or -1; ``used`` bytes of the field."""
    cdef int64_t h, m, s = 0, micro = 0, unit = 100_000
    cdef Py_ssize_t i = 5
    used[0] = 0
    if f.n < 5 or f.at[2] != c":":
        return -1
    h, m = two(f.at), two(f.at + 3)
    if not (0 <= h <= 23 and 0 <= m <= 59):
        return -1
    if f.n >= 8 and f.at[5] == c":":
        s = two(f.at + 6)
        i = 8
        if not 0 <= s <= 59:
            return -1
        if i + 1 < f.n and f.at[i] == c".":
            i += 1
            while i < f.n and c"0" <= f.at[i] <= c"9" and i < 18:
                micro += unit * (f.at[i] - c"0")
                unit //= 10
                i += 1
            if i == 9:
                return -1
    elif seconds_needed:
        return -1
    used[0] = i
    return ((h * 60 + m) * 60 + s) * 1_000_000 + micro


cdef inline int64_t zone(Field f) noexcept nogil:
    """Seconds east of UTC of an offset, or NO_ZONE; no zone is none."""
    cdef int64_t h, m = 0
    if f.n == 0 or (f.n == 1 and f.at[0] == c"Z"):
        return 0
    if f.n not in (3, 5, 6) or not (f.at[0] == c"+" or f.at[0] == c"-"):
        return NO_ZONE
    h = two(f.at + 1)
    if f.n == 6 and f.at[3] != c":":
        return NO_ZONE
    if f.n > 3:
        m = two(f.at + f.n - 2)
    if not (0 <= h <= 15 and 0 <= m <= 59):
        return NO_ZONE
    return (h * 60 + m) * (60 if f.at[0] == c"+" else -60)
