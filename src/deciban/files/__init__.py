"""The ``.deciban`` model file.

Read from the outside in:

``model``
    what an estimator leaves in a file: its kind, its description, its counts; and every kind of
    model, as the model that scores (``open``) or the estimator (``deciban.load``)
``tables``, ``vocabulary``
    counts and labels as a document and arrays, and back, checked
``upgrade``
    files of earlier formats, as the present one would have written them
``archive``
    the file: a zip of one JSON document and of arrays, in which nothing can run
``description``
    every record of the document: its fields, their types and ranges
``npy``, ``arrays``, ``document``
    one array; the arrays that a model takes out; JSON without surprises
``atomic``, ``overwriting``
    the old file or the new one, never half of it; which files may be replaced
"""

from __future__ import annotations

from deciban.files.model import Opened, Stored, open, open_bytes, read, save, to_bytes

__all__ = ["Opened", "Stored", "open", "open_bytes", "read", "save", "to_bytes"]
