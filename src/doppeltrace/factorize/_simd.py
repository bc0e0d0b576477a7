"""The innermost loops of the Gaussian sampler, which Numba does not vectorise by itself.

`multiply_rows` fills a block with rows f_s = left[l_s] ∘ right[r_s]; `add_outers` adds their
Σ_s f_s f_sᵀ to a gram: the 4 × 4 tiles on and above its diagonal, row by row, each 16 float32.
Both are unrolled for the number of columns (Z) and work in vectors of four lanes.
"""

import platform
from itertools import combinations_with_replacement

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

_LANES = 4
_VECTOR = ir.VectorType(ir.FloatType(), _LANES)
_PICK = ir.VectorType(ir.IntType(32), _LANES)
_TILES_PER_PASS = 5 if platform.machine().lower() in ("aarch64", "arm64") else 3
"""4 × 4 tiles summed in one pass: each takes four registers, of 32 (ARM) or 16 (x86)."""


def _vector_at(builder, data, quad):
    """Return a vector pointer to data[4 · quad]."""
    place = builder.gep(data, [ir.Constant(ir.IntType(64), quad * _LANES)])
    return builder.bitcast(place, _VECTOR.as_pointer())


def _load(builder, data, quad):
    value = builder.load(_vector_at(builder, data, quad))
    value.align = 4  # bytes: rows of float32 are not aligned to vectors
    return value


def _store(builder, value, data, quad):
    builder.store(value, _vector_at(builder, data, quad)).align = 4


def _spread(builder, vector, lane):
    """Return a vector with one lane of the given one everywhere."""
    return builder.shuffle_vector(
        vector, ir.Constant(_VECTOR, ir.Undefined), ir.Constant(_PICK, [lane] * _LANES)
    )


def _row(builder, matrix, row, n_quads):
    """Return a pointer to matrix[row], of n_quads · 4 columns."""
    return builder.gep(matrix, [builder.mul(row, ir.Constant(row.type, n_quads * _LANES))])


def _array(context, builder, signature, args, k):
    """Return the struct of argument k, an array."""
    return context.make_array(signature.args[k])(context, builder, args[k])


def _multiply_row(builder, to, factors, s, n_quads, quads):
    """Set some quads of the row `to` to those of left[left_rows[s]] ∘ right[right_rows[s]]."""
    left, left_rows, right, right_rows = factors

    def factor_row(matrix, rows):
        stride = builder.extract_value(rows.strides, 0)
        place = cgutils.pointer_add(builder, rows.data, builder.mul(s, stride))
        return _row(builder, matrix.data, builder.zext(builder.load(place), s.type), n_quads)

    pair = factor_row(left, left_rows), factor_row(right, right_rows)
    products = [builder.fmul(*(_load(builder, row, quad) for row in pair)) for quad in quads]
    for quad, value in zip(quads, products, strict=True):
        _store(builder, value, to, quad)


@intrinsic
def multiply_rows(typingctx, block, to, left, left_rows, right, right_rows, first, last, quads):
    """Set block[to + s] = left[left_rows[first + s]] ∘ right[right_rows[first + s]].

    s = 0 … last − first − 1. block, left, right (·, Z) : C-contiguous float32.
    left_rows, right_rows : unsigned integers, of any stride.
    quads : any tuple of length Z / 4, which tells the compiler Z.
    """
    n_quads = quads.count
    signature = types.void(
        block, types.intp, left, left_rows, right, right_rows, types.intp, types.intp, quads
    )

    def codegen(context, builder, signature, args):
        block_data = _array(context, builder, signature, args, 0).data
        factors = [_array(context, builder, signature, args, k) for k in range(2, 6)]
        to_row = _row(builder, block_data, args[1], n_quads)
        with cgutils.for_range(builder, builder.sub(args[7], args[6])) as loop:
            row = _row(builder, to_row, loop.index, n_quads)
            s = builder.add(args[6], loop.index)
            _multiply_row(builder, row, factors, s, n_quads, range(n_quads))
        return context.get_dummy_value()

    return signature, codegen


@intrinsic
def add_outers(
    typingctx, grams, j, block, at, n_rows, to, left, left_rows, right, right_rows, first, n_next,
    quads,
):  # fmt: skip
    """Add Σ_s f_s f_sᵀ over f_s = block[at + s], s < n_rows, to grams[j]; prepare what follows.

    The rows are passed over several times, a few 4 × 4 tiles of the gram at a time, so that
    the sums stay in registers. Meanwhile the processor has loads to spare: the passes also do
    multiply_rows(block, to, …, first, first + n_next), a share of the columns each.

    grams (·, H) : C-contiguous float32. n_next ≤ n_rows; the rows written do not overlap the
    rows read. The others : see `multiply_rows`.
    """
    n_quads = quads.count
    tiles = list(combinations_with_replacement(range(n_quads), 2))
    passes = [tiles[k : k + _TILES_PER_PASS] for k in range(0, len(tiles), _TILES_PER_PASS)]
    signature = types.void(
        grams, types.intp, block, types.intp, types.intp, types.intp,
        left, left_rows, right, right_rows, types.intp, types.intp, quads,
    )  # fmt: skip

    def codegen(context, builder, signature, args):
        _, j, _, at, n_rows, to, *_, first, n_next, _ = args
        grams_data, block_data = (
            _array(context, builder, signature, args, k).data for k in (0, 2)
        )
        factors = [_array(context, builder, signature, args, k) for k in range(6, 10)]
        gram = _row(builder, grams_data, j, len(tiles) * _LANES)
        from_row, to_row = (_row(builder, block_data, row, n_quads) for row in (at, to))
        zero = ir.Constant(_VECTOR, [0.0] * _LANES)
        multiply_add = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(_VECTOR, [_VECTOR] * 3), "llvm.fma.v4f32"
        )

        def add_row(s, now, sums):
            row = _row(builder, from_row, s, n_quads)
            f = {quad: _load(builder, row, quad) for quad in sorted({k for t in now for k in t})}
            for k, total in enumerate(sums):
                p, q = now[k // _LANES]
                factor = _spread(builder, f[p], k % _LANES)
                value = builder.call(multiply_add, [factor, f[q], builder.load(total)])
                builder.store(value, total)

        place = 0
        for turn, now in enumerate(passes):
            share = range(turn * n_quads // len(passes), (turn + 1) * n_quads // len(passes))
            sums = [cgutils.alloca_once(builder, _VECTOR) for _ in range(len(now) * _LANES)]
            for total in sums:
                builder.store(zero, total)
            with cgutils.for_range(builder, n_next) as loop:
                add_row(loop.index, now, sums)
                row = _row(builder, to_row, loop.index, n_quads)
                s = builder.add(first, loop.index)
                _multiply_row(builder, row, factors, s, n_quads, share)
            with cgutils.for_range_slice(builder, n_next, n_rows, n_rows.type(1)) as (s, _):
                add_row(s, now, sums)
            for total in sums:
                value = builder.fadd(_load(builder, gram, place), builder.load(total))
                _store(builder, value, gram, place)
                place += 1
        return context.get_dummy_value()

    return signature, codegen
