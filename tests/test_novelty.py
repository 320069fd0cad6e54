"""Novelty: rows unlike all that was learned are told, and others as seldom as stated."""

import json

import numpy as np
import pytest
from scipy.stats import betabinom

from commands import FRUIT, done
from deciban import AODE, BayesClassifier, LogisticRegression, NaiveBayes, load
from deciban.errors import InputError, ParameterError
from deciban.models.novelty import MAX_NOVELTY_ROWS, RowLikelihoods, TypicalityScores
from deciban.naive_bayes import GaussianNB
from deciban.naive_bayes.likelihoods import NumberRanges
from deciban.naive_bayes.model import NaiveBayesModel
from deciban.report import report

KINDS = (NaiveBayes, AODE, BayesClassifier)
VOWELS, WORDS = list("aeiou"), ["red", "blue", "green", "old", "new", "big", "small"]


def table(n, seed, holes=0.0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    vowel = np.array(VOWELS, dtype=object)[(y + (rng.random(n) < 0.4)) % 4]
    vowel[rng.random(n) < holes] = None
    x = np.where(rng.random(n) < holes, np.nan, rng.normal(y, 0.5))
    return {"x": x, "z": rng.normal(0, 1 + y), "vowel": vowel}, np.array(list("pqr"))[y]


def texts(n, seed, size=(4, 12)):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    words = [" ".join(rng.choice(WORDS[:5] if c else WORDS[2:], rng.integers(*size))) for c in y]
    return words, np.array(["no", "yes"])[y]


def batch_of(model, X):
    (batch,) = model._rows(X).batches()
    return batch


# ---------------------------------------------------------------------- a p-value


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_a_row_like_all_others_is_not_new(kind):
    """Its likelihood is that of left-out rows, but for rounding."""
    X = {"a": [1.0] * 60, "b": ["k"] * 60}
    assert kind().fit(X, ["u", "v"] * 30).novelty(X).tolist() == [1.0] * 60


@pytest.mark.parametrize("holes", [0.0, 0.3])
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_rows_that_are_not_new_are_called_so_as_often_as_stated(kind, holes):
    X, y = table(900, 1, holes)
    new, _ = table(4_000, 2, holes)
    model = kind().fit(X, y)
    p, rows = model.novelty(new), model.model_.left_out.typicality.ranked.rows
    for level in (0.01, 0.05, 0.2):
        rank = max(1, np.floor((rows + 1) * level))
        most = betabinom(4_000, rank, rows + 1 - rank).ppf([0.0005, 0.9995])
        assert most[0] <= np.sum(p <= level) <= most[1], level


def test_texts_that_are_not_new_are_called_so_as_often_as_stated():
    X, y = texts(800, 3)
    p = NaiveBayes().fit(X, y).novelty(texts(3_000, 4)[0])
    most = betabinom(3_000, 40, 761).ppf([0.0005, 0.9995])
    assert most[0] <= np.sum(p <= 0.05) <= most[1]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_what_was_never_seen_is_new(kind):
    X, y = table(900, 5)
    model = kind().fit(X, y)
    usual = {"x": [0.1, 1.1], "z": [0.3, -0.5], "vowel": ["a", "e"]}
    strange = {"x": [0.1, 2.1], "z": [0.3, 0.2], "vowel": ["w", "w"]}
    assert model.novelty(usual).min() > 0.1
    assert model.novelty(strange).max() < 0.02


@pytest.mark.parametrize("numeric", ["auto", "gaussian", "histogram", "mdl"])
def test_a_number_beyond_all_that_were_seen_is_new(numeric):
    X, y = table(900, 6)
    model = NaiveBayes(numeric=numeric).fit(X, y)
    far = {"x": [0.1, 1e6, -1e6], "z": [0.3, 0.3, 0.3], "vowel": ["a", "a", "a"]}
    usual, *beyond = model.novelty(far)
    assert usual > 0.1
    assert max(beyond) < 0.02


def test_unknown_words_are_new_and_long_texts_are_not():
    X, y = texts(600, 7)
    model = NaiveBayes().fit(X, y)
    unknown = ["quarks lose colour", "red lorem ipsum dolor sit amet"]
    assert model.novelty(unknown).max() < 0.02
    assert model.novelty([" ".join(X[i] for i in range(40) if y[i] == "no")])[0] > 0.1


def test_missing_values_are_not_new():
    X, y = table(900, 8, holes=0.2)
    holes = {"x": [np.nan], "z": [0.1], "vowel": ["a"]}
    for kind in KINDS:
        assert kind().fit(X, y).novelty(holes)[0] > 0.05
    assert NaiveBayes().fit(X, y).novelty({"x": [np.nan], "z": [np.nan], "vowel": [None]})[0] > 0.5


def test_rows_of_a_class_that_was_held_out_are_newer():
    X, y = table(1_500, 9)
    old = y != "r"
    model = NaiveBayes().fit({name: column[old] for name, column in X.items()}, y[old])
    p = model.novelty(X)
    rng = np.random.default_rng(0)
    a, b = rng.choice(p[~old], 2_000), rng.choice(p[old], 2_000)
    assert np.mean(a < b) > 0.75


# ---------------------------------------------------------------------- exactly left out


def test_a_row_that_is_left_out_is_as_likely_as_if_it_had_never_been_counted():
    words, y = texts(60, 10)
    vowel = np.array(VOWELS)[np.random.default_rng(0).integers(0, 5, 60)]
    words[7] = f"{words[7]} unique unique"
    X = {"text": words, "vowel": vowel}
    model = NaiveBayes(kinds={"text": "text"}).fit(X, y).model_
    estimator = NaiveBayes(kinds={"text": "text"}).fit(X, y)
    codes = np.searchsorted(model.classes, y)
    left_out = model.likelihoods.leave_one_out(batch_of(estimator, X), codes, np.ones(60))
    for i in (0, 7, 33):
        one = {"text": [words[i]], "vowel": [vowel[i]]}
        counts = model.counts - estimator._count(estimator._rows(one, y[i : i + 1]), None)
        without = NaiveBayesModel.of(
            model.schema, counts, model.options, tokenizer=model.tokenizer,
            choices=model.choices, text_choices=model.text_choices,
        )  # fmt: skip
        expected = without.likelihoods.of_rows(batch_of(estimator, one))
        np.testing.assert_allclose(left_out.log_likelihood[i], expected.log_likelihood[0])
        assert left_out.size[i] == expected.size[0]


def test_a_number_that_is_left_out_is_beyond_the_others_if_it_is_an_end_by_itself():
    x = np.array([1.0, 1.0, 2.0, 3.0, 4.0, np.nan])
    estimator = NaiveBayes().fit({"x": x}, list("aababb"))
    ranges = NumberRanges.of(estimator.model_)
    without = ranges.log_beyond_without(x[:, None], np.ones(6))
    assert without.tolist() == [0.0, 0.0, 0.0, 0.0, -np.log(5), 0.0]
    new = np.array([[0.99], [1.0], [4.0], [4.01], [np.nan]])
    assert ranges.log_beyond(new).tolist() == [-np.log(6), 0.0, 0.0, -np.log(6), 0.0]
    lighter = ranges.log_beyond_without(np.array([[4.0]]), np.array([0.5]))
    assert lighter.tolist() == [0.0]


def test_no_more_rows_are_scored_than_a_few_thousand():
    X, y = table(5_000, 11)
    typicality = NaiveBayes().fit(X, y).model_.left_out.typicality
    assert 800 < typicality.ranked.rows <= MAX_NOVELTY_ROWS
    assert typicality.ranked.weight.sum() == pytest.approx(5_000, rel=0.01)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_a_weight_is_as_many_copies(kind):
    X, y = table(200, 21)
    twice = {name: np.repeat(column, 2) for name, column in X.items()}
    a = kind().fit(X, y, sample_weight=np.full(200, 2.0))
    b = kind().fit(twice, np.repeat(y, 2))
    np.testing.assert_allclose(a.novelty(X), b.novelty(X), atol=1e-9)


def test_a_row_that_no_class_can_have_is_the_newest():
    rows = RowLikelihoods(np.log([[0.5, 0.5], [0.2, 0.2]]), np.ones(2))
    scores = TypicalityScores.of(np.array([0, 1]), rows, np.array([0, 1]), np.ones(2))
    never = RowLikelihoods(np.full((1, 2), -np.inf), np.ones(1))
    assert scores.novelty(never) == pytest.approx(1 / 3)


# ---------------------------------------------------------------------- learning on, files


def test_models_that_are_merged_know_what_both_have_seen():
    (X, y), (Z, w) = table(400, 12), table(400, 13)
    Z = {**Z, "vowel": np.full(400, "u", dtype=object)}
    a, b = NaiveBayes().fit(X, y), NaiveBayes().fit(Z, w)
    row = {"x": [0.1], "z": [0.3], "vowel": ["u"]}
    assert a.novelty(row)[0] < 0.02
    assert (a + b).novelty(row)[0] > 0.1
    assert (a + b).model_.left_out.typicality.ranked.rows == 800
    a.partial_fit(Z, w)
    assert a.novelty(row)[0] > 0.1
    a.forget(X, y).decay(0.5)
    assert np.isfinite(a.novelty(row)).all()


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_a_file_keeps_what_is_usual(kind, tmp_path):
    X, y = table(300, 14)
    model = kind().fit(X, y)
    model.save(tmp_path / "m.deciban")
    assert np.array_equal(load(tmp_path / "m.deciban").novelty(X), model.novelty(X))


# ---------------------------------------------------------------------- decide, explain, report


def test_new_rows_get_no_answer_if_asked():
    X, y = table(900, 15)
    model = NaiveBayes().fit(X, y)
    rows = {"x": [0.1, 0.1], "z": [0.3, 0.3], "vowel": ["a", "w"]}
    assert model.decide(rows, novel=0.02).tolist() == ["p", None]
    assert model.decide(rows, novel=0.0).tolist() == ["p", model.predict(rows)[1]]
    assert model.decide(rows, abstain=0.0, novel=0.02).tolist() == [None, None]
    for novel in (-0.1, 1.1, "0.1", True, np.nan):
        with pytest.raises(ParameterError, match="novel must be a number from 0 to 1"):
            model.decide(rows, novel=novel)


def test_an_explanation_says_how_new_a_row_is():
    X, y = table(900, 16)
    model = NaiveBayes().fit(X, y)
    row = {"x": 0.1, "z": 0.3, "vowel": "w"}
    why = model.explain(row, novelty=True)
    share = 100 * (1 - model.novelty({name: [value] for name, value in row.items()})[0])
    assert f"unlike {share:.1f} % of what was learned" in str(why)
    assert "of what was learned" in why._repr_html_()
    assert why.to_dict()["novelty"] == why.novelty
    plain = model.explain(row)
    assert "learned" not in str(plain)
    assert "novelty" not in plain.to_dict()


def test_a_report_says_that_rows_are_new():
    X, y = table(900, 17)
    model = NaiveBayes().fit(X, y)
    same, labels = table(400, 18)
    kinds = [c.kind for c in report(model, same, labels, bootstrap=0).cautions]
    assert "new rows" not in kinds
    moved = {**same, "x": same["x"] + 6.0}
    kinds = [c.kind for c in report(model, moved, labels, bootstrap=0).cautions]
    assert "new rows" in kinds


def test_models_that_do_not_know_what_is_usual_say_so():
    X, y = table(60, 19)
    with pytest.raises(InputError, match=r"calibrate=True"):
        NaiveBayes(calibrate=False).fit(X, y).novelty(X)
    bell = GaussianNB(shared_variance=True).fit([[-1.0], [0.0], [1.0]], ["a", "a", "b"])
    with pytest.raises(InputError, match=r"does not know how likely the rows are"):
        LogisticRegression.from_gaussian(bell).explain([0.0], novelty=True)


def test_an_ensemble_judges_texts_by_the_counts_of_their_words(tmp_path):
    T, y = texts(400, 21)
    model, peer = BayesClassifier().fit(T, y), NaiveBayes().fit(T, y)
    new = ["zebra quagga okapi gnu", T[0], T[1]]
    own, theirs = (m.model_.row_likelihoods(batch_of(m, new)) for m in (model, peer))
    assert np.array_equal(own.log_likelihood, theirs.log_likelihood)
    assert np.array_equal(own.size, theirs.size)
    assert model.novelty(new)[0] < 0.01 < model.novelty(new)[1:].min()
    model.save(tmp_path / "m.deciban")
    assert np.array_equal(load(tmp_path / "m.deciban").novelty(new), model.novelty(new))


def test_texts_and_other_columns_make_a_row_likely_together():
    (X, y), (T, _) = table(300, 22), texts(300, 23)
    rows = {**X, "text": T}
    model = BayesClassifier().fit(rows, y)
    parts = BayesClassifier().fit(X, y), NaiveBayes().fit({"text": T}, y)
    plain, words = (
        m.model_.row_likelihoods(batch_of(m, x))
        for m, x in zip(parts, (X, {"text": T}), strict=True)
    )
    whole = model.model_.row_likelihoods(batch_of(model, rows))
    np.testing.assert_allclose(
        whole.log_likelihood, plain.log_likelihood + words.log_likelihood, rtol=1e-12
    )
    assert np.array_equal(whole.size, plain.size + words.size)
    moved = {**rows, "text": ["zebra quagga okapi gnu"] * 300}
    assert np.median(model.novelty(moved)) < np.median(model.novelty(rows)) / 3


def test_a_group_of_texts_is_new_to_itself():
    T, y = texts(200, 24)
    T = [*T, *["zebra quagga okapi gnu"] * 20]
    y, groups = [*y, *y[:20]], [*range(200), *[-1] * 20]
    alone, together = (BayesClassifier().fit(T, y, groups=g) for g in (None, groups))
    half_new = ["yak ibex red green"]
    assert alone.novelty(half_new) < 0.01
    assert together.novelty(half_new) > 20 / 221


def test_the_command_writes_novelty_and_abstains(tmp_path):
    path, rows = tmp_path / "m.deciban", tmp_path / "rows.csv"
    done("train", FRUIT, "--target", "fruit", "-o", path, "--quiet")
    rows.write_text(
        "id,grams,colour,ripe,picked\n1,103.3,red,true,2025-08-02\n2,9e9,green,true,2031-01-01\n"
    )
    head, usual, new = done("predict", path, rows, "--novelty").splitlines()
    assert head.endswith(",p_plum,novelty")
    assert float(new.rpartition(",")[2]) < 0.02 < float(usual.rpartition(",")[2])
    out = tmp_path / "out.csv"
    facts = json.loads(done("predict", path, rows, "--novel", 0.02, "-o", out, "--json"))
    assert facts["abstained"] == 1
    assert [line.split(",")[0] for line in out.read_text().splitlines()[1:]][1] == ""
    assert "of what was learned" in done("explain", path, rows, "--novelty")
