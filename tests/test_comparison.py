"""Models on the same rows: paired differences."""

import json

import numpy as np
import pytest

from commands import FRUIT, done, run
from deciban import NaiveBayes, compare, evaluate
from deciban.errors import ParameterError
from mixed import table


def models(n=150):
    X, y = table(n)
    every = NaiveBayes().fit(X, y)
    some = NaiveBayes(kinds={"height": "identifier", "age": "identifier"}).fit(X, y)
    return {"every": every, "some": some}, X, y


def test_differences_are_those_of_the_figures():
    found, X, y = models()
    c = compare(found, X, y, loss={("ham", "spam"): 3})
    for name, model in found.items():
        e = evaluate(model, X, y, loss={("ham", "spam"): 3}, bootstrap=0)
        for measure in ("log_loss", "accuracy", "realised_cost"):
            assert c.figures[name][measure] == pytest.approx(getattr(e, measure))
    gain = c.difference("every", "some", "log_loss")
    assert gain.advantage == pytest.approx(
        c.figures["some"]["log_loss"] - c.figures["every"]["log_loss"]
    )
    assert gain.interval[0] <= gain.advantage <= gain.interval[1]
    assert gain.better == "every"
    back = c.difference("some", "every", "log_loss")
    assert back.interval == (-gain.interval[1], -gain.interval[0])
    assert back.better == "every"
    assert str(back) == str(gain)


def test_pairing_tells_apart_what_two_intervals_cannot():
    rng = np.random.default_rng(0)
    p = rng.uniform(0.5, 1.0, 400)
    y = (rng.random(400) < p).astype(int)

    class Said:
        classes_ = np.array([0, 1])

        def __init__(self, p):
            self.p = p

        def predict_proba(self, X):
            return np.stack([1 - self.p, self.p], axis=1)

    wild = Said(1 / (1 + np.exp(-np.log(p / (1.000001 - p)) * 1.6)))
    both = {"calm": Said(p), "wild": wild}
    ends = [evaluate(m, p, y).interval("log_loss") for m in both.values()]
    assert ends[0][1] > ends[1][0]  # they overlap
    assert compare(both, p, y).difference("calm", "wild").better == "calm"


def test_a_model_cannot_be_told_from_itself():
    found, X, y = models()
    c = compare([found["every"], found["every"]], X, y)
    assert list(c.figures) == ["NaiveBayes 1", "NaiveBayes 2"]
    assert all(d.better is None and d.advantage == 0 for d in c.differences)
    assert "cannot be told apart" in str(c)
    assert json.loads(json.dumps(c.to_dict()))["differences"][0]["better"] is None
    assert c._repr_html_().count("<table>") == 2


def test_three_models_are_three_pairs():
    found, X, y = models()
    c = compare({**found, "again": found["some"]}, X, y, bootstrap=20)
    assert [(d.first, d.second) for d in c.differences[::3]] == [
        ("every", "some"), ("every", "again"), ("some", "again"),
    ]  # fmt: skip


@pytest.mark.parametrize("wrong", [[], {}, "ab", None])
def test_one_model_is_no_comparison(wrong):
    with pytest.raises(ParameterError, match="two or more models"):
        compare(wrong, [[1]], [1])


def test_an_unknown_pair():
    found, X, y = models()
    with pytest.raises(ParameterError, match="no log_loss of 'every' against 'x'"):
        compare(found, X, y, bootstrap=0).difference("every", "x")


# ---------------------------------------------------------------------- the commands


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    a, b = folder / "a.deciban", folder / "b.deciban"
    done("train", FRUIT, "-t", "fruit", "-o", a, "-q")
    done("train", FRUIT, "-t", "fruit", "-o", b, "-q", "--kind", "grams=identifier")
    return a, b


def test_evaluate_says_what_the_library_says(files, tmp_path):
    facts = json.loads(done("evaluate", files[0], FRUIT, "--json", "--bootstrap", "50"))
    m = NaiveBayes().fit(str(FRUIT), target="fruit")
    e = evaluate(m, str(FRUIT), bootstrap=50)
    for name, value in e.to_dict().items():
        assert facts[name] == (pytest.approx(value) if isinstance(value, float) else value)
    left = json.loads(done("evaluate", files[0], FRUIT, "--json", "--leave-one-out"))
    assert left["log_loss"]["value"] == pytest.approx(evaluate(m).log_loss)
    costs = tmp_path / "costs.csv"
    costs.write_text("answer,apple,plum\napple,0,9\nplum,1,0\n")
    dear = json.loads(done("evaluate", files[0], FRUIT, "--json", "--loss", costs))
    loss = {("apple", "plum"): 9}
    assert dear["realised_cost"]["value"] == evaluate(m, str(FRUIT), loss=loss).realised_cost


def test_compare_says_what_the_library_says(files):
    facts = json.loads(done("compare", *files, FRUIT, "--json"))
    assert facts["differences"][0]["better"] == "a"
    again = json.loads(done("compare", *files, "-", "--json", stdin=FRUIT.read_bytes()))
    assert again["differences"] == facts["differences"]
    assert "a is better than b by" in done("compare", *files, FRUIT)


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("evaluate", "{a}", "{f}", "--target", "friut"), 1, "perhaps 'fruit' was meant"),
        (("evaluate", "{a}", "{f}", "--bootstrap", "-1"), 2, "--bootstrap"),
        (("evaluate", "{a}", "{f}", "--abstain", "-1"), 1, "abstain must be"),
        (("evaluate", "{a}", "nothing.csv"), 1, "does not exist"),
        (("compare", "{a}", "{f}"), 2, "two or more models"),
        (("compare", "{a}", "{b}"), 2, "no data"),
    ],
)
def test_mistakes_are_one_line(files, arguments, code, said):
    names = {"a": files[0], "b": files[1], "f": FRUIT}
    ended = run(*(argument.format(**names) for argument in arguments))
    assert (ended.code, ended.out) == (code, "")
    assert said in ended.err
    assert ended.err.count("\n") == 1
