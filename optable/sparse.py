"""What sparse tensors (src/retrograd/_ops/sparse) are computed with, on tensors of places and of values, and the functions that make them."""

from __future__ import annotations

from optable import native, op
from optable.facts import INTEGERS, LOOP
from optable.samples import E, I, S, T

# Each is the derivative of the other, so that second derivatives need no formulas of their own.
op(
    "_sparse_mm(Tensor rows, Tensor columns, Tensor values, Tensor mat, int size) -> Tensor",
    variants="function internal",
    kernel=native(complex=True),
    grad={
        "values": "ops::_sparse_dots(rows, columns, grad, mat)",
        "mat": "ops::_sparse_mm(columns, rows, values, grad, mat_sizes[0])",
    },
    node="SparseAddmmBackward0",
    jvp="multilinear",
    home="",
    nondiff=("rows", "columns"),
    batching=LOOP,
    syncs=True,
    doc="The product with mat of the matrix of `size` rows that has values[k] at (rows[k], columns[k]).",
    samples=[
        S(I(5, values=(0, 0, 2, 2, 1)), I(5, high=4), T(5), T(4, 2), 3),
        S(I(5, values=(0, 0, 1, 1, 2)), I(5, high=4), T(5), T(4, 21), 4),
        S(I(0), I(0), T(0), T(4, 2), 3),
        S(I(3, high=2), I(3, high=2), T(3), T(2, 0), 2),
    ],
    errors=(
        E(S(I(1, values=(5,)), I(1, values=(0,)), T(1), T(4, 2), 3), IndexError, "index 5 is out of bounds for dimension 0 with size 3"),
        E(S(I(1, values=(0,)), I(1, values=(-1,)), T(1), T(4, 2), 3), IndexError, "index -1 is out of bounds for dimension 1 with size 4"),
        E(S(I(2, high=2), I(1, high=2), T(2), T(4, 2), 3), RuntimeError, "_sparse_mm: expected rows and columns to be vectors"),
        E(S(I(2, high=2), I(2, high=2), T(3), T(4, 2), 3), RuntimeError, "_sparse_mm: expected a value for each place and a matrix"),
    ),
    test={"compat": False},  # PyTorch's of this name takes sparse tensors
)
op(
    "_sparse_dots(Tensor rows, Tensor columns, Tensor a, Tensor b) -> Tensor",
    variants="function internal",
    kernel=native(complex=True),
    grad={
        "a": "ops::_sparse_mm(rows, columns, grad, b, a_sizes[0])",
        "b": "ops::_sparse_mm(columns, rows, grad, a, b_sizes[0])",
    },
    jvp="multilinear",
    home="",
    nondiff=("rows", "columns"),
    batching=LOOP,
    syncs=True,
    doc="The inner products of row rows[k] of a and row columns[k] of b.",
    samples=[
        S(I(5, high=3), I(5, high=4), T(3, 2), T(4, 2)),
        S(I(4, high=3), I(4, high=4), T(3, 70), T(4, 70)),
        S(I(0), I(0), T(3, 2), T(4, 2)),
        S(I(2, high=3), I(2, high=3), T(3, 0), T(3, 0)),
    ],
    errors=(
        E(S(I(1, values=(5,)), I(1, values=(0,)), T(3, 2), T(4, 2)), IndexError, "index 5 is out of bounds for dimension 0 with size 3"),
        E(S(I(1, high=2), I(1, high=2), T(3, 2), T(4, 3)), RuntimeError, "_sparse_dots: expected matrices of rows of one length"),
    ),
    test={"compat": False},  # PyTorch has none
)
op(
    "_group_keys(Tensor keys) -> (Tensor order, Tensor group)",
    variants="function internal",
    kernel=native(),
    no_grad=INTEGERS,
    home="",
    batching=LOOP,
    syncs=True,
    doc="The stable permutation that sorts keys, which are not negative, and for each key how many different ones are smaller.",
    samples=[S(I(6, high=3)), S(I(5, values=(70000, 3, 2**40, 3, 0))), S(I(0)), S(I(4, values=(1, 1, 2, 9)))],
    errors=(E(S(I(2, values=(1, -1))), IndexError, "_group_keys: a negative key is out of range"),),
    test={"compat": False},  # PyTorch has none
)
