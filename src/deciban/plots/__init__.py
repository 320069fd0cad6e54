"""Charts of a model, in a notebook: ``model.plot.evidence(...)``, ``.nomogram()`` and others."""

from __future__ import annotations

from deciban.plots.accessor import Plot, Plotted
from deciban.plots.reliability import Reliability, reliability

__all__ = ["Plot", "Plotted", "Reliability", "reliability"]
