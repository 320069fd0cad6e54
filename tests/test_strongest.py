"""The strongest words and values for a class, stop words, and texts without some words."""

import json

import numpy as np
import pytest

from commands import done
from deciban import AODE, BayesClassifier, NaiveBayes, load
from deciban.errors import InputError, ParameterError
from deciban.report import report
from deciban.text import Tokenizer
from deciban.text.stop_words import STOP_WORDS
from reported import mixed, texts

SPAM = ["free prize now", "claim the free prize", "free money today", "win a prize today"]
HAM = ["see you at lunch", "lunch is at noon today", "the minutes are here", "see the minutes now"]
SAID, LABELS = (SPAM + HAM) * 5, (["spam"] * 4 + ["ham"] * 4) * 5


def fitted(**options):
    return NaiveBayes(**options).fit(SAID, LABELS)


@pytest.mark.parametrize("text", ["auto", "multinomial", "binary", "complement"])
def test_a_word_says_what_it_says_alone_in_a_text(text):
    model = fitted(text=text)
    words = model.words("spam", 100, min_texts=1)
    assert [w.decibans for w in words] == sorted((w.decibans for w in words), reverse=True)
    assert {"free", "prize"} <= {w.value for w in words[:3]}
    for word in words:
        why = model.explain(word.value, "ham")
        assert word.decibans == pytest.approx(why.terms[0].decibans)


def test_words_of_a_phrase_model():
    model = BayesClassifier(tokenizer=Tokenizer(ngrams=(1, 2))).fit(SAID, LABELS)
    words = model.words("spam", 3)
    assert "prize" in words[0].value or "free" in words[0].value
    assert words[0].rows is None
    assert (
        words[0].decibans == pytest.approx(model.explain(words[0].value, "ham").terms[0].decibans)
        or " " in words[0].value
    )


def test_how_often_a_word_was_counted_is_said_and_rare_ones_are_left_out():
    rows = {w.value: (w.rows, w.others) for w in fitted().words("spam", 100, min_texts=1)}
    assert rows["free"] == (15.0, 0.0)
    often = NaiveBayes().fit([*SAID, "hapax"], [*LABELS, "spam"])
    assert "hapax" not in {w.value for w in often.words("spam", 100)}
    assert "hapax" in {w.value for w in often.words("spam", 100, min_texts=1)}


def test_one_of_several_texts_and_one_class_against_another():
    rows = {"title": SAID, "body": SAID[::-1], "y": LABELS}
    model = NaiveBayes(kinds={"title": "text", "body": "text"}).fit(rows, target="y")
    assert {w.column for w in model.words("spam", 50)} == {"title", "body"}
    assert {w.column for w in model.words("spam", 50, column="body")} == {"body"}
    three = NaiveBayes().fit([*SAID, *["lunch prize"] * 5], [*LABELS, *["odd"] * 5])
    from_spam = three.words("odd", 99, against="spam", min_texts=1).to_dict()
    from_ham = three.words("odd", 99, against="ham", min_texts=1).to_dict()
    assert from_spam["lunch"] > from_ham["lunch"] > 0
    assert from_ham["prize"] > from_spam["prize"]
    assert set(from_ham) == set(from_spam) == {"lunch", "prize"}  # no text of it had another word


def test_what_is_wrong_is_said():
    with pytest.raises(InputError, match="unknown class 'eggs'"):
        fitted().words("eggs")
    with pytest.raises(InputError, match="no class is named"):
        fitted().words(None)
    with pytest.raises(ParameterError, match="n must be"):
        fitted().words("spam", 0)
    with pytest.raises(InputError, match="no column of text"):
        NaiveBayes().fit({"x": ["a", "b"]}, [0, 1]).words(0)
    with pytest.raises(InputError, match="nothing"):
        fitted().words("spam", column="nothing")
    with pytest.raises(InputError, match="buckets"):
        fitted(tokenizer=Tokenizer(buckets=64)).words("spam")


def test_they_are_shown():
    words = fitted().words("spam")
    assert "rows of spam, of others" in str(words)
    assert "The strongest words for spam" in words._repr_html_()
    assert words.chart().to_dict()
    assert words.to_dict()["free"] == next(w.decibans for w in words if w.value == "free")


def test_the_report_draws_the_words_of_each_class():
    model, rows = texts()
    page = report(model, rows, bootstrap=0)
    names = [figure.name for figure in page.figures]
    assert {"words-1-1", "words-1-2"} <= set(names)
    assert "Words of text that speak for spam" in page.html()


@pytest.mark.parametrize("kind", [NaiveBayes, AODE, BayesClassifier])
def test_the_command_lists_words_and_values_of_any_model(kind, tmp_path):
    model, _ = mixed(kind)
    path = tmp_path / "m.deciban"
    model.save(path)
    facts = json.loads(done("words", str(path), "--json", "-n", "4"))
    assert [one["class"] for one in facts["classes"]] == [str(c) for c in model.classes_]
    for one in facts["classes"]:
        assert 0 < len(one["strongest"]) <= 4
        assert all(v["rows"] is None or v["rows"] + v["others"] >= 3 for v in one["strongest"])


def test_the_command_lists_words(tmp_path):
    path = tmp_path / "m.deciban"
    fitted().save(path)
    shown = done("words", str(path), "--class", "spam", "-n", "2")
    assert "The strongest words for spam" in shown
    assert "ham" not in shown
    assert len(shown.strip().splitlines()) == 4


# ---------------------------------------------------------------------- stop words


def test_stop_words_by_language_or_as_given():
    model = fitted(stop_words="english")
    known = {w.value for c in ("spam", "ham") for w in model.words(c, 100, min_texts=1)}
    assert not known & set(STOP_WORDS["english"])
    assert {"free", "minutes"} <= known
    assert fitted(stop_words=["free"]).model_.tokenizer.stop_words == ("free",)
    both = fitted(stop_words=["free"], tokenizer=Tokenizer("words", stop_words="english"))
    assert {"free", "the"} <= set(both.model_.tokenizer.stop_words)
    chinese = Tokenizer(stop_words="chinese")
    assert chinese.tokens("这里的菜不好吃") == [
        "里",
        "里菜",
        "菜",
        "菜不",
        "不",
        "不好",
        "好",
        "好吃",
        "吃",
    ]
    for language in STOP_WORDS.values():
        assert not {"not", "no", "不", "没"} & set(language)


@pytest.mark.parametrize("wrong", ["klingon", 3, ["a", 4]])
def test_stop_words_that_are_none(wrong):
    with pytest.raises(ParameterError, match="stop_words must be words"):
        fitted(stop_words=wrong)


def test_stop_words_are_kept_in_files(tmp_path):
    model = fitted(stop_words="english")
    model.save(tmp_path / "m.deciban")
    again = load(tmp_path / "m.deciban")
    assert again.get_params()["stop_words"] == "english"
    assert again.partial_fit(SAID, LABELS).model_.tokenizer == model.model_.tokenizer
    np.testing.assert_array_equal(again.predict(SAID), model.predict(SAID))


@pytest.mark.parametrize("text", ["我们的家", "这 里 的 菜", "我们 你好"])
def test_words_that_are_shown_are_words_that_are_counted(text):
    rule = Tokenizer(stop_words=("的", "我们"))
    assert {token for _, _, token in rule.spans(text)} <= set(rule.tokens(text))
    assert ("我们" in rule.tokens(text)) == ("我们" in {t for _, _, t in rule.spans(text)})


# ---------------------------------------------------------------------- texts without some words


@pytest.mark.parametrize("make", [NaiveBayes, BayesClassifier])
def test_which_words_to_take_out_for_another_answer(make):
    model = make().fit(SAID, LABELS)
    text = "Free prize at lunch, free!"
    other = model.counterfactual(text)
    assert other.answer == "spam"
    assert other.new_answer == "ham"
    assert all(change.removes and change.feature == "text" for change in other.changes)
    gone = {change.before for change in other.changes}
    left = " ".join(w for w in text.split() if w.lower().strip(",!") not in gone)
    assert model.predict([left]) == ["ham"]
    assert model.predict_proba([left])[0][0] == pytest.approx(other.probability_after)
    # None of the words would have been enough without another of them.
    for word in gone if len(gone) > 1 else ():
        fewer = " ".join(w for w in text.split() if w.lower().strip(",!") not in gone - {word})
        assert model.predict([fewer]) == ["spam"]


def test_words_and_values_may_both_change_and_texts_may_be_fixed():
    rows = {"text": SAID, "size": (["S"] * 4 + ["L"] * 4) * 5, "y": LABELS}
    model = NaiveBayes(kinds={"text": "text"}).fit(rows, target="y")
    row = {"text": "free prize", "size": "S"}
    changes = model.counterfactual(row).changes
    assert {change.feature for change in changes} <= {"text", "size"}
    fixed = model.counterfactual(row, fixed=["text"])
    assert fixed is None or [change.feature for change in fixed.changes] == ["size"]
    only = model.counterfactual(row, fixed=["size"])
    assert only is None or {change.feature for change in only.changes} == {"text"}
    assert "text: without" in str(only or model.counterfactual(row))


def test_a_text_of_unknown_words_cannot_be_turned():
    assert fitted().counterfactual("zzz yyy") is None
