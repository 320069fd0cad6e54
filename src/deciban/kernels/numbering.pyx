"""Objects to numbers, by what Python calls equal."""

import numpy as np

from cpython.dict cimport PyDict_GetItemWithError, PyDict_SetItem
from cpython.object cimport PyObject
from libc.stdint cimport int64_t


def number(values):
    """A dictionary of the different values, numbered as they are first met, and each one's number.

    >>> number(["ham", "spam", "ham"])
    ({'ham': 0, 'spam': 1}, array([0, 1, 0]))
    """
    cdef:
        list items = list(values)   # nobody else can change this one
        dict numbers = {}
        Py_ssize_t i, n = len(items)
        int64_t[::1] out = np.empty(n, dtype=np.int64)
        object item
        PyObject* known
    for i in range(n):
        item = items[i]
        known = PyDict_GetItemWithError(numbers, item)
        if known == NULL:
            out[i] = len(numbers)
            PyDict_SetItem(numbers, item, out[i])
        else:
            out[i] = <object>known
    return numbers, np.asarray(out)
