"""LogisticModel: the contract of models, by columns, without scikit-learn."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from deciban import LogisticRegression, files, sources
from deciban.errors import MissingValueError, ModelFileError
from deciban.logistic import stored

CASES = [("softmax", 2), ("softmax", 3), ("ovr", 2), ("ovr", 3)]


def fitted(kind, classes, seed=0):
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(classes), rng.integers(0, classes, 60)])
    X = rng.normal(size=(len(y), 3)) + 0.7 * y[:, None]
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    return LogisticRegression(multi_class=kind).fit(frame, np.array(["x", "y", "z"])[y]), frame


def batch_of(frame):
    (batch,) = sources.batches(frame)
    return batch


@pytest.mark.parametrize(("kind", "classes"), CASES)
def test_columns_are_scored_as_the_matrix_is(kind, classes):
    estimator, frame = fitted(kind, classes)
    model, out = estimator.model_, np.empty((len(frame), classes))
    model.log_joint(batch_of(frame), out)
    np.testing.assert_allclose(out, estimator.predict_joint_log_proba(frame), rtol=1e-14)
    assert model.kind == "LogisticRegression"
    assert model.schema.names == ("a", "b", "c")
    assert {column.kind for column in model.schema.columns} == {"numeric"}
    assert model.classes.tolist() == ["x", "y", "z"][:classes]


@pytest.mark.parametrize(("kind", "classes"), CASES)
def test_contributions_add_up(kind, classes):
    estimator, frame = fitted(kind, classes)
    model = estimator.model_
    total = model.log_prior + model.contributions(batch_of(frame)).sum(axis=1)
    np.testing.assert_allclose(total, estimator.predict_joint_log_proba(frame), atol=1e-12)
    assert model.one_vs_rest == (kind == "ovr" and classes == 3)


@pytest.mark.parametrize(("kind", "classes"), CASES)
def test_pieces_are_the_contributions_of_values_seen(kind, classes):
    estimator, frame = fitted(kind, classes)
    model = estimator.model_
    assert [piece.feature for piece in model.pieces()] == list(frame.columns)
    assert model.additive == (not model.one_vs_rest)
    for j, piece in enumerate(model.pieces()):
        assert set(piece.values) <= set(frame[piece.name])
        assert piece.values[0] == frame[piece.name].min()
        assert piece.values[-1] == frame[piece.name].max()
        rows = pd.DataFrame([model.centre] * len(piece.values), columns=list(frame.columns))
        rows[piece.name] = piece.values
        said = model.contributions(batch_of(rows))
        np.testing.assert_allclose(piece.log_likelihood, said[:, j], atol=1e-12)
        np.testing.assert_allclose(np.delete(said, j, axis=1), 0.0, atol=1e-12)
    assert len(model.word_contributions("a", "some text")) == 0


def test_columns_are_found_by_name_and_may_be_whole_numbers():
    estimator, frame = fitted("softmax", 2)
    whole = frame.round().astype(int)
    out = np.empty((len(frame), 2))
    estimator.model_.log_joint(batch_of(whole[["c", "a", "b"]]), out)
    np.testing.assert_allclose(out, estimator.predict_joint_log_proba(whole))


def test_without_names_columns_are_counted_from_zero():
    model = LogisticRegression().fit([[0.0, 1.0], [1.0, 0.0]], [0, 1]).model_
    assert model.schema.names == ("x0", "x1")


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_row_without_a_number_is_an_error(bad):
    estimator, frame = fitted("softmax", 2)
    frame.loc[7, "b"] = bad
    with pytest.raises(MissingValueError, match=r"'b'.*Hint"):
        estimator.model_.log_joint(batch_of(frame), np.empty((len(frame), 2)))
    with pytest.raises(MissingValueError, match=r"'b'.*Hint"):
        estimator.model_.contributions(batch_of(frame))


@pytest.mark.parametrize(("kind", "classes"), CASES)
def test_a_file_gives_the_model_back(tmp_path, kind, classes):
    estimator, frame = fitted(kind, classes)
    estimator.save(tmp_path / "m.deciban")
    model = stored.from_stored(files.read(tmp_path / "m.deciban"))
    out = np.empty((len(frame), classes))
    model.log_joint(batch_of(frame), out)
    np.testing.assert_allclose(out, estimator.predict_joint_log_proba(frame), rtol=1e-14)


def test_a_model_is_read_and_used_without_scikit_learn(tmp_path):
    estimator, frame = fitted("softmax", 3)
    estimator.save(tmp_path / "m.deciban")
    frame.to_csv(tmp_path / "rows.csv", index=False)
    program = """if True:
        import sys
        import numpy as np
        from deciban import files, sources
        from deciban.logistic import stored
        model = stored.from_stored(files.read(sys.argv[1]))
        batches = list(sources.batches(sys.argv[2]))
        model.contributions(batches[0])
        assert not {"sklearn", "scipy"} & set(sys.modules), sorted(sys.modules)
        out = np.empty((batches[0].n_rows, len(model.classes)))
        model.log_joint(batches[0], out)
        print(repr(float(out.sum())))
    """
    paths = [str(tmp_path / name) for name in ("m.deciban", "rows.csv")]
    done = subprocess.run(
        [sys.executable, "-c", program, *paths], capture_output=True, text=True, check=True
    )
    expected = estimator.predict_joint_log_proba(frame).sum()
    assert float(done.stdout) == pytest.approx(expected, rel=1e-12, abs=1e-9)


def test_an_unknown_way_with_classes_is_refused(tmp_path):
    estimator, _ = fitted("softmax", 3)
    estimator.save(tmp_path / "m.deciban")
    content = files.read(tmp_path / "m.deciban")
    content.description["parameters"]["multi_class"] = "both"
    with pytest.raises(ModelFileError, match="'softmax' or 'ovr', got 'both'"):
        stored.from_stored(content)
