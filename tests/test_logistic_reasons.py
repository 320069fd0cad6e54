"""Reasons of logistic regression: measured from the mean row, over the values of training."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import deciban
from deciban import LogisticRegression, NaiveBayes
from deciban.errors import InputError, ModelFileError
from deciban.logistic import columns, stored
from deciban.logistic.columns import summarize
from deciban.naive_bayes import GaussianNB
from deciban.report import report


def schooling(n=400, classes=2, seed=0):
    """Years of education, far from zero, an amount in cents, and noise."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, n)
    frame = pd.DataFrame(
        {
            "education": np.round(rng.normal(12 + 1.5 * y, 2.0)),
            "cents": np.round(rng.normal(5e4 + 2e4 * y, 2e4)),
            "noise": rng.normal(size=n),
        }
    )
    return frame, np.array(["low", "high", "mid"])[y]


def fitted(classes=2, **settings):
    X, y = schooling(classes=classes)
    scale = X.std()
    model = LogisticRegression(**settings).fit(X / scale, y)
    return model, X / scale, y


@pytest.mark.parametrize(("kind", "classes"), [("softmax", 2), ("softmax", 3), ("ovr", 3)])
def test_a_telling_column_speaks_for_the_truth(kind, classes):
    model, X, y = fitted(classes, multi_class=kind)
    codes = np.searchsorted(model.classes_, y)
    said = model.evidence(X)[np.arange(len(y)), :, codes].mean(axis=0)
    assert said[0] > 0.5
    assert said[1] > 0.5
    assert abs(said[2]) < 0.2
    found = model.importance(X, y)
    assert [weight.feature for weight in found][2] == "noise"


@pytest.mark.parametrize(("kind", "classes"), [("softmax", 2), ("softmax", 3), ("ovr", 3)])
def test_explanations_add_up_from_the_mean_row(kind, classes):
    model, X, _ = fitted(classes, multi_class=kind)
    for i in range(5):
        why = model.explain(X.iloc[[i]])
        assert why.prior + sum(t.decibans for t in why.terms) == pytest.approx(why.total)
        odds = model.predict_proba(X.iloc[[i]])[0]
        pair = [list(model.classes_).index(c) for c in (why.answer, why.runner_up)]
        assert why.total == pytest.approx(10 * np.log10(odds[pair[0]] / odds[pair[1]]))
    mean = X.mean().to_frame().T
    assert all(abs(term.decibans) < 1e-9 for term in model.explain(mean).terms)


def test_importance_does_not_depend_on_units():
    X, y = schooling()
    plain = LogisticRegression(lam=0).fit(X / X.std(), y).importance().to_dict()
    for factor in (100.0, 0.01):
        other = LogisticRegression(lam=0).fit(X / X.std() * factor + 3 * factor, y)
        assert other.importance().to_dict() == pytest.approx(plain, rel=1e-4, abs=1e-4)


def test_curves_and_nomogram_span_the_data():
    model, X, _ = fitted()
    for name in X:
        curve = model.curve(name)
        assert (curve.x[0], curve.x[-1]) == (X[name].min(), X[name].max())
        at_mean = np.interp(X[name].mean(), curve.x, curve.decibans[:, 1])
        assert at_mean == pytest.approx(0.0, abs=1e-9)
    paper = model.nomogram()
    for i in range(5):
        total = paper.total(X.iloc[i].to_dict())
        share = model.predict_proba(X.iloc[[i]])[0, list(model.classes_).index(paper.of)]
        assert paper.probability(total) == pytest.approx(share)


@pytest.mark.parametrize(("kind", "classes"), [("softmax", 2), ("softmax", 3), ("ovr", 3)])
def test_counterfactuals_are_found_among_values_of_training(kind, classes):
    model, X, _ = fitted(classes, multi_class=kind)
    for i in range(8):
        other = model.counterfactual(X.iloc[[i]])
        changed = X.iloc[[i]].copy()
        for change in other.changes:
            assert change.after in set(X[change.feature])
            changed[change.feature] = change.after
        assert model.predict(changed)[0] == other.new_answer != other.answer


def test_one_against_the_rest_has_no_table_and_says_so():
    model, X, y = fitted(3, multi_class="ovr")
    with pytest.raises(InputError, match=r"importance\(X, y\)"):
        model.importance()
    with pytest.raises(InputError, match=r"curve\(column, X=rows\)"):
        model.curve("education")
    shown = model.curve("education", X=X)
    assert shown.decibans[-1, list(model.classes_).index("mid")] > 1
    with pytest.raises(InputError, match="depends on the other features"):
        model.nomogram()
    page = report(model, X, y, bootstrap=0)
    assert "importance" in {figure.name for figure in page.figures}


# ---------------------------------------------------------------------- what is kept of columns


@pytest.mark.parametrize("weighted", [False, True])
def test_a_sparse_matrix_is_summarised_as_a_dense_one(weighted):
    rng = np.random.default_rng(0)
    X = rng.integers(-2, 3, (60, 7)).astype(float)
    X[:, 5], X[:, 6] = 0.0, np.where(X[:, 6] > 0, X[:, 6], 0.0)
    y = rng.integers(0, 3, 60)
    weight = rng.integers(0, 3, 60).astype(float) if weighted else None
    dense, thin = (summarize(Z, y, weight, 4) for Z in (X, sparse.csr_array(X)))
    for name in ("weight", "mean", "deviation", "values"):
        np.testing.assert_allclose(getattr(dense, name), getattr(thin, name), atol=1e-12)
    copies = np.ones(60) if weight is None else weight
    centre = copies @ X / copies.sum()
    np.testing.assert_allclose(dense.centre, centre, atol=1e-12)
    for c in range(3):
        far = np.abs(X - centre)[y == c]
        expected = copies[y == c] @ far / copies[y == c].sum()
        np.testing.assert_allclose(dense.deviation[c], expected, atol=1e-12)
    assert set(np.unique(dense.values)) <= set(range(-2, 3))


def test_many_rows_are_summarised_by_some(monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(5000, 2)), rng.integers(0, 2, 5000)
    monkeypatch.setattr(columns, "MAX_ROWS", 1000)
    some = summarize(X, y, None, 2)
    np.testing.assert_allclose(some.weight, np.bincount(y))
    np.testing.assert_allclose(some.centre, X[::5].mean(axis=0), atol=0.01)


def test_rows_that_come_later_are_added():
    X, y = schooling(n=450)
    X = X / X.std()
    whole = LogisticRegression().fit(X, y)
    stream = LogisticRegression()
    for start in range(0, 450, 150):
        part = slice(start, start + 150)
        stream.partial_fit(X[part], y[part], classes=["high", "low"])
    np.testing.assert_allclose(stream.model_.centre, whole.model_.centre)
    for name in X:
        assert stream.curve(name).x[0] == whole.curve(name).x[0]
        assert stream.curve(name).x[-1] == whole.curve(name).x[-1]
    for weight in stream.importance():
        assert weight.decibans == pytest.approx(
            whole.importance()[weight.feature].decibans, abs=0.3
        )


def test_the_closed_form_knows_its_columns():
    X, y = schooling()
    gaussian = GaussianNB(shared_variance=True).fit(X, y)
    closed = LogisticRegression.from_gaussian(gaussian)
    np.testing.assert_allclose(closed.model_.centre, X.mean())
    measured = closed.importance(X, y)
    for weight in closed.importance():
        assert weight.decibans == pytest.approx(measured[weight.feature].decibans, abs=1e-6)
        assert weight.absolute == pytest.approx(measured[weight.feature].absolute, rel=0.1, abs=0.1)
    assert closed.curve("education").x[0] < 12 < closed.curve("education").x[-1]


# ---------------------------------------------------------------------- files


def without_summary(model):
    training = stored.Training(model.get_params(), model.n_iter_)
    content = stored.to_stored(model.model_, training)
    for name in ("class_weights", "column_means", "column_deviations", "column_values"):
        del content.arrays[name]
    return content


def test_a_file_without_a_summary_answers_and_shows_nothing_wrong():
    model, X, y = fitted()
    older = LogisticRegression.from_stored(without_summary(model))
    np.testing.assert_array_equal(older.predict_proba(X), model.predict_proba(X))
    why = older.explain(X.iloc[[0]])
    assert why.prior + sum(term.decibans for term in why.terms) == pytest.approx(why.total)
    for call in (older.importance, lambda: older.curve("noise"), older.nomogram):
        with pytest.raises(InputError, match=r"training.*Hint"):
            call()
    assert older.importance(X, y)["noise"].absolute >= 0
    later = older.partial_fit(X, y)
    assert later.importance()["education"].decibans > 0


def test_a_file_keeps_the_summary(tmp_path):
    model, X, _ = fitted(3)
    model.save(tmp_path / "m.deciban")
    loaded = deciban.load(tmp_path / "m.deciban")
    assert loaded.importance().to_dict() == model.importance().to_dict()
    assert loaded.explain(X.iloc[[0]]).to_dict() == model.explain(X.iloc[[0]]).to_dict()
    assert loaded.curve("cents").x == model.curve("cents").x


@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        ("class_weights", lambda a: -a, "among its numbers"),
        ("column_means", lambda a: a[:, :1], "'column_means' must be"),
        ("column_deviations", lambda a: a - 9, "among its numbers"),
        ("column_values", lambda a: a[::-1].copy(), "values that fall"),
        ("column_values", lambda a: None, "'column_values'"),
    ],
)
def test_a_damaged_summary_is_refused(name, change, words):
    model, _, _ = fitted()
    content = stored.to_stored(model.model_, stored.Training(model.get_params(), model.n_iter_))
    changed = change(content.arrays[name])
    content.arrays.pop(name)
    if changed is not None:
        content.arrays[name] = changed
    with pytest.raises(ModelFileError, match=words):
        stored.from_stored(content)


def test_models_of_one_table_can_be_compared():
    X, y = schooling()
    bayes = NaiveBayes(numeric="gaussian").fit(X, y).importance().to_dict()
    logistic = fitted()[0].importance().to_dict()
    for name in X:
        assert logistic[name] == pytest.approx(bayes[name], abs=1.0)
