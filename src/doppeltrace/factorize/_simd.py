"""The innermost loops of the Gaussian sampler, which Numba does not vectorise by itself.

`multiply_rows` fills a block with rows f_s = left[l_s] ∘ right[r_s]; `add_outers` adds their
Σ_s f_s f_sᵀ to a gram: the 4 × 4 tiles on and above its diagonal, row by row, each 16 float32.
`add_squares` does so for rows that are nobody's product. All are unrolled for the number of
columns (Z) and work in vectors of four lanes.
"""
# mypy: ignore-errors

import platform
from itertools import combinations_with_replacement

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

TILE = 4
"""Rows are padded to a multiple of this many columns: the lanes of a vector of float32."""

_LANES = TILE
_VECTOR = ir.VectorType(ir.FloatType(), _LANES)
_PICK = ir.VectorType(ir.IntType(32), _LANES)
_TILES_PER_PASS = 5 if platform.machine().lower() in ("aarch64", "arm64") else 3
"""4 × 4 tiles summed in one pass: each takes four registers, of 32 (ARM) or 16 (x86)."""

AHEAD = 32
"""Rows that `add_squares` asks memory for in advance."""


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


def _passes(n_quads):
    """Return the tiles on and above the diagonal, in groups to be summed in one pass each."""
    tiles = list(combinations_with_replacement(range(n_quads), 2))
    return [tiles[k : k + _TILES_PER_PASS] for k in range(0, len(tiles), _TILES_PER_PASS)]


def _gram_quads(passes):
    """Return the vectors in a gram."""
    return sum(len(now) for now in passes) * _LANES


def _values(builder, variables):
    return {quad: builder.load(variable) for quad, variable in variables.items()}


def _no_sums(builder, now):
    """Return registers for the sums of a group of tiles, set to zero."""
    sums = [cgutils.alloca_once(builder, _VECTOR) for _ in range(len(now) * _LANES)]
    for total in sums:
        builder.store(ir.Constant(_VECTOR, [0.0] * _LANES), total)
    return sums


def _load_quads(builder, row, now):
    """Return those quads of a row that a group of tiles needs."""
    return {quad: _load(builder, row, quad) for quad in sorted({k for t in now for k in t})}


def _add_outer(builder, f, now, sums):
    """Add the tiles of f fᵀ to their sums; f : the row, by quad."""
    multiply_add = cgutils.get_or_insert_function(
        builder.module, ir.FunctionType(_VECTOR, [_VECTOR] * 3), "llvm.fma.v4f32"
    )
    for k, total in enumerate(sums):
        p, q = now[k // _LANES]
        factor = _spread(builder, f[p], k % _LANES)
        builder.store(builder.call(multiply_add, [factor, f[q], builder.load(total)]), total)


def _take_sums(builder, sums, gram, place):
    """Add the sums to the gram, from its vector `place` on."""
    for k, total in enumerate(sums, start=place):
        _store(builder, builder.fadd(_load(builder, gram, k), builder.load(total)), gram, k)


def _ask_for(builder, row):
    """Ask memory for a row that will be read soon; the address need not exist."""
    integer = ir.IntType(32)
    prefetch = cgutils.get_or_insert_function(
        builder.module,
        ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t] + [integer] * 3),
        "llvm.prefetch.p0",
    )
    read, keep, data = integer(0), integer(3), integer(1)
    builder.call(prefetch, [builder.bitcast(row, cgutils.voidptr_t), read, keep, data])


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
    passes = _passes(n_quads)
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
        gram = _row(builder, grams_data, j, _gram_quads(passes))
        from_row, to_row = (_row(builder, block_data, row, n_quads) for row in (at, to))

        def add_row(s, now, sums):
            row = _row(builder, from_row, s, n_quads)
            _add_outer(builder, _load_quads(builder, row, now), now, sums)

        place = 0
        for turn, now in enumerate(passes):
            share = range(turn * n_quads // len(passes), (turn + 1) * n_quads // len(passes))
            sums = _no_sums(builder, now)
            with cgutils.for_range(builder, n_next) as loop:
                add_row(loop.index, now, sums)
                row = _row(builder, to_row, loop.index, n_quads)
                s = builder.add(first, loop.index)
                _multiply_row(builder, row, factors, s, n_quads, share)
            with cgutils.for_range_slice(builder, n_next, n_rows, n_rows.type(1)) as (s, _):
                add_row(s, now, sums)
            _take_sums(builder, sums, gram, place)
            place += len(sums)
        return context.get_dummy_value()

    return signature, codegen


@intrinsic
def add_squares(typingctx, grams, j, matrix, rows, first, last, quads):
    """Add Σ_e f_e f_eᵀ, f_e = matrix[rows[e]], e = first … last − 1 ≥ first, to grams[j].

    grams (·, H), matrix (·, Z) : C-contiguous float32. rows : unsigned integers, C-contiguous,
    with at least AHEAD more of them after `last`, which are looked at but not used: the rows lie
    anywhere in a large matrix, and memory is asked for them in advance. Two elements are taken at
    a time, each loaded while the one before is multiplied.
    """
    n_quads = quads.count
    passes = _passes(n_quads)
    signature = types.void(grams, types.intp, matrix, rows, types.intp, types.intp, quads)

    def codegen(context, builder, signature, args):
        _, j, _, _, first, last, _ = args
        grams_data, matrix_data, rows_data = (
            _array(context, builder, signature, args, k).data for k in (0, 2, 3)
        )
        gram = _row(builder, grams_data, j, _gram_quads(passes))
        n_rows = builder.sub(last, first)
        one = first.type(1)
        final = builder.sub(last, one)

        def row_of(e):
            row = builder.load(builder.gep(rows_data, [e]))
            return _row(builder, matrix_data, builder.zext(row, e.type), n_quads)

        place = 0
        for turn, now in enumerate(passes):
            sums = _no_sums(builder, now)
            waiting = {}
            for quad, value in _load_quads(builder, row_of(first), now).items():
                waiting[quad] = cgutils.alloca_once_value(builder, value)
            with cgutils.for_range(builder, builder.lshr(n_rows, one)) as loop:
                e = builder.add(first, builder.shl(loop.index, one))
                second = builder.add(e, one)
                third = builder.add(second, one)
                third = builder.select(builder.icmp_signed("<", third, last), third, final)
                if turn == 0:
                    for soon in (e, second):
                        _ask_for(builder, row_of(builder.add(soon, first.type(AHEAD))))
                f = _load_quads(builder, row_of(second), now)
                _add_outer(builder, _values(builder, waiting), now, sums)
                for quad, value in _load_quads(builder, row_of(third), now).items():
                    builder.store(value, waiting[quad])
                _add_outer(builder, f, now, sums)
            with builder.if_then(builder.trunc(n_rows, ir.IntType(1))):
                _add_outer(builder, _values(builder, waiting), now, sums)
            _take_sums(builder, sums, gram, place)
            place += len(sums)
        return context.get_dummy_value()

    return signature, codegen
