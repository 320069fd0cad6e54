"""Golden figures: what every model answers and chooses on three small tables, to four digits.

A change that moves one of them is a change of behaviour: it is either undone, or stated
in the changelog, and ``python tests/golden.py`` writes the figures anew. The last bits
depend on the processor and are not compared.
"""

import json

import pytest

from golden import FILE, MODELS, TABLES

GOLDEN = json.loads(FILE.read_text(encoding="utf-8"))


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("table", TABLES)
def test_figures_are_those_of_before(table, model):
    actual, expected = MODELS[model](table), GOLDEN[f"{table} {model}"]
    assert list(actual) == list(expected)
    numbers = {name for name, value in expected.items() if isinstance(value, float)}
    wrong = {
        name: (actual[name], value)
        for name, value in expected.items()
        if actual[name] != (pytest.approx(value, rel=5e-5, abs=1e-6) if name in numbers else value)
    }
    assert not wrong, "what is now, and what was"


def test_every_figure_has_its_model():
    assert set(GOLDEN) == {f"{table} {model}" for table in TABLES for model in MODELS}
