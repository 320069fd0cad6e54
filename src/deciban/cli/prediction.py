"""predict: rows of files to a table of answers, with progress."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from itertools import chain, islice

from deciban.cli.progress import Progress
from deciban.cli.reading import Input
from deciban.encoding.unseen import NOTHING_UNSEEN, UnseenValues
from deciban.files import Opened
from deciban.prediction.scored import PredictionOptions, batch_rows, fields, scored_batches
from deciban.prediction.writing import Field, Write


@dataclass(frozen=True)
class PredictionFacts:
    """What was done."""

    output: str
    rows: int
    seconds: float
    rows_per_second: float
    abstained: int
    unseen: dict[str, UnseenValues]


def predict(
    opened: Opened,
    data: Input,
    options: PredictionOptions,
    write_to: Callable[[list[Field]], AbstractContextManager[Write]],
    *,
    output: str,
    quiet: bool,
) -> PredictionFacts:
    """Score all rows of a table and write them as they come."""
    model = opened.model
    options.check(model)
    table = data.scan(model.caster.field_types(), batch_rows(model, options), options.keep)
    abstained, unseen = 0, NOTHING_UNSEEN
    with Progress("predicting", quiet=quiet) as progress:
        progress.expect(table, data)
        parts = scored_batches(model, table, options)
        first = list(islice(parts, 1))
        sample = first[0].batch if first else None
        with write_to(fields(model, options, table.names, sample)) as write:
            for part in chain(first, parts):
                write(part.columns())
                abstained += part.abstained
                unseen += part.unseen
                progress.add(part.batch.n_rows)
        seconds = progress.seconds
    rate = progress.rows / seconds
    return PredictionFacts(output, progress.rows, seconds, rate, abstained, dict(unseen))
