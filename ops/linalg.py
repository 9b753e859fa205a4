"""Products of matrices and vectors, and what is built on them."""

from __future__ import annotations

from ops import alias, composite, native, op, python
from ops.samples import B, E, I, S, T

_MM_SHAPES = [((3, 4), (4, 5)), ((1, 4), (4, 1)), ((3, 0), (0, 2)), ((0, 3), (3, 2)), ((3, 3), (3, 0)), ((17, 9), (9, 33))]
_BATCH_SHAPES = [((2, 3, 4), (2, 4, 5)), ((1, 2, 3), (1, 3, 1)), ((0, 2, 3), (0, 3, 2)), ((2, 3, 0), (2, 0, 2)), ((3, 0, 2), (3, 2, 4))]

op("mm(Tensor self, Tensor mat2) -> Tensor", variants="function method out", kernel=native(),
   grad={"self": "mm_mat1_grad(grad, mat2, self_turned)", "mat2": "mm_mat2_grad(grad, self, mat2_turned)"},
   doc="Product of two matrices.",
   samples=[S(T(*a), T(*b)) for a, b in _MM_SHAPES] + [S(I(2, 3), I(3, 2))],
   errors=(E(S(T(2, 3), T(4, 5)), RuntimeError, r"mat1 and mat2 shapes cannot be multiplied \(2x3 and 4x5\)"),
           E(S(T(3), T(3, 2)), RuntimeError, "self must be a matrix"), E(S(T(2, 3), T(3)), RuntimeError, "mat2 must be a matrix"),
           E(S(T(2, 3), I(3, 2)), RuntimeError, "expected m1 and m2 to have the same dtype, but got: .* != long int"),
           E(S(B(2, 3), B(3, 2)), NotImplementedError, "not implemented for 'Bool'")),
   reference="numpy.matmul")  # fmt: skip

op("bmm(Tensor self, Tensor mat2) -> Tensor", variants="function method out", kernel=native(),
   grad={"self": "ops::bmm(grad, matrix_transposed(mat2))", "mat2": "ops::bmm(matrix_transposed(self), grad)"},
   doc="Products of the matrices of two batches.",
   samples=[S(T(*a), T(*b)) for a, b in _BATCH_SHAPES] + [S(I(2, 2, 3), I(2, 3, 2))],
   errors=(E(S(T(2, 3), T(3, 2)), RuntimeError, "batch1 must be a 3D tensor"), E(S(T(2, 3, 4), T(3, 2)), RuntimeError, "batch2 must be a 3D tensor"),
           E(S(T(2, 3, 4), T(3, 4, 2)), RuntimeError, r"Expected size for first two dimensions of batch2 tensor to be: \[2, 4\] but got: \[3, 4\]"),
           E(S(T(2, 3, 4), I(2, 4, 2)), RuntimeError, "expected scalar type .* but found Long")),
   reference="numpy.matmul")  # fmt: skip

op("mv(Tensor self, Tensor vec) -> Tensor", variants="function method out", kernel=native(),
   grad={"self": "ops::outer(grad, vec)", "vec": "ops::mv(ops::t(self), grad)"},
   doc="Product of a matrix and a vector.",
   samples=[S(T(3, 4), T(4)), S(T(1, 1), T(1)), S(T(3, 0), T(0)), S(T(0, 3), T(3)), S(I(2, 3), I(3))],
   errors=(E(S(T(2, 3), T(4)), RuntimeError, r"size mismatch, got input \(2\), mat \(2x3\), vec \(4\)"),
           E(S(T(2, 3), T(3, 1)), RuntimeError, "vector \\+ matrix @ vector expected, got 1, 2, 2")),
   reference="numpy.matmul")  # fmt: skip

op("dot(Tensor self, Tensor tensor) -> Tensor", variants="function method out", kernel=native(),
   grad={"self": "grad * tensor", "tensor": "grad * self"},
   doc="Sum of the products of two vectors' elements.",
   samples=[S(T(4), T(4)), S(T(1), T(1)), S(T(0), T(0)), S(T(67), T(67)), S(I(3), I(3))],
   errors=(E(S(T(2), T(3)), RuntimeError, r"inconsistent tensor size, expected tensor \[2\] and src \[3\] to have the same number of elements"),
           E(S(T(2, 2), T(3)), RuntimeError, "1D tensors expected, but got 2D and 1D tensors"),
           E(S(T(2), I(2)), RuntimeError, "dot : expected both vectors to have same dtype, but found .* and Long")),
   reference="numpy.dot")  # fmt: skip

op("vdot(Tensor self, Tensor other) -> Tensor", variants="function method out", kernel=native(),
   grad={"self": "grad * other", "other": "grad * self"},
   doc="dot() with the first vector conjugated; for real vectors the same.",
   samples=[S(T(4), T(4)), S(T(0), T(0))],
   errors=(E(S(T(2), T(3)), RuntimeError, "inconsistent tensor size"),), reference="numpy.vdot")  # fmt: skip

op("matmul(Tensor self, Tensor other) -> Tensor", variants="function method out", kernel=composite(),
   doc="Product of vectors, matrices or batches of matrices, broadcast over the batch.",
   samples=[S(T(*a), T(*b)) for a, b in [
       ((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 2)), ((2, 3), (3, 4)), ((5, 2, 3), (3,)), ((5, 2, 3), (3, 4)), ((3,), (5, 3, 2)), ((2, 3), (5, 3, 4)),
       ((5, 2, 3), (5, 3, 2)), ((4, 1, 2, 3), (5, 3, 2)), ((1, 2, 3), (4, 3, 2)), ((0, 2, 3), (3, 2)), ((2, 0, 3), (2, 3, 4)), ((2, 3, 0), (0, 4)), ((3, 1, 2), (2,))]],
   errors=(E(S(T(2, 3), T(4, 5)), RuntimeError, r"mat1 and mat2 shapes cannot be multiplied \(2x3 and 4x5\)"),
           E(S(T(2), T(3)), RuntimeError, "inconsistent tensor size"), E(S(T(2, 3), T(4)), RuntimeError, "size mismatch, got input"),
           E(S(T(), T(4, 2)), RuntimeError, "both arguments to matmul need to be at least 1D, but they are 0D and 2D"),
           E(S(T(2, 3, 4), T(3, 4, 2)), RuntimeError, "must match the size of tensor b"),
           E(S(T(2, 3, 4), T(2, 3, 2)), RuntimeError, r"Expected size for first two dimensions of batch2 tensor to be: \[2, 4\] but got: \[2, 3\]"),
           E(S(T(2, 3), 2.0), TypeError, "must be Tensor, not float")),
   reference="numpy.matmul")  # fmt: skip

_ADDMM_ERRORS = (
    E(S(T(2, 3), T(2, 3), T(4, 5)), RuntimeError, r"mat1 and mat2 shapes cannot be multiplied \(2x3 and 4x5\)"),
    E(S(T(2, 3), T(2, 3), T(3, 5)), RuntimeError, r"The expanded size of the tensor \(5\) must match the existing size \(3\) at non-singleton dimension 1"),
    E(S(T(5), T(2), T(3, 5)), RuntimeError, "mat1 must be a matrix, got 1-D tensor"),
    E(S(T(5), T(2, 3), T(3)), RuntimeError, "mat2 must be a matrix, got 1-D tensor"),
    E(S(I(5), T(2, 3), T(3, 5)), RuntimeError, "self and mat2 must have the same dtype, but got Long and"),
)
op("addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> Tensor", variants="function method inplace out",
   kernel=native(), inplace="addmm_into",
   grad={"self": "added_grad(grad, self_sizes, beta)", "mat1": "mm_mat1_grad(grad, mat2, mat1_turned, alpha)",
         "mat2": "mm_mat2_grad(grad, mat1, mat2_turned, alpha)"},
   doc="beta * self + alpha * (mat1 @ mat2); self is broadcast.",
   samples=[S(T(2, 4), T(2, 3), T(3, 4)), S(T(4), T(2, 3), T(3, 4)), S(T(2, 1), T(2, 3), T(3, 4), beta=0.5, alpha=-2.0), S(T(), T(2, 3), T(3, 4), beta=2),
            S(T(2, 4), T(2, 0), T(0, 4)), S(T(0, 4), T(0, 3), T(3, 4)), S(T(2, 2), T(2, 3), T(3, 2), beta=0), S(T(2, 2), T(2, 3), T(3, 2), alpha=0.25),
            S(I(2, 2), I(2, 3), I(3, 2), beta=2, alpha=3)],
   errors=_ADDMM_ERRORS)  # fmt: skip

op("addmv(Tensor self, Tensor mat, Tensor vec, *, Scalar beta=1, Scalar alpha=1) -> Tensor", variants="function method inplace out", kernel=native(),
   grad={"self": "added_grad(grad, self_sizes, beta)", "mat": "scaled(ops::outer(grad, vec), alpha)", "vec": "scaled(ops::mv(ops::t(mat), grad), alpha)"},
   doc="beta * self + alpha * (mat @ vec).",
   samples=[S(T(3), T(3, 2), T(2)), S(T(1), T(3, 2), T(2), beta=0.5, alpha=2.0), S(T(), T(3, 2), T(2)), S(T(3), T(3, 0), T(0))],
   errors=(E(S(T(3), T(2, 3), T(3)), RuntimeError, r"size mismatch, got input \(3\), mat \(2x3\), vec \(3\)"),
           E(S(T(2, 2), T(2, 3), T(3)), RuntimeError, "vector \\+ matrix @ vector expected, got 2, 2, 1"),
           E(S(T(2), T(2, 3), I(3)), RuntimeError, "addmv input tensors must have the same dtype")))  # fmt: skip

op("addr(Tensor self, Tensor vec1, Tensor vec2, *, Scalar beta=1, Scalar alpha=1) -> Tensor", variants="function method inplace out", kernel=native(),
   grad={"self": "cast_to(added_grad(grad, self_sizes, beta), self_dtype)", "vec1": "cast_to(scaled(ops::mv(grad, cast_to(vec2, grad.dtype())), alpha), vec1_dtype)",
         "vec2": "cast_to(scaled(ops::mv(ops::t(grad), cast_to(vec1, grad.dtype())), alpha), vec2_dtype)"},
   doc="beta * self + alpha * outer(vec1, vec2).",
   samples=[S(T(3, 2), T(3), T(2)), S(T(2), T(3), T(2), beta=0.5, alpha=2.0), S(T(), T(3), T(2)), S(T(0, 2), T(0), T(2)), S(T(2, 2), T(2), T(2), beta=0)],
   errors=(E(S(T(2, 3), T(2), T(4)), RuntimeError, r"The expanded size of the tensor \(4\) must match the existing size \(3\)"),
           E(S(T(2, 3), T(2, 2), T(3)), RuntimeError, "addr: Expected 1-D argument vec1, but got 2-D"),
           E(S(I(2, 3), I(2), I(3), beta=0.5), RuntimeError, "For integral input tensors, argument beta must not be a floating point number")))  # fmt: skip

op("addbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor", variants="function method inplace out",
   kernel=native(), inplace="addbmm_into",
   grad={"self": "added_grad(grad, self_sizes, beta)",
         "batch1": "scaled(ops::matmul(grad, matrix_transposed(batch2)), alpha)", "batch2": "scaled(ops::matmul(matrix_transposed(batch1), grad), alpha)"},
   doc="beta * self + alpha * the sum over the batch of batch1[i] @ batch2[i].",
   samples=[S(T(3, 5), T(2, 3, 4), T(2, 4, 5)), S(T(5), T(2, 3, 4), T(2, 4, 5), beta=0.5, alpha=-2.0), S(T(3, 5), T(0, 3, 4), T(0, 4, 5)), S(T(3, 5), T(2, 3, 0), T(2, 0, 5), beta=2)],
   errors=(E(S(T(3, 2), T(4, 3, 2), T(5, 2, 2)), RuntimeError, "batch1 and batch2 must have same number of batches, got 4 and 5"),
           E(S(T(3, 2), T(4, 3, 2), T(4, 3, 2)), RuntimeError, r"Incompatible matrix sizes for bmm \(3x2 and 3x2\)"),
           E(S(T(5), T(4, 3, 2), T(4, 2, 2)), RuntimeError, "The expanded size of the tensor")))  # fmt: skip

op("baddbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor", variants="function method inplace out",
   kernel=native(), inplace="baddbmm_into",
   grad={"self": "added_grad(grad, self_sizes, beta)",
         "batch1": "scaled(ops::bmm(grad, matrix_transposed(batch2)), alpha)", "batch2": "scaled(ops::bmm(matrix_transposed(batch1), grad), alpha)"},
   doc="beta * self + alpha * (batch1 @ batch2), matrix by matrix.",
   samples=[S(T(2, 3, 5), T(2, 3, 4), T(2, 4, 5)), S(T(5), T(2, 3, 4), T(2, 4, 5), beta=0.5, alpha=-2.0), S(T(0, 3, 5), T(0, 3, 4), T(0, 4, 5)), S(T(), T(2, 3, 0), T(2, 0, 5), beta=2)],
   errors=(E(S(T(3, 2), T(4, 3, 2), T(5, 2, 2)), RuntimeError, r"Expected size for first two dimensions of batch2 tensor to be: \[4, 2\] but got: \[5, 2\]"),
           E(S(T(5), T(4, 3, 2), T(4, 2, 2)), RuntimeError, "The expanded size of the tensor")))  # fmt: skip

op("outer(Tensor self, Tensor vec2) -> Tensor", variants="function method out", kernel=composite(),
   doc="Products of every element of one vector with every element of another.",
   samples=[S(T(3), T(4)), S(T(1), T(1)), S(T(0), T(2)), S(T(2), I(3))],
   errors=(E(S(T(2, 2), T(2)), RuntimeError, "outer: Expected 1-D argument self, but got 2-D"),
           E(S(T(2), T(2, 2)), RuntimeError, "outer: Expected 1-D argument vec2, but got 2-D")), reference="numpy.outer")  # fmt: skip
alias("ger", of="outer")

op("linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor", variants="function internal", kernel=composite(),
   doc="input @ weight.T + bias, as nn.functional.linear.",
   samples=[S(T(2, 3), T(4, 3)), S(T(2, 3), T(4, 3), T(4)), S(T(3), T(4, 3), T(4)), S(T(3), T(4, 3)), S(T(2, 5, 3), T(4, 3), T(4)), S(T(2, 5, 3), T(4, 3)),
            S(T(2, 3), T(3)), S(T(0, 3), T(4, 3), T(4)), S(T(2, 0), T(4, 0), T(4))])  # fmt: skip

_EINSUM_MISMATCH = r"einsum\(\): subscript j has size 4 for operand 1 which does not broadcast with previously seen size 3"
op("einsum(str equation, Tensor[] operands) -> Tensor", variants="function", kernel=python("retrograd._ops.einsum:einsum"),
   doc="Sums of products in Einstein's notation.",
   samples=[S("ij,jk->ik", T(2, 3), T(3, 4)), S("ij,jk", T(2, 3), T(3, 4)), S("bij,bjk->bik", T(2, 3, 4), T(2, 4, 2)), S("ii->i", T(3, 3)), S("ii", T(3, 3)), S("ij->ji", T(2, 3)), S("ij->", T(2, 3)),
            S("i,j->ij", T(2), T(3)), S("...ij,...jk->...ik", T(2, 3, 4), T(4, 2)), S("bhqd,bhkd->bhqk", T(2, 2, 3, 4), T(2, 2, 5, 4)), S("ij,ij->i", T(2, 3), T(2, 3)), S("i...->...", T(2, 3)),
            S("ij,jk,kl->il", T(2, 3), T(3, 4), T(4, 2)), S("iij,j->i", T(3, 3, 2), T(2)), S("ij,jk->ik", T(2, 1), T(3, 4)), S("->", T()), S("i,i->", T(0), T(0)), S(T(2, 3), [0, 1], T(3, 4), [1, 2], [0, 2])],
   errors=(E(S("ij,jk->ik", T(2, 3), T(4, 4)), RuntimeError, _EINSUM_MISMATCH), E(S("ij,jk->il", T(2, 3), T(3, 4)), RuntimeError, r"output subscript l does not appear in the equation for any input operand"),
           E(S("ij->ij", T(2, 3), T(3, 4)), RuntimeError, "more operands were provided than specified in the equation"), E(S("ij,jk->ik", T(2, 3)), RuntimeError, "fewer operands were provided than specified in the equation"),
           E(S("i->i", T(2, 3)), RuntimeError, r"the number of subscripts in the equation \(1\) does not match the number of dimensions \(2\) for operand 0 and no ellipsis was given"),
           E(S("ii->i", T(2, 3)), RuntimeError, "subscript i is repeated for operand 0 but the sizes don't match, 3 != 2"), E(S("i1->i", T(2, 3)), RuntimeError, "invalid subscript given at index 1 in the equation string"),
           E(S("ij->iij", T(2, 3)), RuntimeError, "output subscript i appears more than once in the output"), E(S("i..j->i", T(2, 3)), RuntimeError, "found '.' for operand 0 that is not part of any ellipsis")))  # fmt: skip
op("inner(Tensor self, Tensor other) -> Tensor", kernel=python("retrograd._ops.linalg:inner"), doc="Sum of products over the last dimension of both; a scalar multiplies.",
   samples=[S(T(3), T(3)), S(T(2, 3), T(4, 3)), S(T(3), T(2, 3)), S(T(2, 3), T()), S(T(2, 0), T(3, 0))],
   errors=(E(S(T(2, 3), T(2, 4)), RuntimeError, r"inner\(\) the last dimension must match on both input tensors but got shapes \[2, 3\] and \[2, 4\]"),), reference="numpy.inner")  # fmt: skip
op("tensordot(Tensor a, Tensor b, int dims=2) -> Tensor", variants="function", kernel=python("retrograd._ops.linalg:tensordot"), doc="Sum of products over several dimensions: a number of them, or two lists.",
   samples=[S(T(2, 3), T(3, 4), 1), S(T(2, 3, 4), T(3, 4, 5)), S(T(2, 3), T(3, 4), 0), S(T(2, 3, 4), T(4, 3, 5), ([1, 2], [1, 0])), S(T(2, 3), T(1, 5), ([1], [0]))],
   errors=(E(S(T(2, 3), T(4, 5), 1), RuntimeError, "contracted dimensions need to match, but first has size 3 in dim -1 and second has size 4 in dim 0"), E(S(T(2, 3), T(3, 5), -1), RuntimeError, "tensordot expects dims >= 0, but got dims=-1"),
           E(S(T(2, 3), T(3, 5), 3), RuntimeError, "tensordot expects dims < ndim_a or ndim_b, but got dims=3"), E(S(T(2, 3), T(3, 5), ([0], [0, 1])), RuntimeError, "both dimension lists should have same length")),
   reference="numpy.tensordot")  # fmt: skip
op("kron(Tensor self, Tensor other) -> Tensor", kernel=python("retrograd._ops.linalg:kron"), doc="The Kronecker product.", samples=[S(T(2, 2), T(3, 2)), S(T(2, 2), T(3)), S(T(), T(2)), S(T(0, 2), T(2, 2))], reference="numpy.kron")  # fmt: skip
op("chain_matmul(Tensor[] matrices) -> Tensor", variants="function", kernel=python("retrograd._ops.linalg:chain_matmul"), doc="The product of matrices in the cheapest order.",
   samples=[S(T(2, 3), T(3, 4), T(4, 2)), S(T(2, 3), T(3, 2))])  # fmt: skip
op("matrix_power(Tensor self, int n) -> Tensor", kernel=python("retrograd._ops.linalg:matrix_power"), doc="An integer power of square matrices.",
   samples=[S(T(3, 3), 3), S(T(2, 3, 3), 2), S(T(3, 3), 0), S(T(3, 3), 1), S(T(3, 3), 7), S(T(0, 0), 2)],
   errors=(E(S(T(2, 3), 2), RuntimeError, "linalg.matrix_power: A must be batches of square matrices, but they are 2 by 3 matrices"), E(S(T(2), 2), RuntimeError, "The input tensor A must have at least 2 dimensions")),
   reference="numpy.linalg.matrix_power")  # fmt: skip
op("linalg_cross(Tensor self, Tensor other, *, int dim=-1) -> Tensor", variants="function internal", kernel=native(),
   grad={"self": "sum_to(ops::linalg_cross(other, grad, dim), self_sizes)", "other": "sum_to(ops::linalg_cross(grad, self, dim), other_sizes)"},
   doc="Vector product of vectors of three elements along dim.",
   samples=[S(T(2, 3), T(2, 3)), S(T(3), T(3)), S(T(1, 3), T(2, 3)), S(T(3, 2), T(3, 2), dim=0), S(T(0, 3), T(0, 3))],
   errors=(E(S(T(3), T(2, 3)), RuntimeError, "linalg.cross: inputs must have the same number of dimensions."), E(S(T(2, 4), T(2, 4)), RuntimeError, "linalg.cross: inputs dimension -1 must have length 3. Got 4 and 4")),
   reference="numpy.cross")  # fmt: skip
op("cross(Tensor self, Tensor other, int? dim=None) -> Tensor", kernel=python("retrograd._ops.linalg:cross"), doc="Vector product along dim, by default the first of size 3.",
   samples=[S(T(2, 3), T(2, 3)), S(T(3, 2), T(3, 2)), S(T(3, 3), T(3, 3), 1)],
   errors=(E(S(T(2, 4), T(2, 4)), RuntimeError, "no dimension of size 3 in input"),))  # fmt: skip
