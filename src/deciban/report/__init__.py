"""One page about a model on some rows: what it is, how good it is, and what to be careful about.

Read in the order of a run:

``rows``, ``columns``
    the rows, in memory; what each column holds
``training``, ``distributions``
    how the model was trained; the values of columns in training and now
``drift``, ``leakage``, ``cautions``
    columns that moved, columns that are too good, and all that in sentences
``row_evidence``, ``roc``, ``figures``, ``svg``
    the mean evidence of rows, curves over thresholds, the figures, and these as SVG and PNG
``surprises``
    the rows that went most wrong, explained
``document``
    :class:`Report`, and :func:`report`
``tables``, ``page``, ``pdf``
    the tables in words, the page as HTML (its templates are in ``deciban.templates``), as PDF
"""

from __future__ import annotations

from deciban.report.document import Report, report

__all__ = ["Report", "report"]
