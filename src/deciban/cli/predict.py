"""The command ``predict``: its options."""

from __future__ import annotations

from typing import Annotated

import typer

from deciban.cli import options as o
from deciban.cli.column_lists import Keep, OptionalKeep, kept
from deciban.cli.reading_options import How, file_paths, reads_files

#: What Typer is told of the command.
SETTINGS = {"cls": OptionalKeep}

Output = Annotated[
    str | None,
    typer.Option("--output", "-o", metavar="FILE", help="Write here; without it, standard output."),
]
Into = Annotated[
    str | None,
    typer.Option(metavar="TABLE", help="Write a new table of the database that DATA is."),
]
Evidence = Annotated[
    bool,
    typer.Option("--evidence", help="Write decibans for the answer against the runner-up."),
]
Priors = Annotated[
    str | None,
    typer.Option(metavar="CLASS=RATE,...", help="Base rates that differ from training's."),
]
Novelty = Annotated[
    bool,
    typer.Option("--novelty", help="Write how likely rows as unlikely are; small is new."),
]
Novel = Annotated[
    float | None,
    typer.Option(metavar="LEVEL", help="Give no answer where the novelty is not above this."),
]
Threshold = Annotated[
    str | None,
    typer.Option(
        metavar="[CLASS=]P",
        help="Answer CLASS where its probability is at least P; of two classes, the second.",
    ),
]
Top = Annotated[
    int | None,
    typer.Option(min=1, metavar="K", help="Write the K likeliest classes instead of all."),
]
OnlyProbabilities = Annotated[bool, typer.Option("--only-probabilities", help="Write no answers.")]
Digits = Annotated[
    int, typer.Option(min=1, max=17, metavar="N", help="Digits of probabilities; 17 are all.")
]


@reads_files
def predict(
    how: How,
    model: o.ModelFile,
    data: o.Data,
    output: Output = None,
    into: Into = None,
    form: o.Form = None,
    keep: Keep = None,
    evidence: Evidence = False,
    loss: o.Loss = None,
    abstain: o.Abstain = None,
    priors: Priors = None,
    coverage: o.Coverage = None,
    per_class: o.PerClass = False,
    novelty: Novelty = False,
    novel: Novel = None,
    threshold: Threshold = None,
    top: Top = None,
    only_probabilities: OnlyProbabilities = False,
    digits: Digits = 6,
    force: o.Force = False,
    json: o.Json = False,
    quiet: o.Quiet = False,
) -> None:
    """Classify rows: a prediction and a probability for each class."""
    if into is not None and (output is not None or len(data) != 1):
        raise typer.BadParameter("one database, and no --output beside it", param_hint="--into")
    if json and output is None and into is None:
        raise typer.BadParameter("the table is on the standard output: add -o", param_hint="--json")
    from functools import partial

    from deciban import files
    from deciban.cli import exits, prediction, writing
    from deciban.cli.outputs import check_outputs
    from deciban.cli.reading import Input
    from deciban.prediction.scored import PredictionOptions

    check_outputs([output], file_paths(data, how), [model, loss], force=force)
    written = partial(writing.table, output, writing.format_of(output, form), force)
    if into is not None:
        from deciban.prediction.into import into_table, refuse_source

        refuse_source(into, how.get("table"))
        written = partial(into_table, data[0], into, force)
    opened = files.open(model)
    classes = opened.model.classes.tolist()
    options = PredictionOptions(
        o.loss(loss, classes), abstain, o.priors(priors, classes), kept(keep), evidence, digits,
        coverage, per_class, novelty, novel, o.threshold(threshold, classes), top,
        not only_probabilities,
    )  # fmt: skip
    facts = prediction.predict(
        opened,
        Input(tuple(data), how),
        options,
        written,
        output=output or into or "",
        quiet=quiet,
    )
    exits.warn_unseen(facts.unseen)
    if json or not (quiet or (output is None and into is None)):
        from deciban.cli import rendering

        rendering.show(facts, json=json)
