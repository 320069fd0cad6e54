"""Too many numbers as labels are refused; too many classes make the work smaller, not endless."""

import numpy as np
import pytest

from commands import done, run
from deciban import AODE, BayesClassifier, NaiveBayes, load
from deciban.encoding import class_limit
from deciban.ensemble import base_learners
from deciban.errors import InputError, ParameterError
from deciban.naive_bayes import leave_one_out
from deciban.sources import scan

OF_TABLES = (NaiveBayes, AODE, BayesClassifier)
N = 1200
X = {"a": [i % 7 for i in range(N)], "s": ["uvw"[i % 3] for i in range(N)]}
REFUSED = "more than 1000 classes, and they are numbers.*regression.*max_classes=None"


@pytest.mark.parametrize("make", OF_TABLES)
@pytest.mark.parametrize("kind", [int, float])
def test_a_thousand_numbers_are_no_classes(make, kind):
    y = [kind(i) for i in range(N)]
    with pytest.raises(InputError, match=REFUSED):
        make().fit(X, y)
    with pytest.raises(InputError, match=REFUSED):
        make().fit({**X, "y": y}, target="y")


@pytest.mark.parametrize("make", OF_TABLES)
def test_they_are_refused_before_anything_is_counted(make, monkeypatch):
    monkeypatch.setattr("deciban.sources.labelled.LabelledScan._cast", lambda *_: pytest.fail("it"))
    with pytest.raises(InputError, match="they are numbers"):
        make(max_classes=10).fit(X, list(range(N)))


def test_batches_of_a_file_are_taken_together(tmp_path, monkeypatch):
    path = tmp_path / "d.csv"
    path.write_text("a,y\n" + "".join(f"{i % 7},{i // 2}\n" for i in range(2 * N)))
    with pytest.raises(InputError, match=REFUSED):
        NaiveBayes().fit(scan(str(path), rows=50), target="y")
    ended = run("train", path, "-t", "y", "-o", tmp_path / "m.deciban")
    assert ended.code == 1
    assert "regression" in ended.err
    assert not (tmp_path / "m.deciban").exists()


def test_names_may_be_many(tmp_path):
    few = {name: values[:40] for name, values in X.items()}
    y = [i // 2 for i in range(40)]
    for make in OF_TABLES:
        with pytest.raises(InputError, match="more than 19 classes"):
            make(max_classes=19).fit(few, y)
        make(max_classes=20).fit(few, y)
        make(max_classes=None).fit(few, y)
        model = make(max_classes=3).fit(few, [f"number {i}" for i in y])
        model.save(tmp_path / "m.deciban")
        assert load(tmp_path / "m.deciban").max_classes == 3


def test_the_command_can_be_told_that_numbers_are_names(tmp_path, monkeypatch):
    monkeypatch.setattr(class_limit, "MAX_NUMBER_CLASSES", 5)
    path, model = tmp_path / "d.csv", tmp_path / "m.deciban"
    path.write_text("a,y\n" + "".join(f"{i % 5},{i % 8}\n" for i in range(80)))
    assert run("train", path, "-t", "y", "-o", model).code == 1
    done("train", path, "-t", "y", "-o", model, "-q", "--classes-ok")


@pytest.mark.parametrize("make", [NaiveBayes, AODE])
def test_classes_of_later_rows_count_too(make):
    model = make(max_classes=5).fit({"a": [1, 2, 3, 4]}, [1, 2, 3, 4])
    model.partial_fit({"a": [1, 2]}, [4, 5])
    with pytest.raises(InputError, match="more than 5 classes"):
        model.partial_fit({"a": [1]}, [6])
    assert model.classes_.tolist() == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("value", [0, -1, 2.5, True, "many"])
@pytest.mark.parametrize("make", OF_TABLES)
def test_the_limit_is_a_whole_number(make, value):
    with pytest.raises(ParameterError, match="max_classes must be a whole number >= 1 or None"):
        make(max_classes=value).fit({"a": [1, 2, 3]}, [0, 1, 1])


def test_tables_that_would_not_fit_are_refused_before_they_are_made(monkeypatch):
    y = [f"c{i}" for i in range(N)]
    rows = {"x": np.linspace(0, 1, N), "s": [f"v{i % 400}" for i in range(N)]}
    monkeypatch.setattr(class_limit, "MAX_TABLE_BYTES", 8 * N * 500)
    monkeypatch.setattr("deciban.engines.local.count.MAX_TABLE_BYTES", 8 * N * 500)
    NaiveBayes(calibrate=False).fit({"s": rows["s"]}, y)
    with pytest.raises(InputError, match=r"counts of 1,200 classes by 1,200 values would take"):
        NaiveBayes(calibrate=False).fit({"x": rows["x"]}, y)
    monkeypatch.setattr(class_limit, "MAX_TABLE_BYTES", 8 * N * 300)
    monkeypatch.setattr("deciban.engines.local.count.MAX_TABLE_BYTES", 8 * N * 300)
    with pytest.raises(InputError, match="by 400 values would take"):
        NaiveBayes(calibrate=False).fit({"s": rows["s"]}, y)


def test_fewer_rows_are_left_out_where_classes_are_many(monkeypatch):
    monkeypatch.setattr(leave_one_out, "MAX_SCORES", 600)
    monkeypatch.setattr(leave_one_out, "MIN_ROWS", 10)
    whole = NaiveBayes().fit({**X, "n": np.arange(N) / 8}, ["ab"[i % 2] for i in range(N)])
    assert whole.model_.calibration.rows == pytest.approx(N)
    assert len(whole.training_scores_.codes) == 300


def test_products_and_trees_are_left_out_where_classes_are_many(monkeypatch):
    monkeypatch.setattr(base_learners, "MAX_REFITTED_CLASSES", 2)
    rows = {"a": [i % 7 for i in range(90)], "b": [i % 11 for i in range(90)]}
    model = BayesClassifier().fit(rows, ["xyz"[i % 3] for i in range(90)])
    notes = {view.name: view.note for view in model.report_.views}
    assert notes["trees"] == notes["products"] == "3 classes are too many: no more than 2"
    assert np.isfinite(model.predict_proba(rows)).all()
