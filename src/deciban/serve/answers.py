"""What one state of a model answers: the questions of the API, without HTTP.

A state is never changed, so many threads may ask it; a model that learns on is a new state.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import asdict
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deciban import decision
from deciban.decision import Loss
from deciban.encoding.unseen import NOTHING_UNSEEN, Unseen
from deciban.errors import DecibanError, InputError, ParameterError
from deciban.estimators.classifier import TableClassifier, table_classifier
from deciban.evaluation import evaluate
from deciban.labels import Labels
from deciban.models.columns import required_columns
from deciban.models.novelty import require_typicality
from deciban.models.prior import base_rates
from deciban.models.protocol import HasCounts, Model
from deciban.plain import PlainDict, plain
from deciban.prediction.base_rates import at_priors
from deciban.serve import drift, figures
from deciban.serve.bodies import (
    Asked,
    Costs,
    CounterfactualRequest,
    CurveRequest,
    EvaluationRequest,
    ExplanationRequest,
    NomogramRequest,
    PredictionRequest,
    WordsRequest,
)
from deciban.serve.columns import describe_columns, typical_row
from deciban.serve.short_way import ShortWay
from deciban.sources import column_names
from deciban.sources.scan import Scan

__all__ = ["Answers"]

FloatArray = NDArray[np.float64]
#: So many rows are scored one by one as fast as in a table.
FEW_ROWS = 16


class Answers:
    """A fitted estimator, asked in the words of the API.

    >>> from deciban import NaiveBayes
    >>> fitted = NaiveBayes(smoothing=1, calibrate=False).fit({"x": ["S", "S", "L"]}, list("aab"))
    >>> (one,) = Answers(fitted).predict(PredictionRequest([{"x": "L"}]))["predictions"]
    >>> one["answer"], {name: round(p, 9) for name, p in one["probabilities"].items()}
    ('b', {'a': 0.36, 'b': 0.64})
    """

    def __init__(self, estimator: Any, position: int = 0) -> None:
        self.estimator, self.position = estimator, position
        self._classifier: TableClassifier[Any] = table_classifier(estimator)
        self._labels: list[Hashable] = self._classifier.classes_.tolist()
        names = list(map(str, self._labels))
        self._names = names if len(set(names)) == len(names) else list(map(repr, self._labels))
        self._required = frozenset(required_columns(self._classifier.model_))
        self._allowed = {*self.model.schema.names, self.target}
        self._text = _only_text(self._classifier)
        self._short_way = ShortWay(self.model, self._text)

    @property
    def target(self) -> str | None:
        """The column of labels in training."""
        return self._classifier.target_

    @property
    def model(self) -> Model:
        """The model itself."""
        model: Model = self._classifier.model_
        return model

    # ------------------------------------------------------------------ rows

    def predict(self, request: PredictionRequest) -> PlainDict:
        """Answers and probabilities of rows, and what training did not have."""
        if request.loss is None and request.abstain is None and request.priors is None:
            probabilities, unseen = self._score(request.rows)
            answers = [self._labels[at] for at in probabilities.argmax(axis=1).tolist()]
        else:
            probabilities, decided, unseen = self._decide(request)
            answers = decided.tolist()
        names = self._names
        predictions = [
            {"answer": answer, "probabilities": dict(zip(names, row, strict=True))}
            for answer, row in zip(answers, probabilities.tolist(), strict=True)
        ]
        body: PlainDict = {"predictions": predictions}
        if unseen:
            body["unseen"] = {name: asdict(values) for name, values in unseen.items()}
        return body

    def _score(self, rows: Sequence[Asked], *, log: bool = False) -> tuple[FloatArray, Unseen]:
        """``P(c | x)`` of rows, (rows, classes): the one place where rows of requests are scored.

        The classifier remembers what was unseen last, so every request has a shell of its own.
        """
        if len(rows) == 1:
            posterior = self._short_way.posterior(rows[0], log=log)
            if posterior is not None:
                return posterior, NOTHING_UNSEEN
        classifier, table = self._shell(), self._table(rows)
        score = classifier.predict_log_proba if log else classifier.predict_proba
        return score(table), classifier.unseen_

    def _shell(self) -> TableClassifier[Any]:
        """A classifier over the model that one request may have for itself."""
        shell: TableClassifier[Any] = object.__new__(type(self._classifier))
        shell.__dict__.update(self._classifier.__dict__)
        return shell

    def _table(self, rows: Sequence[Asked]) -> Any:
        """Rows as a table; what they leave out is missing, texts belong to the one column."""
        if not rows:
            raise InputError("there are no rows.", hint="give at least one")
        if self._text is not None:
            texts = [row if isinstance(row, str) else row.get(self._text) for row in rows]
            if all(type(text) is str for text in texts) and self._known_names(rows):
                return texts
        classifier, completed = self._classifier, []
        absent = classifier.model_.absent_value
        for asked in rows:
            row = {self._column_of_text(): asked} if isinstance(asked, str) else asked
            for name in row.keys() - self._allowed:
                raise column_names.unknown(name, self.model.schema.names)
            lacking = self._required.difference(row)
            completed.append({**row, **dict.fromkeys(lacking, absent)} if lacking else row)
        return completed

    def _known_names(self, rows: Sequence[Asked]) -> bool:
        return all(isinstance(row, str) or len(row) == 1 for row in rows)

    def _column_of_text(self) -> str:
        schema = self._classifier.schema_
        some = schema.texts or schema.names
        if len(some) == 1:
            return some[0]
        raise InputError(
            f"a text alone does not say which of {len(some)} columns it is.",
            hint=f"give an object, such as {{{some[0]!r}: ...}}" if some else "give an object",
        )

    def _decide(self, request: PredictionRequest) -> tuple[FloatArray, Labels, Unseen]:
        """Probabilities under other base rates, and the answers of least expected loss."""
        classes, loss = self._classifier.classes_, self._loss(request.loss)
        if request.priors is None:
            probabilities, unseen = self._score(request.rows)
        else:
            new = {self._label(name): rate for name, rate in request.priors.items()}
            log, unseen = self._score(request.rows, log=True)
            probabilities = np.exp(at_priors(log, self._classifier.model_, new))
        return probabilities, decision.decide(probabilities, classes, loss, request.abstain), unseen

    def explain(self, request: ExplanationRequest) -> PlainDict:
        """What ``Explanation.to_json`` has."""
        against = self._stated(request.against)
        why = self._shell().explain(request.row, against, request.novelty)
        return why.to_dict()

    def counterfactual(self, request: CounterfactualRequest) -> PlainDict:
        """The fewest values to change for another answer."""
        target = self._stated(request.target)
        other = self._shell().counterfactual(
            request.row, target, request.fixed, request.max_changes
        )
        return {"counterfactual": None if other is None else plain(asdict(other))}

    def evaluate(self, request: EvaluationRequest, data: Scan | None = None) -> PlainDict:
        """How good the model is on labelled rows: those of the request, or a table."""
        rows: Any = data if request.rows is None else request.rows
        if rows is None or not self.target:
            raise ParameterError(
                "there are no labelled rows."
                if self.target
                else "the model does not say which column it predicts.",
                hint="give rows with their labels, or serve with --data"
                if self.target
                else "train it with target=...",
            )
        result = evaluate(
            self._shell(),
            rows,
            target=self.target,
            loss=self._loss(request.loss),
            abstain=request.abstain,
            bootstrap=request.bootstrap,
            seed=request.seed,
        )
        return result.to_dict()

    # ------------------------------------------------------------------ names

    def _loss(self, costs: Costs | None) -> Loss:
        if not isinstance(costs, Mapping):
            return costs
        return {
            (self._label(answer), self._label(truth)): cost
            for answer, row in costs.items()
            for truth, cost in row.items()
        }

    def _label(self, stated: Hashable) -> Hashable:
        """The class that is written like this; what is none stays, and is complained about."""
        for label, name in zip(self._labels, self._names, strict=True):
            if stated == name or (type(stated) is type(label) and stated == label):
                return label
        return stated

    def _stated(self, stated: Hashable) -> Hashable:
        """A class that may be left out."""
        return None if stated is None else self._label(stated)

    # ------------------------------------------------------------------ the model

    @cached_property
    def importance(self) -> PlainDict:
        """Which features carry how much, and which of them have curves."""
        return figures.importance(self._classifier)

    def curve(self, request: CurveRequest) -> PlainDict:
        """What each value of a column says."""
        return figures.curve(self._classifier, request.column, self._stated(request.against))

    def nomogram(self, request: NomogramRequest) -> PlainDict:
        """Points for every value, and what they come to."""
        of, against = self._stated(request.of), self._stated(request.against)
        return figures.nomogram(self._classifier, of, against)

    def words(self, request: WordsRequest) -> PlainDict:
        """The strongest words for a class."""
        of, against = self._label(request.of), self._stated(request.against)
        return figures.strongest(self._classifier, of, against, request.n, request.column)

    def typical(self, number: int) -> PlainDict:
        """A row as rows of one class mostly are; classes take turns."""
        at = number % len(self._labels)
        return {"row": plain(typical_row(self.model, at)), "answer": None, "number": number}

    def drifts(self, rows: Sequence[Asked]) -> list[PlainDict]:
        """How far each column of some rows is from those of training."""
        return drift.measure(self.estimator, self._table(rows)) if rows else []

    def losses(self, rows: Sequence[Asked], answers: Sequence[Hashable]) -> list[float | None]:
        """The log loss of each true answer, in nats; None where its class is not known."""
        if len(rows) > FEW_ROWS:
            log = self._score(rows, log=True)[0]
        else:
            log = np.concatenate([self._score([row], log=True)[0] for row in rows])
        places = {label: at for at, label in enumerate(self._labels)}
        at = [places.get(self._label(answer), -1) for answer in answers]
        return [None if j < 0 else -float(row[j]) for row, j in zip(log, at, strict=True)]

    @cached_property
    def description(self) -> PlainDict:
        """What the model is: its classes, and its columns with what they held in training."""
        model = self._classifier.model_
        return plain(  # type: ignore[no-any-return]
            {
                "kind": model.kind,
                "target": self.target,
                "classes": self._labels,
                "names": self._names,
                "priors": self._base_rates(),
                "rows": float(model.counts.weight.sum()) if isinstance(model, HasCounts) else None,
                "additive": model.additive,
                "novelty": _knows_novelty(model),
                "columns": describe_columns(model),
            }
        )

    def _base_rates(self) -> dict[str, float] | None:
        """How often classes come, where the model knows."""
        try:
            rates = base_rates(self.model)
        except ParameterError:
            return None
        return dict(zip(self._names, rates.tolist(), strict=True))


def _knows_novelty(model: Model) -> bool:
    """Whether it can be said how unlike training a row is."""
    try:
        require_typicality(model)
    except DecibanError:
        return False
    return True


def _only_text(classifier: TableClassifier[Any]) -> str | None:
    """The name of the column of a model of texts alone."""
    columns = classifier.schema_.columns
    return columns[0].name if len(columns) == 1 and columns[0].kind == "text" else None
