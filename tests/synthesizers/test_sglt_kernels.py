"""SGLT's kernels against plain NumPy and SciPy: matching, partition, candidates, decoding."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import linear_sum_assignment

import doppeltrace as dt
from doppeltrace import streams
from doppeltrace._stream_kernels import seed_stream
from doppeltrace.synthesizers.sglt import _kernels as kernels
from doppeltrace.synthesizers.sglt import _trace_kernels as trace_kernels
from doppeltrace.synthesizers.sglt.mobility import aggregate_mobility
from doppeltrace.synthesizers.sglt.profiles import Profiles
from doppeltrace.synthesizers.sglt.semantics import location_graph, partition

FLOOR = 1e-9


def _dense(profiles, user):
    """Return π_u over all places."""
    part = slice(profiles.start[user], profiles.start[user + 1])
    pi = np.full(profiles.n_places, profiles.unseen)
    pi[profiles.place[part]] = profiles.probability[part]
    return pi


def _graph_by_pairs(profiles):
    """The plain twin of `location_graph`: every ordered pair, matched by sorting."""
    users = [u for u in range(len(profiles.start) - 1) if np.diff(profiles.start)[u]]
    weights = np.zeros((profiles.n_places,) * 2)
    for u, v in itertools.product(users, users):
        p, q = _dense(profiles, u), _dense(profiles, v)
        x, y = np.argsort(-p, kind="stable"), np.argsort(-q, kind="stable")
        shared = np.minimum(p[x], q[y])
        weights[x, y] += shared * shared.sum()
    return weights + FLOOR * weights.mean()


probabilities = arrays(np.float64, 6, elements=st.floats(0.01, 1.0)).map(lambda p: p / p.sum())


@given(probabilities, probabilities)
@settings(max_examples=200)
def test_sorting_solves_the_assignment_problem(p, q):
    """max_σ Σ log₂ min(p(x), q(σ(x))) is reached by pairing in the order of probability."""
    gain = np.log2(np.minimum(p[:, None], q))
    best = gain[linear_sum_assignment(gain, maximize=True)].sum()
    x, y = np.argsort(-p), np.argsort(-q)
    assert np.isclose(gain[x, y].sum(), best, atol=1e-9)


@given(
    arrays(np.int64, 5, elements=st.integers(0, 3)),
    arrays(np.int64, 5, elements=st.integers(0, 3)),
)
@settings(max_examples=100)
def test_ties_change_nothing_in_the_objective(a, b):
    p, q = (a + 0.5) / (a + 0.5).sum(), (b + 0.5) / (b + 0.5).sum()
    gain = np.log2(np.minimum(p[:, None], q))
    best = gain[linear_sum_assignment(gain, maximize=True)].sum()
    x = np.argsort(-p, kind="stable")
    for y in (np.argsort(-q, kind="stable"), np.argsort(q, kind="stable")[::-1]):
        assert np.isclose(gain[x, y].sum(), best, atol=1e-9)


def test_profiles_by_hand(tiny):
    """User 0 of `tiny` visits 2, 3 and 4 twice each and 1 once, of seven events."""
    profiles = Profiles.of(tiny, 0.1)
    part = slice(profiles.start[0], profiles.start[1])
    np.testing.assert_array_equal(profiles.place[part], [2, 3, 4, 1])
    np.testing.assert_allclose(profiles.probability[part], 0.9 * np.array([2, 2, 2, 1]) / 7 + 0.02)
    np.testing.assert_allclose([_dense(profiles, u).sum() for u in range(3)], 1)


@pytest.mark.parametrize("smoothing", [0.01, 0.3])
def test_location_graph_equals_its_twin(tiny, smoothing):
    city = dt.simulate_city(users=25, places=12, seed=3).traces
    silent = dt.Traces(
        np.arange(3), [0, 4, 4, 9], [0, 1, 1, 2, 3, 3, 3, 4, 0], [0, 1, 2, 3, 0, 1, 2, 3, 4],
        places=tiny.places, clock=tiny.clock,
    )  # fmt: skip
    for traces in (tiny, city, silent):
        profiles = Profiles.of(traces, smoothing)
        weights = location_graph(profiles)
        np.testing.assert_allclose(weights, _graph_by_pairs(profiles), rtol=1e-12)
        np.testing.assert_array_equal(weights, weights.T)


def test_similarity_of_different_smoothing():
    p, q = np.array([0.5, 0.3]), np.array([0.6, 0.2, 0.2])
    # places left: 5 − 2 with 0.05 for p (of 5), q has nothing left
    value = kernels.similarity(p, q, 0.2 / 3, 0.0, 5)
    assert np.isclose(value, 0.5 + 0.2 + 0.2 / 3)


def _criterion(weights, labels):
    total = 0.0
    for k in np.unique(labels):
        mine = labels == k
        total += mine.sum() ** 2 * weights[mine].sum() / weights[np.ix_(mine, mine)].sum()
    return total


def test_partition_finds_planted_clusters():
    rng = np.random.default_rng(1)
    truth = rng.permutation(np.repeat(np.arange(6), 5))
    weights = 0.05 + (truth[:, None] == truth) + 0.02 * rng.random((30, 30))
    labels = partition(weights + weights.T, 6, seed=0)
    groups = {tuple(np.flatnonzero(labels == k)) for k in range(6)}
    assert groups == {tuple(np.flatnonzero(truth == k)) for k in range(6)}


def test_refinement_lowers_the_criterion_to_a_local_minimum():
    rng = np.random.default_rng(2)
    weights = rng.random((20, 20))
    weights += weights.T
    labels = np.arange(20) % 4
    before = _criterion(weights, labels)
    cost = kernels.refine_partition(weights, labels, 4, rng.permutation(20), 100)
    assert np.isclose(cost, _criterion(weights, labels))
    assert cost < before
    for i, k in itertools.product(range(20), range(4)):
        moved = labels.copy()
        moved[i] = k
        if len(np.unique(moved)) == 4:
            assert _criterion(weights, moved) > cost * (1 - 1e-9)


def test_clusters_are_of_alike_size(people_flow):
    weights = location_graph(Profiles.of(people_flow.train, 0.3))
    for clusters in (50, 100):
        size = np.bincount(partition(weights, clusters, seed=0), minlength=clusters)
        assert size.min() >= 2
        assert size.max() < 3 * 400 / clusters


def test_aggregate_mobility_by_hand():
    """Two places 111 km apart; one user goes 0, 0, 1 and back to the start."""
    clock = dt.Clock.regular(instant_minutes=480)
    places = dt.Places([0, 1], [0.0, 1.0], [0.0, 0.0])
    traces = dt.Traces.from_events([0] * 3, [0, 0, 1], [0, 1, 2], places=places, clock=clock)
    matrix, stationary = aggregate_mobility(traces)
    near = 1 / 111.195**2
    far = near / (1 + near)
    expected = [
        [0.5 * 1.5 / 3 + 0.5 * (1 - far), 0.5 * 1.5 / 3 + 0.5 * far],
        [0.5 * 1.5 / 2 + 0.5 * far, 0.5 * 0.5 / 2 + 0.5 * (1 - far)],
    ]
    np.testing.assert_allclose(matrix, expected, rtol=1e-5)
    np.testing.assert_allclose(stationary @ matrix, stationary, atol=1e-10)
    assert np.isclose(stationary.sum(), 1)


LABEL = np.array([0, 0, 0, 0, 1, 1, 1, 1])
FIRST = np.array([0, 4, 8])
MEMBER = np.arange(8, dtype=np.int32)


def _state(start):
    state = np.empty(4, np.uint64)
    seed_stream(streams.key(1, "test"), start, state)
    return state


def _candidates(seed, *, thinning=0.0, merging=0.0, removal=0.0, start=1):
    candidate = np.ones((len(seed), 8), np.bool_)
    trace_kernels.candidate_sets(
        np.array(seed, np.int32), LABEL, FIRST, MEMBER, thinning, merging, removal,
        np.empty(8, np.int32), np.empty(2, np.int64), candidate, _state(start),
    )  # fmt: skip
    return candidate


def _sets(candidate):
    return [set(np.flatnonzero(row)) for row in candidate]


A, B = {0, 1, 2, 3}, {4, 5, 6, 7}


def test_candidates_are_the_cluster():
    assert _sets(_candidates([0, 5])) == [A, B]


def test_candidates_of_an_unknown_event():
    assert _sets(_candidates([-1, -1])) == [set(), set()]


def test_thinning_takes_a_quarter_once_per_trace():
    met = set()
    for start in range(40):
        one, other, again = _sets(_candidates([0, 5, 1], thinning=0.25, start=start))
        assert len(one) == 3 and one < A and one == again
        assert len(other) == 3 and other < B
        met.add(frozenset(one))
    assert len(met) == 4
    # half of four would leave two, fewer than three: nothing is removed
    assert _sets(_candidates([0, 5], thinning=0.5)) == [A, B]


def test_removal_takes_the_true_place():
    assert _sets(_candidates([0, 5], removal=1.0)) == [A - {0}, B - {5}]
    share = np.mean([_candidates([0], removal=0.3, start=s)[0, 0] for s in range(2000)])
    assert abs(share - 0.7) < 5 * np.sqrt(0.21 / 2000)


def test_merging_reaches_as_far_as_the_stay():
    """A fraction of 1 adds whole sets: from t to t + d + min(d, d₂)."""
    both = A | B
    # d = 1 at t = 1 (d₂ = 2): 1 … 3; d = 2 at t = 0 (d₂ = 2): 0 … 4
    assert _sets(_candidates([0, 0, 5, 5, 5, 5][:5], merging=1.0)) == [both] * 5
    # one move at the end of three: d = 3 at 0 reaches 0 … 3 + min(3, 0)
    assert _sets(_candidates([0, 0, 0, 5], merging=1.0)) == [both] * 4
    # with d = 1 at t = 0 and d₂ = 4 only 0 … 2 merge
    assert _sets(_candidates([0, 5, 5, 5, 5, 5], merging=1.0)) == [both] * 3 + [B] * 3
    # a move inside a cluster merges nothing
    assert _sets(_candidates([0, 1, 2], merging=1.0)) == [A] * 3


def test_merging_lends_the_first_of_each_set():
    """0.75 of four is three at d = 1; 0.75⁴ of four is one at d = 2; none at d = 3."""
    one, other = A | {4, 5, 6}, B | {0, 1, 2}
    assert _sets(_candidates([0, 5, 5, 5], merging=0.75)) == [one, other, other, B]
    assert _sets(_candidates([0, 0, 5], merging=0.75)) == [A | {4}, one, other]
    assert _sets(_candidates([0, 0, 0, 5], merging=0.75))[0] == A
    # what thinning took is not lent either
    for start in range(10):
        own, _ = _sets(_candidates([0, 5], thinning=0.25, merging=0.75, start=start))
        kept = _sets(_candidates([0, 5], thinning=0.25, start=start))
        assert own == kept[0] | set(sorted(kept[1])[:2])


def _decode(candidate, log_move, log_start, randomization, start=1):
    length, n = candidate.shape
    listed, number = np.empty((length, n), np.int32), np.empty(length, np.int64)
    trace_kernels.list_candidates(candidate, listed, number)
    out = np.empty(length, np.int32)
    trace_kernels.decode(
        listed, number, np.ascontiguousarray(log_move.T), log_start, randomization,
        np.empty((length, n)), np.zeros((length, n), np.int32), out, _state(start),
    )  # fmt: skip
    return out


@pytest.mark.parametrize("trial", range(10))
def test_decoding_without_noise_finds_the_best_path(trial):
    rng = np.random.default_rng(trial)
    move, begin = rng.random((4, 4)), rng.random(4)
    log_move, log_start = np.log(move), np.log(begin)
    candidate = rng.random((5, 4)) < 0.6
    candidate[2] = trial % 2 == 0  # an empty set stands for every place
    allowed = [np.flatnonzero(row) if row.any() else np.arange(4) for row in candidate]
    best = max(
        itertools.product(*allowed),
        key=lambda path: (
            log_start[path[0]] + sum(log_move[a, b] for a, b in itertools.pairwise(path))
        ),
    )
    np.testing.assert_array_equal(_decode(candidate, log_move, log_start, 1.0), best)


def test_noise_bridges_what_its_factor_bridges():
    """Of two places, the one 3 times less likely wins if r₂ > 3 r₁: with probability 1/54."""
    every = np.ones((1, 2), np.bool_)
    for ratio, share in ((3.0, 1 / 54), (4.1, 0.0)):
        log_start = np.log([ratio, 1.0])
        drawn = [_decode(every, np.zeros((2, 2)), log_start, 4.0, s)[0] for s in range(4000)]
        assert abs(np.mean(drawn) - share) <= 5 * np.sqrt(share * (1 - share) / 4000)
