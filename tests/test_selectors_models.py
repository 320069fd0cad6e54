"""What leave-one-out selects for a whole model: the reading of texts, temperature, AODE's m."""

import math
from itertools import product

import numpy as np
import pytest

from deciban import AODE, NaiveBayes
from internals import discount_prior, discounts, strengths, text_candidates, text_readings
from pairs import Oracle


def softmax_loss(joint, true):
    """Minus the log posterior of the truth."""
    top = max(joint)
    return top + math.log(math.fsum(math.exp(v - top) for v in joint)) - joint[true]


# ---------------------------------------------------------------------- the reading of texts


class Texts:
    """Texts as lists of words, each judged by the counts of all others."""

    def __init__(self, texts, y):
        self.texts, self.y = [text.split() for text in texts], y
        self.classes = sorted(set(y))

    def left_out(self, i, *how):
        """What text i says by all others."""
        return self.said(self.texts[i], [j for j in range(len(self.y)) if j != i], *how)

    def said(self, text, others, weighting, smoothing, contrast):
        """What a text says for every class by others, of how many words, and the prior."""
        count = {c: {} for c in self.classes}
        for j in others:
            for word in counted(self.texts[j], weighting):
                count[self.y[j]][word] = count[self.y[j]].get(word, 0) + 1
        vocabulary = {word for of in count.values() for word in of}
        words = counted(text, weighting)

        def share(some, word):
            total = sum(sum(count[c].values()) for c in some)
            had = sum(count[c].get(word, 0) for c in some)
            return math.log((had + smoothing) / (total + len(vocabulary) * smoothing))

        scores = []
        for c in self.classes:
            rest = [k for k in self.classes if k != c]
            scores.append(math.fsum(
                (1 - contrast) * share([c], word) - contrast * share(rest, word)
                for word in words if word in vocabulary
            ))  # fmt: skip
        prior = [math.log(1 + sum(self.y[j] == c for j in others)) for c in self.classes]
        return scores, len(words), prior

    def losses(self, weighting, smoothing, contrast, ways):
        """The summed loss under each (length, scale)."""
        rows = [self.left_out(i, weighting, smoothing, contrast) for i in range(len(self.y))]
        truth = [self.classes.index(c) for c in self.y]
        out = {}
        for length, scale in ways:
            joints = (
                np.array(prior) + np.array(said) * min(1.0, scale * size**-length)
                for said, size, prior in rows
            )
            out[length, scale] = math.fsum(map(softmax_loss, map(list, joints), truth))
        return out


def counted(words, weighting):
    return words if weighting == "amount" else sorted(set(words))


def collection(seed, n_classes=3, bursts=0.0, own=0.4, n=36, longest=12):
    """Texts of few words, some said again and again; every word is in several texts."""
    rng = np.random.default_rng(seed)
    words = [f"w{j}" for j in range(4 * n_classes)]
    y = [c for c in range(n_classes) for _ in range([n // 2, n // 3, n // 6][c])]
    texts = []
    for c in y:
        text = []
        for _ in range(rng.integers(2, longest)):
            mine = words[4 * c : 4 * c + 4] if rng.random() < own else words
            text += [str(rng.choice(mine))] * (1 + rng.poisson(bursts))
        texts.append(" ".join(text))
    return texts, y


COLLECTIONS = {
    "plain": {"seed": 0},
    "bursts": {"seed": 1, "bursts": 2.0},
    "two classes": {"seed": 2, "n_classes": 2, "bursts": 0.5},
    "faint": {"seed": 3, "own": 0.15},
    "clear": {"seed": 4, "own": 0.98},
    "long": {"seed": 5, "own": 0.25, "longest": 40, "bursts": 1.0},
    "skewed": {"seed": 9, "own": 0.5, "bursts": 0.3, "n": 60},
    "repeated": {"seed": 6, "own": 0.5, "bursts": 0.5},
    "mixed": {"seed": 3, "own": 0.5, "bursts": 0.5},
}


@pytest.fixture(scope="module")
def read():
    """The texts, and the reading that was selected, of every collection."""
    out = {}
    for name, how in COLLECTIONS.items():
        texts, y = collection(**how)
        m = NaiveBayes(kinds={"t": "text"}).fit({"t": texts}, y)
        out[name] = Texts(texts, y), text_readings(m)["t"], m
    return out


@pytest.mark.parametrize("name", COLLECTIONS)
def test_weighting_contrast_and_smoothing_have_the_least_loss(name, read):
    texts, chosen, _ = read[name]
    tried = text_candidates()
    ways = [(0.5, scale * tried.typical**0.5) for scale in tried.scales[::3]]
    contrasts = tried.contrasts if len(texts.classes) > 2 else tried.contrasts[:1]
    losses = {
        way: min(texts.losses(*way, ways).values())
        for way in product(tried.weightings, tried.smoothings, contrasts)
    }
    best = min(losses, key=losses.get)
    assert (chosen["weighting"], chosen["smoothing"], chosen["contrast"]) == best


@pytest.mark.parametrize("name", COLLECTIONS)
def test_length_and_scale_have_the_least_loss(name, read):
    texts, chosen, _ = read[name]
    tried = text_candidates()
    ways = [(at, scale * tried.typical**at) for at in tried.lengths for scale in tried.scales]
    losses = texts.losses(chosen["weighting"], chosen["smoothing"], chosen["contrast"], ways)
    mine = losses[min(ways, key=lambda way: abs(way[0] - chosen["length"]) * 1e6
                      + abs(way[1] - chosen["scale"]))]  # fmt: skip
    assert mine <= min(losses.values()) + 1e-9


@pytest.mark.parametrize("name", COLLECTIONS)
def test_new_texts_are_read_as_was_selected(name, read):
    texts, chosen, m = read[name]
    how = chosen["weighting"], chosen["smoothing"], chosen["contrast"]
    new = ["w0 w1 w1 w5", "w4", "w2 w2 w2 w2 w3 w6 w7 never"]
    log = m.predict_log_proba({"t": new})
    for text, actual in zip(new, log, strict=True):
        said, size, prior = texts.said(text.split(), range(len(texts.y)), *how)
        size -= text.count("never")
        trust = min(1.0, chosen["scale"] * size ** -chosen["length"]) / m.temperature_
        joint = np.array(prior) + trust * np.array(said)
        np.testing.assert_allclose(actual, joint - np.logaddexp.reduce(joint), atol=1e-9)


def test_collections_differ_in_what_is_best(read):
    chosen = [reading for _, reading, _ in read.values()]
    for hyperparameter, least in (
        ("weighting", 2), ("contrast", 2), ("smoothing", 3), ("length", 3), ("scale", 4)
    ):  # fmt: skip
        assert len({reading[hyperparameter] for reading in chosen}) >= least, hyperparameter


# ---------------------------------------------------------------------- the temperature


def echoes(seed, n=40, copies=4):
    """A column that says something, and others that mostly repeat it."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    first = (y + (rng.random(n) < 0.3)) % 2
    columns = [(first + (rng.random(n) < 0.1 * seed)) % 2 for _ in range(copies)]
    return {f"c{j}": [f"v{v}" for v in column] for j, column in enumerate(columns)}, y.tolist()


def refitted(X, y, i):
    """Log prior and log-likelihood, up to a constant, of row i by the model of all others."""
    others = [j for j in range(len(y)) if j != i]
    rest = [y[j] for j in others]
    m = NaiveBayes(calibrate=False, smoothing=1.0)
    m.fit({name: [values[j] for j in others] for name, values in X.items()}, rest)
    prior = np.log([(rest.count(c) + 1) / (len(rest) + 2) for c in (0, 1)])
    log = m.predict_log_proba({name: [values[i]] for name, values in X.items()})[0]
    return prior, log - prior


@pytest.mark.parametrize("seed", range(4))
def test_the_temperature_has_the_least_loss(seed):
    X, y = echoes(seed)
    rows = [refitted(X, y, i) for i in range(len(y))]
    losses = [
        math.fsum(
            softmax_loss((prior + beta * said).tolist(), true)
            for (prior, said), true in zip(rows, y, strict=True)
        )
        for beta in discounts()
    ]
    m = NaiveBayes(smoothing=1.0).fit(X, y)
    losses = np.array(losses) + discount_prior(len(y), len(X), 2)
    assert m.temperature_ == pytest.approx(1 / discounts()[int(np.argmin(losses))], rel=1e-12)
    assert m.temperature_ > (1.5 if seed < 2 else 1.0)


# ---------------------------------------------------------------------- AODE's strength


class Smoothed(Oracle):
    """Shares smoothed by a number for each column, beside ``m``."""

    def share(self, row, j, c):
        had, total = self.weight({j: row[j]}, c), self.weight({}, c, j)
        return (had + self.lam[j]) / (total + self.sizes[j] * self.lam[j])


def dependent(seed, n=30):
    """Two columns whose sum, but for noise, is the class; and columns that nearly repeat them."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 2, (n, 2))
    y = (codes.sum(axis=1) + (rng.random(n) < 0.3)) % 2
    echoes = [codes[:, k : k + 1] ^ (rng.random((n, 1)) < 0.1) for k in (0, 1)]
    return [[f"v{v}" for v in row] for row in np.hstack([codes, *echoes])], y.tolist()


SEEDS = range(8)


def columns(rows):
    return {f"c{j}": list(column) for j, column in enumerate(zip(*rows, strict=True))}


@pytest.fixture(scope="module")
def tables():
    """The loss under every strength and discount, and the model, of several tables."""
    out = []
    for seed in SEEDS:
        rows, y = dependent(seed)
        m = AODE().fit(columns(rows), y)
        oracle = Smoothed(rows, y)
        oracle.lam = [choice.smoothing for choice in m.choices_.values()]
        out.append((m, losses_of(oracle, rows, y) + discount_prior(len(y), len(rows[0]), 2)))
    return out


def losses_of(oracle, rows, y):
    """The summed loss of rows taken away, (strengths, discounts)."""
    out = np.zeros((len(strengths()), len(discounts())))
    for r, (row, true) in enumerate(zip(rows, y, strict=True)):
        left = oracle.without(r)
        prior = np.array([left.log_prior(c) for c in left.classes])
        for k, m in enumerate(strengths()):
            left.m = m
            said = np.array([left.log_likelihood(row, c) for c in left.classes])
            joint = prior + np.multiply.outer(discounts(), said)
            out[k] += np.logaddexp.reduce(joint, axis=1) - joint[:, true]
    return out


@pytest.mark.parametrize("seed", SEEDS)
def test_strength_and_discount_have_the_least_loss_together(seed, tables):
    m, losses = tables[seed]
    k, b = np.unravel_index(np.argmin(losses), losses.shape)
    assert m.strength_ == strengths()[k]
    assert m.temperature_ == pytest.approx(1 / discounts()[b], rel=1e-12)


def test_the_strength_is_not_that_of_the_pure_model(tables):
    together = [int(np.argmin(losses.min(axis=1))) for _, losses in tables]
    pure = [int(np.argmin(losses[:, -1])) for _, losses in tables]
    assert sum(a != b for a, b in zip(together, pure, strict=True)) >= 4
    assert len(set(together)) >= 3
    for seed, k in zip(SEEDS, pure, strict=True):
        rows, y = dependent(seed)
        assert AODE(calibrate=False).fit(columns(rows), y).strength_ == strengths()[k]
