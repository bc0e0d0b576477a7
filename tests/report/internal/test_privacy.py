"""Pass rates and traces that stay put, by hand."""

import numpy as np

from doppeltrace import SyntheticTraces
from doppeltrace.report.internal import privacy


def test_pass_rates():
    assert privacy.pass_rates(None, 10) == [] and privacy.pass_rates(np.zeros(0, int), 10) == []
    plausible = np.array([1, 2, 2, 7])
    assert privacy.pass_rates(plausible, 6) == [
        (1, 1.0), (2, 0.75), (3, 0.25), (4, 0.25), (5, 0.25), (6, 0.25),
    ]  # fmt: skip
    many = privacy.pass_rates(plausible, 100_000)
    assert many[-1][1] == 0 and many[-2][1] > 0 and len(many) < 60
    assert privacy.pass_rates(plausible, 0) == []


def test_still_share(tiny):
    made = SyntheticTraces(
        [[1, 1, 1], [1, -1, 1], [1, 2, 1], [-1, 2, 2]], [0] * 4, [0] * 4, tiny.places, tiny.clock
    )
    assert privacy.still_share(made) == 0.75
    assert privacy.still_share(made.select(np.zeros(0, dtype=int))) == 0
