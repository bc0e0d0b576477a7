"""The innermost loop of the Gaussian sampler, which Numba does not vectorise by itself.

`add_outers` adds Σ_s f_s f_sᵀ, f_s = left[l_s] ∘ right[r_s], to a gram: the 4 × 4 blocks on and
above the diagonal, row by row, each block 16 float32. It is unrolled for the number of columns
and works in vectors of four lanes; several elements at once let a block stay in registers.
"""

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

_LANES = 4
_VECTOR = ir.VectorType(ir.FloatType(), _LANES)
_PICK = ir.VectorType(ir.IntType(32), _LANES)


def _vector_at(builder, data, offset, shift):
    """Return a vector pointer to data[offset + shift]."""
    place = builder.add(offset, ir.Constant(offset.type, shift))
    return builder.bitcast(builder.gep(data, [place]), _VECTOR.as_pointer())


def _load(builder, data, offset, shift):
    value = builder.load(_vector_at(builder, data, offset, shift))
    value.align = 4  # bytes: rows of float32 are not aligned to vectors
    return value


def _store(builder, value, data, offset, shift):
    builder.store(value, _vector_at(builder, data, offset, shift)).align = 4


def _spread(builder, vector, lane):
    """Return a vector with one lane of the given one everywhere."""
    return builder.shuffle_vector(
        vector, ir.Constant(_VECTOR, ir.Undefined), ir.Constant(_PICK, [lane] * _LANES)
    )


@intrinsic
def add_outers(typingctx, gram, at, left, left_rows, right, right_rows, quads):
    """Add Σ_s f_s f_sᵀ, f_s = left[left_rows[s]] ∘ right[right_rows[s]], to gram from `at` on.

    gram : C-contiguous float32, addressed flat. left, right : (·, Z) C-contiguous float32.
    left_rows, right_rows : tuples of S integers. quads : any tuple of length Z / 4, which
    tells the compiler Z.
    """
    n_elements = left_rows.count
    n_quads = quads.count
    rows_type = types.UniTuple(types.intp, n_elements)
    signature = types.void(gram, types.intp, left, rows_type, right, rows_type, quads)

    def codegen(context, builder, signature, args):
        def data_of(k):
            return context.make_array(signature.args[k])(context, builder, args[k]).data

        gram_data, left_data, right_data = data_of(0), data_of(2), data_of(4)
        at_value = args[1]
        width = ir.Constant(at_value.type, n_quads * _LANES)
        multiply_add = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(_VECTOR, [_VECTOR] * 3), "llvm.fma.v4f32"
        )
        f = []
        for s in range(n_elements):
            left_row = builder.mul(builder.extract_value(args[3], s), width)
            right_row = builder.mul(builder.extract_value(args[5], s), width)
            f.append(
                [
                    builder.fmul(
                        _load(builder, left_data, left_row, quad * _LANES),
                        _load(builder, right_data, right_row, quad * _LANES),
                    )
                    for quad in range(n_quads)
                ]
            )
        shift = 0
        for p in range(n_quads):
            for q in range(p, n_quads):
                for lane in range(_LANES):
                    total = _load(builder, gram_data, at_value, shift)
                    for row in f:
                        factor = _spread(builder, row[p], lane)
                        total = builder.call(multiply_add, [factor, row[q], total])
                    _store(builder, total, gram_data, at_value, shift)
                    shift += _LANES
        return context.get_dummy_value()

    return signature, codegen
