"""What leave-one-out selects for a whole model: the reading of texts, temperature, AODE's m."""

import math
from collections import Counter
from itertools import product

import numpy as np
import pytest

from deciban import AODE, NaiveBayes
from deciban.models.calibration import discount_penalty
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

    def said(self, text, others, weighting, smoothing, contrast, idf):
        """What a text says for every class by others, of how many words, the prior, the shares."""
        count, texts_with = {c: {} for c in self.classes}, Counter()
        for j in others:
            texts_with.update(set(self.texts[j]))
            for word in counted(self.texts[j], weighting):
                count[self.y[j]][word] = count[self.y[j]].get(word, 0) + 1
        vocabulary = {word for of in count.values() for word in of}
        words = [word for word in counted(text, weighting) if word in vocabulary]

        def share(some, word):
            total = sum(sum(count[c].values()) for c in some)
            had = sum(count[c].get(word, 0) for c in some)
            return math.log((had + smoothing) / (total + len(vocabulary) * smoothing))

        def rarity(word):
            return math.log((len(others) + 1) / (texts_with[word] + 0.5)) ** idf

        scores = []
        for c in self.classes:
            rest = [k for k in self.classes if k != c]
            scores.append(math.fsum(
                rarity(word) * ((1 - contrast) * share([c], word) - contrast * share(rest, word))
                for word in words
            ))  # fmt: skip
        rows = [sum(self.y[j] == c for j in others) for c in self.classes]
        prior = [math.log(1 + n) for n in rows]
        return scores, len(words), prior, [math.log(n / len(others)) for n in rows]

    def losses(self, how, ways):
        """The summed loss under each (length, scale, uniformity), with what each must gain."""
        rows = [self.left_out(i, *how) for i in range(len(self.y))]
        truth = [self.classes.index(c) for c in self.y]
        return {
            way: text_candidates().min_gain * (bool(how[3]) + bool(way[2]))
            + math.fsum(
                softmax_loss(list(joint(*row, *way)), c) for row, c in zip(rows, truth, strict=True)
            )
            for way in ways
        }

    def ways(self, contrast, lengths, n_scales, uniformities):
        """Powers of the length, scales and uniformities that are tried under a contrast."""
        tried = text_candidates()
        most = 1 / (1 - contrast + contrast / (len(self.classes) - 1))
        scales = np.geomspace(tried.min_scale, most, n_scales)
        return [
            (at, scale * tried.typical**at, u)
            for at, scale, u in product(lengths, scales, uniformities)
        ]


def joint(said, size, prior, shares, length, scale, uniformity):
    """Log joints of a text, up to a constant."""
    most = max(1.0, scale * text_candidates().typical ** -length)
    discounted = np.array(said) * min(most, scale * size**-length)
    return np.array(prior) + discounted - uniformity * np.array(shares)


def counted(words, weighting):
    return words if weighting == "amount" else sorted(set(words))


def collection(seed, n_classes=3, bursts=0.0, own=0.4, n=36, longest=12, common=0):
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
        text += rng.choice(["the", "of"], rng.integers(0, common + 1)).tolist()
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
    "rare words": {"seed": 7, "n": 60, "common": 30},
    "uniform": {"seed": 2, "own": 0.6, "bursts": 2.0, "n": 120},
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


def least(losses):
    return min(losses, key=losses.get)


@pytest.mark.parametrize("name", COLLECTIONS)
def test_every_hyperparameter_of_texts_has_the_least_loss(name, read):
    """First what words count for, then whether rare ones count more, then how texts are scaled."""
    texts, chosen, _ = read[name]
    tried = text_candidates()
    few, many = tried.n_scales

    def first(how, uniformities):
        losses = texts.losses(how, texts.ways(how[2], [0.5], few, uniformities))
        return {(*how, u): min(v for way, v in losses.items() if way[2] == u) for u in uniformities}

    contrasts = tried.contrasts if len(texts.classes) > 2 else tried.contrasts[:1]
    losses = {}
    for how in product(tried.weightings, tried.smoothings, contrasts, [0.0]):
        losses |= first(how, tried.uniformities)
    weighting, smoothing, contrast, idf, uniformity = best = least(losses)
    at, losses = tried.smoothings.index(smoothing), {best: losses[best]}
    for near, power in product(tried.smoothings[max(at - 1, 0) : at + 2], tried.idfs):
        losses |= first((weighting, near, contrast, power), [uniformity])
    weighting, smoothing, contrast, idf, uniformity = least(losses)
    how = weighting, smoothing, contrast, idf
    assert how == tuple(chosen[key] for key in ("weighting", "smoothing", "contrast", "idf"))
    losses = texts.losses(how, texts.ways(contrast, tried.lengths, many, [uniformity]))
    losses |= texts.losses(how, texts.ways(contrast, [least(losses)[0]], many, [0.5]))
    mine = chosen["length"], chosen["scale"], chosen["uniformity"]
    near = min(losses, key=lambda way: np.abs(np.subtract(way, mine)) @ [1e6, 1.0, 1e6])
    np.testing.assert_allclose(near, mine, rtol=1e-9)
    assert losses[near] <= min(losses.values()) + 1e-9


@pytest.mark.parametrize("name", COLLECTIONS)
def test_new_texts_are_read_as_was_selected(name, read):
    texts, chosen, m = read[name]
    how = [chosen[key] for key in ("weighting", "smoothing", "contrast", "idf")]
    new = ["w0 w1 w1 w5", "w4", "w2 w2 w2 w2 w3 w6 w7 never"]
    log = m.predict_log_proba({"t": new})
    for text, actual in zip(new, log, strict=True):
        said, size, prior, shares = texts.said(text.split(), range(len(texts.y)), *how)
        mine = chosen["length"], chosen["scale"], chosen["uniformity"]
        evidence = joint(said, size, np.zeros(len(prior)), shares, *mine)
        expected = np.array(prior) + evidence / m.temperature_
        np.testing.assert_allclose(actual, expected - np.logaddexp.reduce(expected), atol=1e-9)


def test_collections_differ_in_what_is_best(read):
    chosen = [reading for _, reading, _ in read.values()]
    for hyperparameter, n in (
        ("weighting", 2), ("contrast", 2), ("smoothing", 3), ("length", 3), ("scale", 4),
        ("idf", 2), ("uniformity", 2),
    ):  # fmt: skip
        assert len({reading[hyperparameter] for reading in chosen}) >= n, hyperparameter


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


def balance():
    """A balance tips to the side of the larger product: columns say more together than alone."""
    arms = list(product(range(1, 6), repeat=4))
    tip = [(a * b > c * d) - (a * b < c * d) for a, b, c, d in arms]
    return {name: [str(row[j]) for row in arms] for j, name in enumerate("abcd")}, tip


@pytest.mark.parametrize("model", [NaiveBayes, AODE])
def test_evidence_is_enlarged_where_columns_say_more_together(model):
    X, y = balance()
    m, pure = model().fit(X, y), model(calibrate=False).fit(X, y)
    own = np.searchsorted(m.classes_, y)
    loss, before = (-each.leave_one_out(X, y)[np.arange(625), own].mean() for each in (m, pure))
    assert m.temperature_ < 0.5
    assert loss < before - 0.1


def test_evidence_of_texts_is_not_enlarged():
    """Their scale has been selected on the same rows."""
    X, y = balance()
    note = ["heavy" if tip > 0 else "light" for tip in y]
    m = NaiveBayes(kinds={"note": "text"}).fit({**X, "note": note}, y)
    assert m.temperature_ >= 1.0


def test_the_prior_of_the_temperature_by_hand():
    for sizes in ((4, 1, 2), (50, 30, 7), (10_000, 3, 2)):
        np.testing.assert_allclose(discount_penalty(*sizes), discount_prior(*sizes), atol=1e-12)
    never = discount_penalty(100, 3, 2, enlarge=False)
    assert never[93:].min() == math.inf
    np.testing.assert_array_equal(never[:93], discount_penalty(100, 3, 2)[:93])


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
    pure = [int(np.argmin(losses[:, 92])) for _, losses in tables]
    assert sum(a != b for a, b in zip(together, pure, strict=True)) >= 4
    assert len(set(together)) >= 3
    for seed, k in zip(SEEDS, pure, strict=True):
        rows, y = dependent(seed)
        assert AODE(calibrate=False).fit(columns(rows), y).strength_ == strengths()[k]
