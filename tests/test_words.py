"""The words of the code: docstrings stand alone, results have names, constants a subject."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1] / "src" / "deciban"
#: Words that say how much, but not of what.
BARE = re.compile(
    "ABANDONED|AHEAD|AWKWARD|BATCH|BEYOND|CHANCE|CHECKED|CHUNK|CLOSE|COPIED|CROWD|DEEPEST|DUST|FAR"
    "|FEW|FEWER|FEWEST|FLAT|HALF|HEARD|HIGHEST|KEPT|LARGE|LARGEST|LEAST|LIMIT|LISTED|LONG|LONGEST"
    "|LOOK|LOOSE|MORE|MOST|MUCH|NARROW|NEARLY|NEGLIGIBLE|OFF|PART|PATIENCE|PIECE|REACH|ROUGHLY"
    "|SAMPLE|SHARE|SIZE|SMALL|SMALLEST|SOME|STIFFNESS|TINY|TOGETHER|TRIED|TYPICAL|WIDE|WIDEST"
    "|WIDTH|WORK|WORTH"
)
SAME = re.compile(r'"""\s*The same')


def modules():
    return sorted(ROOT.rglob("*.py"))


def docstrings():
    """Docstrings that begin "The same", of Python and of the compiled loops."""
    named = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    for path in modules():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, named) and (ast.get_docstring(node) or "").startswith("The same"):
                yield path, getattr(node, "name", "module")
    for path in sorted(ROOT.rglob("*.pyx")):
        text = path.read_text(encoding="utf-8")
        yield from ((path, text.count("\n", 0, m.start()) + 1) for m in SAME.finditer(text))


def results():
    """Local results that are named ``found``."""
    for path in modules():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if _is_stored(node) and node.id == "found":
                yield path, node.lineno


def constants():
    """Constants of modules that do not say of what they are."""
    for path in modules():
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.Assign | ast.AnnAssign):
                names = [part.id for part in ast.walk(node) if _is_stored(part)]
                yield from ((path, name) for name in names if BARE.fullmatch(name.strip("_")))


def _is_stored(node):
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)


LOOKS = (docstrings, results, constants)


@pytest.mark.parametrize("look", LOOKS, ids=lambda look: look.__name__)
def test_words_that_say_nothing(look):
    offenders = [f"{path.relative_to(ROOT)}: {what}" for path, what in look()]
    assert not offenders, "\n".join([look.__doc__, *offenders])
