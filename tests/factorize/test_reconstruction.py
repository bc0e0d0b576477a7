"""Reconstruction errors against sums over every element of a dense tensor."""

import numpy as np
import pytest

import doppeltrace as dt
from doppeltrace import tensors
from doppeltrace.factorize import reconstruction
from doppeltrace.factorize.reconstruction import reconstruction_errors
from doppeltrace.factorize.state import Factors, Observations

SMALL = {"factors": 3, "iterations": 5, "trim": 2, "zeros": 4, "max_count": 1, "seed": 5}


def _dense(tensor, missing):
    """Return the tensor as a full array; elements that are not stored become `missing`."""
    full = np.full(tensor.shape, missing, dtype=int)
    user = np.repeat(np.arange(tensor.shape[0]), np.diff(tensor.offsets))
    full[user, tensor.row, tensor.column] = tensor.count
    return full


def _brute_force(a, b, last, counts, observed):
    """Return (observed, unobserved) sums over all elements, and how many there are."""
    estimate = np.einsum("nk,ik,jk->nij", a, b, last)
    seen = _dense(observed, missing=-1)
    missing_zero = (seen < 0) & (_dense(counts, missing=0) == 0)
    return (
        np.abs(estimate - seen)[seen >= 0].sum(),
        np.abs(estimate)[missing_zero].sum(),
        (seen >= 0).sum(),
        missing_zero.sum(),
    )


def _check(errors, expected):
    observed, unobserved, n_observed, n_unobserved = expected
    assert errors.observed == pytest.approx(observed, rel=1e-12)
    assert errors.unobserved == pytest.approx(unobserved, rel=1e-12)
    assert errors.unobserved_se == 0
    assert (errors.n_observed, errors.n_unobserved) == (n_observed, n_unobserved)


@pytest.mark.parametrize("kind", [dt.PPMTF, dt.ITF])
@pytest.mark.parametrize("holdout", [0.0, 0.5])
def test_all_elements_of_a_tiny_model(tiny, kind, holdout, monkeypatch):
    monkeypatch.setattr(reconstruction, "CHUNK", 4)
    model = kind(holdout=holdout, **SMALL).fit(tiny)
    visit_factors = model.visit_factors_ if kind is dt.ITF else model.factors_
    observed, _ = model._hold_out(model._observe(tiny))
    counts = (tensors.transition_tensor(tiny), tensors.visit_tensor(tiny))
    # trimming and cutting did something, or the cases below would not be told apart
    assert max(counts[1].count) > 1
    assert np.diff(counts[1].offsets).max() > 2
    found = model.reconstruction_errors()
    theta = model.factors_
    expected = _brute_force(theta.A, theta.B, theta.C, counts[0], observed.transitions)
    _check(found.transitions, expected)
    theta = visit_factors
    expected = _brute_force(theta.A, theta.B, theta.D, counts[1], observed.visits)
    _check(found.visits, expected)


def test_by_hand():
    """One user, one factor, 2 × 3 cells: r̂ = 2, 4, 6 in the first row, −1, −2, −3 below."""
    theta = Factors(
        np.array([[1.0]]), np.array([[2.0], [-1.0]]), np.array([[1.0], [2.0], [3.0]]),
        np.array([[1.0], [2.0], [3.0]]),
    )  # fmt: skip

    def tensor(cells, count):
        cells = np.array(cells)
        offsets, index = np.array([0, len(cells)]), (cells // 3, cells % 3)
        row, column = (i.astype(np.uint16) for i in index)
        return tensors.SparseTensor((1, 2, 3), offsets, row, column, np.array(count, np.uint8))

    counts = tensor([0, 1, 5], [1, 7, 2])  # 5 was trimmed away, 1 cut at 5, 3 is a seen zero
    seen = tensor([0, 1, 3], [1, 5, 0])
    both = (Observations(counts, counts), Observations(seen, seen))
    found = reconstruction_errors(theta, theta, *both, seed=0)
    for part in (found.transitions, found.visits):
        assert part.observed == pytest.approx(abs(1 - 2) + abs(5 - 4) + abs(0 + 1))
        assert part.unobserved == pytest.approx(6 + 2)
        assert part.unobserved_median == pytest.approx(4)
        assert (part.n_observed, part.n_unobserved) == (3, 2)


def test_sampled_errors_estimate_all_of_them():
    """Means over many samples lie within four of their own standard errors of the truth."""
    train = dt.simulate_city(users=60, places=30, seed=1).traces
    model = dt.PPMTF(factors=4, iterations=3, zeros=20, seed=2).fit(train)
    exact = model.reconstruction_errors(unobserved_per_user=10_000)
    samples = [model.reconstruction_errors(unobserved_per_user=40, seed=s) for s in range(60)]
    for part in ("transitions", "visits"):
        truth = getattr(exact, part)
        estimates = np.array([getattr(s, part).unobserved for s in samples])
        said = np.array([getattr(s, part).unobserved_se for s in samples])
        assert truth.unobserved_se == 0 < said.min()
        assert abs(estimates.mean() - truth.unobserved) < 4 * said.mean() / np.sqrt(60)
        # a standard deviation of 60 values is known to 9 %
        assert estimates.std(ddof=1) == pytest.approx(said.mean(), rel=0.4)
        assert {getattr(s, part).observed for s in samples} == {truth.observed}


def test_nothing_is_left_unobserved(tiny):
    found = dt.PPMTF(**SMALL | {"zeros": 100}).fit(tiny).reconstruction_errors()
    for part in (found.transitions, found.visits):
        assert (part.n_unobserved, part.unobserved, part.unobserved_se) == (0, 0, 0)
        assert np.isnan(part.unobserved_median)


def test_the_sample_has_its_seed(tiny):
    model = dt.PPMTF(**SMALL).fit(tiny)
    first, again, other = (
        model.reconstruction_errors(unobserved_per_user=3, seed=s) for s in (0, 0, 1)
    )
    assert first == again
    assert first.transitions.unobserved != other.transitions.unobserved


def test_before_fit_and_without_a_sample(tiny):
    with pytest.raises(dt.NotFittedError):
        dt.ITF(**SMALL).reconstruction_errors()
    with pytest.raises(dt.SettingsError, match="at least 1"):
        dt.PPMTF(**SMALL).fit(tiny).reconstruction_errors(unobserved_per_user=0)
