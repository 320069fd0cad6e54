"""Predictions: labelled rows, and the posterior that a model gives each.

Conventions
-----------
classes : those of the model in its order, then those that only the labels have.
    The model gives the latter probability 0.
codes : the position of each row's true class.
posterior : ``P(c | x)``, (rows, classes).
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deciban import encoding, labels
from deciban.encoding import Labelled
from deciban.encoding.casting import cast_labels
from deciban.errors import (
    InputError,
    MissingValueError,
    ParameterError,
    ShapeError,
    UnknownLabelWarning,
)
from deciban.evaluation.classifier import (
    Classifier,
    HasSchema,
    HasTrainingScores,
    LeaveOneOutClassifier,
    check_model,
    class_weight_of,
    target_of,
)
from deciban.labels import Labels
from deciban.sources import column_names
from deciban.sources.tabular import Tabular, UnitsLike
from deciban.sources.target_column import split_target

FloatArray = NDArray[np.float64]
Codes = NDArray[np.intp]

#: So many labels that are not known are named.
MAX_NAMED_LABELS = 5


@dataclass(frozen=True, eq=False)
class Predictions:
    """Rows with their true classes, their weights, and the posterior of a model.

    The first ``n_known`` of the classes are the model's own. ``class_weight`` is the weight of
    each class in training, and ``leave_one_out`` whether each row was taken out of the counts.
    """

    classes: Labels
    n_known: int
    posterior: FloatArray
    codes: Codes
    weight: FloatArray
    class_weight: FloatArray
    leave_one_out: bool
    is_baseline: bool = False

    @staticmethod
    def concatenate(parts: Sequence[Predictions]) -> Predictions:
        """Those of several models of one task, such as those of folds, one after the other.

        A class that some model does not know has probability 0 in its rows.
        """
        classes, n_known = parts[0].classes[: parts[0].n_known], 0
        for part in parts[1:]:
            classes = labels.union(classes, part.classes[: part.n_known])
        n_known = len(classes)
        for part in parts:
            classes = labels.union(classes, part.classes)
        at = [labels.positions(part.classes, classes) for part in parts]
        posterior = np.zeros((sum(len(part.codes) for part in parts), len(classes)))
        weight, start = np.zeros(len(classes)), 0
        for part, place in zip(parts, at, strict=True):
            stop = start + len(part.codes)
            posterior[start:stop, place] = part.posterior
            weight[place] += part.class_weight
            start = stop
        codes = np.concatenate([place[p.codes] for p, place in zip(parts, at, strict=True)])
        amount = np.concatenate([part.weight for part in parts])
        left_out = all(part.leave_one_out for part in parts)
        return Predictions(classes, n_known, posterior, codes, amount, weight, left_out)

    @property
    def true_probability(self) -> FloatArray:
        """The probability of each row's true class."""
        return np.asarray(self.posterior[np.arange(len(self.codes)), self.codes])

    @property
    def scores(self) -> FloatArray:
        """What rows are ranked by; class shares that leave each row out would rank all wrong."""
        return np.zeros_like(self.posterior) if self.is_baseline else self.posterior


def training_predictions(model: Classifier) -> Predictions:
    """The leave-one-out predictions of the training rows that the model kept in ``fit``."""
    scores = model.training_scores_ if isinstance(model, HasTrainingScores) else None
    if scores is None:
        raise InputError(
            f"this {type(model).__name__} keeps no leave-one-out scores of its training rows.",
            hint="pass X and y; leave_one_out=True if they are the rows it was trained on. Models "
            "keep scores that fit has calibrated, until rows are added, forgotten or merged",
        )
    classes = labels.label_array(model.classes_.tolist())
    posterior = np.exp(scores.log_posterior)
    weight = _class_weight(model, classes, scores.codes, scores.weight)
    return Predictions(classes, len(classes), posterior, scores.codes, scores.weight, weight, True)


def predict(
    model: Classifier,
    X: Tabular,
    y: object = None,
    *,
    target: str | None = None,
    sample_weight: object = None,
    leave_one_out: bool = False,
    groups: UnitsLike = None,
    time: UnitsLike = None,
) -> Predictions:
    """The predictions of a model for labelled rows; labels are ``y`` or the column ``target``."""
    check_model(model)
    units = {
        name: given for name, given in (("groups", groups), ("time", time)) if given is not None
    }
    if units and not leave_one_out:
        raise ParameterError(
            f"{next(iter(units))} say what is left out, but nothing is.",
            hint="pass leave_one_out=True if the rows are those of training; others need neither",
        )
    if y is None:
        name = target if target is not None else target_of(model)
        if name is None:
            raise MissingValueError(
                "there are no labels: neither y nor the name of their column.",
                hint="pass y, or target='column'",
            )
        schema = model.schema_ if isinstance(model, HasSchema) else None
        types = None if schema is None else schema.field_types
        split = split_target(X, name, sample_weight, by_name=schema is not None, types=types)
        X, labelled, sample_weight = split.X, split.labels, split.weight
    else:
        if target is not None:
            raise ParameterError(
                f"labels are in y or in the column {target!r}; got both.", hint="pass one of them"
            )
        labelled = encoding.class_codes(y)
    labelled = cast_labels(labelled, labels.label_array(np.asarray(model.classes_).tolist()))
    weight = encoding.weights(sample_weight, len(labelled.codes))
    posterior = _posterior(model, X, labelled, weight, leave_one_out, units)
    return _predictions(model, posterior, labelled, weight, leave_one_out)


def _posterior(
    model: Classifier,
    X: object,
    labelled: Labelled,
    weight: FloatArray | None,
    leave_one_out: bool,
    units: Mapping[str, UnitsLike],
) -> FloatArray:
    if leave_one_out:
        if not isinstance(model, LeaveOneOutClassifier):
            raise ParameterError(
                f"{type(model).__name__} cannot leave its rows out one by one.",
                hint="evaluate it on rows that it has not seen",
            )
        truth = labelled.classes[labelled.codes]
        log_posterior = model.leave_one_out(X, truth, sample_weight=weight, **units)
        posterior = np.asarray(np.exp(log_posterior))
    else:
        posterior = np.asarray(model.predict_proba(X), dtype=np.float64)
    if posterior.shape != (len(labelled.codes), len(model.classes_)):
        raise ShapeError(
            f"X has {len(posterior)} rows, y has {len(labelled.codes)}.",
            hint="give one label per row",
        )
    return posterior


def _predictions(
    model: Classifier,
    posterior: FloatArray,
    labelled: Labelled,
    weight: FloatArray | None,
    leave_one_out: bool,
) -> Predictions:
    """Over the classes of the model and of the labels; a row of weight 0 is not there."""
    mine = labels.label_array(np.asarray(model.classes_).tolist())
    classes = labels.union(mine, labels.label_array(labelled.classes.tolist()))
    codes = labels.positions(labels.label_array(labelled.classes.tolist()), classes)[labelled.codes]
    full = np.zeros((len(codes), len(classes)))
    full[:, : len(mine)] = posterior
    amount = np.ones(len(codes)) if weight is None else weight
    there = np.flatnonzero(amount)
    full, codes, amount = full[there], codes[there], amount[there]
    _warn_unknown(classes, len(mine), codes)
    shares = _class_weight(model, classes, codes, amount)
    return Predictions(classes, len(mine), full, codes, amount, shares, leave_one_out)


def _warn_unknown(classes: Labels, n_known: int, codes: Codes) -> None:
    """Say which labels the model does not know; if it knows none, there is nothing to judge."""
    rows = np.bincount(codes, minlength=len(classes))
    by_label = dict(zip(classes.tolist(), rows.tolist(), strict=True))
    known = classes[:n_known].tolist()
    unknown = [label for label in classes[n_known:].tolist() if by_label[label]]
    if not unknown:
        return
    few = unknown[:MAX_NAMED_LABELS]
    named = ", ".join(f"{label!r:.60} ({_rows(by_label[label])})" for label in few)
    named += ", ..." if len(unknown) > len(few) else ""
    if not rows[:n_known].any():
        raise InputError(f"the model knows none of the labels: {named}.", hint=_hint(few, known))
    n = int(rows[n_known:].sum())
    warnings.warn(
        UnknownLabelWarning(
            f"{n:,} of {len(codes):,} rows {'has a label' if n == 1 else 'have labels'} that the "
            f"model does not know, and cannot be right about: {named}.",
            hint=_hint(few, known),
        ),
        stacklevel=5,
    )


def _rows(n: int) -> str:
    return f"{n:,} row{'s' if n != 1 else ''}"


def _hint(unknown: Sequence[object], known: Sequence[object]) -> str:
    """What was meant, perhaps, by labels that are not known."""
    nearest = (_nearest(label, known) for label in unknown)
    meant = list(dict.fromkeys(label for label in nearest if label is not None))
    if not meant:
        return f"the classes are {', '.join(map(repr, known[:10]))}"
    return f"perhaps {' and '.join(map(repr, meant))} {'was' if len(meant) == 1 else 'were'} meant"


def _nearest(label: object, known: Sequence[object]) -> object:
    """The class that a label most resembles: but for blanks and full stops, or by its letters."""
    by_text = {str(one): one for one in known}
    trimmed = str(label).strip(" .\t")
    close = trimmed if trimmed in by_text else column_names.nearest(str(label), list(by_text))
    return None if close is None else by_text[close]


def _class_weight(
    model: Classifier, classes: Labels, codes: Codes, weight: FloatArray
) -> FloatArray:
    """The weight of each class in training; if the model does not say, among these rows."""
    counted = class_weight_of(model)
    if counted is None or not np.sum(counted) > 0:
        return np.bincount(codes, weight, len(classes)).astype(np.float64)
    return np.concatenate([counted, np.zeros(len(classes) - len(counted))])
