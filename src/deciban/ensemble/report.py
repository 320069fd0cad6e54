"""What was chosen, and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class View:
    """One view of the table: how far it is believed, and how well it judged unseen rows.

    ``loss`` is its log loss by itself, in nats a row. A view without a share
    has a ``note`` that says why.
    """

    name: str
    share: float
    loss: float | None
    note: str


@dataclass(frozen=True)
class Report:
    """What :class:`~deciban.BayesClassifier` chose, and why.

    ``loss`` is the log loss of the pool, and ``prior_loss`` that of the class
    frequencies alone, both on rows that the views had not seen. ``weights`` is
    how far the evidence of each column is believed within the first view.

    >>> print(Report(10, 10, 0.3, 0.7, (View("linear", 1.0, 0.3, "penalty 3"),)))
    10 rows; log loss 0.3000 on unseen rows (0.7000 from class frequencies alone)
      linear  share 1.00  log loss 0.3000  penalty 3
    """

    rows: int
    learned_rows: int
    loss: float
    prior_loss: float
    views: tuple[View, ...] = ()
    weights: Mapping[str, float] = field(default_factory=dict)

    def __str__(self) -> str:
        some = "" if self.learned_rows == self.rows else f", {self.learned_rows} of them weighed"
        head = (
            f"{self.rows} rows{some}; log loss {self.loss:.4f} on unseen rows "
            f"({self.prior_loss:.4f} from class frequencies alone)"
        )
        width = max((len(view.name) for view in self.views), default=0)
        return "\n".join([head, *(_line(view, width) for view in self.views)])


def _line(view: View, width: int) -> str:
    loss = "not used       " if view.loss is None else f"log loss {view.loss:.4f}"
    return f"  {view.name:{width}}  share {view.share:.2f}  {loss}  {view.note}".rstrip()
