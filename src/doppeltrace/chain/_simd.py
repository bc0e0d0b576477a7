"""The innermost loop of the row sums of Q*, which Numba does not keep in registers by itself."""

import platform

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

ROWS, PLACES = 4, 8
"""The weights of this many rows at this many places are added up in registers."""

_LANES = 2 if platform.machine().lower() in ("aarch64", "arm64") else 4
_VECTOR = ir.VectorType(ir.DoubleType(), _LANES)


def _at(builder, array, row, column):
    """Return a pointer to array[row, column] of a C-contiguous matrix."""
    columns = builder.extract_value(array.shape, 1)
    return builder.gep(array.data, [builder.add(builder.mul(row, columns), column)])


def _vector_at(builder, place):
    return builder.bitcast(place, _VECTOR.as_pointer())


def _spread(builder, value):
    """Return a vector with the value in every lane."""
    vector = ir.Constant(_VECTOR, ir.Undefined)
    vector = builder.insert_element(vector, value, ir.Constant(ir.IntType(32), 0))
    pick = ir.Constant(ir.VectorType(ir.IntType(32), _LANES), [0] * _LANES)
    return builder.shuffle_vector(vector, ir.Constant(_VECTOR, ir.Undefined), pick)


@intrinsic
def add_clamped(typingctx, left, row, right_t, place, floor, sums):
    """Add Σ_p max(floor, Σ_k left[row + r, k] right_t[k, place + p]) to sums[row + r].

    r < ROWS, p < PLACES. left (·, Z), right_t (Z, ·), sums (·, 4) : C-contiguous float64, Z a
    multiple of eight. A row's sum is spread over the columns of sums.
    """
    signature = types.void(left, types.intp, right_t, types.intp, types.float64, sums)

    def codegen(context, builder, signature, args):
        left, right_t, sums = (
            context.make_array(signature.args[k])(context, builder, args[k]) for k in (0, 2, 5)
        )
        _, row, _, place, floor, _ = args
        rows = [builder.add(row, row.type(r)) for r in range(ROWS)]
        multiply_add = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(_VECTOR, [_VECTOR] * 3), f"llvm.fma.v{_LANES}f64"
        )
        larger = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(_VECTOR, [_VECTOR] * 2), f"llvm.maxnum.v{_LANES}f64"
        )
        zero = ir.Constant(_VECTOR, [0.0] * _LANES)
        weights = [
            [cgutils.alloca_once_value(builder, zero) for _ in range(0, PLACES, _LANES)]
            for _ in range(ROWS)
        ]
        factors = builder.extract_value(left.shape, 1)
        with cgutils.for_range(builder, builder.lshr(factors, row.type(3))) as loop:
            first = builder.shl(loop.index, row.type(3))
            for step in range(8):
                k = builder.add(first, row.type(step))
                start = _at(builder, right_t, k, place)
                others = [
                    builder.load(_vector_at(builder, builder.gep(start, [row.type(p)])), align=8)
                    for p in range(0, PLACES, _LANES)
                ]
                for r in range(ROWS):
                    factor = _spread(builder, builder.load(_at(builder, left, rows[r], k)))
                    for total, other in zip(weights[r], others, strict=True):
                        value = builder.call(multiply_add, [factor, other, builder.load(total)])
                        builder.store(value, total)
        least = _spread(builder, floor)
        for r in range(ROWS):
            there = _vector_at(builder, _at(builder, sums, rows[r], row.type(0)))
            parts = [builder.load(total) for total in weights[r]]
            parts = [builder.call(larger, [value, least]) for value in parts]
            while len(parts) > 1:
                parts = [builder.fadd(*pair) for pair in zip(parts[::2], parts[1::2], strict=True)]
            builder.store(builder.fadd(builder.load(there, align=8), parts[0]), there, align=8)
        return context.get_dummy_value()

    return signature, codegen
