"""What notebooks show: every result as HTML without a network, and bars for what takes long."""

import re
import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

from deciban import (
    AODE,
    BayesClassifier,
    LogisticRegression,
    NaiveBayes,
    compare,
    evaluate,
    progress,
)
from deciban.evaluation import measure_reliability
from deciban.naive_bayes import GaussianNB
from deciban.report import report
from reported import HOSTILE, hostile, logistic, mixed, texts

LOADED = re.compile(r"""<script[^>]*\ssrc=|<link|@import|\bsrc=["']?http|url\(["']?http""")


def plain(markup):
    """The words of some HTML."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", markup))


@pytest.fixture(scope="module")
def model():
    return mixed(NaiveBayes)


def results(model, rows):
    """Every public result of a model, by name."""
    X = {name: values for name, values in rows.items() if name != "y"}
    first = {name: values[0] for name, values in X.items()}
    column = model.importance()[0].feature
    return {
        "explanation": model.explain(first),
        "explanations": model.explain_rows(X),
        "importance": model.importance(),
        "curve": model.curve(column),
        "nomogram": model.nomogram(),
        "counterfactual": model.counterfactual(first),
        "schema": model.schema_,
        "choices": model.choices_,
        "unseen": model.unseen_,
        "evaluation": evaluate(model, rows, target="y", bootstrap=10),
        "comparison": compare([model, model], rows, target="y", bootstrap=10),
        "reliability": measure_reliability(model, X, rows["y"]),
        "report": report(model, rows, target="y", bootstrap=0),
        "estimator": model,
    }


def test_every_result_shows_itself_and_loads_nothing(model):
    shown = {name: result._repr_html_() for name, result in results(*model).items()}
    for name, markup in shown.items():
        assert len(markup) > 20, name
        assert not LOADED.search(markup), name
    for name in ("curve", "nomogram", "reliability"):
        assert shown[name].startswith("<svg"), name
    assert "more" in plain(shown["explanations"])
    assert "rows 240" in plain(shown["estimator"])
    assert "sandbox" in shown["report"]


def test_nothing_in_the_data_runs():
    model, rows = hostile()
    for name, result in results(model, rows).items():
        markup = result._repr_html_()
        assert HOSTILE not in markup, name


def test_other_results_show_themselves():
    model, _ = texts()
    assert model.words("spam")[0].value in model.words("spam")._repr_html_()
    markup = model.counts_._repr_html_()
    assert "counts of" in plain(markup)
    assert "spam" in plain(markup)
    e = model.evaluate(coverage=0.9, bootstrap=0)
    assert "sets that are to hold the class in 90 %" in plain(e.sets._repr_html_())
    thresholds = e.thresholds()
    assert f"{len(thresholds)} thresholds; least cost" in repr(thresholds)
    assert "false positive rate" in plain(thresholds._repr_html_())
    best, _ = mixed(BayesClassifier)
    assert "base learner" in best.report_._repr_html_()


@pytest.mark.parametrize("make", [
    lambda: mixed(NaiveBayes)[0], lambda: mixed(AODE)[0], lambda: mixed(BayesClassifier)[0],
    lambda: logistic()[0], lambda: GaussianNB().fit(np.eye(4), [0, 1, 0, 1]),
])  # fmt: skip
def test_every_estimator_says_what_it_learned(make):
    model = make()
    bundle = model._repr_mimebundle_()
    words = plain(bundle["text/html"])
    assert f"{len(model.classes_)} classes" in words
    assert f"{model.n_features_in_} columns" in words
    assert type(model).__name__ in words


@pytest.mark.parametrize("kind", [NaiveBayes, AODE, BayesClassifier, LogisticRegression])
def test_an_estimator_that_has_not_learned_shows_its_parameters(kind):
    words = plain(kind()._repr_mimebundle_()["text/html"])
    assert kind.__name__ in words
    assert "learned" not in words


def test_long_results_are_cut_with_a_count():
    X = {f"c{j}": [0.0, 1.0, 2.0, 3.0] for j in range(100)}
    model = NaiveBayes().fit(X, [0, 0, 1, 1])
    for result in (model.schema_, model.choices_, model.importance()):
        assert "and 40 more" in plain(result._repr_html_())
    many = NaiveBayes().fit({"x": [i / 2 for i in range(50)]}, [f"class {i}" for i in range(50)])
    assert "and 44 more" in plain(many._repr_html_())


def test_charts_need_no_network_unless_the_user_has_chosen_a_renderer(model):
    altair = pytest.importorskip("altair")
    charts = [
        model[0].plot.importance(),
        model[0].plot.nomogram(),
        model[0].curve(model[0].importance()[0].feature).chart(),
        model[0].explain({}).chart(),
    ]
    for chart in charts:
        assert chart._repr_mimebundle_()["text/html"].startswith("<svg")
        assert chart.to_dict()["$schema"]
    with altair.renderers.enable("html"):
        assert "vega" in str(charts[0]._repr_mimebundle_(None, None))


def test_without_charts_there_are_tables(model, monkeypatch):
    monkeypatch.setitem(sys.modules, "altair", None)
    column = model[0].importance()[0].feature
    for result in (model[0].curve(column), model[0].nomogram()):
        assert "<table>" in result._repr_html_()


# ---------------------------------------------------------------------- progress


class Handle:
    def __init__(self):
        self.shown = []

    def update(self, markup):
        self.shown.append(markup)


@pytest.fixture
def notebook(monkeypatch):
    """A kernel without Jupyter, and what it displays; bars are there at once."""
    handles = []

    def display(markup, display_id):
        assert display_id
        handles.append(Handle())
        return handles[-1]

    ipython, module = ModuleType("IPython"), ModuleType("IPython.display")
    ipython.get_ipython = lambda: SimpleNamespace(kernel=object())
    module.HTML, module.display = str, display
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", module)
    monkeypatch.setattr(progress, "Timer", Immediately)
    return handles


class Immediately:
    """A timer that does not wait."""

    daemon = False

    def __init__(self, seconds, work):
        self.start = work

    def cancel(self):
        pass


def test_a_notebook_shows_what_takes_long(notebook):
    X, y = {"x": [1.0, 2.0, 3.0, 4.0] * 500}, [0, 0, 1, 1] * 500
    model = NaiveBayes().fit(X, y)
    model.predict(X)
    evaluate(model, X, y, bootstrap=2)
    said = [handle.shown[0].split()[0] for handle in notebook]
    assert said == ["learning", "predicting", "evaluating"]  # not what happens within evaluating
    assert all(handle.shown[-1] == "" for handle in notebook)  # they vanish
    assert progress.current is None


def test_a_bar_goes_when_something_fails(notebook):
    with pytest.raises(ValueError, match="inconsistent"):
        NaiveBayes().fit({"x": [1.0, 2.0]}, [0])
    assert notebook[0].shown[-1] == ""
    assert progress.current is None


def test_a_bar_of_steps_shows_how_many(notebook):
    bar = progress.NotebookBar()
    bar.start()
    bar.show("learning", 0, 8)
    assert 'max="8"' in notebook[0].shown[0]
    assert progress.should_show("auto")


def test_elsewhere_no_bar_is_shown():
    assert not progress.in_notebook()
    NaiveBayes().fit({"x": [1.0, 2.0]}, [0, 1])
    assert progress.current is None
