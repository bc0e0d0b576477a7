"""The paper's step (iii) written out with explicit matrices: the twin of `doppeltrace.chain`."""

import datetime

import numpy as np

import doppeltrace as dt


class _Explicit:
    """π_{n,l} and Q_{n,l} of one user as arrays.

    target (L, X), transition (L, X, X); transition[l, a, b] = Q_{n,l}(b | a).
    """

    def log_likelihood(self, trace, slots):
        """Return ln p(y = M(n)), the product over the trace taken factor by factor."""
        p = [self.target[slots[0], trace[0]]]
        for t in range(1, len(trace)):
            p.append(self.transition[slots[t], trace[t - 1], trace[t]])
        return float(np.sum(np.log(p)))


class ExplicitChain(_Explicit):
    """The chain of the paper; proposal (X, X) is Q*_n."""

    def __init__(self, theta, user, floor):
        weights = np.maximum(np.einsum("k,ak,bk->ab", theta.A[user], theta.B, theta.C), floor)
        self.proposal = weights / weights.sum(axis=1, keepdims=True)
        visits = np.maximum(np.einsum("k,xk,lk->lx", theta.A[user], theta.B, theta.D), floor)
        self.target = visits / visits.sum(axis=1, keepdims=True)
        slots = []
        for pi in self.target:
            backward = self.proposal.T * pi[None, :] / pi[:, None]
            moves = np.minimum(self.proposal, backward)
            np.fill_diagonal(moves, 0.0)
            slots.append(moves + np.diag(1.0 - moves.sum(axis=1)))
        self.transition = np.array(slots)


class ExplicitBaseChain(_Explicit):
    """The chain along a base: factors, lift (X, X), jump τ and hold h (L,) in, by the book.

    proposals (L, X, X): Q*(b | a) ∝ K_l(a, b) π_l(b), K_l(a, a) = h_l K(a, a).
    """

    def __init__(self, theta, user, lift, jump, hold):
        likes = np.einsum("k,xk,lk->lx", theta.A[user], theta.B, theta.D)
        self.target = likes / likes.sum(axis=1, keepdims=True)
        own = np.eye(len(lift)) * lift
        bases = lift[None] + (hold[:, None, None] - 1) * own
        weights = bases * self.target[:, None, :]
        self.proposals = weights / weights.sum(axis=2, keepdims=True)
        slots = []
        for pi, proposal in zip(self.target, self.proposals, strict=True):
            flow = pi[:, None] * proposal
            moves = np.minimum(flow, flow.T) / pi[:, None]
            np.fill_diagonal(moves, 0.0)
            steps = moves + np.diag(1.0 - moves.sum(axis=1))
            slots.append((1 - jump) * steps + jump * pi[None, :])
        self.transition = np.array(slots)


def chi_square(counts, probabilities):
    """Return (statistic, degrees of freedom); rare outcomes are put together."""
    expected = counts.sum() * probabilities
    rare = expected < 5
    if rare.any() and not rare.all():
        counts = np.append(counts[~rare], counts[rare].sum())
        expected = np.append(expected[~rare], expected[rare].sum())
    if expected[-1] < 5:  # still too rare for χ²: ask only that it is not much too frequent
        assert counts[-1] <= expected[-1] + 8 * np.sqrt(expected[-1]) + 2
        counts, expected = counts[:-1], expected[:-1] * counts[:-1].sum() / expected[:-1].sum()
    if len(counts) < 2:
        return 0.0, 0
    return float(np.sum((counts - expected) ** 2 / expected)), len(counts) - 1


def random_model(seed, users=4, places=6, factors=3, floor=1e-8, **settings):
    """Return a PPMTF with random factors, some reconstructions negative, and no real data.

    The clock has five instants in three slots: 0 0 1 2 2, repeated.
    """
    rng = np.random.default_rng(seed)
    clock = dt.Clock([0, 0, 1, 2, 2], 3600, datetime.datetime(2020, 1, 1), cycle=5)
    where = dt.Places(np.arange(places), np.linspace(0, 1, places), np.linspace(0, 1, places))
    like = dt.Traces.from_events(
        np.arange(users), np.zeros(users, int), np.zeros(users, int), places=where, clock=clock
    )
    shapes = ((users, factors), (places, factors), (places, factors), (3, factors))
    theta = (rng.normal(0.5, 0.8, size=shape) for shape in shapes)
    return dt.PPMTF.from_factors(*theta, like=like, floor=floor, **settings)
