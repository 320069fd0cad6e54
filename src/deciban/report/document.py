"""Report: everything worth knowing about a model on some labelled rows."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path

from deciban.decision import Loss
from deciban.errors import FileError, InputError, ParameterError
from deciban.evaluation import Evaluation, evaluate
from deciban.evaluation.classifier import Classifier
from deciban.explanation import Explainable, Importance
from deciban.files.atomic import output
from deciban.files.overwriting import check_overwrite
from deciban.plain import PlainDict, plain
from deciban.progress import shows_progress
from deciban.report import figures
from deciban.report.cautions import Caution, list_cautions
from deciban.report.columns import ColumnSummary, summarize_columns
from deciban.report.distributions import column_distributions
from deciban.report.drift import Drift, drifts
from deciban.report.figure import Figure
from deciban.report.figures import Note
from deciban.report.leakage import SingleColumn, single_columns
from deciban.report.novelty import count_new_rows
from deciban.report.row_evidence import HasEvidence, RowEvidence, row_evidence
from deciban.report.rows import LabelledRows, read_rows
from deciban.report.surprises import Surprise, find_surprises
from deciban.report.training import TrainingSummary, summarize_training


@dataclass(frozen=True, eq=False)
class Report:
    """The parts of a report; :meth:`html` is the page, :attr:`figures` are its charts."""

    title: str
    source: str
    columns: Sequence[ColumnSummary]
    unused: Sequence[str]
    trained: TrainingSummary
    evaluation: Evaluation
    cautions: Sequence[Caution]
    alone: Sequence[SingleColumn]
    drifts: Sequence[Drift]
    surprises: Sequence[Surprise]
    figures: Sequence[Figure] = field(repr=False)
    notes: Sequence[Note] = ()

    def html(self) -> str:
        """One page that needs nothing else: no script, no link, no network."""
        from deciban.report import page

        return page.page(self)

    def save(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write the page, whole or not at all.

        A page that is there is replaced; any other file only if ``overwrite`` is True.
        """
        page = self.html().encode("utf-8", "replace")
        with output(path, overwrite=overwrite) as file:
            file.write(page)

    def save_charts(self, folder: str | Path, *, overwrite: bool = False) -> list[Path]:
        """Write each chart as SVG and PNG; none if a file is in the way, unless ``overwrite``."""
        contents = {
            Path(folder, name): content
            for figure in self.figures
            for name, content in figure.files.items()
        }
        try:
            Path(folder).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise FileError(f"{folder} cannot be written: {error.strerror}.") from None
        for path in contents if not overwrite else ():
            check_overwrite(path)
        for path, content in contents.items():
            with output(path, overwrite=overwrite) as file:
                file.write(content)
        return list(contents)

    def _repr_html_(self) -> str:
        from deciban.templates import render

        return render("report/frame.html.jinja", title=self.title, page=self.html())

    def to_dict(self) -> PlainDict:
        """Plain values, as JSON knows them."""
        facts: PlainDict = plain(
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
        return facts


@shows_progress("reporting")
def report(
    model: Classifier,
    X: object,
    y: Iterable[Hashable] | None = None,
    *,
    target: str | None = None,
    loss: Loss = None,
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
    >>> page = report(NaiveBayes().fit(X, target="y"), X)
    >>> [caution.kind for caution in page.cautions][:1]
    ['same rows']
    """
    if isinstance(surprising, bool) or not isinstance(surprising, int) or surprising < 0:
        raise ParameterError(
            f"surprising must be a whole number >= 0, got {surprising!r}.", hint="5 is usual"
        )
    rows = read_rows(model, X, y, target)
    evaluation = evaluate(
        model, rows.X, rows.labels, loss, leave_one_out=leave_one_out, bootstrap=bootstrap,
        seed=seed,
    )  # fmt: skip
    predictions = evaluation.decisions.predictions
    trained = summarize_training(model)
    moved = drifts(column_distributions(model, rows))
    alone = single_columns(rows, predictions.codes, len(predictions.classes))
    drawn = list(_figures(model, rows, evaluation))
    if not moved:
        drawn.append(Note("drift", f"{trained.kind} keeps no counts of its training rows by "
                          "column, so that these rows cannot be compared with them."))  # fmt: skip
    return Report(
        title or f"{trained.kind} on {evaluation.rows:,} rows",
        source,
        summarize_columns(rows),
        rows.others,
        trained,
        evaluation,
        list_cautions(evaluation, trained, alone, moved, rows.unseen, count_new_rows(model, rows)),
        alone,
        moved,
        find_surprises(model, rows, predictions, surprising),
        [one for one in drawn if isinstance(one, Figure)],
        [one for one in drawn if isinstance(one, Note)],
    )


def _figures(
    model: Classifier, rows: LabelledRows, evaluation: Evaluation
) -> Iterator[Figure | Note]:
    """The figures in order, and why some are not there."""
    yield figures.reliability(evaluation)
    yield figures.sets(model, evaluation)
    yield from figures.thresholds(evaluation)
    yield figures.confusion(evaluation)
    sampled = cache(lambda: row_evidence(model, rows, evaluation.decisions.predictions.codes))
    features, of_rows = _importance(model, sampled)
    if len(features):
        yield figures.importance(features, of_rows=of_rows)
        yield from figures.evidence(model, rows, features, sampled)
    else:
        yield Note("importance", f"{type(model).__name__} gives no evidence by column.")
    yield figures.nomogram(model)


def _importance(model: Classifier, sampled: Callable[[], RowEvidence]) -> tuple[Importance, bool]:
    """As measured in training, or else in these rows; and whether in these rows."""
    if isinstance(model, Explainable):
        try:
            return model.importance(), False
        except InputError:
            pass
    return (sampled().importance() if isinstance(model, HasEvidence) else Importance(())), True
