"""A model as SQL answers as it does in Python, in every database."""

import datetime
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import databases
import deciban
from databases import DIALECTS, open_database
from deciban import AODE, BayesClassifier, LogisticRegression, NaiveBayes
from deciban.errors import InputError, ParameterError
from deciban.naive_bayes import (
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianNB,
    MultinomialNB,
)
from deciban.sql import dialects

TOLERANCE = 1e-9


@pytest.fixture(scope="module", params=DIALECTS)
def database(request):
    with open_database(request.param) as opened:
        opened.dialect = request.param
        yield opened


def column_of(rows, name):
    return np.array([row[name] for row in rows], dtype=float)


def answers(database, model, rows, **options):
    """What the query gives for every row, in order, without the key."""
    database.store("new", rows)
    query = model.to_sql("new", database.dialect, keep=["key"], **options)
    lines = sorted(database.run(query))
    assert [line[0] for line in lines] == list(range(len(lines)))
    return [line[1:] for line in lines]


def check(database, model, rows, X=None, *, evidence=True):
    """Probabilities, answers and evidence are those of Python."""
    X = rows if X is None else X
    posterior = model.predict_proba(X)
    lines = answers(database, model, rows, evidence=evidence)
    n_classes = posterior.shape[1]
    given = np.array([line[1 : 1 + n_classes] for line in lines], dtype=float)
    np.testing.assert_allclose(given, posterior, atol=TOLERANCE, rtol=0)
    best = posterior.argmax(axis=1)
    sure = np.sort(posterior, axis=1)[:, -1] - np.sort(posterior, axis=1)[:, -2] > TOLERANCE
    wanted, told = model.classes_[best].tolist(), [line[0] for line in lines]
    for one, other, clear in zip(told, wanted, sure, strict=True):
        assert not clear or one == other
    if evidence:
        said = model.evidence(X)[np.arange(len(best)), :, best]
        written = np.array([line[1 + n_classes :] for line in lines], dtype=float)
        np.testing.assert_allclose(written[sure], said[sure], atol=1e-6, rtol=1e-9)


def table(database, n=200, seed=0):
    """A column of every kind that the database has, with holes."""
    rng = np.random.default_rng(seed)
    y = rng.choice(["yes", "no", "it's"], n)
    first = datetime.datetime(2024, 1, 1)
    hours = rng.integers(0, 10_000, n)
    rows = {
        "size": [None if i % 11 == 0 else str(v) for i, v in enumerate(rng.choice(list("SML"), n))],
        "shop": [f"s{v}" for v in rng.integers(0, 50, n)],
        "height": (rng.normal(size=n) + (y == "yes")).tolist(),
        "count": [int(v) for v in rng.poisson(2 + 3 * (y == "no"))],
        "wind": rng.uniform(-400, 800, n).tolist(),
        "open": [bool(v) for v in rng.random(n) < 0.4],
        "when": [first + datetime.timedelta(hours=int(h), microseconds=123456) for h in hours],
        "day": [(first + datetime.timedelta(hours=int(h))).date() for h in hours],
        "clock": [datetime.time(int(h) % 24, 30) for h in hours],
    }
    rows["height"][::7] = [math.nan] * len(rows["height"][::7])
    return {name: rows[name] for name in rows if name not in database.lacks}, y.tolist()


KINDS = {"wind": "cyclic:360", "shop": "categorical"}


def new_rows(rows):
    """Values that training did not have."""
    out = {name: list(values[:60]) for name, values in rows.items()}
    out["size"][1:4] = ["XL", "", None]
    out["shop"][2:4] = ["new", None]
    out["height"][3:8] = [1e6, -1e6, 0.0, 1e-300, 1e200]
    out["count"][4] = 1_000_000
    out["wind"][5:8] = [360.0, -0.0, 0.0]
    out["open"][6] = None
    out["when"][7] = None
    return out


@pytest.mark.parametrize("numeric", ["auto", "gaussian", "histogram", "poisson", "von_mises"])
def test_naive_bayes_of_every_family_answers_as_in_python(database, numeric):
    rows, y = table(database)
    check(database, NaiveBayes(kinds=KINDS, numeric=numeric).fit(rows, y), new_rows(rows))


@pytest.mark.parametrize("method", ["ml", "map", "bayes"])
@pytest.mark.parametrize("missing", ["value", "skip"])
def test_ways_to_estimate_and_missing_values(database, method, missing):
    rows, y = table(database, seed=1)
    model = NaiveBayes(kinds=KINDS, method=method, missing=missing, smoothing=0.5).fit(rows, y)
    check(database, model, new_rows(rows))


@pytest.mark.parametrize("options", [{}, {"missing": "skip", "support": 5}])
def test_aode_answers_as_in_python(database, options):
    rows, y = table(database, seed=2)
    names = ("size", "height", "count", "wind", "open")
    model = AODE(kinds={"wind": "cyclic:360"}, **options)
    model.fit({name: rows[name] for name in names}, y)
    check(database, model, {name: new_rows(rows)[name] for name in names})


@pytest.mark.parametrize("classes", [2, 3])
def test_the_ensemble_answers_as_in_python(database, classes):
    rows, y = table(database, seed=2)
    labels = y if classes == 3 else ["no" if label == "no" else "yes" for label in y]
    names = ("size", "shop", "height", "count")
    model = BayesClassifier(kinds={"shop": "categorical"})
    model.fit({name: rows[name] for name in names}, labels)
    check(database, model, {name: new_rows(rows)[name] for name in names})


def test_centres_of_the_ensemble_answer_as_in_python(database):
    rng = np.random.default_rng(4)
    X = rng.uniform(-2, 2, size=(300, 2))
    X[::17, 0] = np.nan
    y = (np.sin(2 * X[:, 0]) * np.sin(2 * X[:, 1]) > 0).astype(int)
    model = BayesClassifier(learners=["radial", "linear"]).fit({"a": X[:, 0], "b": X[:, 1]}, y)
    assert len(model.model_.terms.radial) > 50
    rows = {"a": [0.5, None, 1e9, -3.0, 0.0], "b": [0.25, 1.0, -1e9, None, 0.0]}
    check(database, model, rows)


@pytest.mark.parametrize(
    "model",
    [
        GaussianNB(), MultinomialNB(), MultinomialNB(alpha=0, force_alpha=True), ComplementNB(),
        BernoulliNB(binarize=1.0), CategoricalNB(), LogisticRegression(),
        LogisticRegression(multi_class="ovr"),
    ],
    ids=lambda model: type(model).__name__,
)  # fmt: skip
def test_drop_ins_and_logistic_regression(database, model):
    rng = np.random.default_rng(3)
    X = rng.integers(0, 5, (80, 3)).astype(float)
    y = (X[:, 0] + rng.integers(0, 2, 80)).astype(int) % 3
    model.fit(X, y)
    rows = {f"x{j}": X[:40, j].tolist() for j in range(3)}
    check(database, model, rows, X[:40])


@pytest.mark.parametrize("multi_class", ["softmax", "ovr"])
def test_numbers_beyond_the_range_of_a_chosen_penalty(database, multi_class):
    rng = np.random.default_rng(5)
    y = np.arange(60) % 3
    X = rng.normal(size=(60, 2)) + y[:, None]
    model = LogisticRegression(C="auto", multi_class=multi_class).fit(X, y)
    far = 20.0 * X
    check(database, model, {f"x{j}": far[:, j].tolist() for j in range(2)}, far)


def test_rows_that_python_refuses_have_no_answer(database):
    X, y = [[1.0], [2.0], [4.0], [5.0]], ["a", "a", "b", "b"]
    logistic = LogisticRegression().fit(X, y)
    assert answers(database, logistic, {"x0": [None, 1.0]})[0] == (None, None, None)
    bayes = NaiveBayes().fit({"x": [1.0, 2.0, 4.0, 5.0]}, y)
    lines = answers(database, bayes, {"x": [math.inf, -math.inf, 1.0]})
    assert lines[:2] == [(None, None, None)] * 2
    assert lines[2][0] is not None


def test_loss_abstaining_and_other_base_rates(database):
    rows, y = table(database, seed=4)
    rows = {name: rows[name] for name in ("size", "height")}
    model = NaiveBayes().fit(rows, y)
    loss = {("yes", "no"): 5.0, ("no", "it's"): 0.5}
    told = [line[0] for line in answers(database, model, rows, loss=loss, abstain=0.6)]
    assert told == model.decide(rows, loss=loss, abstain=0.6).tolist()
    assert None in told
    assert [x[0] for x in answers(database, model, rows, abstain=0.5)] == model.decide(
        rows, abstain=0.5
    ).tolist()
    priors = {"yes": 0.9, "no": 0.05, "it's": 0.05}
    moved = deciban.decision.rebase(
        model.predict_proba(rows), np.exp(model.model_.log_prior), priors, model.classes_
    )
    lines = answers(database, model, rows, priors=priors)
    np.testing.assert_allclose([line[1:] for line in lines], moved, atol=TOLERANCE)


HOSTILE = [
    "'",
    "''; DROP TABLE new; --",
    "\\",
    "\\'",
    'a"b',
    "a`b",
    "\n",
    "%s",
    "$$",
    "😀",
    "é",
    " ",
]


def test_no_category_label_or_name_is_read_as_sql(database):
    values = [*HOSTILE, "a\0b"] if database.dialect != "postgres" else HOSTILE
    names = [
        "c0",
        "s1",
        "q0",
        "keep0",
        "t",
        "n0",
        "k0",
        "select",
        'quo"te',
        "back`tick",
        "two words",
        "😀",
        "p_x",
        "Ünï",
        "a;b--",
    ]
    rng = np.random.default_rng(5)
    rows = {name: [str(v) for v in rng.choice(values, 150)] for name in names}
    y = rng.choice(HOSTILE, 150).tolist()
    model = NaiveBayes(kinds=dict.fromkeys(names, "categorical")).fit(rows, y)
    check(database, model, rows, evidence=False)


def test_an_ignored_column_has_no_evidence(database):
    rows = {"x": ["s", "t", "u"] * 4, "number": list(range(12))}
    model = NaiveBayes(kinds={"x": "categorical", "number": "identifier"}).fit(rows, ["a", "b"] * 6)
    assert "db_number" not in model.to_sql("new", database.dialect, evidence=True)
    check(database, model, {"x": rows["x"]}, rows, evidence=False)


def test_a_view_has_any_name(database):
    rows = {"x": ["s", "t", "u"] * 4}
    model = NaiveBayes(kinds={"x": "categorical"}).fit(rows, ["a", "b"] * 6)
    database.store("new", rows)
    database.run_only('DROP VIEW IF EXISTS "a view; --"')
    database.run_only(model.to_sql("new", database.dialect, view="a view; --"))
    assert len(database.run('SELECT * FROM "a view; --"')) == 12
    database.run_only('DROP VIEW "a view; --"')


def test_a_long_table_of_hostile_values_is_joined_safely(database):
    values = [f"{text}{i}" for i in range(6) for text in HOSTILE]
    rows = {"x": values * 2}
    y = ["a", "b", "b"] * (len(rows["x"]) // 3)
    model = NaiveBayes(kinds={"x": "categorical"}).fit(rows, y)
    check(database, model, {"x": [*values, "other", None]})


def test_long_tables_of_whole_numbers_are_joined_to_the_last_digit(database):
    values = [2**53 + i for i in range(40)]
    rows = {"x": values * 2}
    model = NaiveBayes(kinds={"x": "categorical"}).fit(rows, (["a"] * 20 + ["b"] * 20) * 2)
    check(database, model, {"x": [*values, 5, None]})


def test_a_label_with_nul_is_refused_where_no_text_has_one():
    model = NaiveBayes().fit({"x": [1.0, 2.0]}, ["a\0b", "c"])
    with pytest.raises(InputError, match="no text that postgres can have"):
        model.to_sql("new", "postgres")
    assert "6100" in model.to_sql("new", "sqlite")


def test_numbers_booleans_and_whole_numbers_are_labels(database):
    rows = {"x": [1.0, 2.0, 3.0, 4.0]}
    for labels in ([1, 1, 2, 2], [True, True, False, False]):
        model = NaiveBayes().fit(rows, labels)
        assert [x[0] for x in answers(database, model, rows)] == model.predict(rows).tolist()


def test_names_that_a_database_would_confuse_are_told_apart(database):
    rows = {"x": ["s", "t", "u"] * 4}
    long = "c" * 80
    model = NaiveBayes(kinds={"x": "categorical"}).fit(rows, ["a", "A", long, long + "d"] * 3)
    database.store("new", rows)
    database.run_only("DROP VIEW IF EXISTS v")
    database.run_only(model.to_sql("new", database.dialect, view="v"))
    assert len(database.run("SELECT * FROM v")[0]) == 5
    database.run_only("DROP VIEW v")


def test_what_cannot_be_written_is_refused_with_a_hint():
    texts = NaiveBayes(kinds={"x": "text"}).fit({"x": ["good film", "bad film"]}, ["a", "b"])
    with pytest.raises(InputError, match=r"'x' is a text.*Hint"):
        texts.to_sql("new")
    bayes = BayesClassifier(kinds={"x": "text"}).fit(
        {"x": ["good film", "bad film"] * 20}, ["a", "b"] * 20
    )
    with pytest.raises(InputError, match=r"'x' is a text.*Hint"):
        bayes.to_sql("new")
    model = NaiveBayes().fit({"x": [1.0, 2.0]}, ["a", "b"])
    with pytest.raises(ParameterError, match="dialect must be one of"):
        model.to_sql("new", "oracle")
    with pytest.raises(ParameterError, match="table must be a name"):
        model.to_sql("")
    with pytest.raises(ParameterError, match="'prediction', which is what the answer"):
        model.to_sql("new", keep=["prediction"])
    with pytest.raises(ParameterError, match="starts from logits"):
        LogisticRegression().fit([[1.0], [2.0]], ["a", "b"]).to_sql(priors={"a": 0.5, "b": 0.5})


def test_more_columns_than_a_database_takes_are_refused(monkeypatch):
    rows = {"x": ["s", "t", "u"] * 4, "n": list(range(12))}
    model = NaiveBayes().fit(rows, ["a", "b"] * 6)
    monkeypatch.setattr("deciban.sql.layout.MAX_JOINED_COLUMNS", 0)
    assert model.to_sql("t", "postgres", evidence=True)
    narrow = replace(dialects.DIALECTS["postgres"], max_columns=3)
    monkeypatch.setitem(dialects.DIALECTS, "postgres", narrow)
    with pytest.raises(InputError, match="columns side by side, and the database takes 3"):
        model.to_sql("t", "postgres", evidence=True)


def test_a_family_without_a_formula_is_refused():
    model = NaiveBayes(numeric="gaussian").fit({"x": [1.0, 2.0, 3.0]}, ["a", "b", "a"])
    (block,) = model.model_.blocks
    vars(block)["parameters"] = object()  # as those of a family from elsewhere may be
    with pytest.raises(InputError, match="the family 'gaussian' of column 'x' has no formula"):
        model.to_sql("new")


def test_a_table_of_a_schema_has_its_name_in_parts():
    model = NaiveBayes().fit({"x": [1.0, 2.0]}, ["a", "b"])
    assert 'FROM "one"."two"' in model.to_sql("one.two")
    assert 'FROM "one.two"' in model.to_sql(("one.two",))


VALUES = st.one_of(
    st.none(), st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=4)
)
NUMBERS = st.one_of(
    st.none(),
    st.floats(-1e6, 1e6),
    st.sampled_from([0.0, -0.0, 1e-320, 5e-324, 1e300, -1e308, 1.0]),
)


FAMILIES = ("auto", "gaussian", "histogram", "poisson", "von_mises")
MODELS = [*(NaiveBayes(numeric=family) for family in FAMILIES), AODE()]


@settings(max_examples=25, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_generated_tables(database, data):
    check_generated(database, data)


def check_generated(database, data):
    """A generated model answers as in Python, also for values that training did not have."""
    n = data.draw(st.integers(4, 20))
    texts = data.draw(st.lists(VALUES, min_size=n, max_size=n))
    numbers = data.draw(
        st.lists(st.one_of(st.floats(-100, 100), st.none()), min_size=n, max_size=n)
    )
    whole = data.draw(st.lists(st.integers(0, 9), min_size=n, max_size=n))
    y = data.draw(st.lists(st.sampled_from(["a", "b", "c"]), min_size=n, max_size=n))
    y[:2] = ["a", "b"]
    # A column of one value has a bell so narrow that squared distances leave the floats, in Python
    # sooner than in a query, which squares last.
    numbers[:2], whole[:2] = [-1.0, 1.0], [0, 9]
    kinds = {"t": "categorical", "n": "numeric", "w": "numeric"}
    model = data.draw(st.sampled_from(MODELS)).set_params(kinds=kinds)
    numbers = [math.nan if v is None else v for v in numbers]
    model.fit({"t": texts, "n": numbers, "w": whole}, y)
    new = {
        "t": [*texts, "other", "", None],
        "n": [*data.draw(st.lists(NUMBERS, min_size=n, max_size=n)), 1.0, None, 2.0],
        "w": [*whole, 100, 3, 0],
    }
    known = {**new, "n": [math.nan if v is None else v for v in new["n"]]}
    check(database, model, new, known, evidence=False)


def test_the_helpers_know_every_dialect():
    from deciban.sql.dialects import DIALECTS as ALL

    assert set(databases.DIALECTS) | {"spark"} == set(ALL)
