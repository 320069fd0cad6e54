"""The store: lessons add up, are taken back exactly, and are counted once."""

import sqlite3
from collections import Counter
from itertools import count

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from deciban import decision, sqlite, threads
from deciban.errors import (
    FileError,
    ModelFileError,
    ModelWriteError,
    NegativeCountError,
    ParameterError,
)
from deciban.kernels.lexicon import Lexicon
from deciban.mail import mailboxes, training
from deciban.mail.lessons import Read, learn, read, relearn, score, score_all, unlearn
from deciban.mail.mailboxes import Place, size
from deciban.mail.model import (
    DECIBANS,
    Calibration,
    Counts,
    Pair,
    Score,
    calibrate,
    score_counts,
    weights,
)
from deciban.mail.store import MAX_REMEMBERED_TOKENS, TOKEN_CHARACTERS, Lesson, Store
from deciban.mail.tables import LAYOUT
from deciban.mail.training import train
from deciban.mail.verdict import Costs, decide
from letters import HAM, NEW_HAM, NEW_SPAM, SPAM, everything, learnt


@pytest.fixture
def store(tmp_path):
    with Store(str(tmp_path / "new" / "mail.db"), create=True) as opened:
        yield opened


def counted(pairs):
    """A lexicon with the messages of ham and of spam that had tokens."""
    lexicon = Lexicon()
    lexicon.merge_rows([(token, *pair) for token, pair in pairs.items()])
    return lexicon


def test_what_was_learnt_is_recognised(store):
    learnt(store)
    assert store.totals() == (12, 12)
    spam, ham = (decide(score(store, read(raw))) for raw in (NEW_SPAM, NEW_HAM))
    assert spam.p > 0.9 > 0.1 > ham.p
    assert decide(score(store, read(NEW_HAM))).answer == "ham"


def test_nothing_is_known_before_both_classes_are(store):
    assert score(store, read(NEW_SPAM)).p == 0.5
    learn(store, read(SPAM[0]), True)
    assert score(store, read(SPAM[0])).tokens == {}


def test_a_lesson_counts_once(store):
    message = read(SPAM[0])
    assert learn(store, message, True) == "learnt"
    before = everything(store)
    assert learn(store, message, True) == "known"
    assert learn(store, read(b"Status: RO\r\n" + SPAM[0].replace(b"\n", b"\r\n")), True) == "known"
    assert learn(store, message, False) == "conflict"
    assert everything(store) == before


def test_taking_back_what_was_never_learnt(store):
    learnt(store)
    before = everything(store)
    assert unlearn(store, read(NEW_HAM)) == "unknown"
    assert everything(store) == before


def test_moving_is_taking_back_and_learning(tmp_path):
    with Store(str(tmp_path / "a"), create=True) as a, Store(str(tmp_path / "b"), create=True) as b:
        learnt(a)
        learnt(b)
        assert relearn(a, read(HAM[3]), True) == "moved"
        assert relearn(a, read(HAM[3]), True) == "known"
        assert (unlearn(b, read(HAM[3])), learn(b, read(HAM[3]), True)) == ("taken", "learnt")
        assert everything(a) == everything(b)
        assert relearn(a, read(NEW_HAM), False) == "learnt"


LESSONS = st.lists(
    st.tuples(st.frozensets(st.sampled_from("abcdefg"), max_size=5), st.booleans()), max_size=12
)


@given(LESSONS, LESSONS, st.randoms())
@settings(max_examples=30)
def test_learning_and_taking_back_is_nothing(tmp_path_factory, first, second, random):
    with Store(str(tmp_path_factory.mktemp("store") / "m"), create=True) as store:
        numbers = count()

        def teach(lessons):
            messages = [(Read(b"%d" % next(numbers), set(t)), spam) for t, spam in lessons]
            for message, spam in messages:
                assert learn(store, message, spam) == "learnt"
            return messages

        empty = everything(store)
        kept = teach(first)
        before = everything(store)
        added = teach(second)
        random.shuffle(added)
        for message, _ in added:
            assert unlearn(store, message) == "taken"
        assert everything(store) == before
        for message, _ in kept:
            unlearn(store, message)
        assert everything(store) == empty


def test_a_failed_change_changes_nothing(store):
    learnt(store)
    before = everything(store)
    message, changed = read(HAM[0]), read(HAM[0])
    changed.tokens.add("never-seen")
    with pytest.raises(NegativeCountError, match="never counted"):
        unlearn(store, changed)
    with pytest.raises(NegativeCountError), store.writing():
        store.take(Lesson(message.digest, True), message.tokens)
    with pytest.raises(ModelFileError), store.writing():
        store.add([Lesson(message.digest, True)], store.rows_of(counted({"x": (0, 1)})))
    assert everything(store) == before


# Many messages


def _written(folder, messages):
    folder.mkdir()
    for number, raw in enumerate(messages):
        (folder / str(number)).write_bytes(raw)
    return [Place(str(path)) for path in sorted(folder.iterdir())]


def test_other_processes_are_started_for_many_bytes(tmp_path, monkeypatch):
    path = tmp_path / "mbox"
    path.write_bytes(b"x" * 100)
    whole, part, gone = Place(str(path)), Place(str(path), 10, 35), Place(str(tmp_path / "gone"))
    assert [size(place) for place in (whole, part, gone)] == [100, 25, 0]
    monkeypatch.setattr(threads, "n_cores", lambda: 4)
    monkeypatch.setattr(training, "MIN_PARALLEL_BYTES", 126)
    assert training._n_processes([(whole, True), (part, False), (gone, True)]) == 1
    monkeypatch.setattr(training, "MIN_PARALLEL_BYTES", 125)
    assert training._n_processes([(whole, True), (part, False), (gone, True)]) == 4


@pytest.mark.parametrize("processes", [1, 2])
def test_training_counts_what_learning_does(tmp_path, store, processes, monkeypatch):
    monkeypatch.setattr("deciban.mail.training.BATCH_MESSAGES", 5)
    places = [(p, False) for p in _written(tmp_path / "ham", HAM + HAM[:2] + [NEW_SPAM])]
    places += [(p, True) for p in _written(tmp_path / "spam", [*SPAM, NEW_SPAM])]
    learn(store, read(HAM[5]), False)
    assert train(store, places, processes) == (11, 12, 3, 1)
    with Store(str(tmp_path / "other"), create=True) as other:
        one_by_one, together = everything(learnt(other)), everything(store)
        tokens = {token for raw in HAM + SPAM for token in read(raw).tokens}
        assert len(tokens) == len(one_by_one["tokens"])
        assert other.counts(tokens) == store.counts(tokens)
    for table in ("tokens", "totals"):
        assert one_by_one[table] == together[table]
    assert [row[:2] for row in one_by_one["lessons"]] == [row[:2] for row in together["lessons"]]
    assert sum(row[1] + row[2] for row in together["levels"]) == 2  # near copies, of two messages
    assert train(store, places, processes) == (0, 0, 26, 1)
    for raw in HAM + SPAM:
        assert unlearn(store, read(raw)) == "taken"
    assert everything(store) == {"tokens": [], "levels": [], "lessons": [], "totals": [(0, 0)]}


@pytest.mark.parametrize("room", [0, 300, 1 << 20])
def test_training_is_the_same_whether_bytes_are_kept_or_read_again(tmp_path, room, monkeypatch):
    places = [(p, False) for p in _written(tmp_path / "ham", HAM)]
    places += [(p, True) for p in _written(tmp_path / "spam", SPAM)]
    with Store(str(tmp_path / "one"), create=True) as store:
        train(store, places, 1)
        expected = everything(store)
    monkeypatch.setattr("deciban.mail.training.MAX_BATCH_BYTES", room)
    monkeypatch.setattr("deciban.mail.training.MAX_KEPT_BYTES", room)
    readings = Counter()

    def contents(place):
        readings[place] += 1
        return mailboxes.read(place)

    monkeypatch.setattr("deciban.mail.training.contents", contents)
    with Store(str(tmp_path / "other"), create=True) as store:
        train(store, places, 1)
        assert everything(store) == expected
    again = sum(readings.values()) - len(places)
    assert again == len(places) if not room else again == 0 if room > 300 else 0 < again < 24


@pytest.mark.parametrize("processes", [1, 2])
def test_messages_out_of_a_pipe_are_never_looked_for_again(tmp_path, processes, monkeypatch):
    monkeypatch.setattr("deciban.mail.training.MAX_KEPT_BYTES", 0)
    monkeypatch.setattr("deciban.mail.training.BATCH_MESSAGES", 5)
    files = _written(tmp_path / "ham", HAM)
    piped = [place._replace(path="gone", kept=mailboxes.read(place), once=True) for place in files]
    for name, places in (("file", files), ("pipe", piped)):
        with Store(str(tmp_path / name), create=True) as store:
            train(store, [(place, False) for place in places], processes)
    with Store(str(tmp_path / "file")) as one, Store(str(tmp_path / "pipe")) as other:
        assert everything(other) == everything(one)


def test_a_lesson_given_by_another_program_meanwhile_is_not_counted_twice(
    tmp_path, store, monkeypatch
):
    from deciban.mail import training

    counted = training._count_all

    def interrupted(run, tasks):
        shares = counted(run, tasks)
        with Store(store.path) as other:
            if len(tasks) == 12:
                assert learn(other, read(HAM[4]), False) == "learnt"
        return shares

    monkeypatch.setattr(training, "_count_all", interrupted)
    places = [(p, False) for p in _written(tmp_path / "ham", HAM)]
    assert train(store, places) == (11, 0, 1, 0)
    assert store.totals() == (12, 0)


# Evidence


def test_weights_by_hand():
    counts = Counts(Pair(100, 50), {"subject:x": Pair(0, 10), "the": Pair(60, 30)})
    expected = np.log((10 + 0.04) / (50 + 0.08)) - np.log(0.04 / (100 + 0.08))
    assert weights(counts) == {"subject:x": pytest.approx(expected)}
    ten = Pair(0, 10)
    two = {"a": ten, "b": ten, "subject:a": ten, "subject:b": ten, "html:p": ten}
    body, mean = 3 * 2**0.2 * expected / 2, expected / 2
    assert weights(Counts(Pair(100, 50), two)) == pytest.approx(
        {"a": body, "b": body, "subject:a": mean, "subject:b": mean, "html:p": expected}
    )


@given(
    st.dictionaries(
        st.sampled_from(["a", "b", "subject:c", "url:d", "x:e"]),
        st.tuples(st.integers(0, 50), st.integers(0, 50)).map(lambda p: Pair(*p)),
    ),
    st.floats(-5, 5),
    st.floats(0, 2),
)
def test_evidence_adds_up_to_the_odds(tokens, offset, slope):
    found = score_counts(Counts(Pair(50, 50), tokens), Calibration(offset, slope))
    assert found.base + sum(found.tokens.values()) == pytest.approx(found.evidence)
    assert found.p == pytest.approx(1 / (1 + 10 ** (-found.evidence / 10)))
    assert set(found.tokens) <= set(tokens)


def test_belief_is_a_logistic_regression():
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(0)
    x = rng.normal(0, 30, 3000).round()
    y = rng.random(3000) < 1 / (1 + np.exp(-(0.5 + 0.4 * x / DECIBANS)))
    levels = {}
    for at, spam in zip(x, y, strict=True):
        levels[int(at)] = levels.get(int(at), Pair(0, 0)).plus(Pair(int(not spam), int(spam)))
    peer = LogisticRegression(C=np.inf, tol=1e-8).fit(x[:, None] / DECIBANS, y)
    offset, slope, doubt = calibrate(levels)
    assert doubt == 1 / 3002
    assert offset == pytest.approx(peer.intercept_[0], abs=0.01)
    assert slope == pytest.approx(peer.coef_[0, 0], abs=0.01)


@pytest.mark.parametrize("levels", [{150: Pair(0, 5000)}, {150: Pair(0, 9), -150: Pair(9, 0)},
                                    {150: Pair(10**6, 0), -150: Pair(0, 10**6)}])  # fmt: skip
def test_belief_is_finite_whatever_was_seen(levels):
    offset, slope, _ = calibrate(levels)
    assert np.isfinite([offset, slope]).all()
    assert abs(offset) < 20


LEVELS = st.dictionaries(
    st.integers(-150, 150),
    st.tuples(st.integers(0, 60), st.integers(0, 60)).map(lambda pair: Pair(*pair)),
    max_size=12,
)


@given(LEVELS)
@example({-150: Pair(37, 0), -61: Pair(0, 3), -10: Pair(0, 7), 2: Pair(1, 0), 40: Pair(0, 29)})
def test_belief_is_the_best_there_is(levels):
    x = np.array(list(levels)) / DECIBANS
    ham, spam = np.array(list(levels.values()), dtype=float).reshape(-1, 2).T

    def loss(belief):
        odds = belief[0] + belief[1] * x
        prior = (belief[0] ** 2 + (belief[1] - 0.25) ** 2) / 2
        return ham @ np.logaddexp(0, odds) + spam @ np.logaddexp(0, -odds) + prior

    found = calibrate(levels)
    if not ham.any() or not spam.any():
        assert found[:2] == (0.0, 0.25)
        return
    peer = minimize(loss, (0.0, 0.25), method="BFGS")
    assert loss(found) <= peer.fun + 1e-6


@given(st.floats(-80, 80), st.floats(0, 1000), st.floats(0, 2))
def test_answers_are_those_of_decision_theory(evidence, lost, unsure):
    verdict = decide(Score(evidence, 0.0, {}), Costs(lost, unsure))
    p = verdict.p
    risks = {"spam": lost / (1 + 10 ** (evidence / 10)), "ham": p, "unsure": unsure}
    assert risks[verdict.answer] == pytest.approx(min(risks.values()))
    if abs(sorted(risks.values())[0] - sorted(risks.values())[1]) > 1e-6:
        answer = decision.decide([[1 - p, p]], ["ham", "spam"], {("spam", "ham"): lost}, unsure)[0]
        assert verdict.answer == ("unsure" if answer is None else answer)


@pytest.mark.parametrize("costs", [Costs(lost=float("nan")), Costs(unsure=-1)])
def test_costs_are_checked(costs):
    with pytest.raises(ParameterError, match="must be a number >= 0"):
        costs.check()


# Files that are no stores


def test_a_store_that_is_not_there(tmp_path):
    with pytest.raises(FileError, match=r"there is no store at .*nowhere"):
        Store(str(tmp_path / "nowhere"))
    assert not (tmp_path / "nowhere").exists()
    with pytest.raises(FileError, match="cannot be opened"):
        Store(str(tmp_path), create=True)
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(FileError, match="cannot be opened"):
        Store(str(tmp_path / "file" / "mail.db"), create=True)


def test_files_that_are_no_stores(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(b"not a database at all" * 100)
    for create in (False, True):
        with pytest.raises(ModelFileError, match="damaged or no store"):
            Store(str(path), create=create)
    assert path.read_bytes().startswith(b"not a database")
    other = sqlite3.connect(tmp_path / "other")
    other.execute("CREATE TABLE tokens (x)")
    other.close()
    with pytest.raises(ModelFileError, match="another SQLite file"):
        Store(str(tmp_path / "other"), create=True)


def test_a_store_of_another_version(store):
    store.connection.execute(f"PRAGMA user_version = {LAYOUT.version + 1}")
    with pytest.raises(ModelFileError, match="version 3, this program has version 2"):
        Store(store.path)


def test_a_damaged_store(store, tmp_path):
    learnt(store)
    store.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    store.close()
    data = (tmp_path / "new" / "mail.db").read_bytes()
    for at in range(100, len(data), 4096):
        path = tmp_path / "damaged.db"
        path.write_bytes(data[:at] + b"\xa5" * 3000 + data[at + 3000 :])
        try:
            with Store(str(path)) as damaged:
                score(damaged, read(NEW_HAM))
        except (ModelFileError, FileError):
            pass


def test_a_damaged_store_of_which_sqlite_speaks_in_broken_characters(store, tmp_path):
    store.close()
    data = (tmp_path / "new" / "mail.db").read_bytes()
    path = tmp_path / "damaged.db"
    path.write_bytes(data.replace(b"CREATE TABLE tokens", b"CREATE TABL\xfb tokens"))
    with pytest.raises(ModelFileError, match="damaged or no store"):
        Store(str(path))


def test_a_busy_store(store, monkeypatch):
    monkeypatch.setattr(sqlite, "BUSY_SECONDS", 0.05)
    with Store(store.path) as other, store.writing():
        assert score(other, read(NEW_HAM)).p == 0.5
        with pytest.raises(ModelWriteError, match="busy"):
            learn(other, read(NEW_HAM), False)


# What is remembered from one message to the next


@pytest.fixture(params=[0, 10**9], ids=["none", "all"])
def taught(store, request, monkeypatch):
    """A store that remembers few buckets of tokens, or all."""
    monkeypatch.setattr("deciban.mail.store.MAX_REMEMBERED_BUCKETS", request.param)
    monkeypatch.setattr("deciban.mail.store.BUCKET_TOKENS", 4)
    learnt(store)
    return store


def judge(store, raw):
    (scored,) = score_all(store, [read(raw, store.lexicon).tokens])
    return scored


def fresh(store, raw):
    with Store(store.path) as new:
        scored = score(new, read(raw))
    assert scored.tokens
    return scored._replace(tokens={})


def test_what_was_read_is_not_asked_again(taught):
    first, asked = judge(taught, NEW_HAM), []
    taught.connection.set_trace_callback(asked.append)
    assert judge(taught, NEW_HAM) == first == fresh(taught, NEW_HAM)
    assert not any("tokens ON" in query for query in asked)


def test_nothing_is_remembered_that_has_changed(taught):
    before = judge(taught, NEW_HAM)
    with Store(taught.path) as other:
        assert learn(other, read(NEW_HAM), True) == "learnt"
    changed = judge(taught, NEW_HAM)
    assert changed == fresh(taught, NEW_HAM) != before
    assert unlearn(taught, read(NEW_HAM)) == "taken"
    assert judge(taught, NEW_HAM) == before


def test_what_was_never_done_is_not_remembered(taught):
    def break_off():
        message = read(NEW_HAM)
        with taught.writing():
            tokens = list(message.tokens)
            rows = taught.rows_of(counted(dict.fromkeys(tokens, (0, 9))))
            taught.add([Lesson(b"new", True, 3)], rows)
            assert taught.counts(tokens).tokens["agenda"][1] >= 9
            taught.look_up([message.tokens])
            assert message.tokens.lexicon.counts(["agenda"])[0] >= 9 << 32
            raise KeyboardInterrupt

    before = judge(taught, NEW_HAM)
    with pytest.raises(KeyboardInterrupt):
        break_off()
    assert judge(taught, NEW_HAM) == before == fresh(taught, NEW_HAM)


def test_no_more_is_remembered_than_fits(taught, monkeypatch):
    monkeypatch.setattr("deciban.mail.store.MAX_REMEMBERED_TOKENS", 1)
    for raw in (NEW_HAM, HAM[0], NEW_HAM):
        before = taught.lexicon
        assert len(before) == 0
        assert judge(taught, raw) == fresh(taught, raw)
        assert taught.lexicon is not before


def test_few_long_tokens_are_many(taught):
    first = taught.lexicon
    first.tokens(["x" * 1000])
    assert taught.lexicon is first
    first.tokens(["x" * (TOKEN_CHARACTERS * MAX_REMEMBERED_TOKENS)])
    assert taught.lexicon is not first


def test_stores_that_share_a_lexicon_do_not_mix(taught, tmp_path):
    message = read(NEW_HAM, taught.lexicon).tokens
    before = score_all(taught, [message])
    with Store(str(tmp_path / "other.db"), create=True) as other:
        assert learn(other, read(NEW_HAM), True) == "learnt"
        assert score_all(other, [message]) != before
        assert score_all(taught, [message]) == before
    assert score_all(taught, []) == []
    with pytest.raises(ValueError, match="one lexicon"):
        score_all(taught, [message, read(NEW_HAM).tokens])


def test_buckets_grow_in_number(store, monkeypatch):
    monkeypatch.setattr("deciban.mail.store.BUCKET_TOKENS", 8)
    pairs = {f"token{number}": (number, 1) for number in range(250)}
    for start in (0, 3, 60, 100):
        with store.writing():
            store.add([], store.rows_of(counted(dict(list(pairs.items())[start:]))))
    with store.writing():
        store.add([Lesson(b"any", True)], b"")
    times = [1 + sum(number >= start for start in (3, 60, 100)) for number in range(250)]
    expected = {
        token: (ham * n, spam * n)
        for n, (token, (ham, spam)) in zip(times, pairs.items(), strict=True)
    }
    assert store.counts([*pairs, "never"]).tokens == expected
    (n,) = store.connection.execute("SELECT count(*) FROM tokens").fetchone()
    assert store.vocabulary() == 250
    assert 32 <= n <= 64  # 2 ** 6 of them, for 8 tokens each


def test_a_store_of_a_row_a_token_is_brought_up_to_date(store):
    learnt(store)
    tokens = {token for raw in HAM + SPAM for token in read(raw).tokens}
    before, counts, verdict = everything(store), store.counts(tokens), score(store, read(NEW_HAM))
    downgrade(store, counts.tokens)
    for _ in range(2):
        with Store(store.path) as opened:
            assert opened.version() == LAYOUT.version
            assert everything(opened) == before
            assert opened.counts(tokens) == counts
            assert score(opened, read(NEW_HAM)) == verdict


def test_a_damaged_store_is_not_brought_up_to_date(store):
    downgrade(store, {"a": (1, -1)})
    with pytest.raises(ModelFileError, match="damaged"):
        Store(store.path)
    assert store.connection.execute("SELECT * FROM tokens").fetchall() == [("a", 1, -1)]


def downgrade(store, pairs):
    """Make the tables of version 1."""
    for statement in (
        "DROP TABLE tokens",
        "DROP TABLE hashing",
        "CREATE TABLE tokens (token TEXT PRIMARY KEY, ham INTEGER, spam INTEGER) WITHOUT ROWID",
        "PRAGMA user_version = 1",
    ):
        store.connection.execute(statement)
    rows = [(token, *pair) for token, pair in pairs.items()]
    store.connection.executemany("INSERT INTO tokens VALUES (?, ?, ?)", rows)


DAMAGES = {
    "a count": lambda rows: rows[:12] + (1 << 31).to_bytes(4, "little") + rows[16:],
    "half a row": lambda rows: rows[:-8],
    "order": lambda rows: rows + rows[:16],
    "another type": lambda rows: "text",
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=list(DAMAGES))
def test_rows_that_nobody_can_have_written_are_not_remembered(taught, damage):
    taught.connection.create_function("damaged", 1, damage)
    taught.connection.execute("UPDATE tokens SET rows = damaged(rows)")
    for _ in range(2):
        with pytest.raises(ModelFileError, match="damaged"):
            judge(taught, NEW_HAM)
        with pytest.raises(ModelFileError, match="damaged"):
            score(taught, read(NEW_HAM))
    with pytest.raises(ModelFileError, match="damaged"):
        unlearn(taught, read(HAM[0]))


def test_buckets_by_more_bits_than_there_are(taught):
    taught.connection.execute("UPDATE hashing SET bits = 70")
    with pytest.raises(ModelFileError, match="buckets by 70 bits"):
        score(taught, read(NEW_HAM))
