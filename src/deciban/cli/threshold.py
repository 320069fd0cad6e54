"""threshold: from which probability on a class is answered, for a precision or a recall."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deciban.cli import options as o
from deciban.cli.reading_options import How, reads_files
from deciban.errors import ParameterError

if TYPE_CHECKING:
    from deciban.cli.reading import Input
    from deciban.evaluation.thresholds import FoundThreshold
    from deciban.plain import PlainDict


@dataclass(frozen=True)
class ThresholdFacts:
    """A threshold, and what it gives."""

    model: str
    seconds: float
    leave_one_out: bool
    result: FoundThreshold

    def to_dict(self) -> PlainDict:
        """For machines."""
        plain: dict[str, Any] = asdict(self.result)
        plain["class"] = str(plain.pop("of"))
        about = {"model": self.model, "seconds": self.seconds, "leave_one_out": self.leave_one_out}
        return {**about, **plain}

    def __str__(self) -> str:
        from deciban.evaluation.text import align, between

        f = self.result
        how = "leave-one-out, " if self.leave_one_out else ""
        rows = [
            (f"{how}{f.rows:,} rows", str(f.of), "95 % interval"),
            ("precision", f"{f.precision:.3f}", between(f.precision_interval)),
            ("recall", f"{f.recall:.3f}", between(f.recall_interval)),
            ("rows answered so", f"{f.answered:.3f}", ""),
        ]
        flag = f"--threshold {_quoted(f'{f.of}={f.threshold:g}')}"
        return "\n".join([f"deciban predict {flag}", "", *align(rows, right={1, 2})])


def _quoted(text: str) -> str:
    import shlex

    return shlex.quote(text)


@reads_files
def threshold(
    how: How,
    model: o.ModelFile,
    data: o.Data,
    class_: Annotated[
        str | None,
        typer.Option("--class", "-c", metavar="CLASS", help="Of two classes, else the second."),
    ] = None,
    precision: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=1,
            callback=o.not_nan,
            metavar="SHARE",
            help="So many of such answers are right.",
        ),
    ] = None,
    recall: Annotated[
        float | None,
        typer.Option(
            min=0, max=1, callback=o.not_nan, metavar="SHARE", help="So many of its rows are found."
        ),
    ] = None,
    target: o.SameTarget = None,
    leave_one_out: o.LeaveOneOut = False,
    json: o.Json = False,
    quiet: o.Quiet = False,
) -> None:
    """Find the threshold for a wished precision or recall, on rows the model has not seen."""
    from deciban.cli import rendering
    from deciban.cli.reading import Input

    if (precision is None) == (recall is None):
        raise typer.BadParameter(
            "state --precision or --recall, one of them", param_hint="--recall"
        )
    rows = Input(tuple(data), how)
    facts = find(
        model, rows, class_, precision, recall, target, leave_one_out=leave_one_out, quiet=quiet
    )
    rendering.show(facts, json=json, quiet=quiet)


def find(
    path: str,
    data: Input,
    class_: str | None,
    precision: float | None,
    recall: float | None,
    target: str | None,
    *,
    leave_one_out: bool,
    quiet: bool,
) -> ThresholdFacts:
    """The threshold of a class of a model file."""
    from deciban.cli.evaluation import labelled_table
    from deciban.evaluation.predictions import predict
    from deciban.evaluation.thresholds import find_threshold

    with labelled_table(path, data, target, leave_one_out=leave_one_out, quiet=quiet) as table:
        model, rows, label, progress = table
        classes = model.classes_.tolist()
        if class_ is None and len(classes) != 2:
            raise ParameterError(
                f"there are {len(classes)} classes: a threshold is of one of them.",
                hint=f"name it, such as --class {classes[0]}",
            )
        of = classes[1] if class_ is None else o.class_of(class_, classes)
        answers = predict(model, rows, target=label, leave_one_out=leave_one_out)
        result = find_threshold(answers, of, precision=precision, recall=recall)
        if result is None:
            what = f"a precision of {precision:g}" if precision is not None else "that recall"
            raise ParameterError(
                f"no threshold of {of} gives {what} on these rows.",
                hint="ask for less, or look at deciban report: it has all thresholds",
            )
        return ThresholdFacts(path, progress.seconds, leave_one_out, result)
