"""Products of matrices and vectors, and what is built on them."""

from __future__ import annotations

from optable import alias, composite, native, op, python
from optable.facts import AS_IS, EXPECTED, FLOAT32, IN_PYTHON, LOOP, LOWER_PRECISION, PART, SAME_AS_INPUT, Out, by, leading
from optable.samples import B, E, I, S, T

_MM_SHAPES = [((3, 4), (4, 5)), ((1, 4), (4, 1)), ((3, 0), (0, 2)), ((0, 3), (3, 2)), ((3, 3), (3, 0)), ((17, 9), (9, 33))]
_BATCH_SHAPES = [((2, 3, 4), (2, 4, 5)), ((1, 2, 3), (1, 3, 1)), ((0, 2, 3), (0, 3, 2)), ((2, 3, 0), (2, 0, 2)), ((3, 0, 2), (3, 2, 4))]

op(
    "mm(Tensor self, Tensor mat2) -> Tensor",
    variants="function method out",
    kernel=native(complex="lazy"),
    grad={"self": "mm_mat1_grad(grad, mat2, self_columnwise)", "mat2": "mm_mat2_grad(grad, self, mat2_columnwise)"},
    jvp="multilinear",
    out=Out(exact=EXPECTED),
    autocast=LOWER_PRECISION,
    batching=by("product", "2", "2"),
    doc="Product of two matrices.",
    samples=[S(T(*a), T(*b)) for a, b in _MM_SHAPES] + [S(I(2, 3), I(3, 2))],
    errors=(
        E(S(T(2, 3), T(4, 5)), RuntimeError, r"mat1 and mat2 shapes cannot be multiplied \(2x3 and 4x5\)"),
        E(S(T(3), T(3, 2)), RuntimeError, "self must be a matrix"),
        E(S(T(2, 3), T(3)), RuntimeError, "mat2 must be a matrix"),
        E(S(T(2, 3), I(3, 2)), RuntimeError, "expected m1 and m2 to have the same dtype, but got: .* != long int"),
        E(S(B(2, 3), B(3, 2)), NotImplementedError, "not implemented for 'Bool'"),
    ),
    reference="numpy.matmul",
)

op(
    "_mm(Tensor self, Tensor mat2, bool self_transposed, bool mat2_transposed, bool columnwise=False) -> Tensor",
    variants="function",
    kernel=native(complex="lazy"),
    grad={
        "self": "self_transposed ? ops::_mm(mat2, grad, mat2_transposed, true, false) : ops::_mm(grad, mat2, false, !mat2_transposed, false)",
        "mat2": "mat2_transposed ? ops::_mm(grad, self, true, self_transposed, false) : ops::_mm(self, grad, !self_transposed, false, false)",
    },
    jvp="multilinear",
    node="TransposedMmBackward0",
    batching=by("transposed_product"),
    autocast=LOWER_PRECISION,
    doc="Product of two matrices, each transposed first on request; with columnwise the result is laid out column by column.",
    samples=[S(T(3, 4), T(4, 5), False, False), S(T(4, 3), T(4, 5), True, False), S(T(3, 4), T(5, 4), False, True, True),
             S(T(4, 3), T(5, 4), True, True, True), S(T(0, 3), T(2, 0), True, True)],
    errors=(E(S(T(2, 3), T(3, 4), True, False), RuntimeError, r"_mm: shapes \[2, 3\] \(transposed\) and \[3, 4\] cannot be multiplied"),),
    test={"compat": False},  # ours
)  # fmt: skip

op(
    "bmm(Tensor self, Tensor mat2) -> Tensor",
    variants="function method out",
    kernel=native(complex="lazy"),
    grad={"self": "ops::bmm(grad, matrix_transposed(mat2))", "mat2": "ops::bmm(matrix_transposed(self), grad)"},
    jvp="multilinear",
    out=Out(exact=EXPECTED),
    autocast=LOWER_PRECISION,
    batching=by("bmm"),
    doc="Products of the matrices of two batches.",
    samples=[S(T(*a), T(*b)) for a, b in _BATCH_SHAPES] + [S(I(2, 2, 3), I(2, 3, 2))],
    errors=(
        E(S(T(2, 3), T(3, 2)), RuntimeError, "batch1 must be a 3D tensor"),
        E(S(T(2, 3, 4), T(3, 2)), RuntimeError, "batch2 must be a 3D tensor"),
        E(
            S(T(2, 3, 4), T(3, 4, 2)),
            RuntimeError,
            r"Expected size for first two dimensions of batch2 tensor to be: \[2, 4\] but got: \[3, 4\]",
        ),
        E(S(T(2, 3, 4), I(2, 4, 2)), RuntimeError, "expected scalar type .* but found Long"),
    ),
    reference="numpy.matmul",
)

op(
    "mv(Tensor self, Tensor vec) -> Tensor",
    variants="function method out",
    kernel=native(complex=True),
    grad={"self": "ops::outer(grad, vec)", "vec": "ops::mv(ops::t(self), grad)"},
    jvp="multilinear",
    out=Out(exact=("addmv input tensors must have the same dtype, but got {out}, {result}, and {result}",)),
    batching=by("product", "2", "1"),
    doc="Product of a matrix and a vector.",
    samples=[S(T(3, 4), T(4)), S(T(1, 1), T(1)), S(T(3, 0), T(0)), S(T(0, 3), T(3)), S(I(2, 3), I(3))],
    errors=(
        E(S(T(2, 3), T(4)), RuntimeError, r"size mismatch, got input \(2\), mat \(2x3\), vec \(4\)"),
        E(S(T(2, 3), T(3, 1)), RuntimeError, "vector \\+ matrix @ vector expected, got 1, 2, 2"),
    ),
    reference="numpy.matmul",
)

op(
    "dot(Tensor self, Tensor tensor) -> Tensor",
    variants="function method out",
    kernel=native(complex=True),
    grad={"self": "grad * tensor", "tensor": "grad * self"},
    jvp="multilinear",
    out=Out(exact=SAME_AS_INPUT),
    batching=by("product", "1", "1"),
    doc="Sum of the products of two vectors' elements.",
    samples=[S(T(4), T(4)), S(T(1), T(1)), S(T(0), T(0)), S(T(67), T(67)), S(I(3), I(3))],
    errors=(
        E(
            S(T(2), T(3)),
            RuntimeError,
            r"inconsistent tensor size, expected tensor \[2\] and src \[3\] to have the same number of elements",
        ),
        E(S(T(2, 2), T(3)), RuntimeError, "1D tensors expected, but got 2D and 1D tensors"),
        E(S(T(2), I(2)), RuntimeError, "dot : expected both vectors to have same dtype, but found .* and Long"),
    ),
    reference="numpy.dot",
)

op(
    "vdot(Tensor self, Tensor other) -> Tensor",
    variants="function method out",
    kernel=native(complex=True),
    grad={"self": "ops::conj(grad) * other", "other": "grad * self"},
    jvp="multilinear",
    wirtinger=True,
    out=Out(exact=SAME_AS_INPUT),
    batching=by("product", "1", "1", "conjugated"),
    doc="dot() with the first vector conjugated; for real vectors the same.",
    samples=[S(T(4), T(4)), S(T(0), T(0))],
    errors=(E(S(T(2), T(3)), RuntimeError, "inconsistent tensor size"),),
    reference="numpy.vdot",
)

op(
    "matmul(Tensor self, Tensor other) -> Tensor",
    variants="function method out",
    kernel=composite(),
    out=Out(exact=EXPECTED),
    autocast=LOWER_PRECISION,
    doc="Product of vectors, matrices or batches of matrices, broadcast over the batch.",
    samples=[
        S(T(*a), T(*b))
        for a, b in [
            ((3,), (3,)),
            ((2, 3), (3,)),
            ((3,), (3, 2)),
            ((2, 3), (3, 4)),
            ((5, 2, 3), (3,)),
            ((5, 2, 3), (3, 4)),
            ((3,), (5, 3, 2)),
            ((2, 3), (5, 3, 4)),
            ((5, 2, 3), (5, 3, 2)),
            ((4, 1, 2, 3), (5, 3, 2)),
            ((1, 2, 3), (4, 3, 2)),
            ((0, 2, 3), (3, 2)),
            ((2, 0, 3), (2, 3, 4)),
            ((2, 3, 0), (0, 4)),
            ((3, 1, 2), (2,)),
        ]
    ],
    errors=(
        E(S(T(2, 3), T(4, 5)), RuntimeError, r"mat1 and mat2 shapes cannot be multiplied \(2x3 and 4x5\)"),
        E(S(T(2), T(3)), RuntimeError, "inconsistent tensor size"),
        E(S(T(2, 3), T(4)), RuntimeError, "size mismatch, got input"),
        E(S(T(), T(4, 2)), RuntimeError, "both arguments to matmul need to be at least 1D, but they are 0D and 2D"),
        E(S(T(2, 3, 4), T(3, 4, 2)), RuntimeError, "must match the size of tensor b"),
        E(
            S(T(2, 3, 4), T(2, 3, 2)),
            RuntimeError,
            r"Expected size for first two dimensions of batch2 tensor to be: \[2, 4\] but got: \[2, 3\]",
        ),
        E(S(T(2, 3), 2.0), TypeError, "must be Tensor, not float"),
    ),
    reference="numpy.matmul",
)

_ADDMM_ERRORS = (
    E(S(T(2, 3), T(2, 3), T(4, 5)), RuntimeError, r"mat1 and mat2 shapes cannot be multiplied \(2x3 and 4x5\)"),
    E(
        S(T(2, 3), T(2, 3), T(3, 5)),
        RuntimeError,
        r"The expanded size of the tensor \(5\) must match the existing size \(3\) at non-singleton dimension 1",
    ),
    E(S(T(5), T(2), T(3, 5)), RuntimeError, "mat1 must be a matrix, got 1-D tensor"),
    E(S(T(5), T(2, 3), T(3)), RuntimeError, "mat2 must be a matrix, got 1-D tensor"),
    E(S(I(5), T(2, 3), T(3, 5)), RuntimeError, "self and mat2 must have the same dtype, but got Long and"),
)
op(
    "addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
    variants="function method inplace out",
    kernel=native(complex=True),
    inplace="addmm_into",
    grad={
        "self": "added_grad(grad, self_sizes, beta)",
        "mat1": "mm_mat1_grad(grad, mat2, mat1_columnwise, alpha)",
        "mat2": "mm_mat2_grad(grad, mat1, mat2_columnwise, alpha)",
    },
    jvp="ops::addmm(ops::addmm(self_t, mat1_t, mat2, beta, alpha), mat1, mat2_t, 1, alpha)",
    out=Out(exact=EXPECTED),
    autocast=LOWER_PRECISION,
    batching=by("addmm"),
    doc="beta * self + alpha * (mat1 @ mat2); self is broadcast.",
    samples=[
        S(T(2, 4), T(2, 3), T(3, 4)),
        S(T(4), T(2, 3), T(3, 4)),
        S(T(2, 1), T(2, 3), T(3, 4), beta=0.5, alpha=-2.0),
        S(T(), T(2, 3), T(3, 4), beta=2),
        S(T(2, 4), T(2, 0), T(0, 4)),
        S(T(0, 4), T(0, 3), T(3, 4)),
        S(T(2, 2), T(2, 3), T(3, 2), beta=0),
        S(T(2, 2), T(2, 3), T(3, 2), alpha=0.25),
        S(I(2, 2), I(2, 3), I(3, 2), beta=2, alpha=3),
    ],
    errors=_ADDMM_ERRORS,
)

op(
    "addmv(Tensor self, Tensor mat, Tensor vec, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
    variants="function method inplace out",
    kernel=native(complex=True),
    grad={
        "self": "added_grad(grad, self_sizes, beta)",
        "mat": "scaled(ops::outer(grad, vec), alpha)",
        "vec": "scaled(ops::mv(ops::t(mat), grad), alpha)",
    },
    jvp="ops::addmv(ops::addmv(self_t, mat_t, vec, beta, alpha), mat, vec_t, 1, alpha)",
    inplace_function=True,
    out=Out(exact=EXPECTED),
    batching=by("added_product", "2", "1"),
    doc="beta * self + alpha * (mat @ vec).",
    samples=[S(T(3), T(3, 2), T(2)), S(T(1), T(3, 2), T(2), beta=0.5, alpha=2.0), S(T(), T(3, 2), T(2)), S(T(3), T(3, 0), T(0))],
    errors=(
        E(S(T(3), T(2, 3), T(3)), RuntimeError, r"size mismatch, got input \(3\), mat \(2x3\), vec \(3\)"),
        E(S(T(2, 2), T(2, 3), T(3)), RuntimeError, "vector \\+ matrix @ vector expected, got 2, 2, 1"),
        E(S(T(2), T(2, 3), I(3)), RuntimeError, "addmv input tensors must have the same dtype"),
    ),
)

op(
    "addr(Tensor self, Tensor vec1, Tensor vec2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
    variants="function method inplace out",
    kernel=native(complex=True),
    grad={
        "self": "cast_to(added_grad(grad, self_sizes, beta), self_dtype)",
        "vec1": "cast_to(scaled(ops::mv(grad, cast_to(vec2, grad.dtype())), alpha), vec1_dtype)",
        "vec2": "cast_to(scaled(ops::mv(ops::t(grad), cast_to(vec1, grad.dtype())), alpha), vec2_dtype)",
    },
    jvp="ops::addr(ops::addr(self_t, vec1_t, vec2, beta, alpha), vec1, vec2_t, 1, alpha)",
    batching=by("added_product", "1", "1"),
    doc="beta * self + alpha * outer(vec1, vec2).",
    samples=[
        S(T(3, 2), T(3), T(2)),
        S(T(2), T(3), T(2), beta=0.5, alpha=2.0),
        S(T(), T(3), T(2)),
        S(T(0, 2), T(0), T(2)),
        S(T(2, 2), T(2), T(2), beta=0),
    ],
    errors=(
        E(S(T(2, 3), T(2), T(4)), RuntimeError, r"The expanded size of the tensor \(4\) must match the existing size \(3\)"),
        E(S(T(2, 3), T(2, 2), T(3)), RuntimeError, "addr: Expected 1-D argument vec1, but got 2-D"),
        E(S(I(2, 3), I(2), I(3), beta=0.5), RuntimeError, "For integral input tensors, argument beta must not be a floating point number"),
    ),
)

op(
    "addbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
    variants="function method inplace out",
    kernel=native(complex=True),
    inplace="addbmm_into",
    grad={
        "self": "added_grad(grad, self_sizes, beta)",
        "batch1": "scaled(ops::matmul(grad, matrix_transposed(batch2)), alpha)",
        "batch2": "scaled(ops::matmul(matrix_transposed(batch1), grad), alpha)",
    },
    jvp="ops::addbmm(ops::addbmm(self_t, batch1_t, batch2, beta, alpha), batch1, batch2_t, 1, alpha)",
    out=Out(exact=("self and mat2 must have the same dtype, but got {out} and {result}",), silent=True),
    autocast=LOWER_PRECISION,
    batching=by("added_product", "3", "3", "summed"),
    doc="beta * self + alpha * the sum over the batch of batch1[i] @ batch2[i].",
    samples=[
        S(T(3, 5), T(2, 3, 4), T(2, 4, 5)),
        S(T(3, 5), T(2, 3, 4), T(2, 4, 5), beta=0.5, alpha=-2.0),
        S(T(3, 5), T(0, 3, 4), T(0, 4, 5)),
        S(T(3, 5), T(2, 3, 0), T(2, 0, 5), beta=2),
    ],
    errors=(
        E(S(T(3, 2), T(4, 3, 2), T(5, 2, 2)), RuntimeError, "batch1 and batch2 must have same number of batches, got 4 and 5"),
        E(S(T(3, 2), T(4, 3, 2), T(4, 3, 2)), RuntimeError, r"Incompatible matrix sizes for bmm \(3x2 and 3x2\)"),
        E(S(T(5), T(4, 3, 2), T(4, 2, 2)), RuntimeError, "The expanded size of the tensor"),
    ),
)

op(
    "baddbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
    variants="function method inplace out",
    kernel=native(complex=True),
    inplace="baddbmm_into",
    grad={
        "self": "added_grad(grad, self_sizes, beta)",
        "batch1": "scaled(ops::bmm(grad, matrix_transposed(batch2)), alpha)",
        "batch2": "scaled(ops::bmm(matrix_transposed(batch1), grad), alpha)",
    },
    jvp="ops::baddbmm(ops::baddbmm(self_t, batch1_t, batch2, beta, alpha), batch1, batch2_t, 1, alpha)",
    out=Out(exact=EXPECTED),
    autocast=LOWER_PRECISION,
    batching=by("added_product", "3", "3"),
    doc="beta * self + alpha * (batch1 @ batch2), matrix by matrix.",
    samples=[
        S(T(2, 3, 5), T(2, 3, 4), T(2, 4, 5)),
        S(T(5), T(2, 3, 4), T(2, 4, 5), beta=0.5, alpha=-2.0),
        S(T(0, 3, 5), T(0, 3, 4), T(0, 4, 5)),
        S(T(), T(2, 3, 0), T(2, 0, 5), beta=2),
    ],
    errors=(
        E(
            S(T(3, 2), T(4, 3, 2), T(5, 2, 2)),
            RuntimeError,
            r"Expected size for first two dimensions of batch2 tensor to be: \[4, 2\] but got: \[5, 2\]",
        ),
        E(S(T(5), T(4, 3, 2), T(4, 2, 2)), RuntimeError, "The expanded size of the tensor"),
    ),
)

op(
    "outer(Tensor self, Tensor vec2) -> Tensor",
    variants="function method out",
    kernel=composite(),
    out=Out(name="mul"),
    doc="Products of every element of one vector with every element of another.",
    samples=[S(T(3), T(4)), S(T(1), T(1)), S(T(0), T(2)), S(T(2), I(3))],
    errors=(
        E(S(T(2, 2), T(2)), RuntimeError, "outer: Expected 1-D argument self, but got 2-D"),
        E(S(T(2), T(2, 2)), RuntimeError, "outer: Expected 1-D argument vec2, but got 2-D"),
    ),
    reference="numpy.outer",
)
alias("ger", of="outer")

op(
    "linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor",
    variants="function internal",
    kernel=composite(),
    home="nn.functional",
    autocast=LOWER_PRECISION,
    doc="input @ weight.T + bias, as nn.functional.linear.",
    samples=[
        S(T(2, 3), T(4, 3)),
        S(T(2, 3), T(4, 3), T(4)),
        S(T(3), T(4, 3), T(4)),
        S(T(3), T(4, 3)),
        S(T(2, 5, 3), T(4, 3), T(4)),
        S(T(2, 5, 3), T(4, 3)),
        S(T(2, 3), T(3)),
        S(T(0, 3), T(4, 3), T(4)),
        S(T(2, 0), T(4, 0), T(4)),
    ],
)
op(
    "_linear(Tensor input, Tensor weight, Tensor? bias) -> Tensor",
    variants="function",
    kernel=native(complex=True),
    grad={
        "input": "ops::matmul(grad, weight)",
        "weight": "linear_weight_grad(grad, input)",
        "bias": "sum_to(grad, bias_sizes)",
    },
    jvp="ops::_linear(input_t, weight, bias_t) + ops::_linear(input, weight_t, {})",
    batching=by("linear"),
    autocast=LOWER_PRECISION,
    doc="linear as one product.",
    samples=[
        S(T(2, 3), T(4, 3), T(4)),
        S(T(2, 3), T(4, 3), None),
        S(T(3), T(4, 3), T(4)),
        S(T(2, 5, 3), T(4, 3), T(4)),
        S(T(0, 3), T(4, 3), T(4)),
    ],
    errors=(E(S(T(2, 3), T(4, 2), None), RuntimeError, r"_linear: expected an input"),),
    test={"compat": False},  # ours
)

_EINSUM_MISMATCH = r"einsum\(\): subscript j has size 4 for operand 1 which does not broadcast with previously seen size 3"
op(
    "einsum(str equation, Tensor[] operands) -> Tensor",
    variants="function",
    kernel=python("retrograd._ops.einsum:einsum", unchecked=IN_PYTHON),
    doc="Sums of products in Einstein's notation.",
    samples=[
        S("ij,jk->ik", T(2, 3), T(3, 4)),
        S("ij,jk", T(2, 3), T(3, 4)),
        S("bij,bjk->bik", T(2, 3, 4), T(2, 4, 2)),
        S("ii->i", T(3, 3)),
        S("ii", T(3, 3)),
        S("ij->ji", T(2, 3)),
        S("ij->", T(2, 3)),
        S("i,j->ij", T(2), T(3)),
        S("...ij,...jk->...ik", T(2, 3, 4), T(4, 2)),
        S("bhqd,bhkd->bhqk", T(2, 2, 3, 4), T(2, 2, 5, 4)),
        S("ij,ij->i", T(2, 3), T(2, 3)),
        S("i...->...", T(2, 3)),
        S("ij,jk,kl->il", T(2, 3), T(3, 4), T(4, 2)),
        S("iij,j->i", T(3, 3, 2), T(2)),
        S("ij,jk->ik", T(2, 1), T(3, 4)),
        S("->", T()),
        S("i,i->", T(0), T(0)),
        S(T(2, 3), [0, 1], T(3, 4), [1, 2], [0, 2]),
    ],
    errors=(
        E(S("ij,jk->ik", T(2, 3), T(4, 4)), RuntimeError, _EINSUM_MISMATCH),
        E(S("ij,jk->il", T(2, 3), T(3, 4)), RuntimeError, r"output subscript l does not appear in the equation for any input operand"),
        E(S("ij->ij", T(2, 3), T(3, 4)), RuntimeError, "more operands were provided than specified in the equation"),
        E(S("ij,jk->ik", T(2, 3)), RuntimeError, "fewer operands were provided than specified in the equation"),
        E(
            S("i->i", T(2, 3)),
            RuntimeError,
            r"the number of subscripts in the equation \(1\) does not match the number of dimensions \(2\) for operand 0 and no "
            r"ellipsis was given",
        ),
        E(S("ii->i", T(2, 3)), RuntimeError, "subscript i is repeated for operand 0 but the sizes don't match, 3 != 2"),
        E(S("i1->i", T(2, 3)), RuntimeError, "invalid subscript given at index 1 in the equation string"),
        E(S("ij->iij", T(2, 3)), RuntimeError, "output subscript i appears more than once in the output"),
        E(S("i..j->i", T(2, 3)), RuntimeError, "found '.' for operand 0 that is not part of any ellipsis"),
    ),
)
op(
    "inner(Tensor self, Tensor other) -> Tensor",
    kernel=python("retrograd._ops.linalg.products:inner"),
    doc="Sum of products over the last dimension of both; a scalar multiplies.",
    samples=[S(T(3), T(3)), S(T(2, 3), T(4, 3)), S(T(3), T(2, 3)), S(T(2, 3), T()), S(T(2, 0), T(3, 0))],
    errors=(
        E(
            S(T(2, 3), T(2, 4)),
            RuntimeError,
            r"inner\(\) the last dimension must match on both input tensors but got shapes \[2, 3\] and \[2, 4\]",
        ),
    ),
    reference="numpy.inner",
)
op(
    "_tensordot(Tensor self, Tensor other, int[] dims_self, int[] dims_other) -> Tensor",
    variants="function internal",
    kernel=composite(),
    home="",
    doc="`tensordot` over two lists of dimensions.",
    samples=[S(T(2, 3, 4), T(4, 3, 5), (1, 2), (1, 0)), S(T(2, 3), T(1, 5), (1,), (0,))],
    test={"compat": False, "ours": True},
)
op(
    "tensordot(Tensor a, Tensor b, int dims=2) -> Tensor",
    variants="function",
    kernel=python("retrograd._ops.linalg.products:tensordot", unchecked=IN_PYTHON),
    doc="Sum of products over several dimensions: a number of them, or two lists.",
    samples=[
        S(T(2, 3), T(3, 4), 1),
        S(T(2, 3, 4), T(3, 4, 5)),
        S(T(2, 3), T(3, 4), 0),
        S(T(2, 3, 4), T(4, 3, 5), ([1, 2], [1, 0])),
        S(T(2, 3), T(1, 5), ([1], [0])),
    ],
    errors=(
        E(
            S(T(2, 3), T(4, 5), 1),
            RuntimeError,
            "contracted dimensions need to match, but first has size 3 in dim -1 and second has size 4 in dim 0",
        ),
        E(S(T(2, 3), T(3, 5), -1), RuntimeError, "tensordot expects dims >= 0, but got dims=-1"),
        E(S(T(2, 3), T(3, 5), 3), RuntimeError, "tensordot expects dims < ndim_a or ndim_b, but got dims=3"),
        E(S(T(2, 3), T(3, 5), ([0], [0, 1])), RuntimeError, "both dimension lists should have same length"),
    ),
    reference="numpy.tensordot",
)
op(
    "kron(Tensor self, Tensor other) -> Tensor",
    variants="function method out",
    kernel=composite(),
    doc="The Kronecker product.",
    samples=[S(T(2, 2), T(3, 2)), S(T(2, 2), T(3)), S(T(), T(2)), S(T(0, 2), T(2, 2))],
    reference="numpy.kron",
)
op(
    "_multi_dot(Tensor[] tensors) -> Tensor",
    variants="function internal",
    kernel=composite(),
    home="",
    doc="`linalg.multi_dot`, and the arguments of `chain_matmul`.",
    samples=[S((T(2, 3), T(3, 4), T(4, 2))), S((T(3), T(3, 2))), S((T(2, 3), T(3, 4), T(4, 1), T(1, 5), T(5)))],
    test={"compat": False, "ours": True},
)
op(
    "chain_matmul(Tensor[] matrices) -> Tensor",
    variants="function",
    kernel=python("retrograd._ops.linalg.products:chain_matmul", unchecked=IN_PYTHON),
    doc="The product of matrices in the cheapest order.",
    samples=[S(T(2, 3), T(3, 4), T(4, 2)), S(T(2, 3), T(3, 2))],
)
op(
    "matrix_power(Tensor self, int n) -> Tensor",
    kernel=python("retrograd._ops.linalg.products:matrix_power"),
    doc="An integer power of square matrices.",
    samples=[S(T(3, 3), 3), S(T(2, 3, 3), 2), S(T(3, 3), 0), S(T(3, 3), 1), S(T(3, 3), 7), S(T(0, 0), 2)],
    errors=(
        E(S(T(2, 3), 2), RuntimeError, "linalg.matrix_power: A must be batches of square matrices, but they are 2 by 3 matrices"),
        E(S(T(2), 2), RuntimeError, "The input tensor A must have at least 2 dimensions"),
    ),
    reference="numpy.linalg.matrix_power",
)
op(
    "linalg_cross(Tensor self, Tensor other, *, int dim=-1) -> Tensor",
    variants="function internal",
    kernel=native(complex=True),
    grad={
        "self": "sum_to(ops::linalg_cross(other, grad, dim), self_sizes)",
        "other": "sum_to(ops::linalg_cross(grad, self, dim), other_sizes)",
    },
    jvp="multilinear",
    home="linalg",
    batching=by("cross"),
    doc="Vector product of vectors of three elements along dim.",
    samples=[S(T(2, 3), T(2, 3)), S(T(3), T(3)), S(T(1, 3), T(2, 3)), S(T(3, 2), T(3, 2), dim=0), S(T(0, 3), T(0, 3))],
    errors=(
        E(S(T(3), T(2, 3)), RuntimeError, "linalg.cross: inputs must have the same number of dimensions."),
        E(S(T(2, 4), T(2, 4)), RuntimeError, "linalg.cross: inputs dimension -1 must have length 3. Got 4 and 4"),
    ),
    reference="numpy.cross",
)
op(
    "cross(Tensor self, Tensor other, int? dim=None) -> Tensor",
    variants="function method out",
    kernel=composite(),
    out=Out(exact=EXPECTED),
    doc="Vector product along dim, by default the first of size 3.",
    samples=[S(T(2, 3), T(2, 3)), S(T(3, 2), T(3, 2)), S(T(3, 3), T(3, 3), 1)],
    errors=(E(S(T(2, 4), T(2, 4)), RuntimeError, "no dimension of size 3 in input"),),
)

# ---- systems and decompositions, over LAPACK. retrograd.linalg gives them their public names and raises LinAlgError ----

_NOT_SQUARE = "must be batches of square matrices, but they are 2 by 3 matrices"
_TOO_FLAT = "must have at least 2 dimensions."
_SYMMETRIC = T(3, 3, values=(4.0, 1.0, 0.5, 1.0, 3.0, -0.7, 0.5, -0.7, 5.0))
# Ops that read one triangle take gradients as if the input stayed symmetric, which a difference quotient of one element does not.
_READ_TRIANGLE = T(3, 3, values=(4.0, 1.0, 0.5, 1.0, 3.0, -0.7, 0.5, -0.7, 5.0), grad=False)
_REGULAR = T(2, 3, 3, values=(2.0, 0.5, 0.1, -0.3, 1.5, 0.7, 0.2, 0.4, -1.9, 1.0, 0.2, 0.3, 0.8, -2.0, 0.1, 0.5, 0.6, 1.7))

op(
    "linalg_solve_ex(Tensor A, Tensor B, *, bool left=True) -> (Tensor result, Tensor info)",
    steep=True,
    variants="function internal",
    kernel=native(complex=True),
    grad={"A, B": "linalg_solve_grad(grad, A, result, B_sizes, left, needs_A, needs_B)"},
    outputs_nondiff=("info",),
    home="linalg",
    batching=by("solve"),
    doc="The X of A X = B (or X A = B), and LAPACK's verdict per matrix: 0, or the first zero pivot.",
    samples=[
        S(_REGULAR, T(2, 3, 2)),
        S(_REGULAR, T(2, 3)),
        S(_REGULAR, T(3, 2)),
        S(_REGULAR, T(2, 2, 3), left=False),
        S(_SYMMETRIC, T(3)),
        S(T(0, 0), T(0, 2)),
    ],
    errors=(
        E(S(T(2, 3), T(3)), RuntimeError, "linalg.solve: A " + _NOT_SQUARE),
        E(S(T(3), T(3)), RuntimeError, "linalg.solve: The input tensor A " + _TOO_FLAT),
        E(S(T(3, 3), T(4)), RuntimeError, r"linalg.solve: Incompatible shapes of A and B for the equation AX = B \(3x3 and 4x1\)"),
        E(S(I(3, 3), I(3)), RuntimeError, "Expected a floating point or complex tensor as input. Got Long"),
    ),
)
op(
    "linalg_inv_ex(Tensor A) -> (Tensor inverse, Tensor info)",
    steep=True,
    variants="function internal",
    kernel=native(complex=True),
    grad={"A": "linalg_inv_grad(grad, inverse)"},
    outputs_nondiff=("info",),
    home="linalg",
    autocast=FLOAT32,
    batching=leading(2),
    doc="Inverses of square matrices, and LAPACK's verdict per matrix.",
    samples=[S(_REGULAR), S(_SYMMETRIC), S(T(0, 0)), S(T(0, 3, 3))],
    errors=(
        E(S(T(2, 3)), RuntimeError, "linalg.inv: A " + _NOT_SQUARE),
        E(S(T(3)), RuntimeError, "linalg.inv: The input tensor A " + _TOO_FLAT),
    ),
)
op(
    "linalg_det(Tensor A) -> Tensor",
    steep=True,
    variants="function internal",
    kernel=native(complex=True),
    grad={"A": "linalg_det_grad(grad, A, result)"},
    home="linalg",
    batching=leading(2),
    doc="Determinants.",
    samples=[S(_REGULAR), S(_SYMMETRIC), S(T(0, 0)), S(T(2, 2, values=(1.0, 2.0, 2.0, 4.0), grad=False))],
    errors=(E(S(T(2, 3)), RuntimeError, "linalg.det: A " + _NOT_SQUARE),),
    reference="numpy.linalg.det",
)
op(
    "linalg_slogdet(Tensor A) -> (Tensor sign, Tensor logabsdet)",
    steep=True,
    variants="function internal",
    kernel=native(complex=True),
    grad={"A": "linalg_slogdet_grad(grads[0], grads[1], A, sign)"},
    wirtinger=True,
    home="linalg",
    batching=leading(2),
    doc="Signs and logarithms of determinants.",
    samples=[S(_REGULAR), S(_SYMMETRIC), S(T(0, 0))],
    errors=(E(S(T(2, 3)), RuntimeError, "linalg.slogdet: A " + _NOT_SQUARE),),
    reference="numpy.linalg.slogdet",
)
op(
    "linalg_solve_triangular(Tensor A, Tensor B, *, bool upper, bool left=True, bool unitriangular=False) -> Tensor",
    steep=True,
    variants="function internal",
    kernel=native(complex=True),
    grad={"A, B": "linalg_solve_triangular_grad(grad, A, result, B_sizes, upper, left, unitriangular, needs_A, needs_B)"},
    home="linalg",
    batching=by("solve_triangular"),
    doc="The X of A X = B (or X A = B) for a triangular A, of which only that triangle is read.",
    samples=[
        S(_REGULAR, T(2, 3, 2), upper=True),
        S(_SYMMETRIC, T(3, 2), upper=False),
        S(_REGULAR, T(2, 3), upper=True, left=False),
        S(_SYMMETRIC, T(2, 3, 2), upper=False, unitriangular=True),
        S(T(0, 0), T(0, 2), upper=True),
    ],
    errors=(
        E(
            S(T(3, 3), T(4, 2), upper=True),
            RuntimeError,
            r"linalg.solve_triangular: Incompatible shapes of A and B for the equation AX = B \(3x3 and 4x2\)",
        ),
        E(S(T(3, 3), T(3), upper=True), RuntimeError, "linalg.solve_triangular: The input tensor B " + _TOO_FLAT),
    ),
)
op(
    "linalg_cholesky_ex(Tensor self, *, bool upper=False) -> (Tensor L, Tensor info)",
    steep=True,
    variants="function internal",
    kernel=native(complex=True),
    grad={"self": "linalg_cholesky_grad(grad, L, upper)"},
    outputs_nondiff=("info",),
    wirtinger=True,
    home="linalg",
    autocast=FLOAT32,
    batching=leading(2),
    doc="Cholesky factors of positive definite matrices, and the order of the first minor that is not.",
    samples=[S(_SYMMETRIC), S(_SYMMETRIC, upper=True), S(T(0, 0))],
    errors=(E(S(T(2, 3)), RuntimeError, "linalg.cholesky: A " + _NOT_SQUARE),),
    test={"symmetric": True},
)
op(
    "linalg_cholesky(Tensor self, *, bool upper=False) -> Tensor",
    variants="function internal",
    kernel=composite(),
    home="linalg",
    autocast=FLOAT32,
    syncs=True,
    doc="Cholesky factors of positive definite matrices.",
    samples=[S(_SYMMETRIC), S(_SYMMETRIC, upper=True), S(T(0, 0))],
    errors=(E(S(T(2, 3)), RuntimeError, "linalg.cholesky: A " + _NOT_SQUARE),),
    test={"symmetric": True},
)
op(
    "linalg_inv(Tensor A) -> Tensor",
    variants="function internal",
    kernel=composite(),
    home="linalg",
    autocast=FLOAT32,
    syncs=True,
    doc="Inverses of square matrices.",
    samples=[S(_REGULAR), S(T(0, 0))],
    errors=(E(S(T(2, 3)), RuntimeError, "linalg.inv: A " + _NOT_SQUARE),),
)
op(
    "linalg_solve(Tensor A, Tensor B, *, bool left=True) -> Tensor",
    variants="function internal",
    kernel=composite(),
    home="linalg",
    autocast=FLOAT32,
    syncs=True,
    doc="The X of A X = B, or of X A = B.",
    samples=[S(_REGULAR, T(2, 3, 2)), S(_SYMMETRIC, T(3)), S(_REGULAR, T(2, 2, 3), left=False)],
)
op(
    "linalg_lu_factor(Tensor A, *, bool pivot=True) -> (Tensor LU, Tensor pivots)",
    variants="function internal",
    kernel=composite(),
    home="linalg",
    syncs=True,
    doc="Packed LU factors with partial pivoting, and pivots from 1.",
    samples=[S(_REGULAR), S(T(4, 2)), S(T(2, 4))],
)
op(
    "linalg_lu_factor_ex(Tensor A, *, bool pivot=True) -> (Tensor LU, Tensor pivots, Tensor info)",
    variants="function internal",
    kernel=native(complex=True),
    grad={"A": "linalg_lu_factor_grad(grad, LU, pivots)"},
    outputs_nondiff=("pivots", "info"),
    home="linalg",
    batching=leading(2),
    doc="Packed LU factors with partial pivoting, pivots from 1, and LAPACK's verdict.",
    samples=[S(_REGULAR), S(_SYMMETRIC), S(T(4, 2)), S(T(2, 4))],
    errors=(E(S(T(3)), RuntimeError, "torch.lu_factor: Expected tensor with 2 or more dimensions. Got size: "),),
)
op(
    "_lu_permutation(Tensor pivots, int rows, dtype dtype) -> Tensor",
    variants="internal",
    kernel=native(),
    no_grad=PART,
    batching=leading(1),
    doc="The permutation matrix that a list of row exchanges makes.",
)
op(
    "lu_unpack(Tensor LU_data, Tensor LU_pivots, bool unpack_data=True, bool unpack_pivots=True) -> (Tensor P, Tensor L, Tensor U)",
    variants="function internal out",
    kernel=composite(),
    out=Out(exact=EXPECTED),
    syncs=True,
    doc="P, L and U of packed LU factors and their pivots.",
)
op(
    "linalg_lu(Tensor A, *, bool pivot=True) -> (Tensor P, Tensor L, Tensor U)",
    variants="function internal",
    kernel=composite(),
    home="linalg",
    doc="P, L and U with P L U = A.",
    samples=[S(_REGULAR), S(T(4, 2)), S(T(2, 4))],
)
op(
    "linalg_qr(Tensor A, str mode='reduced') -> (Tensor Q, Tensor R)",
    steep=True,
    variants="function internal",
    kernel=native(complex=True),
    grad={"A": "linalg_qr_grad(grads[0], grads[1], Q, R, A, mode)"},
    wirtinger=True,
    home="linalg",
    autocast=FLOAT32,
    batching=by("qr"),
    doc="Orthogonal times upper triangular. mode 'complete' gives a square Q, 'r' only R.",
    samples=[
        S(T(4, 3)),
        S(T(3, 4)),
        S(_REGULAR),
        S(T(3, 4), "complete"),
        S(T(4, 3, grad=False), "complete"),
        S(T(4, 3, grad=False), "r"),
        S(T(0, 3)),
        S(T(3, 0)),
    ],
    errors=(
        E(
            S(T(3, 2), "x"),
            RuntimeError,
            r"qr received unrecognized mode 'x' but expected one of 'reduced' \(default\), 'r', or 'complete'",
        ),
        E(S(T(3)), RuntimeError, "linalg.qr: The input tensor A " + _TOO_FLAT),
    ),
)
op(
    "geqrf(Tensor self) -> (Tensor a, Tensor tau)",
    variants="function method out",
    kernel=native(complex=True),
    grad={"self": 'not_implemented("geqrf")'},
    autocast=FLOAT32,
    batching=leading(2),
    doc="The reflections of a QR decomposition as LAPACK packs them: R and what is below it, and their factors.",
    samples=[S(T(4, 3)), S(T(3, 4)), S(T(2, 3, 3)), S(T(0, 3)), S(T(3, 0))],
    errors=(
        E(S(T(3)), RuntimeError, "torch.geqrf: input must have at least 2 dimensions."),
        E(S(I(3, 3)), NotImplementedError, "\"geqrf_cpu\" not implemented for 'Long'"),
    ),
)
op(
    "linalg_ldl_factor_ex(Tensor self, *, bool hermitian=False) -> (Tensor LD, Tensor pivots, Tensor info)",
    variants="function internal",
    kernel=native(complex=True),
    grad={"self": 'not_implemented("linalg_ldl_factor_ex")'},
    outputs_nondiff=("pivots", "info"),
    home="linalg",
    batching=leading(2),
    doc="L and the blocks of D of L D L^T as LAPACK packs them, pivots, and its verdict. The lower triangle is read.",
    samples=[S(_SYMMETRIC), S(T(4, 4)), S(T(2, 5, 5)), S(T(4, 4), hermitian=True), S(T(0, 0))],
    errors=(
        E(S(T(3)), RuntimeError, "torch.linalg.ldl_factor_ex: The input tensor A " + _TOO_FLAT),
        E(S(T(2, 3)), RuntimeError, "torch.linalg.ldl_factor_ex: A must be batches of square matrices, but they are 2 by 3 matrices"),
        E(S(I(2, 2)), RuntimeError, "torch.linalg.ldl_factor_ex: Expected a floating point or complex tensor as input. Got Long"),
    ),
)
_LD = T(3, 3, values=(4.0, 0.0, 0.0, 0.25, 3.0, 0.0, 0.5, -0.7, 5.0))
op(
    "linalg_ldl_solve(Tensor LD, Tensor pivots, Tensor B, *, bool hermitian=False) -> Tensor",
    variants="function internal",
    kernel=native(complex=True),
    grad={"LD": 'not_implemented("linalg_ldl_solve")', "B": 'not_implemented("linalg_ldl_solve")'},
    home="linalg",
    nondiff=("pivots",),
    batching=LOOP,
    syncs=True,
    doc="The X of A X = B, given what linalg_ldl_factor_ex made of A.",
    samples=[
        S(_LD, I(3, values=(1, 2, 3)), T(3, 2)),
        S(_LD, I(3, values=(-2, -2, 3)), T(2, 3, 1)),
        S(_LD, I(3, values=(1, -3, -3)), T(3, 2), hermitian=True),
        S(T(0, 0), I(0), T(0, 2)),
    ],
    errors=(
        E(S(_LD, I(3, values=(1, 2, 4)), T(3, 2)), RuntimeError, r"Pivots given to ldl_solve must all satisfy \|pivot\| <= LD.size\(-2\)."),
        E(S(_LD, I(3, values=(0, 2, 3)), T(3, 2)), RuntimeError, r"Pivots given to ldl_solve must all satisfy \|pivot\| >= 1."),
        E(S(_LD, I(2), T(3, 2)), RuntimeError, r"torch.linalg.ldl_solve: Expected LD.shape\[:-1\] and pivots.shape to be the same"),
        E(S(_LD, T(3), T(3, 2)), RuntimeError, "torch.linalg.ldl_solve: Expected pivots to be integers. Got Float"),
        E(S(_LD, I(3), T(2, 2)), RuntimeError, "Incompatible matrix sizes for torch.linalg.ldl_solve: each A matrix is 3 by 3"),
        E(S(_LD, I(3), I(3, 2)), RuntimeError, "Expected b and A to have the same dtype, but found b of type Long and A of type"),
        E(S(_LD, I(3), T(3)), IndexError, "Dimension out of range"),
    ),
)
op(
    "_linalg_eigh(Tensor A, str UPLO='L', bool compute_v=True) -> (Tensor eigenvalues, Tensor eigenvectors)",
    steep=True,
    variants="function internal",
    kernel=native(complex=True),
    node="LinalgEighBackward0",
    grad={"A": "linalg_eigh_grad(grads[0], grads[1], eigenvalues, eigenvectors)"},
    wirtinger=True,
    batching=leading(2),
    doc="Eigenvalues, ascending, and eigenvectors of symmetric matrices of which one triangle is read.",
)
op(
    "linalg_eigh(Tensor A, str UPLO='L') -> (Tensor eigenvalues, Tensor eigenvectors)",
    variants="function internal",
    kernel=composite(),
    home="linalg",
    autocast=FLOAT32,
    doc="Eigenvalues, ascending, and eigenvectors of symmetric matrices.",
    samples=[S(_READ_TRIANGLE)],
    test={"values": "real"},  # complex vectors up to a factor
    errors=(
        E(S(T(2, 3)), RuntimeError, "linalg.eigh: A " + _NOT_SQUARE),
        E(S(T(3, 3), "X"), RuntimeError, "Expected UPLO argument to be 'L' or 'U', but got X"),
    ),
)
op(
    "linalg_eigvalsh(Tensor A, str UPLO='L') -> Tensor",
    variants="function internal",
    kernel=composite(),
    home="linalg",
    autocast=FLOAT32,
    doc="Eigenvalues of symmetric matrices, ascending.",
    samples=[S(_SYMMETRIC)],
    test={"symmetric": True},
    reference="numpy.linalg.eigvalsh",
)
op(
    "_linalg_eig(Tensor A, bool compute_v=True) -> (Tensor eigenvalues, Tensor eigenvectors)",
    steep=True,
    variants="function internal",
    kernel=native(complex=True),
    node="LinalgEigBackward0",
    grad={"A": "linalg_eig_grad(grads[0], grads[1], eigenvalues, eigenvectors, A_dtype)"},
    wirtinger=True,
    batching=leading(2),
    doc="Eigenvalues, in no order, and eigenvectors of length 1 of square matrices: complex, also of real ones.",
)
op(
    "linalg_eig(Tensor A) -> (Tensor eigenvalues, Tensor eigenvectors)",
    variants="function internal",
    kernel=composite(),
    home="linalg",
    autocast=FLOAT32,
    doc="Eigenvalues, in no order, and eigenvectors of square matrices.",
    test={"values": False},  # vectors up to a factor
    samples=[S(T(3, 3, grad=False)), S(T(2, 3, 3, grad=False)), S(T(0, 0, grad=False)), S(T(2, 0, 0, grad=False))],
    errors=(
        E(S(T(2, 3)), RuntimeError, "linalg.eig: A " + _NOT_SQUARE),
        E(S(T(3)), RuntimeError, "linalg.eig: The input tensor A " + _TOO_FLAT),
    ),
)
op(
    "linalg_eigvals(Tensor A) -> Tensor",
    variants="function internal",
    kernel=composite(),
    home="linalg",
    autocast=FLOAT32,
    doc="Eigenvalues of square matrices, in no order.",
    samples=[S(_REGULAR), S(T(3, 3)), S(T(0, 0))],
    errors=(
        E(S(T(2, 3)), RuntimeError, "linalg.eigvals: A " + _NOT_SQUARE),
        E(S(T(3)), RuntimeError, "linalg.eigvals: The input tensor A " + _TOO_FLAT),
    ),
)
op(
    "_linalg_svd(Tensor A, bool full_matrices=False, bool compute_uv=True) -> (Tensor U, Tensor S, Tensor Vh)",
    steep=True,
    variants="function internal",
    kernel=native(complex=True),
    node="LinalgSvdBackward0",
    grad={"A": "linalg_svd_grad(grads[0], grads[1], grads[2], U, S, Vh, A_sizes)"},
    wirtinger=True,
    batching=leading(2),
    doc="Singular values, descending, and vectors.",
)
op(
    "linalg_svd(Tensor A, bool full_matrices=True) -> (Tensor U, Tensor S, Tensor Vh)",
    variants="function internal",
    kernel=composite(),
    home="linalg",
    autocast=FLOAT32,
    doc="Singular values, descending, and vectors: A = U diag(S) Vh.",
    test={"values": False},  # vectors up to their sign
    samples=[S(T(4, 3, grad=False)), S(T(3, 4, grad=False), False), S(T(0, 3, grad=False)), S(T(3, 0, grad=False), False)],
    errors=(E(S(T(3)), RuntimeError, "linalg.svd: The input tensor A " + _TOO_FLAT),),
)
op(
    "linalg_svdvals(Tensor A) -> Tensor",
    variants="function internal",
    kernel=composite(),
    home="linalg",
    autocast=FLOAT32,
    doc="Singular values, descending.",
    samples=[S(T(4, 3)), S(_REGULAR), S(T(0, 3))],
)
op(
    "linalg_pinv(Tensor A, *, float? atol=None, float? rtol=None, bool hermitian=False) -> Tensor",
    variants="function internal",
    kernel=native(complex=True, whole=True),
    grad={"A": "linalg_pinv_grad(grad, A, result)"},
    wirtinger=True,
    home="linalg",
    batching=leading(2),
    syncs=True,
    doc="The Moore-Penrose inverse; singular values up to max(atol, rtol * largest) count as zero.",
    samples=[S(T(4, 3)), S(T(3, 4)), S(_REGULAR), S(T(2, 2, values=(1.0, 2.0, 2.0, 4.0), grad=False), rtol=1e-6), S(T(0, 3))],
    reference="numpy.linalg.pinv",
)

# ---- the same under the names they had before torch.linalg ----

for _schema, _target, _doc, _samples in (
    ("det(Tensor self) -> Tensor", "systems:det", "Determinants.", [S(_REGULAR), S(T(0, 0))]),
    ("slogdet(Tensor self) -> (Tensor sign, Tensor logabsdet)", "older:slogdet", "Signs and logarithms of determinants.", [S(_REGULAR)]),
    ("logdet(Tensor self) -> Tensor", "older:logdet", "Logarithms of determinants; nan where they are negative.", [S(_SYMMETRIC)]),
    ("cholesky(Tensor self, bool upper=False) -> Tensor", "older:cholesky", "Cholesky factors.", [S(_READ_TRIANGLE)]),
    ("lu_solve(Tensor self, Tensor LU_data, Tensor LU_pivots) -> Tensor", "older:lu_solve", "Solves systems given LU factors.", []),
    (
        "lu(Tensor self, bool pivot=True, bool get_infos=False) -> (Tensor LU, Tensor pivots)",
        "older:lu",
        "Packed LU factors and pivots.",
        [S(T(4, 3)), S(_REGULAR)],
    ),
    ("pinverse(Tensor self, float rcond=1e-15) -> Tensor", "older:pinverse", "The Moore-Penrose inverse.", [S(T(4, 3))]),
    (
        "matrix_exp(Tensor self) -> Tensor",
        "products:matrix_exp",
        "The exponential of square matrices.",
        [S(_REGULAR), S(T(3, 3)), S(T(0, 0))],
    ),
):
    op(
        _schema,
        kernel=python(
            f"retrograd._ops.linalg.{_target}",
            straight=("linalg_det", 1) if _target == "systems:det" else (),
            unchecked=IN_PYTHON if _target == "older:lu" else None,
        ),
        # PyTorch's determinants and exponentials are ops of one piece.
        autocast=AS_IS if _target.endswith(("det", "matrix_exp")) else "" if _target == "older:lu" else FLOAT32,
        doc=_doc,
        samples=_samples,
    )
op(
    "inverse(Tensor self) -> Tensor",
    variants="function method out",
    kernel=composite(),
    out=Out(exact=EXPECTED),
    autocast=FLOAT32,
    syncs=True,
    doc="Inverses of square matrices.",
    samples=[S(_REGULAR), S(T(0, 0))],
)
op(
    "qr(Tensor self, bool some=True) -> (Tensor Q, Tensor R)",
    variants="function method out",
    kernel=composite(),
    out=Out(exact=EXPECTED),
    autocast=FLOAT32,
    doc="Orthogonal times upper triangular.",
    samples=[S(T(4, 3)), S(T(3, 4))],
)
op(
    "svd(Tensor self, bool some=True, bool compute_uv=True) -> (Tensor U, Tensor S, Tensor V)",
    variants="function method out",
    kernel=composite(),
    out=Out(exact=EXPECTED),
    autocast=FLOAT32,
    doc="Singular values and vectors.",
    samples=[S(T(4, 3, grad=False))],
    test={"values": False},  # vectors up to their sign
)
_CASTABLE = "{}: Expected result to be safely castable from {{result}} dtype, but got result with dtype {{out}}"
op(
    "cholesky_solve(Tensor self, Tensor L, bool upper=False) -> Tensor",
    variants="function method out",
    kernel=composite(),
    out=Out(cast=_CASTABLE.format("cholesky_solve")),
    autocast=FLOAT32,
    doc="Solves systems given Cholesky factors.",
    samples=[S(T(3, 2), _READ_TRIANGLE), S(T(3, 2), _READ_TRIANGLE, True)],
)
op(
    "cholesky_inverse(Tensor self, bool upper=False) -> Tensor",
    variants="function method out",
    kernel=composite(),
    out=Out(cast=_CASTABLE.format("cholesky_inverse")),
    autocast=FLOAT32,
    doc="Inverses given Cholesky factors.",
    samples=[S(_READ_TRIANGLE)],
    test={"values": "real"},  # LAPACK reads no more than the real part of a factor's diagonal; the complex sample has another
)
op(
    "triangular_solve(Tensor self, Tensor A, bool upper=True, bool transpose=False, bool unitriangular=False) -> "
    "(Tensor solution, Tensor cloned_coefficient)",
    variants="function method out",
    kernel=composite(),
    out=Out(exact=EXPECTED),
    autocast=FLOAT32,
    doc="Solves triangular systems.",
    samples=[S(T(3, 2), _SYMMETRIC), S(T(3, 2), _SYMMETRIC, False, True)],
)

# ---- products with packed reflections, and a few singular values or eigenpairs ----

op(
    "_reflect(Tensor input, Tensor tau, Tensor other, bool adjoint=False) -> Tensor",
    variants="function internal",
    kernel=native(complex=True),
    grad={"input, tau, other": "reflect_backward(grad, input, tau, other, adjoint, needs_input, needs_tau, needs_other)"},
    wirtinger=True,
    home="",
    batching=LOOP,
    doc="The reflections that geqrf packed, or their adjoints in the other order, applied to the columns of other.",
    samples=[S(T(4, 3), T(3), T(4, 2)), S(T(2, 4, 3), T(2, 2), T(2, 4, 5), True)],
    test={"compat": False, "ours": True},
)
op(
    "orgqr(Tensor self, Tensor input2) -> Tensor",
    variants="function method out",
    kernel=composite(),
    out=Out(cast=_CASTABLE.format("torch.linalg.householder_product")),
    autocast=FLOAT32,
    doc="Another name for `linalg.householder_product`.",
    samples=[S(T(4, 3), T(3)), S(T(3, 3), T(2)), S(T(2, 4, 2), T(2, 2)), S(T(3, 0, grad=False), T(0, grad=False))],
    errors=(E(S(T(3), T(3)), RuntimeError, "torch.linalg.householder_product: input must have at least 2 dimensions."),),
)
op(
    "ormqr(Tensor self, Tensor input2, Tensor input3, bool left=True, bool transpose=False) -> Tensor",
    variants="function method out",
    kernel=composite(),
    out=Out(exact=("torch.ormqr: Expected input and result to have the same dtype, but input has dtype {result} and result has dtype {out}",)),
    autocast=FLOAT32,
    doc="The product with the orthogonal matrix that geqrf packed, without making it.",
    samples=[
        S(T(4, 3), T(3), T(4, 2)),
        S(T(4, 3), T(3), T(4, 2), True, True),
        S(T(4, 3), T(3), T(2, 4), False),
        S(T(4, 3), T(3), T(2, 4), False, True),
        S(T(2, 3, 3), T(2, 3), T(2, 3, 1)),
        S(T(3, 5), T(3), T(3, 2)),
        S(T(3, 2), T(2), T(3, 0)),
    ],
    errors=(
        E(S(T(3), T(3), T(3, 2)), RuntimeError, "torch.ormqr: input must have at least 2 dimensions."),
        E(S(T(3, 2), T(2), T(3)), RuntimeError, "torch.ormqr: other must have at least 2 dimensions."),
        E(S(T(3, 2), T(2), T(2, 2)), RuntimeError, r"torch.ormqr: other.shape\[-2\] must be equal to input.shape\[-2\]"),
        E(S(T(3, 2), T(3), T(3, 2)), RuntimeError, r"torch.ormqr: tau.shape\[-1\] must be equal to min\(other.shape\[-2\], input.shape"),
        E(S(T(1, 3, 2), T(1, 2), T(3, 2)), RuntimeError, "torch.ormqr: Expected other to have the same number of dimensions as input"),
        E(S(T(2, 3, 2), T(2, 2), T(1, 3, 2)), RuntimeError, "torch.ormqr: Expected batch dimensions of other to be equal"),
        E(S(T(3, 2), T(2), I(3, 2)), RuntimeError, "torch.ormqr: Expected input and other to have the same dtype"),
    ),
)
# A rank of two is found exactly whatever the random vectors are; singular vectors are fixed up to their sign only.
_RANK_TWO = T(4, 3, values=(1.0, 2.0, 0.5, 0.5, -1.0, 2.0, 1.5, 1.0, 2.5, -0.5, -3.0, 1.5), grad=False)
for _name in ("svd_lowrank", "pca_lowrank"):
    op(
        f"{_name}(Tensor A, int? q={'6' if _name == 'svd_lowrank' else 'None'}) -> (Tensor, Tensor, Tensor)",
        variants="function",
        kernel=python(f"retrograd._ops.linalg.lowrank:{_name}", unchecked=IN_PYTHON),
        doc="About the q largest singular values and their vectors, from products with random vectors.",
        samples=[S(_RANK_TWO, 2), S(T(5, 3, grad=False)), S(T(3, 5, grad=False)), S(T(2, 4, 3, grad=False), 3), S(T(3, 0, grad=False), 0)],
        random=True,
        test={"values": False},
    )
op(
    "lobpcg(Tensor A, int? k=None, Tensor? B=None, Tensor? X=None) -> (Tensor, Tensor)",
    variants="function",
    kernel=python("retrograd._ops.linalg.lobpcg:lobpcg", unchecked=IN_PYTHON),
    doc="A few of the largest or smallest eigenvalues of large symmetric matrices, and their vectors.",
    samples=[S(_SYMMETRIC)],
    random=True,
    test={"values": False, "grad": False},  # vectors are fixed up to their sign: tests/ops/test_few_eigenpairs.py
    errors=(
        E(S(T(2, 2)), ValueError, "LOBPCG algorithm is not applicable when the number of A rows"),
        E(S(T(2, 3)), AssertionError, "A must be square, got shape"),
        E(S(T(3, 3), 1, T(4, 4)), AssertionError, "A and B must have same shape"),
        E(S(T(3, 3), 1, None, T(4, 1)), AssertionError, "X shape mismatch"),
    ),
)
