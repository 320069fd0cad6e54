"""Importance by one definition for every model: the mean evidence for the true class."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import deciban
from commands import done
from deciban import AODE, BayesClassifier, LogisticRegression, NaiveBayes
from deciban.errors import InputError, ModelFileError, ParameterError
from deciban.explanation import stored
from deciban.models.measured_evidence import MeasuredEvidence
from deciban.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB
from mixed import table

XOR = [{"x": x, "z": z} for x in range(8) for z in "ab"] * 4
XOR_TRUTH = [(row["x"] > 3) != (row["z"] == "a") for row in XOR]
TABLES = [NaiveBayes, AODE, BayesClassifier]
#: How far figures of training may be from those of the same rows: bell curves are points.
EXACT = {"GaussianNB": 0.15, "NaiveBayes": 0.05}


def counts_of_events(classes):
    """Columns that every matrix classifier takes: small whole numbers."""
    rng = np.random.default_rng(3)
    y = np.arange(90) % classes
    return np.column_stack([rng.poisson(1 + 2 * y), rng.poisson(5 - y), rng.integers(0, 3, 90)]), y


def fitted(kind, classes=3):
    if kind in TABLES:
        X, y = table(n=90, n_classes=classes)
        del X["when"]  # counted as several things
        return kind().fit(X, y), X, y
    X, y = counts_of_events(classes)
    return kind().fit(X.astype(float), y), X.astype(float), y


ALL = [
    *TABLES,
    LogisticRegression,
    GaussianNB,
    MultinomialNB,
    ComplementNB,
    BernoulliNB,
    CategoricalNB,
]


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("kind", ALL)
def test_it_is_the_mean_evidence_for_the_true_class(kind, classes, tmp_path):
    model, X, y = fitted(kind, classes)
    codes = np.searchsorted(model.classes_, y)
    true = np.asarray(model.evidence(X))[np.arange(len(codes)), :, codes]
    measured = model.importance(X, y)
    names = model.model_.schema.names
    for name, mean, absolute in zip(names, true.mean(0), np.abs(true).mean(0), strict=True):
        assert measured[name].decibans == pytest.approx(mean)
        assert measured[name].absolute == pytest.approx(absolute)
        assert sum(measured[name].by_class) == pytest.approx(mean)
    off = EXACT.get(kind.__name__, 1e-9)
    model.save(tmp_path / "m.deciban")
    for known in (model, deciban.load(tmp_path / "m.deciban")):
        for weight in known.importance():
            expected = measured[weight.feature]
            assert weight.decibans == pytest.approx(expected.decibans, rel=off, abs=off)
            if kind is not GaussianNB:  # whose counts do not tell
                assert weight.absolute == pytest.approx(expected.absolute, rel=off, abs=off)
            assert weight.absolute >= abs(weight.decibans) - 1e-9


@pytest.mark.parametrize("kind", [AODE, BayesClassifier])
def test_columns_that_tell_only_together_are_important(kind):
    model = kind().fit(XOR, XOR_TRUTH)
    assert all(weight.decibans > 1 for weight in model.importance())
    assert np.abs(model.curve("x").decibans).max() < 1  # now for, now against
    alone = NaiveBayes().fit(XOR, XOR_TRUTH)
    assert all(abs(weight.decibans) < 0.1 for weight in alone.importance())


def test_a_text_is_as_important_as_it_is_telling():
    words = {"ham": "meeting lunch report", "spam": "free prize money"}
    y = ["ham", "spam"] * 60
    X = {
        "note": [f"the {words[label]} number {i % 7}" for i, label in enumerate(y)],
        "n": [1] * 120,
    }
    for kind in (BayesClassifier, NaiveBayes):
        model = kind(kinds={"note": "text"}).fit(X, y)
        (note, n) = model.importance()
        assert (note.feature, n.feature) == ("note", "n")
        assert note.decibans > 10 > 0.1 > abs(n.decibans)
        assert note.decibans == pytest.approx(model.importance(X, y)["note"].decibans, rel=0.05)


def test_a_missing_value_is_a_row_without_evidence():
    x = np.array(["S", "L"] * 50, dtype=object)
    y = np.array(["a", "b"] * 50)
    x[10:] = None
    model = NaiveBayes(missing="skip", smoothing=1, calibrate=False).fit({"x": x}, y)
    shown = model.importance()["x"]
    assert shown.decibans == pytest.approx(model.importance({"x": x}, y)["x"].decibans)
    assert shown.absolute == pytest.approx(shown.decibans)
    value = NaiveBayes(missing="value", smoothing=1, calibrate=False).fit({"x": x}, y)
    for name in ("decibans", "absolute"):
        expected = getattr(value.importance({"x": x}, y)["x"], name)
        assert getattr(value.importance()["x"], name) == pytest.approx(expected)


def test_a_column_that_misleads_is_below_zero_and_last():
    rows = {"x": ["S", "L"] * 20, "z": ["u", "v"] * 20}
    model = NaiveBayes().fit(rows, ["a", "b"] * 20)
    wrong = model.importance(rows, ["b", "a"] * 20)
    assert all(weight.decibans < -1 for weight in wrong)
    assert "▇" in str(wrong)


# ---------------------------------------------------------------------- rows come and go


def test_naive_bayes_follows_its_counts():
    X, y = table(n=120, n_classes=2)
    first, last = ({k: v[s] for k, v in X.items()} for s in (slice(70), slice(70, None)))
    kinds = {c.name: c.kind for c in NaiveBayes().fit(X, y).schema_.columns if c.kind != "time"}
    whole = NaiveBayes(calibrate=False, kinds=kinds).fit(X, y)
    parts = [
        NaiveBayes(calibrate=False, kinds=kinds).fit(part, some)
        for part, some in ((first, y[:70]), (last, y[70:]))
    ]
    for model in (parts[0] + parts[1], parts[0].partial_fit(last, y[70:])):
        for name, decibans in whole.importance().to_dict().items():
            assert model.importance()[name].decibans == pytest.approx(decibans)


def test_aode_adds_what_was_measured():
    X, y = table(n=160, n_classes=2)
    halves = [{k: v[s] for k, v in X.items()} for s in (slice(80), slice(80, None))]
    whole = AODE(smoothing=1, calibrate=False).fit(X, y)
    one, other = (
        AODE(smoothing=1, calibrate=False, bins=whole.bins_).fit(half, some)
        for half, some in zip(halves, (y[:80], y[80:]), strict=True)
    )
    both, mine, theirs = (m.importance().to_dict() for m in (one + other, one, other))
    for name in both:
        assert both[name] == pytest.approx((mine[name] + theirs[name]) / 2)
    before = whole.importance().to_dict()
    assert whole.forget(halves[1], y[80:]).importance().to_dict() == pytest.approx(before)
    one.partial_fit({k: v[:2] for k, v in halves[1].items()}, y[80:82])
    for name, decibans in one.importance().to_dict().items():  # two rows change little
        assert decibans == pytest.approx(mine[name], abs=1.0)


def test_aode_that_forgets_keeps_no_row():
    X, y = table(n=60, n_classes=2)
    model = AODE().fit(X, y)
    assert model.forget({k: v[:5] for k, v in X.items()}, y[:5]).model_.sample is None
    assert (model + AODE(bins=model.bins_).fit(X, y)).model_.sample is None


def test_curves_of_other_classes_are_not_shown():
    X, y = table(n=90, n_classes=3)
    y = np.asarray(y)
    model = AODE().fit(X, y)
    gone = {k: [v for v, label in zip(X[k], y, strict=True) if label == "eggs"] for k in X}
    model.forget(gone, y[y == "eggs"])
    assert len(model.importance()[0].by_class) == 2
    with pytest.raises(InputError, match=r"other classes.*curve\(column, X=rows\)"):
        model.curve("size")
    assert model.curve("size", X=X).decibans.shape[1] == 2


def test_classes_that_come_later_are_put_in_their_place():
    one = MeasuredEvidence(np.array(["b"]), np.ones(1), np.array([[2.0]]), np.array([[3.0]]))
    other = MeasuredEvidence(np.array(["a"]), 3 * np.ones(1), np.array([[6.0]]), np.array([[7.0]]))
    both = (one + other).among(np.array(["a", "b", "c"]))
    np.testing.assert_array_equal(both.weight, [3, 1, 0])
    np.testing.assert_array_equal(both.mean, [[6, 2, 0]])
    assert both.share @ both.absolute[0] == 6.0


# ---------------------------------------------------------------------- what is not known


def test_what_was_not_measured_is_not_shown(tmp_path):
    X, y = table(n=60, n_classes=2)
    estimator = AODE().fit(X, y)
    content = AODE._to_stored(estimator.model_, estimator.get_params(), None, True)
    older = {n: a for n, a in content.arrays.items() if not n.startswith("evidence_")}
    described = {k: v for k, v in content.description.items() if k != stored.KEY}
    model = AODE.from_stored(type(content)("AODE", content.counts, described, arrays=older))
    with pytest.raises(InputError, match=r"not measured in training.*importance\(X, y\)"):
        model.importance()
    with pytest.raises(InputError, match=r"not measured in training.*curve\(column, X=rows\)"):
        model.curve("size")
    assert model.importance(X, y).to_dict() == pytest.approx(estimator.importance().to_dict())
    shown, wanted = (
        dict(zip(c.x, c.decibans[:, 0], strict=True))
        for c in (model.curve("size", X=X), estimator.curve("size"))
    )
    assert shown == pytest.approx(wanted)
    model.save(tmp_path / "old.deciban")
    assert "not measured in training" in done("inspect", tmp_path / "old.deciban")


def test_bad_rows_to_measure_on():
    X, y = counts_of_events(2)
    model = LogisticRegression().fit(X, y)
    with pytest.raises(InputError, match="sparse rows"):
        model.importance(sparse.csr_array(X), y)
    with pytest.raises(ParameterError, match="no column of labels"):
        model.importance(X, target="y")
    with pytest.raises(InputError, match="class 9 was never counted"):
        NaiveBayes().fit({"x": ["S", "L"]}, [1, 2]).importance({"x": ["S"]}, [9])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda d, a: a.pop("evidence_weight"), "'evidence_weight' is missing"),
        (lambda d, a: a.update(evidence_means=-a["evidence_means"]), "below zero"),
        (lambda d, a: a.update(evidence_curves=a["evidence_curves"][1:]), "'evidence_curves' must"),
        (lambda d, a: d.pop("curves"), "belongs to nothing"),
        (
            lambda d, a: d.update(curves=[{**d["curves"][0], "column": "no"}, *d["curves"][1:]]),
            "no",
        ),
        (lambda d, a: d.update(curves=[3]), "expected `object`"),
    ],
)
def test_a_damaged_file_is_refused(change, words):
    X, y = table(n=60, n_classes=2)
    estimator = AODE().fit(X, y)
    content = AODE._to_stored(estimator.model_, estimator.get_params(), None, True)
    about, arrays = dict(content.description), dict(content.arrays)
    change(about, arrays)
    with pytest.raises(ModelFileError, match=words):
        AODE.from_stored(type(content)("AODE", content.counts, about, arrays=arrays))


# ---------------------------------------------------------------------- measured curves


@pytest.mark.parametrize("kind", [AODE, BayesClassifier])
def test_a_measured_curve_is_the_mean_evidence_of_its_values(kind, tmp_path):
    X, y = table(n=90, n_classes=3)
    model = kind().fit(X, y)
    model.save(tmp_path / "m.deciban")
    loaded = deciban.load(tmp_path / "m.deciban")
    for column in model.schema_.names:
        j = model.schema_.names.index(column)
        shown, again = model.curve(column), loaded.curve(column)
        assert (shown.x, shown.edges, shown.labels) == (again.x, again.edges, again.labels)
        np.testing.assert_allclose(shown.decibans, again.decibans)
        assert shown.low is None
        assert shown.chart().to_dict()
        evidence, values = model.evidence(X)[:, j], X[column]
        if shown.edges is None:
            for value, said in zip(shown.x, shown.decibans, strict=True):
                mine = [v == value for v in values]
                np.testing.assert_allclose(said, evidence[mine].mean(axis=0), atol=1e-9)
    with pytest.raises(InputError, match="depends on the other features"):
        model.nomogram()


# ---------------------------------------------------------------------- the command


def test_training_prints_what_importance_returns(tmp_path):
    words = {"no": "bad awful poor", "yes": "good fine great"}
    y = ["no", "yes"] * 40
    frame = pd.DataFrame(
        {
            "stars": [i % 5 + (label == "yes") for i, label in enumerate(y)],
            "review": [f"a {words[label]} film with number {i}" for i, label in enumerate(y)],
            "y": y,
        }
    )
    frame.to_csv(tmp_path / "t.csv", index=False)
    shown = done("train", tmp_path / "t.csv", "--target", "y", "-o", tmp_path / "t.deciban")
    assert "ignored columns" not in shown
    model = deciban.load(tmp_path / "t.deciban")
    for weight in model.importance():
        assert f"{weight.feature:7}  {weight.decibans:14.1f}" in shown
    assert model.importance()["review"].decibans > 5
    told = done("predict", tmp_path / "t.deciban", tmp_path / "t.csv", "--evidence", "--digits", 17)
    lines = [line.split(",") for line in told.splitlines()]
    for line in lines[1:]:
        row = dict(zip(lines[0], line, strict=True))
        total = sum(float(value) for name, value in row.items() if name.startswith("db_"))
        odds = float(row[f"p_{row['prediction']}"]) / float(row[f"p_{row['runner_up']}"])
        assert total == pytest.approx(10 * np.log10(odds), abs=1e-6)
    assert {"db_prior", "db_stars", "db_review"} <= set(lines[0])
