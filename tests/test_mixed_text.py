"""Texts in NaiveBayes: words as they are counted, left out, forgotten and read."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import BernoulliNB, ComplementNB, MultinomialNB

from deciban import NaiveBayes, load
from deciban.errors import DecibanError, ModelFileError, NegativeCountError
from deciban.text import Tokenizer

WORDS = ["spam", "ham", "eggs", "free", "money", "now", "meeting", "agenda"]
TEXTS = ["free money now", "money money spam", "agenda meeting now", "meeting ham eggs", "spam"]
LABELS = ["bad", "bad", "good", "good", "bad"]
READINGS = ["multinomial", "binary", "bernoulli", "complement"]

texts = st.lists(st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join), min_size=4, max_size=9)


def pure(**options):
    return NaiveBayes(**{"smoothing": 1.0, "calibrate": False, **options})


def labels_of(some):
    return [("bad", "good", "other")[i % 3] for i in range(len(some))]


# What is counted


def test_m5_the_spam_detector_by_hand():
    """``P(w | c) = (n_{c,w} + 1) / (n_c + |V|)``, and a word outside V is ignored."""
    m = pure().fit(["cheap cheap pills", "lunch tomorrow"], ["spam", "ham"])
    joint = np.exp(m.predict_joint_log_proba(["cheap lunch zebra"]))
    # V = {cheap, pills, lunch, tomorrow}; ham has 2 words, spam 3
    np.testing.assert_allclose(joint[0], [0.5 * 1 / 6 * 2 / 6, 0.5 * 3 / 7 * 1 / 7], rtol=1e-12)


@pytest.mark.parametrize(
    ("text", "peer", "binary"),
    [
        ("multinomial", MultinomialNB(), False),
        ("binary", MultinomialNB(), True),
        ("bernoulli", BernoulliNB(), True),
        ("complement", ComplementNB(), False),
    ],
)
@given(some=texts)
@settings(max_examples=25, deadline=None)
def test_every_reading_equals_scikit_learn(text, peer, binary, some):
    some = [*some, "spam ham"]
    y = labels_of(some)
    words = CountVectorizer(binary=binary)
    X = words.fit_transform(some)
    m = pure(text=text).fit(some, y)
    theirs = clone(peer).fit(X, y)
    mine = m.predict_joint_log_proba(some) - m.prior_evidence() * 0
    mine -= np.log(np.bincount(np.unique(y, return_inverse=True)[1]) + 1) - np.log(len(y) + 3)
    expected = theirs._joint_log_likelihood(X)
    if text != "complement":
        expected = expected - theirs.class_log_prior_
    np.testing.assert_allclose(mine, expected, rtol=1e-9, atol=1e-9)


def test_any_way_that_texts_come_in_is_the_same():
    ways = [
        TEXTS,
        tuple(TEXTS),
        np.array(TEXTS),
        np.array(TEXTS, dtype=object),
        pd.Series(TEXTS),
        pl.Series(TEXTS),
        pa.array(TEXTS),
        pa.chunked_array([TEXTS[:2], TEXTS[2:]]),
    ]
    first = pure().fit(TEXTS, LABELS)
    for way in ways:
        m = pure().fit(way, LABELS)
        assert m.counts_ == first.counts_
        np.testing.assert_array_equal(m.predict_proba(way), first.predict_proba(TEXTS))


def test_a_series_keeps_its_name_and_frames_have_several_texts():
    assert pure().fit(pd.Series(TEXTS, name="body"), LABELS).schema_.texts == ("body",)
    frame = pd.DataFrame({"subject": TEXTS, "body": TEXTS[::-1], "size": [1.0, 2, 3, 4, 5]})
    m = NaiveBayes(kinds={"subject": "text", "body": "text"}).fit(frame, LABELS)
    assert m.schema_.texts == ("subject", "body")
    assert m.evidence(frame).shape == (5, 3, 2)
    total = m.evidence(frame).sum(axis=1) + m.prior_evidence()
    p = m.predict_proba(frame)
    np.testing.assert_allclose(total, 10 * np.log10(p / (1 - p)), atol=1e-9)


def test_texts_are_found_by_inference():
    frame = {"note": [f"{word} is the word of day {i}" for i, word in enumerate(WORDS * 4)]}
    m = NaiveBayes().fit(frame, [i % 2 for i in range(32)])
    assert m.schema_.columns[0].kind == "text"
    chinese = {"note": [f"今天的第{i}个词是好" for i in range(40)]}
    assert NaiveBayes().fit(chinese, [0, 1] * 20).schema_.columns[0].kind == "text"


def test_files_and_frames_give_the_same_words(tmp_path):
    frame = pd.DataFrame({"body": TEXTS * 9, "label": LABELS * 9})
    frame.to_parquet(tmp_path / "t.parquet")
    frame.to_csv(tmp_path / "t.csv", index=False)
    kinds = {"body": "text"}
    first = NaiveBayes(kinds=kinds).fit(frame[["body"]], frame["label"])
    for name in ("t.parquet", "t.csv"):
        m = NaiveBayes(kinds=kinds).fit(str(tmp_path / name), target="label")
        assert m.counts_ == first.counts_
        np.testing.assert_array_equal(
            m.predict_proba(frame[["body"]]), first.predict_proba(TEXTS * 9)
        )


def test_weight_two_is_two_copies():
    m = pure().fit(TEXTS, LABELS, sample_weight=[2, 1, 1, 1, 0])
    assert m.counts_ == pure().fit([TEXTS[0], *TEXTS[:4]], [LABELS[0], *LABELS[:4]]).counts_


def test_unknown_words_and_empty_texts_say_nothing():
    m = NaiveBayes().fit(TEXTS, LABELS)
    prior = m.predict_proba([""])[0]
    for text in (None, "zebra", "zebra 漢字 quux"):
        np.testing.assert_array_equal(m.predict_proba([text, "spam"])[0], prior)
    known = m.predict_proba(["spam"])
    np.testing.assert_array_equal(m.predict_proba(["spam zebra"]), known)


def test_any_script_and_own_segmenters():
    y = ["pos", "neg", "pos", "neg"]
    m = NaiveBayes().fit(["我爱你", "我恨你", "爱爱", "恨"], y)
    assert m.predict(["爱"])[0] == "pos"
    by_letter = NaiveBayes(tokenizer=Tokenizer(segmenter=list)).fit(["ab", "cd", "a", "d"], y)
    assert by_letter.predict(["b"])[0] == "pos"
    with pytest.raises(DecibanError, match="segmenter"):
        by_letter.save("never.deciban")


# Leaving out, forgetting, merging


@pytest.mark.parametrize("text", READINGS)
@pytest.mark.parametrize("lam", [1.0, 0.1])
@given(some=texts)
@settings(max_examples=20, deadline=None)
def test_leaving_one_out_is_refitting_without_it(text, lam, some):
    some = [*some, *some, "spam ham", "ham", "eggs"]
    y = labels_of(some)
    m = pure(text=text, smoothing=lam).fit(some, y)
    found = m.leave_one_out(some, y)
    for i in range(0, len(some), 3):
        without = pure(text=text, smoothing=lam).fit(some[:i] + some[i + 1 :], y[:i] + y[i + 1 :])
        expected = without.predict_log_proba([some[i]])[0]
        np.testing.assert_allclose(found[i], expected, rtol=0, atol=1e-10)


def test_leaving_one_out_holds_the_reading():
    some, y = TEXTS * 3 + ["rare words here"], LABELS * 3 + ["good"]
    m = NaiveBayes().fit(some, y)
    found = m.leave_one_out(some, y)
    less = clone(m).fit(some, y).forget([some[-1]], [y[-1]])
    np.testing.assert_allclose(found[-1], less.predict_log_proba([some[-1]])[0], atol=1e-10)


@pytest.mark.parametrize("method", ["ml", "map", "bayes"])
@pytest.mark.parametrize("text", READINGS)
def test_no_method_gives_nan(method, text):
    for lam in (0.0, 0.5, 2.0):
        m = pure(method=method, smoothing=lam, text=text).fit(TEXTS, LABELS)
        assert not np.isnan(m.predict_proba(TEXTS)).any()
        assert not np.isnan(m.leave_one_out(TEXTS, LABELS)).any()


def test_words_vanish_with_their_last_text():
    m = NaiveBayes().fit(TEXTS, LABELS)
    m.forget([TEXTS[0]], [LABELS[0]])
    assert m.counts_ == NaiveBayes().fit(TEXTS[1:], LABELS[1:]).counts_
    assert "free" not in m.counts_.tables["words"].cells.values[0].tolist()
    with pytest.raises(NegativeCountError):
        m.forget(["free free"], ["bad"])


@given(a=texts, b=texts)
@settings(max_examples=20, deadline=None)
def test_adding_and_taking_away(a, b):
    ya, yb = labels_of(a), labels_of(b)
    one, two = pure().fit(a, ya), pure().fit(b, yb)
    both = pure().fit(a + b, ya + yb)
    assert (one + two).counts_ == both.counts_
    assert (both - two).counts_ == one.counts_
    assert pure().fit(a, ya).partial_fit(b, yb).counts_ == both.counts_
    assert both.decay(0.5).counts_ == both.counts_ * 1.0


def test_models_with_other_words_are_not_added():
    other = NaiveBayes(tokenizer=Tokenizer("words")).fit(TEXTS, LABELS)
    with pytest.raises(DecibanError, match="tokenizer"):
        NaiveBayes().fit(TEXTS, LABELS) + other


# Readings


def test_bursts_length_and_contrast_are_chosen_by_leave_one_out():
    rng = np.random.default_rng(0)
    vocabulary = np.array([f"w{i}" for i in range(300)])
    shares = 0.7 / 300 + 0.3 * rng.dirichlet(np.full(300, 0.1), 4)
    y = rng.integers(0, 4, 400)
    some = [" ".join(np.repeat(rng.choice(vocabulary, 8, p=shares[c]), 5)) for c in y]
    m = NaiveBayes().fit(some[:300], y[:300])
    reading = m.model_.text_choices["text"]
    assert reading.weighting == "presence" or reading.scale * 60**-reading.length < 0.5
    assert reading.rows == 300
    p = m.predict_proba(some[300:])
    raw = pure().fit(some[:300], y[:300]).predict_proba(some[300:])
    own = np.arange(100), y[300:]
    assert -np.log(p[own]).mean() < -np.log(np.maximum(raw[own], 1e-300)).mean()


def test_the_length_of_texts_of_one_length_is_not_corrected():
    words = {"a": ["one", "two", "three", "four"], "b": ["three", "four", "five", "six"]}
    rng = np.random.default_rng(1)
    y = rng.choice(list("ab"), 200)
    model = NaiveBayes().fit([" ".join(rng.choice(words[label], 9)) for label in y], y)
    assert model.model_.text_choices["text"].length == 0.0


def test_more_rows_decide_how_texts_are_read():
    few, many = NaiveBayes().fit(TEXTS, LABELS), NaiveBayes().fit(TEXTS * 5, LABELS * 5)
    chosen = many.model_.text_choices
    assert (few + many).model_.text_choices == chosen == (many + few).model_.text_choices
    assert few.partial_fit(TEXTS * 5, LABELS * 5).model_.text_choices["text"].rows == 25


# Files


def test_a_saved_model_answers_the_same(tmp_path):
    frame = pd.DataFrame({"body": TEXTS * 5, "n": np.arange(25.0) % 7})
    m = NaiveBayes(kinds={"body": "text"}, tokenizer=Tokenizer(ngrams=(1, 2))).fit(
        frame, LABELS * 5
    )
    m.save(tmp_path / "m.deciban")
    again = load(tmp_path / "m.deciban")
    assert again.model_.text_choices == m.model_.text_choices
    assert again.model_.tokenizer == m.model_.tokenizer == again.tokenizer
    np.testing.assert_array_equal(again.predict_proba(frame), m.predict_proba(frame))
    assert again.forget(frame[:2], LABELS[:2]).counts_.weight.sum() == 23


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("tokenizer", {"rule": "eval"}),
        ("tokenizer", {"segmenter": "os.system"}),
        ("text_choices", [{"column": "text"}]),
        ("text_choices", None),
    ],
)
def test_a_file_with_other_words_is_refused(key, value):
    from deciban.naive_bayes import stored as files

    m = NaiveBayes().fit(TEXTS, LABELS)
    stored = files.to_stored(m.model_, m.get_params(), None, False)
    stored.description[key] = value
    with pytest.raises(ModelFileError):
        files.from_stored(stored)


# Bad input


def test_bad_input():
    with pytest.raises(DecibanError, match="one column, and 2 are needed"):
        pure().fit({"a": ["x", "y"], "b": ["x", "y"]}, [0, 1]).predict(["x"])
    with pytest.raises(DecibanError, match="text must be one of"):
        NaiveBayes(text="best").fit(TEXTS, LABELS)
    with pytest.raises(DecibanError, match="tokenizer must be"):
        NaiveBayes(tokenizer="words").fit(TEXTS, LABELS)
    with pytest.raises(DecibanError, match="inconsistent"):
        pure().fit(TEXTS, LABELS[:3])
