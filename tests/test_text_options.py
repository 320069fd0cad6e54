"""Which words NaiveBayes uses: in buckets, in enough texts, no more than so many."""

from __future__ import annotations

import json
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer

from deciban import BayesClassifier, NaiveBayes, load
from deciban.errors import ModelFileError, ParameterError
from deciban.kernels.texts import batch_end, take
from deciban.sources.columns import TextList
from deciban.text import Tokenizer, pack

WORDS = ["good", "bad", "film", "plot", "fine", "dull", "nice", "slow"]
SAID = st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join)
TEXTS = st.lists(SAID, min_size=2, max_size=12)
HASHED = Tokenizer(buckets=2**20)


def drawn(n: int = 300) -> tuple[list[str], list[str]]:
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(WORDS, 5)) for _ in range(n)]
    return texts, ["yes" if "good" in text or "nice" in text else "no" for text in texts]


def used(model: NaiveBayes) -> list[str]:
    (encoder,) = model.model_.text_encoders.values()
    return encoder.known.tolist()


# ---------------------------------------------------------------------- buckets


@pytest.mark.parametrize("text", ["auto", "multinomial", "bernoulli", "complement"])
def test_where_no_words_meet_buckets_change_nothing(text):
    X, y = drawn()
    plain = NaiveBayes(text=text).fit(X, y)
    hashed = NaiveBayes(text=text, tokenizer=HASHED).fit(X, y)
    some = [*X[:20], "a word that nobody knows", ""]
    np.testing.assert_allclose(hashed.predict_proba(some), plain.predict_proba(some), rtol=1e-12)
    assert hashed.temperature_ == plain.temperature_


@given(TEXTS, TEXTS)
@settings(max_examples=20)
def test_the_algebra_of_buckets(a, b):
    rule = Tokenizer(buckets=4)  # words meet

    def fitted(texts):
        y = ["odd" if len(text) % 2 else "even" for text in texts]
        return NaiveBayes(tokenizer=rule, calibrate=False).fit(texts, y)

    one, other = fitted(a), fitted(b)
    both = fitted(a + b)
    assert (one + other).counts_ == both.counts_
    assert (both - other).counts_ == one.counts_


def test_a_stream_without_an_end_stays_bounded():
    model = NaiveBayes(tokenizer=Tokenizer(buckets=64), calibrate=False)
    for batch in range(20):
        texts = [f"token{batch}x{row} another{row}y{batch}" for row in range(50)]
        model.partial_fit(texts, ["ham", "spam"] * 25)
    assert model.counts_.tables["words"].cells.size <= 64
    plain = NaiveBayes(calibrate=False)
    for batch in range(2):
        texts = [f"token{batch}x{row} another{row}y{batch}" for row in range(50)]
        plain.partial_fit(texts, ["ham", "spam"] * 25)
    assert plain.counts_.tables["words"].cells.size == 200


def test_a_bucket_that_was_never_seen_says_nothing():
    model = NaiveBayes(tokenizer=HASHED, calibrate=False).fit(["good film", "bad plot"], [1, 0])
    np.testing.assert_array_equal(
        model.predict_proba(["good"]), model.predict_proba(["good unheard of"])
    )


def test_buckets_explain_themselves_and_come_back_from_a_file(tmp_path):
    X, y = drawn(60)
    model, plain = (NaiveBayes(tokenizer=rule).fit(X, y) for rule in (HASHED, None))
    words, same = (m.model_.word_contributions("text", "good unknown film") for m in (model, plain))
    assert [word[:3] for word in words] == [word[:3] for word in same]
    for one, other in zip(words, same, strict=True):
        np.testing.assert_array_equal(one.by_class, other.by_class)
    model.save(tmp_path / "m.deciban")
    again = load(tmp_path / "m.deciban")
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert again.tokenizer == HASHED


def test_a_file_whose_buckets_are_none_is_refused(tmp_path):
    path = tmp_path / "m.deciban"
    NaiveBayes(tokenizer=HASHED, calibrate=False).fit(["good", "bad"], [1, 0]).save(path)
    for number in (4, None):  # fewer buckets than are counted, or words instead
        broken = tmp_path / f"{number}.deciban"
        with zipfile.ZipFile(path) as old, zipfile.ZipFile(broken, "w", 8) as new:
            for name in old.namelist():
                content = old.read(name)
                if name == "model.json":
                    about = json.loads(content)
                    _with_buckets(about["document"], number)
                    content = json.dumps(about).encode()
                new.writestr(name, content)
        with pytest.raises(ModelFileError, match="not those of the tokenizer"):
            load(broken)


def _with_buckets(value, number):
    """Every tokenizer in a document with another number of buckets."""
    if isinstance(value, dict):
        if "buckets" in value:
            value["buckets"] = number
        for inner in value.values():
            _with_buckets(inner, number)


@pytest.mark.parametrize("buckets", [0, -1, 1.5, True, "many", 2**31])
def test_a_bad_number_of_buckets(buckets):
    with pytest.raises(ParameterError, match="number of buckets"):
        Tokenizer(buckets=buckets)


def test_buckets_have_no_place_elsewhere():
    with pytest.raises(ParameterError, match="no buckets"):
        Tokenizer().bucket_of(["spam"])
    with pytest.raises(ParameterError, match="weighed by name"):
        BayesClassifier(tokenizer=HASHED).fit(*drawn(40))


# ---------------------------------------------------------------------- fewer words


@pytest.mark.parametrize(
    "limits", [{"min_df": 3}, {"min_df": 0.2}, {"max_words": 3}, {"min_df": 2, "max_words": 5}]
)
@given(TEXTS)
@settings(max_examples=20)
def test_words_are_those_of_scikit_learn(limits, texts):
    theirs = {"max_features" if k == "max_words" else k: v for k, v in limits.items()}
    ours = NaiveBayes(calibrate=False, **limits).fit(texts, ["a", *"b" * (len(texts) - 1)])
    try:
        words = CountVectorizer(**theirs).fit(texts)
    except ValueError:  # no words are left
        assert not used(ours)
        return
    found = set(words.vocabulary_)
    if "max_words" not in limits:
        assert set(used(ours)) == found
        return
    amounts = CountVectorizer().fit(texts)
    total = dict(
        zip(amounts.get_feature_names_out(), amounts.transform(texts).sum(axis=0).flat, strict=True)
    )
    assert sorted(total[w] for w in used(ours)) == sorted(total[w] for w in found)


def test_all_words_are_counted_whatever_is_used():
    X, y = drawn(40)
    few, all_of_them = NaiveBayes(max_words=2).fit(X, y), NaiveBayes().fit(X, y)
    assert few.counts_ == all_of_them.counts_
    assert len(used(few)) == 2
    more = few + few
    assert len(used(more)) == 2
    assert (more - few).counts_ == few.counts_


def test_the_order_of_training_cannot_be_seen():
    X, y = ["dull bad", "good nice", "slow plot", "fine film"], [1, 0, 1, 0]
    forth = NaiveBayes(max_words=3, calibrate=False).partial_fit(X[:2], y[:2])
    forth.partial_fit(X[2:], y[2:])
    back = NaiveBayes(max_words=3, calibrate=False).partial_fit(X[2:], y[2:])
    back.partial_fit(X[:2], y[:2])
    assert sorted(used(forth)) == sorted(used(back)) == ["bad", "dull", "film"]


def test_a_word_that_becomes_frequent_is_used():
    model = NaiveBayes(min_df=2, calibrate=False).fit(["good film", "bad film"], [1, 0])
    assert used(model) == ["film"]
    model.partial_fit(["good plot"], [1])
    assert sorted(used(model)) == ["film", "good"]
    model.forget(["good plot"], [1])
    assert used(model) == ["film"]


def test_limits_come_back_from_a_file_and_hold_for_rows_without_a_label(tmp_path):
    X, y = drawn(60)
    model = NaiveBayes(min_df=3, max_words=4).fit([*X, "good nice film"], [*y, None])
    assert len(used(model)) == 4
    model.save(tmp_path / "m.deciban")
    again = load(tmp_path / "m.deciban")
    assert used(again) == used(model)
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def test_words_that_have_decayed_are_used_still():
    model = NaiveBayes(calibrate=False).fit(["good film", "bad film"], [1, 0]).decay(0.1)
    assert sorted(used(model)) == ["bad", "film", "good"]


def test_limits_where_no_row_has_a_label():
    texts = ["ball goal team once"] + ["ball goal team"] * 20 + ["vote law party"] * 20
    model = NaiveBayes(n_classes=2, min_df=2).fit(texts, [None] * 41)
    found = model.predict(texts)
    assert len(set(found[:21])) == len(set(found[21:])) == 1
    assert found[0] != found[-1]
    assert "once" not in used(model)


def test_no_word_is_enough():
    model = NaiveBayes(min_df=9, calibrate=False).fit(["good", "bad", "bad"], [1, 0, 0])
    np.testing.assert_allclose(model.predict_proba(["bad"]), [[0.6, 0.4]])


@pytest.mark.parametrize(
    "limits",
    [{"min_df": 0}, {"min_df": -1}, {"min_df": 1.5}, {"min_df": "two"}, {"min_df": True},
     {"max_words": 0}, {"max_words": 2.0}, {"max_words": "all"}],
)  # fmt: skip
def test_bad_limits(limits):
    with pytest.raises(ParameterError, match=next(iter(limits))):
        NaiveBayes(**limits).fit(["good", "bad"], [1, 0])


# ---------------------------------------------------------------------- texts in pieces


@given(st.lists(st.none() | st.text(max_size=5), max_size=12), st.data())
def test_listed_texts_are_packed_texts(texts, data):
    column = TextList(texts)
    same = pack(texts)
    assert len(column) == len(same)
    assert column.tolist() == same.tolist()
    rows = data.draw(st.lists(st.integers(0, len(texts) - 1), max_size=9)) if texts else []
    at = np.array(rows, dtype=np.intp)
    offsets, block = take(same.offsets, same.data, at)
    assert column.take(at).data.tobytes() == block.tobytes()
    np.testing.assert_array_equal(column.take(at).offsets, offsets)


def test_rows_that_are_not_there():
    column = pack(["a", "b"])
    for row in (-1, 2):
        with pytest.raises(IndexError):
            take(column.offsets, column.data, np.array([row]))
    with pytest.raises(ValueError, match="stay within"):
        take(np.array([0, 9, 9]), column.data, np.array([0]))


def test_pieces_end_where_enough_characters_are():
    assert batch_end(["abc", None, "de", "f"], 0, 9, 5) == 3
    assert batch_end(["abc"] * 4, 1, 2, 100) == 3
    assert batch_end([], 0, 2, 100) == 0
