"""Which base learners are fitted, and to which rows.

Where rows are many, one fold is fitted first, and says which base learners the others
need not fit. Trees gain from every row and are fitted to all; the others, which have few
coefficients, are judged by some rows and fitted to no more than are asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from deciban import threads
from deciban.ensemble import base_learners, stacking
from deciban.ensemble.base_learners import NOTHING_FITTED, BaseLearner, FoldFits, Unfitted
from deciban.ensemble.training_table import RowIndices, TrainingTable
from deciban.sources.labelled import LabelledBatch

#: Which base learners are of use is asked of no more rows than this.
MAX_JUDGING_ROWS = 10_000

#: Fits a base learner to a table, going on from what is fitted already.
Fit = Callable[[TrainingTable, FoldFits], BaseLearner | Unfitted]


def learner_fits(
    whole: LabelledBatch, memory_limit: int, advance: Callable[[], None]
) -> dict[str, Fit]:
    """How each base learner is fitted; ``whole`` are the rows that AODE counts."""
    return {
        "linear": base_learners.fit_linear,
        "products": base_learners.fit_products,
        "trees": lambda table, begun: base_learners.fit_trees(table, advance, begun),
        "logistic": base_learners.fit_logistic,
        "radial": base_learners.fit_radial,
        "pairs": lambda table, begun: base_learners.fit_aode(table, whole, memory_limit, begun),
    }


def fit_useful(
    table: TrainingTable, rows: RowIndices, fits: Mapping[str, Fit]
) -> dict[str, BaseLearner | Unfitted]:
    """The base learners; their logits are those of some ``rows``, which all but trees see alone.

    Those that rows held out by the first fold hardly miss are left out.
    """
    first, nothing = table.in_first_fold(), dict.fromkeys(fits, NOTHING_FITTED)
    if first is table:
        return _of_rows(_fit(table, table.take(rows), fits, nothing), rows)
    some = first.spaced_rows(MAX_JUDGING_ROWS)
    sample = first.take(some)
    # Trees, which are hardly ever useless, go on with the other folds where a thread is free.
    ahead = table if threads.n_threads() > 1 or len(table.splits) == 1 else first
    judged = _fit(ahead, sample, fits, nothing)
    useful = _useful(sample, _of_rows(judged, some))
    if len(some) < len(rows):
        useful = {name: _nearby(begun) for name, begun in useful.items()}
    if ahead is table:  # nothing is left to fit
        fits = {**fits, "trees": lambda *_: judged["trees"]}
    return _left_out(judged) | _of_rows(_fit(table, table.take(rows), fits, useful), rows)


def _fit(
    table: TrainingTable,
    sample: TrainingTable,
    fits: Mapping[str, Fit],
    begun: Mapping[str, FoldFits],
) -> dict[str, BaseLearner | Unfitted]:
    """The base learners that are begun, all at once: trees fitted to all rows, others to some."""

    def fit(name: str) -> BaseLearner | Unfitted:
        return fits[name](table if name == "trees" else sample, begun[name])

    names = sorted(begun, key=lambda name: name != "trees")  # which take the longest
    fitted = dict(zip(names, threads.run(fit, names, ahead=len(names)), strict=True))
    return {name: fitted[name] for name in begun}


def _of_rows(
    learners: Mapping[str, BaseLearner | Unfitted], rows: RowIndices
) -> dict[str, BaseLearner | Unfitted]:
    """The base learners, trees with the logits of some rows alone, as the others have."""
    out = dict(learners)
    trees = out.get("trees")
    if isinstance(trees, BaseLearner):
        out["trees"] = replace(trees, held_out=trees.held_out[rows])
    return out


def _useful(
    sample: TrainingTable, judged: Mapping[str, BaseLearner | Unfitted]
) -> dict[str, FoldFits]:
    """The base learners that rows held out by the one fold miss, with what others go on from."""
    ((_, held),) = sample.splits
    fitted = {name: each for name, each in judged.items() if isinstance(each, BaseLearner)}
    logits = {name: learner.held_out[held] for name, learner in fitted.items()}
    useful = stacking.useful(logits, sample.y[held], sample.weight[held]) if logits else ()
    return {name: fitted[name].by_fold for name in useful}


def _nearby(begun: FoldFits) -> FoldFits:
    """What more rows go on from: the forest, or the counts of pairs, which are those of all rows.

    Regressions saw but some of the rows, and are near to what all rows will say.
    """
    return begun._replace(
        rows=None, evidence=(), regression=None, radial=None, nearby=begun.regression
    )


def _left_out(judged: Mapping[str, BaseLearner | Unfitted]) -> dict[str, BaseLearner | Unfitted]:
    """Every base learner as one that is not fitted, with the reason."""
    return {
        name: Unfitted(name, "the first fold has no use for it")
        if isinstance(learner, BaseLearner)
        else learner
        for name, learner in judged.items()
    }
