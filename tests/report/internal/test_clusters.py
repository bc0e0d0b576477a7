"""Groups of users, by hand."""

import numpy as np
import pytest

from doppeltrace import Places
from doppeltrace.report.figures.encoding import unpacked
from doppeltrace.report.internal import clusters


def test_columns_of_either_sign():
    matrix = np.array([[1.0, -3.0], [3.0, 1.0], [-1.0, -1.0]])
    assert clusters.column_shares(matrix).tolist() == [[0.25, 0.75, 0.0], [0.75, 0.0, 0.25]]


def test_spread_and_categories():
    places = Places(
        np.arange(3), [0.0, 0.0, 0.0], [0.0, 0.009, 0.9], category=np.array(["a", "b", "b"])
    )
    near = clusters.spread_km(places, np.array([95, 5, 0]))
    assert near == pytest.approx(0.05, abs=0.01)  # from the mean to the first place
    far = clusters.spread_km(places, np.array([85, 0, 15]))
    assert far == pytest.approx(0.85 * 100, rel=0.01)
    found = clusters.categories(places, np.array([1, 9, 0]), np.array([5, 5, 0]))
    assert found == [("b", pytest.approx(0.9), pytest.approx(0.5))]
    assert clusters.categories(Places([0], [0], [0]), np.array([1]), np.array([1])) == []


def test_cluster_of_one_kind_of_user(small_run):
    users = small_run.train.n_users
    counts = clusters.count_clusters(small_run.train, small_run.released, small_run.factors)
    assert counts.size == users // 10 and counts.real.shape == (3, 36)
    member = np.argsort(-small_run.factors.A[:, 0], kind="stable")[: users // 10]
    chosen = np.isin(small_run.released.owner, member)
    events = small_run.released.locations[chosen]
    assert counts.traces[0] == chosen.sum()
    assert counts.made[0].tolist() == np.bincount(events.ravel(), minlength=36).tolist()
    found = clusters.clusters(counts, small_run.train, np.arange(36))
    real = unpacked(found[0].real, found[0].scale)
    assert real.sum() == pytest.approx(1, abs=0.01)
    assert found[0].places[0][0] == small_run.factors.B[:, 0].argmax()
    assert 0 <= found[0].tv <= 1


def test_clusters_by_their_distance():
    words = [clusters.verdict(tv, 0.8) for tv in (0.2, 0.21, 0.59, 0.61)]
    assert words == ["survived", "blurred", "blurred", "lost"]
    assert clusters.verdict(0.08, 0.09) == "like all users"


@pytest.mark.parametrize(
    ("kind", "where", "name"),
    [
        ([], [], "Often at x, y"),
        ([], ["north", "centre"], "North and centre"),
        (["food"], [], "Food"),
        (["food", "park", "pier"], ["east"], "Food, park in the east"),
    ],
)
def test_names_of_clusters(kind, where, name):
    shares = ([(name, 0.5, 0.1) for name in names] for names in (kind, where))
    assert clusters._name(*shares, ["x", "y", "z"]) == name


def test_clusters_with_one_title_are_told_apart(small_run, monkeypatch):
    monkeypatch.setattr(clusters, "STANDS_OUT", 2.0)
    monkeypatch.setattr(clusters, "_name", lambda *_: "Everywhere")
    monkeypatch.setattr(clusters, "_when", lambda _: "all day")
    counts = clusters.count_clusters(small_run.train, small_run.released, small_run.factors)
    found = clusters.clusters(counts, small_run.train, np.arange(36))
    assert len({c.title for c in found}) == 3
    assert all(c.title.startswith("Everywhere, all day, often at ") for c in found)
    assert "More than others" not in found[0].description
