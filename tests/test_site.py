"""The site of the documentation: it is built without a warning, and loads nothing."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import deciban

ROOT = Path(__file__).parents[1]
LOADED = re.compile(
    r'<(?:script|img|iframe)[^>]*\ssrc="(?:https?:)?//'
    r'|<link[^>]*rel="(?:stylesheet|preload|icon)"[^>]*href="(?:https?:)?//'
)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    pytest.importorskip("sphinx")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-c",
               str(ROOT / "docs" / "site"), str(ROOT / "docs"), str(folder)]  # fmt: skip
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr  # -W: no warning either
    return folder


def test_every_page_is_on_it(site):
    pages = {page.stem for page in (ROOT / "docs").glob("*.md")} - {"README"}
    assert pages <= {page.stem for page in site.glob("*.html")}
    index = (site / "index.html").read_text(encoding="utf-8")
    assert all(f'href="{name}.html"' in index for name in pages)


def test_it_loads_nothing_from_elsewhere_and_can_be_searched(site):
    for page in site.glob("*.html"):
        assert not LOADED.search(page.read_text(encoding="utf-8")), page.name
    for style in (site / "_static").rglob("*.css"):
        assert not re.search(r"@import|url\(.?https?:", style.read_text(encoding="utf-8")), style
    assert "counterfactual" in (site / "searchindex.js").read_text(encoding="utf-8")


def test_the_reference_has_every_public_name(site):
    reference = (site / "api.html").read_text(encoding="utf-8")
    modules = {"balance", "conjugate", "decision", "errors", "naive_bayes", "text", "DecibanError"}
    for name in set(deciban.__all__) - modules:
        assert re.search(rf'id="deciban\.(\w+\.)*{name}"', reference), name
    assert "deciban.explanation.strongest" in reference or "StrongestEvidence" in reference
