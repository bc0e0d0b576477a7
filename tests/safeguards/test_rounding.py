"""Public numbers: coarse enough that one more person seldom shows."""

import pytest

from doppeltrace.safeguards.rounding import rounded_count, rounded_share


@pytest.mark.parametrize(
    ("count", "words"),
    [
        (0, "fewer than 10"),
        (9, "fewer than 10"),
        (10, "about 10"),
        (14, "about 10"),
        (99, "about 100"),
        (862, "about 860"),
        (60_183, "about 60,000"),
        (1_234_567, "about 1,200,000"),
    ],
)
def test_rounded_count(count, words):
    assert rounded_count(count) == words


@pytest.mark.parametrize(
    ("share", "words"),
    [
        (0.0, "less than 5 %"),
        (0.043, "less than 5 %"),
        (0.495, "about 50 %"),
        (1, "more than 95 %"),
    ],
)
def test_rounded_share(share, words):
    assert rounded_share(share) == words
