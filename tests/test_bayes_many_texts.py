"""BayesClassifier on texts: threads, copies, classes of one text, many classes, empty texts."""

import numpy as np
import pytest

from deciban import BayesClassifier

PROBES = ["w0 w1 w2", "w7 w8", "x y z", ""]


def texts(n_classes, n=200, seed=0):
    """Texts of words that are more frequent in one class than in the others."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    words = np.array([f"w{i}" for i in range(3 * n_classes)])
    own = [rng.choice(words[3 * c : 3 * c + 3], 3) for c in y]
    return [" ".join([*mine, *rng.choice(words, 3)]) for mine in own], y


@pytest.mark.parametrize("n_classes", [2, 3, 11])
def test_threads_do_not_show(n_classes, monkeypatch):
    proba = []
    for threads in ("1", "2"):
        monkeypatch.setenv("DECIBAN_THREADS", threads)
        proba.append(BayesClassifier().fit(*texts(n_classes)).predict_proba(PROBES))
    np.testing.assert_array_equal(*proba)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_order_of_rows_does_not_show(n_classes):
    X, y = texts(n_classes)
    order = np.random.default_rng(1).permutation(len(y))
    shuffled = BayesClassifier().fit([X[i] for i in order], y[order])
    expected = BayesClassifier().fit(X, y).predict_proba(PROBES)
    np.testing.assert_allclose(shuffled.predict_proba(PROBES), expected, rtol=1e-9)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_weight_is_so_many_copies(n_classes):
    X, y = texts(n_classes)
    times = np.random.default_rng(1).integers(1, 4, len(y))
    copies = BayesClassifier().fit(
        [X[i] for i in np.repeat(np.arange(len(y)), times)], y.repeat(times)
    )
    weighted = BayesClassifier().fit(X, y, sample_weight=times.astype(float))
    np.testing.assert_allclose(
        copies.predict_proba(PROBES), weighted.predict_proba(PROBES), rtol=1e-9
    )


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_class_of_one_text(n_classes):
    X, y = texts(n_classes)
    model = BayesClassifier().fit([*X, "quite alone"], [*y, n_classes])
    proba = model.predict_proba([*PROBES, "quite alone"])
    assert np.all(np.isfinite(proba))
    assert np.all(proba[:2, -1] < 0.5)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_empty_texts_and_unknown_words_among_the_rows(n_classes):
    X, y = texts(n_classes)
    odd = ["", "seen once alone", "", "never seen again"]
    model = BayesClassifier().fit(X + odd, [*y, 0, 0, 0, 0])
    proba = model.predict_proba([*PROBES, "altogether unknown"])
    np.testing.assert_allclose(proba[2], proba[3])
    np.testing.assert_allclose(proba[4], proba[3])
    assert proba[3].argmax() == 0  # all that is known of them


def test_many_classes():
    X, y = texts(60, n=600)
    new, truth = texts(60, n=120, seed=1)
    model = BayesClassifier().fit(X, y)
    assert np.mean(model.predict(new) == truth) > 0.8
