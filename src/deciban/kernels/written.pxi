"""Numbers and dates as people write them, in the ways of many countries; part of fields.pyx.

A number may have a decimal comma, thousands that are set apart, and a currency or percent
sign (an *affix*) before or behind it. A date may begin with its day, month or year, and name
its month. Which of the ways a column is written in shows only in all its fields: each field is
given all the ways in which it can be read.
"""

cdef enum:
    MAX_WRITTEN_BYTES = 64
    MAX_GROUPS = 16

cdef enum Separator:
    NO_SEPARATOR = 0
    BY_POINT = 1
    BY_COMMA = 2
    BY_SPACE = 3
    BY_QUOTE = 4


cdef struct Affixes:
    const uint8_t* text
    const int64_t* ends      # affix i is text[ends[i] .. ends[i + 1]]
    int n


cdef struct Written:
    int kinds
    uint64_t affix                       # 1: none; 1 << (i + 1): affix i
    char[MAX_WRITTEN_BYTES + 4] plain    # the number as Python writes it, under the kind asked for
    int n


cdef inline int sign_at(Field f, bint* negative) noexcept nogil:
    """How many bytes the sign is that the field begins with: plus, minus, or the mathematician's."""
    if f.n and (f.at[0] == c"-" or f.at[0] == c"+"):
        negative[0] ^= f.at[0] == c"-"
        return 1
    if has_at(f.at, f.n, "\xe2\x88\x92", 3):
        negative[0] ^= True
        return 3
    return 0


cdef inline Field without_affix(Field f, Affixes affixes, uint64_t* affix) noexcept nogil:
    """The field without a sign of currency or of percent at one of its ends: the longest one."""
    cdef:
        int i
        Py_ssize_t size, best = 0
        bint behind = False
    affix[0] = 1
    if f.n == 0 or (c"0" <= f.at[0] <= c"9" and c"0" <= f.at[f.n - 1] <= c"9"):
        return f
    for i in range(affixes.n):
        size = affixes.ends[i + 1] - affixes.ends[i]
        if size <= best or size >= f.n:
            continue
        if has_at(f.at, f.n, <const char*>affixes.text + affixes.ends[i], size):
            best, behind, affix[0] = size, False, <uint64_t>1 << (i + 1)
        elif has_at(f.at + f.n - size, size, <const char*>affixes.text + affixes.ends[i], size):
            best, behind, affix[0] = size, True, <uint64_t>1 << (i + 1)
    f.n -= best
    if not behind:
        f.at += best
    return trim_wide(f)


cdef inline int separator_at(const uint8_t* at, Py_ssize_t n, Separator* which) noexcept nogil:
    """How many bytes the separator is that is here, and which one; 0 for none."""
    cdef int size = 1
    if n == 0:
        return 0
    if at[0] == c".":
        which[0] = BY_POINT
    elif at[0] == c",":
        which[0] = BY_COMMA
    elif at[0] == c"'":
        which[0] = BY_QUOTE
    elif has_at(at, n, "\xe2\x80\x99", 3):
        which[0], size = BY_QUOTE, 3
    else:
        which[0], size = BY_SPACE, space_at(at, n)
    return size


cdef inline bint grouped(const int* groups, int n, bint by_comma) noexcept nogil:
    """Whether groups of digits are thousands; commas also set lakhs apart, as in 12,34,567."""
    cdef int i
    cdef bint threes = True, twos = by_comma and groups[0] <= 2
    if not 1 <= groups[0] <= 3:
        return False
    for i in range(1, n):
        threes &= groups[i] == 3
        twos &= groups[i] == (3 if i == n - 1 else 2)
    return threes or twos


cdef inline int number_kind(int decimal, int thousands) noexcept nogil:
    """The kind of numbers with these separators; 0 where there is none."""
    if decimal == BY_POINT:
        return POINT << (0 if thousands == NO_SEPARATOR else 1 if thousands == BY_COMMA
                         else 2 if thousands == BY_SPACE else 3)
    return COMMA << (0 if thousands == NO_SEPARATOR else 1 if thousands == BY_POINT
                     else 2 if thousands == BY_SPACE else 3)


cdef inline int kinds_of_groups(const int* groups, const Separator* by, int n, bint zero,
                                bint power) noexcept nogil:
    """The kinds under which groups of digits between separators are a number.

    ``zero``: the first digit is one, ``power``: an exponent follows.
    """
    cdef int kinds = 0, whole, i, last, thousands, decimal
    cdef bint alike
    for last in range(2):                     # without and with a decimal part behind the last one
        whole = n - last
        if whole < 1 or (last and groups[n - 1] == 0):
            continue
        thousands = by[0] if whole > 1 else NO_SEPARATOR
        alike = True
        for i in range(whole - 1):
            alike &= by[i] == thousands
        if not alike or (zero and (groups[0] > 1 or whole > 1)):
            continue
        if whole > 1 and (power or not grouped(groups, whole, thousands == BY_COMMA)):
            continue
        if groups[0] == 0 and not last:
            continue
        for i in range(2):
            decimal = BY_COMMA if i else BY_POINT
            if decimal == thousands or (last and by[n - 2] != decimal):
                continue
            if whole > 1:
                kinds |= number_kind(decimal, thousands)
            else:                             # what has no separator may be among what has
                kinds |= COMMAS if i else POINTS
    return kinds


cdef Written written_number(Field f, Affixes affixes, int kind) noexcept nogil:
    """The kinds under which a field is a number; and the number under ``kind``, in plain digits."""
    cdef:
        Written w
        bint negative = False, zero, good
        int[MAX_GROUPS] groups
        Separator[MAX_GROUPS] by
        Separator which = NO_SEPARATOR
        int n = 1, size
        Py_ssize_t i = 0, e
    w.kinds, w.n, w.affix = 0, 0, 1
    if f.n > MAX_WRITTEN_BYTES:
        return w
    if f.n > 2 and f.at[0] == c"(" and f.at[f.n - 1] == c")":     # how accountants write a minus
        f.at, f.n, negative = f.at + 1, f.n - 2, True
    size = sign_at(f, &negative)
    f.at, f.n = f.at + size, f.n - size
    f = without_affix(trim_wide(f), affixes, &w.affix)
    if not size and w.affix > 1:
        size = sign_at(f, &negative)
        f.at, f.n = f.at + size, f.n - size
    if negative:
        w.plain[0] = c"-"
        w.n = 1
    groups[0], zero = 0, f.n > 0 and f.at[0] == c"0"
    while i < f.n:
        if c"0" <= f.at[i] <= c"9":
            groups[n - 1] += 1
            w.plain[w.n] = f.at[i]
            w.n += 1
            i += 1
            continue
        if f.at[i] | 32 == c"e":
            break
        size = separator_at(f.at + i, f.n - i, &which)
        if size == 0 or n == MAX_GROUPS or (which == BY_SPACE and groups[n - 1] == 0):
            return w
        if (which == BY_POINT or which == BY_COMMA) and which == decimal_of(kind):
            w.plain[w.n] = c"."
            w.n += 1
        by[n - 1] = which
        groups[n] = 0
        n += 1
        i += size
    exponent(f.at + i, f.n - i, &good)
    if not good:
        return w
    w.kinds = kinds_of_groups(groups, by, n, zero, i < f.n)
    for e in range(i, f.n):
        w.plain[w.n] = f.at[e]
        w.n += 1
    w.plain[w.n] = 0
    return w


cdef inline int decimal_of(int kind) noexcept nogil:
    return BY_COMMA if kind & COMMAS else BY_POINT


# ---------------------------------------------------------------------- dates

cdef struct Part:
    int value        # a number, or a month by its name
    int digits       # how many; 0 for a name


cdef inline int month_named(const uint8_t* at, Py_ssize_t n) noexcept nogil:
    """The number of a month by its English name or the first letters of it, three or more; or 0."""
    cdef:
        const char* names = "januaryfebruarymarchaprilmayjunejulyaugustseptemberoctobernovemberdecember"
        int[13] starts = [0, 7, 15, 20, 25, 28, 32, 36, 42, 51, 58, 66, 74]
        int m
        Py_ssize_t i
    if n < 3:
        return 0
    for m in range(12):
        if n > starts[m + 1] - starts[m] or (n > 4 and n != starts[m + 1] - starts[m]):
            continue
        for i in range(n):
            if at[i] | 32 != <uint8_t>names[starts[m] + i]:
                break
        else:
            return m + 1
    return 0


cdef inline Part part_at(Field f, Py_ssize_t* used) noexcept nogil:
    """The digits or the name of a month that a field begins with."""
    cdef Part p
    cdef Py_ssize_t i = 0
    p.value, p.digits = 0, 0
    while i < f.n and c"0" <= f.at[i] <= c"9" and i < 5:
        p.value = 10 * p.value + f.at[i] - c"0"
        i += 1
    p.digits = <int>i
    if i == 0:
        while i < f.n and c"a" <= f.at[i] | 32 <= c"z":
            i += 1
        p.value = month_named(f.at, i)
        i = i if p.value else 0
    used[0] = i
    return p


cdef inline int date_separator_at(Field f, uint8_t* which) noexcept nogil:
    """How many bytes set the parts of a date apart here, and what they are; 0 for nothing."""
    cdef int size = 1
    if f.n == 0:
        return 0
    which[0] = f.at[0]
    if f.at[0] == c"." or f.at[0] == c"/" or f.at[0] == c"-":
        while which[0] == c"." and size < f.n and f.at[size] == c" ":      # 3. May 2024
            which[0] = c" "
            size += 1
        return size
    if f.at[0] == c"," or f.at[0] == c" ":
        which[0] = c" "
        while size < f.n and f.at[size] == c" ":
            size += 1
        return size
    which[0] = c"y"
    return 3 if has_at(f.at, f.n, "\xe5\xb9\xb4", 3) or has_at(f.at, f.n, "\xe6\x9c\x88", 3) else 0


cdef inline int64_t clock_behind(Field f) noexcept nogil:
    """Microseconds of what follows a date: a time of day, AM or PM, an offset; -1 where it is none.

    The offset is taken off, so that it may be below zero, but never below minus a day.
    """
    cdef:
        uint8_t[40] padded
        Py_ssize_t used
        int64_t micro, east, hour
        Field rest
    while f.n and (f.at[0] == c" " or f.at[0] == c"T" or f.at[0] == c","):
        f.at += 1
        f.n -= 1
    if not 4 <= f.n < 40:
        return NO_CLOCK
    if f.at[1] == c":":
        padded[0] = c"0"
        memcpy(&padded[1], f.at, f.n)
        f.at, f.n = &padded[0], f.n + 1
    micro = clock(f, False, &used)
    if micro < 0:
        return NO_CLOCK
    rest.at, rest.n = f.at + used, f.n - used
    rest = trim_wide(rest)
    if rest.n == 2 and rest.at[1] | 32 == c"m" and (rest.at[0] | 32 == c"a" or rest.at[0] | 32 == c"p"):
        hour = micro // MICROSECONDS_PER_HOUR
        if not 1 <= hour <= 12:
            return NO_CLOCK
        hour = hour % 12 + (12 if rest.at[0] | 32 == c"p" else 0)
        return micro % MICROSECONDS_PER_HOUR + hour * MICROSECONDS_PER_HOUR
    east = zone(rest)
    return NO_CLOCK if east == NO_ZONE else micro - east * 1_000_000


cdef inline int64_t full_year(Part year) noexcept nogil:
    """Two digits are of the years 1969 to 2068."""
    return year.value if year.digits == 4 else year.value + (1900 if year.value >= 69 else 2000)


cdef inline int add_order(int64_t y, int64_t m, int64_t d, int kinds, int date_kind, int64_t* day) noexcept nogil:
    """``kinds`` and that of a date, if the calendar has it; ``day`` is its number."""
    cdef int64_t number = day_number(y, m, d)
    if number == NO_DAY:
        return kinds
    day[0] = number
    return kinds | date_kind | (date_kind << 1)


cdef Value written_date(Field f, int kinds) noexcept nogil:
    """The kinds under which a field is a date, with a time of day or not; microseconds of the last."""
    cdef:
        Value v = no_value()
        Part[3] part
        Py_ssize_t used
        uint8_t which = 0, first = 0
        int i, size, names
        int64_t day = 0, micro = 0
        bint padded
    for i in range(3):
        part[i] = part_at(f, &used)
        if used == 0:
            return v
        f.at, f.n = f.at + used, f.n - used
        if i == 2:
            break
        size = date_separator_at(f, &which)
        if size == 0 or (i == 1 and which != first):
            return v
        first = which
        f.at, f.n = f.at + size, f.n - size
    if first == c"y":
        size = 3 if has_at(f.at, f.n, "\xe6\x97\xa5", 3) else 0
        f.at, f.n = f.at + size, f.n - size
    names = (part[0].digits == 0) + (part[1].digits == 0) + (part[2].digits == 0)
    if names > 1 or (first == c" " and not names) or part[2].digits == 0:
        return v
    padded = first == c"/" or (part[0].digits != 1 and part[1].digits != 1) or names == 1
    if part[0].digits == 4 and part[1].digits <= 2 and part[2].digits <= 2 and kinds & YEARS_FIRST:
        v.kinds = add_order(part[0].value, part[1].value, part[2].value, 0, YEAR_FIRST, &day)
    elif part[2].digits == 4 or (part[2].digits == 2 and padded and first != c"y"):
        if kinds & DAYS_FIRST and 1 <= part[0].digits <= 2 and part[1].digits <= 2:
            v.kinds = add_order(full_year(part[2]), part[1].value, part[0].value, v.kinds, DAY_FIRST, &day)
        if kinds & MONTHS_FIRST and part[0].digits <= 2 and 1 <= part[1].digits <= 2:
            v.kinds = add_order(full_year(part[2]), part[0].value, part[1].value, v.kinds, MONTH_FIRST, &day)
    if f.n and v.kinds:
        micro = clock_behind(f)
        v.kinds = v.kinds & MOMENTS if micro != NO_CLOCK else 0
    v.whole = day * SECONDS_PER_DAY * 1_000_000 + micro
    return v
