"""Accounting against dp-accounting, and books that cannot be overdrawn."""

import math

import numpy as np
import pytest
from dp_accounting import dp_event, rdp

from doppeltrace.crowd.ledger import GRID, Ledger, delta_of, rho_of
from doppeltrace.crowd.noise import NoNoise
from doppeltrace.errors import SettingsError

ORDERS = 1 + np.geomspace(1e-3, 1e4, 6000)


class Recorder:
    """Keeps the scales it was asked for and adds nothing."""

    def __init__(self):
        self.scales = []

    def add(self, value, scale):
        self.scales.append(scale)
        return value.copy()


@pytest.mark.parametrize("delta", [1e-5, 1e-6, 1e-9])
@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0, 2.0, 4.0, 8.0, 32.0])
def test_rho_agrees_with_dp_accounting(epsilon, delta):
    accountant = rdp.RdpAccountant(orders=ORDERS)
    accountant.compose(dp_event.ZCDpEvent(rho_of(epsilon, delta)))
    assert accountant.get_epsilon(delta) == pytest.approx(epsilon, abs=1e-3)


def test_delta_never_exceeds_what_was_asked_for():
    for epsilon in (0.1, 1.0, 8.0):
        rho = rho_of(epsilon, 1e-6)
        assert delta_of(rho, epsilon) <= 1e-6
        assert delta_of(rho * 1.001, epsilon) > 1e-6  # and nothing is given away


def test_shares_add_up_to_the_whole_budget():
    """Composed as Gaussian mechanisms, all entries together are ρ-zCDP."""
    rho, noise = 0.3, Recorder()
    ledger = Ledger(rho, noise)
    bounds = [1.0, 2.5, 7.0]
    for bound, share in zip(bounds, (0.2, 0.3, 0.5), strict=True):
        _, sigma = ledger.release("table", np.zeros(3, np.int64), bound, share)
        assert noise.scales[-1] == pytest.approx(sigma * GRID)
    composed = sum((b / e.sigma) ** 2 / 2 for b, e in zip(bounds, ledger.entries, strict=True))
    assert composed == pytest.approx(rho)
    with pytest.raises(RuntimeError, match="no share"):
        ledger.release("one more", np.zeros(1, np.int64), 1.0, 0.01)


def test_no_noise_without_a_budget():
    value, sigma = Ledger(math.inf, NoNoise()).release("t", np.array([3 * GRID]), 1.0, 0.5)
    assert value.tolist() == [3.0] and sigma == 0.0


@pytest.mark.parametrize("wrong", [(0.0, 1e-6), (1.0, 0.0), (1.0, 1.0)])
def test_budgets_out_of_range(wrong):
    with pytest.raises(SettingsError):
        rho_of(*wrong)
