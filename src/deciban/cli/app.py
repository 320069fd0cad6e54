"""The commands: each parses its options, calls the work, and prints the facts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from deciban.cli import export, mail, serving
from deciban.cli import options as o
from deciban.cli.grouping import Group, Time
from deciban.cli.words import words

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
app.command()(export.sql)


@app.command()
@o.reads_files
def train(
    how: o.How,
    data: o.Data,
    target: o.Target,
    output: o.Output,
    kind: o.Kinds = None,
    group: Group = None,
    time: Time = None,
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
    classes_ok: Annotated[
        bool,
        typer.Option("--classes-ok", help="More than 1000 different numbers may be classes."),
    ] = False,
    force: o.Force = False,
    json: o.Json = False,
    quiet: o.Quiet = False,
) -> None:
    """Learn a model from labelled rows."""
    from deciban.cli import training
    from deciban.cli.outputs import check_outputs
    from deciban.encoding.class_limit import MAX_NUMBER_CLASSES

    check_outputs([output], data, force=force)
    settings = {
        "kinds": o.kinds(kind),
        "numeric": o.numeric(numeric),
        "missing": missing,
        "smoothing": o.smoothing(smoothing),
        "calibrate": calibrate,
        "max_classes": None if classes_ok else MAX_NUMBER_CLASSES,
    }
    rows = _input(data, how)
    units = {"groups": group, "time": time}
    facts = training.train(rows, target, settings, units, output, overwrite=force, quiet=quiet)
    _show(facts, json, quiet)


@app.command("update", help="Count more labelled rows into a model.")
@app.command("forget", help="Take labelled rows back that were counted before, exactly.")
@o.reads_files
def change(
    how: o.How,
    context: typer.Context,
    model: o.ModelFile,
    data: o.Data,
    target: o.SameTarget = None,
    output: o.OtherOutput = None,
    force: o.Force = False,
    json: o.Json = False,
    quiet: o.Quiet = False,
) -> None:
    """Change a model by rows, in the way that the name of the command says."""
    from deciban.cli import training
    from deciban.cli.outputs import check_outputs

    out, forget = output or model, context.info_name == "forget"
    check_outputs([out], data, force=force)
    rows = _input(data, how)
    facts = training.update(model, rows, target, out, forget=forget, overwrite=force, quiet=quiet)
    _show(facts, json, quiet)


@app.command()
def merge(
    models: o.ModelFiles,
    output: o.Output,
    force: o.Force = False,
    json: o.Json = False,
    quiet: o.Quiet = False,
) -> None:
    """Make one model of several that were trained apart."""
    from deciban.cli import training
    from deciban.cli.outputs import check_outputs

    check_outputs([output], beside=models, force=force)
    _show(training.merge(models, output, overwrite=force, quiet=quiet), json, quiet)


@app.command(cls=o.OptionalKeep)
@o.reads_files
def predict(
    how: o.How,
    model: o.ModelFile,
    data: o.Data,
    output: Annotated[
        str | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Write here; without it, standard output."
        ),
    ] = None,
    form: o.Form = None,
    keep: o.Keep = None,
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
    force: o.Force = False,
    json: o.Json = False,
    quiet: o.Quiet = False,
) -> None:
    """Classify rows: a prediction and a probability for each class."""
    if json and output is None:
        raise typer.BadParameter("the table is on the standard output: add -o", param_hint="--json")
    from functools import partial

    from deciban import files
    from deciban.cli import exits, prediction, writing
    from deciban.cli.outputs import check_outputs
    from deciban.prediction.scored import PredictionOptions

    check_outputs([output], data, [model, loss], force=force)
    written = partial(writing.table, output, writing.format_of(output, form), force)
    opened = files.open(model)
    classes = opened.model.classes.tolist()
    options = PredictionOptions(
        o.loss(loss, classes), abstain, o.priors(priors, classes), o.kept(keep), evidence, digits,
        coverage, per_class, novelty, novel,
    )  # fmt: skip
    facts = prediction.predict(
        opened,
        _input(data, how),
        options,
        written,
        output=output or "",
        quiet=quiet,
    )
    exits.warn_unseen(facts.unseen)
    _show(facts, json, quiet or output is None)


@app.command()
@o.reads_files
def explain(
    how: o.How,
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
    force: o.Force = False,
    json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object a row, for machines.")
    ] = False,
    quiet: o.Quiet = False,
) -> None:
    """Say why: decibans for the answer against the runner-up, feature by feature."""
    from deciban.cli import explanation
    from deciban.cli.outputs import check_outputs

    files = [*(data or ()), *(rows or ())]
    given = [name for name, value in (("--row", row), ("--text", text), ("DATA", files)) if value]
    if len(given) != 1:
        what = " and ".join(given) or "nothing"
        raise typer.BadParameter(f"give DATA, --row or --text, got {what}", param_hint="--row")
    if html is not None:
        check_outputs([html], files, [model], force=force)
    explanations = explanation.explain(
        model,
        row=o.row(row),
        text=text,
        data=_input(files, how) if files else None,
        limit=limit,
        against=against,
        novelty=novelty,
    )
    if html is not None:
        explanation.write_html(explanations, html, overwrite=force)
    if json or not (quiet or html is not None):
        explanation.show(explanations, json=json)


app.command()(words)


@app.command()
@o.reads_files
def evaluate(
    how: o.How,
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
    json: o.Json = False,
    quiet: o.Quiet = False,
) -> None:
    """Say how good a model is on labelled rows, with intervals."""
    from functools import partial

    from deciban.cli import evaluation

    options = evaluation.EvaluationOptions(
        partial(o.loss, loss), abstain, leave_one_out, bootstrap, seed, coverage, per_class
    )
    rows = _input(data, how)
    _show(evaluation.evaluate_file(model, rows, target, options, quiet=quiet), json, quiet)


@app.command()
@o.reads_files
def compare(
    how: o.How,
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
    rows = _input(data, how)
    _show(evaluation.compare_files(models, rows, target, options, quiet=quiet), json, quiet)


@app.command()
@o.reads_files
def report(
    how: o.How,
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
    force: o.Force = False,
    json: o.Json = False,
    quiet: o.Quiet = False,
) -> None:
    """Write a page about a model on labelled rows: how good, why, what to be careful about."""
    from functools import partial

    from deciban.cli import report as reporting
    from deciban.cli.outputs import check_outputs

    options = reporting.ReportOptions(
        output, charts, pdf, force, partial(o.loss, loss), leave_one_out, bootstrap, seed
    )
    check_outputs([output, pdf], data, [model, loss], force=force)
    rows = _input(data, how)
    _show(reporting.report(model, rows, target, options, quiet=quiet), json, quiet)


@app.command()
@o.reads_files
def inspect(
    how: o.How,
    file: Annotated[
        list[str],
        typer.Argument(metavar="FILE...", help="A model file, or data.", show_default=False),
    ],
    kind: o.Kinds = None,
    json: o.Json = False,
) -> None:
    """Say what is in a model file, or what the columns of data are."""
    from deciban.cli import inspection

    if len(file) == 1 and inspection.is_model(file[0]):
        _show(inspection.model(file[0]), json)
    else:
        _show(inspection.table(_input(file, how), o.kinds(kind)), json)


app.command()(serving.serve)
app.command()(serving.export)


@app.command()
def version(json: o.Json = False) -> None:
    """Print the version."""
    import deciban

    print(f'{{"version": "{deciban.__version__}"}}' if json else deciban.__version__)


def _input(paths: list[str], how: o.How) -> Input:
    from deciban.cli.reading import Input

    return Input(tuple(paths), how)


def _show(facts: HasDict | DataclassInstance, json: bool, quiet: bool = False) -> None:
    """Print what was explanations or done; with JSON also if it is to be quiet."""
    if not json and quiet:
        return
    from deciban.cli import rendering

    print(rendering.as_json(facts) if json else rendering.as_text(facts))
