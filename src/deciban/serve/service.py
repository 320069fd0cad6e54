"""What a worker holds: the state of the model that answers now, and who changes it."""

from __future__ import annotations

from typing import Any

from deciban.evaluation.text import PlainDict
from deciban.files.registry import load
from deciban.serve.answers import Answers
from deciban.serve.bodies import EvaluationRequest
from deciban.serve.learner import Learner
from deciban.serve.lessons import check_learner
from deciban.serve.problems import ProblemError
from deciban.serve.settings import Settings
from deciban.serve.store import Checkpoint, LiveStore
from deciban.sources import Scan, scan
from deciban.sources.scan import hold, select

__all__ = ["Service", "prepare"]


def prepare(settings: Settings) -> Settings:
    """Check that everything is there before anybody is told so; make the live store."""
    estimator = load(settings.model)
    if settings.store is not None:
        check_learner(estimator, settings.model)
        with LiveStore(settings.store, create=True) as store:
            store.begin(settings.model)
    if settings.data is not None:
        _labelled(Answers(estimator), settings.data)
    return settings.check()


class Service:
    """A model that answers; with a live store, one that also learns."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._learner: Learner | None = None
        if settings.store is None:
            self.answers = Answers(load(settings.model))
        else:
            self._learner = Learner(settings.store, self._adopt)
        self._data = None if settings.data is None else hold(_labelled(self.answers, settings.data))

    def start(self) -> None:
        """Begin to follow the store; called in the event loop."""
        if self._learner is not None:
            self._learner.start()

    def stop(self) -> None:
        """Finish what is being written."""
        if self._learner is not None:
            self._learner.stop()

    def require_learner(self) -> Learner:
        """Who learns; a problem where nobody does."""
        if self._learner is None:
            raise ProblemError(403, "this service does not learn.", "start it with --learn")
        return self._learner

    @property
    def trouble(self) -> str:
        """Why answers are not what they should be; empty if they are."""
        return "" if self._learner is None else self._learner.trouble

    def describe(self) -> dict[str, Any]:
        """What the model is, and what it has learnt."""
        answers, learner = self.answers, self._learner
        return {
            **answers.description,
            "learns": learner is not None,
            "lessons": 0 if learner is None else learner.n_lessons(),
            "position": answers.position,
            "language": self.settings.language,
            "has_data": self._data is not None,
        }

    def evaluate(self, request: EvaluationRequest) -> PlainDict:
        """How good the model is, on rows of a request or on those of the service."""
        return self.answers.evaluate(request, self._data)

    def _adopt(self, checkpoint: Checkpoint) -> None:
        self.answers = Answers(checkpoint.estimator, checkpoint.position)


def _labelled(answers: Answers, path: str) -> Scan:
    """The columns of the model and its labels in a file."""
    types = answers.model.caster.field_types(answers.target, answers.model.classes)
    table = scan(path, types=types)
    if answers.target is not None:
        table.require(answers.target)
    names = {*answers.model.schema.names, answers.target}
    return select(table, [name for name in table.names if name in names])
