"""Figures that differ by no more than rounding are equal.

A log probability is a sum of many terms, some of them large: models that say the same by
another order of adding up differ in its last digits.
"""

from __future__ import annotations

#: Figures that differ by less than this share, or by less than this where they are small.
ROUNDING = 1e-9
