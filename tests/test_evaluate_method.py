"""``model.evaluate()``: honest figures from whatever was fitted or read, with rows or without."""

import json

import numpy as np
import pandas as pd
import pytest

import deciban
from commands import done, run
from deciban import AODE, BayesClassifier, LogisticRegression, NaiveBayes, files, load
from deciban.errors import InputError, ModelFileError, ParameterError
from deciban.models import leave_one_out_scores
from deciban.models.leave_one_out_scores import LeaveOneOutScores
from deciban.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB

TABLES = (NaiveBayes, AODE, BayesClassifier)
DROP_INS = (BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB)
KINDS = (*TABLES, LogisticRegression, *DROP_INS)
FEW = {"bootstrap": 20}


def table(n_rows=60, seed=1, n_classes=2):
    rng = np.random.default_rng(seed)
    truth = np.arange(n_rows) % n_classes
    frame = pd.DataFrame({"a": rng.poisson(1 + 2 * truth), "b": rng.integers(0, 3, n_rows)})
    return frame.astype(float).assign(y=np.array(["no", "yes", "so"])[truth])


def fit(kind, rows, **parameters):
    if kind in TABLES:
        return kind(**parameters).fit(rows, target="y")
    return kind(**parameters).fit(rows.drop(columns="y"), rows["y"])


@pytest.fixture(scope="module", params=KINDS, ids=lambda kind: kind.__name__)
def fitted(request):
    return fit(request.param, table(n_classes=3))


def test_without_rows_each_row_of_training_is_left_out(fitted):
    rows = table(n_classes=3)
    e = fitted.evaluate(**FEW)
    assert e.leave_one_out
    assert e.rows <= 60  # copies are one row of more weight
    assert e.weight == 60
    assert e.log_loss == deciban.evaluate(fitted, **FEW).log_loss
    assert set(e.intervals) >= {"accuracy", "log_loss"}
    flattered = fitted.evaluate(rows.drop(columns="y"), rows["y"], **FEW)
    assert not flattered.leave_one_out
    assert e.log_loss > flattered.log_loss


@pytest.mark.parametrize("kind", DROP_INS)
def test_the_figures_are_those_of_models_without_the_row(kind):
    rows = table(24)
    X, truth = rows.drop(columns="y"), (rows["y"] == "yes").to_numpy().astype(int)
    without = (fit(kind, rows.drop(index=i)) for i in range(len(rows)))
    scores = [m.predict_log_proba(X.iloc[[i]])[0, truth[i]] for i, m in enumerate(without)]
    assert fit(kind, rows).evaluate(bootstrap=0).log_loss == pytest.approx(-np.mean(scores))


@pytest.mark.parametrize("kind", [NaiveBayes, AODE])
def test_the_figures_are_those_of_leave_one_out(kind):
    rows = table(24)
    model = fit(kind, rows)
    wanted = model.evaluate(rows, leave_one_out=True, bootstrap=0)
    assert model.evaluate(bootstrap=0).log_loss == pytest.approx(wanted.log_loss)


def test_a_file_keeps_the_figures(fitted, tmp_path):
    fitted.save(tmp_path / "m.deciban")
    again = load(tmp_path / "m.deciban")
    assert again.evaluate(**FEW).to_dict() == fitted.evaluate(**FEW).to_dict()
    again.save(tmp_path / "again.deciban")
    assert (tmp_path / "again.deciban").read_bytes() == (tmp_path / "m.deciban").read_bytes()


def test_rows_come_from_any_source_and_labels_from_a_column(tmp_path):
    rows, others = table(), table(seed=2)
    model = fit(NaiveBayes, rows)
    others.to_csv(tmp_path / "others.csv", index=False)
    wanted = model.evaluate(others.drop(columns="y"), others["y"], **FEW).to_dict()
    assert model.evaluate(str(tmp_path / "others.csv"), **FEW).to_dict() == wanted
    renamed = others.rename(columns={"y": "label"})
    assert model.evaluate(renamed, target="label", **FEW).to_dict() == wanted
    assert fit(GaussianNB, rows).evaluate(others, target="y", **FEW).rows == len(others)


def test_rows_of_training_can_be_given_again():
    rows = table()
    model = fit(NaiveBayes, rows, calibrate=False)
    assert model.evaluate(rows, leave_one_out=True, **FEW).leave_one_out
    with pytest.raises(InputError, match=r"keeps no leave-one-out scores.*Hint: pass X and y"):
        model.evaluate()


@pytest.mark.parametrize("change", ["partial_fit", "forget", "merge", "decay"])
def test_other_rows_have_other_scores(change, tmp_path):
    rows, more = table(40), table(20, seed=3)
    for kind in (NaiveBayes, AODE):
        fit(kind, pd.concat([rows, more])).save(tmp_path / "m.deciban")
        model = load(tmp_path / "m.deciban")
        if change == "merge":
            model = model + model
        else:
            getattr(model, change)(*((0.5,) if change == "decay" else (more,)))
        assert model.training_scores_ is None
        with pytest.raises(InputError, match="until rows are added, forgotten or merged"):
            model.evaluate()


def test_calibrating_anew_keeps_scores_again():
    rows = table()
    model = fit(NaiveBayes, rows)
    before = model.evaluate(**FEW).log_loss
    model = model + model
    assert model.recalibrate(rows).evaluate(**FEW).log_loss < before


def test_sets_of_other_rows_leave_the_figures_alone():
    rows, others = table(), table(seed=2)
    for kind in (NaiveBayes, LogisticRegression, GaussianNB):
        model = fit(kind, rows)
        before = model.evaluate(**FEW).to_dict()
        model.calibrate_sets(others.drop(columns="y"), others["y"])
        assert model.evaluate(**FEW).to_dict() == before


@pytest.mark.parametrize("kind", [NaiveBayes, BayesClassifier, LogisticRegression, GaussianNB])
def test_what_cannot_be_judged_is_refused(kind):
    rows = table()
    model = fit(kind, rows)
    X, y = rows.drop(columns="y"), rows["y"]
    with pytest.raises(ParameterError, match="no rows"):
        model.evaluate(y=y)
    with pytest.raises(ParameterError, match="got both"):
        model.evaluate(rows, y, target="y")
    with pytest.raises(deciban.DecibanError, match="one label per row"):
        model.evaluate(X, y[:-1])
    with pytest.raises(ParameterError, match="bootstrap"):
        model.evaluate(bootstrap=-1)
    with pytest.raises(InputError, match="fit it first"):
        kind().evaluate()


def test_a_file_holds_no_more_scores_than_are_worth_their_room(monkeypatch, tmp_path):
    many = table(999).assign(c=np.random.default_rng(4).normal(size=999))
    monkeypatch.setattr(leave_one_out_scores, "MAX_STORED_SCORES", 2 * 100)
    fit(NaiveBayes, many).save(tmp_path / "m.deciban")
    assert load(tmp_path / "m.deciban").evaluate(**FEW).rows == 100
    monkeypatch.setattr(leave_one_out_scores, "MAX_STORED_SCORES", 2 * 99)
    fit(NaiveBayes, many).save(tmp_path / "m.deciban")
    assert load(tmp_path / "m.deciban").training_scores_ is None


def test_rows_that_stand_for_more_weigh_more():
    posterior, y, weight = np.log(np.full((4, 2), 0.5)), np.zeros(4, int), np.array([1, 1, 0, 1.0])
    scores = LeaveOneOutScores.of(posterior, y, weight, np.array([1.0, 1.0, 9.0, 4.0]))
    np.testing.assert_allclose(scores.weight, [0.5, 0.5, 2.0])
    assert LeaveOneOutScores.of(posterior, y, weight, 7.0).weight.tolist() == [1, 1, 1]


BAD_ARRAYS = {
    "left_out": lambda a: a + 0.1,
    "left_out_class": lambda a: a + 2,
    "left_out_weight": lambda a: a * 0,
}


@pytest.mark.parametrize("name", BAD_ARRAYS)
def test_scores_of_a_damaged_file_are_refused(name, tmp_path):
    fit(NaiveBayes, table()).save(tmp_path / "m.deciban")
    content = files.model.read(tmp_path / "m.deciban")
    arrays = {**content.arrays, name: BAD_ARRAYS[name](content.arrays[name])}
    bad = files.Stored(content.kind, content.counts, content.description, content.labels, arrays)
    files.save(tmp_path / "bad.deciban", bad)
    with pytest.raises(ModelFileError, match="left_out"):
        load(tmp_path / "bad.deciban")


# ---------------------------------------------------------------------- the command


@pytest.mark.parametrize("model", ["naive", "aode", "bayes", "logistic"])
def test_the_command_judges_a_model_by_what_it_kept(model, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table().to_csv("rows.csv", index=False)
    trained = json.loads(
        done("train", "rows.csv", "-t", "y", "-o", "m.deciban", "-m", model, "--json")
    )
    facts = json.loads(done("evaluate", "m.deciban", "--json", "--bootstrap", "20"))
    assert facts["leave_one_out"]
    assert facts["log_loss"]["value"] == pytest.approx(trained["quality"]["log_loss"], rel=1e-12)
    assert facts["accuracy"]["value"] == pytest.approx(trained["quality"]["accuracy"], rel=1e-12)
    assert "leave-one-out, " in done("evaluate", "m.deciban")


def test_the_command_says_where_nothing_was_kept(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table().to_csv("rows.csv", index=False)
    done("train", "rows.csv", "-t", "y", "-o", "m.deciban", "--no-calibrate")
    ended = run("evaluate", "m.deciban")
    assert ended.code == 1
    assert "keeps no scores of the rows that it learned. Hint: name labelled rows" in ended.err
    ended = run("evaluate", "m.deciban", "--target", "y")
    assert ended.code != 0
    assert "there are no rows" in ended.err
