"""How good a classifier is: the method that all of them share."""

from __future__ import annotations

from deciban import evaluation
from deciban.decision import Loss
from deciban.evaluation import Evaluation
from deciban.explanation.changeable import M
from deciban.explanation.explainable import Explainable
from deciban.models.leave_one_out_scores import LeaveOneOutScores
from deciban.models.protocol import HasLeftOutScores
from deciban.sources.tabular import UnitsLike


class Evaluated(Explainable[M]):
    """A classifier that says how good it is."""

    @property
    def training_scores_(self) -> LeaveOneOutScores | None:
        """The scores of rows of training, each left out; None where none are kept."""
        model = self._model()
        left_out = model.left_out if isinstance(model, HasLeftOutScores) else None
        return None if left_out is None else left_out.posteriors

    def evaluate(
        self,
        X: object = None,
        y: object = None,
        loss: Loss = None,
        *,
        target: str | None = None,
        sample_weight: object = None,
        abstain: float | None = None,
        leave_one_out: bool = False,
        bootstrap: int = 1000,
        confidence: float = 0.95,
        bins: int = 10,
        seed: int = 0,
        coverage: float | None = None,
        per_class: bool = False,
        groups: UnitsLike = None,
        time: UnitsLike = None,
    ) -> Evaluation:
        """How good it is, with intervals, beside always guessing the commonest class.

        Without rows, by rows of training that it kept the scores of, each left out: after ``fit``
        and after :func:`deciban.load`. With rows, which may be whatever ``fit`` takes, by these;
        their labels are ``y``, or in the column ``target``. See :func:`deciban.evaluate`, which
        takes the same, for the rest.

        >>> from deciban import NaiveBayes
        >>> X, y = {"x": list("SSSSLLLM") * 5}, list("aaaabbba") * 5
        >>> m = NaiveBayes().fit(X, y)
        >>> e = m.evaluate()
        >>> e.leave_one_out, e.accuracy, e.baseline.accuracy
        (True, 1.0, 0.625)
        >>> m.evaluate({"x": ["S", "L"], "y": ["a", "a"]}, target="y").accuracy
        0.5
        """
        return evaluation.evaluate(
            self, X, y, loss, target=target, sample_weight=sample_weight, abstain=abstain,
            leave_one_out=leave_one_out, bootstrap=bootstrap, confidence=confidence, bins=bins,
            seed=seed, coverage=coverage, per_class=per_class, groups=groups, time=time,
        )  # fmt: skip
