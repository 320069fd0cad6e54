"""Who learns: lessons of many callers in one transaction, and the model that answers.

Two threads besides the one that answers. The *writer* takes all lessons that wait, checks what
they count as, and writes them in one transaction: one wait for the disk, however many callers
there are. Each is told after its lesson is on the disk. The *follower* adds up what any worker
has written, and makes the sum the model that answers: several times a second, and at once if a
caller waits for it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from threading import Event, Thread
from typing import Any, Literal, NamedTuple

from deciban.errors import DecibanError, InputError, ModelWriteError
from deciban.labels import object_array, positions
from deciban.serve import lessons
from deciban.serve.lessons import Content, Countable
from deciban.serve.store import Checkpoint, LiveStore, Taught

__all__ = ["ConflictError", "Learner", "Outcome"]

#: The log loss of each of some lessons; None where it is not known.
Judge = Callable[[Sequence[Content]], Sequence[float | None]]
#: Seconds between looks at what was learnt, by this worker or another.
POLL_SECONDS = 0.4
#: Other callers are waited for, this share of the time that writing takes, and no longer than that.
GATHERING_SHARE, MAX_GATHERING_SECONDS = 0.25, 0.005
#: Adding up may take this share of one core.
MAX_FOLLOWING_SHARE = 0.25
#: A checkpoint is made after so many deltas, so that a store opens at once.
CHECKPOINT_DELTAS = 10_000


class ConflictError(InputError):
    """A lesson has the name of another one, or there is none of that name."""


class Outcome(NamedTuple):
    """How many lessons were new, how many known (or, taken back, not there), and the position."""

    changed: int
    unchanged: int
    position: int


@dataclass
class _Request:
    """Lessons of one caller, to be learnt or taken back all together."""

    action: Literal["learn", "forget"]
    names: Sequence[str]
    contents: Sequence[bytes]
    done: asyncio.Future[Outcome]
    new_classes: bool = False
    #: The log loss of each lesson before it is learnt; None where it is not known.
    losses: Sequence[float | None] = ()
    result: Outcome | DecibanError | None = field(default=None)

    @cached_property
    def lessons(self) -> list[Content]:
        """The lessons as whoever reads the store will read them."""
        return [lessons.read(content) for content in self.contents]


class Learner:
    """A live store with a model that follows it."""

    def __init__(
        self, path: str, adopt: Callable[[Checkpoint], None], judge: Judge | None = None
    ) -> None:
        """``adopt`` is called with every newer model, by the thread that made it.

        ``judge`` gives the log loss of lessons under the model that answers now.
        """
        self._path, self._adopt, self._judge = path, adopt, judge or _leave_unjudged
        self._store, self._followed = LiveStore(path), LiveStore(path)
        with self._followed.reading():
            self._base = self._current = self._followed.checkpoint()
        self._written_base, self._countable = self._base, Countable(self._base.estimator)
        self._adopted: Checkpoint | None = None
        self._waiting: list[_Request] = []
        self._writing = False
        self._expected, self._write_seconds = 1, 0.0
        self._delay: asyncio.TimerHandle | None = None
        self._writer = ThreadPoolExecutor(1, "deciban-writer")
        self._stop, self._awaited = Event(), Event()
        self._followers: list[tuple[int, asyncio.Future[None]]] = []
        self._thread = Thread(target=self._follow_forever, name="deciban-follower", daemon=True)
        #: Why the model does not follow the store any more; empty while it does.
        self.trouble = ""
        self._follow()

    def start(self) -> None:
        """Begin to follow the store; called in the event loop."""
        self._loop = asyncio.get_running_loop()
        self._thread.start()

    def stop(self) -> None:
        """Finish what is being written, and close the store."""
        self._stop.set()
        self._awaited.set()
        self._writer.shutdown()
        if self._thread.is_alive():
            self._thread.join()
        self._store.close()
        self._followed.close()

    @property
    def position(self) -> int:
        """The position of the last delta that the model has learnt."""
        return self._current.position

    def n_lessons(self) -> int:
        """How many lessons count."""
        with LiveStore(self._path) as store, store.reading():
            return store.n_lessons()

    def last_lessons(self, n: int) -> list[Taught]:
        """The lessons that were taught last and count, the last first."""
        with LiveStore(self._path) as store, store.reading():
            return store.last_lessons(n)

    def last_losses(self, n: int) -> list[tuple[float, float]]:
        """When lessons were taught, and their log loss before they were learnt."""
        with LiveStore(self._path) as store, store.reading():
            return store.last_losses(n)

    # ------------------------------------------------------------------ callers

    async def learn(
        self, named: Sequence[tuple[str, Content]], *, new_classes: bool = False
    ) -> Outcome:
        """Learn lessons, each once, all or none; they are on the disk when this returns."""
        contents = [lessons.write(content) for _, content in named]
        return await self._ask("learn", [name for name, _ in named], contents, new_classes)

    async def forget(self, names: Sequence[str]) -> Outcome:
        """Take lessons back; names that are not known change nothing."""
        return await self._ask("forget", list(dict.fromkeys(names)), [], False)

    async def reached(self, position: int) -> None:
        """Wait until the model has learnt what was written up to a position."""
        if self._current.position >= position:
            return
        followed = asyncio.get_running_loop().create_future()
        self._followers.append((position, followed))
        self._awaited.set()
        await followed

    async def _ask(
        self,
        action: Literal["learn", "forget"],
        names: Sequence[str],
        contents: Sequence[bytes],
        new_classes: bool,
    ) -> Outcome:
        done: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        self._waiting.append(_Request(action, names, contents, done, new_classes))
        self._write_waiting()
        return await done

    def _write_waiting(self) -> None:
        """Let the writer take all that wait, unless it is busy: then it will be told later.

        Callers who were just told are likely to come again at once. They are waited for, a
        fraction of the time that writing takes: otherwise half of the callers would always wait
        for the other half.
        """
        if not self._waiting or self._writing:
            return
        if len(self._waiting) >= self._expected:
            self._write_now()
        elif self._delay is None:
            seconds = min(MAX_GATHERING_SECONDS, GATHERING_SHARE * self._write_seconds)
            self._delay = self._loop.call_later(seconds, self._write_now)

    def _write_now(self) -> None:
        if self._delay is not None:
            self._delay.cancel()
            self._delay = None
        if self._waiting and not self._writing:
            group, self._waiting, self._writing = self._waiting, [], True
            self._writer.submit(self._write, group)

    def _written(self, group: list[_Request], error: BaseException | None) -> None:
        """Tell the callers of a group; in the event loop."""
        self._writing = False
        self._expected = len(group) + len(self._waiting)
        for request in group:
            if request.done.done():  # the caller has gone away
                continue
            result = error if error is not None else request.result
            if isinstance(result, Outcome):
                request.done.set_result(result)
            else:
                request.done.set_exception(result or RuntimeError("nothing was written"))
        self._write_waiting()

    # ------------------------------------------------------------------ the writer

    def _write(self, group: list[_Request]) -> None:
        error: BaseException | None = None
        start = time.monotonic()
        try:
            self._write_group(group)
        except DecibanError as raised:  # about the store, not about what callers sent
            error = ModelWriteError(raised.message, hint=raised.hint)
        except BaseException as raised:
            error = raised
        self._write_seconds = time.monotonic() - start
        self._loop.call_soon_threadsafe(self._written, group, error)

    def _write_group(self, group: list[_Request]) -> None:
        """Write all requests of a group in one transaction; each of them wholly or not at all."""
        checked = self._written_base
        self._check(group)
        self._judge_group([r for r in group if r.action == "learn" and r.result is None])
        with self._store.writing():
            if self._store.checkpoint_position() != checked.position:
                self._written_base = self._store.checkpoint()
                self._countable = Countable(self._written_base.estimator)
                self._check(group)
            for request in group:
                if request.result is None:
                    request.result = _apply(self._store, request)

    def _check(self, group: list[_Request]) -> None:
        """Refuse requests with lessons that cannot be counted; many are counted at once."""
        unclear = [r for r in group if not all(map(self._countable, r.lessons))]
        estimator = self._written_base.estimator
        if not unclear or _error(estimator, unclear) is None:
            return
        for request in unclear:
            request.result = _error(estimator, [request])

    def _judge_group(self, group: list[_Request]) -> None:
        """Judge lessons by the model that has not learnt them."""
        some = [lesson for request in group for lesson in request.lessons]
        losses = iter(self._judge(some) if some else ())
        for request in group:
            request.losses = list(islice(losses, len(request.contents)))

    # ------------------------------------------------------------------ the follower

    def _follow_forever(self) -> None:
        while not self._stop.is_set():
            start = time.monotonic()
            try:
                self._follow()
                self.trouble = ""
            except Exception as error:
                self.trouble = f"the model does not follow its store: {error}"
                self._loop.call_soon_threadsafe(self._tell_followers)
            spent = time.monotonic() - start
            self._stop.wait(min(POLL_SECONDS, spent * (1 / MAX_FOLLOWING_SHARE - 1)))
            self._awaited.wait(POLL_SECONDS)
            self._awaited.clear()

    def _follow(self) -> None:
        """Learn what the store has, and make a checkpoint if that is much."""
        with self._followed.reading():
            moved = self._followed.checkpoint_position() != self._base.position
            if moved:
                self._base = self._followed.checkpoint()
        if self._base.position > self._current.position:
            self._current = self._base
        for newer in lessons.catch_up(self._followed, self._base, self._current):
            self._current = newer
        if self._current is not self._adopted:
            self._adopt(self._current)
            self._adopted = self._current
        if self._current.position - self._base.position >= CHECKPOINT_DELTAS:
            self._followed.replace_checkpoint(self._current)
        if self._followers:
            self._loop.call_soon_threadsafe(self._tell_followers)

    def _tell_followers(self) -> None:
        waiting, self._followers = self._followers, []
        for position, followed in waiting:
            if followed.done():  # the caller has gone away
                continue
            if self._current.position >= position:
                followed.set_result(None)
            elif self.trouble:
                followed.set_exception(ModelWriteError(self.trouble))
            else:
                self._followers.append((position, followed))


def _leave_unjudged(some: Sequence[Content]) -> list[None]:
    return [None] * len(some)


def _error(estimator: Any, group: list[_Request]) -> DecibanError | None:
    """What is wrong with the lessons of some requests."""
    try:
        known = [lesson for r in group if not r.new_classes for lesson in r.lessons]
        if known:
            _check_classes(estimator, known)
        lessons.count(estimator, [lesson for r in group for lesson in r.lessons])
    except DecibanError as error:
        return error
    return None


def _check_classes(estimator: Any, contents: Sequence[Content]) -> None:
    """Refuse classes that the model does not know: they are more likely a mistake."""
    classes = estimator.classes_
    answers = object_array(content.answer for content in contents)
    known = set(map(str, classes.tolist()))
    for answer, at in zip(answers.tolist(), positions(answers, classes).tolist(), strict=True):
        if at < 0 and str(answer) not in known:
            names = ", ".join(map(str, classes.tolist()[:10]))
            raise InputError(
                f"{answer!r} is not one of the classes, which are {names}.",
                hint='"new_classes": true allows it',
            )


def _apply(store: LiveStore, request: _Request) -> Outcome | DecibanError:
    """Change the store as one request asks; nothing if it is refused."""
    if request.action == "forget":
        there = [(name, store.lesson(name)) for name in request.names]
        gone = [(name, lesson) for name, lesson in there if lesson is not None]
        store.forget(gone)
        return Outcome(len(gone), len(there) - len(gone), store.position())
    new: dict[str, bytes] = {}
    losses: list[float | None] = []
    for name, content, loss in zip(request.names, request.contents, request.losses, strict=True):
        before = new.get(name) or store.lesson(name)
        if before is None:
            new[name] = content
            losses.append(loss)
        elif before != content:
            return ConflictError(
                f"the lesson {name!r} was learnt before, and said something else.",
                hint="give another lesson another id, or forget the first one",
            )
    rows = ((*lesson, loss) for lesson, loss in zip(new.items(), losses, strict=True))
    return Outcome(len(new), len(request.names) - len(new), store.learn(rows))
