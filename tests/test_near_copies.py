"""Near copies among texts: found at any size, never by the order of the texts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban.text.near_copies import group_near_copies


def groups(texts: list[np.ndarray]) -> np.ndarray:
    tokens = np.concatenate([np.asarray(text, dtype=np.uint64) for text in texts])
    return group_near_copies(tokens, np.cumsum([0, *map(len, texts)]))


def campaign(n: int, changed: float) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Texts of many sizes, and a copy of each with a share of its tokens changed."""
    random = np.random.default_rng(7)
    texts = [random.integers(0, 2**63, 30 + 5 * i, dtype=np.uint64) for i in range(n)]
    copies = []
    for text in texts:
        new = random.integers(0, 2**63, len(text), dtype=np.uint64)
        copies.append(np.where(np.arange(len(text)) < changed * len(text), new, text))
    return texts, copies


@pytest.mark.parametrize("changed", [0.0, 0.05, 0.15])
def test_copies_with_few_changes_are_one_group(changed: float) -> None:
    texts, copies = campaign(40, changed)
    assert groups(texts + copies).tolist() == [*range(40), *range(40)]


def test_texts_that_share_little_are_apart() -> None:
    texts, copies = campaign(40, 0.6)  # similarity 0.25
    assert groups(texts + copies).tolist() == list(range(80))


def test_groups_are_numbered_by_their_first_texts_and_order_does_not_matter() -> None:
    texts, copies = campaign(30, 0.24)  # similarity 0.61: some are taken for copies, some not
    every = texts + copies
    straight = groups(every)
    order = np.random.default_rng(3).permutation(len(every))
    shuffled = groups([every[i] for i in order])
    assert len(set(straight)) not in (30, 60)
    same = straight[order][:, None] == straight[order][None, :]
    assert (same == (shuffled[:, None] == shuffled[None, :])).all()


@given(st.lists(st.lists(st.integers(0, 40), max_size=6), min_size=1, max_size=12))
def test_equal_sets_of_tokens_are_one_group_whatever_their_order(texts: list[list[int]]) -> None:
    arrays = [np.array(text, dtype=np.uint64) for text in texts]
    group = groups(arrays + [array[::-1] for array in arrays])
    n = len(texts)
    assert (group[:n] == group[n:]).all()
    assert (np.diff(np.unique(group)) == 1).all()
    for i in range(n):
        for j in range(i):
            if not set(texts[i]) & set(texts[j]) and (texts[i] or texts[j]):
                assert group[i] != group[j] or _linked(texts, i, j)


def _linked(texts: list[list[int]], i: int, j: int) -> bool:
    """Whether a chain of texts with common tokens leads from one to the other."""
    reached, waiting = {i}, [i]
    while waiting:
        at = waiting.pop()
        for k, text in enumerate(texts):
            if k not in reached and set(text) & set(texts[at]):
                reached.add(k)
                waiting.append(k)
    return j in reached
