"""What a worker holds: the state of the model that answers now, and who changes it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from deciban.errors import DecibanError
from deciban.files.model import load
from deciban.plain import PlainDict, plain
from deciban.serve.answers import Answers
from deciban.serve.bodies import EvaluationRequest
from deciban.serve.learner import Learner
from deciban.serve.lessons import Content, check_learner
from deciban.serve.problems import ProblemError
from deciban.serve.settings import Settings
from deciban.serve.store import Checkpoint, LiveStore
from deciban.serve.training import Trainer
from deciban.serve.watch import MAX_JUDGED_LESSONS, RecentRows, average_losses
from deciban.sources import Scan, scan
from deciban.sources.scan import hold, select

__all__ = ["Service", "prepare"]


def prepare(settings: Settings) -> Settings:
    """Check that everything is there before anybody is told so; make the live store."""
    settings.check()
    if settings.model is None:
        if settings.table is not None:
            scan(settings.table)
        return settings
    estimator = load(settings.model)
    if settings.store is not None:
        check_learner(estimator, settings.model)
        with LiveStore(settings.store, create=True) as store:
            store.begin(settings.model)
    if settings.data is not None:
        _labelled(Answers(estimator), settings.data)
    return settings


class Service:
    """A model that answers; with a live store, one that also learns; without a model, a trainer."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        #: The rows that this worker was asked about last.
        self.recent = RecentRows()
        self._answers: Answers | None = None
        self._learner: Learner | None = None
        self._trainer: Trainer | None = None
        if settings.model is None:
            self._trainer = Trainer(self._adopt_trained)
            if settings.table is not None:
                self._trainer.take(Path(settings.table).name, scan(settings.table))
        elif settings.store is None:
            self._answers = Answers(load(settings.model))
        else:
            self._learner = Learner(settings.store, self._adopt, self._judge)
        self._data = None if settings.data is None else hold(_labelled(self.answers, settings.data))

    @property
    def answers(self) -> Answers:
        """The model that answers now; a problem where there is none yet."""
        if self._answers is None:
            raise ProblemError(409, "there is no model yet.", "train one, see /api/train")
        return self._answers

    def start(self) -> None:
        """Begin to follow the store; called in the event loop."""
        if self._learner is not None:
            self._learner.start()

    def stop(self) -> None:
        """Finish what is being written."""
        if self._learner is not None:
            self._learner.stop()
        if self._trainer is not None:
            self._trainer.stop()

    def require_learner(self) -> Learner:
        """Who learns; a problem where nobody does."""
        if self._learner is None:
            raise ProblemError(403, "this service does not learn.", "start it with --learn")
        return self._learner

    def require_trainer(self) -> Trainer:
        """Who trains; a problem where a model is served."""
        if self._trainer is None:
            raise ProblemError(
                403, "this service has its model.", "start it without one to train another"
            )
        return self._trainer

    @property
    def trouble(self) -> str:
        """Why answers are not what they should be; empty if they are."""
        return "" if self._learner is None else self._learner.trouble

    def describe(self) -> PlainDict:
        """What the model is, and what it has learnt."""
        answers, learner = self._answers, self._learner
        return {
            **({"kind": None} if answers is None else answers.description),
            "trains": self._trainer is not None,
            "learns": learner is not None,
            "lessons": 0 if learner is None else learner.n_lessons(),
            "position": 0 if answers is None else answers.position,
            "language": self.settings.language,
            "has_data": self._data is not None,
        }

    def evaluate(self, request: EvaluationRequest) -> PlainDict:
        """How good the model is, on rows of a request or on those of the service."""
        return self.answers.evaluate(request, self._data)

    def example(self, number: int) -> PlainDict:
        """A row to begin with: of the labelled rows, with its answer, or as rows mostly are."""
        answers = self.answers
        if self._data is None or not self._data.n_rows:
            return answers.typical(number)
        at = number % self._data.n_rows
        for batch in self._data:
            if at < batch.n_rows:
                (row,) = batch.slice(at, at + 1).tolist()
                answer = row.pop(answers.target or "", None)
                return {"row": plain(row), "answer": plain(answer), "number": number}
            at -= batch.n_rows
        raise AssertionError("a row has a batch")

    def watch(self) -> PlainDict:
        """How far the last rows are from training, and how well taught answers were foreseen."""
        rows, answers = self.recent.rows, self._answers
        losses = [] if self._learner is None else self._learner.last_losses(MAX_JUDGED_LESSONS)
        return {
            "recent_rows": len(rows),
            "drift": [] if answers is None else answers.drifts(rows),
            "log_losses": plain(list(average_losses(losses))),
        }

    def _adopt(self, checkpoint: Checkpoint) -> None:
        self._answers = Answers(checkpoint.estimator, checkpoint.position)

    def _adopt_trained(self, estimator: Any) -> None:
        self._answers, self.recent = Answers(estimator), RecentRows()

    def _judge(self, lessons: Sequence[Content]) -> Sequence[float | None]:
        try:
            rows = [lesson.row for lesson in lessons]
            return self.answers.losses(rows, [lesson.answer for lesson in lessons])
        except DecibanError:  # such as a column that only a newer checkpoint has
            return [None] * len(lessons)


def _labelled(answers: Answers, path: str) -> Scan:
    """The columns of the model and its labels in a file."""
    types = answers.model.caster.field_types(answers.target, answers.model.classes)
    table = scan(path, types=types)
    if answers.target is not None:
        table.require(answers.target)
    names = {*answers.model.schema.names, answers.target}
    return select(table, [name for name in table.names if name in names])
