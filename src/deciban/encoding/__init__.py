"""Values to codes and numbers: the second step of source, encode, count.

``target`` checks the labels and weights of rows, ``matrices`` turns the columns of a batch
into what families count and score, ``blocks`` does so for columns that a caller counts directly.
"""

from __future__ import annotations

from deciban.encoding.blocks import block, category_codes, largest_codes
from deciban.encoding.target import (
    Codes,
    Labelled,
    batch_weights,
    check_length,
    class_codes,
    codes_of,
    label_vector,
    partial_fit_classes,
    require_labels,
    vector,
    weights,
)

__all__ = [
    "Codes",
    "Labelled",
    "batch_weights",
    "block",
    "category_codes",
    "check_length",
    "class_codes",
    "codes_of",
    "label_vector",
    "largest_codes",
    "partial_fit_classes",
    "require_labels",
    "vector",
    "weights",
]
