"""Which places the page shows."""

import numpy as np

from doppeltrace.report.internal.population import choose_places


def test_places_that_others_speak_of_are_shown():
    real = np.zeros((500, 900), dtype=np.int64)
    real[:, 10] = 5
    shown, on_map = choose_places(real, real, {899})
    assert on_map == 800 and len(shown) == 801 and shown[0] == 10 and shown[-1] == 899
    assert choose_places(real[:1], real[:1], set())[1] == 900
    assert choose_places(np.repeat(real, 40, axis=0), real, set())[1] == 50
