"""Groups and times of rows: what fit does with them, what it refuses, and what is remembered."""

import tempfile
import warnings

import numpy as np
import pytest

import deciban
from deciban import AODE, BayesClassifier, NaiveBayes
from deciban.errors import DataWarning, InputError, MissingValueError, ParameterError, ShapeError
from deciban.sources.labelled import LabelledBatch, labelled_scan
from deciban.sources.unit_folds import deal_units, some_rows
from deciban.sources.unit_sample import GroupSample, TrainingUnits
from deciban.sources.units import unit_source

COUNTED = [NaiveBayes, AODE]
EVERY = [*COUNTED, BayesClassifier]


def patients(n=60, visits=8, seed=0):
    """Visits that are alike within a patient, and labels that have little to do with them."""
    rng = np.random.default_rng(seed)
    who = np.repeat(np.arange(n), visits)
    ill = rng.integers(0, 2, n)
    level = rng.normal(0.3 * ill[:, None], 1.0, (n, 3))
    values = (level[who] + rng.normal(0, 0.1, (len(who), 3))).round(1)
    return dict(zip("abc", values.T, strict=True)), ill[who], who


@pytest.fixture(scope="module")
def clinic():
    return patients(), patients(n=400, seed=1)


@pytest.mark.parametrize("classifier", EVERY)
def test_groups_make_sets_hold_and_probabilities_right(classifier, clinic):
    (X, y, who), (new, truth, _) = clinic
    alone, together = (
        deciban.evaluate(classifier().fit(X, y, groups=g), new, truth, bootstrap=0, coverage=0.9)
        for g in (None, who)
    )
    assert alone.sets.coverage < 0.75
    assert together.sets.coverage > 0.8
    assert together.log_loss < alone.log_loss - 0.1


def test_evaluation_without_rows_leaves_groups_out(clinic):
    (X, y, who), _ = clinic
    m = NaiveBayes(numeric="histogram").fit(X, y, groups=who)
    by_hand = deciban.evaluate(m, X, y, leave_one_out=True, groups=who, bootstrap=0)
    kept = deciban.evaluate(m, bootstrap=0)
    assert kept.log_loss == pytest.approx(by_hand.log_loss)
    assert kept.rows == len(y)


def test_a_column_that_knows_the_group_is_not_chosen_for_it():
    """Every value by itself tells patients apart: that is worth nothing for another one."""
    rng = np.random.default_rng(3)
    who = np.repeat(np.arange(25), 12)
    y = rng.integers(0, 2, 25)[who]
    X = {"ward": who.astype(float)}
    alone, together = NaiveBayes().fit(X, y), NaiveBayes().fit(X, y, groups=who)
    assert alone.choices_["ward"].loss < 0.2
    assert together.choices_["ward"].loss > 0.6
    assert together.temperature_ > alone.temperature_


def test_missing_values_matter_only_beyond_the_group():
    who = np.repeat(np.arange(40), 10)
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 40)[who]
    x = rng.normal(size=400)
    x[np.isin(who, np.flatnonzero(np.bincount(who, y) > 0)[:3])] = np.nan  # three ill patients
    assert NaiveBayes().fit({"x": x}, y).choices_["x"].missing
    rare = rng.random(40) < 0.5  # as often ill as not
    x = rng.normal(size=400)
    x[rare[who]] = np.nan
    m = NaiveBayes().fit({"x": x}, y)
    g = NaiveBayes().fit({"x": x}, y, groups=who)
    assert g.choices_["x"].missing <= m.choices_["x"].missing


@pytest.mark.parametrize("classifier", EVERY)
def test_order_and_batches_do_not_matter(classifier, clinic):
    (X, y, who), _ = clinic
    order = np.random.default_rng(1).permutation(len(y))
    a = classifier().fit(X, y, groups=who)
    b = classifier().fit({k: v[order] for k, v in X.items()}, y[order], groups=who[order])
    np.testing.assert_allclose(a.predict_proba(X), b.predict_proba(X), rtol=1e-9)
    np.testing.assert_array_equal(a.predict_set(X), b.predict_set(X))


@pytest.mark.parametrize("classifier", EVERY)
@pytest.mark.parametrize("how", ["groups", "time"])
def test_a_column_or_an_array(classifier, how, clinic):
    (X, y, who), _ = clinic
    beside = classifier().fit(X, y, **{how: who})
    inside = classifier().fit({**X, "who": who, "y": y}, target="y", **{how: "who"})
    assert "who" not in inside.schema_.names
    np.testing.assert_array_equal(beside.predict_proba(X), inside.predict_proba(X))
    np.testing.assert_array_equal(inside.predict_proba({**X, "who": who}), inside.predict_proba(X))


def test_equal_values_are_one_group_however_they_are_written(clinic):
    (X, y, who), _ = clinic
    a, b, c = (NaiveBayes().fit(X, y, groups=g) for g in (who, who * 1.0, [str(w) for w in who]))
    assert a.units_.seen.tolist() == b.units_.seen.tolist() == c.units_.seen.tolist()


@pytest.mark.parametrize("classifier", EVERY)
@pytest.mark.parametrize("how", ["groups", "time"])
def test_a_file_keeps_what_is_needed(classifier, how, clinic, tmp_path):
    (X, y, who), _ = clinic
    m = classifier().fit({**X, "who": who, "y": y}, target="y", **{how: "who"})
    m.save(tmp_path / "m.deciban")
    loaded = deciban.load(tmp_path / "m.deciban")
    assert loaded.units_.kind == m.units_.kind
    assert loaded.units_.column == "who"
    assert (loaded.units_.limit, loaded.units_.last) == (m.units_.limit, m.units_.last)
    np.testing.assert_array_equal(loaded.units_.seen, m.units_.seen)
    np.testing.assert_array_equal(loaded.predict_set(X), m.predict_set(X))
    if classifier in COUNTED:
        more = {**{k: v[:8] for k, v in X.items()}, "who": who[:8] + 500, "y": y[:8]}
        assert loaded.partial_fit(more).units_.kind == m.units_.kind


# ---------------------------------------------------------------------- learning on


@pytest.mark.parametrize("classifier", COUNTED)
def test_groups_of_an_earlier_call_are_counted_but_not_judged(classifier, clinic):
    (X, y, who), _ = clinic
    m = classifier().fit(X, y, groups=who)
    before = m.model_.calibration.rows
    again = {k: v[:8] for k, v in X.items()}
    m.partial_fit(again, y[:8], groups=who[:8])
    assert m.counts_.weight.sum() == len(y) + 8
    assert m.model_.calibration.rows == before
    m.partial_fit(again, y[:8], groups=who[:8] + 1000)
    assert m.model_.calibration.rows == before + 8
    m.forget(again, y[:8])
    assert m.counts_.weight.sum() == len(y) + 8


def test_what_was_selected_stays_when_rows_are_added(clinic):
    (X, y, who), _ = clinic
    m = NaiveBayes().fit(X, y, groups=who)
    chosen = {name: choice.family for name, choice in m.choices_.items()}
    some = np.flatnonzero(who == 3)
    m.partial_fit({k: v[some] for k, v in X.items()}, y[some], groups=["new"] * len(some))
    assert {name: choice.family for name, choice in m.choices_.items()} == chosen


def test_fit_and_partial_fit_have_both_or_neither(clinic):
    (X, y, who), _ = clinic
    with pytest.raises(InputError, match="fitted without groups"):
        NaiveBayes().fit(X, y).partial_fit(X, y, groups=who)
    with pytest.raises(InputError, match="fitted with groups"):
        NaiveBayes().fit(X, y, groups=who).partial_fit(X, y)
    with pytest.raises(InputError, match="fitted with groups"):
        NaiveBayes().fit(X, y, groups=who).partial_fit(X, y, time=who)


def test_a_failed_update_changes_nothing(clinic):
    (X, y, who), _ = clinic
    m = NaiveBayes().fit(X, y, time=who)
    before, last = m.counts_, m.units_.last
    with pytest.raises(InputError, match="from before rows"):
        m.partial_fit(X, y, time=who - 1)
    assert m.counts_ == before
    assert m.units_.last == last


def test_rows_of_a_later_call_are_judged_by_earlier_ones():
    X = {"x": ["a", "b", "a", "b", "a"]}
    y = [0, 1, 0, 1, 0]
    first = NaiveBayes(smoothing=1).fit({"x": X["x"][:4]}, y[:4], time=[1, 2, 3, 4])
    later = first.partial_fit({"x": X["x"][4:]}, y[4:], time=[5])
    whole = NaiveBayes(smoothing=1).fit(X, y, time=[1, 2, 3, 4, 5])
    np.testing.assert_allclose(
        later.model_.calibration.loss, whole.model_.calibration.loss, rtol=1e-12
    )


def test_models_of_groups_add_up(clinic):
    (X, y, who), _ = clinic
    half = who < 30
    a, b = (
        NaiveBayes().fit({k: v[some] for k, v in X.items()}, y[some], groups=who[some])
        for some in (half, ~half)
    )
    both = a + b
    assert len(both.units_.seen) == 60
    assert both.model_.calibration.rows == len(y)


# ---------------------------------------------------------------------- bad input


@pytest.mark.parametrize("classifier", EVERY)
@pytest.mark.parametrize(
    ("units", "error", "message"),
    [
        ({"groups": [1, 2, 3]}, ShapeError, "groups has 3"),
        ({"groups": np.arange(900)}, ShapeError, "groups has 900"),
        ({"time": [1.0]}, ShapeError, "time has 1"),
        ({"groups": [None] + [1] * 479}, MissingValueError, "groups has no value in row 0"),
        ({"time": [1.0] * 479 + [np.nan]}, MissingValueError, "time has no value in row 479"),
        ({"groups": ["all"] * 480}, InputError, "all rows have one group"),
        ({"time": [7] * 480}, InputError, "all rows have one time"),
        ({"groups": "nobody"}, InputError, "there is no column 'nobody'"),
        ({"groups": np.zeros((480, 2))}, ParameterError, "one value a row"),
        ({"groups": []}, ShapeError, "groups has no values"),
        ({"time": ["soon"] * 480}, InputError, "dates or timestamps"),
        ({"groups": np.arange(480), "time": np.arange(480)}, ParameterError, "got both"),
    ],
)
def test_what_is_refused(classifier, units, error, message, clinic):
    (X, y, _), _ = clinic
    m = classifier()
    with pytest.raises(error, match=message):
        m.fit(X, y, **units)
    assert not hasattr(m, "model_")


def test_the_time_that_is_none_is_named():
    when = ["2024-12-31", "2024-13-01", "2025-01-02"]
    with pytest.raises(InputError, match="got '2024-13-01'"):
        NaiveBayes().fit({"x": [1, 2, 3]}, [0, 1, 0], time=when)


def test_one_group_a_class_is_refused_and_a_class_of_one_group_warned_about(clinic):
    (X, y, who), _ = clinic
    with pytest.raises(InputError, match="in one group, and so are those of every other"):
        NaiveBayes().fit(X, y, groups=y)
    with pytest.warns(DataWarning, match="class 1 are in one group"):
        NaiveBayes().fit(X, y, groups=np.where(y == 1, -1, who))


def test_rows_without_a_label_do_not_go_with_groups(clinic):
    (X, y, who), _ = clinic
    some = [None if i % 3 == 0 else int(label) for i, label in enumerate(y)]
    with pytest.raises(InputError, match="some rows have no label"):
        NaiveBayes().fit(X, some, groups=who)


def test_groups_of_rows_that_are_not_left_out(clinic):
    (X, y, who), _ = clinic
    m = NaiveBayes().fit(X, y)
    with pytest.raises(ParameterError, match="but nothing is"):
        deciban.evaluate(m, X, y, groups=who)


# ---------------------------------------------------------------------- samples and folds


def batch_of(X, y, **units):
    rows = labelled_scan(X, y, units=unit_source(**units))
    return LabelledBatch.concatenate(list(rows.labelled_batches()))


def test_a_sample_has_whole_groups_in_any_order():
    n = 4000
    who = np.arange(n) // 4
    X, y = {"x": np.arange(n)}, np.arange(n) % 2
    order = np.random.default_rng(0).permutation(n)
    kept = []
    for rows in (np.arange(n), order):
        sample = GroupSample(max_rows=1000)
        for part in np.array_split(rows, 7):
            sample.add(batch_of({"x": X["x"][part]}, y[part], groups=who[part]))
        values = np.concatenate([b.batch.columns["x"].values for b in sample.batches])
        groups, sizes = np.unique(values // 4, return_counts=True)
        assert sample.n_rows <= 1000
        assert (sizes == 4).all()
        assert sample.stands_for == n / sample.n_rows
        kept.append(groups.tolist())
        sizes = [np.unique(part.batch.columns["x"].values // 4, return_counts=True)[1]
                 for part in sample.chunks(64)]  # fmt: skip
        assert all((some == 4).all() for some in sizes)
    assert kept[0] == kept[1]


def test_few_large_groups_are_all_kept():
    who = np.arange(3000) // 500
    sample = GroupSample(max_rows=100)
    sample.add(batch_of({"x": np.arange(3000)}, np.arange(3000) % 2, groups=who))
    assert sample.n_rows == 3000


def test_seen_groups_are_bounded(monkeypatch):
    monkeypatch.setattr("deciban.sources.unit_sample.MAX_SEEN_GROUPS", 100)
    sample = TrainingUnits("group").sample()
    sample.add(batch_of({"x": np.arange(900)}, np.arange(900) % 2, groups=np.arange(900)))
    units = TrainingUnits("group").after(sample)
    assert 20 < len(units.seen) <= 100
    assert (units.seen < np.uint64(units.limit)).all()
    later = units.sample()
    later.add(batch_of({"x": np.arange(900)}, np.arange(900) % 2, groups=np.arange(900)))
    assert later.n_rows == 0  # all of those below the limit were seen


def test_folds_split_no_group_and_are_even():
    rng = np.random.default_rng(0)
    who = rng.integers(0, 60, 1000)
    y = (who % 3 == 0).astype(np.intp)
    units = batch_of({"x": who}, y, groups=who).units
    dealt = deal_units(rng.integers(0, 2**63, 1000, dtype=np.uint64), y, np.ones(1000), units, 0, 5)
    assert dealt.weight.sum() == 1000
    held = [set(who[dealt.rows[rows]]) for _, rows in dealt.splits]
    assert sum(map(len, held)) == len(set.union(*held)) == 60
    for inside, rows in dealt.splits:
        assert not set(who[dealt.rows[inside]]) & set(who[dealt.rows[rows]])
        assert 130 <= len(rows) <= 270
        assert 0.2 < y[dealt.rows[rows]].mean() < 0.5


def test_forward_folds_hold_out_what_comes_later():
    when = np.random.default_rng(0).permutation(200)
    y = (when % 2).astype(np.intp)
    units = batch_of({"x": when}, y, time=when).units
    dealt = deal_units(when.astype(np.uint64), y, np.ones(200), units, 0, 5)
    assert len(dealt.splits) == 5
    for inside, held in dealt.splits:
        assert when[dealt.rows[inside]].max() < when[dealt.rows[held]].min()
        assert len(inside) >= 100
    mostly_last = batch_of({"x": when}, y, time=np.where(when < 20, 0, 1)).units
    (split,) = deal_units(when.astype(np.uint64), y, np.ones(200), mostly_last, 0, 5).splits
    assert len(split[0]) == 20


def test_some_rows_are_whole_groups_or_the_last():
    n = np.arange(1000)
    groups = some_rows(batch_of({"x": n}, n % 2, groups=n // 5), 100, ["x"])
    values = groups.batch.columns["x"].values
    assert 90 <= groups.n_rows <= 100
    assert (np.unique(values // 5, return_counts=True)[1] == 5).all()
    last = some_rows(batch_of({"x": n}, n % 2, time=n // 5), 100, ["x"])
    assert last.batch.columns["x"].values.min() == 900


# ---------------------------------------------------------------------- copies


def campaigns(n=60, copies=5, seed=0):
    rng = np.random.default_rng(seed)
    words = [f"w{i}" for i in range(400)]
    base = [rng.choice(words, 30) for _ in range(n)]
    texts = [" ".join([*text, *rng.choice(words, 2)]) for text in base for _ in range(copies)]
    return texts, np.repeat(rng.integers(0, 2, n), copies)


def test_near_copies_of_texts_are_groups_and_many_are_noticed():
    texts, y = campaigns()
    with pytest.warns(DataWarning, match=r'near copies.*groups="auto"'):
        alone = NaiveBayes().fit(texts, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        together = NaiveBayes().fit(texts, y, groups="auto")
    assert len(together.units_.seen) == 60
    assert deciban.evaluate(alone, bootstrap=0).accuracy > 0.9
    assert deciban.evaluate(together, bootstrap=0).accuracy < 0.7


def test_different_texts_are_not_called_copies():
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice([f"w{i}" for i in range(400)], 30)) for _ in range(300)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        m = NaiveBayes().fit(texts, rng.integers(0, 2, 300), groups="auto")
        NaiveBayes().fit(texts, rng.integers(0, 2, 300))
    assert len(m.units_.seen) == 300


def test_equal_rows_of_a_table_are_groups():
    X = {"a": [1.0, 2.0, 1.0, np.nan, np.nan, 2.0], "b": ["x", "y", "x", None, None, "x"]}
    m = NaiveBayes().fit(X, list("uvuvuv"), groups="auto")
    assert len(m.units_.seen) == 4
    with tempfile.TemporaryDirectory() as folder:
        m.save(f"{folder}/m.deciban")
        loaded = deciban.load(f"{folder}/m.deciban")
    assert len(loaded.partial_fit({"a": [9.0], "b": ["z"]}, ["u"]).units_.seen) == 5


# ---------------------------------------------------------------------- other programs


@pytest.mark.parametrize("classifier", [NaiveBayes, AODE])
def test_groups_pass_through_cross_validation(classifier, clinic):
    from sklearn.model_selection import GroupKFold, cross_val_score

    (X, y, who), _ = clinic
    matrix = np.column_stack(list(X.values()))
    scores = cross_val_score(
        classifier(), matrix, y, groups=who, cv=GroupKFold(4),
        params={"groups": who, "sample_weight": np.ones(len(y))},
    )  # fmt: skip
    assert len(scores) == 4
    assert np.isfinite(scores).all()


def test_metadata_routing(clinic):
    import sklearn
    from sklearn.model_selection import GroupKFold, cross_validate

    (X, y, who), _ = clinic
    matrix = np.column_stack(list(X.values()))
    with sklearn.config_context(enable_metadata_routing=True):
        model = NaiveBayes().set_fit_request(groups=True, sample_weight=True)
        model = model.set_score_request(sample_weight=False)
        result = cross_validate(
            model, matrix, y, cv=GroupKFold(4), return_estimator=True,
            params={"groups": who, "sample_weight": np.ones(len(y))},
        )  # fmt: skip
    assert all(m.units_.kind == "group" for m in result["estimator"])
