"""What the tokens of a message weigh, by the messages of ham and of spam that had them.

The loops of :mod:`deciban.mail.model`, which has the formulas: a message has hundreds of tokens,
and each is looked at a few times. For programs that read one message and end: nothing here needs
NumPy.
"""

from deciban.kernels.lexicon cimport Entry, Tokens
from deciban.kernels.utf8 cimport encode

from cpython.array cimport array as Array
from cpython.bytes cimport PyBytes_AS_STRING
from cpython.tuple cimport PyTuple_Check, PyTuple_GET_ITEM, PyTuple_GET_SIZE
from cpython.unicode cimport PyUnicode_FindChar, PyUnicode_Substring, PyUnicode_Tailmatch

from libc.math cimport exp, log
from libc.stdint cimport int64_t, uint8_t, uint32_t
from libc.string cimport memset

cdef extern from "Python.h":
    int PyUnicode_KIND(object text)
    void* PyUnicode_DATA(object text)
    uint32_t PyUnicode_READ(int kind, void* data, Py_ssize_t i) nogil

cdef enum:
    MAX_SECTIONS = 16
    MAX_PLACES = 256

#: The remainders of bytes (CRC-32, reflected).
cdef uint32_t[256] REMAINDERS
for _n in range(256):
    _remainder = _n
    for _ in range(8):
        _remainder = _remainder >> 1 ^ (0xEDB88320 if _remainder & 1 else 0)
    REMAINDERS[_n] = _remainder


cdef inline Py_ssize_t colon(str token) except -2:
    """Where the prefix of a token ends; -1 if it has none."""
    return PyUnicode_FindChar(token, ord(":"), 0, len(token), 1)


cdef inline bint begins(str token, tuple prefixes) except -1:
    """Whether a token has no prefix, or one of these."""
    if colon(token) < 0:
        return True
    for prefix in prefixes:
        if PyUnicode_Tailmatch(token, prefix, 0, len(token), -1):
            return True
    return False


cdef inline int read_pair(object pair, double* hams, double* spams) except -1:
    """The two numbers of a token."""
    if not PyTuple_Check(pair) or PyTuple_GET_SIZE(pair) != 2:
        raise TypeError("messages of ham and of spam are two numbers")
    hams[0], spams[0] = <object>PyTuple_GET_ITEM(pair, 0), <object>PyTuple_GET_ITEM(pair, 1)
    return 0


cdef struct Rule:
    double prior
    double base     # the odds of a token that was in no message
    double heavy    # ratios from this on, or up to its inverse, are those of heavy tokens


cdef inline Rule rule_of(double ham, double spam, double prior, double least) noexcept nogil:
    """How tokens are weighed, by all messages of ham and of spam."""
    return Rule(prior, (ham + 2 * prior) / (spam + 2 * prior), exp(least))


cdef inline double weigh(Rule* rule, double hams, double spams) noexcept nogil:
    """The weight of a token; 0 if it is lighter than the least."""
    cdef double ratio = (spams + rule.prior) / (hams + rule.prior) * rule.base
    return log(ratio) if ratio >= rule.heavy or ratio * rule.heavy <= 1 else 0.0


def known(tokens, dict seen, tuple prefixes):
    """Those of some tokens of which something is known, and the number of unknown texts.

    >>> known(["a", "b", "c", "x:c"], {"a": (1, 2), "b": None}, ("y:",))
    ({'a': (1, 2)}, 2)
    """
    cdef:
        dict out = {}
        Py_ssize_t unknown = 0
        str token
    for token in tokens:
        pair = seen.get(token)
        if pair is not None:
            out[token] = pair
        elif begins(token, prefixes):
            unknown += 1
    return out, unknown


def left(Tokens tokens not None, const int64_t[::1] without, int64_t hams, int64_t spams):
    """The counts of tokens less others, and less so many messages that had all of them.

    >>> from array import array
    >>> from deciban.kernels.lexicon import Lexicon
    >>> lexicon = Lexicon()
    >>> lexicon.merge(["a", "b"], array("q", [5 + (3 << 32), 1]))
    >>> left(lexicon.tokens(["b", "a"]), array("q", [0, 1]), 1, 3)
    array('q', [0, 3])
    """
    cdef:
        Array out = tokens.counts()
        int64_t* counts = <int64_t*>out.data.as_longlongs
        int64_t rest, ham, spam
        Py_ssize_t i
    if tokens.n != without.shape[0]:
        raise ValueError("a count is needed for every token")
    for i in range(tokens.n):
        rest = counts[i] - without[i]
        ham, spam = max(0, <int64_t><uint32_t>rest - hams), max(0, (rest >> 32) - spams)
        counts[i] = ham + (spam << 32)
    return out


def texts(Tokens tokens not None, uint32_t text_prefixes):
    """Those of some tokens that have no prefix, or one of the first ones of the lexicon.

    >>> from deciban.kernels.lexicon import Lexicon
    >>> texts(Lexicon(("y", "z")).tokens(["a", "x:b", "y:c", "z:d"]), 1)
    ['a', 'y:c']
    """
    cdef Py_ssize_t i
    return [
        tokens.lexicon.texts[tokens.numbers[i]] for i in range(tokens.n)
        if tokens.lexicon.entries[tokens.numbers[i]].section <= text_prefixes
    ]


cdef inline uint32_t remainder_of(str word) noexcept:
    """The CRC-32 of a word in UTF-8."""
    cdef:
        int kind = PyUnicode_KIND(word)
        void* data = PyUnicode_DATA(word)
        uint8_t[4] encoded
        uint32_t h = 0xFFFFFFFF
        Py_ssize_t i, j
    for i in range(len(word)):
        for j in range(encode(PyUnicode_READ(kind, data, i), encoded) - encoded):
            h = REMAINDERS[(h ^ encoded[j]) & 0xFF] ^ (h >> 8)
    return ~h


def least_hashes(words, uint32_t multiplier, int places):
    """Of the hashes that fall into each place, by their remainder, the least; -1 where none does.

    A hash is the CRC-32 of a word in UTF-8 times an odd number, in 32 bits; each stands in eight
    bytes, in the order of bytes of the machine.

    >>> from array import array
    >>> array("q", least_hashes(["a"], 1, 2))
    array('q', [-1, 3904355907])
    """
    cdef:
        int64_t[MAX_PLACES] least
        uint32_t h
        int i
        str word
    if not 0 < places <= MAX_PLACES:
        raise ValueError(f"1 to {MAX_PLACES} places are needed, got {places}.")
    for i in range(places):
        least[i] = -1
    for word in words:
        if word is None:
            raise TypeError("a word must be a str, got None.")
        h = remainder_of(word) * multiplier
        i = h % <uint32_t>places
        if least[i] < 0 or h < least[i]:
            least[i] = h
    return (<const char*>least)[: places * sizeof(int64_t)]


def are_near(bytes one not None, bytes other not None, double similarity):
    """Whether this share of places agrees at least, of those that are not -1 in both.

    >>> from array import array
    >>> one, other = array("q", [1, 2, -1]).tobytes(), array("q", [1, 3, -1]).tobytes()
    >>> are_near(one, other, 0.5), are_near(one, other, 0.6)
    (True, False)
    """
    cdef:
        Py_ssize_t places = 0, agreeing = 0, i
        const int64_t* a = <const int64_t*>PyBytes_AS_STRING(one)
        const int64_t* b = <const int64_t*>PyBytes_AS_STRING(other)
    if len(one) != len(other):
        raise ValueError(f"as many places are needed, got {len(one)} and {len(other)} bytes.")
    for i in range(len(one) // <Py_ssize_t>sizeof(int64_t)):
        places += a[i] >= 0 or b[i] >= 0
        agreeing += a[i] == b[i] and a[i] >= 0
    return agreeing >= similarity * places


def strong(dict tokens, double ham, double spam, double prior, double least, dict sections,
           str body, str head):
    """The weights of tokens that are not lighter than the least, by section.

    ``ham`` and ``spam`` are all messages; ``prior`` is added to those that had a token.

    >>> strong({"a": (0, 3), "x:b": (3, 0)}, 3, 3, 1, 1, {}, "body", "head")
    {'body': {'a': 1.38...}, 'head': {'x:b': -1.38...}}
    """
    cdef:
        dict out = {}, group
        Rule rule = rule_of(ham, spam, prior, least)
        double weight, hams, spams
        Py_ssize_t at
        str token
    for token, pair in tokens.items():
        read_pair(pair, &hams, &spams)
        weight = weigh(&rule, hams, spams)
        if not weight:
            continue
        at = colon(token)
        name = body if at < 0 else sections.get(PyUnicode_Substring(token, 0, at), head)
        group = out.get(name)
        if group is None:
            group = out[name] = {}
        group[token] = weight
    return out


cdef struct Sums:
    double[MAX_SECTIONS] weights
    Py_ssize_t[MAX_SECTIONS] counts
    Py_ssize_t texts
    double seen


cdef class Summary:
    """The sums of what :func:`strong` and :func:`familiar` say of the tokens of a message.

    ``ham``, ``spam``, ``prior`` and ``least`` are those of :func:`strong`, ``half`` that of
    :func:`familiar`. ``sections`` are the numbers, from 0 on, of the sections that tokens belong to
    that have no prefix, each prefix of their lexicon, or another; of the prefixes, the first
    ``text_prefixes`` are those of texts.
    """

    cdef:
        Rule rule
        Sums sums
        double half
        int prefixes, text_prefixes, n_sections
        int[MAX_SECTIONS] sections
        bint both

    def __init__(self, double ham, double spam, double prior, double least, double half,
                 tuple sections not None, int text_prefixes):
        cdef int i, section
        self.prefixes = len(sections) - 2
        if not 0 <= self.prefixes <= MAX_SECTIONS - 2:
            raise ValueError(f"at most {MAX_SECTIONS - 2} prefixes are needed, got {sections}.")
        for i, section in enumerate(sections):
            if not 0 <= section < MAX_SECTIONS:
                raise ValueError(f"numbers below {MAX_SECTIONS} are needed, got {sections}.")
            self.sections[i] = section
            self.n_sections = max(self.n_sections, section + 1)
        self.rule, self.both = rule_of(ham, spam, prior, least), ham > 0 and spam > 0
        self.half, self.text_prefixes = half, text_prefixes

    cdef inline void add(self, int section, int64_t count) noexcept nogil:
        """Count a token that was in so many messages of ham and of spam."""
        cdef double weight, hams = <uint32_t>count, spams = count >> 32
        if section <= self.text_prefixes:
            self.sums.texts += 1
            if count:
                self.sums.seen += (hams + spams) / (hams + spams + self.half)
        weight = weigh(&self.rule, hams, spams) if self.both and count else 0.0
        if weight:
            self.sums.weights[section] += weight
            self.sums.counts[section] += 1

    def of_tokens(self, Tokens tokens not None, const int64_t[::1] counts=None):
        """Of the tokens of a message, by counts of their own or by those of the lexicon.

        >>> from deciban.kernels.lexicon import Lexicon
        >>> lexicon = Lexicon(("y",))
        >>> lexicon.merge_rows([("a", 0, 3), ("x:b", 3, 0)])
        >>> Summary(3, 3, 1, 1, 1, (0, 0, 1), 1).of_tokens(lexicon.tokens(["a", "x:b", "c"]))
        ([1, 1], [1.38..., -1.38...], 2, 0.75)
        """
        cdef:
            Entry* entry
            Py_ssize_t i
        if counts is not None and tokens.n != counts.shape[0]:
            raise ValueError("a count is needed for every token")
        if len(tokens.lexicon.prefixes) != self.prefixes:
            raise ValueError(f"{self.prefixes} prefixes are needed, got {tokens.lexicon.prefixes}.")
        memset(&self.sums, 0, sizeof(Sums))
        for i in range(tokens.n):
            entry = &tokens.lexicon.entries[tokens.numbers[i]]
            self.add(entry.section, entry.count if counts is None else counts[i])
        return self.result()

    cdef result(self):
        """The numbers of strong tokens of every section, and their weights; the number of texts,
        and how many of them were seen."""
        cdef:
            double[MAX_SECTIONS] weights
            Py_ssize_t[MAX_SECTIONS] counts
            int i
        memset(weights, 0, sizeof(weights))
        memset(counts, 0, sizeof(counts))
        for i in range(self.prefixes + 2):
            weights[self.sections[i]] += self.sums.weights[i]
            counts[self.sections[i]] += self.sums.counts[i]
        return (
            [counts[i] for i in range(self.n_sections)],
            [weights[i] for i in range(self.n_sections)],
            self.sums.texts, self.sums.seen,
        )


def scaled(dict out, dict weights, double factor, double divisor):
    """Add the weights of tokens to ``out``, each times a factor and divided.

    >>> scaled({}, {"a": 3.0}, 2, 4)
    {'a': 1.5}
    """
    cdef double weight
    for token, weight in weights.items():
        out[token] = weight * factor / divisor
    return out


def familiar(dict tokens, double half, tuple prefixes):
    """How many words of a text are known, and how many of them were seen.

    A word that was in ``n`` messages is seen to ``n / (n + half)``.

    >>> familiar({"a": (1, 2), "b": (0, 0), "x:c": (9, 9)}, 1, ())
    (2, 0.75)
    """
    cdef:
        Py_ssize_t words = 0
        double seen = 0.0, hams, spams
        str token
    for token, pair in tokens.items():
        if begins(token, prefixes):
            words += 1
            read_pair(pair, &hams, &spams)
            if hams + spams > 0:
                seen += (hams + spams) / (hams + spams + half)
    return words, seen
