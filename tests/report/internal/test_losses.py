"""What is lost, by hand."""

import numpy as np
import pytest

from doppeltrace.report.internal import losses, move_rates


def test_lost_share():
    assert losses.lost_share(0.3, 0.2, 0.6) == pytest.approx(0.25)
    assert losses.lost_share(0.3, 0.6, 0.6) is None
    assert losses.lost_share(np.nan, 0.2, 0.6) is None
    assert losses.lost_share(0.294, 0.292, 0.298) is None  # 2 % of uniform is no gap
    assert losses.lost_share(0.3, 0.285, 0.3) == pytest.approx(1.0)
    words = [losses.verdict(x) for x in (-0.1, 0.25, 0.5, 0.75, 3, None)]
    assert words == ["kept", "kept", "partly lost", "lost", "lost", losses.NO_YARDSTICK]


@pytest.mark.parametrize(
    ("lost", "real", "synthetic", "word"),
    [
        (0.0, 10.0, 12.5, "kept"),
        (0.0, 10.0, 12.6, "partly lost"),
        (0.0, 12.6, 10.0, "partly lost"),
        (0.0, 10.0, 20.0, "lost"),
        (-0.5, 7.57, 3.38, "lost"),
        (0.9, 10.0, 10.0, "lost"),
        (0.9, 10.0, 13.0, "lost"),
        (None, 10.0, 13.0, "partly lost"),
        (None, 10.0, 11.0, losses.NO_YARDSTICK),
        (0.0, 0.0, 0.0, "kept"),
        (0.0, 0.0, 1.0, "lost"),
    ],
)
def test_means_that_disagree_are_not_kept(lost, real, synthetic, word):
    assert losses.verdict(lost, real, synthetic) == word


@pytest.mark.parametrize(
    ("difference", "training", "word"),
    [
        (0.1, 0.0, "kept"),
        (0.11, 0.0, "partly lost"),
        (0.2, 0.1, "lost"),
        (0.1, 0.11, losses.NO_YARDSTICK),
        (None, 0.1, losses.NO_YARDSTICK),
    ],
)
def test_verdict_of_when_people_move(difference, training, word):
    found = move_rates.MoveRates([0.4], [0.3], 0.4, 0.3, difference, training, 0.6)
    assert losses.move_rates_verdict(found) == word
