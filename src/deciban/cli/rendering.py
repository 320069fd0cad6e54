"""Facts as text for people, or as one JSON object for machines."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from deciban.evaluation.text import align, between
from deciban.explanation.terminal import bar_length
from deciban.plain import PlainDict, plain

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    from deciban.cli.changing import ChangeFacts
    from deciban.cli.choosing import Suggestion
    from deciban.cli.evaluation import EvaluationFacts
    from deciban.cli.held_out import HeldOut, Tried
    from deciban.cli.inspection import Column, ColumnModel, ModelFacts, TableFacts
    from deciban.cli.prediction import PredictionFacts
    from deciban.cli.quality import Quality
    from deciban.cli.training import TrainingFacts

#: The width of a bar.
BAR_CHARACTERS = 24
#: More classes or columns than this are not listed one by one.
MAX_LISTED_ROWS = 20


@runtime_checkable
class HasDict(Protocol):
    """Facts that say themselves what their object holds."""

    def to_dict(self) -> PlainDict:
        """Plain values by name."""


#: How rows were judged, by what was left out with each.
LEFT_OUT = {"row": "leave-one-out", "group": "leave-group-out", "time": "by the rows before"}


def show(facts: HasDict | DataclassInstance, *, json: bool, quiet: bool = False) -> None:
    """Print facts; as JSON also if it is to be quiet."""
    if json or not quiet:
        print(as_json(facts) if json else as_text(facts))


def as_json(facts: HasDict | DataclassInstance) -> str:
    """One object on one line; a number that JSON does not know is null."""
    values = facts.to_dict() if isinstance(facts, HasDict) else asdict(facts)
    return json.dumps(plain(values), ensure_ascii=False)


def as_text(facts: HasDict | DataclassInstance) -> str:
    """Lines for people."""
    # By name: a command imports what its own facts need, and no more.
    lines_of: dict[str, Callable[..., Iterator[str]]] = {
        "TrainingFacts": _training_lines,
        "ChangeFacts": _change_lines,
        "PredictionFacts": _prediction_lines,
        "ModelFacts": _model_lines,
        "TableFacts": _table_lines,
        "EvaluationFacts": _evaluation_lines,
    }
    lines = lines_of.get(type(facts).__name__)
    return str(facts) if lines is None else "\n".join(lines(facts))


# ---------------------------------------------------------------------- what each command says


def _training_lines(facts: TrainingFacts) -> Iterator[str]:
    if facts.choice is not None:
        yield from _held_out("tried", facts.choice.held_out)
        yield facts.choice.reason
        yield ""
    yield _amount(facts.rows, facts.seconds)
    if facts.unlabelled is not None:
        worth, rounds = facts.unlabelled.weight, facts.unlabelled.rounds
        yield f"rows without a label count {worth:g} each; EM took {rounds} rounds"
    yield ""
    yield from _classes(facts.target, facts.classes)
    yield ""
    how = "in folds" if facts.in_folds else LEFT_OUT[facts.left_out]
    yield from _quality(facts.quality, facts.rows, how)
    if facts.temperature is not None:
        yield f"temperature  {facts.temperature:.2f}"
    if facts.tested is not None:
        yield ""
        yield from _held_out("held out", facts.tested)
    if facts.suggestion is not None:
        yield ""
        yield _suggestion(facts.suggestion)
    yield ""
    yield from _importance(facts.importance)
    if facts.ignored:
        yield ""
        yield "ignored columns"
        yield from align(list(facts.ignored.items()))
    yield ""
    yield f"written to {facts.output}, {facts.bytes:,} bytes"


def _held_out(what: str, held_out: HeldOut) -> Iterator[str]:
    """A line for every model, and for always guessing the same."""
    head = ("accuracy", "95 % interval", "log loss", "95 % interval", "roc auc")
    rows = [(f"{what}: {held_out.rows}", *head), *map(_tried, held_out.tried)]
    first = next(iter(held_out.fitted)).evaluation
    if first is not None and first.baseline is not None:
        base = first.baseline
        figures = (f"{base.accuracy:.3f}", "", f"{base.log_loss:.3f}", "", "0.500")
        rows.append((f"always {first.guess}", *figures))
    yield from align(rows, right={1, 2, 3, 4, 5})
    yield from (f"{one.model}: {one.why}" for one in held_out.tried if one.why)


def _tried(one: Tried) -> tuple[str, ...]:
    e = one.evaluation
    if e is None:
        return (one.model, "", "", "could not be fitted", "", "")
    ends = [between(e.interval(name)) for name in ("accuracy", "log_loss")]
    area = "" if math.isnan(e.roc_auc) else f"{e.roc_auc:.3f}"
    return (one.model, f"{e.accuracy:.3f}", ends[0], f"{e.log_loss:.3f}", ends[1], area)


def _suggestion(of: Suggestion) -> str:
    what = f"on {of.rows:,} of these rows, --model {of.model} has a log loss of {of.log_loss:.3f}"
    return f"{what}, naive {of.naive_log_loss:.3f}" + ("" if of.is_better else ": no gain")


def _change_lines(facts: ChangeFacts) -> Iterator[str]:
    if facts.rows_read:
        yield _amount(facts.rows_read, facts.seconds)
    yield f"the model now has {facts.rows:,.0f} rows"
    yield ""
    yield from _classes("class", facts.classes)
    yield ""
    yield f"written to {facts.output}, {facts.bytes:,} bytes"


def _prediction_lines(facts: PredictionFacts) -> Iterator[str]:
    yield _amount(facts.rows, facts.seconds)
    if facts.abstained:
        yield f"{facts.abstained:,} rows without an answer"
    yield f"written to {facts.output}"


def _model_lines(facts: ModelFacts) -> Iterator[str]:
    file = f"{facts.bytes:,} bytes, format version {facts.format_version}"
    yield f"{facts.path}: {facts.kind}, {file}"
    if facts.rows is not None:
        also = "" if facts.temperature is None else f", temperature {facts.temperature:.2f}"
        yield f"{facts.rows:,.0f} rows{also}"
    yield ""
    head = [(facts.target or "class", "share", "prior")]
    rows = [(name, _percent(facts.classes[name]), _percent(p)) for name, p in facts.priors.items()]
    yield from align(head + rows[:MAX_LISTED_ROWS], right={1, 2})
    yield from _more(rows)
    yield ""
    yield from _columns(facts.columns)
    yield ""
    yield from _importance(facts.importance)
    if facts.choices:
        yield ""
        yield from _choices(facts.choices)


def _table_lines(facts: TableFacts) -> Iterator[str]:
    yield facts.path
    yield ""
    yield from _columns(facts.columns)


def _evaluation_lines(facts: EvaluationFacts) -> Iterator[str]:
    yield _amount(facts.rows, facts.seconds)
    yield ""
    yield str(facts.result)


# ---------------------------------------------------------------------- parts


def _amount(rows: float, seconds: float) -> str:
    return f"{rows:,.0f} rows in {seconds:.2f} s ({rows / seconds:,.0f} rows/s)"


def _classes(title: str, shares: Mapping[str, float | None]) -> Iterator[str]:
    rows = [(name, _percent(share), _bar(share)) for name, share in shares.items()]
    yield from align([(title, "share", ""), *rows[:MAX_LISTED_ROWS]], right={1})
    yield from _more(rows)


def _quality(quality: Quality, rows: float, left_out: str) -> Iterator[str]:
    whole = quality.rows > 0.9999 * rows
    some = "all rows" if whole else f"{quality.rows:,.0f} of {rows:,.0f} rows"
    yield from align(
        [
            (f"{left_out}, {some}", "this model", f"always {quality.commonest}"),
            ("accuracy", _percent(quality.accuracy), _percent(quality.guessing_accuracy)),
            ("log loss", f"{quality.log_loss:.3f}", f"{quality.guessing_log_loss:.3f}"),
        ],
        right={1, 2},
    )


def _importance(weights: Mapping[str, float]) -> Iterator[str]:
    """As the library prints what ``importance()`` returns."""
    if not weights:
        yield "what its columns say was not measured in training; deciban report measures it"
        return
    longest = max(map(abs, weights.values()), default=0.0)
    rows = [
        (
            name,
            f"{round(decibans, 1) + 0.0:.1f}",
            "▇" * bar_length(decibans, longest, BAR_CHARACTERS),
        )
        for name, decibans in weights.items()
    ]
    yield from align([("feature", "decibans a row", ""), *rows[:MAX_LISTED_ROWS]], right={1})
    yield from _more(rows)


def _columns(columns: Sequence[Column]) -> Iterator[str]:
    head = ("column", "kind", "because")
    yield from align([head, *((c.name, c.kind, c.reason) for c in columns)])


def _choices(choices: Sequence[ColumnModel]) -> Iterator[str]:
    rows = [("counted as", "shape", "smoothing", "holes", "loss alone")]
    for c in choices:
        shape = c.model
        holes = "say something" if c.missing else "say nothing"
        rows.append((c.column, shape, f"{c.smoothing:.3g}", holes, _loss(c.loss_alone)))
    yield from align(rows, right={2, 4})


def _more(rows: Sequence[object]) -> Iterator[str]:
    if len(rows) > MAX_LISTED_ROWS:
        yield f"and {len(rows) - MAX_LISTED_ROWS} more"


def _decibans(value: float) -> str:
    """One digit, and no minus sign before a zero.

    >>> _decibans(-0.04), _decibans(-0.06)
    ('0.0', '-0.1')
    """
    return f"{round(value, 1) + 0.0:.1f}"


def _percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.1f} %"


def _loss(nats: float) -> str:
    return f"{nats:.3f}" if math.isfinite(nats) else "no values"


def _bar(share: float | None) -> str:
    """A bar of a share of the full width.

    >>> _bar(0.5)
    '▇▇▇▇▇▇▇▇▇▇▇▇'
    """
    return "▇" * round(BAR_CHARACTERS * max(0.0, min(1.0, share or 0.0)))
