"""SGLT: seeds, settings, its privacy test, and the published figures."""

import csv
import time

import numpy as np
import pytest

import doppeltrace as dt
from doppeltrace.synthesizers.sglt.synthesizer import seed_traces


@pytest.mark.parametrize(
    "wrong",
    [
        {"clusters": 0},
        {"removal": 1.5},
        {"removal": -0.1},
        {"thinning": 1.0},
        {"merging": 2.0},
        {"randomization": 0.5},
        {"smoothing": 0.0},
        {"smoothing": 1.0},
    ],
)
def test_settings_out_of_range(wrong):
    with pytest.raises(dt.SettingsError):
        dt.SGLT(**wrong)


def test_gaps_take_the_nearest_event(tiny):
    """Of two equally near events the earlier counts."""
    seeds = seed_traces(tiny, np.array([0, 1]), tiny.clock.timeline())
    np.testing.assert_array_equal(
        seeds, [[1, 2, 3, 3, 2, 3, 4, 4, 4], [0, 0, 1, 1, 1, 1, 4, 4, 4]]
    )


def test_a_user_without_events_has_no_seed(tiny):
    traces = dt.Traces(np.arange(2), [0, 0, 1], [3], [4], places=tiny.places, clock=tiny.clock)
    seeds = seed_traces(traces, np.array([0, 1]), tiny.clock.timeline())
    np.testing.assert_array_equal(seeds, [[-1] * 9, [3] * 9])


def test_the_true_place_goes_with_removal_one(people_flow):
    train = people_flow.train
    own = np.repeat(train.location.reshape(500, 30), 2, axis=0)
    made = dt.SGLT(clusters=50, removal=1.0, seed=1).fit(train).sample(2, seed=1)
    assert not np.any(made.locations == own)


def test_one_place_per_cluster_gives_the_seed_back(people_flow):
    """No other candidates, no removal and no merging: nothing can change."""
    train = people_flow.train
    model = dt.SGLT(clusters=400, removal=0.0, merging=0.0, seed=1).fit(train)
    made = model.sample(1, seed=1)
    np.testing.assert_array_equal(made.locations, train.location.reshape(500, 30))


def test_traces_stay_in_the_clusters_of_the_seed(people_flow):
    train = people_flow.train
    model = dt.SGLT(clusters=50, removal=0.0, merging=0.0, seed=1).fit(train)
    made = model.sample(1, seed=1)
    own = train.location.reshape(500, 30)
    np.testing.assert_array_equal(model.labels_[made.locations], model.labels_[own])


def test_models_share_the_clusters(people_flow):
    train = people_flow.train
    one = dt.SGLT(clusters=50, removal=0.0, seed=1).fit(train)
    two = dt.SGLT(clusters=50, removal=1.0, seed=1).fit(train)
    other = dt.SGLT(clusters=50, seed=2).fit(train)
    assert two.labels_ is one.labels_
    assert not np.array_equal(other.labels_, one.labels_)


def test_clustering_is_fast(people_flow):
    """Without what earlier tests have left behind: new traces, compiled kernels."""
    dt.SGLT(clusters=100, seed=1).fit(people_flow.train)
    fresh = people_flow.train.select(np.arange(500))
    began = time.process_time()  # what other processes do meanwhile does not count
    dt.SGLT(clusters=100, seed=1).fit(fresh)
    assert time.process_time() - began < 5


def test_privacy_test_by_hand(tiny):
    """The trace of user 2 itself, as if made from it, and one at places of its own."""
    model = dt.SGLT(clusters=2, smoothing=0.1, seed=1).fit(tiny)
    own = [4, 3, 2, 1, 0, 0, 0, 1, 2]  # shares 1/3, 2/9, 2/9, 1/9, 1/9
    still = [4] * 9
    made = dt.SyntheticTraces([own, still], [2, 2], [0, 1], tiny.places, tiny.clock)
    found = dt.semantic_test(model, made, k=1, delta=1.0)
    np.testing.assert_allclose(found.similarity, [1, 1 / 9])
    np.testing.assert_array_equal(found.intersection, [9, 1])
    np.testing.assert_array_equal(found.plausible, [2, 2])
    np.testing.assert_array_equal(found.passed, [False, True])
    # sim(u, still) is the largest of π_u: 0.9 · (2/7, 2/5, 1/3) + 0.02, 3/7 for 3 of 7 events
    largest = np.array([0.9 * 2 / 7 + 0.02, 0.9 * 2 / 5 + 0.02, 0.9 / 3 + 0.02])
    gap = np.abs(largest - largest[2])
    between = (gap[0] + gap[1]) / 2
    closest = dt.semantic_test(model, made, k=1, delta=between).plausible[1]
    assert closest == np.count_nonzero(gap <= between) - 1 == 1
    assert not dt.semantic_test(model, made, k=3, delta=1.0).passed.any()
    assert dt.semantic_test(model, made, k=1, delta=1.0, intersection=0.1).passed.sum() == 0


def test_privacy_test_needs_owners(tiny):
    model = dt.SGLT(clusters=2, seed=1).fit(tiny)
    nameless = dt.SyntheticTraces([[0] * 9], [-1], [0], tiny.places, tiny.clock)
    with pytest.raises(dt.InputError, match="input users"):
        dt.semantic_test(model, nameless)
    with pytest.raises(dt.SettingsError, match="no likelihoods"):
        dt.deniability_test(model, model.sample(1, seed=1), k=1)


@pytest.mark.parametrize("clusters", [50, 100])
@pytest.mark.parametrize("removal", ["0", "0.2", "1"])
def test_published_figures(people_flow, people_flow_folder, clusters, removal):
    """Three points of each published curve; experiments/tradeoff.py runs them all."""
    train, test = people_flow.train, people_flow.test
    model = dt.SGLT(clusters=clusters, removal=float(removal), seed=1).fit(train)
    score = dt.evaluate(train=train, test=test, synthetic=model.sample(10, seed=1))
    with open(people_flow_folder / "reference" / "published_grid.csv") as file:
        rows = {(row["synthesizer"], row["setting"]): row for row in csv.DictReader(file)}
    published = rows["sglt", f"c{clusters} removal={removal}"]
    off = {name: score[name] - float(published[name]) for name in ("tp_tv", "tm_emd_x")}
    off["re-id"] = score["reidentification_rate"] - float(published["reidentification_rate"])
    assert abs(off["re-id"]) < (0.02 if removal == "1" else 0.10)
    assert abs(off["tp_tv"]) < 0.05
    assert max(score["tm_emd_x"], score["tm_emd_y"]) < 1.2
