"""The summary of a BayesClassifier: what was selected, and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class LearnerSummary:
    """One base learner: its weight in the sum, and its log loss on held-out rows.

    ``share`` is the weight. ``loss`` is its log loss by itself, in nats a row. A base
    learner that was not fitted has no loss, and a ``note`` that says why.
    """

    name: str
    share: float
    loss: float | None
    note: str

    def line(self, width: int) -> str:
        """One line, the name padded to a width."""
        loss = "not used       " if self.loss is None else f"log loss {self.loss:.4f}"
        return f"  {self.name:{width}}  share {self.share:.2f}  {loss}  {self.note}".rstrip()


@dataclass(frozen=True)
class EnsembleSummary:
    """What :class:`~deciban.BayesClassifier` selected, and why.

    ``loss`` is the log loss of the ensemble, and ``prior_loss`` that of the class
    frequencies alone, both on held-out rows. ``weights`` are those of the evidence
    of each column within the first base learner.

    >>> print(EnsembleSummary(10, 10, 0.3, 0.7, (LearnerSummary("linear", 1.0, 0.3, "penalty 3"),)))
    10 rows; log loss 0.3000 on unseen rows (0.7000 from class frequencies alone)
      linear  share 1.00  log loss 0.3000  penalty 3
    """

    rows: int
    learned_rows: int
    loss: float
    prior_loss: float
    views: tuple[LearnerSummary, ...] = ()
    weights: Mapping[str, float] = field(default_factory=dict)

    def _repr_html_(self) -> str:
        from deciban.templates import html_tables

        rows = [
            (v.name, f"{v.share:.2f}", "" if v.loss is None else f"{v.loss:.4f}", v.note)
            for v in self.views
        ]
        head = ("base learner", "share", "log loss", "")
        return html_tables((str(self).split("\n", 1)[0], [head, *rows]))

    def __str__(self) -> str:
        some = "" if self.learned_rows == self.rows else f", {self.learned_rows} of them weighed"
        head = (
            f"{self.rows} rows{some}; log loss {self.loss:.4f} on unseen rows "
            f"({self.prior_loss:.4f} from class frequencies alone)"
        )
        width = max((len(view.name) for view in self.views), default=0)
        return "\n".join([head, *(view.line(width) for view in self.views)])
