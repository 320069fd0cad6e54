"""Lessons: each counts once, all workers agree to the bit, and a kill loses nothing."""

import json
import signal
import sqlite3

import numpy as np
import pandas as pd
import pytest

import faults
from commands import FRUIT, run
from deciban import AODE, BayesClassifier, NaiveBayes, load
from deciban.errors import InputError, ModelFileError, ParameterError
from deciban.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB
from deciban.serve import learner, lessons
from deciban.serve.answers import Answers
from deciban.serve.lessons import Content
from deciban.serve.service import prepare
from deciban.serve.settings import Settings
from deciban.serve.store import LiveStore
from serving import ROW, fruit_model, lesson, serving

COUNTED = (NaiveBayes, AODE, BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return fruit_model(tmp_path_factory.mktemp("served"))


@pytest.fixture
def store(tmp_path):
    return tmp_path / "live.db"


def learn(client, *some, **how):
    response = client.post("/api/learn", json={"lessons": some, "wait": True, **how})
    assert response.status_code == 200, response.text
    return response.json()


def forget(client, *ids):
    response = client.post("/api/forget", json={"ids": ids, "wait": True})
    assert response.status_code == 200, response.text
    return response.json()


def same(one, other):
    """Models that answer the same, to the bit, and have counted the same."""
    rows = pd.read_csv(FRUIT).drop(columns="fruit").to_dict("records")
    np.testing.assert_array_equal(one.predict_proba(rows), other.predict_proba(rows))
    assert one.counts_ == other.counts_


TABLE = {
    "n": [0.5, 1.5, 2.5], "k": [1, 2, 3], "s": ["S", "L", "S"], "b": [True, False, True],
}  # fmt: skip
KINDS = {"k": "categorical", "s": "categorical", "b": "categorical", "n": "numeric"}
ODD = (None, True, 0, 3, 2**63 - 1, -(2**63), 2**64, 2.5, 1e300, "", "S", "never", "2.5", ["S"])


@pytest.mark.parametrize("of", [NaiveBayes, AODE, GaussianNB])
def test_what_looks_countable_can_be_counted(of):
    if of is GaussianNB:
        model = of().fit(pd.DataFrame({"n": [1.0, 2.0, 3.0]}), [1, 2, 2])
    else:
        model = of(kinds=KINDS).fit(TABLE, [1, 2, 2])
    countable, seen = lessons.Countable(model), 0
    for name in (*model.model_.schema.names, "other"):
        for value in ODD:
            for answer in (1, 2, 1.0, True, 9, "1"):
                one = Content({name: value}, answer)
                if countable(one):
                    lessons.count(model, [one])
                    seen += 1
    assert not countable(Content({}, 9))
    assert (seen > 0) == (of is not GaussianNB)


@pytest.mark.parametrize("of", [NaiveBayes, AODE])
def test_lessons_that_count_alone_count_together(of):
    """The store is read in other batches than lessons came in: none may be refused then."""
    bag = {"bag": [["S", "c++"], ["S"], ["L"]]} if of is NaiveBayes else {}
    table = {**TABLE, **bag}
    model = of(kinds=KINDS).fit(table, [1, 2, 2])
    for name in table:
        alone = []
        for value in ODD:
            if type(value) is int and abs(value) > 2**53:  # floats beside it round it
                continue
            one = Content({name: value}, 1)
            try:
                alone.append((one, lessons.count(model, [one])))
            except InputError:
                continue
        assert len(alone) > 3
        for one, of_one in alone:
            for other, of_other in alone:
                assert lessons.count(model, [one, other]) == of_one + of_other


def test_lists_and_texts_of_one_column(tmp_path):
    path, store = tmp_path / "bag.deciban", tmp_path / "live.db"
    rows = [{"n": i % 5, "tags": ["red", "c++"] if i % 2 else ["blue"]} for i in range(40)]
    NaiveBayes().fit(rows, ["a", "b"] * 20).save(path)
    taught = [
        {"n": True, "tags": ["red"]},
        {"n": 1.5, "tags": "blue red"},
        {"n": "2", "tags": "c++"},
    ]
    with serving(path, store=str(store)) as client:
        for at, row in enumerate(taught):
            learn(client, {"id": str(at), "row": row, "answer": "a"})
            client.post("/api/predict", json={"rows": [row]})
        alone = [client.post("/api/predict", json={"rows": [row]}).json() for row in taught]
        together = client.post("/api/predict", json={"rows": taught}).json()
        assert together["predictions"] == [one["predictions"][0] for one in alone]
        assert client.get("/api/watch").json()["recent_rows"] == 9
    with serving(path, store=str(store)) as client:
        assert client.get("/healthz").status_code == 200
    expected = load(path)
    for row in taught:
        expected.partial_fit([row], ["a"])
    assert lessons.export(str(store)).counts_ == expected.counts_


def test_few_lessons_are_judged_like_many(path):
    rows = pd.read_csv(FRUIT).head(40)
    answers = Answers(load(path))
    asked = [*rows.drop(columns="fruit").to_dict("records"), {}, {"colour": "unheard of"}]
    truth = [*rows["fruit"], "plum", "plum"]
    many = answers.losses(asked, truth)
    assert many == [answers.losses([r], [a])[0] for r, a in zip(asked, truth, strict=True)]


def test_lessons_change_the_answers_and_are_counted_once(path, store):
    with serving(path, store=str(store)) as client:
        before = client.post("/api/predict", json={"rows": [ROW]}).json()
        some = [lesson(i, "plum", grams=62.5) for i in range(30)]
        assert learn(client, *some) == {"learnt": 30, "known": 0, "position": 30}
        assert learn(client, *some) == {"learnt": 0, "known": 30, "position": 30}
        assert learn(client, *some[:2], lesson(99)) == {"learnt": 1, "known": 2, "position": 31}
        after = client.post("/api/predict", json={"rows": [ROW]}).json()
        share = [b["predictions"][0]["probabilities"]["plum"] for b in (before, after)]
        assert share[0] < share[1]
        told = client.get("/api/model").json()
        assert (told["learns"], told["lessons"], told["position"]) == (True, 31, 31)
        assert forget(client, "n99", *(f"n{i}" for i in range(30)), "none") == {
            "forgotten": 31, "unknown": 1, "position": 62,
        }  # fmt: skip
        assert client.post("/api/predict", json={"rows": [ROW]}).json() == before
    same(lessons.export(str(store)), load(path))


def test_a_forgotten_lesson_may_be_learnt_again(path, store):
    with serving(path, store=str(store)) as client:
        learn(client, lesson(1))
        forget(client, "n1")
        assert learn(client, lesson(1, "cherry"))["learnt"] == 1


def test_a_request_is_learnt_as_a_whole_or_not_at_all(path, store):
    with serving(path, store=str(store)) as client:
        learn(client, lesson(1))
        for bad, status in (
            (lesson(1, grams=3), 409),
            (lesson(3, "octarine fruit"), 422),
            (lesson(3, grams="heavy"), 422),
            ({**lesson(3), "row": {"garms": 3}}, 422),
        ):
            body = {"lessons": [lesson(2), bad]}
            response = client.post("/api/learn", json=body)
            assert response.status_code == status
            assert response.json()["hint"]
        twice = [lesson(4), lesson(4, grams=1)]
        assert client.post("/api/learn", json={"lessons": twice}).status_code == 409
        assert client.get("/api/model").json()["lessons"] == 1


def test_new_classes_must_be_meant(path, store):
    with serving(path, store=str(store)) as client:
        learn(client, lesson(1, "quince"), new_classes=True)
        assert "quince" in client.get("/api/model").json()["classes"]
        (one,) = client.post("/api/predict", json={"rows": [ROW]}).json()["predictions"]
        assert "quince" in one["probabilities"]
        forget(client, "n1")
        assert "quince" not in client.get("/api/model").json()["classes"]


@pytest.mark.parametrize("kind", COUNTED)
def test_every_model_that_is_its_counts_learns(kind, tmp_path, store):
    rng = np.random.default_rng(1)
    y = np.where(np.arange(60) % 2, "yes", "no")
    X = pd.DataFrame({"a": rng.poisson(1 + 3 * (y == "yes")), "b": rng.poisson(3, 60)})
    table = kind in (NaiveBayes, AODE)
    model = kind().fit(X.assign(y=y), target="y") if table else kind().fit(X, y)
    model.save(tmp_path / "m.deciban")
    more = [{"a": 5, "b": 1}, {"a": 4, "b": 2}, {"a": 0, "b": 1}]
    labels = np.array(["yes", "yes", "no"])
    with serving(tmp_path / "m.deciban", store=str(store)) as client:
        some = [
            {"id": str(i), "row": row, "answer": str(label)}
            for i, (row, label) in enumerate(zip(more, labels, strict=True))
        ]
        learn(client, *some)
        forget(client, "2")
        body = client.post("/api/predict", json={"rows": more}).json()
    frame = pd.DataFrame(more)
    expected = model.with_counted(model.count_rows(frame[:2], labels[:2])).predict_proba(frame)
    got = [list(p["probabilities"].values()) for p in body["predictions"]]
    assert got == expected.tolist()


def test_a_model_that_is_no_counts_does_not_learn(tmp_path, store):
    rows = {"x": [1.0, 2.0, 3.0, 4.0] * 9, "y": ["a", "a", "b", "b"] * 9}
    BayesClassifier().fit(rows, target="y").save(tmp_path / "m.deciban")
    with pytest.raises(ParameterError, match=r"which is fitted on all rows at once.*--learn"):
        prepare(Settings(str(tmp_path / "m.deciban"), store=str(store)))
    assert not store.exists()


# ---------------------------------------------------------------------- the store


def test_a_store_opens_where_it_was(path, store):
    with serving(path, store=str(store)) as client:
        learn(client, *(lesson(i) for i in range(5)))
        body = client.post("/api/predict", json={"rows": [ROW]}).json()
    with serving(path, store=str(store)) as client:
        assert client.post("/api/predict", json={"rows": [ROW]}).json() == body
        assert learn(client, lesson(3)) == {"learnt": 0, "known": 1, "position": 5}


def test_a_store_belongs_to_its_model(path, store, tmp_path):
    prepare(Settings(str(path), store=str(store)))
    NaiveBayes().fit(str(FRUIT), target="ripe").save(tmp_path / "other.deciban")
    with pytest.raises(ParameterError, match="learnt on from another model file"):
        prepare(Settings(str(tmp_path / "other.deciban"), store=str(store)))


def test_batches_checkpoints_and_workers_cannot_be_seen_in_the_model(path, tmp_path, monkeypatch):
    """The same lessons, one by one or at once, with checkpoints or without, give one model."""
    some = [lesson(i, ("plum", "apple")[i % 2], grams=61.37 * i) for i in range(12)]
    gone = [f"n{i}" for i in range(0, 12, 3)]
    models = []
    for number, (size, every) in enumerate([(12, 10_000), (1, 10_000), (5, 2), (1, 1)]):
        monkeypatch.setattr(learner, "CHECKPOINT_DELTAS", every)
        store = tmp_path / f"{number}.db"
        with serving(path, store=str(store)) as client:
            for at in range(0, 12, size):
                learn(client, *some[at : at + size])
            for at in range(0, len(gone), size):
                forget(client, *gone[at : at + size])
        models.append(lessons.export(str(store)))
        with LiveStore(str(store)) as opened:
            assert (opened.checkpoint_position() > 0) == (every < 100)
    for other in models[1:]:
        same(models[0], other)


def test_a_checkpoint_drops_the_deltas_it_contains(path, store, monkeypatch):
    monkeypatch.setattr(learner, "CHECKPOINT_DELTAS", 3)
    with serving(path, store=str(store)) as client:
        for i in range(7):
            learn(client, lesson(i))
        assert learn(client, lesson(1))["known"] == 1
    with LiveStore(str(store)) as opened:
        assert opened.n_lessons() == 7
        assert len(opened.deltas(0, 100)) < 4
        assert opened.position() == 7


def test_another_worker_sees_what_was_learnt(path, store):
    with serving(path, store=str(store)) as one, serving(path, store=str(store)) as other:
        learn(one, *(lesson(i) for i in range(5)))
        learn(other, lesson(9))  # by which time it has seen all that was learnt before
        bodies = [c.post("/api/predict", json={"rows": [ROW]}).json() for c in (one, other)]
        forget(one, "n9")
        again = one.post("/api/predict", json={"rows": [ROW]}).json()
        assert again != bodies[1]
        forget(other, "none")
        assert other.get("/api/model").json()["position"] == 7
        assert other.post("/api/predict", json={"rows": [ROW]}).json() == again


def test_many_callers_share_one_transaction(path, store, monkeypatch):
    steps = faults.Steps()
    with faults.traced(steps), serving(path, store=str(store)) as client:
        learn(client, lesson(0))
        before = steps.names.count("INSERT"), len(steps.names)
        bodies = [{"lessons": [lesson(i)]} for i in range(1, 65)]
        assert {r.status_code for r in client.post_all("/api/learn", bodies)} == {200}
        transactions = steps.names[before[1] :].count("BEGIN")
        assert steps.names.count("INSERT") - before[0] >= 64
    assert transactions < 32
    with LiveStore(str(store)) as opened:
        assert opened.n_lessons() == 65


def test_a_store_that_cannot_be_written(path, store):
    with serving(path, store=str(store)) as client:
        learn(client, lesson(0))
        other = sqlite3.connect(store)
        other.execute("DROP TABLE lessons")
        other.close()
        response = client.post("/api/learn", json={"lessons": [lesson(1)]})
        assert response.status_code == 503
        assert response.headers["content-type"] == "application/problem+json"
        assert client.post("/api/predict", json={"rows": [ROW]}).status_code == 200


def test_a_store_that_cannot_be_followed(path, store):
    """The lesson is on the disk, but the model cannot learn it; nobody waits for ever."""
    with serving(path, store=str(store)) as client:
        learn(client, lesson(0))
        with LiveStore(str(store)) as other, other.writing():
            other.learn([("bad", b"no lesson", None)])
        told = client.post("/api/learn", json={"lessons": [lesson(1)], "wait": True})
        assert told.status_code == 503
        assert "does not follow" in told.json()["detail"]
        assert client.get("/healthz").status_code == 503
        assert client.post("/api/predict", json={"rows": [ROW]}).status_code == 200


def test_lessons_of_a_column_without_a_type_are_counted_one_by_one(tmp_path, store):
    X = {"x": ["S", "L"] * 4, "z": [None] * 8, "y": ["a", "b"] * 4}
    model = NaiveBayes(kinds={"z": "categorical"}).fit(X, target="y")
    assert model.model_.caster.types["z"] == "any"
    together = lessons.count(model, [Content({"z": 5}, "a"), Content({"z": "five"}, "a")])
    apart = [lessons.count(model, [Content({"z": z}, "a")]) for z in (5, "five")]
    assert together == apart[0] + apart[1]


def test_export(path, store, tmp_path):
    with serving(path, store=str(store)) as client:
        learn(client, *(lesson(i) for i in range(5)))
    out = tmp_path / "model.deciban"
    ended = run("export", store, "-o", out, "--json")
    assert ended.code == 0
    assert json.loads(ended.out)["rows"] == 205
    same(load(out), lessons.export(str(store)))
    assert run("export", tmp_path / "none.db", "-o", out).code == 1
    assert "no live store" in run("export", _mail(tmp_path), "-o", out).err


@pytest.mark.parametrize("damaged", [b"no lesson", b"[\xa1", b"[1, 2, 3]", b""])
def test_a_lesson_that_is_damaged(path, store, damaged):
    with LiveStore(str(store), create=True) as opened:
        opened.begin(str(path))
        with opened.writing():
            opened.learn([("bad", damaged, None)])
    with pytest.raises(ModelFileError, match=r"a lesson of the store is damaged: .*Hint: "):
        lessons.export(str(store))


def _mail(folder):
    from deciban.mail.store import Store

    with Store(str(folder / "mail.db"), create=True) as store:
        return store.path


# ---------------------------------------------------------------------- kills


#: Learns two lessons and takes one back, with a fault at every statement; what was acknowledged
#: is noted.
KILLED = """
import asyncio, sys
import faults
from deciban.serve.learner import Learner
from deciban.serve.lessons import Content
Learner._follow_forever = lambda self: None  # at no moment that differs from run to run
async def teach(folder):
    learner = Learner(str(folder / "live.db"), lambda _: None)
    learner.start()
    row = {"grams": 62.5, "colour": "red"}
    await learner.learn([("new", Content(row, "plum")), ("newer", Content(row, "apple"))])
    (folder / "learnt").touch()
    await learner.forget(["old"])
    (folder / "forgotten").touch()
    learner._follow()
    learner._followed.replace_checkpoint(learner._current)
    (folder / "checkpoint").touch()
    learner.stop()
def act(folder):
    asyncio.run(teach(folder))
faults.everywhere(act, sys.argv[1], sys.argv[2], watch=faults.traced)
"""


def test_a_kill_at_any_statement_loses_nothing_acknowledged_and_doubles_nothing(path, tmp_path):
    template = tmp_path / "template"
    template.mkdir()
    with serving(path, store=str(template / "live.db")) as client:
        learn(client, {"id": "old", "row": ROW, "answer": "cherry"})
    out = tmp_path / "out"
    steps = faults.run(KILLED, template, out)
    assert {"BEGIN", "INSERT", "DELETE", "COMMIT", "UPDATE"} <= {name for name, _ in steps}
    assert {ended for _, ended in steps} == {-signal.SIGKILL}
    model = load(path)
    row = {"grams": 62.5, "colour": "red"}
    counts = {
        "old": lessons.count(model, [Content(ROW, "cherry")]),
        "new": lessons.count(model, [Content(row, "plum")]),
        "newer": lessons.count(model, [Content(row, "apple")]),
    }
    states = set()
    for at in range(len(steps)):
        folder = out / str(at)
        with LiveStore(str(folder / "live.db")) as store:
            assert store.connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            there = {name for name in counts if store.lesson(name)}
        assert there in ({"old"}, {"old", "new", "newer"}, {"new", "newer"}), steps[at]
        if (folder / "learnt").exists():
            assert "new" in there
        if (folder / "forgotten").exists():
            assert "old" not in there
        expected = model
        for name in sorted(there):
            expected = expected.with_counted(counts[name])
        same(lessons.export(str(folder / "live.db")), expected)
        states.add(frozenset(there))
    assert len(states) == 3
