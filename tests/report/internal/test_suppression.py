"""Figures of few users."""

import numpy as np

from doppeltrace.report.internal import suppression


def test_users_per_slot_and_place(tiny, monkeypatch):
    users = suppression.users_per_slot_and_place(tiny)
    expected = np.zeros_like(users)
    for _, slot, place in set(zip(tiny.user, tiny.slot, tiny.location, strict=True)):
        expected[slot, place] += 1
    assert users.tolist() == expected.tolist() and users.max() > 1
    monkeypatch.setattr("doppeltrace.utility.summary.CHUNK", 1)
    assert suppression.users_per_slot_and_place(tiny).tolist() == expected.tolist()
    assert suppression.too_few(np.array([0, 1, 4, 5])).tolist() == [False, True, True, False]
    assert suppression.bits(
        np.array([True, False, False, False, False, False, False, False, True])
    ) == ("gIA=")
