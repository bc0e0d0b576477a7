"""The contract that every synthesizer keeps. A new one joins by a line in `MODELS`."""

import datetime
import inspect

import numpy as np
import pytest
from typer.testing import CliRunner

import doppeltrace as dt
from doppeltrace.cli.program import app
from doppeltrace.errors import NotFittedError
from doppeltrace.synthesizers import MODELS
from toy_models import TOYS

SMALL = {
    "factors": 1,
    "iterations": 3,
    "zeros": 4,
    "clusters": 2,
    "copied": 1,
    "epsilon": None,
    "gaps": False,
    "candidates": 1,
}  # noise never comes from a seed
"""Settings that make a model quick; each takes those it knows."""

DETERMINISTIC = {"training"}


@pytest.fixture(params=sorted({**MODELS, **TOYS}))
def make(request, monkeypatch):
    """Return a function that builds the model, small and seeded.

    Two toys are registered as a newcomer registers a model, and must keep the same contract.
    """
    for name, toy in TOYS.items():
        monkeypatch.setitem(MODELS, name, toy)
    model = MODELS[request.param]
    known = inspect.signature(model).parameters
    settings = {name: value for name, value in SMALL.items() if name in known}
    return lambda **more: model(**{**settings, "seed": 7, **more})


def _places(n):
    return dt.Places(np.arange(n), np.linspace(35.0, 35.1, n), np.linspace(139.0, 139.1, n))


def _check_ins():
    """Four users over three days of a daily clock, with gaps; the third has no event."""
    clock = dt.Clock.regular(instant_minutes=240, daily=True)
    user = [0, 0, 0, 0, 1, 1, 3, 3, 3, 3]
    instant = [0, 1, 7, 8, 13, 14, 2, 6, 7, 8]
    location = [0, 1, 2, 2, 3, 0, 1, 1, 2, 3]
    return dt.Traces.from_events(
        user, location, instant, places=_places(4), clock=clock, users=np.array(list("abcd"))
    )


def _one(users, places):
    """`users` users who are at place 0 for four instants."""
    clock = dt.Clock(np.arange(4), 1200, datetime.datetime(2020, 1, 1, 9))
    user, instant = np.repeat(np.arange(users), 4), np.tile(np.arange(4), users)
    return dt.Traces.from_events(
        user, np.zeros_like(user), instant, places=_places(places), clock=clock
    )


def test_fit_returns_the_model_itself(make, tiny):
    model = make()
    assert model.fit(tiny) is model
    assert (model.n_users, model.places, model.clock) == (3, tiny.places, tiny.clock)
    if model.keeps_traces:
        assert model.train is tiny
    else:
        with pytest.raises(NotFittedError, match="keeps no traces"):
            model.train  # noqa: B018


def test_before_fit(make):
    with pytest.raises(NotFittedError, match="call fit first"):
        make().sample()


def test_nothing_to_learn_from(make, tiny):
    with pytest.raises(dt.InputError, match="no events"):
        make().fit(tiny.select([]))


def test_shapes_owners_and_replicates(make, tiny):
    synthetic = make().fit(tiny).sample(4, seed=1)
    assert synthetic.locations.shape == (12, 9)
    assert synthetic.locations.dtype == np.int32
    if make().has_owners:
        np.testing.assert_array_equal(synthetic.owner, np.repeat([0, 1, 2], 4))
        np.testing.assert_array_equal(synthetic.replicate, np.tile(np.arange(4), 3))
    else:
        assert np.all(synthetic.owner == -1) and np.all(synthetic.replicate == 0)
    assert synthetic.places is tiny.places
    assert synthetic.clock is tiny.clock
    assert np.all(synthetic.locations >= 0) or not make().releasable


def test_seeds(make, tiny):
    model = make().fit(tiny)
    one = model.sample(20, seed=3).locations
    np.testing.assert_array_equal(one, model.sample(20, seed=3).locations)
    np.testing.assert_array_equal(one, make().fit(tiny).sample(20, seed=3).locations)
    assert np.array_equal(one, model.sample(20, seed=4).locations) == (model.name in DETERMINISTIC)


def test_replicates_differ(make, tiny):
    model = make().fit(tiny)
    parts = model.sample(20, seed=3).locations.reshape(3, 20, -1).transpose(1, 0, 2)
    alike = all(np.array_equal(parts[0], part) for part in parts)
    assert alike == (model.name in DETERMINISTIC)


def test_threads_change_nothing(make):
    traces = dt.simulate_city(users=60, places=30, seed=1).traces
    drawn = [make(threads=n).fit(traces).sample(2, seed=5).locations for n in (1, 2, 3)]
    np.testing.assert_array_equal(drawn[1], drawn[0])
    np.testing.assert_array_equal(drawn[2], drawn[0])


def test_a_user_does_not_depend_on_the_others_asked_for(make, tiny):
    model = make().fit(tiny)
    if not model.has_owners:
        return
    everyone = model.sample(3, seed=2)
    some = model.sample(3, seed=2, users=[2, 0])
    np.testing.assert_array_equal(some.owner, [2, 2, 2, 0, 0, 0])
    for user in (0, 2):
        np.testing.assert_array_equal(
            some.locations[some.owner == user], everyone.locations[everyone.owner == user]
        )


def test_nobody_asked_for(make, tiny):
    if make().has_owners:
        assert make().fit(tiny).sample(2, users=[], seed=1).locations.shape == (0, 9)


@pytest.mark.parametrize("length", [1, 4])
def test_shorter_traces(make, tiny, length):
    assert make().fit(tiny).sample(2, length=length, seed=1).locations.shape == (6, length)


def test_longer_traces_where_the_clock_goes_round(make, tiny):
    assert make().fit(_check_ins()).sample(length=15, seed=1).locations.shape == (4, 15)
    with pytest.raises(dt.SettingsError, match="does not repeat"):
        make().fit(tiny).sample(length=15)


@pytest.mark.parametrize(
    "wrong", [{"traces_per_user": 0}, {"users": [3]}, {"users": [-1]}, {"seed": -1}]
)
def test_sampling_out_of_range(make, tiny, wrong):
    with pytest.raises(dt.SettingsError):
        make().fit(tiny).sample(**wrong)


@pytest.mark.parametrize("wrong", [{"seed": -1}, {"threads": 0}])
def test_settings_out_of_range(make, wrong):
    with pytest.raises(dt.SettingsError):
        make(**wrong)


def test_one_user(make):
    synthetic = make().fit(_one(users=1, places=3)).sample(2, seed=1)
    assert synthetic.locations.shape == (2, 4)


def test_one_place(make):
    synthetic = make().fit(_one(users=3, places=1)).sample(2, seed=1)
    np.testing.assert_array_equal(synthetic.locations, np.zeros((6, 4)))


def test_missing_events_and_a_user_without_any(make):
    traces = _check_ins()
    synthetic = make().fit(traces).sample(3, seed=1)
    assert synthetic.locations.shape == (12, 6)
    assert synthetic.locations.max() < 4


def test_progress_comes_to_its_end(make, tiny):
    steps = []
    model = make().fit(tiny, callback=steps.append)
    assert steps[-1].phase == "training"
    assert steps[-1].done == steps[-1].total
    steps.clear()
    model.sample(2, seed=1, callback=steps.append)
    assert (steps[-1].phase, steps[-1].done) == ("synthesis", steps[-1].total)


def test_likelihoods_add_up_to_one_or_are_refused(make):
    """Sum over all traces of three events at three places is 1 for every user."""
    clock = dt.Clock([0, 1, 1], 1200, datetime.datetime(2020, 1, 1, 9))
    traces = dt.Traces.from_events(
        [0, 0, 0, 1, 1, 1, 2],
        [0, 1, 1, 2, 2, 0, 1],
        [0, 1, 2, 0, 1, 2, 1],
        places=_places(3),
        clock=clock,
    )
    model = make().fit(traces)
    every = np.stack(np.meshgrid(*[np.arange(3)] * 3), axis=-1).reshape(-1, 3)
    if not model.testable:
        with pytest.raises(dt.SettingsError, match="no likelihoods"):
            model.log_likelihood(every, np.arange(3))
        return
    values = model.log_likelihood(every, np.arange(3))
    assert values.shape == (27, 3)
    np.testing.assert_allclose(np.exp(values).sum(axis=0), 1, atol=1e-9)
    drawn = model.sample(5, seed=1)
    own = model.likelihood().own(drawn)
    assert np.all(np.isfinite(own))
    full = model.log_likelihood(drawn.locations, np.arange(3))
    np.testing.assert_allclose(own, full[np.arange(15), drawn.owner], atol=1e-9)
    with pytest.raises(dt.SettingsError, match="locations must"):
        model.log_likelihood(np.full((1, 3), 3), np.arange(3))
    with pytest.raises(dt.SettingsError, match="users must"):
        model.log_likelihood(every, np.array([3]))


def test_what_a_run_asks_of_a_model(make, tiny):
    """A cheap copy to warm up with, whether training resumes, and factors of the users."""
    model = make().fit(tiny)
    small = model.for_warm_up()
    if small is not None:
        assert type(small) is type(model) and small is not model
        small.fit(tiny.select([0, 1])).sample(seed=1)
    factors = model.user_factors
    assert factors is None or factors.shape[0] == tiny.n_users
    assert (model.clusters_ is None) == (factors is None)
    if not model.resumable:
        with pytest.raises(dt.SettingsError, match="checkpoint"):
            model.check_checkpoint("anywhere")


# ---- so many traces in all ------------------------------------------------------------------


def test_so_many_traces_in_all(make, tiny):
    """Each is one of its owner's traces, in order; owners are drawn uniformly."""
    model = make().fit(tiny)
    made = model.sample(n_traces=600, seed=3)
    assert len(made) == 600
    again = model.sample(n_traces=600, seed=3)
    np.testing.assert_array_equal(made.locations, again.locations)
    if not model.has_owners:
        assert np.all(made.owner == -1) and np.all(made.replicate == 0)
        return
    counts = np.bincount(made.owner, minlength=3)
    assert np.all(np.abs(counts - 200) < 5 * np.sqrt(600 * 2 / 9))  # binomial, five deviations
    per_user = model.sample(int(counts.max()), seed=3)
    number = made.owner * counts.max() + made.replicate
    np.testing.assert_array_equal(made.locations, per_user.locations[number])
    assert np.all(np.diff(number) > 0)
    assert not np.array_equal(made.owner, model.sample(n_traces=600, seed=4).owner)


def test_so_many_traces_of_some_users(make, tiny):
    model = make().fit(tiny)
    if model.has_owners:
        assert set(model.sample(n_traces=50, users=[2, 0], seed=1).owner.tolist()) == {0, 2}
        with pytest.raises(dt.SettingsError, match="no users"):
            model.sample(n_traces=5, users=[], seed=1)
    else:
        with pytest.raises(dt.SettingsError, match="no users"):
            model.sample(n_traces=5, users=[0], seed=1)


def test_threads_do_not_change_traces_in_all(make):
    traces = dt.simulate_city(users=60, places=30, seed=1).traces
    one, two = (make(threads=n).fit(traces).sample(n_traces=90, seed=5) for n in (1, 2))
    np.testing.assert_array_equal(one.locations, two.locations)
    np.testing.assert_array_equal(one.owner, two.owner)


def test_progress_of_traces_in_all(make, tiny):
    model, steps = make().fit(tiny), []
    model.sample(n_traces=50, seed=1, callback=steps.append)
    assert (steps[-1].phase, steps[-1].done) == ("synthesis", steps[-1].total)
    assert [s.done for s in steps] == sorted(s.done for s in steps)


@pytest.mark.parametrize(
    "wrong",
    [
        {"n_traces": 0},
        {"n_traces": 5, "traces_per_user": 1},
        {"n_traces": "5"},
        {"traces_per_user": 1.0},
        {"traces_per_user": True},
        {"seed": 1.5},
        {"length": "9"},
        {"users": ["a"]},
        {"users": [0.5]},
    ],
)
def test_wishes_that_cannot_be_met(make, tiny, wrong):
    with pytest.raises(dt.SettingsError):
        make().fit(tiny).sample(**wrong)


# ---- settings, data and displays ------------------------------------------------------------


def test_settings_of_a_wrong_type_are_refused_by_name(make):
    for name in inspect.signature(type(make())).parameters:
        with pytest.raises(dt.SettingsError, match=f"^{name} must be .*, not <object"):
            make(**{name: object()})


def test_params_as_scikit_learn_has_them(make, tiny):
    model = make().fit(tiny)
    params = model.get_params()
    assert params["seed"] == 7 and set(params) == set(inspect.signature(type(model)).parameters)
    twin = type(model)(**params)
    assert twin.get_params() == params
    np.testing.assert_array_equal(
        twin.fit(tiny).sample(2, seed=1).locations, model.sample(2, seed=1).locations
    )
    assert model.set_params(seed=8) is model and model.seed == 8
    with pytest.raises(NotFittedError):
        model.sample()
    with pytest.raises(dt.SettingsError, match="no setting nonsense"):
        model.set_params(nonsense=1)
    with pytest.raises(dt.SettingsError, match="seed must be"):
        model.set_params(seed="8")
    assert model.seed == 8


def test_a_dataset_is_fitted_by_its_training_part(make, tiny):
    read = dt.Validation("frame", 21, 21, (), 0, 3, 5, 21, 15, "", "")
    data = dt.Dataset(train=tiny, test=None, validation=read)
    np.testing.assert_array_equal(
        make().fit(data).sample(2, seed=1).locations, make().fit(tiny).sample(2, seed=1).locations
    )


def test_data_of_a_wrong_kind_name_the_way(make, tiny):
    import pandas
    import polars

    frames = {"pandas DataFrame": pandas.DataFrame(), "polars DataFrame": polars.DataFrame()}
    for words, wrong in {**frames, "None": None, "a str": "traces.csv", "a list": []}.items():
        with pytest.raises(dt.InputError, match=rf"not (a )?{words}: .*dt\.read_table"):
            make().fit(wrong)
    with pytest.raises(dt.InputError, match="synthetic"):
        make().fit(dt.Uniform().fit(tiny).sample())


def test_it_shows_itself(make, tiny):
    model = make()
    name = type(model).__name__
    assert repr(model).startswith(f"{name}(") and repr(model).endswith("not fitted")
    model.fit(tiny)
    assert "3 users and 5 places" in repr(model)
    assert "seed" not in repr(model) and "seed" not in model._repr_html_()
    assert "3 users and 5 places" in model._repr_html_()


def test_what_a_model_says_of_itself_is_true(make, tiny, tmp_path):
    """Class attributes against what happens."""
    model = make().fit(tiny)
    assert model.description
    assert set(model.public_settings) <= set(model.settings)
    made = model.sample(2, seed=1)
    assert np.all((made.owner >= 0) == model.has_owners)
    if model.testable:
        tested = dt.deniability_test(model, made, k=2)
        assert tested.guarantee.parameters == {"k": 2, "eta": 1.0}
        assert tested.guarantee.vacuous == model.same_for_all_users
        values = model.log_likelihood(made.locations, np.arange(3))
        if model.same_for_all_users:
            np.testing.assert_array_equal(values, np.repeat(values[:, :1], 3, axis=1))
            assert tested.passed.all() and not tested.guarantee
    else:
        with pytest.raises(dt.SettingsError, match="no likelihoods"):
            dt.deniability_test(model, made, k=2)
    path = tmp_path / "model"
    if model.savable:
        model.save(path)
        np.testing.assert_array_equal(dt.load(path).sample(2, seed=1).locations, made.locations)
    else:
        with pytest.raises(dt.SettingsError, match="cannot be saved"):
            model.save(path)
    if model.resumable:
        fresh = make().fit(tiny, checkpoint=path, checkpoint_seconds=0)
        assert fresh.check_checkpoint(path) > 0
    else:
        with pytest.raises(dt.SettingsError, match="no checkpoints"):
            make().fit(tiny, checkpoint=path)


def test_owners_may_be_unknown(tiny):
    """Scores, attacks and a release take traces of nobody in particular."""
    city = dt.simulate_city(users=40, places=12, seed=1).traces
    made = TOYS["strangers"](seed=1).fit(city).sample(n_traces=30, seed=1)
    score = dt.evaluate(train=city, test=city, synthetic=made)
    assert score.reidentification is None and score.membership is not None
    assert list(made.select([0, 3]).owner) == [-1, -1]
    with pytest.raises(dt.SettingsError, match="no likelihoods"):
        dt.deniability_test(TOYS["strangers"](seed=1).fit(city), made, k=2)
    favourites = TOYS["favourites"](seed=1).fit(city)
    with pytest.raises(dt.InputError, match="input users"):
        dt.deniability_test(favourites, made, k=2)


def test_a_newcomers_model_is_on_the_command_line(monkeypatch, tmp_path):
    """With its file and its line in `MODELS`, a model runs through all of `synthesize`."""
    monkeypatch.setitem(MODELS, "favourites", TOYS["favourites"])
    city = dt.simulate_city(users=30, places=12, seed=1).traces
    table, out, kept = tmp_path / "table.csv", tmp_path / "run", tmp_path / "model"
    dt.to_pandas(city).to_csv(table, index=False)
    done = CliRunner().invoke(
        app,
        ["synthesize", str(table), "--model", "favourites", "--set", "smoothing=5.0", "--k", "2",
         "--split", "0.5", "--keep-model", str(kept), "--seed", "3", "--out", str(out)],
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    assert "favourites" in next(out.rglob("manifest.json")).read_text()
    assert "Favourites: a user" in next(out.rglob("datasheet.html")).read_text()
    assert dt.load(kept).smoothing == 5.0
    wrong = CliRunner().invoke(
        app, ["synthesize", str(table), "--model", "favourites", "--set", "smoothing=x",
              "--out", str(tmp_path / "other")],
    )  # fmt: skip
    assert wrong.exit_code == 2 and "smoothing must be a number, not 'x'" in wrong.stderr


def test_what_a_model_costs(make, tiny):
    model = make()
    cost = model.cost(tiny, k=2)
    if cost is None:
        return
    assert min(cost.training, cost.synthesis, cost.test, cost.memory) > 0
    assert model.cost(tiny).test == 0
    assert model.cost(tiny, n_traces=6).synthesis == pytest.approx(2 * cost.synthesis)
    assert model.cost(tiny, traces_per_user=4).synthesis == pytest.approx(4 * cost.synthesis)
