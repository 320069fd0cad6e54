"""What the tokens of a message weigh, by the messages of ham and of spam that had them.

The loops of :mod:`deciban.mail.model`, which has the formulas: a message has hundreds of tokens,
and each is looked at a few times. For programs that read one message and end: nothing here needs
NumPy.
"""

from cpython.tuple cimport PyTuple_Check, PyTuple_GET_ITEM, PyTuple_GET_SIZE
from cpython.unicode cimport PyUnicode_FindChar, PyUnicode_Substring, PyUnicode_Tailmatch

from libc.math cimport log


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


def known(tokens, dict seen, tuple prefixes):
    """Those of some tokens of which something is known, and the number of unknown texts.

    >>> known(["a", "b", "x:c"], {"a": (1, 2), "b": None, "x:c": None}, ("y:",))
    ({'a': (1, 2)}, 1)
    """
    cdef:
        dict out = {}
        Py_ssize_t unknown = 0
        str token
    for token in tokens:
        pair = seen[token]
        if pair is not None:
            out[token] = pair
        elif begins(token, prefixes):
            unknown += 1
    return out, unknown


def strong(dict tokens, double ham, double spam, double prior, double least, dict sections,
           str body, str head):
    """The weights of tokens that are not lighter than the least, by section.

    ``ham`` and ``spam`` are all messages; ``prior`` is added to those that had a token.

    >>> strong({"a": (0, 3), "x:b": (3, 0)}, 3, 3, 1, 1, {}, "body", "head")
    {'body': {'a': 1.38...}, 'head': {'x:b': -1.38...}}
    """
    cdef:
        dict out = {}, group
        double base = log((ham + 2 * prior) / (spam + 2 * prior)), weight, hams, spams
        Py_ssize_t at
        str token
    for token, pair in tokens.items():
        read_pair(pair, &hams, &spams)
        weight = log((spams + prior) / (hams + prior)) + base
        if weight < least and weight > -least:
            continue
        at = colon(token)
        name = body if at < 0 else sections.get(PyUnicode_Substring(token, 0, at), head)
        group = out.get(name)
        if group is None:
            group = out[name] = {}
        group[token] = weight
    return out


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
