"""Documentation runs, and every public name has some."""

import doctest
import importlib
import inspect
import pkgutil
import re
from pathlib import Path

import pytest

import deciban
from deciban import families

ROOT = Path(__file__).parents[1]
MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(deciban.__path__, "deciban.")
    if not module.name.startswith("deciban.kernels.")
)
PAGES = [*sorted(ROOT.glob("README*.md")), *sorted((ROOT / "docs").glob("*.md"))]
PUBLIC = ["deciban", "deciban.naive_bayes", "deciban.conjugate", "deciban.decision", "deciban.text"]


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_run(name):
    module = importlib.import_module(name)
    assert module.__doc__, f"{name} has no docstring"
    assert doctest.testmod(module, optionflags=doctest.ELLIPSIS).failed == 0


@pytest.fixture
def registry():
    """The families; those that an example registers are gone after the test."""
    before = dict(families.FAMILIES)
    yield before
    families.FAMILIES.clear()
    families.FAMILIES.update(before)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
@pytest.mark.usefixtures("registry")
def test_examples_in_pages_run(page):
    assert doctest.testfile(str(page), module_relative=False, encoding="utf-8").failed == 0


@pytest.mark.parametrize("name", PUBLIC)
def test_public_names_are_documented(name):
    module = importlib.import_module(name)
    for public in module.__all__:
        thing = getattr(module, public)
        if inspect.isclass(thing) or inspect.isfunction(thing) or inspect.ismodule(thing):
            assert inspect.getdoc(thing), f"{name}.{public} has no docstring"


def things(name):
    """The public classes and functions of a module."""
    module = importlib.import_module(name)
    found = [getattr(module, public) for public in module.__all__]
    return [thing for thing in found if inspect.isclass(thing) or inspect.isfunction(thing)]


def methods(thing):
    """What deciban adds to a class: public methods, and whether each is a plain one."""
    for home in thing.__mro__:
        if home.__module__.startswith("deciban"):
            for name, found in vars(home).items():
                plain = inspect.isfunction(getattr(found, "__func__", found))
                if not name.startswith("_") and (plain or isinstance(found, property)):
                    yield name, plain


@pytest.mark.parametrize("name", PUBLIC)
def test_public_names_have_an_example(name):
    assert [t.__name__ for t in things(name) if ">>>" not in (inspect.getdoc(t) or "")] == []


@pytest.mark.parametrize("name", PUBLIC)
def test_methods_are_documented_and_those_of_estimators_have_an_example(name):
    for thing in filter(inspect.isclass, things(name)):
        for method, plain in methods(thing):
            said = inspect.getdoc(getattr(thing, method)) or ""
            assert said, f"{thing.__name__}.{method} has no docstring"
            if plain and hasattr(thing, "fit") and method not in ("from_stored", "to_stored"):
                assert ">>>" in said, f"{thing.__name__}.{method} has no example"


def test_the_readme_names_every_make_target():
    targets = re.findall(r"^\.PHONY: (.*)$", (ROOT / "Makefile").read_text(), flags=re.M)[0].split()
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    missing = [target for target in targets if f"make {target}" not in readme]
    assert not missing
