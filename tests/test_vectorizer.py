"""CountVectorizer against scikit-learn's, from every kind of input, and in parts."""

import doctest
import io
import pickle
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer as Theirs

from deciban.errors import InputError, MissingValueError
from deciban.kernels import texts as kernel
from deciban.kernels.texts import utf8
from deciban.text import Buckets, CountVectorizer, Tokenizer, Vocabulary, pack, parallel

TEXTS = ["Spam, spam and EGGS", "", "the naïve café", "ΑΣ ham_2 İx 12 我爱 a", "eggs and ham and"]

settings = st.fixed_dictionaries(
    {
        "analyzer": st.sampled_from(["word", "char", "char_wb"]),
        "ngram_range": st.sampled_from([(1, 1), (1, 2), (2, 4)]),
        "lowercase": st.booleans(),
        "strip_accents": st.sampled_from([None, "unicode", "ascii"]),
        "token_pattern": st.sampled_from([r"(?u)\b\w\w+\b", r"(?u)\b\w+\b", r"[a-z]+"]),
        "stop_words": st.sampled_from([None, "english", ["spam"]]),
        "min_df": st.sampled_from([1, 2, 0.3]),
        "max_df": st.sampled_from([1.0, 2, 0.7]),
        "max_features": st.sampled_from([None, 3]),
        "binary": st.booleans(),
        "dtype": st.sampled_from([np.int64, np.float32]),
    }
)


def outcome(make, documents, kwargs):
    vectorizer = make(**kwargs)
    try:
        X = vectorizer.fit_transform(documents)
        again = vectorizer.transform(documents)
    except (ValueError, AttributeError) as error:
        return str(error)
    X.sort_indices()
    assert np.array_equal(X.toarray(), again.toarray())
    names = vectorizer.get_feature_names_out().tolist()
    return X.dtype, type(X), X.toarray().tolist(), names, vectorizer.vocabulary_


@pytest.mark.filterwarnings("ignore::UserWarning")
@given(st.lists(st.sampled_from(TEXTS) | st.text(max_size=20), max_size=6), settings)
def test_everything_is_as_in_scikit_learn(documents, kwargs):
    assert outcome(CountVectorizer, documents, kwargs) == outcome(Theirs, documents, kwargs)


@pytest.mark.parametrize(
    "made",
    [
        TEXTS,
        tuple(TEXTS),
        iter(TEXTS),
        np.array(TEXTS),
        np.array(TEXTS, dtype=object),
        [text.encode() for text in TEXTS],
        pd.Series(TEXTS, dtype=object),
        pd.Series(TEXTS, dtype="string"),
        pl.Series(TEXTS),
        pa.array(TEXTS),
        pa.chunked_array([TEXTS[:2], TEXTS[2:]]),
        pa.chunked_array([pa.array(TEXTS, pa.large_string())]),
    ],
    ids=lambda made: type(made).__module__ + "." + type(made).__name__,
)
def test_every_kind_of_input(made):
    wanted, ours = Theirs(), CountVectorizer()
    X = ours.fit_transform(made)
    assert X.has_sorted_indices
    assert np.array_equal(X.toarray(), wanted.fit_transform(TEXTS).toarray())
    assert ours.vocabulary_ == wanted.vocabulary_


def test_files(tmp_path):
    paths = []
    for i, text in enumerate(TEXTS):
        paths.append(tmp_path / f"{i}.txt")
        paths[-1].write_text(text, encoding="utf-8")
    wanted = Theirs().fit_transform(TEXTS).toarray()
    assert np.array_equal(CountVectorizer(input="filename").fit_transform(paths).toarray(), wanted)
    files = [io.BytesIO(text.encode()) for text in TEXTS]
    assert np.array_equal(CountVectorizer(input="file").fit_transform(files).toarray(), wanted)


def test_a_step_of_the_callers_own_is_used():
    class Stemmed(CountVectorizer):
        def build_analyzer(self):
            analyse = super().build_analyzer()
            return lambda text: [token.rstrip("s") for token in analyse(text)]

    assert "egg" in Stemmed().fit(TEXTS).vocabulary_
    vectorizer = CountVectorizer(preprocessor=lambda text: text.replace("spam", "Lard"))
    assert "Lard" in vectorizer.fit(TEXTS).vocabulary_
    assert CountVectorizer(tokenizer=str.split, token_pattern=None).fit(["a b"]).vocabulary_


def test_copies_and_pickles_keep_what_was_learned():
    vectorizer = CountVectorizer().fit(TEXTS)
    wanted = vectorizer.transform(TEXTS).toarray()
    again = pickle.loads(pickle.dumps(vectorizer))
    assert np.array_equal(again.transform(TEXTS).toarray(), wanted)
    assert not hasattr(clone(vectorizer), "vocabulary_")
    vectorizer.vocabulary_ = {"spam": 0}
    assert vectorizer.transform(TEXTS).shape == (len(TEXTS), 1)


@pytest.mark.parametrize("documents", [[None], [3], [np.nan], ["a b", None]])
def test_what_is_no_text_is_refused_as_by_scikit_learn(documents):
    with pytest.raises((AttributeError, ValueError)) as wanted:
        Theirs().fit(documents)
    with pytest.raises(wanted.type) as got:
        CountVectorizer().fit(documents)
    assert str(got.value) == str(wanted.value)


def test_a_gap_in_a_column_is_named():
    with pytest.raises(MissingValueError, match="document 1 is missing"):
        CountVectorizer().fit(pl.Series(["spam", None]))


rows = st.lists(st.none() | st.text("ab 我", max_size=12), max_size=12)


@given(rows, st.sampled_from([1, 5, 1000]), st.booleans(), st.integers(1, 3))
def test_parts_are_as_the_whole(column, size, binary, high):
    rule, strings = Tokenizer(ngrams=(1, high), one_letter=True), pack(column)
    y, weight = np.arange(len(column)) % 3, np.arange(len(column)) / 4
    for make in (Vocabulary, lambda: Vocabulary(["b", "zz"]), lambda: Buckets(64)):
        whole, cut = make(), make()
        wanted = rule.encode(strings, whole, binary=binary)
        got = parallel.encode(rule, strings, cut, binary=binary, size=size)
        assert [a.tolist() for a in got] == [a.tolist() for a in wanted]
        assert isinstance(cut, Buckets) or cut.tokens() == whole.tokens()
        for w in (None, weight):
            options = {"binary": binary, "documents": True}
            wanted = rule.count(strings, make(), y, 3, w, **options)
            got = parallel.count(rule, strings, make(), y, 3, w, size=size, **options)
            assert all(np.array_equal(a, b) for a, b in zip(got, wanted, strict=True))
            assert got.tokens.dtype == wanted.tokens.dtype
        known = parallel.encode(rule, strings, cut, grow=False, size=size)
        assert known.codes.tolist() == parallel.encode(rule, strings, cut, size=size).codes.tolist()


@given(rows)
def test_rows_are_arranged(column):
    rule, strings, words = Tokenizer(ngrams=(1, 3), one_letter=True), pack(column), Vocabulary()
    rows = rule.encode(strings, words)
    ranks = np.random.default_rng(0).permutation(len(words)).astype(np.int32)
    for times in (1, 1 + len(words)):  # few rows are sorted in another way
        many = parallel._stack([rows] * times)
        pointers, codes, counts = parallel.reorder(many, ranks)
        for i in range(len(pointers) - 1):
            part = slice(pointers[i], pointers[i + 1])
            wanted = sorted(zip(ranks[many.codes[part]], many.counts[part], strict=True))
            assert list(zip(codes[part], counts[part], strict=True)) == wanted


@given(st.lists(st.none() | st.text(st.characters())))
def test_texts_are_written_as_python_writes_them(texts):
    offsets, data, missing = utf8(texts)
    got = [data[a:b].tobytes() for a, b in pairwise(offsets)]
    assert got == [(text or "").encode("utf-8", "surrogatepass") for text in texts]
    assert missing.tolist() == [text is None for text in texts]


def test_example_runs():
    assert doctest.testmod(kernel).attempted > 1
    assert doctest.testmod(kernel).failed == 0


def test_packing_refuses_other_things():
    with pytest.raises(InputError, match="row 1 is not text, got 3"):
        pack(["a", 3])
