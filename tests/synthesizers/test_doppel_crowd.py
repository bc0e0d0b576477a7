"""Doppel on the crowd's chain: when it is taken, files, threads, groups, the test, quality."""

import numpy as np
import pytest

import doppeltrace as dt
from doppeltrace.synthesizers import doppel

SETTINGS = {"factors": 4, "iterations": 10, "types": 4, "candidates": 3, "group": 7, "seed": 5}


@pytest.fixture(scope="module")
def city():
    return dt.simulate_city(users=150, places=64, seed=1).traces


@pytest.fixture(scope="module")
def model(city):
    return dt.Doppel(**SETTINGS, population=True).fit(city)


def test_many_users_take_it(city, model, monkeypatch):
    assert dt.Doppel(**SETTINGS).fit(city).persons_ is None
    assert "crowd's chain" not in repr(dt.Doppel(**SETTINGS))
    monkeypatch.setattr(doppel, "ENOUGH_USERS", city.n_users)
    chosen = dt.Doppel(**SETTINGS).fit(city)
    assert chosen.persons_ is not None
    assert "crowd's chain" in repr(chosen)
    drawn = [m.sample(2, seed=1).locations for m in (model, chosen)]
    np.testing.assert_array_equal(*drawn)
    assert dt.Doppel(**SETTINGS, population=False).fit(city).persons_ is None


@pytest.mark.parametrize("change", [{"types": 1}, {"candidates": 1}, {"group": 20}, {"seed": 6}])
def test_settings_change_the_traces(city, model, change):
    other = dt.Doppel(**SETTINGS | change, population=True).fit(city)
    drawn = [m.sample(5, seed=1).locations for m in (model, other)]
    assert not np.array_equal(*drawn)


@pytest.mark.parametrize("wrong", [{"types": 0}, {"candidates": 0}, {"population": "yes"}])
def test_settings_out_of_range(wrong):
    with pytest.raises(dt.SettingsError, match=next(iter(wrong))):
        dt.Doppel(**wrong)


def test_threads_and_files_change_no_bit(city, model, tmp_path):
    path = tmp_path / "model.safetensors"
    model.save(path)
    others = [dt.Doppel(**SETTINGS, population=True, threads=1).fit(city), dt.load(path)]
    synthetic = model.sample(2, seed=1)
    for other in others:
        np.testing.assert_array_equal(other.sample(2, seed=1).locations, synthetic.locations)
        np.testing.assert_array_equal(other.alike, model.alike)
        counts = [dt.deniability_test(m, synthetic, k=9).plausible for m in (model, other)]
        np.testing.assert_array_equal(*counts)
    # what is kept of users, the factors' rows too, is their groups'
    rows = others[1].factors_.A
    np.testing.assert_array_equal(rows, rows[model.alike])


def test_a_user_s_traces_do_not_depend_on_the_others(model):
    whole = model.sample(3, seed=1).locations.reshape(model.n_users, 3, -1)
    some = model.sample(2, users=[4, 90], seed=1).locations.reshape(2, 2, -1)
    np.testing.assert_array_equal(some, whole[[4, 90], :2])


def test_counts_are_those_of_all_users(model):
    synthetic = model.sample(1, seed=1)
    found = dt.deniability_test(model, synthetic, k=9, eta=2.0)
    values = model.log_likelihood(synthetic.locations, np.arange(model.n_users))
    users = np.arange(model.n_users)
    np.testing.assert_allclose(
        model.likelihood().own(synthetic), values[users, synthetic.owner], rtol=1e-12
    )
    bins = np.floor(-values / 2.0)
    expected = (bins == bins[users, synthetic.owner][:, None]).sum(axis=1)
    np.testing.assert_array_equal(found.plausible, expected)
    assert 7 <= expected.min() < expected.max()


def test_deniable_by_construction(model):
    sizes = np.bincount(model.alike)
    assert sizes[sizes > 0].min() >= 7
    synthetic = model.sample(2, length=20, seed=1)  # shorter than the clock's day
    assert synthetic.locations.shape[1] == 20
    found = dt.deniability_test(model, synthetic, k=7, eta=1e-9)
    assert found.pass_rate == 1.0
    assert found.guarantee.by_construction
    values = model.log_likelihood(synthetic.locations[:20], np.arange(model.n_users))
    assert np.all(np.isfinite(values))
    np.testing.assert_array_equal(values, values[:, model.alike])


def test_people_flow(people_flow):
    """Days like the users' days, at the factors' population."""
    train, test = people_flow.train, people_flow.test
    model = dt.Doppel(population=True, seed=0).fit(train)
    synthetic = model.sample(10, seed=1)
    score = dt.evaluate(train=train, test=test, synthetic=synthetic)
    assert score["tp_tv"] <= 0.425
    assert score["vf_tv"] <= 0.45
    assert score["gyration_emd"] <= 0.2
    assert score["places_per_day_emd"] <= 1.5
    assert score["straight_back"] <= 0.12
    error = np.sqrt(0.015 * 0.985 / len(synthetic))
    assert score["reidentification_rate"] <= 0.015 + 2 * error
    assert dt.deniability_test(model, synthetic, k=10).pass_rate == 1.0
