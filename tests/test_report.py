"""Reports: what they find out about a model and its rows, for every class of model."""

import json
import re

import numpy as np
import pytest

from commands import FRUIT, done, run
from deciban import LogisticRegression, NaiveBayes, evaluate
from deciban.errors import (
    FileError,
    InputError,
    MissingPackageError,
    MissingValueError,
    ParameterError,
    UnknownLabelWarning,
)
from deciban.report import pdf, report
from deciban.report.distributions import ColumnDistribution
from deciban.report.drift import drifts
from deciban.report.leakage import leave_one_out_accuracy
from deciban.report.page import section
from deciban.report.rows import read_rows
from reported import MODELS, mixed, texts

HEADINGS = ["careful", "good", "reliability", "thresholds", "confusion", "importance", "evidence",
            "nomogram", "surprising", "drift", "data", "training"]  # fmt: skip


@pytest.mark.parametrize("name", MODELS)
def test_every_model_gets_every_section(name):
    model, rows = MODELS[name]()
    found = report(model, rows, target="y", bootstrap=10, surprising=2)
    page = found.html()
    assert re.findall(r'<section id="(\w+)"', page) == HEADINGS
    names = [figure.name for figure in found.figures]
    two = len(model.classes_) == 2
    assert {"reliability", "roc", "precision-recall", "confusion", "importance"} <= set(names)
    assert ("cost" in names) == two
    assert any(n.startswith("evidence-") for n in names)
    assert page.count('<svg xmlns="http') == len(names)
    assert found.surprises
    assert all(s.why is not None for s in found.surprises)


def test_the_figures_are_those_of_evaluate():
    model, rows = mixed(NaiveBayes)
    found = report(model, rows, bootstrap=30, loss={("spam", "ham"): 5})
    again = evaluate(model, rows, target="y", bootstrap=30, loss={("spam", "ham"): 5})
    assert found.evaluation.to_dict() == again.to_dict()
    page = found.html()
    for name in ("accuracy", "log_loss", "realised_cost"):
        assert f"{getattr(again, name):.3f}" in page
        assert "{:.3f} to {:.3f}".format(*again.interval(name)) in page


def test_what_is_not_there_is_said():
    model, rows = MODELS["LogisticRegression"]()
    notes = {note.section: note.text for note in report(model, rows, target="y", bootstrap=0).notes}
    assert "keeps no counts" in notes["drift"]
    model, rows = MODELS["AODE"]()
    notes = {note.section: note.text for note in report(model, rows, bootstrap=0).notes}
    assert "depends on the other features" in notes["nomogram"]
    text, some = texts()
    notes = {note.section: note.text for note in report(text, some, bootstrap=0).notes}
    assert "is a text" in notes["nomogram"]


def test_surprising_rows_are_those_that_went_most_wrong():
    model, rows = mixed(NaiveBayes, 3)
    found = report(model, rows, bootstrap=0, surprising=3)
    proba = model.predict_proba({n: v for n, v in rows.items() if n != "y"})
    place = {label: c for c, label in enumerate(model.classes_.tolist())}
    true = np.array([proba[i, place[label]] for i, label in enumerate(rows["y"])])
    worst = np.argsort(true, kind="stable")[:3]
    assert [s.row - 1 for s in found.surprises] == worst.tolist()
    for s in found.surprises:
        assert s.why.runner_up == s.truth
        assert s.probability == pytest.approx(dict(s.why.posterior())[s.truth], abs=1e-9)


def _values(chart):
    """The data of a chart, wherever it stands."""
    data = chart.get("data") or chart["layer"][0]["data"]
    return data["values"] if "values" in data else chart["datasets"][data["name"]]


class Bare:
    """A model that has nothing but probabilities and evidence."""

    def __init__(self, model):
        self.classes_, self.n_features_in_ = model.classes_, model.n_features_in_
        self.predict_proba, self.evidence = model.predict_proba, model.evidence


def test_the_observed_importance_is_the_mean_evidence_for_the_truth():
    rng = np.random.default_rng(6)
    y = rng.integers(0, 2, 90)
    X = rng.normal(size=(90, 3)) + y[:, None]
    model = Bare(LogisticRegression().fit(X, y))
    found = report(model, X, y, bootstrap=0)
    chart = next(f for f in found.figures if f.name == "importance").chart.to_dict()
    mean = model.evidence(X)[np.arange(90), :, y].mean(axis=0)
    drawn = {row["feature"]: row["decibans"] for row in _values(chart)}
    assert drawn == pytest.approx(dict(zip(["x0", "x1", "x2"], mean, strict=True)))
    assert sum(f.name.startswith("evidence-") for f in found.figures) == 3
    assert all(s.why is None for s in found.surprises)
    assert "x2: " in section(found, "surprising")


def test_any_classifier_will_do():
    from sklearn.tree import DecisionTreeClassifier

    X = np.array([[float(i % 7), float(i % 3)] for i in range(60)])
    y = np.array([i % 2 for i in range(60)])
    found = report(DecisionTreeClassifier(max_depth=2).fit(X, y), X, y, bootstrap=0)
    assert "gives no evidence" in section(found, "importance")
    assert "DecisionTreeClassifier has none" in section(found, "nomogram")


# ---------------------------------------------------------------------- what to be careful about


def kinds(found, kind):
    return [caution.what for caution in found.cautions if caution.kind == kind]


@pytest.mark.parametrize("kind", ["NaiveBayes", "AODE", "LogisticRegression"])
def test_a_column_that_follows_from_the_answer_is_a_suspect(kind):
    import deciban

    rng = np.random.default_rng(0)
    y = rng.random(400) < 0.1
    rows = {
        "noise": rng.normal(size=400),
        "leak": y * 2.0 + rng.random(400),
    }
    X = np.column_stack(list(rows.values())) if kind == "LogisticRegression" else rows
    labels = np.where(y, "yes", "no")
    found = report(getattr(deciban, kind)().fit(X, labels), X, labels, bootstrap=0)
    name = "x1" if kind == "LogisticRegression" else "leak"
    assert kinds(found, "leakage") == [name]
    assert f"{name} alone is right" in section(found, "careful")


def test_values_that_occur_once_do_not_look_perfect():
    assert leave_one_out_accuracy(np.eye(50)[:, :2]) == 0.0
    assert leave_one_out_accuracy(np.array([[4.0, 1.0], [1.0, 4.0]])) == 0.8
    assert leave_one_out_accuracy(np.array([[2.0, 2.0]])) == 0.0


def test_moved_columns_are_found_and_others_are_not():
    rng = np.random.default_rng(1)

    def rows(n, shift, share):
        y = rng.integers(0, 2, n)
        return {"still": rng.normal(y), "moved": rng.normal(y + shift),
                "colour": rng.choice(["red", "blue"], n, p=[share, 1 - share]),
                "y": y.tolist()}  # fmt: skip

    model = NaiveBayes().fit(rows(2000, 0.0, 0.5), target="y")
    now = rows(1000, 1.5, 0.9)
    now["colour"][:100] = "green"
    found = report(model, now, bootstrap=0)
    assert set(kinds(found, "drift")) == {"moved", "colour"}
    verdicts = {drift.column: drift.verdict for drift in found.drifts}
    assert verdicts == {"moved": "moved far", "colour": "moved far", "still": "the same"}
    assert not kinds(report(model, rows(1000, 0.0, 0.5), bootstrap=0), "drift")


def test_chance_alone_is_not_called_drift():
    rng = np.random.default_rng(2)
    p = np.full(20, 0.05)
    found = [
        drifts([ColumnDistribution("x", tuple(map(str, range(20))), rng.multinomial(60, p) + 0.0,
                         rng.multinomial(60, p) + 0.0)])[0]
        for _ in range(200)
    ]  # fmt: skip
    assert np.mean([d.index for d in found]) > 0.25
    assert sum(d.verdict != "the same" for d in found) <= 10


def test_drift_of_counts_by_hand():
    (found,) = drifts(
        [ColumnDistribution("x", ("a", "b"), np.array([49.5, 49.5]), np.array([89.5, 9.5]))]
    )
    assert found.index == pytest.approx(0.4 * np.log(9 / 5) + 0.4 * np.log(5.0), rel=1e-12)
    assert (found.cell, found.verdict) == ("b", "moved far")


def test_training_rows_are_recognised_and_small_classes_named():
    X = {"x": list("aab" * 30) + ["c"] * 3, "y": ["p", "p", "q"] * 30 + ["r"] * 3}
    model = NaiveBayes().fit(X, target="y")
    found = report(model, X, bootstrap=0)
    assert kinds(found, "same rows")
    assert kinds(found, "small class") == ["r"]
    assert not kinds(report(model, X, bootstrap=0, leave_one_out=True), "same rows")


def test_classes_that_the_model_has_never_seen_are_named():
    model, rows = mixed(NaiveBayes)
    rows = {**rows, "y": ["new" if i < 5 else label for i, label in enumerate(rows["y"])]}
    with pytest.warns(UnknownLabelWarning, match="5 of 160 rows"):
        found = report(model, rows, bootstrap=0)
    assert kinds(found, "unknown class") == ["new"]
    assert "new" in section(found, "careful")


# ---------------------------------------------------------------------- input


def test_what_cannot_be_reported_is_refused():
    model, rows = mixed(NaiveBayes)
    with pytest.raises(ParameterError, match="surprising"):
        report(model, rows, surprising=-1)
    with pytest.raises(InputError, match="there is no column 'z'"):
        report(model, rows, target="z")
    with pytest.raises(InputError, match="no rows"):
        report(model, {name: values[:0] for name, values in rows.items()})
    unlabelled = NaiveBayes().fit({"x": [1, 2, 3, 4]}, list("abab"))
    with pytest.raises(MissingValueError, match="no labels"):
        report(unlabelled, {"x": [1]})
    with pytest.raises(ParameterError, match="got both"):
        report(unlabelled, {"x": [1]}, ["a"], target="x")
    with pytest.raises(InputError, match="shape"):
        report(LogisticRegression().fit([[1.0], [2.0]], [0, 1]), np.ones((2, 3)), [0, 1])


def test_columns_of_a_matrix_are_taken_by_name():
    model, rows = MODELS["LogisticRegression"]()
    shuffled = rows[["c", "y", "a", "b"]]
    expected = model.predict_proba(rows[["a", "b", "c"]])
    found = read_rows(model, shuffled, target="y")
    assert np.array_equal(model.predict_proba(found.X), expected)


def test_one_class_only_is_no_obstacle():
    model, rows = mixed(NaiveBayes)
    some = [i for i, label in enumerate(rows["y"]) if label == "ham"][:5]
    page = report(model, {n: [v[i] for i in some] for n, v in rows.items()}, bootstrap=5).html()
    assert "all of one class" in page


# ---------------------------------------------------------------------- the command


@pytest.fixture(scope="module")
def fruit(tmp_path_factory):
    path = tmp_path_factory.mktemp("fruit") / "fruit.deciban"
    done("train", FRUIT, "--target", "fruit", "-o", path, "--quiet")
    return path


def test_the_command_writes_the_page_and_its_charts(fruit, tmp_path):
    page, charts = tmp_path / "r.html", tmp_path / "charts"
    ended = run(
        "report", fruit, FRUIT, "-o", page, "--charts", charts, "--bootstrap", "10", "--json"
    )
    assert ended.code == 0
    assert ended.err.startswith("warning: these rows are rows that the model was trained on")
    facts = json.loads(ended.out)
    assert facts["rows"] == 200
    assert facts["bytes"] == page.stat().st_size
    assert "same rows" in [c["kind"] for c in facts["cautions"]]
    for name in facts["charts"]:
        assert (charts / f"{name}.svg").read_text(encoding="utf-8").startswith("<svg")
        assert (charts / f"{name}.png").read_bytes().startswith(b"\x89PNG")


def test_mistakes_are_one_line(fruit, tmp_path):
    ended = run("report", fruit, FRUIT, "--target", "fruits", "-o", tmp_path / "r.html")
    assert (ended.code, ended.out) == (1, "")
    assert "perhaps 'fruit' was meant" in ended.err
    assert not (tmp_path / "r.html").exists()
    ended = run("report", fruit, FRUIT, "-o", tmp_path / "no" / "r.html", "--bootstrap", "0")
    assert ended.code == 1
    assert "cannot be written" in ended.err


def test_without_a_browser_there_is_no_pdf(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MissingPackageError, match="apt install chromium"):
        pdf.write_pdf("<p>", tmp_path / "r.pdf")
    bad = tmp_path / "chromium"
    bad.write_text("#!/bin/sh\necho no display >&2\n")
    bad.chmod(0o755)
    with pytest.raises(FileError, match="no display"):
        pdf.write_pdf("<p>", tmp_path / "r.pdf")
