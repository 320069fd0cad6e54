"""One page about a model on some rows: what it is, how good it is, and what to be careful about.

Read in the order of a run:

``rows``, ``columns``
    the rows, in memory; what each column holds
``trained``, ``counted``
    what the model says about its training; shares in training and now
``drift``, ``leaks``, ``cautions``
    columns that moved, columns that are too good, and all that in sentences
``observed``, ``curves``, ``pictures``, ``drawn``
    the evidence of rows, thresholds, the figures, and these as SVG and PNG
``surprising``
    the rows that went most wrong, explained
``found``
    :class:`Report`, and :func:`report`
``page``, ``markup``, ``style``, ``printed``
    the same as HTML, and as PDF
"""

from __future__ import annotations

from deciban.report.found import Report, report

__all__ = ["Report", "report"]
