"""Kinds of columns with a parameter: cyclic numbers."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import deciban
from commands import done
from deciban import AODE, NaiveBayes
from deciban.errors import InputError, ParameterError
from deciban.schema import ColumnSchema

WIND = {"kinds": {"wind": "cyclic:360"}}
RNG = np.random.default_rng(0)
Y = RNG.integers(0, 2, 200)
X = {"wind": RNG.normal(180.0 * Y, 15.0), "rain": RNG.gamma(2.0, 1.0, 200)}


@pytest.mark.parametrize("kind", ["cyclic", "cyclic:", "cyclic:0", "cyclic:-7", "cyclic:x"])
def test_a_period_is_a_number_above_zero(kind):
    said = rf"kind of column 'wind' needs a period.*got '{kind}'\. Hint: .*'cyclic:360'"
    with pytest.raises(ParameterError, match=said):
        NaiveBayes(kinds={"wind": kind}).fit(X, Y)


@pytest.mark.parametrize("kind", ["cyclic:inf", "cyclic:nan", "cycle:360", "numeric:3", 360])
def test_no_other_kind_has_a_parameter(kind):
    with pytest.raises(ParameterError, match=r"kind of column 'wind'.* Hint: "):
        NaiveBayes(kinds={"wind": kind}).fit(X, Y)


def test_times_are_not_cyclic_by_themselves():
    when = np.array(["2026-01-01", "2026-01-02"], dtype="datetime64[us]")
    with pytest.raises(ParameterError, match="'t' cannot be cyclic:7: it holds times"):
        NaiveBayes(kinds={"t": "cyclic:7"}).fit({"t": when}, [0, 1])


@pytest.mark.parametrize("model", [NaiveBayes, AODE])
def test_values_are_taken_modulo_the_period(model):
    fitted = model(**WIND).fit(X, Y)
    turned = {**X, "wind": X["wind"] + 360.0 * RNG.integers(-1, 2, 200)}
    again = model(**WIND).fit(turned, Y)
    np.testing.assert_allclose(again.predict_proba(X), fitted.predict_proba(X), atol=1e-6)
    np.testing.assert_allclose(fitted.predict_proba(turned), fitted.predict_proba(X), atol=1e-6)


@settings(max_examples=50, deadline=None)
@given(st.floats(-1e9, 1e9), st.floats(1e-3, 1e6))
def test_a_wrapped_value_is_below_the_period(value, period):
    from deciban.encoding.matrices import numbers
    from deciban.schema import Schema
    from deciban.sources.batch import Batch
    from deciban.sources.columns import Numbers

    column = ColumnSchema("x", f"cyclic:{period!r}", "")
    batch = Batch(2, {"x": Numbers(np.array([value, np.nan]))})
    wrapped = numbers(Schema((column,)), batch)[:, 0]
    assert 0 <= wrapped[0] < period
    assert np.isnan(wrapped[1])


def test_a_bell_curve_is_not_for_circles():
    for numeric in ("auto", "gaussian", "histogram"):
        chosen = NaiveBayes(numeric=numeric, **WIND).fit(X, Y).choices_
        assert chosen["wind"].shape != "gaussian"
        assert chosen["wind"].kind == "cyclic:360"
        assert chosen["rain"].kind == "numeric"
    chosen = NaiveBayes(numeric="gaussian", **WIND).fit(X, Y).choices_
    assert chosen["rain"].shape == "gaussian"


def test_the_kind_is_kept(tmp_path):
    model = NaiveBayes(**WIND).fit(X, Y)
    assert str(model.schema_).splitlines()[0] == "wind  cyclic:360  as stated"
    model.save(tmp_path / "wind.deciban")
    back = deciban.load(tmp_path / "wind.deciban")
    assert back.schema_ == model.schema_
    assert back.choices_ == model.choices_
    np.testing.assert_array_equal(back.predict_proba(X), model.predict_proba(X))
    with pytest.raises(InputError, match="'wind' is cyclic:360 in one model and numeric in"):
        model + NaiveBayes().fit(X, Y)


def test_what_a_time_has_is_cyclic():
    column = ColumnSchema("t", "time", "a timestamp", "timestamp")
    assert column.derived == {"t (hour)": "cyclic:24", "t (weekday)": "cyclic:7"}
    assert column.period is None


def test_commands_state_and_show_it(tmp_path):
    lines = (f"{w:.1f},{r:.2f},{y}" for w, r, y in zip(X["wind"], X["rain"], Y, strict=True))
    (tmp_path / "wind.csv").write_text("\n".join(["wind,rain,y", *lines]))
    data, model = str(tmp_path / "wind.csv"), str(tmp_path / "wind.deciban")
    kind = ["--kind", "wind=cyclic:360"]
    shown = json.loads(done("inspect", data, *kind, "--json"))
    assert shown["columns"][0] == {"name": "wind", "kind": "cyclic:360", "reason": "as stated"}
    done("train", data, "--target", "y", *kind, "-o", model)
    assert "wind    cyclic:360  as stated" in done("inspect", model)
