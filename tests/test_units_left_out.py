"""Whole groups, or all that did not come before: judged as by a model that never saw them."""

from dataclasses import replace

import numpy as np
import pytest

from deciban import AODE, NaiveBayes
from deciban.aode.counting import count as count_pairs
from deciban.aode.model import AODEModel
from deciban.engines.local.count import count_batches
from deciban.engines.protocol import Plan
from deciban.families.categorical import estimate_shares
from deciban.families.histogram import HistogramParameters, bin_codes
from deciban.families.remaining import remaining_rows
from deciban.naive_bayes.model import NaiveBayesModel
from deciban.sources.labelled import LabelledBatch, labelled_scan
from deciban.sources.units import unit_source
from deciban.stats.categories import CATEGORIES
from deciban.stats.table import Table

N_ROWS = 90
WEIGHTS = {"once": None, "whole": "whole", "fractional": "fractional"}


def table(seed=0):
    """Numbers, counts, angles, categories and holes, in groups that are alike."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 15, N_ROWS)
    y = np.where(rng.random(N_ROWS) < 0.7, group % 3, rng.integers(0, 3, N_ROWS))
    number = rng.normal(y, 1.0) + rng.normal(0, 1, 15)[group]
    number[rng.random(N_ROWS) < 0.2] = np.nan
    kind = np.array(["a", "b", "c", "d"], dtype=object)[(group + rng.integers(0, 2, N_ROWS)) % 4]
    kind[rng.random(N_ROWS) < 0.2] = None
    X = {
        "number": number,
        "constant_in_group": group * 1.5,
        "count": rng.poisson(y + 1.0),
        "angle": (rng.normal(y, 0.5) * 57.3) % 360,
        "kind": kind,
        "rare": [f"r{g}" if g < 4 else "usual" for g in group],
    }
    return X, y, group


def texts(seed=0):
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 12, N_ROWS // 2)
    y = np.where(rng.random(len(group)) < 0.7, group % 2, rng.integers(0, 2, len(group)))
    words = [f"w{i}" for i in range(12)]
    bags = [
        " ".join([*rng.choice(words, 5), f"own{g}", f"class{label}", *["again"] * int(g == 3)])
        for g, label in zip(group, y, strict=True)
    ]
    return bags, y, group


def weights(how, n):
    rng = np.random.default_rng(5)
    return {
        None: None,
        "whole": rng.integers(0, 4, n).astype(float),
        "fractional": rng.random(n) + 0.05,
    }[how]


def counted(model, X, y, weight, **units):
    """The rows of a table that count, in the columns of a model."""
    rows = labelled_scan(
        X, y, weight=weight, units=unit_source(**units), caster=model.caster, classes=model.classes
    )
    batches = [batch.drop_zero_weights() for batch in rows.labelled_batches()]
    return LabelledBatch.concatenate(batches)


def kept(remaining, unit):
    return np.flatnonzero(~remaining.removed(unit))


def rest_counts(model, part, rows):
    """What is counted of some rows alone, in the classes of the model."""
    plan = Plan(model.schema, model.tokenizer)
    none = plan.empty(model.classes)
    if not len(rows):
        return none
    return none + count_batches(plan, iter([replace(part.take(rows), units=None)]))


def blocks_without(model, part, rows):
    """The blocks of a model whose columns were counted in some rows alone; what was chosen stays.

    So do the values that a column can take, and the bins of numbers.
    """
    counts = model.counts * 0.0 + rest_counts(model, part, rows)
    rest = NaiveBayesModel.of(
        model.schema, counts, model.options, prior=model.prior, choices=model.choices
    )
    for block, left in zip(model.blocks, rest.blocks, strict=True):
        if isinstance(block.parameters, HistogramParameters):
            yield _rebinned(model, block, part, rows)
        else:
            yield left.parameters


def _rebinned(model, block, part, rows):
    whole, bins = block.parameters, block.parameters.bins
    some = part.take(rows)
    X = bin_codes(whole.edges, model.encode(part.batch)[block.name][rows])
    y, K = some.codes_among(model.classes), len(model.classes)
    sums = CATEGORIES.count(X.astype(np.int64), y, K, some.weights, bins.table.cells)
    left = Table(CATEGORIES, bins.table.cells, np.bincount(y, some.weights, K) * 1.0, sums)
    return replace(whole, bins=estimate_shares(left, bins.pseudo_counts, bins.sizes))


def expected(model, part, remaining):
    out = np.zeros((part.n_rows, len(model.classes)))
    for unit in np.unique(remaining.unit):
        mine = np.flatnonzero(remaining.unit == unit)
        encoded = model.encode(part.take(mine).batch)
        left = blocks_without(model, part, kept(remaining, unit))
        for block, parameters in zip(model.blocks, left, strict=True):
            out[mine] += parameters.contributions(encoded[block.name]).sum(axis=1)
    return out


UNITS = {
    "groups": lambda group: {"groups": group},
    "time": lambda group: {"time": np.random.default_rng(2).integers(0, 12, len(group))},
}


@pytest.mark.parametrize("weight", WEIGHTS.values(), ids=WEIGHTS)
@pytest.mark.parametrize("units", UNITS.values(), ids=UNITS)
@pytest.mark.parametrize(
    ("options"),
    [{}, {"numeric": "gaussian"}, {"numeric": "histogram"}, {"numeric": "poisson"},
     {"method": "map", "smoothing": 0.5}, {"method": "map", "smoothing": 2.0},
     {"method": "ml", "missing": "value"}, {"numeric": "mdl", "missing": "value"}],
    ids=str,
)  # fmt: skip
def test_a_row_is_judged_as_by_a_model_without_its_unit(options, units, weight):
    X, y, group = table()
    w = weights(weight, N_ROWS)
    given = units(group)
    m = NaiveBayes(calibrate=False, kinds={"angle": "cyclic:360"}, **options)
    m.fit(X, y, sample_weight=w, **given)
    part = counted(m.model_, X, y, w, **given)
    remaining = remaining_rows(part, m.classes_)
    _, log_likelihood = m.model_.leave_out(part.batch, remaining)
    np.testing.assert_allclose(
        log_likelihood, expected(m.model_, part, remaining), rtol=1e-9, atol=1e-9
    )


@pytest.mark.parametrize("weight", WEIGHTS.values(), ids=WEIGHTS)
@pytest.mark.parametrize("units", UNITS.values(), ids=UNITS)
@pytest.mark.parametrize(
    "options",
    [{}, {"text": "bernoulli"}, {"text": "complement"}, {"text": "binary"},
     {"method": "ml"}, {"method": "map", "smoothing": 0.5}],
    ids=str,
)  # fmt: skip
def test_a_text_is_judged_as_by_a_model_without_its_unit(options, units, weight):
    X, y, group = texts()
    w = weights(weight, len(y))
    given = units(group)
    m = NaiveBayes(**options).fit(X, y, sample_weight=w, **given)
    model = m.model_
    part = counted(model, X, y, w, **given)
    remaining = remaining_rows(part, m.classes_)
    log_prior, log_likelihood = model.leave_out(part.batch, remaining)
    for unit in np.unique(remaining.unit):
        mine, rest = np.flatnonzero(remaining.unit == unit), kept(remaining, unit)
        if not len(rest):
            np.testing.assert_allclose(log_likelihood[mine], 0.0, atol=1e-12)
            continue
        other = NaiveBayesModel.of(
            model.schema, rest_counts(model, part, rest), model.options,
            choices={}, text_choices=model.text_choices,
        )  # fmt: skip
        batch = part.take(mine).batch
        out = np.zeros((len(mine), len(model.classes)))
        for block in other.blocks:
            block.parameters.add(other.encode(batch)[block.name], out)
        np.testing.assert_allclose(log_likelihood[mine], out, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(log_prior[mine], np.tile(other.log_prior, (len(mine), 1)))


@pytest.mark.parametrize("units", UNITS.values(), ids=UNITS)
def test_likelihoods_are_those_of_a_model_without_the_unit(units):
    X, y, group = texts()
    given = units(group)
    m = NaiveBayes().fit(X, y, **given)
    model = m.model_
    part = counted(model, X, y, None, **given)
    remaining = remaining_rows(part, m.classes_)
    rows = model.likelihoods.leave_out(part.batch, remaining)
    for unit in np.unique(remaining.unit):
        mine, rest = np.flatnonzero(remaining.unit == unit), kept(remaining, unit)
        if not len(rest):
            continue
        other = NaiveBayesModel.of(model.schema, rest_counts(model, part, rest), model.options)
        expected_rows = other.row_likelihoods(part.take(mine).batch)
        np.testing.assert_allclose(rows.log_likelihood[mine], expected_rows.log_likelihood)
        np.testing.assert_array_equal(rows.size[mine], expected_rows.size)


@pytest.mark.parametrize("units", UNITS.values(), ids=UNITS)
def test_numbers_beyond_those_that_are_left(units):
    X, y, group = table()
    X = {"number": X["number"], "count": X["count"]}
    given = units(group)
    m = NaiveBayes(numeric="gaussian").fit(X, y, **given)
    model = m.model_
    part = counted(model, X, y, None, **given)
    remaining = remaining_rows(part, m.classes_)
    rows = model.likelihoods.leave_out(part.batch, remaining).log_likelihood
    for unit in np.unique(remaining.unit):
        mine, rest = np.flatnonzero(remaining.unit == unit), kept(remaining, unit)
        if not len(rest):
            continue
        counts = rest_counts(model, part, rest)
        other = NaiveBayesModel.of(model.schema, counts, model.options, choices=model.choices)
        np.testing.assert_allclose(
            rows[mine], other.row_likelihoods(part.take(mine).batch).log_likelihood
        )


@pytest.mark.parametrize("weight", WEIGHTS.values(), ids=WEIGHTS)
@pytest.mark.parametrize("units", UNITS.values(), ids=UNITS)
def test_aode_judges_a_row_as_without_its_unit(units, weight):
    X, y, group = table()
    w = weights(weight, N_ROWS)
    given = units(group)
    m = AODE(calibrate=False).fit(X, y, sample_weight=w, **given)
    model = m.model_
    part = counted(model, X, y, w, **given)
    remaining = remaining_rows(part, m.classes_)
    _, log_likelihood = model.leave_out(part.batch, remaining)
    for unit in np.unique(remaining.unit):
        mine, rest = np.flatnonzero(remaining.unit == unit), kept(remaining, unit)
        if not len(rest):
            continue
        some = iter([replace(part.take(rest), units=None)])
        counts = count_pairs(model.schema, some, model.pair_counts.cut_points, 1 << 30)
        counts = counts.widen(model.counts)
        other = AODEModel(model.schema, counts, model.options, calibration=model.calibration)
        object.__setattr__(other, "choices", model.choices)
        object.__setattr__(other, "m", model.m)
        np.testing.assert_allclose(
            log_likelihood[mine],
            other.row_likelihoods(part.take(mine).batch).log_likelihood,
            rtol=1e-9, atol=1e-9,
        )  # fmt: skip


def test_values_far_from_their_spread_are_left_out_exactly():
    """A group that holds nearly all of the spread of its class leaves rounding behind."""
    x = np.array([1e9, 1e9 + 1, 1e9 + 2, -3e13, 4e13, 1e9 + 5, 2.0, 3.0])
    y, group = [0, 0, 0, 0, 0, 0, 1, 1], np.array([0, 1, 2, 3, 3, 4, 5, 6])
    m = NaiveBayes(numeric="gaussian", method="ml", calibrate=False).fit({"x": x}, y, groups=group)
    part = counted(m.model_, {"x": x}, y, None, groups=group)
    remaining = remaining_rows(part, m.classes_)
    _, log_likelihood = m.model_.leave_out(part.batch, remaining)
    np.testing.assert_allclose(log_likelihood, expected(m.model_, part, remaining), rtol=1e-9)


def test_groups_of_one_row_are_leave_one_out():
    X, y, _ = table()
    m = NaiveBayes(kinds={"angle": "cyclic:360"}).fit(X, y)
    alone = m.leave_one_out(X, y, groups=np.arange(N_ROWS))
    np.testing.assert_allclose(alone, m.leave_one_out(X, y), rtol=1e-9, atol=1e-9)
