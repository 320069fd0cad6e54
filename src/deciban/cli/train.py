"""The command ``train``: its options."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import typer

from deciban.cli import options as o
from deciban.cli import text_options as t
from deciban.cli.column_lists import columns
from deciban.cli.grouping import Group, Time
from deciban.cli.reading_options import How, file_paths, reads_files
from deciban.errors import ParameterError

ModelName = Annotated[
    Literal["auto", "naive", "aode", "bayes", "logistic"],
    typer.Option(
        "--model",
        "-m",
        metavar="NAME",
        help="naive: one pass, any size. aode: pairs of columns. logistic: logistic regression. "
        "bayes: the best of all together. auto: whichever is best on held-out rows.",
    ),
]
Test = Annotated[
    str | None,
    typer.Option(
        "--test",
        metavar="SHARE|FILE",
        help="Judge the model on rows that it does not learn: a share of DATA such as 0.2, or a "
        "file.",
    ),
]
Folds = Annotated[
    int | None,
    typer.Option(
        "--cv", min=2, metavar="N", help="Judge the model by N folds, then learn all rows."
    ),
]
Drop = Annotated[
    list[str] | None,
    typer.Option("--drop", metavar="COLUMN,...", help="Columns not to use. May be repeated."),
]
Only = Annotated[
    list[str] | None,
    typer.Option("--only", metavar="COLUMN,...", help="The only columns to use. May be repeated."),
]
Weight = Annotated[
    str | None,
    typer.Option("--weight", metavar="COLUMN", help="How many times each row counts."),
]
Prior = Annotated[
    str | None,
    typer.Option(
        "--prior",
        metavar="CLASS=RATE,...",
        help="How common classes are, if not as in DATA; or uniform.",
    ),
]
ClassWeight = Annotated[
    str | None,
    typer.Option(
        "--class-weight",
        metavar="CLASS=N,...",
        help="How many times rows of each class count; or balanced: classes weigh the same.",
    ),
]
Em = Annotated[
    bool, typer.Option("--em", help="Learn from rows of DATA that have no label as well, by EM.")
]
UnlabelledFiles = Annotated[
    list[str] | None,
    typer.Option(
        "--unlabelled",
        metavar="FILE",
        help="Rows without labels to learn from as well, by EM. May be repeated.",
    ),
]
UnlabelledWeight = Annotated[
    str | None,
    typer.Option(
        metavar="NUMBER",
        help="With --em: what a row without a label counts; auto chooses.",
        show_default="1",
    ),
]
Seed = Annotated[
    int, typer.Option(min=0, metavar="N", help="Which rows are held out, and the folds.")
]
Numeric = Annotated[
    str | None,
    typer.Option(
        metavar="FAMILY",
        help="How numbers are modelled: auto, gaussian, histogram, mdl, poisson or von_mises.",
        show_default="auto",
    ),
]
Missing = Annotated[
    Literal["auto", "skip", "value"] | None,
    typer.Option(
        metavar="HOW",
        help="Whether a hole says nothing (skip) or is a value of its own (value), or auto.",
        show_default="auto",
    ),
]
Smoothing = Annotated[
    str | None,
    typer.Option(
        metavar="NUMBER",
        help="A number >= 0, or auto: chosen by the counts.",
        show_default="auto",
    ),
]
NoCalibrate = Annotated[
    bool,
    typer.Option("--no-calibrate", help="Leave the evidence as it is, without a discount."),
]
ClassesOk = Annotated[
    bool,
    typer.Option("--classes-ok", help="More than 1000 different numbers may be classes."),
]


@reads_files
def train(
    how: How,
    data: o.Data,
    target: o.Target,
    output: o.Output,
    model: ModelName = "naive",
    test: Test = None,
    cv: Folds = None,
    drop: Drop = None,
    only: Only = None,
    kind: o.Kinds = None,
    weight: Weight = None,
    group: Group = None,
    time: Time = None,
    prior: Prior = None,
    class_weight: ClassWeight = None,
    em: Em = False,
    unlabelled: UnlabelledFiles = None,
    unlabelled_weight: UnlabelledWeight = None,
    numeric: Numeric = None,
    missing: Missing = None,
    smoothing: Smoothing = None,
    no_calibrate: NoCalibrate = False,
    ngrams: t.Ngrams = None,
    characters: t.Characters = None,
    tokenizer: t.TokenizerRule = None,
    stop_words: t.StopWords = None,
    min_df: t.MinDf = None,
    max_words: t.MaxWords = None,
    seed: Seed = 0,
    classes_ok: ClassesOk = False,
    force: o.Force = False,
    json: o.Json = False,
    quiet: o.Quiet = False,
) -> None:
    """Learn a model from labelled rows."""
    from deciban.cli import rendering, training
    from deciban.cli.outputs import check_outputs
    from deciban.cli.reading import Input
    from deciban.cli.recipes import Recipe, Roles
    from deciban.encoding.class_limit import MAX_NUMBER_CLASSES

    if test is not None and cv is not None:
        raise typer.BadParameter("--test and --cv both hold rows out", param_hint="--cv")
    share, files = _test(test), list(unlabelled or ())
    if unlabelled_weight is not None and not (em or files):
        raise typer.BadParameter(
            "it is for rows without a label: add --em or --unlabelled",
            param_hint="--unlabelled-weight",
        )
    tests = [] if test is None or share is not None else [test]
    check_outputs([output], file_paths([*data, *tests, *files], how), force=force)
    parameters: dict[str, Any] = {
        "kinds": o.kinds(kind),
        "max_classes": None if classes_ok else MAX_NUMBER_CLASSES,
        "random_state": seed,
        **t.text_parameters(ngrams, characters, tokenizer, stop_words, min_df, max_words),
        **_stated(
            numeric=None if numeric is None else o.numeric(numeric),
            missing=missing,
            smoothing=None if smoothing is None else o.smoothing(smoothing),
            calibrate=False if no_calibrate else None,
            prior=_by_class("--prior", prior, "uniform"),
            class_weight=_by_class("--class-weight", class_weight, "balanced"),
            unlabelled=_row_weight(unlabelled_weight or "1") if em or files else None,
        ),
    }
    facts = training.train(
        Input(tuple(data), how),
        Roles(target, weight, group, time),
        Recipe(model, parameters),
        training.TrainingOptions(
            output,
            overwrite=force,
            quiet=quiet,
            test=Input(tuple(tests), how) if tests else share,
            folds=cv,
            seed=seed,
            unlabelled=Input(tuple(files), how) if files else None,
            drop=columns("--drop", drop),
            only=columns("--only", only),
            suggest=json or not quiet,
        ),
    )
    rendering.show(facts, json=json, quiet=quiet)


def _stated(**parameters: Any) -> dict[str, Any]:
    return {name: value for name, value in parameters.items() if value is not None}


def _test(stated: str | None) -> float | None:
    """The share of rows that is held out; None where it is a file, or nothing."""
    if stated is None:
        return None
    percent = stated.endswith("%")
    try:
        share = float(stated.rstrip("%")) / (100 if percent else 1)
    except ValueError:
        return None
    if not 0 < share < 1:
        raise ParameterError(
            f"--test {stated} is no share of the rows.",
            hint="give a number between 0 and 1, such as 0.2, or a file",
        )
    return share


def _by_class(option: str, stated: str | None, word: str) -> str | dict[str, float] | None:
    """A word, or ``CLASS=NUMBER,...`` as a mapping."""
    if stated is None or stated == word:
        return stated
    return o.numbers(option, stated, f"is neither {word} nor CLASS=NUMBER, such as spam=0.8")


def _row_weight(stated: str) -> float | str:
    try:
        return stated if stated == "auto" else float(stated)
    except ValueError:
        raise typer.BadParameter(
            f"{stated!r} is neither 'auto' nor a number", param_hint="--unlabelled-weight"
        ) from None
