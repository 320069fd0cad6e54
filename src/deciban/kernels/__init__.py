"""Compiled loops: arrays in, arrays out, no Python objects inside.

Conventions of every kernel:

- ``y`` holds class codes, ``0 <= y[i] < n_classes``; callers guarantee it.
- ``weight`` is one finite number >= 0 per row, or None for all ones.
- Tables that are counted into are class-major, ``(classes, cells)``; tables
  that are scored from are cell-major, ``(cells, classes)``, so that the log likelihoods of one
  value under every class lie side by side.
- ``out`` is ``(rows, classes)`` and is added to, so that blocks of columns
  can be scored one after the other.
- Every loop runs without the interpreter lock.

``letters`` and ``lexicon`` are the exceptions: Python's strings in and out, under the lock,
for a program that reads mail and must start without NumPy.
"""
