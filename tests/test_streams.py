"""Streams: rows learned one by one are the rows fitted at once, and one answer is the table's."""

import copy
import math
import pickle
from datetime import datetime, timedelta
from fractions import Fraction
from threading import Barrier, Thread

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from deciban import AODE, BayesClassifier, LogisticRegression, NaiveBayes, load
from deciban.errors import DecibanError, InputError, MissingValueError, ParameterError
from deciban.families.categorical import CategoricalParameters
from deciban.stats.cells import Cells
from deciban.stats.moments import MOMENTS, mean_and_spread
from deciban.stats.running import Dyadic, RunningMoments


def table(n, seed=0):
    """Rows of mixed columns with holes, and labels that some of them tell."""
    rng = np.random.default_rng(seed)
    rows, labels = [], []
    for _ in range(n):
        label = ["ham", "spam", "eggs"][int(rng.choice(3, p=[0.6, 0.3, 0.1]))]
        shift = {"ham": 0.0, "spam": 1.5, "eggs": 3.0}[label]
        row = {
            "height": round(float(rng.normal(shift, 1.0)), 3),
            "age": int(rng.integers(0, 60) + 10 * shift),
            "size": ["S", "M", "L", "XL"][min(3, int(rng.poisson(shift)))],
            "member": bool(rng.random() < 0.3 + 0.2 * shift),
            "count": int(rng.poisson(1 + shift)),
        }
        for name in ("age", "size"):
            if rng.random() < 0.1:
                row[name] = None
        rows.append(row)
        labels.append(label)
    return rows, labels


ROWS, LABELS = table(260)
TEXTS = ["a good film", "a fine and good one", "bad film", "so bad, so long", "fine film", "long"]
OPTIONS = [
    {},
    {"calibrate": False},
    {"numeric": "gaussian"},
    {"numeric": "histogram", "missing": "value"},
    {"numeric": "mdl", "smoothing": 0.5},
    {"numeric": "poisson"},
    {"method": "map"},
    {"method": "ml", "smoothing": 0, "calibrate": False},
    {"prior": "uniform"},
    {"class_weight": "balanced"},
    {"kinds": {"age": "cyclic:24", "count": "categorical"}},
]


def stream(model, rows, labels):
    for row, label in zip(rows, labels, strict=True):
        model.learn_one(row, label)
    return model


def equal(a, b, rows):
    """Models that answer alike, to the bit, and say that they are."""
    assert a.counts_ == b.counts_
    assert a.classes_.tolist() == b.classes_.tolist()
    kinds = ([(c.name, c.kind, c.unit) for c in m.schema_.columns] for m in (a, b))
    assert next(kinds) == next(kinds)
    assert a.choices_ == b.choices_
    assert a.temperature_ == b.temperature_
    np.testing.assert_array_equal(a.predict_proba(rows), b.predict_proba(rows))


def close(answer, line):
    np.testing.assert_allclose(list(answer.values()), line, rtol=0, atol=1e-12)


# ---------------------------------------------------------------------- one row of a fitted model

FITTED = [NaiveBayes(**how).fit(ROWS, LABELS) for how in OPTIONS]
FITTED += [AODE().fit(ROWS, LABELS), AODE(missing="value").fit(ROWS, LABELS)]
FITTED += [BayesClassifier().fit(ROWS[:80], LABELS[:80])]

numbers = st.one_of(
    st.none(), st.floats(-1e6, 1e6), st.integers(-100, 100), st.booleans(),
    st.sampled_from([math.nan, np.float64(2.5), np.int64(7), "3", "2.5", "few", ""]),
)  # fmt: skip
values = st.fixed_dictionaries({
    "height": numbers,
    "age": numbers,
    "size": st.sampled_from(["S", "M", "L", "XL", "huge", "", None, math.nan, 3, "größer"]),
    "member": st.sampled_from([True, False, None, 1, 0, "true", "no idea"]),
    "count": st.one_of(st.integers(0, 9), st.sampled_from([None, 3.0, "2", "many"])),
})  # fmt: skip


@pytest.mark.parametrize("model", FITTED, ids=lambda m: str(m)[:60])
@settings(max_examples=40, deadline=None)
@given(row=values)
def test_one_row_is_a_table_of_one_row(model, row):
    answer = model.predict_proba_one(row)
    assert list(answer) == model.classes_.tolist()
    close(answer, model.predict_proba([row])[0])
    assert model.predict_one(row) == model.predict([row])[0]


@pytest.mark.parametrize("model", FITTED, ids=lambda m: str(m)[:60])
def test_one_row_of_naive_bayes_is_equal_to_the_bit(model):
    if isinstance(model, NaiveBayes) and model.numeric != "poisson":
        for row, line in zip(ROWS[:40], model.predict_proba(ROWS[:40]), strict=True):
            assert list(model.predict_proba_one(row).values()) == line.tolist()


def test_rows_as_lists_arrays_and_texts():
    X = np.random.default_rng(0).normal(size=(60, 3))
    y = (X[:, 0] > 0).astype(int)
    for model in (NaiveBayes().fit(X, y), LogisticRegression().fit(X, y)):
        for row in (X[0], X[0].tolist(), {f"x{j}": v for j, v in enumerate(X[0])}):
            close(model.predict_proba_one(row), model.predict_proba(X[:1])[0])
            assert model.predict_one(row) == model.predict(X[:1])[0]
    texts = NaiveBayes().fit(TEXTS, [1, 1, 0, 0, 1, 0])
    for text in (*TEXTS, "", "never seen"):
        close(texts.predict_proba_one(text), texts.predict_proba([text])[0])


def test_a_row_of_times_and_of_texts():
    start = datetime(2025, 1, 1)
    rows = [
        {"when": start + timedelta(hours=7 * i), "said": f"{'good' if i % 2 else 'bad'} day {i}",
         "n": i % 5}
        for i in range(60)
    ]  # fmt: skip
    model = NaiveBayes().fit(rows, [i % 2 for i in range(60)])
    assert {c.kind for c in model.schema_.columns} == {"time", "text", "numeric"}
    for row in [*rows[:5], {"when": None, "said": None}, {"when": "2025-02-03 04:05", "n": 3}]:
        whole = {name: row.get(name) for name in rows[0]}
        close(model.predict_proba_one(row), model.predict_proba([whole])[0])


def test_a_row_that_lacks_columns_or_has_others():
    model = FITTED[0]
    close(model.predict_proba_one({"age": 3, "more": 1}), model.predict_proba(
        [{**dict.fromkeys(ROWS[0]), "age": 3}])[0])  # fmt: skip


@pytest.mark.parametrize("row", [[1, 2], 3, "text", None, {"age": math.inf}, {"age": [1, 2]}])
def test_bad_rows_are_refused(row):
    with pytest.raises(DecibanError):
        FITTED[0].predict_proba_one(row)


def test_nothing_learned_says_nothing():
    for model in (NaiveBayes(), AODE()):
        assert model.predict_one({"x": 1}) is None
        assert model.predict_proba_one({"x": 1}) == {}
        with pytest.raises(NotFittedError):
            model.settle()
    with pytest.raises(NotFittedError):
        BayesClassifier().predict_proba_one({"x": 1})
    with pytest.raises(NotFittedError):
        LogisticRegression().predict_proba_one({"x": 1})


# ---------------------------------------------------------------------- streams


@pytest.mark.parametrize("how", OPTIONS, ids=str)
def test_a_stream_that_settles_is_the_fit_at_once(how):
    m = stream(NaiveBayes(**how), ROWS[:120], LABELS[:120])
    equal(m.settle(), NaiveBayes(**how).fit(ROWS[:120], LABELS[:120]), ROWS)


@pytest.mark.parametrize("how", OPTIONS, ids=str)
def test_predictions_follow_the_rows(how, monkeypatch):
    monkeypatch.setattr(NaiveBayes, "_held_rows", 50)
    m = NaiveBayes(**how)
    for i, (row, label) in enumerate(zip(ROWS[:200], LABELS[:200], strict=True)):
        if i and i % 9 == 0:
            answer = m.predict_proba_one(row)
            close(answer, m.predict_proba([row])[0])
            again = pickle.loads(pickle.dumps(m))  # which has to count all rows
            close(answer, again.predict_proba([row])[0])
        m.learn_one(row, label)
    equal(m, NaiveBayes(**how).fit(ROWS[:200], LABELS[:200]), ROWS)


def test_families_that_cannot_follow_are_estimated_anew(monkeypatch):
    plain = NaiveBayes()
    answers = []
    for row, label in zip(ROWS[:90], LABELS[:90], strict=True):
        answers.append(plain.predict_proba_one(row))
        plain.learn_one(row, label)
    monkeypatch.setattr(CategoricalParameters, "live", lambda self: None)
    m = NaiveBayes()
    for row, label, answer in zip(ROWS[:90], LABELS[:90], answers, strict=True):
        close(m.predict_proba_one(row), list(answer.values()))
        m.learn_one(row, label)


def test_after_a_fit_a_stream_goes_on_as_partial_fit_does():
    m = stream(NaiveBayes().fit(ROWS[:100], LABELS[:100]), ROWS[100:130], LABELS[100:130])
    other = NaiveBayes().fit(ROWS[:100], LABELS[:100])
    other.partial_fit(ROWS[100:130], LABELS[100:130])
    equal(m, other, ROWS)


@pytest.mark.parametrize("size", [1, 7, 90])
def test_partial_fit_in_batches_is_the_fit_at_once(size):
    m = NaiveBayes(kinds={"size": "categorical"})
    for start in range(0, 180, size):
        some = slice(start, min(start + size, 180))
        m.partial_fit(ROWS[some], LABELS[some])
        if start % 4 == 0:
            m.predict_proba(ROWS[:3])
    equal(m, NaiveBayes().fit(ROWS[:180], LABELS[:180]), ROWS)


def test_selections_are_few(monkeypatch):
    made = []
    judge = NaiveBayes._judge
    monkeypatch.setattr(
        NaiveBayes, "_judge", lambda self, *a, **k: (made.append(1), judge(self, *a, **k))[1]
    )
    m = NaiveBayes()
    for row, label in zip(ROWS, LABELS, strict=True):
        m.predict_proba_one(row)
        m.learn_one(row, label)
    assert len(made) <= 2 + math.log2(len(ROWS))
    before = len(made)
    for row, label in zip(ROWS, LABELS, strict=True):
        m.learn_one(row, label)
    assert len(made) == before  # nobody asked


def test_classes_categories_and_columns_that_come_later(monkeypatch):
    rows, labels = [{"x": "SML"[i % 3]} for i in range(30)], [i % 3 for i in range(30)]
    more = [{"x": "S", "colour": ["red", "blue"][i % 2]} for i in range(60)]
    for held in (10_000, 20):
        monkeypatch.setattr(NaiveBayes, "_held_rows", held)
        m = stream(NaiveBayes(), rows, labels)
        assert m.classes_.tolist() == [0, 1, 2]
        m = stream(m, [{"x": "XL"}] * 9, [7] * 9)
        assert m.classes_.tolist() == [0, 1, 2, 7]
        assert m.predict_one({"x": "XL"}) == 7
        for i, row in enumerate(more):
            m.predict_proba_one(row)
            m.learn_one(row, i % 2)
        assert m.predict_one({"x": "S", "colour": "red"}) == 0
        assert m.predict_one({"x": "S", "colour": "blue"}) == 1
        assert m.schema_.names == ("x", "colour")
        every = [*rows, *[{"x": "XL"}] * 9, *more]
        assert m.counts_ == NaiveBayes().fit(every, [*labels, *[7] * 9, *[0, 1] * 30]).counts_
        assert m.n_features_in_ == 2
        m.learn_one({"x": "S", "said": "a text", "n": 3.5}, 0)
        assert m.settle().schema_.names == ("x", "colour", "said", "n")


def test_a_stream_of_texts():
    texts = [f"{t} {i}" for i in range(12) for t in TEXTS]
    labels = ["yes", "yes", "no", "no", "yes", "no"] * 12
    m = NaiveBayes()
    for text, label in zip(texts, labels, strict=True):
        answer = m.predict_proba_one(text)
        if answer:
            close(answer, m.predict_proba([text])[0])
        m.learn_one(text, label)
    equal(m.settle(), NaiveBayes().fit(texts, labels), texts)
    assert m.predict_one("a good one") == "yes"
    rows = [{"said": text, "n": i % 4} for i, text in enumerate(texts)]
    equal(stream(NaiveBayes(), rows, labels).settle(), NaiveBayes().fit(rows, labels), rows)


def test_aode_streams(monkeypatch):
    m = AODE()
    for row, label in zip(ROWS[:70], LABELS[:70], strict=True):
        answer = m.predict_proba_one(row)
        if answer:
            close(answer, m.predict_proba([row])[0])
        m.learn_one(row, label)
    fitted = AODE().fit(ROWS[:70], LABELS[:70])
    equal(m.settle(), fitted, ROWS)
    monkeypatch.setattr(AODE, "_held_rows", 70)
    m = stream(AODE(bins=fitted.bins_), ROWS[:200], LABELS[:200])
    equal(m, AODE(bins=fitted.bins_).fit(ROWS[:200], LABELS[:200]), ROWS)
    with pytest.raises(InputError, match="is new"):
        m.learn_one({**ROWS[0], "colour": "red"}, "ham")


# ---------------------------------------------------------------------- bad lessons

BAD = {
    "infinity": ({"height": math.inf}, "ham", {}),
    "a list": ({"height": [1, 2]}, "ham", {}),
    "a text for a number": ({"age": "old"}, "ham", {}),
    "no label": ({}, None, {}),
    "a label that is no number": ({}, math.nan, {}),
    "no weight": ({}, "ham", {"w": -1}),
    "a weight that is none": ({}, "ham", {"w": math.nan}),
    "no row": (3, "ham", {}),
    "a lone surrogate": ({"size": "\ud800"}, "ham", {}),
    "an object": ({"size": object()}, "ham", {}),
}


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("cls", [NaiveBayes, AODE])
def test_a_bad_lesson_changes_nothing(name, cls, monkeypatch):
    row, label, how = BAD[name]
    row = {**ROWS[0], **row} if isinstance(row, dict) else row
    held = name not in ("a text for a number",)  # which would make it a category
    for begin in ("held", "fixed", "fitted") if held else ("fixed", "fitted"):
        monkeypatch.setattr(cls, "_held_rows", 1000 if begin == "held" else 30)
        m = cls()
        m = (
            m.fit(ROWS[:40], LABELS[:40])
            if begin == "fitted"
            else stream(m, ROWS[:40], LABELS[:40])
        )
        before = m.predict_proba(ROWS[:5])
        with pytest.raises(DecibanError):
            m.learn_one(row, label, **how)
        np.testing.assert_array_equal(m.predict_proba(ROWS[:5]), before)
        m.learn_one(ROWS[40], LABELS[40])
        assert m.counts_ == cls(**({"bins": m.bins_} if cls is AODE else {})).fit(
            ROWS[:41], LABELS[:41]).counts_  # fmt: skip


def test_a_bad_first_lesson_leaves_nothing():
    m = NaiveBayes()
    before = dict(vars(m))
    for row, label in [({"x": math.inf}, 1), ({"x": 1}, None), (3, 1)]:
        with pytest.raises(DecibanError):
            m.learn_one(row, label)
    assert vars(m) == before
    m.learn_one({"x": 1}, 1, w=0)
    assert m.predict_one({"x": 1}) is None


def test_a_column_that_turns_out_to_be_text():
    m = stream(NaiveBayes(), [{"x": 1}, {"x": "one"}, {"x": 2}], "aba")
    assert m.schema_.columns[0].kind == "categorical"
    assert m.counts_ == NaiveBayes().fit([{"x": 1}, {"x": "one"}, {"x": 2}], list("aba")).counts_


def test_limits_and_priors_are_checked_at_once():
    m = stream(NaiveBayes(max_classes=3), [{"x": 1.0}] * 3, [1, 2, 3])
    with pytest.raises(InputError, match="more than 3 classes"):
        m.learn_one({"x": 2.0}, 4)
    m = NaiveBayes(prior=[0.5, 0.5]).fit({"x": [1.0, 2.0]}, [1, 2])
    with pytest.raises(DecibanError, match="prior"):
        m.learn_one({"x": 2.0}, 3)
    assert m.classes_.tolist() == [1, 2]
    for half_life in (0, -1, "long", math.nan):
        with pytest.raises(ParameterError, match="half_life"):
            NaiveBayes(half_life=half_life).learn_one({"x": 1}, 1)
    grouped = NaiveBayes().fit({"x": [1.0, 2.0] * 30}, [1, 2] * 30, groups=list(range(60)))
    with pytest.raises(InputError, match="groups"):
        grouped.learn_one({"x": 1.0}, 1)


def test_labels_are_cast_as_in_tables():
    m = NaiveBayes().fit({"x": ["S", "L"] * 5}, [1, 2] * 5)
    m.learn_one({"x": "S"}, "1")
    m.learn_one({"x": "S"}, np.int64(1))
    assert m.settle().classes_.tolist() == [1, 2]
    assert m.counts_.weight.tolist() == [7, 5]
    m = stream(NaiveBayes(), [{"x": 1.0}, {"x": 2.0}] * 3, [True, False] * 3)
    assert list(m.predict_proba_one({"x": 1.0})) == [False, True]


# ---------------------------------------------------------------------- decay


def test_a_half_life_is_the_weight_of_rows(monkeypatch):
    weights = 0.5 ** (np.arange(120)[::-1] / 40)
    for held in (1000, 30):
        monkeypatch.setattr(NaiveBayes, "_held_rows", held)
        m = stream(NaiveBayes(half_life=40, calibrate=False), ROWS[:120], LABELS[:120])
        fit = NaiveBayes(calibrate=False).fit(ROWS[:120], LABELS[:120], sample_weight=weights)
        answer = m.predict_proba_one(ROWS[7])
        assert m.counts_ == fit.counts_
        assert m.counts_.weight.sum() == pytest.approx(weights.sum())
        np.testing.assert_allclose(
            m.predict_proba(ROWS[:9]), fit.predict_proba(ROWS[:9]), atol=1e-9
        )
        assert sum(answer.values()) == pytest.approx(1.0)


def test_followed_decay_is_counted_decay(monkeypatch):
    monkeypatch.setattr(NaiveBayes, "_held_rows", 30)
    m = stream(NaiveBayes(half_life=25), ROWS[:100], LABELS[:100])
    m.predict_one(ROWS[0])
    for row, label in zip(ROWS[100:140], LABELS[100:140], strict=True):
        m.learn_one(row, label)
        answer = m.predict_proba_one(row)
    close(answer, pickle.loads(pickle.dumps(m)).predict_proba([ROWS[139]])[0])


def test_a_half_life_follows_drift():
    rows = [{"x": "SL"[i % 2]} for i in range(400)]
    labels = [i % 2 for i in range(200)] + [1 - i % 2 for i in range(200)]
    slow, fast = (stream(NaiveBayes(half_life=h), rows, labels) for h in (None, 30))
    assert slow.predict_proba_one({"x": "S"})[1] < 0.6
    assert fast.predict_proba_one({"x": "S"})[1] > 0.9
    m = (
        NaiveBayes(half_life=1)
        .fit({"x": ["S", "L"]}, [1, 2])
        .partial_fit({"x": ["S"] * 3}, [1] * 3)
    )
    assert m.counts_.weight.tolist() == [3 + 1 / 8, 1 / 8]


# ---------------------------------------------------------------------- copies, files, threads


def test_pickles_copies_clones_and_files(tmp_path):
    for cls in (NaiveBayes, AODE):
        m = stream(cls(), ROWS[:60], LABELS[:60])
        m.predict_one(ROWS[0])
        for other in (pickle.loads(pickle.dumps(m)), copy.deepcopy(m)):
            stream(other, ROWS[60:80], LABELS[60:80])
            equal(other, cls().fit(ROWS[:80], LABELS[:80]), ROWS)
        assert not hasattr(clone(m), "model_")
        m.save(tmp_path / "m.deciban")
        equal(load(tmp_path / "m.deciban"), cls().fit(ROWS[:60], LABELS[:60]), ROWS)
        again = load(tmp_path / "m.deciban")
        again.learn_one(ROWS[60], LABELS[60])
        more = m.partial_fit(ROWS[60:61], LABELS[60:61])
        assert again.counts_ == more.counts_


def test_the_caller_may_change_a_row_afterwards():
    row = dict(ROWS[0])
    m = NaiveBayes()
    m.learn_one(row, LABELS[0])
    m.learn_one(row, LABELS[0])
    row["size"] = "other"
    assert m.counts_ == NaiveBayes().fit([ROWS[0]] * 2, [LABELS[0]] * 2).counts_


def test_threads_learn_and_ask_at_the_same_time(monkeypatch):
    monkeypatch.setattr(NaiveBayes, "_held_rows", 40)
    m, errors = stream(NaiveBayes(), ROWS[:60], LABELS[:60]), []

    def work(start):
        try:
            for row, label in zip(ROWS[start:200:4], LABELS[start:200:4], strict=True):
                m.learn_one(row, label)
                assert sum(m.predict_proba_one(row).values()) == pytest.approx(1.0)
                m.predict_proba([row])
        except BaseException as error:
            errors.append(error)

    threads = [Thread(target=work, args=(60 + k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert m.counts_ == NaiveBayes().fit(ROWS[:200], LABELS[:200]).counts_


def test_a_lesson_that_comes_while_the_first_is_learned(monkeypatch):
    m, open_stream = NaiveBayes(), NaiveBayes._open

    def open_and_let_another_thread_learn(self, *about):
        opened = open_stream(self, *about)
        other = Thread(target=m.learn_one, args=(ROWS[1], LABELS[1]))
        other.start()
        other.join()
        return opened

    with monkeypatch.context() as patch:
        patch.setattr(NaiveBayes, "_open", open_and_let_another_thread_learn)
        m.learn_one(ROWS[0], LABELS[0])
    m.learn_one(ROWS[2], LABELS[2])
    assert m.counts_ == NaiveBayes().fit(ROWS[:3], LABELS[:3]).counts_


def test_threads_begin_at_the_same_time():
    for _ in range(5):
        m, ready = NaiveBayes(), Barrier(8)

        def work(start, m=m, ready=ready):
            ready.wait()
            for row, label in zip(ROWS[start:80:8], LABELS[start:80:8], strict=True):
                m.learn_one(row, label)

        threads = [Thread(target=work, args=(k,)) for k in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert m.counts_ == NaiveBayes().fit(ROWS[:80], LABELS[:80]).counts_


def test_other_methods_see_all_rows():
    m = stream(NaiveBayes(), ROWS[:50], LABELS[:50])
    fit = NaiveBayes().fit(ROWS[:50], LABELS[:50])
    assert (m + fit).counts_ == fit.counts_ * 2
    assert (m - fit.forget(ROWS[:20], LABELS[:20])).counts_.weight.sum() == 20
    m.learn_one(ROWS[50], LABELS[50])
    m.forget(ROWS[50:51], LABELS[50:51]).learn_one(ROWS[51], LABELS[51])
    assert m.counts_.weight.sum() == 51
    m.decay(0.5).learn_one(ROWS[52], LABELS[52])
    assert m.counts_.weight.sum() == 26.5
    m.fit(ROWS[:9], LABELS[:9])
    assert m.counts_.weight.sum() == 9


# ---------------------------------------------------------------------- River


def test_in_a_pipeline_of_river():
    river = pytest.importorskip("river")
    from river import compose, evaluate, metrics

    def drop_age(x):
        return {name: value for name, value in x.items() if name != "age"}

    data = list(zip(ROWS, LABELS, strict=True))
    for model in (NaiveBayes(), compose.FuncTransformer(drop_age) | NaiveBayes(), AODE()):
        assert isinstance(model, river.base.Classifier)
        assert not isinstance(model, river.base.Regressor)
        accuracy = evaluate.progressive_val_score(data[:150], model, metrics.Accuracy())
        assert accuracy.get() > 0.55
    model = compose.FuncTransformer(drop_age) | NaiveBayes(half_life=50)
    loss = evaluate.progressive_val_score(data, model, metrics.CrossEntropy())
    assert loss.get() < 0.9
    assert model["NaiveBayes"].schema_.names == ("height", "size", "member", "count")
    assert model.clone()["NaiveBayes"].half_life == 50
    assert not hasattr(model.clone()["NaiveBayes"], "model_")


# ---------------------------------------------------------------------- exact moments


@given(
    st.lists(st.floats(-1e100, 1e100, allow_subnormal=True), min_size=1, max_size=8),
    st.floats(1e-3, 1e3),
)
def test_running_moments_are_exact(some, weight):
    moments = RunningMoments(*[Dyadic(0, 0)] * 3)
    for x in some:
        moments.add(Dyadic.of(x), Dyadic.of(weight))
    exact = [Fraction(weight) * len(some), Fraction(weight) * sum(map(Fraction, some))]
    exact.append(Fraction(weight) * sum(Fraction(x) ** 2 for x in some))
    for part, value in zip((moments.n, moments.total, moments.squares), exact, strict=True):
        assert part.mantissa * Fraction(2) ** part.exponent == value
    n, mean, spread = moments.mean_and_spread()
    assert (n, mean) == (float(exact[0]), float(exact[1] / exact[0]))
    assert spread == float(exact[2] - exact[1] ** 2 / exact[0])
    X, y = np.array(some)[:, None], np.zeros(len(some), np.intp)
    sums = MOMENTS.count(X, y, 1, np.full(len(some), weight), Cells.of_columns(1))
    for a, b in zip(mean_and_spread(sums), (n, mean, spread), strict=True):
        assert a.item() == pytest.approx(b, rel=1e-14)


def test_missing_labels_are_named():
    with pytest.raises(MissingValueError, match="NaN or None"):
        FITTED[0].learn_one(ROWS[0], None)
