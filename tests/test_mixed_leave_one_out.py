"""Leaving one row out is exactly refitting without it, the choices held."""

from dataclasses import replace

import numpy as np
import pytest

from deciban import NaiveBayes
from deciban.engines import Plan
from deciban.engines.local.count import count_batch
from deciban.families.categorical import estimate_shares
from deciban.families.histogram import bin_codes
from deciban.models import prior, scores
from deciban.models.calibration import discount_evidence
from deciban.sources import scan
from deciban.sources.labelled import LabelledBatch
from deciban.stats.categories import count_of
from deciban.stats.table import DenseSum, Table
from mixed import part, table

WAYS = [
    {},
    {"numeric": "gaussian"},
    {"numeric": "gaussian", "method": "map", "smoothing": 2.0},
    {"numeric": "gaussian", "method": "ml", "missing": "skip"},
    {"numeric": "histogram", "missing": "value"},
    {"numeric": "mdl", "smoothing": 0.3},
    {"numeric": "histogram", "method": "map", "smoothing": 1.5, "missing": "value"},
    {"numeric": "histogram", "method": "ml"},
    {"kinds": {"age": "categorical"}, "prior": "uniform", "smoothing": {"age": 0.1}},
    {"calibrate": False},
]


def one_row_less(table, rows, class_code, codes, weight):
    """A table of categories less one row, whose values have these codes."""
    fewer = count_of(table).copy()
    fewer[class_code, (table.cells.offsets[:-1] + codes)[codes >= 0]] -= weight
    sums = {"count": DenseSum(np.where(fewer > 1e-9, fewer, 0.0))}
    return Table(table.statistic, table.cells, rows, sums)


def refitted(m, left, block, X, label, weight):
    """The parameters of a block without the row."""
    table, how, own = block.table, block.settings, m.classes.tolist().index(label)
    if block.family.name == "gaussian":
        source = left.tables["moments"]
        names = source.cells.columns.tolist()
        at = [names.index(column) for column in table.cells.columns.tolist()]
        sums = {
            part: type(some)(np.ascontiguousarray(some.digits[:, at]), some.base)
            for part, some in source.sums.items()
        }
        less = Table(table.statistic, table.cells, left.weight, sums)
        return block.family.estimate(less, how)
    if block.family.name == "histogram":  # the same bins
        fitted = block.parameters
        bins = fitted.bins.table
        less = one_row_less(bins, left.weight, own, bin_codes(fitted.edges, X)[0], weight)
        extra = how.pseudo_counts(len(bins.cells.columns))
        sizes = np.diff(bins.cells.offsets).astype(float)
        return replace(fitted, bins=estimate_shares(less, extra, sizes))
    less = one_row_less(table, left.weight, own, X[0], weight)
    return block.family.estimate(less, how)


def without(model, batch, label, weight):
    """Log posteriors of one row by a model that never saw it: counts less the row's."""
    m = model.model_
    one = LabelledBatch(batch, np.array([label]), np.zeros(1, np.intp), np.array([weight]))
    left = m.counts - count_batch(Plan(m.schema), one) if weight else m.counts
    left = Plan(m.schema).empty(m.classes) + left
    rows, log_prior = m.encode(batch), m.log_prior
    if m.prior is None:
        lam, method = m.options.prior_smoothing, m.options.method
        log_prior = prior.class_prior(left.weight, lam, method=method)
    evidence = np.zeros((1, len(log_prior)))
    for block in m.blocks:
        X = rows[block.name]
        refitted(m, left, block, X, label, weight).add(X, evidence)
    joint = discount_evidence(log_prior, evidence, m.discount)
    scores.normalise(joint, m.log_prior, logarithm=True)
    return joint[0]


def typed(X):
    """One batch a row, in the types of the whole column."""
    return iter(scan(X, rows=1))


def check(model, X, y, weight=None):
    weight = [1.0] * len(y) if weight is None else weight
    found = model.leave_one_out(X, y, sample_weight=weight)
    for i, batch in enumerate(typed(X)):
        want = without(model, batch, y[i], weight[i])
        # Beyond 1e300 nats, the rounding of what is impossible anyway.
        pair = (np.maximum(side, -1e300) for side in (found[i], want))
        np.testing.assert_allclose(*pair, rtol=1e-10, atol=1e-10, err_msg=f"row {i}")


@pytest.mark.parametrize("how", WAYS, ids=str)
def test_as_if_it_had_never_been_seen(how):
    X, y = table(40, n_classes=3)
    check(NaiveBayes(**how).fit(X, y), X, y)


@pytest.mark.parametrize("how", WAYS, ids=str)
def test_with_weights(how):
    X, y = table(40, n_classes=3, seed=1)
    weight = np.random.default_rng(0).choice([0.0, 0.1, 0.5, 1.0, 3.0], 40).tolist()
    check(NaiveBayes(**how).fit(X, y, sample_weight=weight), X, y, weight)


@pytest.mark.parametrize("method", ["bayes", "map", "ml"])
@pytest.mark.parametrize(
    "x",
    [
        [0.0, 1.0, 2.0, 1e9, 3.0, 5.0],
        [1e-9, 0.0, -1e-9, 1e6, 1.0, 2.0],
        [1.0, 1.0, 1.0, 2.0, 7.0, 8.0],
        [0.1, 0.1, 0.1, 0.3, 0.3, 0.3],
        [1.0, None, None, 2.0, 3.0, None],
        [1.0, None, None, None, None, None],
        [None, None, None, 5.0, 6.0, None],
    ],
    ids=str,
)
def test_outliers_and_single_values(x, method):
    X, y = {"x": x, "z": [1.0, 2.0, 4.0, 1.0, 3.0, 3.5]}, [0, 0, 0, 1, 1, 1]
    X = {name: np.array(values, dtype=float) for name, values in X.items()}
    model = NaiveBayes(numeric="gaussian", method=method, missing="skip").fit(X, y)
    check(model, X, y)


def test_the_only_row_of_a_class():
    X, y = {"x": ["a", "b", "b"], "z": [1.0, 2.0, 3.0]}, [0, 1, 1]
    for how in WAYS[:3]:
        check(NaiveBayes(**{**how, "kinds": None}).fit(X, y), X, y)


def test_refitting_says_the_same_where_it_chooses_the_same():
    """Nothing held: bins by value, smoothing stated, no value that only one row has."""
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 60)
    X = {
        "a": [str(v) for v in (rng.integers(0, 3, 60) + y) % 4],
        "b": [str(v) for v in rng.integers(0, 2, 60)],
    }
    how = {"smoothing": 0.7, "calibrate": False}
    found = NaiveBayes(**how).fit(X, y).leave_one_out(X, y)
    for i in range(60):
        rest = [j for j in range(60) if j != i]
        one, _ = part(X, y, [i])
        want = NaiveBayes(**how).fit(*part(X, y, rest)).predict_log_proba(one)[0]
        np.testing.assert_allclose(found[i], want, rtol=1e-10)


def test_bell_curves_against_refitting():
    rng = np.random.default_rng(4)
    y = rng.integers(0, 2, 40)
    X = {"a": rng.normal(size=40) + y, "b": 1e3 * rng.normal(size=40)}
    how = {"numeric": "gaussian", "smoothing": 2.0, "calibrate": False}
    found = NaiveBayes(**how).fit(X, y).leave_one_out(X, y)
    for i in range(40):
        rest = np.arange(40) != i
        m = NaiveBayes(**how).fit({n: v[rest] for n, v in X.items()}, y[rest])
        want = m.predict_log_proba({n: v[i : i + 1] for n, v in X.items()})[0]
        np.testing.assert_allclose(found[i], want, rtol=1e-10, atol=1e-12)
