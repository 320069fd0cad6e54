"""Sets of classes in files, evaluations, reports and the command."""

import json
from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest

from commands import FRUIT, done, run
from deciban import AODE, BayesClassifier, NaiveBayes, evaluate, load
from deciban.errors import InputError, ModelFileError, UnknownLabelWarning
from deciban.files import archive
from deciban.files import model as model_files
from deciban.files.model import unpacked
from deciban.models.conformal import ConformityScores
from deciban.report import report
from hostile import hostile_arrays
from overlapping import held_by, table

KINDS = (NaiveBayes, AODE, BayesClassifier)

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
    names = ("conformity", "typicality", "left_out")
    arrays = {
        name: array
        for name, array in content.arrays.items()
        if not name.startswith(tuple(f"model.{each}" for each in names))
    }
    assert len(arrays) == len(content.arrays) - 8
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
    with pytest.warns(UnknownLabelWarning):
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


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_changed_scores_in_a_file_are_refused_or_make_sound_sets(kind, tmp_path):
    X, y = table(60, seed=26)
    path = tmp_path / "m.deciban"
    kind().fit(X, y).save(path)
    content = archive.read(path)
    rows = {name: column[:5] for name, column in X.items()}
    tried = refused = 0
    for what, changed in hostile_arrays(content):
        if not what.startswith(("model.conformity", "model.typicality")):
            continue
        tried += 1
        try:
            model = registry_load(changed)
        except ModelFileError:
            refused += 1
            continue
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            try:
                assert model.predict_set(rows, 0.9).any(axis=1).all(), what
                novelty = model.novelty(rows)
            except InputError:
                continue  # such as without scores
        assert np.all((novelty > 0) & (novelty <= 1)), what
    assert tried > refused > tried / 2


def registry_load(content):
    """The estimator of a file with that content."""
    with archive.errors_about("m.deciban"):
        stored = unpacked(content)
        package = import_module(model_files._KINDS[stored.kind].package)
        return getattr(package, stored.kind).from_stored(stored)


@pytest.mark.parametrize("name", ["conformity", "typicality"])
@pytest.mark.parametrize(
    ("line", "column", "value"),
    [
        (0, 1, np.nan),
        (0, 1, 1e200),
        (0, 0, 7.0),
        (0, 0, 0.5),
        (0, 2, 0.0),
        (0, 2, -1.0),
        (1, 1, -1e9),
    ],
)
def test_scores_out_of_range_or_order_are_refused(tmp_path, name, line, column, value):
    X, y = table(60, seed=26)
    path = tmp_path / "m.deciban"
    NaiveBayes().fit(X, y).save(path)
    content = archive.read(path)
    key = f"model.{name}"
    changed = content.arrays[key].copy()
    changed[line, column] = value
    with pytest.raises(ModelFileError, match=name):
        registry_load(replace(content, arrays={**content.arrays, key: changed}))
