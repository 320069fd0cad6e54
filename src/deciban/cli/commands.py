"""Commands that have few options of their own: they parse them, call the work, print the facts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from deciban.cli import options as o
from deciban.cli.reading_options import How, file_paths, reads_files

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    from deciban.cli.reading import Input
    from deciban.cli.rendering import HasDict


@reads_files
def change(
    how: How,
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
    from deciban.cli import changing
    from deciban.cli.outputs import check_outputs

    out, forget = output or model, context.info_name == "forget"
    check_outputs([out], file_paths(data, how), force=force)
    rows = _input(data, how)
    facts = changing.update(model, rows, target, out, forget=forget, overwrite=force, quiet=quiet)
    _show(facts, json, quiet)


def merge(
    models: o.ModelFiles,
    output: o.Output,
    force: o.Force = False,
    json: o.Json = False,
    quiet: o.Quiet = False,
) -> None:
    """Make one model of several that were trained apart."""
    from deciban.cli import changing
    from deciban.cli.outputs import check_outputs

    check_outputs([output], beside=models, force=force)
    _show(changing.merge(models, output, overwrite=force, quiet=quiet), json, quiet)


@reads_files
def explain(
    how: How,
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
    limit: Annotated[int, typer.Option(min=1, metavar="N", help="No more rows than this.")] = 10,
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


@reads_files
def evaluate(
    how: How,
    model: o.ModelFile,
    data: o.SomeData = None,
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
    """Say how good a model is, with intervals: on labelled rows, or without any on its own.

    Without DATA, rows of training are judged that MODEL kept the scores of, each left out.
    """
    from functools import partial

    from deciban.cli import evaluation

    options = evaluation.EvaluationOptions(
        partial(o.loss, loss), abstain, leave_one_out, bootstrap, seed, coverage, per_class
    )
    rows = _input(data, how) if data else None
    _show(evaluation.evaluate_file(model, rows, target, options, quiet=quiet), json, quiet)


@reads_files
def compare(
    how: How,
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


@reads_files
def report(
    how: How,
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
    check_outputs([output, pdf], file_paths(data, how), [model, loss], force=force)
    rows = _input(data, how)
    _show(reporting.report(model, rows, target, options, quiet=quiet), json, quiet)


@reads_files
def inspect(
    how: How,
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


def version(json: o.Json = False) -> None:
    """Print the version."""
    from deciban.version import __version__

    print(f'{{"version": "{__version__}"}}' if json else __version__)


def show_help(
    command: Annotated[
        list[str] | None,
        typer.Argument(metavar="[COMMAND]", help="Such as train.", show_default=False),
    ] = None,
) -> None:
    """Say what a command does and takes."""
    from deciban.cli.exits import run

    raise typer.Exit(run([*(command or ()), "--help"]))


def _input(paths: list[str], how: How) -> Input:
    from deciban.cli.reading import Input

    return Input(tuple(paths), how)


def _show(facts: HasDict | DataclassInstance, json: bool, quiet: bool = False) -> None:
    """Print what was found or done; with JSON also if it is to be quiet."""
    if json or not quiet:
        from deciban.cli import rendering

        rendering.show(facts, json=json)
