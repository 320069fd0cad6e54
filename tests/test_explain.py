"""Explanations add up to the posterior that is shown, for every model class."""

import json
import math
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError

from deciban import NaiveBayes
from deciban.errors import InputError, ShapeError
from deciban.explanation import DECIBANS, Explanation, Part, Term, terminal
from deciban.models.protocol import WordContribution
from deciban.naive_bayes import GaussianNB, MultinomialNB
from deciban.naive_bayes.model import NaiveBayesModel
from explainable import MODELS, fields_of

each = pytest.mark.parametrize("name", MODELS)
few = settings(max_examples=3, deadline=None, derandomize=True)


@each
@given(classes=st.integers(2, 3), seed=st.integers(0, 99), row=st.integers(0, 39))
@few
def test_prior_and_terms_add_up_to_the_odds_shown(name, classes, seed, row):
    model, rows = MODELS[name](classes, seed)
    why = model.explain(rows[row])
    proba = model.predict_proba(rows[row : row + 1])[0]
    by_label = dict(zip(model.classes_.tolist(), proba.tolist(), strict=True))
    assert why.answer == model.predict(rows[row : row + 1])[0]
    assert why.probability == pytest.approx(by_label[why.answer], abs=1e-9)
    ordered = sorted(proba, reverse=True)
    assert by_label[why.runner_up] == pytest.approx(ordered[1], abs=1e-12)
    odds = 10 * math.log10(by_label[why.answer] / by_label[why.runner_up])
    assert why.total == pytest.approx(odds, abs=1e-9)
    assert why.prior + math.fsum(t.decibans for t in why.terms) == pytest.approx(odds, abs=1e-9)
    for label, rebuilt in why.posterior().items():
        assert rebuilt == pytest.approx(by_label[label], abs=1e-9)


@each
def test_many_rows_are_explained_as_each_alone(name):
    model, rows = MODELS[name](3)
    found = model.explain_rows(rows)
    assert len(found) == len(rows)
    np.testing.assert_allclose(found.prior + found.decibans.sum(axis=1), found.total)
    for i in (0, 7, -1):
        alone = model.explain(rows[i])
        assert found[i].total == pytest.approx(alone.total, abs=1e-9)
        assert [t.feature for t in found[i].terms] == [t.feature for t in alone.terms]
        assert (found[i].answer, found[i].runner_up) == (alone.answer, alone.runner_up)
    assert found[1:3][1].total == found[2].total
    with pytest.raises(IndexError):
        found[len(rows)]


@each
def test_another_class_to_compare_with(name):
    model, rows = MODELS[name](3)
    plain = model.explain(rows[0])
    third = next(c for c in plain.classes if c not in (plain.answer, plain.runner_up))
    why = model.explain(rows[0], against=third)
    shares = dict(zip(why.classes, why.probabilities, strict=True))
    assert why.runner_up == third
    assert why.total == pytest.approx(10 * math.log10(shares[why.answer] / shares[third]), abs=1e-8)
    with pytest.raises(InputError, match="unknown class 'nobody'"):
        model.explain(rows[0], against="nobody")


def test_rows_in_every_form_say_the_same():
    import pandas as pd
    import polars as pl

    X = {"size": ["S", "S", "L", "L"], "age": [1.0, 2.0, 8.0, 9.0]}
    model = NaiveBayes().fit(X, ["a", "a", "b", "b"])
    row = {"size": "L", "age": 8.0}
    frames = [pd.DataFrame([row]), pl.DataFrame([row])]
    same = [row, ["L", 8.0], [row], {"size": ["L"], "age": [8.0]}, *frames]
    assert {model.explain(form).total for form in same} == {model.explain(row).total}
    values = {term.feature: term.value for term in model.explain({"size": "L"}).terms}
    assert values == {"size": "L", "age": None}
    named = GaussianNB().fit(pd.DataFrame({"u": [1.0, 2, 8, 9], "v": [0.0, 1, 0, 1]}), [0, 0, 1, 1])
    assert named.explain({"u": 2.0, "v": 1.0}).total == named.explain([2.0, 1.0]).total


def test_times_may_be_written_as_text():
    import datetime

    X = {"day": [datetime.date(2024, 1, d) for d in range(1, 25)]}
    model = NaiveBayes(calibrate=False).fit(X, ["a"] * 12 + ["b"] * 12)
    assert model.explain({"day": "2024-01-20"}).answer == "b"
    (term,) = model.explain({"day": "soon"}).terms
    assert (term.value, term.unseen, term.decibans) == ("soon", "not a date", 0.0)


@pytest.mark.parametrize(
    ("row", "error", "message"),
    [
        ({"siez": "S"}, InputError, "no column 'siez'.*perhaps 'size'"),
        (["S"], ShapeError, "1 values, the model 2 features"),
        ({"size": ["S", "L"], "age": 1}, ShapeError, "'size' has 2 values"),
        ("S", InputError, "which of 2 columns"),
        (3, InputError, "a row is needed, got int"),
    ],
)
def test_bad_rows(row, error, message):
    model = NaiveBayes().fit({"size": ["S", "S", "L"], "age": [1.0, 2, 3]}, ["a", "a", "b"])
    with pytest.raises(error, match=message):
        model.explain(row)


@pytest.mark.parametrize("call", ["explain", "counterfactual", "explain_rows", "curve"])
def test_nothing_before_fit(call):
    for model in (NaiveBayes(), GaussianNB()):
        with pytest.raises(NotFittedError):
            getattr(model, call)({"x": 1})
        for method in (model.importance, model.nomogram):
            with pytest.raises(NotFittedError):
                method()


def test_what_excludes_a_class_is_infinite():
    model = MultinomialNB(alpha=0).fit([[1, 0], [0, 1], [0, 1]], ["a", "b", "b"])
    sure = model.explain([3.0, 0.0])
    assert (sure.answer, sure.total, sure.probability) == ("a", math.inf, 1.0)
    torn = model.explain([1.0, 1.0])
    assert torn.total == pytest.approx(10 * math.log10(2))
    assert json.loads(sure.to_json())["total"] is None
    assert "∞" in str(sure)


def test_sparse_rows_are_explained_one_by_one():
    from scipy import sparse

    X = sparse.csr_array([[2.0, 1.0], [0.0, 3.0]])
    model = MultinomialNB().fit(X, ["spam", "ham"])
    assert model.explain(X[[0]]).total == model.explain([2.0, 1.0]).total
    with pytest.raises(InputError, match="sparse rows are not explained all at once"):
        model.explain_rows(X)


def test_one_class_needs_no_reasons():
    why = NaiveBayes().fit({"x": ["S", "L"]}, ["a", "a"]).explain({"x": "S"})
    assert (why.answer, why.runner_up, why.total, why.probability) == ("a", None, 0.0, 1.0)
    assert str(why).startswith("a: 100.0 %")


def test_identifiers_are_not_among_the_terms():
    X = {"id": list(range(40)), "size": ["S", "L"] * 20}
    why = NaiveBayes().fit(X, ["a", "b"] * 20).explain({"id": 3, "size": "S"})
    assert [term.feature for term in why.terms] == ["size"]


def many_terms(value="x"):
    terms = tuple(Term(f"f{i}", value, 10.0 / (i + 1), (10.0 / (i + 1), 0.0)) for i in range(30))
    total = math.fsum(t.decibans for t in terms) - 3
    return Explanation("spam", "ham", -3.0, terms, total, 0.99, ("spam", "ham"))


def test_the_table_folds_what_is_small_and_still_adds_up():
    why = many_terms()
    lines = terminal.lines(why)
    assert sum(name.endswith("others") for name, _ in lines) == 1
    assert math.fsum(said for name, said in lines if name != "total") == pytest.approx(why.total)
    assert "15 others" in str(why)
    assert len(str(why).splitlines()) == 20
    strengths = [abs(said) for _, said in lines[:-2]]
    assert strengths == sorted(strengths, reverse=True)


def test_bars_point_to_both_sides():
    lines = {line.split("  ")[0]: line for line in str(many_terms()).splitlines()}
    assert "│▇" in lines["f0 = x"]
    assert "▇│" in lines["prior"]


def test_html_is_escaped_and_stands_alone():
    evil = '<script>alert("&")</script>'
    why = many_terms(evil)
    page = why._repr_html_()
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert not {"http", "src=", "<link"} & set(page.split('"'))
    parts = (Part("<b>", 0, 3, 4.0), Part("good", 4, 8, -2.0))
    term = Term("text", "<b> good", 2.0, (2.0, 0.0), parts)
    text = Explanation("spam", "ham", 0.0, (term,), 2.0, 0.6)
    page = text._repr_html_()
    assert "&lt;b&gt;</span>" in page
    assert 'title="-2.0 decibans"' in page
    assert str(text).splitlines()[-2:] == ["<b> good", "<b> +4.0   good -2.0"]


def test_words_are_listed_once_each_the_strongest_first():
    parts = tuple(Part(w, 0, 1, said) for w, said in [("a", 1.0), ("b", -1.5), ("a", 1.0)])
    parts += tuple(Part(f"w{i}", 0, 1, 0.5 if i < 20 else 0.01) for i in range(21))
    why = Explanation("x", "y", 0.0, (Term("t", "a b a", 2.0, (), parts),), 2.0, 0.6)
    listed = re.findall(r"\S+\s[+-]\S+", str(why).split("a b a\n")[1])
    assert listed[:3] == ["a +2.0", "b -1.5", "w0 +0.5"]
    assert len(listed) == terminal.MAX_LISTED_WORDS


def test_words_come_from_the_model():
    class Words(NaiveBayesModel):
        def word_contributions(self, column, text):
            return [WordContribution(text[0], 0, 1, np.array([1.0, 3.0]) / DECIBANS)]

    model = NaiveBayes(kinds={"x": "text"}).fit({"x": ["S", "S", "L"]}, ["a", "a", "b"])
    model.model_ = Words(**fields_of(model.model_))
    (term,) = model.explain({"x": "S"}).terms
    assert term.parts == (Part("S", 0, 1, -2.0),)


@pytest.mark.parametrize("text", ["multinomial", "binary", "complement", "auto"])
@pytest.mark.parametrize("classes", [2, 3])
def test_words_in_their_places_add_up_to_what_the_text_says(text, classes):
    model, rows = letters(text, classes)
    for row in rows[:5]:
        why = model.explain(row)
        term = next(term for term in why.terms if term.feature == "body")
        assert math.fsum(p.decibans for p in term.parts) == pytest.approx(term.decibans, abs=1e-9)
        assert all(term.value[p.start : p.stop] == p.text for p in term.parts)
        shares = dict(zip(why.classes, model.predict_proba([row])[0], strict=True))
        odds = 10 * math.log10(shares[why.answer] / shares[why.runner_up])
        assert why.total == pytest.approx(odds, abs=1e-9)
    alone = model.explain("a free cheap <b>lunch</b>")
    assert "<span" in alone._repr_html_()
    assert "<b>lunch" not in alone._repr_html_()
    assert model.importance()[0].feature == "body"
    with pytest.raises(InputError, match="'body' is a text"):
        model.nomogram()


def test_every_text_of_a_list_is_explained():
    texts = ["good film", "bad film", "nice good film", "bad bad thing"]
    model = NaiveBayes().fit(texts, ["p", "n", "p", "n"])
    for text, why in zip(texts, model.explain_rows(texts), strict=True):
        assert why == model.explain(text)
        assert why.terms[0].value == text


def letters(text, classes):
    """Texts of every class, beside a number that says nothing."""
    rng = np.random.default_rng(0)
    words = ["cheap pills now free offer", "lunch meeting report please", "sun rain wind snow"]
    y = np.arange(60) % classes
    bodies = [
        " ".join([*rng.choice(words[c].split(), 4), *rng.choice(["the", "of", "cheap", "rain"], 2)])
        for c in y
    ]
    bodies = [f"{body} nr{i}" for i, body in enumerate(bodies)]
    X = {"body": bodies, "n": rng.normal(size=60).round(1).tolist()}
    names = [["spam", "ham", "news"][c] for c in y]
    model = NaiveBayes(text=text).fit(X, names)
    return model, [{"body": b, "n": n} for b, n in zip(bodies, X["n"], strict=True)]


def test_json_has_everything():
    import datetime

    X = {"day": [datetime.date(2024, 1, d) for d in range(1, 25)], "n": list(range(24, 0, -1))}
    why = NaiveBayes().fit(X, ["a"] * 12 + ["b"] * 12).explain({"day": "2024-01-03", "n": 5})
    found = json.loads(why.to_json())
    assert found["terms"][0]["value"] == "2024-01-03"
    assert found["answer"] == "b"  # n, as counts, says more than the day
    total = found["prior"] + sum(term["decibans"] for term in found["terms"])
    assert total == pytest.approx(found["total"], abs=1e-9)
