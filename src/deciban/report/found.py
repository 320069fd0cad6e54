"""A report: everything that was found about a model on some rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from deciban.errors import FileError, InputError, ParameterError
from deciban.evaluation import Evaluation, evaluate
from deciban.evaluation.text import plain
from deciban.explanation import Importance
from deciban.report import pictures
from deciban.report.cautions import Caution, cautions
from deciban.report.columns import Described, described
from deciban.report.counted import compared
from deciban.report.drawn import Figure
from deciban.report.drift import Drift, drifts
from deciban.report.leaks import Alone, alone
from deciban.report.observed import Observed, observed
from deciban.report.pictures import Note
from deciban.report.rows import Rows, rows
from deciban.report.surprising import Surprise, surprises
from deciban.report.trained import Trained, trained


@dataclass(frozen=True, eq=False)
class Report:
    """What was found; :meth:`html` is the page, :attr:`figures` are its charts."""

    title: str
    source: str
    columns: Sequence[Described]
    unused: Sequence[str]
    trained: Trained
    evaluation: Evaluation
    cautions: Sequence[Caution]
    alone: Sequence[Alone]
    drifts: Sequence[Drift]
    surprises: Sequence[Surprise]
    figures: Sequence[Figure] = field(repr=False)
    notes: Sequence[Note] = ()

    def html(self) -> str:
        """One page that needs nothing else: no script, no link, no network."""
        from deciban.report import page

        return page.page(self)

    def save(self, path: str | Path) -> None:
        """Write the page."""
        text = self.html()
        try:
            Path(path).write_text(text, encoding="utf-8", errors="replace")
        except OSError as error:
            raise FileError(f"{path} cannot be written: {error.strerror}.") from None

    def save_charts(self, folder: str | Path) -> list[Path]:
        """Write each chart as SVG and PNG."""
        return [path for figure in self.figures for path in figure.save(Path(folder))]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as JSON knows them."""
        found: dict[str, Any] = plain(
            {
                "rows": self.evaluation.rows,
                "cautions": [asdict(c) for c in self.cautions],
                "drift": [asdict(d) | {"verdict": d.verdict} for d in self.drifts],
                "alone": [asdict(a) for a in self.alone],
                "surprising": [
                    {"row": s.row, "truth": s.truth, "probability": s.probability}
                    for s in self.surprises
                ],
                "charts": [figure.name for figure in self.figures],
                "left_out": [asdict(note) for note in self.notes],
                "figures": self.evaluation.to_dict(),
            }
        )
        return found


def report(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    target: str | None = None,
    loss: Any = None,
    leave_one_out: bool = False,
    bootstrap: int = 200,
    seed: int = 0,
    surprising: int = 5,
    title: str = "",
    source: str = "",
) -> Report:
    """Everything worth knowing about a model on labelled rows, as one page.

    ``X``, ``y``, ``target``, ``loss``, ``leave_one_out``, ``bootstrap`` and ``seed`` are
    those of :func:`deciban.evaluate`; ``surprising`` rows are explained.

    >>> from deciban import NaiveBayes
    >>> X = {"size": ["S", "S", "M", "L", "L", "M"], "y": list("aaabbb")}
    >>> found = report(NaiveBayes().fit(X, target="y"), X)
    >>> [caution.kind for caution in found.cautions][:1]
    ['same rows']
    """
    if isinstance(surprising, bool) or not isinstance(surprising, int) or surprising < 0:
        raise ParameterError(
            f"surprising must be a whole number >= 0, got {surprising!r}.", hint="5 is usual"
        )
    read = rows(model, X, y, target)
    found = evaluate(
        model, read.X, read.labels, loss, leave_one_out=leave_one_out, bootstrap=bootstrap,
        seed=seed,
    )  # fmt: skip
    said = found._rows().said
    about = trained(model)
    moved = drifts(compared(model, read))
    singly = alone(read, said.codes, len(said.classes))
    drawn, notes = _drawn(model, read, found)
    if not moved:
        notes.append(Note("drift", f"{about.kind} keeps no counts of its training rows by column, "
                          "so that these rows cannot be compared with them."))  # fmt: skip
    return Report(
        title or f"{about.kind} on {found.rows:,} rows",
        source,
        described(read),
        read.others,
        about,
        found,
        cautions(found, about, singly, moved),
        singly,
        moved,
        surprises(model, read, said, surprising),
        drawn,
        notes,
    )


def _drawn(model: Any, read: Rows, found: Evaluation) -> tuple[list[Figure], list[Note]]:
    """The figures in order, and what there is none of."""
    said = found._rows().said
    made: list[Figure | Note] = [
        pictures.reliability(found), *pictures.thresholds(found, said), pictures.confusion(found)
    ]  # fmt: skip
    seen = cache(lambda: observed(model, read, said.codes))
    weights, own = _weights(model, seen)
    if len(weights):
        made.append(pictures.importance(weights, not own))
        made += pictures.evidence(model, weights, seen)
    else:
        made.append(Note("importance", f"{type(model).__name__} gives no evidence by column."))
    made.append(pictures.nomogram(model))
    figures = [one for one in made if isinstance(one, Figure)]
    return figures, [one for one in made if isinstance(one, Note)]


def _weights(model: Any, seen: Callable[[], Observed]) -> tuple[Importance, bool]:
    """By the model's own tables, or by what it says about these rows; whether they are its own."""
    if hasattr(model, "importance"):
        try:
            return model.importance(), True
        except InputError:
            pass
    return (seen().importance() if hasattr(model, "evidence") else Importance(())), False
