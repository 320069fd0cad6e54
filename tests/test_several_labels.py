"""Texts that are there once for each of their labels: their rows are left out together."""

from __future__ import annotations

import numpy as np
import pytest

from deciban import NaiveBayes
from deciban.naive_bayes.near_copies import SEVERAL_LABELS_SHARE, with_labels_together
from deciban.sources.labelled import labelled_scan
from deciban.sources.row_sample import RowSample

TOPICS = ["heart", "liver", "brain", "bone"]


def texts_of_topics(n: int) -> tuple[list[str], list[str]]:
    """Short texts, all of them different, with a word of their topic in most, and the topics."""
    random = np.random.default_rng(5)
    topics = random.choice(TOPICS, n)
    texts = []
    for i, topic in enumerate(topics):
        word = topic if random.random() < 0.8 else str(random.choice(TOPICS))
        words = random.integers(0, 300, 12)
        texts.append(f"{word} text{i} " + " ".join(f"w{w}" for w in words))
    return texts, topics.tolist()


def with_second_labels(n: int, n_twice: int) -> tuple[list[str], list[str]]:
    """Texts of which the first are there again, with another label."""
    texts, topics = texts_of_topics(n)
    others = [TOPICS[(TOPICS.index(topic) + 1) % len(TOPICS)] for topic in topics[:n_twice]]
    return texts + texts[:n_twice], topics + others


def sample_of(texts: list[str], y: list[str], max_rows: int = 20_000) -> RowSample:
    rows, sample = labelled_scan({"text": texts}, y, kinds={"text": "text"}), RowSample(max_rows)
    for batch in rows.labelled_batches():
        sample.add(batch)
    return sample


def test_rows_of_a_text_with_several_labels_are_left_out_as_groups_are() -> None:
    texts, y = with_second_labels(300, 250)
    model, grouped = NaiveBayes().fit(texts, y), NaiveBayes().fit(texts, y, groups=texts)
    assert model.model_.text_choices == grouped.model_.text_choices
    assert model.model_.discount == grouped.model_.discount
    again = NaiveBayes(calibrate=False).fit(texts, y).recalibrate(texts, y)
    assert again.model_.discount == grouped.model_.discount
    assert model.evaluate().log_loss == pytest.approx(grouped.evaluate().log_loss, rel=1e-9)


@pytest.mark.parametrize("n_twice", [0, 10, 25])
def test_a_few_such_texts_change_nothing(n_twice: int) -> None:
    texts, y = with_second_labels(300, n_twice)
    model, sample = NaiveBayes().fit(texts, y).model_, sample_of(texts, y)
    together = with_labels_together(model, sample)
    assert (together is sample) == (2 * n_twice / len(texts) < SEVERAL_LABELS_SHARE)


def test_copies_with_one_label_are_rows_of_their_own() -> None:
    texts, y = texts_of_topics(300)
    model, sample = NaiveBayes().fit(texts * 2, y * 2).model_, sample_of(texts * 2, y * 2)
    assert with_labels_together(model, sample) is sample


def test_a_sample_that_is_not_the_whole_table_stays_as_it_is() -> None:
    texts, y = with_second_labels(300, 250)
    model = NaiveBayes().fit(texts, y).model_
    sample = sample_of(texts, y, max_rows=400)
    assert with_labels_together(model, sample) is sample
