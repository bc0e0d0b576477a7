"""Crowd as users meet it: its guarantee, its file, its noise, its limits."""

import gc
import math
import weakref

import numpy as np
import pytest
from safetensors.numpy import load_file
from scipy.optimize import brentq
from scipy.stats import norm

import doppeltrace as dt
from doppeltrace.crowd import statistics
from doppeltrace.crowd.ledger import rho_of
from doppeltrace.crowd.outlook import noise_to_count
from doppeltrace.crowd.public import PublicInputs
from doppeltrace.synthesizers import MODELS
from doppeltrace.synthesizers.model_file import fingerprint
from doppeltrace.utility import Summary, compare

PRIVATE = ("crowd", "dp-independent", "dp-markov", "dp-ngram")


class Still:
    """A source of no noise that counts what it is asked for; for tests only."""

    def __init__(self):
        self.asked = []

    def add(self, value, scale):
        self.asked.append((value.size, scale))
        return value.copy()


@pytest.fixture(scope="module")
def city():
    return dt.simulate_city(users=300, places=36, seed=3).traces


@pytest.fixture(scope="module")
def fitted(city):
    return dt.Crowd(epsilon=2.0, candidates=4, seed=0).fit(city)


def _quick(name, **settings):
    quick = {"candidates": 1, "types": 4} if name == "crowd" else {}
    return MODELS[name](**{"seed": 1, **quick, **settings})


def _with_noise(model, noise):
    model._noise = noise
    return model


@pytest.mark.parametrize("name", PRIVATE)
def test_two_fits_with_one_seed_differ_by_their_noise(name, city):
    one, two = (_quick(name).fit(city).sample(n_traces=50, seed=1) for _ in range(2))
    assert not np.array_equal(one.locations, two.locations)


def test_all_else_comes_from_the_seed(city):
    one, two = (_with_noise(_quick("crowd"), Still()).fit(city) for _ in range(2))
    np.testing.assert_array_equal(
        one.sample(n_traces=50, seed=1).locations, two.sample(n_traces=50, seed=1).locations
    )


def test_threads_change_nothing(city):
    """Also where days are fitted."""
    one, two = (dt.Crowd(epsilon=None, candidates=3, seed=1, threads=n).fit(city) for n in (1, 2))
    np.testing.assert_array_equal(
        one.sample(n_traces=99, seed=1).locations, two.sample(n_traces=99, seed=1).locations
    )


@pytest.mark.parametrize("name", PRIVATE)
def test_every_number_has_its_noise_and_the_budget_is_spent_once(name, city):
    noise = Still()
    model = _with_noise(_quick(name, epsilon=0.7, delta=1e-5), noise).fit(city)
    entries = model.ledger_
    assert [size for size, _ in noise.asked] == [entry.cells for entry in entries]
    rho = sum((entry.sensitivity / entry.sigma) ** 2 / 2 for entry in entries)
    assert rho <= rho_of(0.7, 1e-5) * (1 + 1e-9)
    assert rho > 0.5 * rho_of(0.7, 1e-5)


@pytest.mark.parametrize("name", PRIVATE)
def test_guarantee(name, city):
    model = _quick(name, epsilon=0.5, delta=1e-7)
    assert model.guarantee.title == "(0.5, 1e-07)-differential privacy"
    promise = model.fit(city).guarantee
    assert promise.kind == "differential privacy" and bool(promise)
    assert promise.parameters["epsilon"] == 0.5 and promise.parameters["delta"] == 1e-7
    assert "all traces and the model together" in promise.unit
    shares = [v for n, v in promise.parameters.items() if n.startswith("share of ")]
    assert sum(shares) <= 1 + 1e-9
    assert any("public" in limit for limit in promise.limits)
    assert _quick(name, epsilon=None).fit(city).guarantee is None


def test_noise_is_as_large_as_promised(city):
    """White box: ε fitted to the noise of all tables is at most the claim, and not far below.

    The worst user moves every table by its bound; an attacker who sees all noisy tables tells
    with from without like two Gaussians at distance μ = √Σ (Δ / σ)².
    """
    epsilon, delta = 1.0, 1e-6
    public = PublicInputs.of(city.places, city.clock)
    square: dict[str, list] = {}
    bound: dict[str, float] = {}
    for _ in range(3):
        model = dt.Crowd(epsilon=epsilon, delta=delta, style="dense", candidates=1, seed=0)
        noisy = model.fit(city).statistics_
        clips = noisy.first.clips
        found = statistics.layout(public, "dense", clips)
        exact = statistics.split(statistics.tables(city, public, "dense", clips)[0], found)
        for table in found:
            kept = clips.kept(table.name)
            residual = noisy.tables[table.name].value * kept - exact[table.name] / 65536
            square.setdefault(table.name, []).append((residual / table.bound) ** 2)
            bound[table.name] = table.bound
    precision = sum(1 / np.concatenate([s.ravel() for s in q]).mean() for q in square.values())
    first = sum(statistics.FIRST_LOOK.values()) * 2 * rho_of(epsilon, delta)
    mu = math.sqrt(precision + first)

    def gap(e):
        return norm.cdf(-e / mu + mu / 2) - math.exp(e) * norm.cdf(-e / mu - mu / 2) - delta

    measured = brentq(gap, 0.0, 50.0)
    assert 0.8 * epsilon <= measured <= epsilon


def test_nothing_of_the_input_stays(city):
    traces = city.select(np.arange(50))
    seen = weakref.ref(traces)
    model = _quick("crowd").fit(traces)
    del traces
    gc.collect()
    assert seen() is None
    with pytest.raises(dt.errors.NotFittedError, match="keeps no traces"):
        model.train  # noqa: B018
    assert model.n_users != 50 or model.statistics_.first.users != 50


def test_owners_and_numbers(fitted):
    made = fitted.sample(n_traces=7, seed=1)
    assert len(made) == 7 and np.all(made.owner == -1)
    assert len(fitted.sample(seed=1)) == fitted.n_users
    assert fitted.n_users == max(1, round(fitted.statistics_.first.users))
    with pytest.raises(dt.SettingsError, match="no likelihoods"):
        dt.deniability_test(fitted, made)


def test_a_file_holds_noisy_numbers_and_public_inputs_only(fitted, city, tmp_path):
    path = tmp_path / "crowd.safetensors"
    fitted.save(path)
    arrays = load_file(path)
    assert {name.split(".")[0] for name in arrays} == {
        "places", "clock", "noisy", "chain", "presence", "days",
    }  # fmt: skip
    content = path.read_bytes()
    assert fingerprint(city).encode() not in content
    public = PublicInputs.of(city.places, city.clock)
    first = fitted.statistics_.first
    found = statistics.layout(public, first.style, first.clips)
    sums = statistics.tables(city, public, first.style, first.clips)[0]
    for table, exact in zip(found, statistics.split(sums, found).values(), strict=True):
        stored = arrays[f"noisy.{table.name}"] * first.clips.kept(table.name) * 65536
        assert not np.array_equal(np.rint(stored), exact), table.name
    users = city.users.astype(str)
    assert not any(f'"{user}"'.encode() in content for user in users[100:])
    loaded = dt.load(path)
    np.testing.assert_array_equal(
        loaded.sample(n_traces=40, seed=5).locations, fitted.sample(n_traces=40, seed=5).locations
    )
    assert loaded.guarantee.to_dict() == fitted.guarantee.to_dict()
    assert loaded.n_users == fitted.n_users


@pytest.mark.parametrize("name", PRIVATE[1:])
def test_files_of_the_simple_models(name, city, tmp_path):
    model = _quick(name).fit(city)
    model.save(tmp_path / "model")
    loaded = dt.load(tmp_path / "model")
    np.testing.assert_array_equal(
        loaded.sample(n_traces=40, seed=5).locations, model.sample(n_traces=40, seed=5).locations
    )
    assert loaded.ledger_ == model.ledger_


def test_few_users_are_told_that_it_is_worth_little(city):
    """Before, from a public number of users; and after, from the noisy one."""
    assert noise_to_count(500, 1.0, 1e-6, city.places) > 1
    model = _quick("crowd").fit(city)
    assert "worth little" in model.caution and "ε = 1" in model.caution
    assert _quick("crowd", epsilon=None).fit(city).caution is None
    large = dt.simulate_city(users=10, places=400, seed=3).traces.places
    assert noise_to_count(500, 1.0, 1e-6, large) > 1 > noise_to_count(10_000, 1.0, 1e-6, large)


def test_places_of_one_person_stay_hidden_without_noise():
    """A place that one user visits is not more likely than its neighbours that nobody visits."""
    city = dt.simulate_city(users=400, places=100, seed=2, missing=0.0).traces
    quiet = np.argsort(np.bincount(city.location, minlength=100))[:2]
    shy = ~np.isin(city.location, quiet)
    kept = dt.Traces.from_events(
        city.user[shy], city.location[shy], city.instant[shy], places=city.places,
        clock=city.clock, users=city.users,
    )  # fmt: skip
    location = kept.location.copy()
    location[kept.offsets[7] : kept.offsets[8]] = quiet[0]
    alone = dt.Traces(kept.users, kept.offsets, location, kept.instant, kept.places, kept.clock)
    shown = []
    for traces in (kept, alone):
        made = _quick("crowd", epsilon=None, min_users=5).fit(traces).sample(n_traces=4000, seed=1)
        shown.append(np.mean(made.locations == quiet[0]))
    assert shown[1] < shown[0] + 0.25 / 400 + 0.002  # a quarter of that user's share at most


@pytest.mark.parametrize(
    "wrong",
    [{"epsilon": 0.0}, {"epsilon": -1.0}, {"epsilon": math.inf}, {"delta": 0.0}, {"delta": 1.0},
     {"types": 0}, {"candidates": 0}, {"min_users": 0}, {"style": "sparse"}],
)  # fmt: skip
def test_settings_out_of_range(wrong):
    with pytest.raises(dt.SettingsError):
        dt.Crowd(**wrong)


def test_too_many_places_for_pairs():
    n = 2001
    places = dt.Places(np.arange(n), np.linspace(35, 36, n), np.linspace(139, 140, n))
    clock = dt.simulate_city(users=2, places=4).traces.clock
    traces = dt.Traces.from_events([0, 0], [0, 1], [0, 1], places=places, clock=clock)
    with pytest.raises(dt.InputError, match="use crowd"):
        dt.DPMarkov().fit(traces)


def test_without_noise_it_follows_the_population():
    """3,000 users, no noise: nearly as near to the test users as the training users are."""
    city = dt.simulate_city(users=6000, places=36, seed=4)
    train, test = (Summary.of(part) for part in city.split())
    model = dt.Crowd(epsilon=None, candidates=8, seed=0).fit(city.split()[0])
    made = Summary.of(model.sample(n_traces=3000, seed=1))
    score, training = compare(test, made, train), compare(test, train, train)
    assert score["tp_tv"] < training["tp_tv"] + 0.03
    assert score["places_per_day_emd"] < 1.0
    assert score["stay_emd"] < 0.15
