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
MAX_FILE_LINES = 400
#: Lines of the package that may mention ``Any``.
MAX_ANY_LINES = 250
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


def test_files_are_short():
    """One concept, one short file."""
    lengths = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in modules()}
    long = [f"{path.relative_to(ROOT)}: {length}" for path, length in lengths.items()
            if length > MAX_FILE_LINES]  # fmt: skip
    assert not long, "\n".join(long)


def test_any_is_the_exception():
    """Types are stated; what NumPy, users, drivers and JSON hand over has a name of its own."""
    lines = [line for path in modules() for line in path.read_text(encoding="utf-8").splitlines()]
    assert sum("Any" in line and "import" not in line for line in lines) <= MAX_ANY_LINES
