"""What is done while system calls go wrong: saving, changing a file in place, learning, teaching.

A deed has ``prepare(folder)``, ``act(folder, acknowledge)`` and ``state(folder)``, a text. It
acknowledges every state that a caller was promised, in order. What is in the folder must at any
moment be the first state or one of these, not earlier than the last that was acknowledged (a deed
that ``resumes`` may be in between). ``again(folder)`` is the next run, after which ``files()`` are
all that is there, and a deed that resumes has reached its last state.
"""

import asyncio
from hashlib import sha256
from pathlib import Path

import letters
from deciban import AODE, NaiveBayes, load
from deciban.cli.exits import run as run_command
from deciban.mail import training
from deciban.mail.lessons import learn, read, relearn, unlearn
from deciban.mail.mailboxes import Place
from deciban.mail.store import Store
from deciban.serve.learner import Learner
from deciban.serve.lessons import Content, export
from deciban.serve.store import LiveStore


class PlannedLearner(Learner):
    """A learner that adds up when it is told to, at no moment that differs from run to run."""

    def _follow_forever(self):
        pass


def rows(chance, n):
    """Rows of a small table."""
    return [
        {
            "grams": round(chance.gauss(100, 40), 1) if chance.random() < 0.9 else None,
            "colour": chance.choice(["red", "green", "black", None]),
            "ripe": chance.random() < 0.5,
            "fruit": chance.choice(["apple", "plum", "cherry"]),
        }
        for _ in range(n)
    ]


def write_csv(path: Path, some: list[dict]) -> None:
    """Rows as a CSV file."""
    lines = [",".join(some[0])]
    lines += [",".join("" if v is None else str(v) for v in row.values()) for row in some]
    path.write_text("\n".join(lines) + "\n")


class File:
    """Deeds that leave one model file behind, the old one or the new one."""

    resumes = False

    def __init__(self, chance):
        self.first, self.more = rows(chance, chance.randrange(20, 60)), rows(chance, 15)
        self.kind = chance.choice([NaiveBayes, AODE])

    def prepare(self, folder: Path) -> None:
        """A model file, and rows to change it by."""
        self.kind().fit(self.first, target="fruit").save(folder / "m.deciban")
        self.kind().fit(self.more, target="fruit").save(folder / "other.deciban")
        write_csv(folder / "more.csv", self.more)
        write_csv(folder / "first.csv", self.first[:10])

    def state(self, folder: Path) -> str:
        """The file, which must be whole."""
        load(folder / "m.deciban")
        return self.digest(folder)

    @staticmethod
    def digest(folder: Path) -> str:
        """What is in the file, without looking at it."""
        return sha256((folder / "m.deciban").read_bytes()).hexdigest()

    def again(self, folder: Path) -> None:
        """Saving once more."""
        load(folder / "m.deciban").save(folder / "m.deciban")

    def files(self) -> set[str]:
        """All that may be in the folder when nobody is at work."""
        return {"m.deciban", "new.deciban", "other.deciban", "more.csv", "first.csv"}


class Saving(File):
    """``model.save(path)`` over an older model."""

    name = "save"

    def prepare(self, folder):
        """Also the model that will be saved."""
        super().prepare(folder)
        self.kind().fit(self.first + self.more, target="fruit").save(folder / "new.deciban")

    def act(self, folder, acknowledge):
        """Save."""
        load(folder / "new.deciban").save(folder / "m.deciban")
        acknowledge(self.digest(folder))


class Command(File):
    """A command that changes a model file in place."""

    name = "command"

    def __init__(self, chance):
        super().__init__(chance)
        self.words = chance.choice(
            [
                ("update", "m.deciban", "more.csv"),
                ("forget", "m.deciban", "first.csv"),
                ("merge", "other.deciban", "other.deciban", "-o", "m.deciban", "--force"),
            ]
        )

    def act(self, folder, acknowledge):
        """Run the command."""
        code = run_command([str(folder / word) if "." in word else word for word in self.words])
        if code == 0:
            acknowledge(self.digest(folder))
        return code


class Mail:
    """Deeds on a store of mail."""

    resumes = False

    def prepare(self, folder):
        """A store that has learnt some messages, and messages to train on."""
        with Store(str(folder / "mail.db"), create=True) as store:
            letters.learnt(store)
        (folder / "spam").mkdir()
        for number in range(5):
            text = b"Subject: lesson %d\n\nwords number %d of the lesson\n" % (number, number)
            (folder / "spam" / str(number)).write_bytes(text)

    def state(self, folder):
        """All that is in the store, which must be sound."""
        with Store(str(folder / "mail.db")) as store:
            sound = store.connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            return repr(letters.everything(store)) if sound else "damaged"

    def again(self, folder):
        """Looking at it once more."""
        self.state(folder)

    def files(self):
        """All that may be in the folder when nobody is at work."""
        return {"mail.db", "spam"}


class MailLessons(Mail):
    """Learning, moving and taking back messages, one after the other."""

    name = "mail lessons"

    def __init__(self, chance):
        self.plan = [chance.randrange(4) for _ in range(4)]
        self.numbers = [chance.randrange(12) for _ in range(4)]

    def act(self, folder, acknowledge):
        """Give the lessons; each is acknowledged when it is told to be done."""
        with Store(str(folder / "mail.db")) as store:
            for at, (what, number) in enumerate(zip(self.plan, self.numbers, strict=True)):
                new = b"Subject: new %d\n\nminutes of a free lesson %d\n" % (at, number)
                if what == 0:
                    learn(store, read(new), bool(number % 2))
                elif what == 1:
                    learn(store, read(new), True)
                elif what == 2:
                    relearn(store, read(letters.HAM[number]), True)
                else:
                    unlearn(store, read(letters.SPAM[number]))
                acknowledge(repr(letters.everything(store)))


class MailTraining(Mail):
    """``mail train`` on messages, two in a transaction."""

    name = "mail train"
    resumes = True

    def __init__(self, chance):
        training.TRANSACTION_MESSAGES = chance.choice([1, 2, 3])

    def act(self, folder, acknowledge):
        """Train."""
        places = sorted((folder / "spam").iterdir())
        with Store(str(folder / "mail.db")) as store:
            training.train(store, [(Place(str(place)), True) for place in places], processes=1)
            acknowledge(repr(letters.everything(store)))

    def again(self, folder):
        """Training goes on where it was: afterwards all is learnt, once."""
        self.act(folder, lambda _: None)


class Teaching:
    """Lessons of the server: learnt, taken back, and put into a checkpoint."""

    name = "serve lessons"
    resumes = False

    def __init__(self, chance):
        self.first = rows(chance, 30)
        self.kind = chance.choice([NaiveBayes, AODE])
        self.lessons = rows(chance, 3)
        self.checkpoint = chance.random() < 0.5

    def prepare(self, folder):
        """A live store with one lesson."""
        self.kind().fit(self.first, target="fruit").save(folder / "m.deciban")
        with LiveStore(str(folder / "live.db"), create=True) as store:
            store.begin(str(folder / "m.deciban"))
        self._teach(folder, [("old", +1)], lambda _: None, set())

    def act(self, folder, acknowledge):
        """Learn two lessons, take back the old one, and make a checkpoint perhaps."""
        self._teach(folder, [("new", +1), ("newer", +1), ("old", -1)], acknowledge, {"old"})

    def _teach(self, folder, plan, acknowledge, names):
        asyncio.run(self._teach_all(folder, plan, acknowledge, set(names)))

    async def _teach_all(self, folder, plan, acknowledge, names):
        learner = PlannedLearner(str(folder / "live.db"), lambda _: None)
        learner.start()
        for name, sign in plan:
            if sign > 0:
                row = dict(self.lessons[["old", "new", "newer"].index(name)])
                answer = row.pop("fruit")
                await learner.learn([(name, Content(row, answer))])
            else:
                await learner.forget([name])
            names ^= {name}
            acknowledge(repr(sorted(names)))
        if self.checkpoint:
            learner._follow()
            learner._followed.replace_checkpoint(learner._current)
        learner.stop()

    def state(self, folder):
        """The names of the lessons that are there, and the counts of the model."""
        with LiveStore(str(folder / "live.db")) as store:
            sound = store.connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            names = [n for (n,) in store.connection.execute("SELECT id FROM lessons ORDER BY id")]
        total = float(export(str(folder / "live.db")).counts_.weight.sum())
        assert sound, "the store is damaged"
        assert total == len(self.first) + len(names), f"{total} rows, lessons {names}"
        return repr(names)

    def again(self, folder):
        """Looking at it once more."""
        self.state(folder)

    def files(self):
        """All that may be in the folder when nobody is at work."""
        return {"m.deciban", "live.db"}
