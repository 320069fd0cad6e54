"""``deciban train``: models, rows held out, columns, priors, rows without labels, texts."""

import json

import numpy as np
import polars as pl
import pytest

from commands import FRUIT, done, run
from deciban import AODE, BayesClassifier, NaiveBayes, load
from deciban.cli.recipes import MODELS, Roles
from deciban.cli.splits import HeldRows
from deciban.engines.duckdb import count as grouping
from deciban.sources import scan

KINDS = {"naive": NaiveBayes, "aode": AODE, "logistic": BayesClassifier, "bayes": BayesClassifier}


def trained(tmp_path, *options, data=FRUIT, target="fruit"):
    """The facts of a training, as JSON, and the model."""
    path = tmp_path / "m.deciban"
    return json.loads(done("train", data, "-t", target, "-o", path, "--json", *options)), load(path)


def refused(*options, data=FRUIT, target="fruit"):
    """What is said of a training that fails; no file is written."""
    ended = run("train", data, "-t", target, "-o", "/nonexistent/m.deciban", *options)
    assert ended.code in (1, 2)
    assert not ended.out
    return ended.err


# ---------------------------------------------------------------------- models


@pytest.mark.parametrize("model", MODELS)
def test_every_model_answers_to_every_command(tmp_path, model):
    facts, estimator = trained(tmp_path, "--model", model)
    path = tmp_path / "m.deciban"
    assert facts["model"] == model
    assert isinstance(estimator, KINDS[model])
    assert 0 < facts["quality"]["log_loss"] < facts["quality"]["guessing_log_loss"]
    assert done("predict", path, FRUIT).count("\n") == 201
    assert "decibans" in done("explain", path, FRUIT, "--limit", "1")
    assert "accuracy" in run("evaluate", path, FRUIT, "--bootstrap", "0").out
    assert done("inspect", path).startswith(f"{path}: {type(estimator).__name__}")
    assert run("drift", path, FRUIT).code == 0
    page = tmp_path / "r.html"
    assert run("report", path, FRUIT, "-o", page, "--bootstrap", "0").code == 0


def test_the_logistic_model_is_linear_in_what_it_sees(tmp_path):
    _, m = trained(tmp_path, "--model", "logistic", "--only", "grams,colour")
    assert [view.name for view in m.report_.views] == ["logistic"]
    logits = m.predict_joint_log_proba({"grams": [50.0, 100.0, 150.0], "colour": ["red"] * 3})
    np.testing.assert_allclose(np.diff(logits, 2, axis=0), 0, atol=1e-9)
    holes = m.predict_proba({"grams": [None], "colour": [None]})
    np.testing.assert_allclose(holes, m.predict_proba({"grams": [None], "colour": ["mauve"]}))


def test_auto_takes_the_least_held_out_loss_and_says_why(tmp_path):
    facts, m = trained(tmp_path, "--model", "auto")
    losses = {one["model"]: one["log_loss"]["value"] for one in facts["choice"]["models"]}
    assert set(losses) == set(MODELS)
    best = min(losses, key=losses.get)
    assert facts["model"] == facts["choice"]["model"] == best
    assert isinstance(m, KINDS[best])
    assert facts["choice"]["reason"].startswith(f"{best} is taken: its log loss is the least, by ")
    assert facts["suggestion"] is None


def test_auto_tries_only_models_that_take_what_is_stated(tmp_path):
    out = done("train", FRUIT, "-t", "fruit", "-o", tmp_path / "m", "--model", "auto",
               "--prior", "uniform", "--drop", "picked")  # fmt: skip
    assert "tried: 5 folds, 200 rows" in out
    assert "\nnaive " in out
    assert "\naode " in out
    assert "bayes" not in out
    assert "logistic" not in out


def test_after_naive_a_line_says_what_another_model_reaches(tmp_path):
    facts, _ = trained(tmp_path)
    other = facts["suggestion"]
    bayes = BayesClassifier().fit(FRUIT, target="fruit")
    assert (other["model"], other["rows"]) == ("bayes", 200)
    assert other["log_loss"] == pytest.approx(bayes.report_.loss)
    assert other["naive_log_loss"] == pytest.approx(facts["quality"]["log_loss"], abs=1e-6)
    assert "--model bayes has a log loss of" in done("train", FRUIT, "-t", "fruit", "-o",
                                                     tmp_path / "m.deciban")  # fmt: skip


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--model", "bayes", "--numeric", "gaussian"], "--numeric is of no use for --model bayes"),
        (["--model", "aode", "--min-df", "2"], "it is for --model naive"),
        (["--model", "logistic", "--prior", "uniform"], "it is for --model naive and aode"),
        (["--model", "bayes", "--em"], "--em is of no use"),
        (["--model", "auto", "--em", "--class-weight", "ripe=3"], "no class"),
        (["--model", "best"], "'best' is not one of"),
        (["--test", "1.5"], "no share of the rows"),
        (["--test", "0"], "no share of the rows"),
        (["--test", "nowhere.csv"], "does not exist"),
        (["--cv", "1"], "not in the range"),
        (["--cv", "5", "--test", "0.2"], "both hold rows out"),
        (["--cv", "1000"], "cannot be parted"),
        (["--drop", "colr"], "perhaps 'colour' was meant"),
        (["--drop", "fruit"], "it has another role"),
        (["--only", "grams", "--drop", "ripe"], "state one of them"),
        (["--weight", "colour"], "weight"),
        (["--weight", "wait"], "there is no column 'wait'"),
        (["--prior", "apple=1"], "is missing for a class: 'cherry'"),
        (["--prior", "apple=0.2,cherry=0.4,pear=0.4"], "a prior names no class: 'pear'"),
        (["--prior", "apple"], "is neither uniform nor CLASS=NUMBER"),
        (["--class-weight", "pear=2"], "no class"),
        (["--unlabelled", "nowhere.csv"], "does not exist"),
        (["--em", "--unlabelled-weight", "much"], "neither 'auto' nor a number"),
        (["--ngrams", "two"], "FEWEST-MOST"),
        (["--ngrams", "3-1"], "ngrams"),
        (["--stop-words", "klingon"], "neither a language nor a file"),
        (["--min-df", "-1"], "min_df"),
    ],
)  # fmt: skip
def test_mistakes_are_said(options, message):
    assert message in refused(*options)


# ---------------------------------------------------------------------- rows that are held out


def test_a_share_of_the_rows_is_held_out_and_not_learned(tmp_path):
    facts, m = trained(tmp_path, "--test", "0.25", "--seed", "3")
    (tested,) = facts["tested"]["models"]
    assert facts["rows"] + tested["rows"] == 200
    assert tested["rows"] == pytest.approx(50, abs=2)
    assert m.counts_.weight.sum() == facts["rows"]
    low, high = tested["accuracy"]["interval"]
    assert low < tested["accuracy"]["value"] <= high
    again, _ = trained(tmp_path, "--test", "25%", "--seed", "3")
    other, _ = trained(tmp_path, "--test", "0.25", "--seed", "4")
    assert again["tested"]["models"][0]["log_loss"] == tested["log_loss"]
    assert other["tested"]["models"][0]["log_loss"] != tested["log_loss"]


def test_a_file_of_tests_is_what_evaluate_says(tmp_path):
    lines = FRUIT.read_text().splitlines(keepends=True)
    ours, theirs = tmp_path / "a.csv", tmp_path / "b.csv"
    ours.write_text("".join(lines[:101]))
    theirs.write_text("".join([lines[0], *lines[101:]]))
    facts, _ = trained(tmp_path, "--test", theirs, data=ours)
    (tested,) = facts["tested"]["models"]
    said = json.loads(done("evaluate", tmp_path / "m.deciban", theirs, "--json"))
    for name in ("accuracy", "log_loss", "roc_auc", "rows"):
        assert tested[name] == said[name]


def test_folds_judge_every_row_once_and_all_rows_are_learned(tmp_path):
    facts, m = trained(tmp_path, "--cv", "4", "--model", "aode")
    (tested,) = facts["tested"]["models"]
    assert (tested["rows"], facts["rows"]) == (200, 200)
    assert facts["tested"]["rows"] == "4 folds, 200 rows"
    assert m.counts_ == AODE().fit(FRUIT, target="fruit").counts_


def table(**columns):
    return scan({"y": list("ab") * 20, **columns})


def test_splits_hold_every_class_out_in_equal_shares():
    held = HeldRows.of(scan({"x": list(range(60)), "y": list("aab") * 20}), Roles("y"), 0)
    inside, outside = held.share(0.25)
    assert sorted([*inside, *outside]) == list(range(60))
    truth = np.array(list("aab") * 20)
    assert [int((truth[outside] == c).sum()) for c in "ab"] == [10, 5]
    folds = list(held.folds(5))
    assert sorted(np.concatenate([held for _, held in folds])) == list(range(60))
    for inside, outside in folds:
        assert not set(inside) & set(outside)
        assert len(inside) + len(outside) == 60
        assert int((truth[outside] == "b").sum()) == 4


def test_splits_leave_groups_whole_and_go_forward_in_time():
    groups = [i // 5 for i in range(40)]
    held = HeldRows.of(table(g=groups), Roles("y", group="g"), 0)
    for inside, outside in [held.share(0.3), *held.folds(3)]:
        assert not {groups[i] for i in inside} & {groups[i] for i in outside}
    times = [(7 * i) % 40 for i in range(40)]
    held = HeldRows.of(table(t=times), Roles("y", time="t"), 0)
    for inside, outside in [held.share(0.3), *held.folds(3)]:
        assert max(times[i] for i in inside) < min(times[i] for i in outside)
    inside, outside = held.share(0.25)
    assert len(outside) == 10


def test_copies_are_held_out_together():
    rows = {"x": [float(i // 4) for i in range(40)], "y": ["a", "a", "a", "a"] * 5 + ["b"] * 20}
    held = HeldRows.of(scan(rows), Roles("y", group="auto"), 1)
    inside, outside = held.share(0.4)
    assert not {rows["x"][i] for i in inside} & {rows["x"][i] for i in outside}


# ---------------------------------------------------------------------- columns, weights, priors


def test_columns_can_be_dropped_and_chosen(tmp_path):
    facts, dropped = trained(tmp_path, "--drop", "picked,ripe")
    assert facts["ignored"]["picked"] == facts["ignored"]["ripe"] == "dropped"
    _, only = trained(tmp_path, "--only", "grams", "--only", "colour")
    assert dropped.counts_ == only.counts_
    rows = pl.read_csv(FRUIT)["grams", "colour"]
    np.testing.assert_array_equal(
        only.predict_proba(rows.with_columns(id=1, ripe=True, picked=pl.lit("2025-01-01"))),
        dropped.predict_proba(rows.with_columns(id=1, ripe=True, picked=pl.lit("2025-01-01"))),
    )


def test_a_row_of_weight_two_is_two_rows(tmp_path):
    rows = pl.read_csv(FRUIT).drop("id").with_columns(w=pl.int_range(pl.len()) % 3)
    rows.write_csv(tmp_path / "w.csv")
    copies = rows.filter(pl.col("w") > 0).select(pl.exclude("w").repeat_by("w")).explode(pl.all())
    copies.write_csv(tmp_path / "c.csv")
    _, weighted = trained(tmp_path, "--weight", "w", data=tmp_path / "w.csv")
    _, repeated = trained(tmp_path, data=tmp_path / "c.csv")
    assert weighted.counts_ == repeated.counts_
    assert "w" not in weighted.schema_.names


def test_priors_are_those_stated_whatever_the_type_of_classes(tmp_path):
    data = tmp_path / "d.csv"
    data.write_text("x,y\n" + "a,0\nb,0\na,1\nb,1\nb,1\n" * 5)
    _, m = trained(tmp_path, "--prior", "1=0.9,0=0.1", data=data, target="y")
    assert np.exp(m.model_.log_prior) == pytest.approx([0.1, 0.9])
    _, even = trained(tmp_path, "--prior", "uniform", "--model", "aode", data=data, target="y")
    assert np.exp(even.model_.log_prior) == pytest.approx([0.5, 0.5])
    _, heavy = trained(tmp_path, "--class-weight", "0=3", data=data, target="y")
    assert np.exp(heavy.model_.log_prior) == pytest.approx([6 / 9, 3 / 9])
    _, same = trained(tmp_path, "--class-weight", "balanced", data=data, target="y")
    assert np.exp(same.model_.log_prior) == pytest.approx([0.5, 0.5])


def test_the_prior_by_class_survives_a_file(tmp_path):
    m = NaiveBayes(prior={1: 0.25, 2: 0.75}).fit({"x": list("SSLL")}, [1, 1, 2, 2])
    m.save(tmp_path / "m.deciban")
    again = load(tmp_path / "m.deciban")
    assert again.prior == {1: 0.25, 2: 0.75}
    np.testing.assert_array_equal(again.predict_proba({"x": ["S"]}), m.predict_proba({"x": ["S"]}))


# ---------------------------------------------------------------------- rows without labels


@pytest.fixture
def some_labels(tmp_path):
    """The fruit with and without labels: in one file, and in two."""
    rows = pl.read_csv(FRUIT)
    mixed, labelled, bare = (tmp_path / f"{name}.csv" for name in ("mixed", "labelled", "bare"))
    first = pl.int_range(pl.len()) < 30
    rows.with_columns(fruit=pl.when(first).then("fruit")).write_csv(mixed)
    rows.filter(first).write_csv(labelled)
    rows.filter(~first).drop("fruit").write_csv(bare)
    return mixed, labelled, bare


def test_rows_without_labels_are_refused_unless_asked_for(tmp_path, some_labels):
    mixed, labelled, bare = some_labels
    said = refused(data=mixed)
    assert "the target 'fruit' has no value in row 30" in said
    assert "add --em to learn from them" in said
    facts, m = trained(tmp_path, "--em", data=mixed)
    expected = NaiveBayes().fit(mixed, target="fruit")
    assert m.counts_ == expected.counts_
    assert facts["unlabelled"] == {"weight": 1.0, "rounds": len(expected.likelihood_)}
    _, two = trained(tmp_path, "--unlabelled", bare, data=labelled)
    assert two.counts_ == m.counts_
    half, _ = trained(tmp_path, "--em", "--unlabelled-weight", "0.5", data=mixed)
    assert half["unlabelled"]["weight"] == 0.5


def test_rows_without_labels_are_learned_but_never_judged(tmp_path, some_labels):
    facts, _ = trained(tmp_path, "--em", "--cv", "3", data=some_labels[0])
    assert facts["tested"]["models"][0]["rows"] == 30


def test_a_file_without_labels_must_have_the_columns(tmp_path, some_labels):
    pl.read_csv(some_labels[2]).drop("grams").write_csv(tmp_path / "less.csv")
    assert "there is no column 'grams'" in refused(
        "--unlabelled", tmp_path / "less.csv", data=some_labels[1]
    )


# ---------------------------------------------------------------------- texts


@pytest.fixture
def texts(tmp_path):
    path = tmp_path / "t.csv"
    rows = [("the good film", 1), ("a good film indeed", 1), ("the bad film", 0), ("bad", 0)] * 4
    pl.DataFrame(rows, schema=["text", "y"], orient="row").write_csv(path)
    return path


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ([], {"the", "good", "film", "indeed", "bad"}),
        (["--stop-words", "english"], {"good", "film", "indeed", "bad"}),
        (["--min-df", "8"], {"the", "good", "film", "bad"}),
        (["--max-words", "1"], {"film"}),
        (["--ngrams", "2-2"], {"the good", "good film", "film indeed", "the bad", "bad film"}),
        (["--characters", "3"], {"goo", "bad"}),
    ],
)
def test_options_of_texts_reach_the_model(tmp_path, texts, options, words):
    _, m = trained(tmp_path, "--kind", "text=text", *options, data=texts, target="y")
    known = set(m.model_.known_words("text").tokens.tolist())
    assert words <= known
    assert options == ["--characters", "3"] or known == words


def test_stop_words_of_a_file(tmp_path, texts):
    file = tmp_path / "stop.txt"
    file.write_text("# mine\nGood\nfilm\n", encoding="utf-8-sig")
    _, m = trained(tmp_path, "--kind", "text=text", "--stop-words", file, data=texts, target="y")
    assert set(m.model_.known_words("text").tokens.tolist()) == {"the", "indeed", "bad"}
    file.write_text("\n")
    assert "has no words" in refused("--stop-words", file)


def test_texts_of_the_ensemble_are_read_by_the_stated_tokenizer(tmp_path, texts):
    _, m = trained(tmp_path, "--kind", "text=text", "--model", "logistic", "--ngrams", "1-1",
                   data=texts, target="y")  # fmt: skip
    assert m.tokenizer.ngrams == (1, 1)
    assert {phrases.tokenizer.ngrams for phrases in m.model_.texts} == {(1, 1)}


# ---------------------------------------------------------------------- Parquet


def test_duckdb_counts_parquet_for_the_command(tmp_path, monkeypatch):
    asked, group = [], grouping.group

    def watched(table, columns, *more):
        asked.extend(columns)
        return group(table, columns, *more)

    monkeypatch.setattr(grouping, "group", watched)
    path = tmp_path / "fruit.parquet"
    rows = pl.read_csv(FRUIT, try_parse_dates=True)
    rows.write_parquet(path)
    facts, m = trained(tmp_path, data=path)
    assert asked == ["colour"]
    assert m.counts_ == NaiveBayes().fit(rows, target="fruit").counts_
    assert facts["quality"]["rows"] == facts["rows"] == 200
    assert run("evaluate", tmp_path / "m.deciban", path).err.startswith("warning: these rows are")


def test_a_file_of_tests_that_was_learned_is_said(tmp_path):
    """Figures of rows that the model has seen flatter it, as `evaluate` says."""
    options = ("-t", "fruit", "-o", tmp_path / "m.deciban", "-q", "--force")
    head, *rows = FRUIT.read_text().splitlines(keepends=True)
    learned, new = tmp_path / "learned.csv", tmp_path / "new.csv"
    learned.write_text(head + "".join(rows[:120]))
    new.write_text(head + "".join(rows[120:]))
    flattered = run("train", learned, *options, "--test", learned)
    assert flattered.code == 0
    assert flattered.err == (
        "warning: --test: these rows are rows that the model was trained on, which flatters it. "
        "Hint: give rows that it has not seen.\n"
    )
    assert run("train", learned, *options, "--test", new).err == ""
