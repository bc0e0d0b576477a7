"""LiRA on made-up statistics whose AUC is known."""

import json

import numpy as np
import pytest
from scipy.stats import norm

from doppeltrace.audit.lira import advantage, auc, lira, log_ratios, rates


def _made_up(rng, shift, runs=64, users=400, n=3):
    member = rng.random((runs, users)) < 0.5
    scores = rng.standard_normal((runs, users, n)) * 2.0 + rng.standard_normal((1, users, n)) * 9
    scores[:, :, 0] += 2.0 * shift * member
    return scores.astype(np.float32), member


@pytest.mark.parametrize("shift", [0.3, 0.7, 2.0])
def test_finds_the_auc_of_a_common_shift(rng, shift):
    found = lira(*_made_up(rng, shift), seed=1)
    ideal = norm.cdf(shift / np.sqrt(2))
    assert found.auc == pytest.approx(ideal, abs=0.015)
    assert found.auc_low < found.auc < found.auc_high
    assert found.advantage == pytest.approx(2 * norm.cdf(shift / 2) - 1, abs=0.02)
    at_1_percent = norm.sf(norm.isf(0.01) - shift)
    assert found.tpr_at_1_percent == pytest.approx(at_1_percent, rel=0.25, abs=0.005)
    assert found.exceeds_null


@pytest.mark.parametrize("runs", [16, 64])
def test_without_a_leak_it_is_at_its_null_and_the_null_at_one_half(rng, runs):
    found = lira(*_made_up(rng, 0.0, runs=runs), seed=1)
    assert found.auc == pytest.approx(0.5, abs=0.02)
    assert found.null_auc == pytest.approx(0.5, abs=0.02)
    assert found.worst20_auc == pytest.approx(0.5, abs=0.12)
    assert not found.exceeds_null


def test_a_leak_of_few_users_shows_among_the_most_exposed(rng):
    scores, member = _made_up(rng, 0.0)
    scores[:, :20] += 6.0 * member[:, :20, None]
    found = lira(scores, member, seed=1)
    assert found.worst20_auc > 0.95
    assert found.null_worst20_auc < 0.65


def test_what_all_candidates_share_tells_nothing(rng):
    scores, member = _made_up(rng, 0.0)
    scores += rng.standard_normal((64, 1, 1)).astype(np.float32) * 100
    assert lira(scores, member, seed=1).auc == pytest.approx(0.5, abs=0.02)


def test_a_user_who_is_always_in_is_left_out(rng):
    scores, member = _made_up(rng, 1.0, runs=8, users=50)
    member[:, 0] = True
    assert np.all(log_ratios(scores.astype(float), member)[:, 0] == 0)


def test_rates_by_hand():
    inside, outside = np.array([0.5, 2.5, 2.5, 4.0]), np.array([0.0, 1.0, 2.0, 3.0])
    assert auc(inside, outside) == pytest.approx((1 + 3 + 3 + 4) / 16)
    assert rates(inside, outside, np.array([0.0, 0.25, 0.5, 1.0])).tolist() == [
        0.25,
        0.75,
        0.75,
        1,
    ]
    assert advantage(inside, outside) == pytest.approx(0.5)


def test_same_seed_same_figures_and_plain_json(rng):
    made = _made_up(rng, 0.5, runs=16)
    one, two = lira(*made, seed=3), lira(*made, seed=3)
    assert one == two
    told = json.loads(json.dumps(one.to_dict(), allow_nan=False))
    assert set(told["curve"]) == {"fpr", "tpr", "null_tpr"}
    assert np.all(np.diff(told["curve"]["tpr"]) >= 0) and told["curve"]["tpr"][-1] == 1.0
