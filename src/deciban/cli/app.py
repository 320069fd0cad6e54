"""The commands: each parses its options, calls the work, and prints the facts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from deciban.cli import mail
from deciban.cli import options as o

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    from deciban.cli.reading import Input
    from deciban.cli.rendering import HasDict

app = typer.Typer(
    name="deciban",
    help="Bayesian classification on one exact table of counts.",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"]},
)
app.add_typer(mail.app)


@app.command()
def train(
    data: o.Data,
    target: o.Target,
    output: o.Output,
    kind: o.Kinds = None,
    numeric: Annotated[
        str,
        typer.Option(
            metavar="FAMILY",
            help="How numbers are modelled: auto, or such as gaussian, histogram or mdl.",
        ),
    ] = "auto",
    missing: Annotated[
        Literal["auto", "skip", "value"],
        typer.Option(help="Whether a hole says nothing (skip) or is a value of its own."),
    ] = "auto",
    smoothing: Annotated[
        str, typer.Option(metavar="NUMBER", help="A number >= 0, or auto: chosen by the counts.")
    ] = "auto",
    calibrate: Annotated[
        bool,
        typer.Option(" /--no-calibrate", help="Leave the evidence as it is, without a discount."),
    ] = True,
    encoding: o.Encoding = "utf-8",
    na: o.Na = None,
    json: o.Json = False,
    quiet: o.Quiet = False,
) -> None:
    """Learn a model from labelled rows."""
    from deciban.cli import training

    settings = {
        "kinds": o.kinds(kind),
        "numeric": o.numeric(numeric),
        "missing": missing,
        "smoothing": o.smoothing(smoothing),
        "calibrate": calibrate,
    }
    _show(training.train(_input(data, encoding, na), target, settings, output, quiet=quiet),
          json, quiet)  # fmt: skip


@app.command()
def update(
    model: o.ModelFile,
    data: o.Data,
    target: o.SameTarget = None,
    output: o.OtherOutput = None,
    encoding: o.Encoding = "utf-8",
    na: o.Na = None,
    json: o.Json = False,
    quiet: o.Quiet = False,
) -> None:
    """Count more labelled rows into a model."""
    from deciban.cli import training

    rows, out = _input(data, encoding, na), output or model
    _show(training.update(model, rows, target, out, forget=False, quiet=quiet), json, quiet)


@app.command()
def forget(
    model: o.ModelFile,
    data: o.Data,
    target: o.SameTarget = None,
    output: o.OtherOutput = None,
    encoding: o.Encoding = "utf-8",
    na: o.Na = None,
    json: o.Json = False,
    quiet: o.Quiet = False,
) -> None:
    """Take labelled rows back that were counted before, exactly."""
    from deciban.cli import training

    rows, out = _input(data, encoding, na), output or model
    _show(training.update(model, rows, target, out, forget=True, quiet=quiet), json, quiet)


@app.command()
def merge(
    models: o.ModelFiles, output: o.Output, json: o.Json = False, quiet: o.Quiet = False
) -> None:
    """Make one model of several that were trained apart."""
    from deciban.cli import training

    _show(training.merge(models, output, quiet=quiet), json, quiet)


@app.command()
def predict(
    model: o.ModelFile,
    data: o.Data,
    output: Annotated[
        str | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Write here; without it, standard output."
        ),
    ] = None,
    form: o.Form = None,
    keep: Annotated[bool, typer.Option("--keep", help="Write the input columns as well.")] = False,
    evidence: Annotated[
        bool,
        typer.Option("--evidence", help="Write decibans for the answer against the runner-up."),
    ] = False,
    loss: o.Loss = None,
    abstain: o.Abstain = None,
    priors: Annotated[
        str | None,
        typer.Option(metavar="CLASS=RATE,...", help="Base rates that differ from training's."),
    ] = None,
    coverage: o.Coverage = None,
    per_class: o.PerClass = False,
    novelty: Annotated[
        bool,
        typer.Option("--novelty", help="Write how likely rows as unlikely are; small is new."),
    ] = False,
    novel: Annotated[
        float | None,
        typer.Option(metavar="LEVEL", help="Give no answer where the novelty is not above this."),
    ] = None,
    digits: Annotated[
        int, typer.Option(min=1, max=17, help="Digits of probabilities; 17 are all.")
    ] = 6,
    encoding: o.Encoding = "utf-8",
    na: o.Na = None,
    json: o.Json = False,
    quiet: o.Quiet = False,
) -> None:
    """Classify rows: a prediction and a probability for each class."""
    if json and output is None:
        raise typer.BadParameter("the table is on the standard output: add -o", param_hint="--json")
    from functools import partial

    from deciban import files
    from deciban.cli import prediction, writing

    written = partial(writing.table, output, writing.format_of(output, form))
    opened = files.open(model)
    classes = opened.model.classes.tolist()
    options = prediction.PredictionOptions(
        o.loss(loss, classes), abstain, o.priors(priors, classes), keep, evidence, digits,
        coverage, per_class, novelty, novel,
    )  # fmt: skip
    facts = prediction.predict(
        opened,
        _input(data, encoding, na),
        options,
        written,
        output=output or "",
        quiet=quiet,
    )
    _show(facts, json, quiet or output is None)


@app.command()
def explain(
    model: o.ModelFile,
    data: o.SomeData = None,
    row: Annotated[
        str | None, typer.Option(metavar="JSON", help="One row, as a JSON object.")
    ] = None,
    text: Annotated[
        str | None, typer.Option(metavar="TEXT", help="One text, for a model of texts.")
    ] = None,
    rows: Annotated[
        list[str] | None,
        typer.Option(metavar="FILE", help="Rows of a file, like DATA. May be repeated."),
    ] = None,
    limit: Annotated[int, typer.Option(min=1, help="No more rows than this.")] = 10,
    against: Annotated[
        str | None,
        typer.Option(metavar="CLASS", help="Compare with this class, not with the runner-up."),
    ] = None,
    novelty: Annotated[
        bool,
        typer.Option("--novelty", help="Say how much of what was learned each row is unlike."),
    ] = False,
    html: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write a page of HTML that stands alone.")
    ] = None,
    encoding: o.Encoding = "utf-8",
    na: o.Na = None,
    json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object a row, for machines.")
    ] = False,
    quiet: o.Quiet = False,
) -> None:
    """Say why: decibans for the answer against the runner-up, feature by feature."""
    from deciban.cli import explanation

    files = [*(data or ()), *(rows or ())]
    given = [name for name, value in (("--row", row), ("--text", text), ("DATA", files)) if value]
    if len(given) != 1:
        what = " and ".join(given) or "nothing"
        raise typer.BadParameter(f"give DATA, --row or --text, got {what}", param_hint="--row")
    explanations = explanation.explain(
        model,
        row=o.row(row),
        text=text,
        data=_input(files, encoding, na) if files else None,
        limit=limit,
        against=against,
        novelty=novelty,
    )
    if html is not None:
        explanation.write_html(explanations, html)
    if json or not (quiet or html is not None):
        explanation.show(explanations, json=json)


@app.command()
def evaluate(
    model: o.ModelFile,
    data: o.Data,
    target: o.SameTarget = None,
    loss: o.Loss = None,
    abstain: o.Abstain = None,
    coverage: o.Coverage = None,
    per_class: o.PerClass = False,
    leave_one_out: o.LeaveOneOut = False,
    bootstrap: o.Bootstrap = 1000,
    seed: o.Seed = 0,
    encoding: o.Encoding = "utf-8",
    na: o.Na = None,
    json: o.Json = False,
    quiet: o.Quiet = False,
) -> None:
    """Say how good a model is on labelled rows, with intervals."""
    from functools import partial

    from deciban.cli import evaluation

    options = evaluation.EvaluationOptions(
        partial(o.loss, loss), abstain, leave_one_out, bootstrap, seed, coverage, per_class
    )
    rows = _input(data, encoding, na)
    _show(evaluation.evaluate_file(model, rows, target, options, quiet=quiet), json, quiet)


@app.command()
def compare(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="MODEL MODEL... DATA...", help="Model files, then data.", show_default=False
        ),
    ],
    target: o.SameTarget = None,
    loss: o.Loss = None,
    abstain: o.Abstain = None,
    leave_one_out: o.LeaveOneOut = False,
    bootstrap: o.Bootstrap = 1000,
    seed: o.Seed = 0,
    encoding: o.Encoding = "utf-8",
    na: o.Na = None,
    json: o.Json = False,
    quiet: o.Quiet = False,
) -> None:
    """Say which of some models is better on the same rows, and whether that can be told."""
    from functools import partial

    from deciban.cli import evaluation

    models, data = o.models_and_data(files)
    options = evaluation.EvaluationOptions(
        partial(o.loss, loss), abstain, leave_one_out, bootstrap, seed
    )
    rows = _input(data, encoding, na)
    _show(evaluation.compare_files(models, rows, target, options, quiet=quiet), json, quiet)


@app.command()
def report(
    model: o.ModelFile,
    data: o.Data,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="The page to write.")
    ] = "report.html",
    target: o.SameTarget = None,
    loss: o.Loss = None,
    leave_one_out: o.LeaveOneOut = False,
    bootstrap: o.Bootstrap = 200,
    seed: o.Seed = 0,
    charts: Annotated[
        str | None,
        typer.Option(metavar="DIR", help="Write each chart here as well, as SVG and PNG."),
    ] = None,
    pdf: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Print the page to PDF as well, by Chromium."),
    ] = None,
    encoding: o.Encoding = "utf-8",
    na: o.Na = None,
    json: o.Json = False,
    quiet: o.Quiet = False,
) -> None:
    """Write a page about a model on labelled rows: how good, why, what to be careful about."""
    from functools import partial

    from deciban.cli import report as reporting

    options = reporting.ReportOptions(
        output, charts, pdf, partial(o.loss, loss), leave_one_out, bootstrap, seed
    )
    rows = _input(data, encoding, na)
    _show(reporting.report(model, rows, target, options, quiet=quiet), json, quiet)


@app.command()
def inspect(
    file: Annotated[
        list[str],
        typer.Argument(metavar="FILE...", help="A model file, or data.", show_default=False),
    ],
    kind: o.Kinds = None,
    encoding: o.Encoding = "utf-8",
    na: o.Na = None,
    json: o.Json = False,
) -> None:
    """Say what is in a model file, or what the columns of data are."""
    from deciban.cli import inspection

    if len(file) == 1 and inspection.is_model(file[0]):
        _show(inspection.model(file[0]), json)
    else:
        _show(inspection.table(_input(file, encoding, na), o.kinds(kind)), json)


@app.command()
def version(json: o.Json = False) -> None:
    """Print the version."""
    import deciban

    print(f'{{"version": "{deciban.__version__}"}}' if json else deciban.__version__)


def _input(paths: list[str], encoding: str, na: list[str] | None) -> Input:
    from deciban.cli.reading import Input

    return Input(tuple(paths), encoding, tuple(na or ()))


def _show(facts: HasDict | DataclassInstance, json: bool, quiet: bool = False) -> None:
    """Print what was explanations or done; with JSON also if it is to be quiet."""
    if not json and quiet:
        return
    from deciban.cli import rendering

    print(rendering.as_json(facts) if json else rendering.as_text(facts))
