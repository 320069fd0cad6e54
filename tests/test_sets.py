"""Sets of classes with a guarantee: the scores behind them, what they cover, and what they cost."""

import json
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import betabinom
from sklearn.linear_model import LogisticRegression as OtherRegression

from commands import FRUIT, done, run
from deciban import AODE, BayesClassifier, LogisticRegression, NaiveBayes, evaluate, load
from deciban.errors import InputError, ParameterError
from deciban.files import archive
from deciban.models.conformal import ConformityScores
from deciban.models.ranked_scores import MAX_SCORES, RankedScores
from deciban.naive_bayes import GaussianNB
from deciban.report import report

KINDS = (NaiveBayes, AODE, BayesClassifier)
ABC = np.array(list("abc"))


def table(n, seed, shares=(0.6, 0.3, 0.1)):
    """Rows of three classes that overlap, one of them rare: the best answer is often wrong."""
    rng = np.random.default_rng(seed)
    y = rng.choice(3, n, p=shares)
    x = rng.normal(0.8 * y, 1.0)
    letter = np.where(rng.random(n) < 0.3, y, rng.integers(0, 3, n))
    return {"x": x, "letter": ABC[letter]}, ABC[y]


def too_far(held, n, rows, coverage, chance=0.001):
    """Whether so many of n sets that held their class are not what chance gives."""
    rank = np.floor((rows + 1) * (1 - coverage))
    expected = betabinom(n, rows + 1 - rank, rank)
    return not expected.ppf(chance) <= held <= expected.ppf(1 - chance)


def held_by(sets, model, y):
    return sets[np.arange(len(y)), np.searchsorted(model.classes_, y)]


# ---------------------------------------------------------------------- ranks


SCORES = st.lists(st.integers(-5, 5), min_size=1, max_size=30)


@given(SCORES, st.data())
def test_a_p_value_counts_the_scores_that_are_not_greater_and_the_row_itself(scores, data):
    weight = data.draw(st.lists(st.integers(0, 3), min_size=len(scores), max_size=len(scores)))
    ranked = RankedScores.of(np.array(scores, float), np.array(weight, float))
    copies = np.repeat(scores, weight)
    for new in range(-6, 7):
        expected = (1 + np.sum(copies <= new)) / (1 + len(copies))
        assert ranked.p_values(np.array([float(new)])) == pytest.approx(expected)


@given(SCORES, SCORES, SCORES)
def test_ranked_scores_add_up_in_any_order(a, b, c):
    a, b, c = (RankedScores.of(np.array(s, float), np.ones(len(s))) for s in (a, b, c))
    one, other = a + (b + c), (c + a) + b
    assert np.array_equal(one.score, other.score)
    assert np.array_equal(one.weight, other.weight)
    assert one.rows == other.rows


def test_too_many_scores_are_merged_so_that_p_can_only_grow():
    rng = np.random.default_rng(0)
    scores, weight = rng.normal(size=30_000), rng.integers(1, 4, 30_000).astype(float)
    ranked = RankedScores.of(scores, weight)
    new = rng.normal(size=2_000)
    exact = (1 + np.array([weight[scores <= s].sum() for s in new])) / (1 + weight.sum())
    assert len(ranked.score) <= MAX_SCORES
    assert ranked.rows == weight.sum()
    assert np.all(ranked.p_values(new) >= exact - 1e-12)
    assert np.all(ranked.p_values(new) <= exact + 2 / MAX_SCORES)


def test_a_sample_stands_for_more_rows_but_knows_no_more_than_it_scored():
    few, many = np.array([0.0, 1.0]), np.array([2.0, 3.0])
    both = RankedScores.of(few, np.ones(2), stride=3.0) + RankedScores.of(many, np.ones(2))
    assert both.rows == 4
    assert both.p_values(np.array([1.0])) == pytest.approx((1 + 4 * 6 / 8) / 5)


def test_scaled_scores_rank_alike_but_know_less():
    ranked = RankedScores.of(np.arange(100.0), np.ones(100))
    less = ranked * 0.1
    assert less.rows == pytest.approx(10)
    assert less.p_values(np.array([-1.0])) == pytest.approx(1 / 11)
    assert (ranked * 0.0).p_values(np.array([-1.0])) == 1.0


# ---------------------------------------------------------------------- coverage


@pytest.mark.parametrize("coverage", [0.8, 0.9, 0.95])
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_sets_hold_the_class_as_often_as_asked(kind, coverage):
    X, y = table(900, seed=1)
    new, truth = table(3_000, seed=2)
    model = kind().fit(X, y)
    sets = model.predict_set(new, coverage)
    rows = model.model_.left_out.conformity.rows
    assert rows == 900
    assert not too_far(held_by(sets, model, truth).sum(), 3_000, rows, coverage)
    assert 1.0 < sets.sum(axis=1).mean() < 2.5


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_the_coverage_of_each_class_holds_per_class(kind):
    X, y = table(1_500, seed=3)
    new, truth = table(6_000, seed=4)
    model = kind().fit(X, y)
    rare = truth == "c"
    all_rows = held_by(model.predict_set(new, 0.9), model, truth)
    assert all_rows[rare].mean() < 0.75
    by_class = held_by(model.predict_set(new, 0.9, per_class=True), model, truth)
    weights = model.model_.counts.weight
    for label, rows in zip(model.classes_, weights, strict=True):
        own = truth == label
        n_scored = rows / 2 if kind is AODE else rows  # of AODE, every second row
        assert not too_far(by_class[own].sum(), own.sum(), n_scored, 0.9), label


def test_leave_one_out_sets_are_those_of_full_conformal_prediction():
    """Full conformal prediction adds the row with each class to the training rows."""
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, 80)
    X = np.array(list("uvw"))[np.where(rng.random((3, 80)) < 0.5, y, rng.integers(0, 3, (3, 80)))]
    rows = [dict(zip("abc", row, strict=True)) for row in X.T]
    model = NaiveBayes().fit(rows[:60], y[:60])
    p_values = model.model_.left_out.conformity.p_values(model.predict_log_proba(rows[60:]))
    full = np.empty_like(p_values)
    for i, row in enumerate(rows[60:]):
        for c in (0, 1):
            more, labels = [*rows[:60], row], [*y[:60], c]
            scores = NaiveBayes().fit(more, labels).leave_one_out(more, labels)
            own = scores[np.arange(61), labels]
            full[i, c] = np.mean(own <= own[-1])
    small = (p_values < 0.3) | (full < 0.3)
    assert small.sum() >= 20
    assert np.abs(p_values - full)[small].max() < 0.1
    assert np.mean((p_values > 0.1) == (full > 0.1)) >= 0.95


def test_no_set_is_empty_and_each_has_the_answer():
    X, y = table(400, seed=6)
    model = NaiveBayes().fit(X, y)
    new, _ = table(500, seed=7)
    for per_class in (False, True):
        sets = model.predict_set(new, 0.05, per_class)
        assert np.all(sets.sum(axis=1) >= 1)
        assert np.all(held_by(sets, model, model.predict(new)))


def test_sets_grow_with_the_coverage():
    X, y = table(400, seed=6)
    model = NaiveBayes().fit(X, y)
    each = [model.predict_set(X, coverage) for coverage in (0.5, 0.8, 0.9, 0.99)]
    for smaller, larger in pairwise(each):
        assert np.all(smaller <= larger)


def test_too_few_rows_exclude_nothing():
    model = NaiveBayes().fit({"x": list("SSSLLL")}, list("aaabbb"))
    assert model.predict_set({"x": ["S"]}, 0.9).all()
    wide = NaiveBayes().partial_fit({"x": list("SL") * 30}, list("ab") * 30, classes=list("abz"))
    assert wide.predict_set({"x": ["S"]}, 0.9, per_class=True)[0].tolist() == [True, False, True]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_a_weight_is_as_many_copies(kind):
    X, y = table(200, seed=8)
    twice = {name: np.repeat(column, 2) for name, column in X.items()}
    a = kind().fit(X, y, sample_weight=np.full(200, 2.0)).model_.left_out.conformity
    b = kind().fit(twice, np.repeat(y, 2)).model_.left_out.conformity
    log = np.log(np.random.default_rng(0).dirichlet(np.ones(3), 50))
    np.testing.assert_allclose(a.p_values(log), b.p_values(log), atol=1e-9)


def test_the_order_of_rows_does_not_show():
    X, y = table(500, seed=9)
    order = np.random.default_rng(0).permutation(500)
    weight = np.random.default_rng(1).random(500)
    a = NaiveBayes().fit(X, y, sample_weight=weight).model_.left_out.conformity
    mixed = {name: column[order] for name, column in X.items()}
    b = NaiveBayes().fit(mixed, y[order], sample_weight=weight[order]).model_.left_out.conformity
    for mine, theirs in zip(a.by_class, b.by_class, strict=True):
        np.testing.assert_allclose(mine.score, theirs.score, rtol=1e-9)


# ---------------------------------------------------------------------- what is refused


@pytest.mark.parametrize("coverage", [0, 1, -0.1, 1.5, "0.9", True, float("nan"), None])
def test_a_coverage_is_between_nothing_and_all(coverage):
    X, y = table(50, seed=10)
    with pytest.raises(ParameterError, match=r"coverage must be a number between 0 and 1.*Hint"):
        NaiveBayes().fit(X, y).predict_set(X, coverage)


def test_without_scores_it_is_said_what_to_do():
    X, y = table(50, seed=10)
    for model in (NaiveBayes(calibrate=False), AODE(calibrate=False, smoothing=1.0)):
        with pytest.raises(InputError, match=r"no scores of left-out rows.*calibrate_sets"):
            model.fit(X, y).predict_set(X)
    recalibrated = NaiveBayes(calibrate=False).fit(X, y).recalibrate(X, y)
    assert recalibrated.predict_set(X).shape == (50, 3)
    with pytest.raises(InputError, match=r"keeps no scores.*models of this package"):
        evaluate(OtherRegression().fit(X["x"][:, None], y), X["x"][:, None], y, coverage=0.9)
    with pytest.raises(InputError, match=r"a GaussianNB keeps no scores"):
        evaluate(GaussianNB().fit(X["x"][:, None], y), X["x"][:, None], y, coverage=0.9)


# ---------------------------------------------------------------------- rows held out


@pytest.mark.parametrize("kind", [*KINDS, LogisticRegression], ids=lambda kind: kind.__name__)
def test_rows_that_were_held_out_give_split_conformal_sets(kind, tmp_path):
    X, y = table(1_200, seed=11)
    numbers = np.column_stack([X["x"], X["letter"] == "a", X["letter"] == "b"]).astype(float)
    model = kind().fit(numbers[:400], y[:400])
    model.calibrate_sets(numbers[400:], y[400:])
    new, truth = table(3_000, seed=12)
    new = np.column_stack([new["x"], new["letter"] == "a", new["letter"] == "b"]).astype(float)
    sets = model.predict_set(new, 0.9)
    assert not too_far(held_by(sets, model, truth).sum(), 3_000, 800, 0.9)
    model.save(tmp_path / "m.deciban")
    assert np.array_equal(load(tmp_path / "m.deciban").predict_set(new, 0.9), sets)


def test_held_out_rows_are_checked():
    X, y = [[-1.0], [1.0]], ["a", "b"]
    model = LogisticRegression().fit(X, y)
    with pytest.raises(InputError):
        model.calibrate_sets(X, ["a"])
    with pytest.raises(InputError, match="z"):
        model.calibrate_sets(X, ["a", "z"])
    with pytest.raises(InputError, match=r"calibrate_sets\(X, y\)"):
        model.predict_set(X)


def test_other_coefficients_need_other_scores():
    X, y = [[-1.0], [1.0]] * 20, ["a", "b"] * 20
    model = LogisticRegression().fit(X, y).calibrate_sets(X, y)
    assert model.predict_set(X).shape == (40, 2)
    with pytest.raises(InputError, match="calibrate_sets"):
        model.partial_fit(X, y).predict_set(X)


# ---------------------------------------------------------------------- learning on


def test_more_rows_add_their_scores_and_classes_come_in_order():
    X, y = table(300, seed=13)
    some = {name: column[y != "b"] for name, column in X.items()}
    model = NaiveBayes().fit(some, y[y != "b"])
    more, labels = table(300, seed=14)
    model.partial_fit(more, labels)
    scores = model.model_.left_out.conformity
    assert scores.classes.tolist() == model.classes_.tolist()
    assert scores.rows == np.sum(y != "b") + 300
    rows = dict(zip(scores.classes.tolist(), (g.rows for g in scores.by_class), strict=True))
    assert rows["b"] == np.sum(labels == "b")
    new, truth = table(3_000, seed=15)
    assert held_by(model.predict_set(new, 0.9), model, truth[:]).mean() > 0.87


@pytest.mark.parametrize("kind", [NaiveBayes, AODE], ids=lambda kind: kind.__name__)
def test_models_that_are_merged_pool_their_scores(kind):
    bins = {} if kind is NaiveBayes else {"bins": {"x": [0.0, 1.0, 2.0]}}
    (X, y), (Z, w) = table(300, seed=16), table(200, seed=17)
    a, b = kind(**bins).fit(X, y), kind(**bins).fit(Z, w)
    both = (a + b).model_.left_out.conformity
    log = np.log(np.random.default_rng(0).dirichlet(np.ones(3), 20))
    left, right = a.model_.left_out.conformity, b.model_.left_out.conformity
    expected = (301 * left.p_values(log) + 201 * right.p_values(log) - 1) / 501
    np.testing.assert_allclose(both.p_values(log), expected)


def test_what_is_forgotten_leaves_scores_that_weigh_less():
    X, y = table(400, seed=18)
    model = NaiveBayes().fit(X, y)
    gone = {name: column[y == "c"] for name, column in X.items()}
    model.forget(gone, y[y == "c"])
    scores = model.model_.left_out.conformity
    assert model.classes_.tolist() == scores.classes.tolist() == ["a", "b"]
    assert scores.rows == pytest.approx(np.sum(y != "c") ** 2 / 400)
    assert model.predict_set(X, 0.9).shape == (400, 2)
    half = NaiveBayes().fit(X, y).decay(0.5).model_.left_out.conformity
    assert half.rows == pytest.approx(200)


def test_a_failed_update_leaves_the_scores():
    X, y = table(100, seed=19)
    model = NaiveBayes().fit(X, y)
    before = model.predict_set(X)
    with pytest.raises(InputError):
        model.partial_fit({"x": [np.inf], "letter": ["a"]}, ["a"])
    assert np.array_equal(model.predict_set(X), before)


# ---------------------------------------------------------------------- files


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_a_file_keeps_the_sets(kind, tmp_path):
    X, y = table(300, seed=20)
    model = kind().fit(X, y)
    model.save(tmp_path / "m.deciban")
    again = load(tmp_path / "m.deciban")
    for per_class in (False, True):
        a, b = (m.predict_set(X, 0.9, per_class) for m in (model, again))
        assert np.array_equal(a, b)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_a_file_without_scores_still_answers(kind, tmp_path):
    X, y = table(100, seed=21)
    path = tmp_path / "m.deciban"
    kind().fit(X, y).save(path)
    content = archive.read(path)
    names = ("conformity", "typicality")
    arrays = {
        name: array
        for name, array in content.arrays.items()
        if not name.startswith(tuple(f"model.{each}" for each in names))
    }
    assert len(arrays) == len(content.arrays) - 5
    content = replace(content, arrays=arrays)
    archive.write(path, content.kind, content.document, content.arrays)
    model = load(path)
    assert model.predict(X).shape == (100,)
    with pytest.raises(InputError, match="fit it again"):
        model.predict_set(X)
    with pytest.raises(InputError, match="fit it again"):
        model.novelty(X)


# ---------------------------------------------------------------------- evaluate, report, command


def test_evaluate_counts_what_sets_held():
    X, y = table(500, seed=22)
    new, truth = table(800, seed=23)
    model = NaiveBayes().fit(X, y)
    for per_class in (False, True):
        found = evaluate(model, new, truth, coverage=0.8, per_class=per_class, bootstrap=0)
        sets = model.predict_set(new, 0.8, per_class)
        held = held_by(sets, model, truth)
        assert found.sets.coverage == pytest.approx(held.mean())
        assert found.sets.size == pytest.approx(sets.sum(axis=1).mean())
        assert found.sets.by_class["c"].coverage == pytest.approx(held[truth == "c"].mean())
        low, high = found.sets.all.interval
        assert low < held.mean() < high
    assert found.to_dict()["sets"]["wanted"] == 0.8
    assert "sets that are to hold the class in 80 % of each class" in str(found)
    assert evaluate(model, new, truth, bootstrap=0).sets is None


def test_a_class_that_the_model_never_saw_is_in_no_set():
    X, y = table(200, seed=24)
    found = evaluate(NaiveBayes().fit(X, y), X, np.where(y == "c", "z", y), coverage=0.9)
    assert found.sets.by_class["z"].coverage == 0.0


def test_a_report_draws_sizes_against_coverage():
    X, y = table(300, seed=25)
    page = report(NaiveBayes().fit(X, y), X, y, bootstrap=0)
    (figure,) = [figure for figure in page.figures if figure.name == "sets"]
    assert "Asked for 90 %" in figure.shows
    page = report(NaiveBayes(calibrate=False).fit(X, y), X, y, bootstrap=0)
    assert any("There are no sets" in note.text for note in page.notes)


@pytest.fixture(scope="module")
def fruit(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "m.deciban"
    done("train", FRUIT, "--target", "fruit", "-o", path, "--quiet")
    return path


def test_the_command_writes_sets(fruit, tmp_path):
    model = load(fruit)
    for options in ([], ["--per-class"]):
        lines = done("predict", fruit, FRUIT, "--coverage", 0.99, *options).splitlines()
        assert lines[0] == "prediction,p_apple,p_cherry,p_plum,set"
        sets = model.predict_set(str(FRUIT), 0.99, per_class=bool(options))
        expected = ["|".join(model.classes_[each]) for each in sets]
        assert [line.rpartition(",")[2] for line in lines[1:]] == expected
        assert any("|" in each for each in expected)
    out = json.loads(done("evaluate", fruit, FRUIT, "--coverage", 0.9, "--json"))
    assert out["sets"]["coverage"] >= 0.9


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--coverage", 2], "coverage must be a number between 0 and 1, got 2.0"),
        (["--coverage", 0.9, "--priors", "apple=0.1,cherry=0.1,plum=0.8"], "exclude each other"),
        (["--per-class"], "add --coverage 0.9"),
        (["--novel", 2], "novel must be a number from 0 to 1, got 2.0"),
    ],
)
def test_the_command_says_what_cannot_be_asked(fruit, options, message):
    ended = run("predict", fruit, FRUIT, *options)
    assert ended.code != 0
    assert message in ended.err
    assert not ended.out


def test_labels_that_cannot_be_joined_are_refused(tmp_path):
    path = tmp_path / "m.deciban"
    NaiveBayes().fit({"x": list("SL") * 20, "y": ["a|b", "c"] * 20}, target="y").save(path)
    (tmp_path / "rows.csv").write_text("x\nS\n")
    ended = run("predict", path, tmp_path / "rows.csv", "--coverage", 0.9)
    assert "'a|b'" in ended.err


def test_a_model_without_scores_is_refused_before_rows_are_read(tmp_path):
    path = tmp_path / "m.deciban"
    NaiveBayes(calibrate=False).fit({"x": ["S", "L"]}, ["a", "b"]).save(path)
    (tmp_path / "rows.csv").write_text("x\nS\n")
    for option in (["--coverage", 0.9], ["--novelty"], ["--novel", 0.01]):
        ended = run("predict", path, tmp_path / "rows.csv", *option)
        assert "fit it again" in ended.err


def test_scores_go_by_the_class_not_by_its_place():
    log = np.log([[0.9, 0.1], [0.4, 0.6], [0.7, 0.3]])
    scores = ConformityScores.of(np.array(["a", "b"]), log, np.array([0, 1, 0]), np.ones(3))
    turned = scores.for_classes(np.array(["b", "c", "a"]))
    assert [group.rows for group in turned.by_class] == [1, 0, 2]
    assert turned.by_class[2] is scores.by_class[0]
