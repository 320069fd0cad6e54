"""The site that ``make docs`` builds of the pages in docs/ and of the docstrings, by Sphinx."""

from __future__ import annotations

import re
from importlib import metadata
from typing import Any

project = "deciban"
release = metadata.version("deciban")
copyright = "the authors of deciban"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
root_doc = "index"
exclude_patterns = ["README.md", "site"]
myst_heading_anchors = 4
html_theme = "furo"  # it loads nothing from elsewhere
html_title = f"deciban {release}"
html_copy_source = False
autodoc_member_order = "bysource"
autodoc_typehints = "none"
autodoc_default_options = {
    "exclude-members": "set_fit_request, set_partial_fit_request, set_predict_request, "
    "set_predict_proba_request, set_score_request, get_metadata_routing",
}
napoleon_google_docstring = False


def _adapt(app: Any, page: str, source: list[str]) -> None:
    """Pages are written for readers of the repository as well: what differs on the site."""
    text = source[0].replace("](README.md)", "](index.rst)")
    # Sessions of Python have prompts and answers.
    source[0] = re.sub(r"^```python$(?=\n>>>)", "```pycon", text, flags=re.M)


def setup(app: Any) -> None:
    """Called by Sphinx."""
    app.connect("source-read", _adapt)
