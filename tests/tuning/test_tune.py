"""Settings by cross-validation, with a quick stand-in for the model."""

import json
import math

import numpy as np
import pytest

import doppeltrace as dt
from doppeltrace.synthesizers import MODELS, Synthesizer
from doppeltrace.tuning.candidates import GRIDS, candidates
from doppeltrace.tuning.run import _fold_of

FITTED = []


class Blend(Synthesizer):
    """Draws from the user's own events, or anywhere: the more often the first, the better."""

    name = "blend"

    def __init__(self, *, own=0.0, other=1, seed=None, threads=None):
        super().__init__(seed=seed, threads=threads)
        self.own, self.other = own, other

    def _fit(self, traces, callback):
        FITTED.append((self.own, set(traces.users.tolist())))
        self._seen = traces

    def _sample(self, users, traces_per_user, instants, seed, callback):
        rng, seen = np.random.default_rng(seed % 2**32), self._seen
        made = np.empty((len(users), traces_per_user, len(instants)), np.int32)
        for row, user in enumerate(users):
            begin, end = seen.offsets[user], seen.offsets[user + 1]
            at = np.searchsorted(seen.instant[begin:end], instants, side="right") - 1
            real = seen.location[begin:end][np.maximum(at, 0)]
            anywhere = rng.integers(len(seen.places), size=len(instants))
            made[row, :] = np.where(rng.random(len(instants)) < self.own, real, anywhere)
        return made


@pytest.fixture(scope="module")
def city():
    return dt.simulate_city(240, 16, seed=3)


def test_the_better_settings_are_found(city):
    FITTED.clear()
    found = dt.tune(city.traces, Blend(), grid={"own": (0.0, 0.5, 1.0)}, folds=2, seed=5)
    assert found.changed == {"own": 1.0} and found.model.own == 1.0
    assert isinstance(found.model, Blend) and "not fitted" in repr(found.model)
    assert [trial.changed for trial in found.trials][0] == {}
    assert sorted(trial.changed.get("own", 0.0) for trial in found.trials) == [0.0, 0.5, 1.0]
    by_own = {trial.changed.get("own", 0.0): trial.mean for trial in found.trials}
    assert by_own[0.0] < by_own[0.5] < by_own[1.0]
    # each user is left out once
    (first, second) = (users for own, users in FITTED if own == 1.0)
    assert not first & second and first | second == set(city.traces.users.tolist())
    told = json.loads(found.to_json())
    assert told["changed"] == {"own": 1.0} and len(told["trials"]) == 3
    assert "own=1.0" in repr(found)


def test_the_same_seed_gives_the_same_search(city):
    one, two = (
        dt.tune(city.traces, Blend(), grid={"own": (0.5, 1.0)}, folds=2, seed=9) for _ in "ab"
    )
    for a, b in zip(one.trials, two.trials, strict=True):
        assert a.changed == b.changed and a.summary == b.summary


def test_the_budget_ends_the_search_after_the_given_settings(city):
    found = dt.tune(city.traces, Blend(), grid={"own": (0.5, 1.0)}, folds=2, budget=1e-9, seed=1)
    assert [trial.changed for trial in found.trials] == [{}]
    assert "1 of 3 choices" in found.notes[0]


def test_settings_with_too_few_passing_traces_are_not_chosen(city, monkeypatch):
    from types import SimpleNamespace

    from doppeltrace.tuning import run as room

    def tested(model, made, *, k, **options):
        passed = np.arange(len(made)) % 4 == 0 if model.own == 1.0 else np.ones(len(made), bool)
        return SimpleNamespace(passed=passed, pass_rate=passed.mean())

    monkeypatch.setattr(room, "deniability_test", tested)
    monkeypatch.setattr(Blend, "testable", True)
    found = dt.tune(city.traces, Blend(), grid={"own": (0.9, 1.0)}, folds=2, seed=5)
    assert found.changed == {"own": 0.9}
    refused = next(trial for trial in found.trials if trial.changed == {"own": 1.0})
    assert not refused.enough and refused.mean == -math.inf and refused.pass_rate < 0.3
    with pytest.raises(dt.InputError, match="no settings let 100% of the traces pass"):
        dt.tune(city.traces, Blend(own=1.0), grid={}, folds=2, min_pass_rate=1.0, seed=5)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"folds": 1}, "folds=1 must be from 2"),
        ({"budget": 0}, "budget must be more than 0"),
        ({"min_pass_rate": 2}, "min_pass_rate must be from 0 to 1"),
        ({"grid": {"size": (1,)}}, "has no setting size"),
        ({"model": "uniform"}, "nothing to tune"),
        ({"model": "nonsense"}, "model=nonsense is not known"),
    ],
)
def test_wrong_options(city, options, said):
    with pytest.raises(dt.SettingsError, match=said):
        dt.tune(city.traces, **{"model": Blend(), "grid": None, **options})


def test_grids_name_settings_that_exist():
    for name, grid in GRIDS.items():
        model = MODELS[name]()
        assert set(grid) <= set(model.settings)
        points = list(candidates(model, None, (), 1))
        assert points[0] == {} and len(points) > 2
        for point in points:
            type(model)(**{**model.get_params(), **point})  # each is in its range
        kept = list(candidates(model, None, (next(iter(grid)),), 1))
        assert all(next(iter(grid)) not in point for point in kept)


def test_folds_are_as_equal_as_they_can_be():
    assert np.bincount(_fold_of(11, 3, 1)).tolist() == [4, 4, 3]
