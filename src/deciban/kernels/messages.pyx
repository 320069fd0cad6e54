"""What the tokens of a message weigh, by the messages of ham and of spam that had them.

The loops of :mod:`deciban.mail.model`, which has the formulas: a message has hundreds of tokens,
and each is looked at a few times. For programs that read one message and end: nothing here needs
NumPy.
"""

from cpython.tuple cimport PyTuple_Check, PyTuple_GET_ITEM, PyTuple_GET_SIZE
from cpython.unicode cimport PyUnicode_FindChar, PyUnicode_Substring, PyUnicode_Tailmatch

from libc.math cimport exp, log
from libc.stdint cimport int64_t, uint8_t, uint32_t
from libc.string cimport memcmp, memset

cdef extern from "Python.h":
    int PyUnicode_KIND(object text)
    void* PyUnicode_DATA(object text)
    const char* PyUnicode_AsUTF8AndSize(object text, Py_ssize_t* n) except NULL

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


def left(list tokens not None, const int64_t[::1] counts, const int64_t[::1] without, int64_t hams,
         int64_t spams, tuple prefixes):
    """What :func:`known` says by counts less others, and less so many messages that had all tokens.

    A count is the number of messages of ham, plus 2 ** 32 times that of spam.

    >>> from array import array
    >>> left(["a", "b"], array("q", [5, 1]), array("q", [1, 0]), 1, 0, ())
    ({'a': (3, 0)}, 1)
    """
    cdef:
        dict out = {}
        Py_ssize_t unknown = 0, i
        int64_t rest, ham, spam
        str token
    if not len(tokens) == counts.shape[0] == without.shape[0]:
        raise ValueError("a count and another are needed for every token")
    for i in range(counts.shape[0]):
        token = tokens[i]
        rest = counts[i] - without[i]
        ham, spam = max(0, (rest & 0xFFFFFFFF) - hams), max(0, (rest >> 32) - spams)
        if ham > 0 or spam > 0:
            out[token] = ham, spam
        elif begins(token, prefixes):
            unknown += 1
    return out, unknown


def texts(tokens, tuple prefixes):
    """Those of some tokens that have no prefix, or one of these.

    >>> texts(["a", "x:b", "y:c"], ("y:",))
    ['a', 'y:c']
    """
    cdef str token
    return [token for token in tokens if begins(token, prefixes)]


def least_hashes(words, uint32_t multiplier, int places):
    """Of the hashes that fall into each place, by their remainder, the least; -1 where none does.

    A hash is the CRC-32 of a word in UTF-8 times an odd number, in 32 bits.

    >>> least_hashes(["a"], 1, 2)
    (-1, 3904355907)
    """
    cdef:
        int64_t[MAX_PLACES] least
        const uint8_t* at
        Py_ssize_t n, i
        uint32_t h
        str word
    if not 0 < places <= MAX_PLACES:
        raise ValueError(f"1 to {MAX_PLACES} places are needed, got {places}.")
    for i in range(places):
        least[i] = -1
    for word in words:
        at = <const uint8_t*>PyUnicode_AsUTF8AndSize(word, &n)
        h = 0xFFFFFFFF
        for i in range(n):
            h = REMAINDERS[(h ^ at[i]) & 0xFF] ^ (h >> 8)
        h = ~h * multiplier
        i = h % <uint32_t>places
        if least[i] < 0 or h < least[i]:
            least[i] = h
    return tuple([least[i] for i in range(places)])


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


cdef inline int prefix_number(str token, Py_ssize_t at, tuple prefixes) except -1:
    """Which of some prefixes, all ASCII, ends here; as many as there are if none does."""
    cdef:
        void* data = PyUnicode_DATA(token)
        bint narrow = PyUnicode_KIND(token) == 1
        int i, n = len(prefixes)
        str prefix
    for i in range(n):
        prefix = <str>PyTuple_GET_ITEM(prefixes, i)
        if len(prefix) != at:
            continue
        if not memcmp(data, PyUnicode_DATA(prefix), at) if narrow else (
            PyUnicode_Tailmatch(token, prefix, 0, len(token), -1)
        ):
            return i
    return n


cdef struct Sums:
    double[MAX_SECTIONS] weights
    Py_ssize_t[MAX_SECTIONS] counts
    Py_ssize_t texts
    double seen


cdef class Summary:
    """The sums of what :func:`strong` and :func:`familiar` say of the tokens of a message.

    ``ham``, ``spam``, ``prior`` and ``least`` are those of :func:`strong`, ``half`` that of
    :func:`familiar`. ``prefixes`` are the sections, the first ``text_prefixes`` those of texts.
    """

    cdef:
        Rule rule
        Sums sums
        double half
        tuple prefixes
        int text_prefixes
        bint both

    def __init__(self, double ham, double spam, double prior, double least, double half,
                 tuple prefixes, int text_prefixes):
        if len(prefixes) + 2 > MAX_SECTIONS or not all(
            [type(prefix) is str and prefix.isascii() for prefix in prefixes]
        ):
            message = f"at most {MAX_SECTIONS - 2} prefixes of ASCII are needed, got {prefixes}."
            raise ValueError(message)
        self.rule, self.both = rule_of(ham, spam, prior, least), ham > 0 and spam > 0
        self.half, self.prefixes, self.text_prefixes = half, prefixes, text_prefixes

    cdef int add(self, str token, double hams, double spams) except -1:
        """Count a token that was in so many messages of ham and of spam."""
        cdef:
            Py_ssize_t at = colon(token)
            int section = 0 if at < 0 else prefix_number(token, at, self.prefixes) + 1
            double weight
        if section <= self.text_prefixes:
            self.sums.texts += 1
            if hams + spams > 0:
                self.sums.seen += (hams + spams) / (hams + spams + self.half)
        weight = weigh(&self.rule, hams, spams) if self.both and hams + spams > 0 else 0.0
        if weight:
            self.sums.weights[section] += weight
            self.sums.counts[section] += 1
        return 0

    def of_pairs(self, dict tokens not None):
        """Of tokens with messages of ham and of spam.

        >>> Summary(3, 3, 1, 1, 1, ("y",), 1).of_pairs({"a": (0, 3), "x:b": (3, 0), "c": (0, 0)})
        ([1, 0, 1], [1.38..., 0.0, -1.38...], 2, 0.75)
        """
        cdef:
            double hams, spams
            str token
        memset(&self.sums, 0, sizeof(Sums))
        for token, pair in tokens.items():
            read_pair(pair, &hams, &spams)
            self.add(token, hams, spams)
        return self.result()

    def of_counts(self, list tokens not None, const int64_t[::1] counts):
        """Of tokens with the messages of ham that had each, plus 2 ** 32 times those of spam.

        >>> from array import array
        >>> Summary(3, 3, 1, 1, 1, (), 0).of_counts(["a", "x:b"], array("q", [3 << 32, 3]))
        ([1, 1], [1.38..., -1.38...], 1, 0.75)
        """
        cdef Py_ssize_t i
        if len(tokens) != counts.shape[0]:
            raise ValueError("a count is needed for every token")
        memset(&self.sums, 0, sizeof(Sums))
        for i in range(counts.shape[0]):
            self.add(tokens[i], counts[i] & 0xFFFFFFFF, counts[i] >> 32)
        return self.result()

    cdef result(self):
        """The numbers of strong tokens and their weights, for tokens without a prefix, for every
        section and for the others; the number of texts, and how many of them were seen."""
        cdef int i, n = len(self.prefixes) + 2
        weights, counts = [self.sums.weights[i] for i in range(n)], [self.sums.counts[i] for i in range(n)]
        return counts, weights, self.sums.texts, self.sums.seen


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
