"""BayesClassifier on texts."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from deciban import BayesClassifier, NaiveBayes, files, load
from deciban.ensemble import phrase_rows, phrases
from deciban.ensemble.phrase_counts import log_count_ratios
from deciban.errors import InputError, ModelFileError, ParameterError
from deciban.text import Tokenizer

FILLERS = (
    "the",
    "film",
    "was",
    "seen",
    "by",
    "many",
    "people",
    "in",
    "a",
    "hall",
    "one",
    "evening",
)


def reviews(n=200, seed=0):
    """Texts whose class no word tells, only pairs of them: "not good" is bad."""
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=n)
    negated = rng.integers(2, size=n)
    texts = []
    for good, turn in zip(y, negated, strict=True):
        word = ["bad", "good"][good ^ turn]
        some = rng.choice(FILLERS, 6).tolist()
        texts.append(" ".join([*some[:3], "not" if turn else "so", word, *some[3:]]))
    return texts, y


def topics(n=300, seed=0):
    rng = np.random.default_rng(seed)
    words = {"sport": "ball goal team", "food": "salt pan oven", "law": "court judge trial"}
    y = rng.choice(list(words), n)
    texts = [
        " ".join([*rng.choice(FILLERS, 5), *rng.choice(words[label].split(), 2)]) for label in y
    ]
    return texts, y


@pytest.fixture(scope="module")
def fitted():
    return BayesClassifier().fit(*reviews())


def test_phrases_tell_what_words_cannot(fitted):
    texts, y = reviews(seed=1)
    naive = NaiveBayes().fit(*reviews()).score(texts, y)
    assert fitted.score(texts, y) > 0.95 > 0.7 > naive


@pytest.mark.parametrize("make", [reviews, topics])
def test_the_evidence_adds_up(make):
    m = BayesClassifier().fit(*make())
    texts, _ = make(seed=2)
    joint = m.predict_joint_log_proba(texts[:20])
    against = m.classes_[0]
    total = m.evidence(texts[:20], against).sum(axis=1) + m.prior_evidence(against)
    odds = (joint - joint[:, :1]) * 10 / np.log(10)
    np.testing.assert_allclose(total, odds, atol=1e-9)


def test_words_in_their_places_add_up(fitted):
    text = "Many people, not good; one evening. Not good!"
    said = fitted.model_.word_contributions("text", text)
    assert all(text[start:stop] == word for word, start, stop, _ in said)
    assert {"not", "good"} <= {word.lower() for word, *_ in said}
    logits = np.sum([values for *_, values in said], axis=0)
    batch = next(fitted._rows([text]).batches())
    expected = sum(text.logits(batch)[0] for text in fitted.model_.texts)
    decibans = 10 / np.log(10)
    np.testing.assert_allclose(logits * decibans, expected * decibans, atol=1e-9)
    assert len(fitted.model_.word_contributions("text", "")) == 0


def test_unknown_words_and_empty_texts_say_nothing(fitted):
    said = fitted.evidence(["", None, "zzz qqq"])
    np.testing.assert_array_equal(said, np.zeros((3, 1, 2)))
    np.testing.assert_allclose(
        fitted.evidence(["so good zzz qqq"]), fitted.evidence(["so good"]), atol=1e-12
    )


def test_a_word_said_twice_counts_once(fitted):
    words = BayesClassifier(tokenizer=Tokenizer()).fit(*topics())
    np.testing.assert_array_equal(words.evidence(["ball"]), words.evidence(["ball ball ball"]))


def test_save_and_load(fitted, tmp_path):
    fitted.save(tmp_path / "m.deciban")
    again = load(tmp_path / "m.deciban")
    texts, _ = reviews(seed=3)
    np.testing.assert_array_equal(again.predict_proba(texts), fitted.predict_proba(texts))
    assert again.report_ == fitted.report_
    words, loaded = (m.model_.word_contributions("text", texts[0]) for m in (fitted, again))
    assert [word[:3] for word in loaded] == [word[:3] for word in words]
    for one, other in zip(loaded, words, strict=True):
        np.testing.assert_array_equal(one.by_class, other.by_class)


def test_a_tokenizer_is_saved(tmp_path):
    m = BayesClassifier(tokenizer=Tokenizer("words")).fit(*topics())
    m.save(tmp_path / "m.deciban")
    assert load(tmp_path / "m.deciban").get_params()["tokenizer"] == Tokenizer("words")


#: What is done to a file: to its arrays, its labels or its description.
SPOILT = {
    "short": lambda about, names, arrays: arrays.update(phrases_0=arrays["phrases_0"][1:]),
    "not finite": lambda about, names, arrays: arrays.update(phrases_0=arrays["phrases_0"] / 0.0),
    "gone": lambda about, names, arrays: arrays.pop("phrases_0"),
    "no words": lambda about, names, arrays: names.clear(),
    "twice": lambda about, names, arrays: names.update(phrases_0=names["phrases_0"][[0] * 9]),
    "numbers": lambda about, names, arrays: names.update(phrases_0=np.arange(9)),
    "rule": lambda about, names, arrays: about["texts"][0].update(tokenizer={"rule": "none"}),
    "no record": lambda about, names, arrays: about.update(texts=[3, 4]),
    "no rules": lambda about, names, arrays: about.update(texts=[]),
    "a column of none": lambda about, names, arrays: about["texts"][1].update(column="other"),
    "columns": lambda about, names, arrays: about.update(columns=[]),
}


@pytest.mark.filterwarnings("ignore:divide by zero")
@pytest.mark.parametrize("how", SPOILT)
def test_hostile_files(fitted, tmp_path, how):
    fitted.save(tmp_path / "m.deciban")
    stored = files.read(tmp_path / "m.deciban")
    parts = dict(stored.description), dict(stored.labels), dict(stored.arrays)
    SPOILT[how](*parts)
    with pytest.raises(ModelFileError):
        BayesClassifier.from_stored(files.Stored(stored.kind, stored.counts, *parts))


def test_a_table_with_texts_and_numbers():
    texts, y = reviews()
    rng = np.random.default_rng(5)
    x = rng.normal(size=len(y)) + 2 * y
    X = pd.DataFrame({"x": x, "said": texts, "k": rng.choice(["a", "b"], len(y))})
    m = BayesClassifier(kinds={"said": "text"}).fit(X, y)
    assert [view.name for view in m.report_.views][-2:] == ["said", "said, in pieces"]
    alone = BayesClassifier().fit(X[["x", "k"]], y)
    assert m.report_.loss < 0.5 * alone.report_.loss
    joint = m.predict_joint_log_proba(X)
    said = m.evidence(X, against=0)
    total = said.sum(axis=1) + m.prior_evidence(0)
    np.testing.assert_allclose(total, (joint - joint[:, :1]) * 10 / np.log(10), atol=1e-9)
    assert np.abs(said[:, 1]).mean() > np.abs(said[:, 2]).mean()


def test_several_columns_of_text_are_added():
    (one, y), rng = reviews(), np.random.default_rng(6)
    two = [f"{rng.choice(FILLERS)} {['cold', 'warm'][label]} soup again" for label in y]
    X = {"one": one, "two": two}
    m = BayesClassifier(kinds=dict.fromkeys(X, "text")).fit(X, y)
    assert m.score(X, y) == 1.0
    assert np.all(np.abs(m.evidence(X)[:, 1]) > 1)


def test_several_classes():
    m = BayesClassifier().fit(*topics())
    assert m.score(*topics(seed=1)) > 0.97
    np.testing.assert_allclose(m.predict_proba(topics(seed=1)[0]).sum(axis=1), 1.0)


def test_the_order_of_rows_and_the_seed():
    texts, y = topics(60)
    m, again = (BayesClassifier().fit(texts, y) for _ in range(2))
    np.testing.assert_array_equal(m.predict_proba(texts), again.predict_proba(texts))


def test_a_weight_of_zero_is_a_row_that_is_not_there():
    texts, y = topics(90)
    weight = np.ones(90)
    weight[60:] = 0
    m = BayesClassifier().fit(texts, y, sample_weight=weight)
    short = BayesClassifier().fit(texts[:60], y[:60])
    np.testing.assert_allclose(m.predict_proba(texts), short.predict_proba(texts))


def test_weights_turn_the_answer():
    texts, y = ["one two three"] * 20, [0, 1] * 10
    m = BayesClassifier().fit(texts, y, sample_weight=[1.0, 9.0] * 10)
    assert m.predict_proba(texts[:1])[0, 1] > 0.8


def test_one_class(tmp_path):
    m = BayesClassifier().fit(["good film", "good evening"], ["a", "a"])
    assert m.predict(["bad"]).tolist() == ["a"]
    m.save(tmp_path / "m.deciban")
    assert load(tmp_path / "m.deciban").predict_proba(["bad"]).tolist() == [[1.0]]


def test_pieces_see_that_words_are_akin():
    ends, rng = ("ed", "ing", "s", "er", "ful", "less"), np.random.default_rng(7)
    stems = {"good": ("help", "thank", "play"), "bad": ("harm", "grudg", "sulk")}
    seen = [(f"{rng.choice(FILLERS)} {s}{e}", c) for c in stems for s in stems[c] for e in ends[:4]]
    texts, y = zip(*seen * 5, strict=True)
    m = BayesClassifier().fit(list(texts), list(y))
    for label, own in stems.items():
        assert set(m.predict([f"{stem}{end}" for stem in own for end in ends[4:]])) == {label}
    assert [read.title for read in m.model_.texts] == ["text", "text, in pieces"]


def test_a_stated_tokenizer_is_the_only_one():
    m = BayesClassifier(tokenizer=Tokenizer()).fit(*topics(60))
    assert [read.tokenizer for read in m.model_.texts] == [Tokenizer()]


def test_very_long_texts_are_not_read_in_pieces(monkeypatch):
    monkeypatch.setattr(phrases, "MAX_BYTES_IN_PIECES", 100)
    assert len(BayesClassifier().fit(*topics(60)).model_.texts) == 1


def test_where_there_is_no_room_the_longest_phrases_go_then_the_rarest(monkeypatch):
    texts = ["one two three"] * 3 + ["one two three four five six"] * 2 + ["six"] * 4
    batch = next(BayesClassifier().fit(topics(60)[0], topics(60)[1])._rows(texts).batches())

    def kept(most):
        monkeypatch.setattr(phrase_rows, "MAX_COEFFICIENTS", most)
        return phrase_rows.tabulate(phrases.PHRASES, batch, "text", 1)[0].phrases.tolist()

    assert "one two three" in kept(100)
    assert max(phrase.count(" ") for phrase in kept(11)) == 1
    assert set(kept(6)) == {"one", "two", "three", "six", "one two", "two three"}


def test_no_phrase_twice():
    m = BayesClassifier().fit(["a b", "c d", "e f"], [0, 1, 1])
    assert "no phrase" in str(m.report_)
    np.testing.assert_array_equal(m.evidence(["a b"]), np.zeros((1, 1, 2)))


@pytest.mark.parametrize("text", [["", "", None, ""], ["x"] * 4])
def test_texts_that_say_nothing(text):
    m = BayesClassifier(kinds={"t": "text"}).fit({"t": text}, [0, 0, 0, 1])
    assert m.predict({"t": ["x"]}).tolist() == [0]


def test_ratios_by_hand():
    counts = np.array([[3.0, 0.0, 1.0], [0.0, 1.0, 1.0]])
    first = np.log(4 / 5) - np.log(2 / (2 + 3))
    np.testing.assert_allclose(log_count_ratios(counts)[0, 0], first)
    assert log_count_ratios(counts).shape == (2, 3)


@pytest.mark.parametrize("tokenizer", ["words", 3, str.split])
def test_bad_tokenizers(tokenizer):
    with pytest.raises(ParameterError, match="tokenizer"):
        BayesClassifier(tokenizer=tokenizer).fit(*reviews(20))


def test_bad_input(fitted):
    with pytest.raises(InputError):
        BayesClassifier().fit(["a b", "c d"], [1])
    with pytest.raises(InputError):
        fitted.predict({"other": ["a"]})


def test_a_segmenter_cannot_be_saved(tmp_path):
    m = BayesClassifier(tokenizer=Tokenizer(segmenter=str.split)).fit(*topics())
    assert m.score(*topics(seed=1)) > 0.9
    with pytest.raises(ParameterError, match="segmenter"):
        m.save(tmp_path / "m.deciban")
