"""Plain numbers and words that are values; part of fields.pyx."""


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
        v.kinds, v.number = NUMBER | POINTS | COMMAS, NAN
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
    v.kinds = NUMBER | POINTS
    if not d.fraction:
        v.kinds |= COMMAS
    elif (rest == 0 and d.point == -3 and 5 <= d.used <= 7 and f.at[sign] != c"0"
            and f.at[sign + d.used - 4] == c"."):
        v.kinds |= COMMA_POINT                          # 1.234 may be a thousand and some
    if (rest == 0 and not d.fraction and d.n <= 19 and (negative or sign == 0)
            and d.value - negative <= MAX_INTEGER):      # minus zero wraps round
        v.kinds |= INTEGER
        v.whole = <int64_t>(0 - d.value) if negative else <int64_t>d.value
    if d.value == 0:
        v.number = 0
    elif d.value <= MAX_EXACT_INTEGER and d.n <= 19 and -22 <= power <= 22:
        v.number = d.value / POWERS_OF_TEN[-power] if power < 0 else d.value * POWERS_OF_TEN[power]
    else:
        v.slow = True
    v.number = -v.number if negative else v.number
    return v
