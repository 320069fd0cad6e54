"""scikit-learn's own tests of text features, run against our CountVectorizer.

The installed test file is taken as it is, with the class swapped; its tests
become tests of this module. Those of other classes run along.
"""

from pathlib import Path

import pytest
import sklearn.feature_extraction.tests

#: The file expects its warnings to be reported, not raised.
pytestmark = pytest.mark.filterwarnings("default")

#: Tests that are left out, with the reason.
LEFT_OUT = {
    "test_tfidf_vectorizer_preserve_dtype_idf": "is of TfidfVectorizer alone, and takes long",
}

_path = Path(sklearn.feature_extraction.tests.__file__).with_name("test_text.py")
_source = _path.read_text(encoding="utf-8")
_swapped = _source.replace("    CountVectorizer,\n", "", 1)
assert _swapped != _source, "scikit-learn's tests import their classes in another way now"
_next = "from sklearn.model_selection import"
_swapped = _swapped.replace(_next, f"from deciban.text import CountVectorizer\n{_next}", 1)
# Newer versions of pytest want a list where the file passes an iterator.
_swapped = _swapped.replace(
    "from itertools import product\n",
    "import itertools\n\n\ndef product(*sets):\n    return list(itertools.product(*sets))\n\n\n",
)
exec(compile(_swapped, str(_path), "exec"), globals())
for _name in LEFT_OUT:
    del globals()[_name]


def test_few_are_left_out():
    assert len(LEFT_OUT) <= 5


def test_the_class_is_ours():
    assert globals()["CountVectorizer"].__module__ == "deciban.text.vectorizer"
