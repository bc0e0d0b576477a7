"""The population base: a dense twin, whose moves count, the range of gravity, odd places."""

import datetime
import tracemalloc

import numpy as np
import pytest

import doppeltrace as dt
from doppeltrace.population import base as population
from doppeltrace.population.base import fit_range, lowest, population_base

SETTINGS = {
    "min_users": 2,
    "smoothing": 0.5,
    "stay": 5.0,
    "range_km": 2.0,
    "most_neighbours": 100,
}
KM = 1 / population.KM_PER_DEGREE  # degrees of latitude


def _traces(rows, north, east=None):
    """Return traces: one row of places per user, an event per instant, None where it is missing.

    north, east : (places,) kilometres from a point on the equator.
    """
    north = np.asarray(north, dtype=float)
    east = np.zeros_like(north) if east is None else np.asarray(east, dtype=float)
    places = dt.Places(np.arange(len(north)), north * KM, east * KM)
    length = max(len(row) for row in rows)
    clock = dt.Clock(np.zeros(length, int), 600, datetime.datetime(2024, 1, 1))
    events = [(u, x, t) for u, row in enumerate(rows) for t, x in enumerate(row) if x is not None]
    user, location, instant = np.array(events).T
    return dt.Traces.from_events(
        user, location, instant, places=places, clock=clock, users=np.arange(len(rows))
    )


def _base(traces, **changes):
    return population_base(traces, **(SETTINGS | changes))


def _random_traces(seed=0, users=12, places=15):
    rng = np.random.default_rng(seed)
    rows = np.cumsum(rng.integers(-1, 2, (users, 20)), axis=1) % places
    north, east = rng.uniform(0, 10, (2, places))
    return _traces(rows.tolist(), north - 5, east)


def _dense_lift(traces, min_users, smoothing, stay, range_km):
    """Return the lift from dense matrices and loops, Sinkhorn to convergence."""
    n = len(traces.places)
    by_user = np.zeros((traces.n_users, n, n))
    for user, origin, destination in zip(*traces.transitions()[:3], strict=True):
        by_user[user, origin, destination] += 1
    moves = by_user.sum(axis=0) * (np.sum(by_user > 0, axis=0) >= min_users)
    popularity = np.bincount(traces.location, minlength=n) + 0.5
    popularity /= popularity.mean()
    lat, lng = traces.places.lat / KM, traces.places.lng / KM
    lng = lng * np.cos(np.deg2rad(traces.places.lat.mean()))
    distance = np.hypot(lat[:, None] - lat, lng[:, None] - lng)
    decay = np.exp(-distance / range_km) * (distance < population.CUT_OFF * range_km)
    np.fill_diagonal(decay, stay)
    gravity = popularity[:, None] * decay * popularity
    for _ in range(2_000):
        root = np.sqrt(popularity / gravity.sum(axis=1))
        gravity *= np.outer(root, root)
    joint = (moves + moves.T) / 2 + smoothing * gravity
    shares = joint.sum(axis=1)
    return joint / np.outer(shares, shares) * joint.sum() / n


@pytest.mark.parametrize("min_users", [1, 2, 4])
def test_lift_is_that_of_dense_matrices(min_users):
    traces = _random_traces()
    settings = SETTINGS | {"min_users": min_users}
    base = population_base(traces, **settings)
    del settings["most_neighbours"]
    np.testing.assert_allclose(
        base.lift.toarray(), _dense_lift(traces, **settings), rtol=1e-6, atol=1e-12
    )


@pytest.mark.parametrize("changes", [{}, {"most_neighbours": 2}, {"range_km": None}])
def test_lift_is_symmetric_and_places_hold_their_visitors(changes):
    lift = _base(_random_traces(1), **changes).lift
    dense = lift.toarray()
    np.testing.assert_allclose(dense, dense.T, rtol=1e-12)
    assert np.all(dense.diagonal() > 0)
    assert np.all(dense >= 0)
    assert np.all(np.isfinite(dense))


def test_gravity_has_the_popularity_as_row_sums():
    rng = np.random.default_rng(2)
    popularity, points = rng.gamma(0.5, 1.0, 300) + 0.01, rng.uniform(0, 20, (300, 2))
    for stay in (0.1, 14.0):
        gravity = population._gravity(popularity, points, 1.0, stay, 50)
        np.testing.assert_allclose(gravity.sum(axis=1), popularity, rtol=1e-3)
        assert abs(gravity - gravity.T).max() < 1e-12


# ---- whose moves count ----------------------------------------------------------------------

LINE = np.arange(8) * 3.0
COMMON = [[0, 1, 1, 2], [0, 1, 1, 2], [0, 1, 2, 2]]


def test_moves_kept_and_dropped():
    """0→1 and 1→2 are three users', 1→1 two users', 2→2 and the stranger's moves one user's."""
    traces = _traces([*COMMON, [5, 6, None, 7]], LINE)
    for min_users, kept in ((1, 10), (2, 8), (3, 6), (4, 0)):
        base = _base(traces, min_users=min_users)
        assert (base.moves_kept, base.moves_dropped) == (kept, 10 - kept)


def test_a_move_repeated_by_one_user_is_still_one_users():
    traces = _traces([*COMMON, [5, 6, 5, 6, 5, 6]], LINE)
    assert _base(traces, min_users=2).moves_dropped == 1 + 5


def test_a_lone_users_moves_leave_no_trace():
    """Other moves between places as popular as before: the same base, bit for bit."""
    one, other = (
        _traces([*COMMON, lonely], LINE) for lonely in ([4, 5, 6, 7, 3], [5, 7, 4, 3, 6])
    )
    for min_users in (2, 3):
        a, b = (_base(traces, min_users=min_users).lift for traces in (one, other))
        np.testing.assert_array_equal(a.toarray(), b.toarray())
    a, b = (_base(traces, min_users=1).lift for traces in (one, other))
    assert not np.allclose(a.toarray(), b.toarray())


def test_a_lone_users_visits_speak_through_popularity_alone():
    """The base equals that of the same visits without any transition."""
    moving = _traces([*COMMON, [4, 5, 6, 7]], LINE)
    resting = _traces([*COMMON, [4, None, 5, None, 6, None, 7]], LINE)
    np.testing.assert_array_equal(
        _base(moving, min_users=2).lift.toarray(), _base(resting, min_users=2).lift.toarray()
    )


def test_a_common_move_ties_places_that_gravity_does_not():
    lift = _base(_traces(COMMON, LINE * 10), min_users=3).lift.toarray()
    assert lift[0, 1] > 0
    assert lift[1, 0] == lift[0, 1]
    assert lift[3, 4] == 0
    assert _base(_traces(COMMON, LINE * 10), min_users=4).lift.toarray()[0, 1] == 0


def test_chance_has_lift_one():
    """Everybody moves from everywhere to everywhere: with little smoothing, lift is alike."""
    pairs = [(a, b) for a in range(4) for b in range(4)]
    row = [x for a, b in pairs for x in (a, b, None)]
    lift = _base(_traces([row, row], LINE[:4]), smoothing=1e-9).lift.toarray()
    np.testing.assert_allclose(lift, lift[0, 0], rtol=1e-6)


# ---- the settings have their effect ---------------------------------------------------------


def _onward(base):
    """Return the probabilities of the base alone, all places being equally liked."""
    dense = base.lift.toarray()
    return dense / dense.sum(axis=1, keepdims=True)


def test_stay_holds():
    traces = _random_traces(3)
    less, more = (
        _onward(_base(traces, stay=stay, min_users=100)).diagonal() for stay in (1.0, 20.0)
    )
    assert np.all(more > less)


def test_smoothing_spreads():
    """What nobody did gains, and what many did loses."""
    traces = _traces(COMMON, np.arange(8) * 1.0)
    less, more = (_onward(_base(traces, smoothing=s)) for s in (0.1, 10.0))
    assert more[0, 2] > less[0, 2]  # within gravity's reach, but never made
    assert more[0, 1] < less[0, 1]


def test_range_reaches():
    traces = _random_traces(4)
    near, far = (_base(traces, range_km=r, min_users=100).lift.nnz for r in (0.5, 3.0))
    assert near < far


def test_most_neighbours_is_a_bound():
    """Row sums are of nearest places either way round, so the total is what is bounded."""
    rng = np.random.default_rng(5)
    north, east = rng.uniform(0, 10, (2, 400))
    traces = _traces([[0, 1]], north, east)
    for most in (1, 5, 30):
        lift = _base(traces, range_km=50.0, most_neighbours=most).lift
        assert 400 * (most + 1) <= lift.nnz <= 400 * (2 * most + 1)


def test_memory_does_not_grow_with_places_squared():
    rng = np.random.default_rng(6)
    places = 8_000
    north, east = rng.uniform(0, 20, (2, places))
    rows = rng.integers(0, places, (40, 50)).tolist()
    traces = _traces(rows, north, east)
    tracemalloc.start()
    base = _base(traces, range_km=None, most_neighbours=20, min_users=1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < places**2 / 2  # bytes: a sixteenth of one dense matrix
    assert base.lift.nnz <= places * 41 + 2 * base.moves_kept


@pytest.mark.parametrize(
    "wrong",
    [
        {"min_users": 0},
        {"smoothing": 0.0},
        {"smoothing": np.inf},
        {"smoothing": np.nan},
        {"stay": 0.0},
        {"stay": np.inf},
        {"range_km": 0.0},
        {"range_km": np.inf},
        {"range_km": np.nan},
        {"most_neighbours": 0},
    ],
)
def test_settings_out_of_range(wrong):
    with pytest.raises(dt.SettingsError, match=next(iter(wrong))):
        _base(_random_traces(), **wrong)


# ---- the range of gravity -------------------------------------------------------------------


def _gravity_moves(rng, range_km, places, moves, far=0.1):
    """Return (moves, popularity, points) of trips by gravity, a share `far` of them anywhere."""
    points = rng.uniform(0, 20, (places, 2))
    popularity = rng.gamma(2.0, 1.0, places)
    origin = rng.integers(0, places, moves)
    distance = np.linalg.norm(points[origin][:, None] - points[None], axis=2)
    weight = popularity * np.exp(-distance / range_km)
    anywhere = rng.random(moves) < far
    weight[anywhere] = popularity
    weight[np.arange(moves), origin] = 0.0
    total = np.cumsum(weight, axis=1)
    destination = np.sum(total < rng.random((moves, 1)) * total[:, -1:], axis=1)
    ones = np.ones(moves)
    return population._Moves(origin, destination, ones, ones.astype(int)), popularity, points


@pytest.mark.parametrize(
    ("range_km", "places", "far"), [(1.5, 250, 0.1), (4.0, 250, 0.0), (1.5, 900, 0.3)]
)
def test_planted_range_is_found(range_km, places, far):
    """Few percent off: 4,000 moves tell an exponential's range to about 1 / √4000 × 2."""
    rng = np.random.default_rng(7)
    found = fit_range(*_gravity_moves(rng, range_km, places, 4_000, far))
    assert found == pytest.approx(range_km, rel=0.12)


@pytest.mark.parametrize("deeper", [-1.6, 2.3])
def test_the_deeper_of_two_valleys_is_found(deeper):
    """New York has one at 0.7 km and one at 5 km, almost as deep as each other."""

    def loss(x):
        wells = [(-1.6, 0.5), (2.3, 1.2)]
        return -sum((1.02 if at == deeper else 1.0) * np.exp(-(((x - at) / w) ** 2))
                    for at, w in wells)  # fmt: skip

    assert lowest(loss, -2.5, 3.0) == pytest.approx(deeper, abs=0.02)


def test_base_tells_the_range_it_used():
    traces = _random_traces()
    assert _base(traces, range_km=1.25).range_km == 1.25
    fitted = _base(traces, range_km=None)
    same = _base(traces, range_km=fitted.range_km)
    np.testing.assert_array_equal(fitted.lift.toarray(), same.lift.toarray())


# ---- odd cases ------------------------------------------------------------------------------


def test_no_moves():
    """Users seen once: the range is the typical distance between neighbours."""
    base = _base(_traces([[0], [1], [3]], LINE), range_km=None)
    assert (base.moves_kept, base.moves_dropped) == (0, 0)
    assert base.range_km == pytest.approx(3.0)
    assert np.all(base.lift.diagonal() > 0)


def test_one_place():
    base = _base(_traces([[0, 0, 0], [0]], [1.0]), range_km=None)
    np.testing.assert_allclose(base.lift.toarray(), [[1.0]])


def test_places_at_the_same_coordinates():
    """Twins are as near as can be; many more than the neighbours asked for do no harm."""
    base = _base(_traces([[0, 1, 2]], [0.0, 0.0, 5.0]), range_km=1.0)
    dense = base.lift.toarray()
    assert dense[0, 1] > 0
    assert dense[0, 2] == 0
    crowd = _base(_traces([[0, 1, 2]], np.zeros(40)), range_km=None, most_neighbours=5)
    assert np.all(crowd.lift.diagonal() > 0)
    assert np.all(np.isfinite(crowd.lift.data))


def test_a_remote_place_is_tied_to_itself_alone():
    """Far beyond what exp(−distance / range) can express, and still on somebody's way."""
    north = np.append(np.arange(10) * 0.002, 900.0)
    traces = _traces([[0, 1, 10, 2], [10, 3, 4, 5], [6, 7, 8, 9]], north)
    base = _base(traces, range_km=None)
    assert np.isfinite(base.range_km)
    dense = base.lift.toarray()
    assert dense[10, 10] > 0
    assert not dense[10, :10].any()
