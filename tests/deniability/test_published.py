"""The published factors and traces as oracles: all 5,000 traces of the paper's PF data."""

import numpy as np
import polars as pl
import pytest

import doppeltrace as dt

VERIFIERS = np.arange(499)  # the published program leaves out the last user


@pytest.fixture(scope="module")
def published(people_flow_folder, people_flow):
    """The model of the published factors, its traces, and their full log-likelihoods."""
    reference = people_flow_folder / "reference"
    theta = (np.loadtxt(reference / "theta" / f"{m}.csv", delimiter=",") for m in "ABCD")
    model = dt.PPMTF.from_factors(*theta, like=people_flow.train)
    synthetic = dt.read_synthetic(reference / "ppmtf_alpha200.csv.gz")
    values = model.log_likelihood(synthetic.locations, np.arange(people_flow.train.n_users))
    return model, synthetic, values


def _brute_force(values, owner):
    """Return k′ at η = 1 from the log-likelihoods (traces, users) under all users."""
    bins = np.floor(-values)
    own = bins[np.arange(len(owner)), owner]
    same = bins[:, VERIFIERS] == own[:, None]
    same &= VERIFIERS[None, :] != owner[:, None]
    return 1 + same.sum(axis=1)


def test_log_likelihoods_are_the_published_ones(published, people_flow_folder):
    model, synthetic, values = published
    table = pl.read_csv(people_flow_folder / "reference" / "ppmtf_alpha200.csv.gz")
    last = table.group_by("user", "trace_no", maintain_order=True).last()
    assert len(last) == len(synthetic) == 5000
    np.testing.assert_array_equal(last["user"], synthetic.owner)
    own = model.likelihood().own(synthetic)
    np.testing.assert_allclose(own, last["loglikeli"], rtol=0, atol=1e-5)
    np.testing.assert_allclose(own, values[np.arange(5000), synthetic.owner], rtol=1e-12)


def test_counts_are_the_published_ones_and_those_of_brute_force(published, people_flow_folder):
    model, synthetic, values = published
    found = dt.deniability_test(model, synthetic, k=10, eta=1.0, verifiers=VERIFIERS)

    expected = _brute_force(values, synthetic.owner)
    np.testing.assert_array_equal(found.plausible, expected)

    reference = pl.read_csv(people_flow_folder / "reference" / "plausible_counts.csv")
    np.testing.assert_array_equal(found.plausible, reference["plausible"])
    assert found.pass_rate == pytest.approx(0.2108)


def test_stopping_at_k_passes_the_same_traces(published):
    model, synthetic, values = published
    some = np.arange(0, len(synthetic), 10)
    stopped = dt.deniability_test(
        model, synthetic.select(some), k=10, eta=1.0, verifiers=VERIFIERS, count_all=False
    )
    expected = _brute_force(values[some], synthetic.owner[some])
    np.testing.assert_array_equal(stopped.passed, expected >= 10)
