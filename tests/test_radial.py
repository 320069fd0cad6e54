"""Radial basis functions: left-out rows against refits, and what the base learner is worth."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.special import log_softmax

from deciban import BayesClassifier, load
from internals import radial, radial_hold_out, radial_path

FLOATS = st.floats(-3, 3).map(lambda x: round(x, 3))


def ring(n=300, seed=0, noise=2):
    """Rows inside and outside of a circle, and columns of noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2 + noise))
    return X, (np.hypot(X[:, 0], X[:, 1]) > 1.2).astype(int)


def fit(Z, y, weight=None, splits=None):
    weight = np.ones(len(y)) if weight is None else weight
    offset = np.zeros(int(y.max()) + 1)
    return radial.fit(Z, y, weight, weight, offset, splits)


def spread(U):
    """How far two rows are apart in the mean of squares."""
    return np.sum((U[:, None] - U[None]) ** 2, axis=2).mean()


# ---------------------------------------------------------------------- left-out rows


def regression(seed=0, n=30, m=6):
    rng = np.random.default_rng(seed)
    U, centres = rng.normal(size=(n, 2)), rng.normal(size=(m, 2))
    F, K = radial.compare(U, centres), radial.compare(centres, centres) + 1e-4 * np.eye(m)
    return F, np.eye(3)[rng.integers(0, 3, n)], K, rng.choice([0.4, 1.0, 3.0], n)


def test_a_ridge_regression_solves_its_equations():
    F, Y, K, weight = regression()
    path = radial_path.of(F, Y, K, weight)
    for penalty in radial.PENALTIES:
        coef, constants = path.solve(penalty)
        residual = weight[:, None] * (Y - F @ coef - constants)
        np.testing.assert_allclose(residual.sum(axis=0), 0, atol=1e-9)
        np.testing.assert_allclose(F.T @ residual, penalty * K @ coef, atol=1e-9)


def test_a_row_is_left_out_exactly():
    F, Y, K, weight = regression()
    penalties = radial.PENALTIES
    left_out = radial_path.of(F, Y, K, weight).leave_one_out(F, Y, weight, penalties)
    for i in range(len(Y)):
        fewer = weight.copy()
        fewer[i] -= min(weight[i], 1.0)
        refit = radial_path.of(F, Y, K, fewer).scores(F[[i]], penalties)
        for scores, expected in zip(left_out, refit, strict=True):
            np.testing.assert_allclose(scores[i], expected[0], rtol=1e-7, atol=1e-9)


def least_loss(X, y, centres, penalties):
    """What left-out rows lose under the best factor of each penalty."""
    K = radial.compare(centres, centres) + radial.JITTER * np.eye(len(centres))
    F, Y = radial.compare(X, centres), np.eye(2)[y]
    path = radial_path.of(F, Y, K, np.ones(len(y)))
    factors = np.linspace(0.0, 30.0, 601)
    return [
        min(-log_softmax(f * scores, axis=1)[np.arange(len(y)), y].sum() for f in factors)
        for scores in path.leave_one_out(F, Y, np.ones(len(y)), penalties)
    ]


def test_distance_and_penalty_are_those_of_least_log_loss(monkeypatch):
    monkeypatch.setattr(radial, "MAX_TRIED_CENTRES", 25)
    monkeypatch.setattr(radial, "MAX_TRIED_ROWS", 60)
    seen = set()
    for seed, noise in [(0, 0), (1, 2), (2, 20), (3, 60)]:
        X, y = ring(120, seed, noise)
        X, y = X[::-1], y[::-1]  # the second half of the rows is not every second one
        fitted = fit(X, y)
        basis, step = fitted.basis, -(-len(fitted.basis) // 25)
        distance = spread(X * basis.scale)
        tried = {}
        for wanted in radial.MEAN_SQUARED_DISTANCES:
            reach = np.sqrt(wanted / distance)
            rows, centres = X[::2] * basis.scale * reach, basis.centres[::step] * reach
            losses = least_loss(rows, y[::2], centres, radial.PENALTIES)
            tried |= {(wanted, p): loss for p, loss in zip(radial.PENALTIES, losses, strict=True)}
        best = min(tried, key=tried.get)
        assert (pytest.approx(distance), fitted.penalty) == best
        seen.add(best)
    assert len({distance for distance, _ in seen}) > 1
    assert len({penalty for _, penalty in seen}) > 1


def ridge(X, y, basis, rows):
    """The regression of some rows on the centres of a basis."""
    F, K = (radial.compare(U, basis.centres) for U in (X * basis.scale, basis.centres))
    K += radial.JITTER * np.eye(len(K))
    return radial_path.of(F[rows], np.eye(2)[y[rows]], K, np.ones(len(rows)))


def assert_proportional(logits, scores):
    ratio = (logits[:, 1] - logits[:, 0]) / (scores[:, 1] - scores[:, 0])
    np.testing.assert_allclose(ratio, ratio[0], rtol=1e-6)
    assert ratio[0] > 0


def test_the_held_out_rows_are_those_of_all_centres():
    X, y = ring(700)
    fitted = fit(X, y)
    assert radial.MAX_TRIED_CENTRES < len(fitted.basis) <= radial.MAX_CENTRES
    (scores,) = ridge(X, y, fitted.basis, np.arange(700)).leave_one_out(
        radial.compare(X * fitted.basis.scale, fitted.basis.centres),
        np.eye(2)[y],
        np.ones(700),
        (fitted.penalty,),
    )
    assert_proportional(fitted.held_out, scores)


def test_groups_are_held_out_together():
    X, y = ring(90)
    group = np.arange(90) % 5
    splits = [(np.flatnonzero(group != g), np.flatnonzero(group == g)) for g in range(5)]
    fitted, alone = fit(X, y, splits=splits), fit(X, y)
    inside, held = splits[0]
    basis = fitted.basis
    F = radial.compare(X[held] * basis.scale, basis.centres)
    (scores,) = ridge(X, y, basis, inside).scores(F, (fitted.penalty,))
    assert_proportional(fitted.held_out[held], scores)
    assert not np.allclose(fitted.held_out, alone.held_out)


def test_some_rows_are_held_out_by_their_groups(monkeypatch):
    X, y = ring(90)
    group = np.arange(90) // 7 % 4
    seen, hold_out = [], radial_hold_out

    def spy(F, Y, K, weight, splits, penalties):
        seen.append(splits)
        return hold_out(F, Y, K, weight, splits, penalties)

    def folds(group):
        return [(np.flatnonzero(group != g), np.flatnonzero(group == g)) for g in range(4)]

    monkeypatch.setattr(radial, "MAX_TRIED_ROWS", 45)
    monkeypatch.setattr(radial, hold_out.__name__, spy)
    fit(X, y, splits=folds(group))
    *tried, final = seen
    assert len(tried) == len(radial.MEAN_SQUARED_DISTANCES)
    for splits, of in [*((splits, group[::2]) for splits in tried), (final, group)]:
        for actual, expected in zip(splits, folds(of), strict=True):
            np.testing.assert_array_equal(actual[0], expected[0])
            np.testing.assert_array_equal(actual[1], expected[1])


def test_what_some_rows_cannot_choose_is_chosen_by_all(monkeypatch):
    """None of every second row is of the small group: without the large one nothing is left."""
    X, y = ring(90)
    small = np.isin(np.arange(90), [31, 57])
    splits = [(np.flatnonzero(~small), np.flatnonzero(small))]
    splits.append(splits[0][::-1])
    expected = fit(X, y, splits=splits)
    monkeypatch.setattr(radial, "MAX_TRIED_ROWS", 45)
    found = fit(X, y, splits=splits)
    assert np.isfinite(found.held_out).all()
    assert found.penalty == expected.penalty
    np.testing.assert_array_equal(found.basis.centres, expected.basis.centres)


# ---------------------------------------------------------------------- scales and centres


def test_columns_that_tell_more_count_more():
    rng = np.random.default_rng(0)
    y = np.arange(400) % 2
    Z = rng.normal(size=(400, 4))
    Z[:, 1] += y  # another mean
    Z[:, 2] *= 1 + y  # another variance
    Z[:, 3] = 0.0  # nothing
    scale = radial.scales(Z, y, np.ones(400), 2)
    deviation = scale * Z.std(axis=0)
    assert min(deviation[1], deviation[2]) > 1.5 * deviation[0] > 0
    assert scale[3] == 0.0
    assert spread(Z * scale) == pytest.approx(1.0)


def test_relevance_is_measured_without_noise_by_its_definition():
    Z, y = np.array([[0.0], [2.0], [4.0], [6.0]]), np.array([0, 0, 1, 1])
    both = np.hstack([Z, np.array([[1.0], [-1.0], [1.0], [-1.0]])])
    scale = radial.scales(both, y, np.ones(4), 2)
    # of the variance of 5, 4 is between the classes, which have a variance of 1 each
    first = 4 / 5 + 0.5 * 4 / 5 + 0.02
    assert scale[0] ** 2 / scale[1] ** 2 == pytest.approx(first / 0.02)


def test_nothing_varies():
    assert fit(np.ones((20, 3)), np.arange(20) % 2) is None


def test_centres_are_means_of_several_rows():
    X, _ = ring(200)
    centres = radial.place_centres(X, np.ones(200))
    assert 20 < len(centres) <= 200 // radial.MIN_ROWS_PER_CENTRE
    nearest = np.sqrt(((centres[:, None] - X[None]) ** 2).sum(axis=2)).min(axis=1)
    assert (nearest > 1e-6).all()
    assert len(radial.place_centres(np.tile(X, (5, 1)), np.ones(1000))) <= radial.MAX_CENTRES
    pairs = np.array([[0.0], [5.0], [0.1], [5.1]])
    np.testing.assert_allclose(
        np.sort(radial.place_centres(pairs, np.array([1.0, 1.0, 3.0, 1.0])), axis=0),
        [[0.075], [5.05]],
    )


# ---------------------------------------------------------------------- contributions


@given(arrays(float, (4, 3), elements=FLOATS), arrays(float, (5, 3), elements=FLOATS))
def test_contributions_add_up(Z, centres):
    scale, coef = np.array([0.5, 1.0, 0.0]), np.arange(10.0).reshape(5, 2) - 4
    basis = radial.RadialBasis(scale, centres * scale, coef)
    out = np.zeros((4, 4, 2))  # one column more than there are numbers
    basis.add_contributions(Z, out)
    np.testing.assert_allclose(out.sum(axis=1) + basis.constants, basis.logits(Z), atol=1e-9)
    np.testing.assert_allclose(out[Z[:, 0] == 0, 0], 0, atol=1e-12)  # the mean says nothing


def test_columns_that_differ_alike_have_like_parts():
    basis = radial.RadialBasis(np.ones(2), np.array([[1.0, 1.0], [-1.0, -1.0]]), np.eye(2))
    out = np.zeros((1, 2, 2))
    basis.add_contributions(np.array([[0.5, 0.5]]), out)
    np.testing.assert_allclose(out[0, 0], out[0, 1])
    assert out[0, 0, 0] > 0 > out[0, 0, 1]


# ---------------------------------------------------------------------- the base learner


def shares(model):
    return {view.name: view.share for view in model.report_.views}


def test_smooth_interactions_are_learned():
    rng = np.random.default_rng(1)
    X = rng.uniform(-2, 2, size=(1000, 2))
    y = (np.sin(3 * X[:, 0]) * np.sin(3 * X[:, 1]) > 0).astype(int)
    model = BayesClassifier().fit(X, y)
    others = BayesClassifier(learners=["linear", "products", "trees", "pairs", "logistic"])
    assert shares(model)["radial"] > 0.3
    assert model.report_.loss < 0.85 * others.fit(X, y).report_.loss


@pytest.mark.parametrize(
    ("rows", "numbers", "fitted"),
    [(49, 2, False), (50, 2, True), (600, 1, False), (500, 201, False)],
)
def test_it_is_fitted_where_rows_and_numbers_are_enough(rows, numbers, fitted):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(rows, numbers)), np.arange(rows) % 2
    assert ("radial" in shares(BayesClassifier().fit(X, y))) is fitted


@pytest.mark.parametrize(("numbers", "fitted"), [(2, False), (3, True)])
def test_it_is_for_tables_of_mostly_numbers(numbers, fitted):
    rng = np.random.default_rng(0)
    X = {f"x{j}": rng.normal(size=500) for j in range(numbers)} | {"c": rng.choice(list("ab"), 500)}
    assert ("radial" in shares(BayesClassifier().fit(X, np.arange(500) % 2))) is fitted


def test_many_rows_do_without(monkeypatch):
    monkeypatch.setattr("deciban.ensemble.base_learners.MAX_RADIAL_ROWS", 300)
    assert "radial" in shares(BayesClassifier().fit(*ring(300)))
    assert "radial" not in shares(BayesClassifier().fit(*ring(301)))


def test_a_first_fold_is_gone_on_from(monkeypatch):
    monkeypatch.setattr("deciban.ensemble.training_table.MIN_JUDGING_ROWS", 50)
    X, y = ring(400)
    model = BayesClassifier(learners=["linear", "radial"]).fit(X, y)
    assert shares(model)["radial"] > 0.5
    assert (model.predict(X) == y).mean() > 0.9


def test_weights_are_copies_and_rows_have_no_order():
    X, y = ring(80)
    times = 1 + np.arange(80) % 3
    order = np.random.default_rng(0).permutation(times.sum())
    weighted = BayesClassifier(learners=["radial"]).fit(X, y, sample_weight=times)
    copied = BayesClassifier(learners=["radial"]).fit(
        np.repeat(X, times, axis=0)[order], np.repeat(y, times)[order]
    )
    np.testing.assert_allclose(
        weighted.predict_log_proba(X), copied.predict_log_proba(X), atol=1e-9
    )


@pytest.mark.parametrize("kind", ["groups", "time"])
def test_whole_groups_and_times_are_left_out(kind):
    X, y = ring(240)
    model = BayesClassifier(learners=["linear", "radial"]).fit(X, y, **{kind: np.arange(240) // 8})
    assert shares(model)["radial"] > 0.3
    assert np.isfinite(model.predict_log_proba(X)).all()


@st.composite
def odd_tables(draw):
    n, d = draw(st.integers(1, 12)), draw(st.integers(1, 14))
    X = draw(arrays(float, (n, d), elements=st.sampled_from([0.0, 1.0, -2.5, 1e9, np.nan])))
    X = X[draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=30))]  # some rows are copies
    y = draw(arrays(np.int64, len(X), elements=st.integers(0, draw(st.integers(0, 3)))))
    weight = draw(arrays(float, len(X), elements=st.sampled_from([1.0, 0.25, 7.0])))
    return X, y, weight


@settings(max_examples=40)
@given(odd_tables())
def test_odd_tables(tmp_path_factory, rows):
    X, y, weight = rows
    kinds = {f"x{j}": "numeric" for j in range(X.shape[1])}
    model = BayesClassifier(learners=["linear", "radial"], kinds=kinds)
    model.fit(X, y, sample_weight=weight)
    proba = model.predict_proba(X)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    for row, p in zip(X[:3], proba, strict=False):
        one = model.predict_proba_one({f"x{j}": v for j, v in enumerate(row.tolist())})
        np.testing.assert_allclose(list(one.values()), p, atol=1e-9)
        if len(p) > 1:
            why = model.explain(row)
            assert why.total == pytest.approx(
                why.prior + sum(t.decibans for t in why.terms), abs=1e-6
            )
    file = tmp_path_factory.mktemp("radial") / "m.deciban"
    model.save(file)
    np.testing.assert_array_equal(load(file).predict_proba(X), proba)


@pytest.mark.parametrize("judged", [False, True])
def test_nothing_to_fit_is_the_class_frequencies(judged, monkeypatch):
    if judged:
        monkeypatch.setattr("deciban.ensemble.training_table.MIN_JUDGING_ROWS", 5)
    X, y = {"a": [1.0] * 60, "b": [2.0] * 60}, ["p", "p", "q"] * 20
    model = BayesClassifier(learners=["radial"]).fit(X, y)
    proba = model.predict_proba({"a": [1.0], "b": [2.0]})
    np.testing.assert_allclose(proba, [[2 / 3, 1 / 3]], atol=0.02)
    assert model.report_.views[0].note == "all rows are alike"


def test_more_centres_than_needed_do_no_harm():
    X, y = ring(400, noise=0)
    losses = []
    for most in (10, 60, 200):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(radial, "MAX_CENTRES", most)
            losses.append(-log_softmax(fit(X, y).held_out, axis=1)[np.arange(400), y].mean())
    assert all(a > b - 0.02 for a, b in pairwise(losses))
