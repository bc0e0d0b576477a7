"""Places of few people: merged before the training, and held back before the release."""

from dataclasses import replace

import numpy as np
import pytest

import doppeltrace as dt
from doppeltrace.guarantee import Guarantee
from doppeltrace.pipeline import course
from doppeltrace.progress import QuietMonitor


def test_places_of_few_people_do_not_leave(city, quick):
    users = np.zeros(len(city.traces.places), dtype=int)
    for user in range(city.traces.n_users):
        own = slice(*city.traces.offsets[user : user + 2])
        users[np.unique(city.traces.location[own])] += 1
    assert (users < 5).any()
    run = dt.synthesize(city.traces, quick, k=1)
    labels = set(run.traces.places.labels[np.unique(run.traces.locations)].tolist())
    rare = set(city.traces.places.labels[users < 5].tolist())
    assert labels and not labels & rare
    record = run.manifest.to_dict()
    assert record["safeguards"]["rare_places"]["min_users"] == 5
    assert record["level0"]["rare_places"] == 0
    assert any("fewer than 5 users" in words for words in record["public_safeguards"])


def test_they_leave_only_if_that_is_allowed(city, quick, tmp_path, monkeypatch):
    """Without the merging the release is held back."""
    merge = course.protect_input

    def nothing(train, test, model, settings, monitor):
        off = replace(settings, min_users=1, allow_rare_places=True)
        return merge(train, test, model, off, monitor)

    monkeypatch.setattr(course, "protect_input", nothing)
    with pytest.raises(dt.ReleaseBlockedError, match="allow_rare_places=True"):
        dt.synthesize(city.traces, quick, k=1, out=tmp_path / "run")
    assert list(tmp_path.iterdir()) == []
    monitor = QuietMonitor()
    run = dt.synthesize(
        city.traces, quick, k=1, min_users=1, allow_rare_places=True, monitor=monitor
    )
    assert run.manifest.level0["blocks"] and run.manifest.allow_rare_places
    assert len([text for text in monitor.warnings if "alone at a place" in text]) == 2


def test_one_user_is_bounded(city, quick):
    run = dt.synthesize(city.traces, quick, k=1, max_events=5)
    caps = run.manifest.safeguards["user_caps"]
    assert caps["max_events"] == 5 and caps["events_left_out"] > 0


class Promised(dt.Uniform):
    """Stands for a model whose traces belong to nobody, with a promise of its own."""

    has_owners = False
    testable = False

    @property
    def guarantee(self):
        return Guarantee.differential_privacy(1.0, 1e-6)

    def sample(self, traces_per_user=None, *, n_traces=None, **options):
        made = super().sample(n_traces=n_traces, **options)
        nobody = np.full(len(made), -1)
        return replace(made, owner=nobody)


def test_a_private_model_needs_neither_test_nor_merging(city):
    """What is merged by exact counts would be chosen by looking at the data."""
    with pytest.raises(dt.SettingsError, match="n_traces must be given"):
        dt.synthesize(city, Promised(seed=1))
    run = dt.synthesize(city, Promised(seed=1), n_traces=200)
    assert run.guarantee.kind == "differential privacy"
    assert run.manifest.deniability is None and run.manifest.traces.released == 200
    assert run.manifest.safeguards == {} and run.manifest.public_safeguards == ()
    assert len(run.traces.places) == len(city.traces.places)
