"""The engine of threads: the same results whatever the threads and chunks."""

import os
import subprocess
import sys
from threading import Event

import numpy as np
import pytest

from deciban import threads
from deciban.errors import ParameterError
from deciban.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB

rng = np.random.default_rng(0)
X = rng.integers(0, 3, (500, 6)).astype(float)
Y = rng.integers(0, 4, 500)
WEIGHT = rng.random(500)
MODELS = [BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB]


def results(model, weight):
    m = model().fit(X, Y, sample_weight=weight)
    return m.counts_, m.predict_proba(X)


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["counted", "weighted"])
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("n_threads", ["1", "2", "5"])
@pytest.mark.parametrize("chunk", [1, 50, 10**6])
def test_results_do_not_depend_on_threads_or_chunks(model, weight, n_threads, chunk, monkeypatch):
    monkeypatch.setenv("DECIBAN_THREADS", "1")
    counts, proba = results(model, weight)
    monkeypatch.setenv("DECIBAN_THREADS", n_threads)
    monkeypatch.setattr(threads, "COUNT_CHUNK_VALUES", chunk)
    monkeypatch.setattr(threads, "SCORE_CHUNK_VALUES", chunk)
    found, again = results(model, weight)
    assert found == counts
    np.testing.assert_allclose(again, proba, rtol=1e-12)
    if model is GaussianNB:
        assert np.array_equal(again, proba)


@pytest.mark.parametrize("bad", ["0", "-1", "two", "1.5", "²"])
def test_a_bad_number_of_threads(bad, monkeypatch):
    monkeypatch.setenv("DECIBAN_THREADS", bad)
    with pytest.raises(ParameterError, match=r"whole number >= 1, got .* Hint: unset it"):
        threads.n_threads()


def test_all_cores_by_default(monkeypatch):
    monkeypatch.delenv("DECIBAN_THREADS", raising=False)
    assert threads.n_threads() >= 1
    monkeypatch.setenv("DECIBAN_THREADS", " 3 ")
    assert threads.n_threads() == 3


def test_chunks_cover_every_row_once():
    for n_rows, rows in ((0, 5), (1, 5), (10, 5), (11, 5), (3, 0), (3, 10**9)):
        covered = [i for part in threads.chunks(n_rows, rows) for i in range(n_rows)[part]]
        assert covered == list(range(n_rows))


def test_an_error_in_one_chunk_is_raised(monkeypatch):
    monkeypatch.setenv("DECIBAN_THREADS", "2")

    def work(part):
        if part.start == 3:
            raise KeyError("row 3")
        return part.start

    with pytest.raises(KeyError, match="row 3"):
        list(threads.run(work, threads.chunks(6, 1)))
    assert list(threads.run(lambda part: part.start, threads.chunks(6, 2))) == [0, 2, 4]


def test_work_within_work_ends():
    def outer(n):
        return sum(threads.run(lambda part: part.stop - part.start, threads.chunks(n, 3)))

    assert list(threads.run(outer, range(20, 40))) == list(range(20, 40))


def test_threads_that_are_busy_are_not_waited_for(monkeypatch):
    monkeypatch.setenv("DECIBAN_THREADS", "2")
    ended, called = Event(), []

    def occupy(n):
        assert ended.wait(60)
        return n

    def lead(_):
        with threads.helped(lambda: called.append("help"), lambda: called.append("dismiss")):
            pass
        ended.set()
        return "led"

    results = threads.run(lambda work: work(1), [lead, occupy, occupy], ahead=3)
    assert list(results) == ["led", 1, 1]
    assert "dismiss" in called


def test_threads_that_are_free_help(monkeypatch):
    monkeypatch.setenv("DECIBAN_THREADS", "2")
    came, dismissed = Event(), Event()

    def help_out():
        came.set()
        assert dismissed.wait(60)

    with threads.helped(help_out, dismissed.set):
        assert came.wait(60)


def test_what_is_not_asked_for_is_not_waited_for_later():
    done = []
    results = threads.run(lambda n: done.append(n) or n, range(100))
    assert next(results) == 0
    results.close()
    n_done = len(done)
    assert n_done < 100
    assert list(threads.run(lambda n: n, range(5))) == [0, 1, 2, 3, 4]
    assert len(done) == n_done


def test_an_error_comes_to_the_caller_and_threads_stay():
    def fail(n):
        if n == 3:
            raise ValueError("three")
        return n

    with pytest.raises(ValueError, match="three"):
        list(threads.run(fail, range(10)))
    assert list(threads.run(fail, range(3))) == [0, 1, 2]


FORK = """
import os
from deciban import threads
work = lambda: list(threads.run(lambda n: n, range(9)))
assert work() == list(range(9))
child = os.fork()
if not child:
    os._exit(work() != list(range(9)))
assert os.waitpid(child, 0)[1] == 0
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_fork_has_threads_of_its_own():
    subprocess.run([sys.executable, "-W", "ignore", "-c", FORK], check=True)
