"""The innermost loops of the Gaussian sampler, which Numba does not vectorise by itself.

`multiply_rows` fills a block with rows f_s = left[l_s] ∘ right[r_s]; `add_outers` adds their
Σ_s f_s f_sᵀ to a gram: the 4 × 4 tiles on and above its diagonal, row by row, each 16 float32.
Both are unrolled for the number of columns and work in vectors of four lanes.
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


@intrinsic
def multiply_rows(typingctx, block, left, left_rows, right, right_rows, first, last, quads):
    """Set block[s − first] = left[left_rows[s]] ∘ right[right_rows[s]], s = first … last − 1.

    block (≥ last − first, Z), left, right (·, Z) : C-contiguous float32.
    left_rows, right_rows : unsigned integers, of any stride.
    quads : any tuple of length Z / 4, which tells the compiler Z.
    """
    n_quads = quads.count
    signature = types.void(
        block, left, left_rows, right, right_rows, types.intp, types.intp, quads
    )

    def codegen(context, builder, signature, args):
        arrays = [
            context.make_array(kind)(context, builder, value)
            for kind, value in zip(signature.args[:5], args[:5], strict=True)
        ]
        start, stop = args[5:7]

        def factor_row(matrix, rows, s):
            stride = builder.extract_value(rows.strides, 0)
            place = cgutils.pointer_add(builder, rows.data, builder.mul(s, stride))
            return _row(builder, matrix.data, builder.zext(builder.load(place), s.type), n_quads)

        with cgutils.for_range_slice(builder, start, stop, start.type(1)) as (s, _):
            left_row = factor_row(arrays[1], arrays[2], s)
            right_row = factor_row(arrays[3], arrays[4], s)
            f = [
                builder.fmul(_load(builder, left_row, quad), _load(builder, right_row, quad))
                for quad in range(n_quads)
            ]
            to = _row(builder, arrays[0].data, builder.sub(s, start), n_quads)
            for quad, value in enumerate(f):
                _store(builder, value, to, quad)
        return context.get_dummy_value()

    return signature, codegen


@intrinsic
def add_outers(typingctx, gram, block, n_rows, quads):
    """Add Σ_s f_s f_sᵀ over f_s = block[s], s = 0 … n_rows − 1, to gram.

    The rows are passed over several times, a few 4 × 4 tiles of the gram at a time, so that
    the sums stay in registers. gram (H,), block (≥ n_rows, Z) : C-contiguous float32.
    quads : see `multiply_rows`.
    """
    n_quads = quads.count
    tiles = list(combinations_with_replacement(range(n_quads), 2))
    signature = types.void(gram, block, types.intp, quads)

    def codegen(context, builder, signature, args):
        gram_data, block_data = (
            context.make_array(signature.args[k])(context, builder, args[k]).data for k in (0, 1)
        )
        multiply_add = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(_VECTOR, [_VECTOR] * 3), "llvm.fma.v4f32"
        )
        zero = ir.Constant(_VECTOR, [0.0] * _LANES)
        for first in range(0, len(tiles), _TILES_PER_PASS):
            now = tiles[first : first + _TILES_PER_PASS]
            sums = [cgutils.alloca_once(builder, _VECTOR) for _ in range(len(now) * _LANES)]
            for total in sums:
                builder.store(zero, total)
            with cgutils.for_range(builder, args[2]) as loop:
                row = _row(builder, block_data, loop.index, n_quads)
                f = {quad: _load(builder, row, quad) for quad in sorted(set(sum(now, ())))}
                for k, total in enumerate(sums):
                    p, q = now[k // _LANES]
                    factor = _spread(builder, f[p], k % _LANES)
                    value = builder.call(multiply_add, [factor, f[q], builder.load(total)])
                    builder.store(value, total)
            for k, total in enumerate(sums, first * _LANES):
                value = builder.fadd(_load(builder, gram_data, k), builder.load(total))
                _store(builder, value, gram_data, k)
        return context.get_dummy_value()

    return signature, codegen
