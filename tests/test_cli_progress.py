"""The bar: only on a terminal, only when it takes long; and the sample that quality needs."""

import io
import sys

from hypothesis import given
from hypothesis import strategies as st

from deciban import sources
from deciban.cli.progress import Progress
from deciban.sources.spaced_rows import SpacedRows


class Terminal(io.StringIO):
    def isatty(self):
        return True


def shown(monkeypatch, stream, patience, **options):
    """What a stream is shown by a run that takes longer than a patience of no seconds."""
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr("deciban.progress.DELAY_SECONDS", patience)
    with Progress("counting", **options) as progress:
        if patience == 0 and progress._timer.ident is not None:
            progress._timer.join()
        for _ in range(3):
            progress.add(1000)
        refresh(progress)
        progress.start("calibrating")
        progress.add(500)
        refresh(progress)
    assert progress.rows == 500
    return stream.getvalue()


def refresh(progress):
    """Draw the bar now; by itself it is drawn ten times a second."""
    if progress._bar is not None:
        progress._bar.bar.refresh()


def test_a_terminal_sees_rows_and_their_rate(monkeypatch):
    said = shown(monkeypatch, Terminal(), 0)
    assert "counting" in said
    assert "3,000 rows" in said
    assert "rows/s" in said
    assert "calibrating" in said


def test_nothing_is_shown_otherwise(monkeypatch):
    assert shown(monkeypatch, Terminal(), 3600) == ""
    assert shown(monkeypatch, io.StringIO(), 0) == ""
    assert shown(monkeypatch, Terminal(), 0, quiet=True) == ""


@given(st.integers(1, 20), st.lists(st.integers(1, 30), min_size=1, max_size=8))
def test_a_sample_is_evenly_spaced_whatever_the_batches(most, sizes):
    sample, start = SpacedRows(most), 0
    for size in sizes:
        for batch in sources.batches({"x": list(range(start, start + size))}):
            sample.add(batch)
        start += size
    kept = [row["x"] for batch in sample.batches for row in batch.tolist()]
    assert kept == list(range(0, start, sample.stride))
    assert len(kept) <= most
    assert sample.stride == 1 or 2 * len(kept) + 1 >= most
