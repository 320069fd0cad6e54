"""The front door is light: nothing heavy is imported until it is used."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import deciban

SOURCES = Path(__file__).parents[1] / "src"
HEAVY = ("sklearn", "scipy", "pandas", "polars", "duckdb", "pyarrow", "narwhals", "rich",
         "jinja2")  # fmt: skip


def imported_by(statement):
    code = f"{statement}\nimport sys\nprint(*sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return {name.split(".")[0] for name in out.stdout.split()}


@pytest.mark.parametrize(
    "statement", ["import deciban", "from deciban import Counts", "import deciban.conjugate"]
)
def test_nothing_heavy_is_imported(statement):
    assert imported_by(statement).isdisjoint(HEAVY)


def test_every_public_name_is_there():
    for name in deciban.__all__:
        assert getattr(deciban, name) is not None
    assert set(deciban.__all__) <= set(dir(deciban))


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = deciban.nothing


def test_predicting_imports_no_templates():
    fit = "from deciban import NaiveBayes; m = NaiveBayes().fit({'x': list('SSL')}, [1, 1, 2])"
    assert "jinja2" not in imported_by(f"{fit}; m.predict({{'x': ['S']}}); str(m.explain('S'))")


#: Modules that run what is written in the bytes that they read.
UNSAFE = {"pickle", "cloudpickle", "_pickle", "dill", "marshal", "joblib", "shelve"}


def imported_names(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def test_nothing_of_ours_reads_what_could_run():
    files = [*SOURCES.rglob("*.py"), *SOURCES.rglob("*.pyx")]
    assert len(files) > 100
    for file in files:
        text = file.read_text(encoding="utf-8")
        if file.suffix == ".py":
            for name in imported_names(ast.parse(text)):
                assert UNSAFE.isdisjoint(name.split(".")), (file, name)
        else:
            assert not re.search(rf"import\s+({'|'.join(UNSAFE)})\b", text), file
        assert "allow_pickle=True" not in text, file
