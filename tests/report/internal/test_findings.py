"""The findings: equal to the scorecard and to counts by hand, and nothing of any user."""

import json
from dataclasses import replace

import numpy as np
import pytest

import doppeltrace as dt
from doppeltrace.report.figures.encoding import unpacked
from doppeltrace.report.internal import suppression
from doppeltrace.report.internal.files import FINDINGS, PAGE, internal_files, read_findings
from doppeltrace.report.internal.findings import collect_findings
from doppeltrace.utility.population import distributions, slot_counts
from doppeltrace.utility.visit_fractions import fraction_counts, vf_tv
from report_run import a_summary


def test_the_map_shows_the_shares_and_the_scorecards_figures(small_run, found):
    labels = [int(x) for x in found.places.label]
    for text, traces in (
        (found.population.real, small_run.test),
        (found.population.synthetic, small_run.released.as_traces()),
    ):
        shown = unpacked(text, found.population.scale).reshape(len(found.slots), -1)
        truth = distributions(slot_counts(traces))[:, labels]
        assert np.allclose(shown, truth, rtol=0.005, atol=found.population.scale / 60_000)
    assert found.population.tp_tv == list(small_run.score.per_slot["tp_tv"])
    assert np.mean(found.population.training) == pytest.approx(small_run.score["tp_tv_training"])
    assert np.mean(found.population.uniform) == pytest.approx(small_run.score["tp_tv_uniform"])
    assert found.reference == "testing" and found.reference_users == small_run.test.n_users


def test_places_are_those_of_the_input_the_busiest_first(small_run, found):
    assert found.places.total == len(found.places.label) == 36
    assert found.places.left_out_real == found.places.left_out_synthetic == 0
    events = slot_counts(small_run.test).sum(axis=0) / small_run.test.n_events
    made = slot_counts(small_run.released.as_traces()).sum(axis=0)
    busy = (events + made / made.sum())[[int(x) for x in found.places.label]]
    assert np.all(np.diff(busy) <= 1e-12)
    place = int(found.places.label[0])
    assert found.places.category[0] == small_run.train.places.category[place]
    assert found.places.lat[0] == pytest.approx(small_run.train.places.lat[place])


def test_visit_fractions_by_place(small_run, found):
    real, made, train = (
        fraction_counts(t)
        for t in (small_run.test, small_run.released.as_traces(), small_run.train)
    )
    shown = [one for one in found.visits if one.real_users >= suppression.MIN_USERS]
    assert 0 < len(shown) < len(found.visits)
    for one in found.visits:
        place = [int(found.places.label[one.place])]
        assert one.traces == made[place].sum()
        if one not in shown:
            assert one.real == [] and one.tv is None and real[place].sum() < suppression.MIN_USERS
            continue
        assert one.real_users == real[place].sum()
        assert one.real == pytest.approx(real[place[0]] / real[place[0]].sum(), abs=1e-3)
        assert one.tv == pytest.approx(vf_tv(real[place], made[place], train[place]), abs=1e-5)


def test_losses_repeat_the_scorecard(small_run, found):
    for loss, measure in zip(found.losses, small_run.score.measures, strict=True):
        assert loss.synthetic == measure.mean and loss.uniform == measure.uniform
    assert found.privacy.membership["advantage"] == small_run.score["membership_advantage"]
    assert found.privacy.copies["longest"] == small_run.score["copy_longest"]


def test_an_attacker_who_does_best_to_accuse_nobody_can_be_told(small_run):
    """His threshold is ∞, which JSON cannot hold."""
    nobody = replace(small_run.score.membership, advantage=0.0, threshold=np.inf)
    found = small_run.find(score=replace(small_run.score, membership=nobody))
    assert set(internal_files(found)) == {PAGE, FINDINGS}


def test_without_testing_users_the_training_users_are_compared_with(small_run):
    found = small_run.find(test=None, score=None)
    assert found.reference == "training"
    assert found.privacy.membership is None and found.privacy.test_copies is None
    assert found.privacy.reidentification["rate"] == pytest.approx(
        small_run.score["reidentification_rate"]
    )
    assert found.privacy.copies["longest"] == small_run.score["copy_longest"]
    assert all(loss.training in (0, None) for loss in found.losses)
    assert not any("testing" in loss.meaning for loss in found.losses)


def test_means_stand_beside_the_scores(found):
    means = {h.name: (h.real_mean, h.synthetic_mean) for h in found.histograms}
    for loss in found.losses:
        assert (loss.real_mean, loss.synthetic_mean) == means.get(loss.name, (None, None))
    assert 0 < found.move_rates.real_mean < 1


def test_real_flows_of_few_users_are_nowhere(small_run, found):
    n_places = len(small_run.train.places)
    user, origin, destination, _ = small_run.test.transitions()
    made_by = {}
    for who, *pair in zip(user, origin, destination, strict=True):
        made_by.setdefault(tuple(pair), set()).add(who)
    label = [int(x) for x in found.places.label]
    users = [len(made_by.get((label[f.origin], label[f.destination]), ())) for f in found.flows]
    assert n_places == len(label) and min(users) < suppression.MIN_USERS <= max(users)
    for flow, number in zip(found.flows, users, strict=True):
        assert (flow.real is None) == (0 < number < suppression.MIN_USERS)
        assert (flow.real == 0) == (number == 0)


def test_a_score_that_is_not_given_is_computed(small_run, found):
    assert small_run.find(score=None) == found


def test_a_model_without_factors_and_a_test_that_was_not_made(small_run):
    found = small_run.find(factors=None, plausible=None)
    assert found.clusters is None and found.privacy.pass_rates == []


def test_nothing_released(small_run):
    nothing = small_run.released.select(np.zeros(0, dtype=int))
    found = small_run.find(released=nothing, score=None)
    assert found.population is None and found.losses == []
    assert found.privacy.reidentification is None
    assert json.loads(found.to_json())["flows"]  # the real ones are still there


def test_it_holds_no_user(small_run):
    names = np.array([f"user-{n:04d}" for n in range(small_run.train.n_users)])
    train = dt.Traces(
        names, *(getattr(small_run.train, x) for x in
        ("offsets", "location", "instant", "places", "clock")),
    )  # fmt: skip
    text = small_run.find(train=train).to_json()
    assert "user-" not in text and '"owner' not in text and '"seed' not in text
    longest = max(len(row) for row in _lists(json.loads(text)))
    assert longest <= 100 < train.n_users  # flows, slots, places, points of the curve


def _lists(value):
    if isinstance(value, dict):
        for item in value.values():
            yield from _lists(item)
    elif isinstance(value, list):
        yield value
        for item in value:
            yield from _lists(item)


def test_its_size_does_not_grow_with_users():
    """Same city, same hours: twenty times the users change the figures, not their number."""
    sizes = []
    for users in (200, 4_000):
        train, test = dt.simulate_city(2 * users, 100, seed=3).split()
        locations = np.full((users, train.clock.n_instants), -1)
        step = train.instant - train.instant.min()
        locations[train.user, step] = train.location
        released = dt.SyntheticTraces(
            locations, np.arange(users), np.zeros(users), train.places, train.clock
        )
        score = dt.evaluate(train=train, test=test, synthetic=released, attacks=False)
        files = internal_files(
            collect_findings(
                train=train, test=test, released=released, run=a_summary(), score=score
            )
        )
        sizes.append(len(files[PAGE]))
    assert sizes[1] == pytest.approx(sizes[0], rel=0.05)


def test_findings_survive_the_disk(found, tmp_path):
    files = internal_files(found)
    (tmp_path / FINDINGS).write_text(files[FINDINGS])
    assert read_findings(tmp_path) == json.loads(found.to_json())


@pytest.mark.parametrize(
    ("text", "words"),
    [("{", "cannot be read"), ("[]", "another version"), ('{"format": 0}', "another version")],
)
def test_findings_that_are_none(tmp_path, text, words):
    (tmp_path / FINDINGS).write_text(text)
    with pytest.raises(dt.InputError, match=words):
        read_findings(tmp_path)
