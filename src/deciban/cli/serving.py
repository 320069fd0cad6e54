"""serve and export: a model behind HTTP, and what it has learnt as a file again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from deciban.cli import options as o
from deciban.errors import MissingPackageError, ParameterError

__all__ = ["export", "serve"]


def serve(
    model: Annotated[
        str | None,
        typer.Argument(
            metavar="[MODEL]",
            help="A model file; or a table, or nothing, to train a model on the page.",
        ),
    ] = None,
    data: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Labelled rows, on which the model can be judged."),
    ] = None,
    host: Annotated[
        str,
        typer.Option(
            metavar="ADDRESS",
            help="The address to listen at; others than this machine's need a token.",
        ),
    ] = "127.0.0.1",
    port: Annotated[
        int,
        typer.Option(
            min=0, max=65535, metavar="N", help="The port to listen at; 0 is any that is free."
        ),
    ] = 8000,
    learn: Annotated[bool, typer.Option("--learn", help="Let callers teach the model.")] = False,
    store: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="Where lessons are kept; without it, MODEL with .live.db."
        ),
    ] = None,
    token_file: Annotated[
        str | None, typer.Option(metavar="FILE", help="A file with what callers must know.")
    ] = None,
    name: Annotated[
        list[str] | None,
        typer.Option(metavar="HOST", help="A name the service is asked by. May be repeated."),
    ] = None,
    insecure: Annotated[
        bool, typer.Option("--insecure", help="Let anybody ask who reaches the address.")
    ] = False,
    workers: Annotated[
        int, typer.Option(min=1, max=256, metavar="N", help="How many processes answer.")
    ] = 1,
    open_page: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
    lang: Annotated[
        Literal["en", "zh"], typer.Option(metavar="en|zh", help="The language of the page.")
    ] = "en",
) -> None:
    """Answer, explain and learn over HTTP, with a page to try it, or to train a model on."""
    if store is not None and not learn:
        raise ParameterError("--store is for lessons.", hint="add --learn")
    try:
        from deciban.cli import inspection
        from deciban.serve import server
        from deciban.serve.settings import Settings
    except ModuleNotFoundError as error:
        raise MissingPackageError(
            f"deciban serve needs {error.name}, which is not installed.",
            hint="pip install 'deciban[serve]'",
        ) from None
    served = model if model is not None and inspection.is_model(model) else None
    if learn and served is None:
        raise ParameterError("--learn is for a model, and there is none.", hint="name a model file")
    beside = str(Path(served or "").with_suffix(".live.db")) if served else None
    settings = Settings(
        model=served,
        table=None if served else model,
        data=data,
        host=host,
        port=port,
        store=(store or beside) if learn else None,
        token=None if token_file is None else server.read_token(token_file),
        insecure=insecure,
        names=tuple(name or ()),
        workers=workers,
        language=lang,
    )
    server.run(settings, open_page=open_page)


def export(
    store: Annotated[
        str, typer.Argument(metavar="STORE", help="A live store of deciban serve --learn.")
    ],
    output: o.Output,
    force: o.Force = False,
    json: o.Json = False,
    quiet: o.Quiet = False,
) -> None:
    """Write the model of a live store, with all that it has learnt, to a file."""
    from deciban.cli import models, rendering
    from deciban.cli.changing import ChangeFacts
    from deciban.cli.inspection import shares
    from deciban.cli.outputs import check_outputs
    from deciban.cli.progress import Progress
    from deciban.serve import lessons

    check_outputs([output], beside=[store], force=force)
    with Progress("counting", quiet=quiet) as progress:
        estimator = lessons.export(store)
        size = models.save(estimator, output, overwrite=force)
        rows = float(estimator.counts_.weight.sum())
        facts = ChangeFacts(output, 0, rows, progress.seconds, shares(estimator.model_), size)
    rendering.show(facts, json=json, quiet=quiet)
