"""What training did not have is counted, in every way to ask, and marked where it is explained."""

import copy
import json
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from commands import done, run
from deciban import AODE, BayesClassifier, NaiveBayes, evaluate, load
from deciban.encoding.unseen import NOTHING_UNSEEN, Unseen, UnseenValues
from deciban.errors import DecibanError
from deciban.naive_bayes import CategoricalNB, GaussianNB
from deciban.report import report
from deciban.sources import scan

MODELS = {make.__name__: make for make in (NaiveBayes, AODE, BayesClassifier)}
TABLE = pd.DataFrame(
    {
        "city": ["Bonn", "Ulm", "Bonn", "Köln"] * 30,
        "age": [20.0, 30.0, 40.0, 50.0] * 30,
        "member": [True, False, True, True] * 30,
        "note": ["a good day", "one bad day", "good and fine", "bad and sad"] * 30,
        "when": pd.date_range("2024-01-01 10:00", periods=120, freq="7D"),
    }
)
LABELS = ["a", "b", "a", "b"] * 30
KINDS = {"note": "text"}
ROW = TABLE.to_dict("records")[0]
NEW = {**ROW, "city": "Trier"}


@pytest.fixture(scope="module", params=MODELS)
def model(request):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("warnings.warn", lambda *_, **__: None)  # AODE counts no text
        return MODELS[request.param](kinds=KINDS).fit(TABLE.assign(y=LABELS), target="y")


ASKING = {
    "predict": lambda m, rows: m.predict(rows),
    "predict_proba": lambda m, rows: m.predict_proba(rows),
    "predict_log_proba": lambda m, rows: m.predict_log_proba(rows),
    "predict_joint_log_proba": lambda m, rows: m.predict_joint_log_proba(rows),
    "decide": lambda m, rows: m.decide(rows),
    "evidence": lambda m, rows: m.evidence(rows),
    "explain_rows": lambda m, rows: m.explain_rows(rows),
    "explain": lambda m, rows: m.explain(rows.to_dict("records")[-1]),
    "evaluate": lambda m, rows: evaluate(m, rows, LABELS[: len(rows)], bootstrap=0),
}


@pytest.mark.parametrize("ask", ASKING.values(), ids=ASKING)
def test_each_call_counts_anew(model, ask):
    ask(model, pd.DataFrame([ROW, NEW]))
    assert dict(model.unseen_) == {"city": UnseenValues(1, ("Trier",), "never seen")}
    ask(model, pd.DataFrame([ROW, ROW]))
    assert not model.unseen_
    assert model.unseen_ == NOTHING_UNSEEN


def test_neither_a_number_out_of_range_nor_a_word_nor_an_hour_is_unseen(model):
    far = {**ROW, "age": 1e6, "note": "never heard", "when": pd.Timestamp("2031-05-07 23:00")}
    model.predict([far])
    assert not model.unseen_


def test_a_fitted_model_has_seen_nothing_yet_and_one_that_is_not_says_so():
    assert not NaiveBayes().fit(TABLE[["city"]], LABELS).unseen_
    for make in (*MODELS.values(), CategoricalNB):
        with pytest.raises(ValueError, match="not fitted"):
            _ = make().unseen_


def test_examples_are_the_first_values_whatever_the_batches():
    model = NaiveBayes().fit(TABLE[["city"]], LABELS)
    cities = ["Bonn", "Trier", "Trier", "Ulm", "Aachen", "Trier", "Mainz", "Jena", "Aachen"] * 4
    expected = {"city": UnseenValues(28, ("Trier", "Aachen", "Mainz"), "never seen")}
    for rows in (1, 2, 3, 7, 100):
        model.predict(scan({"city": cities}, rows=rows))
        assert dict(model.unseen_) == expected


def test_examples_of_two_reasons_are_in_the_order_of_the_rows():
    model = NaiveBayes(kinds={"zone": "categorical"}).fit(
        {"zone": [1, 2, 1, 2] * 9}, list("abab") * 9
    )
    zones = ["1", "x", "7", "2", "y", "8", "9"]
    for rows in (1, 2, 3, 100):
        model.predict(scan({"zone": zones}, rows=rows))
        assert model.unseen_["zone"].count == 5
        assert tuple(map(str, model.unseen_["zone"].examples)) == ("x", "7", "y")


def test_it_is_read_aloud():
    unseen = Unseen(
        {"x": UnseenValues(1, ("XL",)), "n": UnseenValues(2000, (1, 2), "not a number")}
    )
    assert repr(unseen) == "x: 1 value never seen: 'XL'\nn: 2,000 values not a number, such as 1, 2"
    assert repr(NOTHING_UNSEEN) == "no value was unseen"
    assert (unseen + unseen)["x"] == UnseenValues(2, ("XL",))


def test_it_is_no_part_of_files_copies_or_parameters(tmp_path):
    model = NaiveBayes().fit(TABLE[["city"]], LABELS)
    model.save(tmp_path / "one.deciban")
    model.predict({"city": ["Trier"]})
    model.save(tmp_path / "other.deciban")
    one, other = ((tmp_path / f"{name}.deciban").read_bytes() for name in ("one", "other"))
    assert one == other
    assert not load(tmp_path / "other.deciban").unseen_
    assert "unseen" not in " ".join(model.get_params())
    assert not (model + model).unseen_
    assert "_unseen" not in vars(clone(model))
    assert pickle.loads(pickle.dumps(model)).unseen_ == copy.deepcopy(model).unseen_


def test_a_failed_update_leaves_it():
    model = NaiveBayes().fit(TABLE[["city", "age"]], LABELS)
    model.predict({"city": ["Trier"], "age": [1]})
    with pytest.raises(DecibanError):
        model.partial_fit({"city": ["Bonn"], "age": ["old"]}, ["a"])
    assert list(model.unseen_) == ["city"]


def test_threads_that_predict_at_once_mix_nothing():
    model = NaiveBayes().fit(TABLE[["city"]], LABELS)
    rows = [{"city": ["Trier"] * n} for n in range(1, 9)]
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(model.predict_proba, rows * 20))
    assert [len(answer) for answer in answers] == list(range(1, 9)) * 20
    assert model.unseen_["city"].count in range(1, 9)


def test_an_explanation_marks_it(model):
    terms = {term.feature: term for term in model.explain({**NEW, "age": "old"}).terms}
    assert (terms["city"].unseen, terms["city"].value) == ("never seen", "Trier")
    assert (terms["age"].unseen, terms["age"].value) == ("not a number", "old")
    assert not terms["member"].unseen
    why = model.explain_rows(pd.DataFrame([ROW, NEW]))
    assert [term.unseen for term in why[0].terms if term.unseen] == []
    assert [term.unseen for term in why[1].terms if term.unseen] == ["never seen"]
    shown = str(why[1])
    assert "city = Trier (never seen)" in shown
    assert "(never seen)" in why[1]._repr_html_()
    assert "(never seen)" in json.dumps(why[1].chart().to_dict())
    assert [t.get("unseen") for t in why[1].to_dict()["terms"] if "unseen" in t] == ["never seen"]


def test_rows_are_marked_across_batches():
    model = NaiveBayes().fit(TABLE[["city"]], LABELS)
    cities = ["Bonn", "Trier", "Ulm", "Jena", "Bonn"]
    why = model.explain_rows(scan({"city": cities}, rows=2))
    assert [bool(one.terms[0].unseen) for one in why] == [False, True, False, True, False]


def test_categories_of_a_drop_in():
    model = CategoricalNB().fit([["S", "red"], ["M", "blue"], ["M", "red"]], list("aba"))
    for ask in (model.predict, model.predict_proba, model.explain_rows):
        ask(np.array([["S", "pink"], ["XL", "red"], ["M", "pink"]], dtype=object))
        assert dict(model.unseen_) == {
            "x0": UnseenValues(1, ("XL",), "never seen"),
            "x1": UnseenValues(2, ("pink",), "never seen"),
        }
        ask(np.array([["S", "red"]], dtype=object))
        assert not model.unseen_
    assert model.explain(["XL", "red"]).terms[0].unseen == "never seen"
    coded = CategoricalNB().fit([[0, 1], [1, 2]], [0, 1])
    coded.predict([[0, 3], [7, 1]])
    assert {name: values.examples for name, values in coded.unseen_.items()} == {
        "x0": (7,), "x1": (3,),
    }  # fmt: skip
    assert not hasattr(GaussianNB().fit([[0.0], [1.0]], [0, 1]), "unseen_")


# The commands


@pytest.fixture
def files(tmp_path):
    NaiveBayes(kinds=KINDS).fit(TABLE.assign(y=LABELS), target="y").save(tmp_path / "m.deciban")
    rows = TABLE.head(8).astype({"city": object}).assign(y=LABELS[:8])
    rows.loc[3:5, "city"] = "Trier"
    rows.to_csv(tmp_path / "t.csv", index=False)
    return tmp_path / "m.deciban", tmp_path / "t.csv"


WARNING = "warning: column 'city' has 3 values never seen, such as 'Trier'.\n"


def test_predict_warns_and_tells_machines(files, tmp_path):
    ended = run("predict", *files)
    assert (ended.code, ended.err) == (0, WARNING)
    ended = run("predict", *files, "-o", tmp_path / "out.csv", "--json", "--quiet")
    assert ended.err == WARNING
    assert json.loads(ended.out)["unseen"] == {
        "city": {"count": 3, "examples": ["Trier"], "reason": "never seen"}
    }


def test_evaluate_and_compare_warn_once(files):
    model, rows = files
    assert run("evaluate", model, rows, "--bootstrap", "0").err == WARNING
    other = model.with_name("other.deciban")
    other.write_bytes(model.read_bytes())
    assert run("compare", model, other, rows, "--bootstrap", "0").err == WARNING


def test_explain_marks_it(files):
    assert "city = Trier (never seen)" in done("explain", *files, "--limit", "4")


def test_the_report_is_careful_about_it(files):
    model, path = load(files[0]), files[1]
    page = report(model, path, bootstrap=0)
    texts = {caution.what: caution.text for caution in page.cautions if caution.kind == "unseen"}
    assert list(texts) == ["city"]
    assert "3 values never seen, such as &#39;Trier&#39;" in page.html()
