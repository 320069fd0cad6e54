"""How sure the filter is: near copies, time, what was never seen, and the number of lessons."""

import zlib
from array import array
from itertools import pairwise
from math import log

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from deciban.kernels.lexicon import Lexicon
from deciban.mail import times, training
from deciban.mail.copies import MULTIPLIER, PLACES, group, signature
from deciban.mail.lessons import learn, read, score
from deciban.mail.mailboxes import Place
from deciban.mail.model import (
    BODY_POWER,
    BODY_SECTIONS,
    HALF_FAMILIAR_SHARE,
    MAX_HALF_FAMILIAR,
    MIN_WEIGHT,
    PREFIXES,
    PRIOR_MESSAGES,
    PRIOR_WORDS,
    SECTIONS,
    Calibration,
    Counts,
    Pair,
    calibrate,
    familiarity,
    is_text,
    level,
    score_counts,
    summarize,
    weights,
)
from deciban.mail.store import SPAM_UNIT, Lesson, Store
from deciban.mail.times import delivery_time
from deciban.mail.training import LeftOut, train
from deciban.mail.verdict import decide
from letters import everything

COMMON = ["the", "and", "for", "with", "you", "this", "that", "from", "are", "have", "our", "will"]
HAM_WORDS = [f"{a}{b}" for a in ("meet", "plan", "draft", "team") for b in ("ing", "s", "ed", "er")]
SPAM_WORDS = [
    f"{a}{b}" for a in ("win", "cheap", "prize", "click") for b in ("ner", "s", "ed", "er")
]
CYRILLIC = "".join(chr(code) for code in range(0x430, 0x450))


def _letter(rng, spam, day, words=None, sender=None):
    """A message of its own: words of its class among common ones."""
    own = words or [*rng.choice(SPAM_WORDS if spam else HAM_WORDS, 6), *rng.choice(COMMON, 12)]
    own = [*own, *("".join(rng.choice(list("abcdefgh"), 7)) for _ in range(6))]
    domain = sender or ("offers.example" if spam else "work.example")
    date = f"Date: {1 + day % 28} Jan 2024 {day // 28:02}:00:00 +0000"
    head = f"From: a{rng.integers(9)}@{domain}\nSubject: {own[0]} {own[7]}\n{date}\n\n"
    return (head + " ".join(own) + "\n").encode()


def _letters(n, seed=0):
    rng = np.random.default_rng(seed)
    return [(_letter(rng, bool(i % 2), i), bool(i % 2)) for i in range(n)]


def _trained(folder, letters, store="mail.db", processes=1):
    """A store that has learnt messages by training."""
    folder.mkdir(exist_ok=True)
    places = []
    for number, (raw, spam) in enumerate(letters):
        path = folder / f"{number:04}.eml"
        path.write_bytes(raw)
        places.append((Place(str(path)), spam))
    opened = Store(str(folder / store), create=True)
    train(opened, places, processes)
    return opened


# What tokens weigh

TOKENS = st.builds(
    "".join,
    st.tuples(
        st.sampled_from(["", "", "subject:", "html:", "to:", "hidden:", "x:", "hidden", ":"]),
        st.text(max_size=3),
    ),
)
MESSAGES = st.integers(0, 40) | st.integers(0, 2**40)


def plain_weights(counts):
    """The formula of the module, token by token."""
    (ham, spam), sections = counts.totals, {}
    for token, (hams, spams) in counts.tokens.items():
        share = (spams + PRIOR_MESSAGES) / (hams + PRIOR_MESSAGES)
        weight = log(share) + log((ham + 2 * PRIOR_MESSAGES) / (spam + 2 * PRIOR_MESSAGES))
        prefix, colon, _ = token.partition(":")
        if abs(weight) >= MIN_WEIGHT:
            section = SECTIONS.get(prefix, "head") if colon else "body"
            sections.setdefault(section, {})[token] = weight
    return {
        token: weight * (BODY_SECTIONS * len(own) ** BODY_POWER if name == "body" else 1) / len(own)
        for name, own in sections.items()
        for token, weight in own.items()
    }


@given(
    st.dictionaries(TOKENS, st.tuples(MESSAGES, MESSAGES)),
    st.tuples(st.integers(1, 2**40), st.integers(1, 2**40)),
    st.integers(0, 99),
)
def test_weights_and_familiarity_are_the_formulas(tokens, totals, unknown):
    counts = Counts(Pair(*totals), tokens, unknown)
    assert weights(counts) == pytest.approx(plain_weights(counts), rel=1e-12)
    half = min(HALF_FAMILIAR_SHARE * sum(totals), MAX_HALF_FAMILIAR)
    words = [sum(pair) for token, pair in tokens.items() if is_text(token)]
    share = (sum(n / (n + half) for n in words if n) + PRIOR_WORDS) / (
        len(words) + unknown + PRIOR_WORDS
    )
    expected = share**2 / (share**2 + (1 - share) ** 2)
    assert familiarity(counts) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("wrong", [(1,), (1, 2, 3), [1, 2], None, ("a", "b")])
def test_what_is_no_pair_is_refused(wrong):
    with pytest.raises(TypeError):
        weights(Counts(Pair(1, 1), {"a": wrong}))
    with pytest.raises(TypeError):
        familiarity(Counts(Pair(1, 1), {"a": wrong}))


# What is new


def test_a_campaign_in_an_unknown_language_is_unsure(tmp_path):
    rng = np.random.default_rng(1)
    new = ["".join(rng.choice(list(CYRILLIC), 6)) for _ in range(40)]
    with _trained(tmp_path, _letters(300)) as store:
        for spam, sender in ((True, "work.example"), (False, "offers.example")):
            known = [decide(score(store, read(_letter(rng, spam, 300 + i)))) for i in range(20)]
            assert {verdict.answer for verdict in known} == {"spam" if spam else "ham"}
            for i in range(20):
                raw = _letter(rng, spam, 400 + i, [*rng.permutation(new)[:30]], sender)
                verdict = decide(score(store, read(raw)))
                assert verdict.answer == "unsure"
                assert 0.35 < verdict.p < 0.65


def test_familiarity_by_hand():
    totals = Pair(600, 400)  # a word in two messages is half familiar
    words = {"a": Pair(2, 0), "subject:b": Pair(0, 6), "received:c": Pair(9, 9)}
    share = (2 / 4 + 6 / 8 + 3) / (2 + 5 + 3)
    expected = share**2 / (share**2 + (1 - share) ** 2)
    assert familiarity(Counts(totals, words, 5)) == pytest.approx(expected)
    assert familiarity(Counts(totals, {}, 0)) == 1.0
    many = Counts(Pair(10**6, 10**6), {"a": Pair(8, 0)})  # never more than eight are asked for
    assert familiarity(many) == pytest.approx(3.5**2 / (3.5**2 + 0.5**2))


@given(st.integers(0, 100), st.integers(0, 100))
def test_more_unknown_words_make_less_familiar(known, unknown):
    def at(n):
        return familiarity(Counts(Pair(50, 50), {f"w{i}": Pair(5, 5) for i in range(known)}, n))

    assert 0 <= at(unknown + 1) < at(unknown) <= 1


# How many lessons there are


@given(st.floats(-50, 50), st.integers(0, 10**6))
def test_nobody_is_surer_than_the_number_of_lessons(log_odds, lessons):
    doubt = 1 / (lessons + 2)
    evidence = Calibration(0.0, 1.0, doubt).evidence(log_odds)
    assert abs(evidence) <= min(abs(log_odds), log((1 - doubt) / doubt)) + 1e-9
    p = doubt + (1 - 2 * doubt) / (1 + np.exp(-log_odds))
    assert evidence == pytest.approx(np.log(p) - np.log1p(-p), abs=1e-6)


def test_reasons_add_up_under_doubt_and_novelty():
    words = {"a": Pair(0, 9), "b": Pair(9, 0), "subject:c": Pair(0, 20)}
    score = score_counts(Counts(Pair(50, 50), words, 2), Calibration(0.7, 0.3, 0.01))
    assert score.base + sum(score.tokens.values()) == pytest.approx(score.evidence)
    assert 0 < score.familiar < 1
    assert score.base == pytest.approx(
        0.7 * score.tokens["a"] / (0.3 * 3 * 2**-0.8 * log(9.04 / 0.04))
    )
    none = score_counts(Counts(Pair(50, 50), {}, 9), Calibration(0.0, 0.3, 0.01))
    assert (none.evidence, none.p) == (0.0, 0.5)


def test_few_lessons_are_never_sure(tmp_path):
    with _trained(tmp_path, _letters(40)) as store:
        verdict = decide(score(store, read(_letters(42, seed=5)[41][0])))
        assert verdict.answer == "unsure"
        assert 0.9 < verdict.p <= 1 - 1 / 42


def test_lessons_of_one_class_do_not_calibrate():
    assert calibrate({50: Pair(0, 500)}) == Calibration(0.0, 0.25, 1 / 502)


# Near copies


def test_near_copies_are_one_group_in_any_order_of_words():
    rng = np.random.default_rng(0)
    texts = [rng.choice(20000, 200) for _ in range(60)]
    copies = [[*text[:185], *rng.choice(20000, 15)] for text in texts[:20] for _ in range(3)]
    words = [[str(w) for w in text] for text in [*texts, *copies]]
    expected = [*range(60), *np.repeat(range(20), 3)]
    assert group([signature(w) for w in words]) == expected
    assert [signature(w) for w in words] == [signature(reversed(w)) for w in words]
    assert group([signature([]), signature(["a"]), signature([])]) == [0, 1, 2]


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=5)))
def test_a_signature_is_the_least_hash_of_every_place(words):
    least = [-1] * PLACES
    for word in words:
        own = zlib.crc32(word.encode()) * MULTIPLIER % 2**32
        before = least[own % PLACES]
        least[own % PLACES] = own if before < 0 else min(before, own)
    assert list(array("q", signature(words))) == least


def test_a_campaign_has_one_level(tmp_path):
    letters = _letters(60)
    campaign = [(letters[1][0] + b"PS %d" % i, True) for i in range(100)]
    with _trained(tmp_path / "a", letters) as store:
        alone = sum(map(sum, store.levels().values()))
    with _trained(tmp_path / "b", [*letters, *campaign]) as store:
        assert store.totals() == (30, 130)
        assert alone == sum(map(sum, store.levels().values())) == 60


def test_block_and_copies_are_left_out_by_hand():
    unit, lexicon = SPAM_UNIT, Lexicon(PREFIXES)
    names = ["a", "b", "c", "subject:d"]
    lexicon.merge(names, array("q", [5 + 9 * unit, 1, 4 * unit, 2 + 2 * unit]))
    block = array("q", [1 + 2 * unit, 1, unit, 2])
    row = LeftOut(Pair(40, 50), lexicon.tokens(names), block, Pair(0, 3))
    by_hand = Counts(Pair(40, 50), {"a": (4, 4)}, 3)
    assert training._level(row) == level(Pair(40, 50), summarize(by_hand))
    assert training._level(row._replace(totals=Pair(40, -1))) == 0


# The order of time


def test_times_of_delivery():
    assert delivery_time(b"Received: a;\n Thu, 1 Jan 1970 00:00:09 +0000\nDate: x\n\n") == 9
    assert delivery_time(b"Received: a\nDATE: Thu, 1 Jan 1970 01:00:00 +0100\n\n") == 0
    for wrong in (
        b"",
        b"Date: Mon, 99 Foo 0000 99:99:99\n\n",
        b"Date: \xff\n\n",
        b"\n\nDate: 1 Jan 1970",
    ):
        assert delivery_time(wrong) is None


DATE = [
    "thu,",
    " ",
    "\n\t",
    "22",
    "3",
    "aug",
    "jan",
    "2002",
    "1999",
    "18:26:25",
    "99:99:99",
    "7:01",
]
ZONE = ["+0700", "-0430", "-0000", "+9999", "gmt", "(edt)", ""]


@given(st.lists(st.sampled_from([*DATE, *ZONE]), max_size=9).map("".join))
@example("thu, 22 aug 2002 18:26:25 +0700 (ict)")
@example("31 feb 1999 18:26:25 -0430")
def test_times_mean_what_the_package_says(text):
    assert times._seconds(text.encode()) == times._seconds_by_package(text.encode())


def test_messages_come_in_the_order_of_delivery():
    def order(*messages):
        lessons = [Lesson(b"%d" % i, spam) for i, (spam, _) in enumerate(messages)]
        return training._delivery_order(lessons, [time for _, time in messages])

    assert order((False, 30.0), (False, 10.0), (True, 20.0)) == [1, 2, 0]
    assert order(*[(False, None)] * 4, *[(True, None)] * 2) == [0, 4, 1, 2, 5, 3]
    assert order((False, 30.0), (False, None), (True, 20.0), (True, None)) == [2, 3, 0, 1]


@pytest.mark.parametrize("processes", [1, 2])
def test_dated_messages_give_one_store_in_any_order(tmp_path, processes, monkeypatch):
    monkeypatch.setattr(training, "BATCH_MESSAGES", 20)
    letters = _letters(60)
    with (
        _trained(tmp_path / "a", letters) as one,
        _trained(tmp_path / "b", letters[::-1], processes=processes) as other,
    ):
        assert everything(one) == everything(other)


def test_the_level_of_a_message_does_not_know_its_day(tmp_path):
    """Words that one day's spam alone has tell nothing on that day."""
    rng = np.random.default_rng(2)
    letters = []
    for day in range(20):  # as many as there are blocks
        for _ in range(4):
            words = [f"day{day}word{i}" for i in range(10)]
            own = ["".join(rng.choice(list("ijklmnop"), 8)) for _ in range(14)]
            letters.append((_letter(rng, True, day, words + own, "x.example"), True))
            letters.append((_letter(rng, False, day, own[:5], "x.example"), False))
    with _trained(tmp_path, letters) as store:
        levels = store.levels()
        assert max(map(abs, levels)) <= 10
        known = score(store, read(letters[0][0] + b"more words"))
        assert sum(known.tokens.values()) > 10


def test_golden_verdicts(tmp_path):
    """Figures of one made corpus: whoever changes the model sees what else changes."""
    with _trained(tmp_path, _letters(400)) as store:
        test = _letters(100, seed=9)
        verdicts = [(decide(score(store, read(raw))), spam) for raw, spam in test]
        levels, familiar = store.levels(), score(store, read(test[0][0])).familiar
    assert {(verdict.answer, spam) for verdict, spam in verdicts} == {
        ("spam", True),
        ("ham", False),
    }
    assert calibrate(levels) == pytest.approx((0.0, 0.3444, 1 / 402), abs=1e-4)
    assert sum(abs(at) * sum(pair) for at, pair in levels.items()) == 59_993
    assert str(verdicts[0][0]) == "ham; p=0.0025; evidence=-26.0dB"
    assert familiar == pytest.approx(0.8809, abs=1e-4)


def test_learning_one_by_one_is_calibrated_too(tmp_path):
    with Store(str(tmp_path / "m.db"), create=True) as store:
        for raw, spam in _letters(200):
            learn(store, read(raw), spam)
        ps = [decide(score(store, read(raw))).p for raw, _ in _letters(20, seed=4)]
        assert all(ham < 0.01 and spam > 0.99 for ham, spam in list(pairwise(ps))[::2])
        assert max(ps) <= 1 - 1 / 201
