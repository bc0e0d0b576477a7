"""The sampler's kernels against plain NumPy twins."""

import numpy as np
import pytest

from doppeltrace import _stream_kernels, streams
from doppeltrace.factorize import _kernels as kernels
from doppeltrace.factorize import sums
from doppeltrace.tensors import SparseTensor

FLOAT32 = {"rtol": 2e-4, "atol": 2e-4}  # sums of some hundred products in single precision


def _matrix(gram, z):
    """Return the (z, z) matrix of a gram kept as 4 × 4 blocks on and above the diagonal."""
    columns = -(-z // 4) * 4
    full = np.zeros((columns, columns))
    blocks = iter(np.asarray(gram, dtype=float).reshape(-1, 4, 4))
    for p in range(0, columns, 4):
        for q in range(p, columns, 4):
            full[p : p + 4, q : q + 4] = next(blocks)
    upper = np.triu(full)
    return (upper + np.triu(upper, 1).T)[:z, :z]


def _tensor(rng, shape, per_user):
    """Return a tensor of random elements, user n having per_user[n] of them, some zero."""
    offsets = np.concatenate([[0], np.cumsum(per_user)])
    return SparseTensor(
        shape,
        offsets,
        rng.integers(0, shape[1], offsets[-1]).astype(np.uint16),
        rng.integers(0, shape[2], offsets[-1]).astype(np.uint16),
        rng.integers(0, 4, offsets[-1]).astype(np.uint8),
    )


def _user(tensor):
    return np.repeat(np.arange(tensor.shape[0]), np.diff(tensor.offsets))


def _hyper(rng, z):
    root = rng.normal(size=(z, z))
    return root @ root.T + np.eye(z), rng.normal(size=z)


def _twin_row(gram, moment, alpha, precision, weighted_mean, key, row):
    """Return μ* + L⁻ᵀε, ε from the row's own stream."""
    z = len(weighted_mean)
    state = np.empty(4, np.uint64)
    _stream_kernels.seed_stream(key, row, state)
    noise = np.array([_stream_kernels.normal(state) for _ in range(z)])
    star = precision + alpha * gram
    mean = np.linalg.solve(star, weighted_mean + alpha * moment)
    return mean + np.linalg.solve(np.linalg.cholesky(star).T, noise)


@pytest.mark.parametrize(("z", "elements"), [(3, 0), (3, 1), (4, 5), (5, 7), (16, 4), (16, 1001)])
def test_gather_sums_products_of_rows(z, elements):
    rng = np.random.default_rng(z)
    left, right = rng.normal(size=(9, z)), rng.normal(size=(7, z))
    tensor = _tensor(rng, (1, 9, 7), [elements + 3])  # the kernel takes only a stretch of it
    stretch = slice(2, 2 + elements)
    a, b = sums.padded(left), sums.padded(right)
    gram = np.zeros((1, sums.gram_size(a)), np.float32)
    moment = np.zeros(a.shape[1], np.float32)
    blocks = np.empty((2 * kernels._BLOCK, a.shape[1]), np.float32)
    ends = np.array([2 + elements])
    squares = kernels.gather(
        tensor.row, tensor.column, tensor.count, 2, ends, a, b, sums.quads(a),
        blocks, gram, moment,
    )  # fmt: skip
    f = left[tensor.row[stretch]] * right[tensor.column[stretch]]
    np.testing.assert_allclose(
        _matrix(gram[0], z), np.einsum("ep,eq->pq", f, f), rtol=1e-4, atol=1e-3
    )
    np.testing.assert_allclose(moment[:z], tensor.count[stretch] @ f, rtol=1e-4, atol=1e-3)
    assert not moment[z:].any()
    assert squares == np.sum(tensor.count[stretch].astype(float) ** 2)


@pytest.mark.parametrize("z", [3, 16])
def test_users_are_drawn_from_their_conditional(z):
    rng = np.random.default_rng(10 + z)
    users, places, slots, alpha = 5, 9, 4, 2.5
    b, c, d = (rng.normal(size=(n, z)) for n in (places, places, slots))
    t = _tensor(rng, (users, places, places), [0, 1, 11, 30, 4])
    v = _tensor(rng, (users, places, slots), [0, 6, 0, 21, 9])
    precision, weighted_mean = _hyper(rng, z)
    key = streams.key(3, "twin")
    pads = [sums.padded(m) for m in (b, c, d)]
    out, error = np.empty((users, z)), np.empty(users)
    kernels.draw_users(
        0, users, t.offsets, t.row, t.column, t.count, v.offsets, v.row, v.column, v.count,
        *pads, sums.quads(pads[0]), sums.gram_size(pads[0]),
        alpha, precision, weighted_mean, key, out, error,
    )  # fmt: skip
    f = np.concatenate([b[t.row] * c[t.column], b[v.row] * d[v.column]])
    r = np.concatenate([t.count, v.count]).astype(float)
    user = np.concatenate([_user(t), _user(v)])
    for n in range(users):
        mine = user == n
        gram = np.einsum("ep,eq->pq", f[mine], f[mine])
        expected = _twin_row(gram, r[mine] @ f[mine], alpha, precision, weighted_mean, key, n)
        np.testing.assert_allclose(out[n], expected, **FLOAT32)
        squares = np.sum((r[mine] - f[mine] @ out[n]) ** 2)
        np.testing.assert_allclose(error[n], squares, rtol=1e-3, atol=1e-3)


def test_grams_of_consecutive_stretches_of_any_length():
    z, lengths = 6, [0, 1, kernels._BLOCK, 3, kernels._BLOCK + 1, 0, 3 * kernels._BLOCK + 5, 2, 0]
    rng = np.random.default_rng(1)
    left, right = rng.normal(size=(9, z)), rng.normal(size=(7, z))
    first = 2
    ends = first + np.cumsum(lengths)
    rows, columns = rng.integers(0, 9, ends[-1] + 4), rng.integers(0, 7, ends[-1] + 4)
    a, b = sums.padded(left), sums.padded(right)
    blocks = np.full((2 * kernels._BLOCK, a.shape[1]), np.nan, np.float32)
    grams = np.ones((len(lengths), sums.gram_size(a)), np.float32)
    kernels.add_grams(
        a, rows.astype(np.uint16), b, columns.astype(np.uint16), first, ends, sums.quads(a),
        blocks, grams,
    )  # fmt: skip
    f = left[rows] * right[columns]
    for gram, start, end in zip(grams, [first, *ends[:-1]], ends, strict=True):
        expected = 1 + f[start:end].T @ f[start:end]
        np.testing.assert_allclose(_matrix(gram, z), expected, rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize(("index", "word"), [(np.uint16, np.uint32), (np.uint32, np.uint64)])
def test_elements_are_sorted_by_target_then_by_user(index, word):
    offsets = np.array([0, 1, 4, 4, 7])  # users 1 … 3 have elements 1 … 6
    source = np.array([9, 5, 6, 7, 8, 3, 2], index)
    target = np.array([0, 2, 0, 2, 3, 2, 0], index)
    packed = np.zeros(8, word)
    ends = kernels.sort_by_target(1, 4, offsets, source, target, 4, packed)
    np.testing.assert_array_equal(ends, [2, 2, 5, 6])
    pairs = [divmod(int(value), 2 ** (8 * source.itemsize)) for value in packed[:6]]
    assert pairs == [(0, 6), (2, 2), (0, 5), (0, 7), (2, 3), (2, 8)]


@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
@pytest.mark.parametrize("places", [[], [0], [31, 32, 33, 100], [99, 127, 128]])
def test_next_counted_finds_every_count_but_zero(places, dtype):
    count = np.zeros(129, dtype)
    count[places] = 1
    found = [kernels.next_counted(count, 0)]
    while found[-1] < len(count):
        found.append(kernels.next_counted(count, found[-1] + 1))
    assert found == [*places, len(count)]


def test_parts_are_added_once_and_cleared():
    parts = np.arange(24, dtype=np.float32).reshape(2, 4, 3)
    total = np.full((4, 3), 0.5)
    kernels.take_parts(1, 3, parts, total)
    kernels.take_parts(1, 3, parts, total)
    np.testing.assert_array_equal(total[1:3], 0.5 + np.array([[18, 20, 22], [24, 26, 28]]))
    np.testing.assert_array_equal(total[[0, 3]], 0.5)
    np.testing.assert_array_equal(parts[:, 1:3], 0.0)
    assert parts[1, 3, 2] == 23


@pytest.mark.parametrize("z", [3, 16])
def test_scattered_sums_over_several_shards(z):
    rng = np.random.default_rng(20 + z)
    users, places, slots = 2 * sums.SHARD_USERS + 5, 6, 4
    a, b, c, d = (rng.normal(size=(n, z)) for n in (users, places, places, slots))
    t = _tensor(rng, (users, places, places), rng.integers(0, 9, users))
    v = _tensor(rng, (users, places, slots), rng.integers(0, 9, users))
    pa, pb, pc, pd = (sums.padded(m) for m in (a, b, c, d))

    def assert_sums(rows, parts, f, target, value):
        gram, moment = sums.sum_by_user(pa, rows, *parts)
        for row in range(len(rows)):
            g = f[target == row]
            np.testing.assert_allclose(_matrix(gram[row], z), g.T @ g, rtol=1e-4, atol=1e-3)
            np.testing.assert_allclose(
                moment[row, :z], value[target == row] @ g, rtol=1e-4, atol=1e-3
            )

    f_t, f_v = a[_user(t)] * c[t.column], a[_user(v)] * d[v.column]
    assert_sums(
        pb,
        (
            sums.Part(t.offsets, t.column, t.row, t.count, pc),
            sums.Part(v.offsets, v.column, v.row, v.count, pd),
        ),
        np.concatenate([f_t, f_v]),
        np.concatenate([t.row, v.row]),
        np.concatenate([t.count, v.count]),
    )  # B
    assert_sums(
        pc,
        (sums.Part(t.offsets, t.row, t.column, t.count, pb),),
        a[_user(t)] * b[t.row],
        t.column,
        t.count,
    )  # C
    assert_sums(
        pd,
        (sums.Part(v.offsets, v.row, v.column, v.count, pb),),
        a[_user(v)] * b[v.row],
        v.column,
        v.count,
    )  # D


@pytest.mark.parametrize("z", [3, 4, 16])
def test_rows_are_drawn_from_their_sums(z):
    rng = np.random.default_rng(30 + z)
    rows, alpha = 4, 0.7
    f = rng.normal(size=(rows, 25, z))
    full = np.einsum("rep,req->rpq", f, f)
    moment = np.zeros((rows, -(-z // 4) * 4))
    moment[:, :z] = rng.normal(size=(rows, z))
    gram = np.stack([_blocks(matrix) for matrix in full])
    precision, weighted_mean = _hyper(rng, z)
    key = streams.key(4, "twin")
    out = np.empty((rows, z))
    kernels.draw_rows(0, rows, gram, moment, alpha, precision, weighted_mean, key, out)
    for r in range(rows):
        expected = _twin_row(full[r], moment[r, :z], alpha, precision, weighted_mean, key, r)
        np.testing.assert_allclose(out[r], expected, rtol=1e-8)


def _blocks(matrix):
    """Return the gram layout of a (z, z) matrix: the inverse of `_matrix`."""
    z = len(matrix)
    columns = -(-z // 4) * 4
    full = np.zeros((columns, columns))
    full[:z, :z] = matrix
    return np.concatenate(
        [
            full[p : p + 4, q : q + 4].ravel()
            for p in range(0, columns, 4)
            for q in range(p, columns, 4)
        ]
    )
