"""The parts of the findings, by hand."""

import datetime as dt

import numpy as np
import pytest

from doppeltrace import Clock, Places, SyntheticTraces
from doppeltrace.report.figures import slots
from doppeltrace.report.figures.encoding import packed, plain, unpacked
from doppeltrace.report.figures.words import clock_time, cut, percent, unbroken
from doppeltrace.report.figures.zones import zones
from doppeltrace.report.internal import clusters, losses, privacy
from doppeltrace.report.internal import flows as movement
from doppeltrace.report.internal import move_rates as moving
from doppeltrace.report.internal import suppression as few
from doppeltrace.report.internal.population import choose_places
from doppeltrace.utility.summary import Summary


def test_packing_keeps_small_shares_apart():
    shares = np.array([0.0, 1e-5, 3e-4, 0.02, 0.3])
    again = unpacked(packed(shares, 0.3), 0.3)
    assert np.allclose(again, shares, rtol=0.005)
    assert again[0] == 0 and again[-1] == pytest.approx(0.3)
    assert unpacked(packed(np.zeros(3), 0.0), 0.0).tolist() == [0, 0, 0]
    assert plain([1 / 3, np.nan, 1234567.0], 3) == [0.333, None, 1230000.0]


def test_percent():
    assert [percent(x) for x in (0, 0.001234, 0.01234, 0.1234)] == [
        "0\u00a0%", "0.12\u00a0%", "1.2\u00a0%", "12\u00a0%",
    ]  # fmt: skip
    assert [percent(x) for x in (0.00998, 0.0998)] == ["1.0\u00a0%", "10\u00a0%"]
    assert [clock_time(x) for x in (1 / 3, 10 + 1 / 3, 2)] == ["0:20", "10:20", "2:00"]
    assert cut("a place", 7) == "a place" and cut("a longer place", 9) == "a longer…"
    assert unbroken("a 95 % b (p = 0.1)") == "a 95\u00a0% b (p\u00a0=\u00a00.1)"
    assert unbroken("9:00–10:00") == "9:00\u2060–\u206010:00"


def test_slot_labels():
    daily = Clock.regular(instant_minutes=60, instants_per_slot=8)
    assert slots.slot_labels(daily) == ["00:00–08:00", "08:00–16:00", "16:00–24:00"]
    part = Clock.regular(instant_minutes=20, first_hour=9, last_hour=10)
    assert slots.slot_labels(part) == ["09:00–09:20", "09:20–09:40", "09:40–10:00"]
    monday = dt.datetime(2024, 1, 1)
    week = Clock(np.arange(168), 3600, monday, cycle=168)
    assert slots.slot_labels(week)[25] == "Tue 01:00–02:00"
    days = Clock(np.arange(48), 3600, monday)
    assert slots.slot_labels(days)[24] == "Tue 2024-01-02 00:00–01:00"
    mixed = Clock.from_slots([[0, 2], [1, 3]], instant_seconds=3600, start=monday)
    assert slots.slot_labels(mixed)[0] == "00:00–01:00, 02:00–03:00"


def test_busy_hours():
    clock = Clock.regular(instant_minutes=60)
    weight = np.ones(24)
    assert slots.busy_hours(clock, weight) == "all day"
    weight[18:22] = 5
    assert slots.busy_hours(clock, weight) == "18:00–22:00"
    weight[6:9] = 4
    assert slots.busy_hours(clock, weight) == "06:00–09:00 and 18:00–22:00"
    weight = np.ones(24)
    weight[9:19] = 6
    assert slots.busy_hours(clock, weight) == "09:00–19:00"
    mixed = Clock.from_slots([[0, 2], [1, 3]], instant_seconds=3600, start=dt.datetime(2024, 1, 1))
    short = Clock.regular(instant_minutes=20, first_hour=9, last_hour=19)
    weight = np.ones(30)
    weight[[4, 11, 27]] = 1.6  # single slots that stand out are noise
    assert slots.busy_hours(short, weight) == "all day"
    weight[:2] = 3.0  # so is less than an hour
    assert slots.busy_hours(short, weight) == "all day"
    weight[:2], weight[18:24] = 1.0, 1.6
    assert slots.busy_hours(short, weight) == "15:00–17:00"
    assert "00:00–01:00, 02:00–03:00" in slots.busy_hours(mixed, np.array([9.0, 1.0]))


def test_flows_by_hand(tiny, monkeypatch):
    keys, counts, users = movement.flow_counts(tiny, 5)
    # user 0: 1→2 2→3, 2→3 3→4; user 1: 0→0 0→1 1→1; user 2: 4→3 3→2 2→1 1→0 0→0 0→0 0→1 1→2
    found = {(k // 5, k % 5): c for k, c in zip(keys.tolist(), counts.tolist(), strict=True)}
    assert found == {
        (1, 2): 2, (2, 3): 2, (3, 4): 1, (0, 1): 2, (4, 3): 1, (3, 2): 1, (2, 1): 1, (1, 0): 1,
    }  # fmt: skip
    made_by = {(k // 5, k % 5): n for k, n in zip(keys.tolist(), users.tolist(), strict=True)}
    assert made_by == {**found, (2, 3): 1}
    made = SyntheticTraces([[1, 2, 1, 2]], [0], [0], tiny.places, tiny.clock)
    assert movement.strongest_flows(tiny, made, 5, top=2) == [
        movement.Flow(1, 2, None, pytest.approx(2 / 3, abs=1e-5)),
        movement.Flow(2, 1, None, pytest.approx(1 / 3, abs=1e-5)),
    ]
    monkeypatch.setattr("doppeltrace.report.internal.suppression.MIN_USERS", 1)
    flows = movement.strongest_flows(tiny, made, 5, top=2)
    assert [(f.origin, f.destination) for f in flows] == [(1, 2), (0, 1), (2, 1)]
    assert [f.real for f in flows] == pytest.approx([2 / 11, 2 / 11, 1 / 11], abs=1e-5)
    assert [f.synthetic for f in flows] == pytest.approx([2 / 3, 0, 1 / 3], abs=1e-5)


def test_flows_of_several_chunks_add_up(tiny, monkeypatch):
    whole = movement.flow_counts(tiny, 5)
    monkeypatch.setattr("doppeltrace.utility.summary.CHUNK", 1)
    for a, b in zip(movement.flow_counts(tiny, 5), whole, strict=True):
        assert a.tolist() == b.tolist()


def test_histogram_by_hand(tiny):
    stays = movement.histograms(Summary.of(tiny), Summary.of(tiny))[1]
    assert stays.title == "Stay at one place" and stays.unit == "h"
    assert stays.start == stays.width == pytest.approx(1 / 3)
    # stays in instants: user 0: 1 1 1 1 1 1 1; user 1: 2 2 1; user 2: 1 1 1 1 3 1 1
    assert stays.real == pytest.approx([14 / 17, 2 / 17, 1 / 17], abs=1e-5)
    assert stays.real_mean == pytest.approx(21 / 17 / 3)


def test_histogram_bins_are_round_and_the_last_is_open():
    counts = np.zeros(1001, dtype=np.int64)
    counts[[0, 49, 50, 99]] = 100
    counts[1000] = 1
    one = movement._histogram("trip_length_emd", counts, counts, 0.01)
    assert one.width == pytest.approx(0.05) and len(one.real) == 20
    assert [i for i, share in enumerate(one.real) if share] == [0, 9, 10, 19]
    assert one.real[-1] == pytest.approx(101 / 401, abs=1e-5)
    empty = movement._histogram("trip_length_emd", np.zeros(1, np.int64), counts, 0.01)
    assert empty.real == [] and empty.real_mean is None


def test_coverage(tiny):
    # 7 + 5 + 9 events in three user-days of nine instants
    assert movement.coverage(Summary.of(tiny)) == pytest.approx(21 / 27)


def test_places_that_others_speak_of_are_shown():
    real = np.zeros((500, 900), dtype=np.int64)
    real[:, 10] = 5
    shown, on_map = choose_places(real, real, {899})
    assert on_map == 800 and len(shown) == 801 and shown[0] == 10 and shown[-1] == 899
    assert choose_places(real[:1], real[:1], set())[1] == 900
    assert choose_places(np.repeat(real, 40, axis=0), real, set())[1] == 50


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


def test_clusters_of_models():
    class Two:
        visit_factors_ = factors_ = "Θ"

    class One:
        factors_ = "Θ"

    assert clusters.factors_of(Two()) is None and clusters.factors_of(object()) is None
    assert clusters.factors_of(One()) == "Θ"


def test_pass_rates():
    assert privacy.pass_rates(None, 10) == [] and privacy.pass_rates(np.zeros(0, int), 10) == []
    plausible = np.array([1, 2, 2, 7])
    assert privacy.pass_rates(plausible, 6) == [
        (1, 1.0), (2, 0.75), (3, 0.25), (4, 0.25), (5, 0.25), (6, 0.25),
    ]  # fmt: skip
    many = privacy.pass_rates(plausible, 100_000)
    assert many[-1][1] == 0 and many[-2][1] > 0 and len(many) < 60
    assert privacy.pass_rates(plausible, 0) == []


def test_still_share(tiny):
    made = SyntheticTraces(
        [[1, 1, 1], [1, -1, 1], [1, 2, 1], [-1, 2, 2]], [0] * 4, [0] * 4, tiny.places, tiny.clock
    )
    assert privacy.still_share(made) == 0.75
    assert privacy.still_share(made.select(np.zeros(0, dtype=int))) == 0


def test_lost_share():
    assert losses.lost_share(0.3, 0.2, 0.6) == pytest.approx(0.25)
    assert losses.lost_share(0.3, 0.6, 0.6) is None
    assert losses.lost_share(np.nan, 0.2, 0.6) is None
    assert losses.lost_share(0.294, 0.292, 0.298) is None  # 2 % of uniform is no gap
    assert losses.lost_share(0.3, 0.285, 0.3) == pytest.approx(1.0)
    words = [losses.verdict(x) for x in (-0.1, 0.25, 0.5, 0.75, 3, None)]
    assert words == ["kept", "kept", "partly lost", "lost", "lost", losses.NO_YARDSTICK]


@pytest.mark.parametrize(
    ("lost", "real", "synthetic", "word"),
    [
        (0.0, 10.0, 12.5, "kept"),
        (0.0, 10.0, 12.6, "partly lost"),
        (0.0, 12.6, 10.0, "partly lost"),
        (0.0, 10.0, 20.0, "lost"),
        (-0.5, 7.57, 3.38, "lost"),
        (0.9, 10.0, 10.0, "lost"),
        (0.9, 10.0, 13.0, "lost"),
        (None, 10.0, 13.0, "partly lost"),
        (None, 10.0, 11.0, losses.NO_YARDSTICK),
        (0.0, 0.0, 0.0, "kept"),
        (0.0, 0.0, 1.0, "lost"),
    ],
)
def test_means_that_disagree_are_not_kept(lost, real, synthetic, word):
    assert losses.verdict(lost, real, synthetic) == word


def test_when_people_move_by_hand(tiny):
    moved, seen = moving.moves(tiny)
    users = [
        (t, o != d) for u in range(tiny.n_users) for o, d, a, t in _steps(tiny, u) if t == a + 1
    ]
    slot_of = tiny.clock.slot_of
    for slot in range(tiny.clock.n_slots):
        here = [elsewhere for t, elsewhere in users if slot_of[t] == slot]
        assert seen[slot] == len(here) and moved[slot] == sum(here)
    made = SyntheticTraces([[1] * 9], [0], [0], tiny.places, tiny.clock)
    found = moving.moving(tiny, made, tiny)
    # 15 pairs in all, of which 11 change place; the synthetic trace never moves
    assert found.real_mean == pytest.approx(11 / 15) and found.synthetic_mean == 0
    assert found.difference == pytest.approx(11 / 15) and found.training == 0
    assert losses.moving_verdict(found) == "lost"


def _steps(traces, user):
    rows = slice(traces.offsets[user], traces.offsets[user + 1])
    place, time = traces.location[rows].tolist(), traces.instant[rows].tolist()
    return zip(place, place[1:], time, time[1:], strict=False)


@pytest.mark.parametrize(
    ("difference", "training", "word"),
    [
        (0.1, 0.0, "kept"),
        (0.11, 0.0, "partly lost"),
        (0.2, 0.1, "lost"),
        (0.1, 0.11, losses.NO_YARDSTICK),
        (None, 0.1, losses.NO_YARDSTICK),
    ],
)
def test_verdict_of_when_people_move(difference, training, word):
    found = moving.Moving([0.4], [0.3], 0.4, 0.3, difference, training, 0.6)
    assert losses.moving_verdict(found) == word


def test_users_per_slot_and_place(tiny, monkeypatch):
    users = few.users_per_slot_and_place(tiny)
    expected = np.zeros_like(users)
    for _, slot, place in set(zip(tiny.user, tiny.slot, tiny.location, strict=True)):
        expected[slot, place] += 1
    assert users.tolist() == expected.tolist() and users.max() > 1
    monkeypatch.setattr("doppeltrace.utility.summary.CHUNK", 1)
    assert few.users_per_slot_and_place(tiny).tolist() == expected.tolist()
    assert few.too_few(np.array([0, 1, 4, 5])).tolist() == [False, True, True, False]
    assert few.bits(np.array([True, False, False, False, False, False, False, False, True])) == (
        "gIA="
    )


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


def test_zones_by_hand():
    lat = np.array([60.0, 60.0, 60.1, 60.2, 60.0, 59.7, 60.0])
    lng = np.array([20.0, 20.01, 20.2, 20.0, 20.4, 20.0, 19.6])
    counts = np.array([3, 0, 1, 1, 1, 1, 1])
    places = Places(np.arange(7), lat, lng)
    # a degree of longitude is half as long there, so 0.1 N 0.2 E lies in the north-east
    assert zones(places, counts).tolist() == [
        "centre", "centre", "north-east", "north", "east", "south", "west",
    ]  # fmt: skip
    assert set(zones(places, np.array([0, 0, 0, 0, 0, 9, 0]))) >= {"north-west"}
