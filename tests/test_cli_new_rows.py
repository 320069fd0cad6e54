"""What is asked about new rows: thresholds, likeliest classes, drift, and whether they are new."""

import json
from importlib import metadata

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from commands import FRUIT, done, process, run
from deciban import NaiveBayes
from deciban.evaluation.predictions import Predictions
from deciban.evaluation.thresholds import find_threshold, shortest_between
from deciban.sources.trained_rows import MAX_KEPT_ROWS, TrainedRows


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Two halves of the fruit, and a model of the first."""
    folder = tmp_path_factory.mktemp("halves")
    rows = pl.read_csv(FRUIT)
    rows[:100].write_csv(folder / "old.csv")
    rows[100:].write_csv(folder / "new.csv")
    done("train", folder / "old.csv", "-t", "fruit", "-o", folder / "m.deciban", "-q")
    return folder


def silent(*arguments):
    """A run that goes well and warns of nothing, not even of rows that were learned."""
    ended = run(*arguments)
    assert (ended.code, ended.err) == (0, "")


def answers(files, *options):
    """The columns that ``predict`` writes for the new rows."""
    out = done("predict", files / "m.deciban", files / "new.csv", "--digits", "17", *options)
    return pl.read_csv(out.encode())


# ---------------------------------------------------------------------- predict


def test_a_threshold_rules_one_class(files):
    plain, ruled = answers(files), answers(files, "--threshold", "plum=0.2")
    assert plain.drop("prediction").equals(ruled.drop("prediction"))
    plum = plain["p_plum"] >= 0.2
    assert (ruled["prediction"] == "plum").equals(plum)
    others = ruled.filter(~plum)
    likelier = others["p_apple"] >= others["p_cherry"]
    assert (others["prediction"] == "apple").to_list() == likelier.to_list()


def test_the_likeliest_classes(files):
    plain, top = answers(files), answers(files, "--top", "2")
    assert top.columns == ["prediction", "class_1", "p_1", "class_2", "p_2"]
    each = plain.select(pl.col("^p_.*$")).to_numpy()
    np.testing.assert_array_equal(top["p_1"].to_numpy(), each.max(axis=1))
    np.testing.assert_array_equal(top["p_2"].to_numpy(), np.sort(each, axis=1)[:, 1])
    assert top["class_1"].equals(plain["prediction"].rename("class_1"))
    assert answers(files, "--top", "99").columns[-1] == "p_3"


def test_probabilities_alone(files):
    plain, alone = answers(files), answers(files, "--only-probabilities")
    assert alone.equals(plain.drop("prediction"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--threshold", "0.5"], "there are 3 classes: name one"),
        (["--threshold", "plum=2"], "between 0 and 1"),
        (["--threshold", "plum=high"], "between 0 and 1"),
        (["--threshold", "plumb=0.2"], "perhaps 'plum' was meant"),
        (["--threshold", "plum=0.2", "--abstain", "0.1"], "both say which answer"),
        (["--top", "0"], "not in the range"),
    ],
)
def test_mistakes_of_predicting(files, options, message):
    ended = run("predict", files / "m.deciban", files / "new.csv", *options)
    assert ended.code in (1, 2)
    assert message in ended.err


# ---------------------------------------------------------------------- thresholds


def test_a_wished_precision_is_reached_by_predict(files):
    model, data = files / "m.deciban", files / "new.csv"
    wish = ["--class", "plum", "--precision", "0.9"]
    facts = json.loads(done("threshold", model, data, *wish, "--json"))
    assert facts["precision"] >= 0.9
    truth = pl.read_csv(data)["fruit"] == "plum"
    said = answers(files, "--threshold", f"plum={facts['threshold']}")["prediction"] == "plum"
    assert facts["precision"] == pytest.approx((truth & said).sum() / said.sum())
    assert facts["recall"] == pytest.approx((truth & said).sum() / truth.sum())
    assert facts["precision_interval"][0] < facts["precision"] < facts["precision_interval"][1]
    text = done("threshold", model, data, *wish)
    assert text.startswith(f"deciban predict --threshold plum={facts['threshold']:g}\n")


def test_mistakes_of_thresholds(files):
    model, data = files / "m.deciban", files / "new.csv"
    assert "state --precision or --recall" in run("threshold", model, data).err
    assert "there are 3 classes" in run("threshold", model, data, "--recall", "0.9").err
    both = run("threshold", model, data, "--recall", "0.9", "--precision", "0.9")
    assert both.code == 2
    seen = run("threshold", model, files / "old.csv", "-c", "plum", "--recall", "0.5")
    assert seen.err.startswith("warning: these rows are rows that the model was trained on")


@given(
    st.lists(st.tuples(st.booleans(), st.sampled_from([0.0, 0.1, 0.3, 0.5, 0.9])), min_size=1),
    st.sampled_from([0.0, 0.3, 0.5, 0.9, 1.0]),
    st.booleans(),
)
def test_the_threshold_is_the_best_of_all(rows, wish, of_precision):
    truth = np.array([positive for positive, _ in rows])
    p = np.array([probability for _, probability in rows])
    answered = Predictions(
        np.array(["no", "yes"]), 2, np.column_stack([1 - p, p]), truth.astype(np.intp),
        np.ones(len(p)), np.ones(2), False,
    )  # fmt: skip
    named = {"precision" if of_precision else "recall": wish}
    best = find_threshold(answered, "yes", **named)

    def figures(threshold):
        said = p >= threshold
        hits = (truth & said).sum()
        return hits / max(said.sum(), 1), hits / truth.sum() if truth.any() else np.nan

    reached = [
        figures(t) for t in set(p.tolist()) if t > 0 and figures(t)[not of_precision] >= wish
    ]
    if best is None:
        assert not reached
        return
    assert (best.precision, best.recall) == pytest.approx(figures(best.threshold), nan_ok=True)
    if truth.any():
        other = int(of_precision)  # a precision leaves the highest recall, and the other way round
        assert figures(best.threshold)[not of_precision] >= wish
        if of_precision:
            assert best.recall == pytest.approx(max(each[other] for each in reached))


@given(st.floats(0, 1), st.floats(0, 1))
def test_a_short_number_lies_between(a, b):
    low, high = sorted((a, b))
    if low < high:
        assert low < shortest_between(low, high) <= high


# ---------------------------------------------------------------------- drift


def test_drift_says_what_moved_by_its_exit_code(files, tmp_path):
    model = files / "m.deciban"
    still = run("drift", model, files / "new.csv")
    assert (still.code, still.err) == (0, "")
    assert still.out.endswith("\nnothing has moved\n")
    moved = tmp_path / "moved.csv"
    rows = pl.read_csv(files / "new.csv").drop("fruit")
    rows.with_columns(grams=pl.col("grams") * 3).write_csv(moved)
    ended = run("drift", model, moved)
    assert ended.code == 4
    assert ended.out.splitlines()[-1].startswith("moved: ")
    assert "grams" in ended.out.splitlines()[-1]
    facts = json.loads(run("drift", model, moved, "--json").out)
    assert facts["drifted"]
    assert "grams" in facts["moved"]
    assert run("drift", model, moved, "--index", "50", "--json").code in (0, 4)


def test_drift_of_a_model_without_counts(tmp_path):
    from deciban import LogisticRegression

    LogisticRegression().fit([[0.0], [1.0]], ["a", "b"]).save(tmp_path / "m.deciban")
    (tmp_path / "d.csv").write_text("x0\n1\n2\n")
    ended = run("drift", tmp_path / "m.deciban", tmp_path / "d.csv")
    assert ended.code == 1
    assert "keeps no counts" in ended.err


# ---------------------------------------------------------------------- rows that were learned


def test_rows_of_training_are_known_again(files):
    model = files / "m.deciban"
    known = "warning: these rows are rows that the model was trained on"
    assert run("evaluate", model, files / "old.csv", "--bootstrap", "0").err.startswith(known)
    silent("evaluate", model, files / "old.csv", "--bootstrap", "0", "--leave-one-out")
    silent("evaluate", model, files / "new.csv", "--bootstrap", "0")
    page = ["-o", files / "r.html", "--bootstrap", "0"]
    assert run("report", model, files / "old.csv", *page).err.startswith(known)
    assert run("report", model, files / "old.csv", *page, "--leave-one-out").err == ""
    some = run("evaluate", model, FRUIT, "--bootstrap", "0").err
    assert some.startswith("warning: about 50 % of these rows are rows that the model")


def test_rows_come_and_go(files, tmp_path):
    model, both = files / "m.deciban", tmp_path / "both.deciban"
    done("update", model, files / "new.csv", "-o", both, "-q")
    assert "trained on" in run("evaluate", both, files / "new.csv", "--bootstrap", "0").err
    done("forget", both, files / "new.csv", "-q")
    silent("evaluate", both, files / "new.csv", "--bootstrap", "0")
    done("train", files / "new.csv", "-t", "fruit", "-o", tmp_path / "other.deciban", "-q")
    done("merge", model, tmp_path / "other.deciban", "-o", both, "-q")
    assert "these rows are rows" in run("evaluate", both, FRUIT, "--bootstrap", "0").err


def test_rows_are_known_whatever_the_file_is(files, tmp_path):
    path = tmp_path / "old.parquet"
    pl.read_csv(files / "old.csv", try_parse_dates=True).write_parquet(path)
    assert "these rows are rows" in run("evaluate", files / "m.deciban", path).err


def test_models_of_python_know_no_rows(tmp_path):
    NaiveBayes().fit(FRUIT, target="fruit").save(tmp_path / "m.deciban")
    silent("evaluate", tmp_path / "m.deciban", FRUIT, "--bootstrap", "0")


@given(st.integers(0, 2**32 - 1), st.integers(20, 3000), st.integers(20, 3000))
def test_new_rows_are_not_taken_for_learned_ones(seed, n_old, n_new):
    """Neither where rows are all different, nor where few values make copies common."""
    rng = np.random.default_rng(seed)
    old, new = (rng.integers(0, 2**32, n, dtype=np.uint32) for n in (n_old, n_new))
    known = TrainedRows.of(old, n_old)
    assert len(known.kept) <= MAX_KEPT_ROWS
    assert known.share_known(new) == 0
    few = rng.integers(0, 2**32, 8, dtype=np.uint32)
    assert TrainedRows.of(rng.choice(few, n_old), n_old).share_known(rng.choice(few, n_new)) == 0


@given(st.integers(0, 2**32 - 1), st.integers(100, 20_000))
def test_learned_rows_are_known(seed, n_rows):
    rows = np.random.default_rng(seed).integers(0, 2**32, n_rows, dtype=np.uint32)
    known = TrainedRows.of(rows, n_rows)
    assert known.share_known(rows) > 0.9
    assert (known + TrainedRows.of(rows + np.uint32(1), n_rows)).share_known(rows) > 0.8
    assert known.without(rows, n_rows).share_known(rows) == 0


# ---------------------------------------------------------------------- the command itself


def test_help_version_and_completion(tmp_path):
    assert run("--version").out == run("version").out == f"{metadata.version('deciban')}\n"
    assert "Learn a model from labelled rows" in run("help", "train").out
    assert "train" in run("help").out
    assert run("help", "trian").code == 2
    assert "No such command 'trian'" in run("help", "trian").err
    ended = process(_DECIBAN_COMPLETE="complete_bash", COMP_WORDS="deciban thre", COMP_CWORD="1")
    assert ended.out.split() == ["threshold"]


def test_the_module_is_the_command():
    import subprocess
    import sys

    said = subprocess.run(
        [sys.executable, "-m", "deciban", "--version"], capture_output=True, text=True, check=True
    )
    assert said.stdout == run("--version").out


def test_help_says_no_default_that_is_not_so():
    for name in ("train", "predict", "evaluate"):
        text = run("help", name).out
        assert "default: True" not in text
        assert "default: no-" not in text
