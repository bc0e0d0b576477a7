import pytest

import doppeltrace as dt
from doppeltrace.accounting import Trimming, largest_alpha, location_epsilon, trace_epsilon


def test_paper_figures_at_the_defaults():
    assert trace_epsilon(1.0) == pytest.approx(60_000)
    assert trace_epsilon(0.4) == pytest.approx(24_000)
    assert location_epsilon(0.4) == pytest.approx(45.6)


def test_few_zeros_bound_the_changed_elements():
    # min{3λ, λ + ρ}: 100 + 50 with ρ = 50, and 3 · 100 with ρ = 1000
    few = Trimming(positives=100, zeros=50, max_count=2)
    many = Trimming(positives=100, zeros=1000, max_count=3)
    epsilon = trace_epsilon(2.0, transitions=few, visits=many, kappa=0.5)
    assert epsilon == pytest.approx(2.0 * (150 * 2.5**2 + 300 * 3.5**2))


def test_transitions_weigh_twice_as_much_as_visits_for_one_location():
    # four transition counts and two visit counts change: 8 r_max^I + 4 r_max^II + 12κ − 6
    epsilon = location_epsilon(
        1.0, transitions=Trimming(max_count=5), visits=Trimming(max_count=20), kappa=0.25
    )
    assert epsilon == pytest.approx(8 * 5 + 4 * 20 + 12 * 0.25 - 6)


@pytest.mark.parametrize(
    "neighbours, cost", [("trace", trace_epsilon), ("location", location_epsilon)]
)
def test_largest_alpha_spends_the_wished_epsilon(neighbours, cost):
    settings = {"transitions": Trimming(max_count=4), "visits": Trimming(zeros=7), "kappa": 1.0}
    alpha = largest_alpha(3.0, neighbours=neighbours, **settings)
    assert cost(alpha, **settings) == pytest.approx(3.0)


@pytest.mark.parametrize(
    "call",
    [
        lambda: trace_epsilon(0.0),
        lambda: location_epsilon(1.0, kappa=-1.0),
        lambda: largest_alpha(0.0),
        lambda: largest_alpha(1.0, neighbours="user"),
        lambda: Trimming(positives=-1),
        lambda: Trimming(max_count=0),
    ],
)
def test_settings_out_of_range_are_refused(call):
    with pytest.raises(dt.SettingsError):
        call()
