"""Which drop-in classifiers add up."""

from __future__ import annotations

from collections.abc import Iterable

from sklearn.utils.validation import check_is_fitted

from deciban import labels
from deciban.errors import InputError, ShapeError
from deciban.naive_bayes.dropins.answers import MatrixClassifier

__all__ = ["check_combinable"]


def check_combinable(
    one: MatrixClassifier, other: MatrixClassifier, counted_by: Iterable[str]
) -> None:
    """Models add up if they count the same things in the same columns.

    ``counted_by`` are the parameters that say what is counted.
    """
    kinds = [type(side).__name__ for side in (one, other)]
    if kinds[0] != kinds[1]:
        raise InputError(
            f"{kinds[0]} and {kinds[1]} count different things.",
            hint="combine models of one class",
        )
    check_is_fitted(one)
    check_is_fitted(other)
    widths = [one.n_features_in_, other.n_features_in_]
    if widths[0] != widths[1]:
        raise ShapeError(
            f"one model has {widths[0]} columns, the other {widths[1]}.",
            hint="combine models of the same columns",
        )
    columns = [vars(side).get("feature_names_in_") for side in (one, other)]
    if not (any(side is None for side in columns) or labels.same(*columns)):  # type: ignore[arg-type]
        raise ShapeError(
            f"one model has the columns {columns[0]}, the other {columns[1]}.",
            hint="combine models of the same columns in the same order",
        )
    for name in counted_by:
        values = getattr(one, name), getattr(other, name)
        if values[0] != values[1]:
            raise InputError(
                f"one model counts by {name}={values[0]!r}, the other by {values[1]!r}.",
                hint=f"combine models of the same {name}",
            )
