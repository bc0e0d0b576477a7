"""A file that repeats itself: the copies are dropped on the way, and each is counted."""

import polars as pl
import pytest

from doppeltrace.io import _dedup as _kept
from doppeltrace.io._dedup import EVENT, DedupBuffer
from doppeltrace.io._frames import ROW
from doppeltrace.io.validation import Tally


@pytest.fixture(autouse=True)
def look_early(monkeypatch):
    monkeypatch.setattr(_kept, "FIRST_LOOK", 100)


def block(first_row, n, of):
    """Events first_row … first_row + n − 1 of a file that repeats `of` events of 40 users."""
    number = [i % of for i in range(first_row, first_row + n)]
    frame = pl.DataFrame({"number": number}).with_row_index(ROW, offset=first_row)
    return frame.select(
        ROW,
        user=pl.col("number") % 40,
        place=pl.col("number") % 3,
        moment=pl.col("number").cast(pl.Datetime("us")),
        local=pl.col("number").cast(pl.Datetime("us")),
    )


def test_memory_does_not_grow_with_the_copies():
    tally = Tally("file")
    kept = DedupBuffer(tally)
    for first_row in range(0, 8000, 20):
        kept.add(block(first_row, 20, of=80))
        assert kept.rows <= 3 * 80
    whole = kept.whole()
    assert whole[ROW].head(80).to_list() == list(range(80))  # the first of each
    assert whole.select(EVENT).n_unique() == 80
    (finding,) = tally.dropped
    assert (finding.reason, finding.rows[0]) == ("exact duplicate", 80)
    assert finding.count + len(whole) == 8000


def test_a_file_without_copies_is_left_as_it_is():
    tally = Tally("file")
    kept = DedupBuffer(tally)
    blocks = [block(first_row, 50, of=10_000) for first_row in range(0, 2000, 50)]
    for frame in blocks:
        kept.add(frame)
    assert kept.whole().equals(pl.concat(blocks))
    assert tally.dropped == []
    assert kept.limit > 2000  # and is not looked at again and again
