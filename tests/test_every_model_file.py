"""Every command on every kind of model file, and files of every public class."""

import json

import numpy as np
import pandas as pd
import pytest

from commands import done, run
from deciban import AODE, BayesClassifier, LogisticRegression, NaiveBayes, files, load
from deciban.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB

DROP_INS = (BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB)
MATRIX_KINDS = (*DROP_INS, LogisticRegression)
TABLE_KINDS = (NaiveBayes, AODE, BayesClassifier)
KINDS = (*TABLE_KINDS, *MATRIX_KINDS)
COUNTED = (NaiveBayes, AODE, *DROP_INS)
FITTED_AT_ONCE = (BayesClassifier, LogisticRegression)


def table(n_rows=60, seed=1):
    """Counts that say something about the label, whose classes are words."""
    rng = np.random.default_rng(seed)
    positive = np.arange(n_rows) % 2
    return pd.DataFrame(
        {
            "a": rng.poisson(1 + 3 * positive),
            "b": rng.poisson(4 - 2 * positive),
            "c": rng.integers(0, 3, n_rows),
            "y": np.where(positive, "yes", "no"),
        }
    )


def fit(kind, rows):
    if kind in TABLE_KINDS:
        return kind().fit(rows, target="y")
    return kind().fit(rows.drop(columns="y"), rows["y"])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A file of each kind, and the rows they were made from."""
    place, rows = tmp_path_factory.mktemp("kinds"), table()
    rows.to_csv(place / "rows.csv", index=False)
    for kind in KINDS:
        fit(kind, rows).save(place / f"{kind.__name__}.deciban")
    return place


def path(folder, kind):
    return folder / f"{kind.__name__}.deciban"


# ---------------------------------------------------------------------- files


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_gives_the_estimator_back(folder, kind):
    rows = table()
    X = rows.drop(columns="y")
    again = load(path(folder, kind))
    assert type(again) is kind
    np.testing.assert_array_equal(again.predict_proba(X), fit(kind, rows).predict_proba(X))
    np.testing.assert_array_equal(again.feature_names_in_, ["a", "b", "c"])


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_gives_the_model_without_an_estimator(folder, kind):
    opened = files.open(path(folder, kind))
    assert opened.model.kind == kind.__name__
    assert opened.target == ("y" if kind in TABLE_KINDS else None)
    assert opened.model.classes.tolist() == ["no", "yes"]
    assert opened.model.schema.names == ("a", "b", "c")


@pytest.mark.parametrize("kind", DROP_INS)
def test_a_drop_in_that_was_read_goes_on_learning(folder, kind):
    rows, more = table(), table(20, seed=2)
    X, y = more.drop(columns="y"), more["y"]
    again = load(path(folder, kind)).partial_fit(X, y)
    direct = fit(kind, rows).partial_fit(X, y)
    assert again.counts_ == direct.counts_
    assert again.forget(X, y).counts_ == load(path(folder, kind)).counts_


PARAMETERS = (
    BernoulliNB(binarize=2.5, alpha=[0.5, 1.0, 2.0], class_prior=[0.25, 0.75]),
    BernoulliNB(binarize=None),
    CategoricalNB(min_categories=[9, 12, 3], unseen="skip"),
    ComplementNB(norm=True, alpha=0.1),
    GaussianNB(shared_variance=True, var_smoothing=1e-3, priors=np.array([0.1, 0.9])),
    MultinomialNB(fit_prior=False, alpha=np.float32(2)),
)


@pytest.mark.parametrize("stated", PARAMETERS, ids=repr)
def test_parameters_of_drop_ins_survive(tmp_path, stated):
    rows = table()
    X = rows.drop(columns="y")
    X = (X > 1).astype(int) if getattr(stated, "binarize", 0) is None else X
    model = stated.fit(X, rows["y"], sample_weight=np.linspace(0.5, 2, len(rows)))
    model.save(tmp_path / "m.deciban")
    again = load(tmp_path / "m.deciban")
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    for name, value in stated.get_params().items():
        np.testing.assert_array_equal(again.get_params()[name], value)


def test_categories_by_name_survive(tmp_path):
    X = [["S", "red"], ["M", None], ["L", "blue"]]
    model = CategoricalNB().fit(X, [1, 1, 2])
    model.save(tmp_path / "m.deciban")
    again = load(tmp_path / "m.deciban")
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    (tmp_path / "x.csv").write_text("x0,x1\nS,red\nM,\nXL,blue\n")
    ended = run("predict", tmp_path / "m.deciban", tmp_path / "x.csv", "--digits", "17")
    assert ended.err == "warning: column 'x0' has 1 value never seen: 'XL'.\n"
    probabilities = [[float(p) for p in line.split(",")[1:]] for line in ended.out.split()[1:]]
    asked = [["S", "red"], ["M", None], ["XL", "blue"]]
    np.testing.assert_allclose(probabilities, model.predict_proba(asked), rtol=1e-15)


def test_a_row_that_no_class_can_have_is_answered_by_the_prior(tmp_path):
    model = MultinomialNB(alpha=0).fit([[1, 0], [0, 1], [0, 1]], ["a", "b", "b"])
    model.save(tmp_path / "m.deciban")
    (tmp_path / "x.csv").write_text("x0,x1\n1,1\n")
    out = done("predict", tmp_path / "m.deciban", tmp_path / "x.csv")
    assert out.split()[1] == "b,0.333333,0.666667"


def test_an_unfitted_drop_in_has_nothing_to_save(tmp_path):
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        GaussianNB().save(tmp_path / "m.deciban")
    assert not (tmp_path / "m.deciban").exists()


# ---------------------------------------------------------------------- commands that answer


@pytest.mark.parametrize("kind", KINDS)
def test_predict(folder, kind):
    rows = table()
    model, X = fit(kind, rows), rows.drop(columns="y")
    out = done("predict", path(folder, kind), folder / "rows.csv", "--digits", "17")
    head, *lines = out.splitlines()
    assert head == "prediction,p_no,p_yes"
    answers, *columns = zip(*(line.split(",") for line in lines), strict=True)
    probabilities = np.array(columns, dtype=float).T
    np.testing.assert_allclose(probabilities, model.predict_proba(X), rtol=1e-12, atol=1e-300)
    assert list(answers) == model.predict(X).tolist()


@pytest.mark.parametrize("kind", KINDS)
def test_predict_with_evidence_adds_up_to_the_odds(folder, kind):
    args = ("--evidence", "--digits", "17")
    out = done("predict", path(folder, kind), folder / "rows.csv", *args)
    head, *lines = out.splitlines()
    assert head == "prediction,p_no,p_yes,runner_up,db_prior,db_a,db_b,db_c"
    for line in lines:
        answer, p_no, p_yes, _, *decibans = line.split(",")
        odds = float(p_yes) / float(p_no) if answer == "yes" else float(p_no) / float(p_yes)
        assert sum(map(float, decibans)) == pytest.approx(10 * np.log10(odds), abs=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_predict_under_other_base_rates(folder, kind):
    out = done("predict", path(folder, kind), folder / "rows.csv", "--priors", "no=0.9,yes=0.1")
    usual = done("predict", path(folder, kind), folder / "rows.csv")
    assert out.count("\nno,") > usual.count("\nno,")


@pytest.mark.parametrize("kind", KINDS)
def test_evaluate(folder, kind):
    args = ("--target", "y", "--bootstrap", "0", "--json", "--quiet")
    facts = json.loads(done("evaluate", path(folder, kind), folder / "rows.csv", *args))
    rows = table()
    right = fit(kind, rows).predict(rows.drop(columns="y")) == rows["y"].to_numpy()
    assert facts["rows"] == len(rows)
    assert facts["accuracy"]["value"] == pytest.approx(right.mean())


@pytest.mark.parametrize("kind", KINDS)
def test_compare(folder, kind):
    files = path(folder, kind), path(folder, NaiveBayes if kind is not NaiveBayes else AODE)
    args = ("--target", "y", "--bootstrap", "0", "--json", "--quiet")
    facts = json.loads(done("compare", *files, folder / "rows.csv", *args))
    assert len(facts["models"]) == 2


@pytest.mark.parametrize("kind", KINDS)
def test_explain(folder, kind):
    rows = table()
    out = done("explain", path(folder, kind), "--row", '{"a": 5, "b": 1, "c": 0}', "--json")
    facts = json.loads(out)
    direct = fit(kind, rows).explain({"a": 5, "b": 1, "c": 0}).to_dict()
    assert facts["answer"] == direct["answer"] == "yes"
    assert facts["probability"] == pytest.approx(direct["probability"])
    shown = done("explain", path(folder, kind), folder / "rows.csv", "--limit", "2")
    assert shown.count("rather than") == 2


@pytest.mark.parametrize("kind", KINDS)
def test_inspect(folder, kind):
    facts = json.loads(done("inspect", path(folder, kind), "--json"))
    assert facts["kind"] == kind.__name__
    assert set(facts["classes"]) == {"no", "yes"}
    assert [column["name"] for column in facts["columns"]] == ["a", "b", "c"]
    assert set(facts["importance"]) == {"a", "b", "c"}
    text = done("inspect", path(folder, kind))
    assert kind.__name__ in text
    assert "None" not in text
    assert "nan" not in text


@pytest.mark.parametrize("kind", KINDS)
def test_report(folder, kind, tmp_path):
    page = tmp_path / "report.html"
    args = ("--target", "y", "--bootstrap", "0", "-o", page, "--quiet")
    done("report", path(folder, kind), folder / "rows.csv", *args)
    assert kind.__name__ in page.read_text()
    assert "TableClassifier" not in page.read_text()


@pytest.mark.parametrize("kind", [GaussianNB, LogisticRegression, BayesClassifier])
def test_a_model_that_cannot_leave_rows_out_says_its_name(folder, kind):
    args = ("--target", "y", "--leave-one-out")
    result = run("evaluate", path(folder, kind), folder / "rows.csv", *args)
    assert result.code == 1
    assert f"a {kind.__name__}, which cannot leave its rows out" in result.err


@pytest.mark.parametrize("kind", MATRIX_KINDS)
def test_a_model_of_matrices_asks_for_the_name_of_the_target(folder, kind):
    result = run("evaluate", path(folder, kind), folder / "rows.csv")
    assert result.code != 0
    assert "--target" in result.err


# ---------------------------------------------------------------------- commands that learn


@pytest.mark.parametrize("kind", COUNTED)
def test_update_and_forget_are_exact(folder, kind, tmp_path):
    table(20, seed=2).to_csv(tmp_path / "more.csv", index=False)
    changed, back = tmp_path / "changed.deciban", tmp_path / "back.deciban"
    before = load(path(folder, kind))
    args = (tmp_path / "more.csv", "--target", "y", "--quiet")
    done("update", path(folder, kind), *args, "-o", changed)
    assert load(changed).counts_.weight.sum() == 80
    done("forget", changed, *args, "-o", back)
    again = load(back)
    if kind is AODE:  # bins stay as they were cut, pairs are exact
        assert again.model_.pair_counts.pairs.sum() == before.model_.pair_counts.pairs.sum()
    assert again.counts_.weight.tolist() == before.counts_.weight.tolist()
    X = table().drop(columns="y")
    if kind is not NaiveBayes and kind is not AODE:  # those have calibrated on other rows since
        np.testing.assert_allclose(again.predict_proba(X), before.predict_proba(X), rtol=1e-12)


@pytest.mark.parametrize("kind", COUNTED)
def test_merge(folder, kind, tmp_path):
    merged = tmp_path / "merged.deciban"
    done("merge", path(folder, kind), path(folder, kind), "-o", merged, "--quiet")
    assert load(merged).counts_ == load(path(folder, kind)).counts_ * 2


@pytest.mark.parametrize("kind", FITTED_AT_ONCE)
@pytest.mark.parametrize("command", ["update", "forget", "merge"])
def test_a_model_that_is_no_counts_refuses(folder, kind, command, tmp_path):
    file = path(folder, kind)
    before = file.read_bytes()
    second = file if command == "merge" else folder / "rows.csv"
    result = run(command, file, second, "-o", tmp_path / "out.deciban")
    assert result.code == 1
    assert kind.__name__ in result.err
    assert "Hint: train it again" in result.err
    assert "bug of deciban" not in result.err
    assert not (tmp_path / "out.deciban").exists()
    assert file.read_bytes() == before


def test_different_kinds_are_not_merged(folder, tmp_path):
    files = path(folder, GaussianNB), path(folder, MultinomialNB)
    result = run("merge", *files, "-o", tmp_path / "out.deciban")
    assert result.code == 1
    assert "GaussianNB and MultinomialNB" in result.err


def test_a_new_class_is_refused_by_a_drop_in_and_the_file_stays(folder, tmp_path):
    more = tmp_path / "more.csv"
    more.write_text("a,b,c,y\n1,2,0,maybe\n")
    file = path(folder, GaussianNB)
    before = file.read_bytes()
    result = run("update", file, more, "--target", "y")
    assert result.code == 1
    assert "maybe" in result.err
    assert file.read_bytes() == before
