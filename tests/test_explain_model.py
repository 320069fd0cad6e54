"""What a model says as a whole: importance, curves, nomograms, counterfactuals, charts."""

import itertools
import math
import sys

import numpy as np
import pytest

from deciban import NaiveBayes
from deciban.errors import InputError, MissingPackageError, ParameterError, ShapeError
from deciban.evaluation import measure_reliability
from deciban.explanation import Counterfactual
from deciban.naive_bayes import BernoulliNB, CategoricalNB, GaussianNB
from deciban.naive_bayes.model import NaiveBayesModel
from explainable import ADDITIVE, MODELS, fields_of
from models import table as plain_table

each = pytest.mark.parametrize("name", MODELS)
each_additive = pytest.mark.parametrize("name", ADDITIVE)
DECIBANS = 10 / math.log(10)


def sizes(n=200, seed=0, classes=2):
    """One telling category, one number, one column of noise."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, n)
    X = {
        "size": [["S", "M", "L"][v] for v in (y + (rng.random(n) < 0.2)) % 3],
        "age": np.round(rng.normal(3.0 * y, 2.0), 1).tolist(),
        "noise": [["u", "v"][v] for v in rng.integers(0, 2, n)],
    }
    return X, [["ham", "spam", "eggs"][v] for v in y]


# ---------------------------------------------------------------------- importance


def test_importance_by_hand():
    model = NaiveBayes(smoothing=0, calibrate=False).fit(
        {"x": ["S"] * 3 + ["L"] + ["S"] + ["L"] * 3}, ["a"] * 4 + ["b"] * 4
    )
    expected = 0.75 * 10 * math.log10(3) - 0.25 * 10 * math.log10(3)
    (weight,) = model.importance()
    assert weight.decibans == pytest.approx(expected)
    assert sum(weight.by_class) == pytest.approx(weight.decibans)


@each
@pytest.mark.parametrize("classes", [2, 3])
def test_importance_is_in_order_and_shown(name, classes):
    model, _ = MODELS[name](classes)
    found = model.importance()
    assert [w.decibans for w in found] == sorted((w.decibans for w in found), reverse=True)
    if name not in ("MultinomialNB", "ComplementNB"):  # there only the sum is a divergence
        assert all(weight.decibans > -1e-9 for weight in found)
    assert sum(weight.decibans for weight in found) > 0
    assert str(found).splitlines()[0].split() == ["feature", "decibans", "a", "row"]
    assert found[0].feature in found._repr_html_()


def test_importance_is_what_rows_of_the_model_say_on_average():
    X, y = plain_table(rows=200, classes=3)
    model = CategoricalNB(alpha=1e-9).fit(X, y)
    said = model.evidence(X)[np.arange(200), :, y].mean(axis=0)
    found = model.importance().to_dict()
    np.testing.assert_allclose([found[f"x{j}"] for j in range(4)], said, atol=1e-6)


def test_noise_says_nothing():
    found = NaiveBayes().fit(*sizes()).importance().to_dict()
    assert found["noise"] < 0.05 < found["age"] < found["size"]
    with pytest.raises(InputError, match="no feature 'nose'"):
        NaiveBayes().fit(*sizes()).importance()["nose"]


# ---------------------------------------------------------------------- curves


@each_additive
@pytest.mark.parametrize("classes", [2, 3])
def test_a_curve_is_the_evidence_of_its_values(name, classes):
    model, rows = MODELS[name](classes)
    for piece in model.model_.pieces():
        found = model.curve(piece.name, against=model.classes_[0])
        assert found.decibans.shape == (len(piece.values), classes)
        if found.low is not None:
            assert np.all(found.low <= found.decibans)
            assert np.all(found.decibans <= found.high)
        if piece.name != piece.feature or piece.feature == "when":
            continue
        shown = _said(model, rows[0], piece.feature, piece.values, name)
        missing = _piece(model, f"{piece.feature} (missing)")
        extra = 0.0 if missing is None else missing[False]
        np.testing.assert_allclose(found.decibans + extra, shown, atol=1e-8)


def _said(model, row, feature, values, name):
    """What rows with these values get for the feature, from the model itself."""
    if name.startswith("NaiveBayes"):
        at = list(model.schema_.names).index(feature)
        some = [{**row, feature: value} for value in values]
    else:
        at = int(feature[1:])
        some = np.array([row] * len(values))
        some[:, at] = values
    return model.evidence(some, against=model.classes_[0])[:, at]


def _piece(model, name):
    for piece in model.model_.pieces():
        if piece.name == name:
            said = DECIBANS * (piece.log_likelihood - piece.log_likelihood[:, :1])
            return dict(zip(piece.values, said, strict=True))
    return None


def test_few_rows_have_a_wide_band():
    X, y = sizes(2000)
    few, many = (
        NaiveBayes(smoothing=1, calibrate=False, numeric="gaussian").fit(
            {k: v[:n] for k, v in X.items()}, y[:n]
        )
        for n in (40, 2000)
    )
    for column in ("noise", "age"):
        widths = [np.mean(m.curve(column).high - m.curve(column).low) for m in (few, many)]
        assert widths[0] > 2 * widths[1]
    assert few.curve("size").rows.sum() == 40
    wide, narrow = few.curve("size", level=0.99), few.curve("size", level=0.5)
    assert np.all(wide.low <= narrow.low)
    assert np.all(wide.high >= narrow.high)


def test_the_band_of_a_category_is_that_of_its_beta_posteriors():
    from scipy import stats

    x = ["S"] * 30 + ["L"] * 10 + ["S"] * 12 + ["L"] * 28
    model = NaiveBayes(smoothing=1, calibrate=False).fit({"x": x}, ["a"] * 40 + ["b"] * 40)
    found = model.curve("x", against="b")
    rng = np.random.default_rng(1)
    a, b = (stats.beta(n + 1, 41 - n).rvs(20000, random_state=rng) for n in (30, 12))
    low, high = np.quantile(10 * np.log10(a / b), [0.025, 0.975])
    small = found.x.index("S")
    assert found.low[small, 0] == pytest.approx(low, abs=0.3)
    assert found.high[small, 0] == pytest.approx(high, abs=0.3)


def test_bad_curves():
    model = NaiveBayes().fit(*sizes())
    with pytest.raises(InputError, match=r"no column 'agee'.*'age'"):
        model.curve("agee")
    with pytest.raises(ParameterError, match="level must be between 0 and 1, got 95"):
        model.curve("age", level=95)
    with pytest.raises(InputError, match="unknown class 'x'"):
        model.curve("age").of("x")


# ---------------------------------------------------------------------- nomograms


@pytest.mark.parametrize("numeric", ["auto", "histogram", "gaussian"])
@pytest.mark.parametrize("classes", [2, 3])
def test_points_read_off_the_chart_give_the_probability_back(numeric, classes):
    X, y = sizes(classes=classes)
    X["age"][3] = X["size"][5] = None
    model = NaiveBayes(numeric=numeric).fit(X, y)
    paper = model.nomogram()
    chart = paper.chart().to_dict()
    printed = read_off(chart)
    totals = chart["vconcat"][1]
    for i in range(16):
        row = {name: values[i] for name, values in X.items()}
        proba = model.predict_proba([row])[0]
        pair = [list(model.classes_).index(c) for c in (paper.of, paper.against)]
        share = proba[pair[0]] / proba[pair].sum()
        exact = 1e-9 if numeric == "histogram" else 0.01
        assert paper.probability(paper.total(row)) == pytest.approx(share, abs=exact)
        if numeric != "histogram" or None in row.values():
            continue
        points = sum(printed[scale.name][label_of(scale, row)] for scale in paper.scales)
        assert paper.probability(points) == pytest.approx(share, abs=0.02)
    assert totals["layer"]


def label_of(scale, row):
    """The label that a reader would look for."""
    if scale.name.endswith("(missing)"):
        return "present"
    if scale.edges is None:
        return row[scale.name]
    return scale.labels[np.searchsorted(scale.edges, row[scale.name], "right")]


def read_off(chart):
    """The points of every label in the data of the chart, to one digit, as a pencil has them."""
    found = {}
    for values in chart["datasets"].values() if "datasets" in chart else _values(chart):
        for row in values:
            if "points" in row and "feature" in row:
                found.setdefault(row["feature"], {})[row["label"]] = round(row["points"], 1)
    return found


def _values(node):
    """All inline data of a chart."""
    if isinstance(node, dict):
        rows = node.get("values")
        if isinstance(rows, list) and rows and isinstance(rows[0], dict):
            yield rows
        for part in node.values():
            yield from _values(part)
    elif isinstance(node, list):
        for part in node:
            yield from _values(part)


@each_additive
def test_every_additive_model_has_a_nomogram(name):
    model, rows = MODELS[name](2)
    paper = model.nomogram()
    assert (paper.of, paper.against) == tuple(model.classes_.tolist()[::-1])
    assert max(scale.points.max() for scale in paper.scales) == pytest.approx(100)
    assert min(scale.points.min() for scale in paper.scales) == 0
    assert paper.probability(paper.points(0.3)) == pytest.approx(0.3)
    if not name.startswith("NaiveBayes"):
        row = {f"x{j}": value for j, value in enumerate(rows[0])}
        if name == "BernoulliNB":
            row = {key: float(value > 0) for key, value in row.items()}
        share = model.predict_proba(rows[:1])[0, 1]
        assert paper.probability(paper.total(row)) == pytest.approx(share, abs=0.01)


def test_bad_nomograms():
    model = NaiveBayes().fit(*sizes())
    with pytest.raises(InputError, match="compared with itself"):
        model.nomogram("ham", "ham")
    with pytest.raises(InputError, match="unknown class 'x'"):
        model.nomogram("x")
    with pytest.raises(InputError, match="has no value 'XXL'"):
        model.nomogram().total({"size": "XXL"})
    pure = NaiveBayes(smoothing=0, calibrate=False)
    with pytest.raises(InputError, match="excludes a class"):
        pure.fit({"x": ["S", "L"]}, ["a", "b"]).nomogram()
    with pytest.raises(InputError, match="only one class"):
        NaiveBayes().fit({"x": ["S", "L"]}, ["a", "a"]).nomogram()


# ---------------------------------------------------------------------- counterfactuals


@each
@pytest.mark.parametrize("classes", [2, 3])
def test_counterfactuals_turn_the_answer_over(name, classes):
    model, rows = MODELS[name](classes)
    for row in rows[:4]:
        found = model.counterfactual(row)
        if found is None:
            continue
        assert isinstance(found, Counterfactual)
        changed = _with(row, found)
        assert model.predict([row] if isinstance(row, dict) else row[None])[0] == found.answer
        new = model.predict([changed] if isinstance(row, dict) else changed[None])[0]
        assert new == found.new_answer != found.answer
        assert found.probability_after > found.probability_before


def _with(row, found):
    if isinstance(row, dict):
        return {**row, **{c.feature: c.after for c in found.changes}}
    changed = row.copy()
    for change in found.changes:
        changed[int(change.feature[1:])] = change.after
    return changed


@pytest.mark.parametrize("classes", [2, 3])
def test_no_smaller_set_of_changes_does(classes):
    rng = np.random.default_rng(3)
    X = rng.integers(0, 3, (80, 5)).astype(float)
    y = (X[:, 0] + X[:, 1] + rng.integers(0, 2, 80)).astype(int) % classes
    model = CategoricalNB().fit(X, y)
    for row in X[:12]:
        found = model.counterfactual(row)
        smallest = len(found.changes)
        for k in range(1, smallest):
            for columns in itertools.combinations(range(5), k):
                for values in itertools.product(range(3), repeat=k):
                    other = row.copy()
                    other[list(columns)] = values
                    assert model.predict(other[None])[0] == found.answer


def test_what_is_fixed_stays_and_limits_hold():
    X, y = sizes()
    model = NaiveBayes().fit(X, y)
    row = {"size": "S", "age": 0.0, "noise": "u"}
    found = model.counterfactual(row)
    fixed = found.changes[0].feature
    other = model.counterfactual(row, fixed=[fixed])
    assert other is None or fixed not in {c.feature for c in other.changes}
    assert model.counterfactual(row, fixed=["size", "age", "noise"]) is None
    assert model.counterfactual(row, target="ham") is None
    assert model.counterfactual(row, target="spam").new_answer == "spam"
    assert f"spam instead of {found.answer}" in str(found)
    with pytest.raises(InputError, match="no column 'sise'"):
        model.counterfactual(row, fixed=["sise"])
    with pytest.raises(ParameterError, match="max_changes"):
        model.counterfactual(row, max_changes=0)
    with pytest.raises(InputError, match="unknown class"):
        model.counterfactual(row, target="nobody")


def test_numbers_move_no_further_than_needed():
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.normal(0, 1, 300), rng.normal(4, 1, 300)])
    model = NaiveBayes(numeric="gaussian").fit({"x": x}, [0] * 300 + [1] * 300)
    (change,) = model.counterfactual({"x": 0.0}).changes
    assert 1.9 < change.after < 2.4


# ---------------------------------------------------------------------- charts


@pytest.mark.parametrize("classes", [2, 3])
def test_charts_are_valid_and_say_decibans(classes):
    X, y = sizes(classes=classes)
    model = NaiveBayes().fit(X, y)
    row = {"size": "S", "age": 0.0, "noise": "u"}
    charts = [
        model.plot.evidence("age"),
        model.plot.evidence("size"),
        model.plot.evidence("size", of="spam", against="ham"),
        model.plot.evidence(row=row),
        model.plot.importance(),
    ]
    for chart in charts:
        assert "decibans" in chart.to_json()
    assert "probability" in model.plot.nomogram().to_json()
    assert "came true" in model.plot.reliability(X, y).to_json()
    with pytest.raises(ParameterError, match="either a column or a row"):
        model.plot.evidence()


def test_a_chart_is_drawn():
    import vl_convert

    X, y = sizes()
    model = NaiveBayes().fit(X, y)
    for chart in (model.plot.nomogram(), model.plot.evidence("size")):
        drawn = vl_convert.vegalite_to_svg(chart.to_json())
        assert "size" in drawn


def test_without_altair_the_error_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "altair", None)
    model = NaiveBayes().fit(*sizes())
    with pytest.raises(MissingPackageError, match=r"pip install 'deciban\[charts\]'"):
        model.plot.nomogram()


def test_reliability_by_hand():
    class Fixed:
        classes_ = np.array(["a", "b"])

        def predict_proba(self, X):
            return np.array([[0.75, 0.25], [0.75, 0.25], [0.75, 0.25], [0.1, 0.9]])

    found = measure_reliability(Fixed(), None, ["a", "a", "b", "b"], bins=4)
    assert found.rows.tolist() == [3, 1]
    assert found.observed.tolist() == pytest.approx([1 / 3, 1])
    assert found.predicted.tolist() == pytest.approx([0.25, 0.9])
    assert np.all(found.low <= found.observed)
    assert np.all(found.observed <= found.high)
    with pytest.raises(ShapeError, match="X has 4 rows, y has 1"):
        measure_reliability(Fixed(), None, ["a"])
    with pytest.raises(ParameterError, match="bins"):
        measure_reliability(Fixed(), None, ["a"] * 4, bins=1)


def test_presence_is_above_the_threshold():
    model = BernoulliNB(binarize=2.5).fit([[0, 9], [1, 8], [9, 0], [8, 1]], [0, 0, 1, 1])
    assert model.counterfactual([0, 9]).new_answer == 1
    assert GaussianNB().fit([[0.0], [1.0], [8.0], [9.0]], [0, 0, 1, 1]).curve("x0").rows is None


def test_a_model_that_does_not_add_up_has_no_nomogram_but_counterfactuals():
    class Together(NaiveBayes):
        pass

    class NotAdditive(NaiveBayesModel):
        additive = False

    model = Together().fit(*sizes())
    model.model_ = NotAdditive(**fields_of(model.model_))
    for call in (model.nomogram, lambda: model.curve("age")):
        with pytest.raises(InputError, match="depends on the other features in Together"):
            call()
    row = {"size": "S", "age": 0.0, "noise": "u"}
    assert model.counterfactual(row).new_answer == "spam"


def test_a_model_without_tables_still_explains():
    class Bare(NaiveBayes):
        pass

    class WithoutPieces(NaiveBayesModel):
        def pieces(self):
            return ()

    model = Bare().fit(*sizes())
    model.model_ = WithoutPieces(**fields_of(model.model_))
    assert model.explain({"size": "S"}).answer == "ham"
    with pytest.raises(InputError, match="Bare has no tables of evidence"):
        model.curve("age")
