"""Shape, view, join, split, copy and conversion ops.

Views alias the memory of `self`; their derivatives put the gradient back where the view took from. `*_backward` entries are those
derivatives as ops of their own, so that second derivatives follow.
"""

from typing import Any

from optable import Kernel, alias, composite, copy_of, entries, native, op, python, view
from optable.facts import (
    BITS,
    CAT,
    DETACHES,
    EXPECTED,
    IN_PYTHON,
    INTEGERS,
    LOOP,
    PROMOTE,
    WIDER,
    Out,
    along,
    along_new,
    along_some,
    by,
    leading,
    sized,
)
from optable.samples import E, I, S, T

DIM_ERROR = r"Dimension out of range \(expected to be in range of \[-2, 1\], but got 2\)"

# ---- another shape for the same elements ----

op(
    "view(Tensor self, int[+] size) -> Tensor",
    variants="method internal",
    kernel=view(),
    grad={"self": "ops::reshape(grad, self_sizes)"},
    jvp="linear",
    batching=by("view"),
    doc="The same elements under another shape, without a copy; -1 stands for the size that fits.",
    samples=[S(T(3, 4), (2, 6)), S(T(3, 4), (-1,)), S(T(), (1, 1)), S(T(1), ()), S(T(0, 3), (3, 0)), S(T(2, 3, 4), (6, -1, 2))],
    errors=(
        E(S(T(3, 4), (5, 2)), RuntimeError, r"shape '\[5, 2\]' is invalid for input of size 12"),
        E(S(T(3, 4), (-1, -1)), RuntimeError, "only one dimension can be inferred"),
        E(S(T(3, 4), (-2, 6)), RuntimeError, r"invalid shape dimension -2 at index 0 of shape \[-2, 6\]"),
        E(S(T(0, 3), (-1, 0)), RuntimeError, "cannot reshape tensor of 0 elements into shape"),
    ),
)
op(
    "view.dtype(Tensor self, dtype dtype) -> Tensor",
    variants="method internal",
    kernel=native(complex="lazy", whole=True, guests="moves"),
    no_grad=BITS,
    aliases="memory",
    batching=leading(1),
    doc="The same bytes read as another dtype; the last dimension grows or shrinks when the element sizes differ. Carries no gradient.",
    samples=[S(T(3, 8, grad=False), "int64"), S(T(2, 8, grad=False), "uint8"), S(T(8, grad=False), "float64"), S(T(grad=False), "float32")],
    test={"noncontiguous": False},  # the bytes of an element lie side by side in a contiguous last dimension only
)
op(
    "_unsafe_view(Tensor self, int[+] size) -> Tensor",
    variants="function internal",
    kernel=native(complex=True, whole=True, guests="moves"),
    grad={"self": "ops::reshape(grad, self_sizes)"},
    jvp="linear",
    aliases="memory",
    batching=by("view"),
    doc="`view` of a tensor that nobody else holds: the result is not tracked as a view.",
    samples=[S(T(3, 4), (2, 6)), S(T(3, 4), (-1,))],
)
op(
    "view_as(Tensor self, Tensor other) -> Tensor",
    variants="method",
    kernel=composite(),
    crosses_devices=True,
    aliases="maybe",
    doc="`self.view(other.size())`.",
    samples=[S(T(3, 4), I(2, 6)), S(T(), I(1))],
    errors=(E(S(T(3, 4), I(5)), RuntimeError, r"shape '\[5\]' is invalid for input of size 12"),),
)
op(
    "reshape(Tensor self, int[+] shape) -> Tensor",
    kernel=composite(),
    aliases="maybe",
    doc="The same elements under another shape: a view where that is possible, a copy where it is not.",
    samples=[S(T(3, 4), (2, 6)), S(T(3, 4), (-1,)), S(T(), (1, 1)), S(T(0, 3), (3, 0))],
    errors=(E(S(T(3, 4), (5, 2)), RuntimeError, r"shape '\[5, 2\]' is invalid for input of size 12"),),
    reference="numpy.reshape",
)
op(
    "reshape_as(Tensor self, Tensor other) -> Tensor",
    variants="method",
    kernel=composite(),
    crosses_devices=True,
    aliases="maybe",
    doc="`self.reshape(other.size())`.",
    samples=[S(T(3, 4), I(2, 6))],
)
op(
    "flatten(Tensor self, int start_dim=0, int end_dim=-1) -> Tensor",
    kernel=composite(),
    aliases="maybe",
    doc="Merges the dimensions from start_dim to end_dim into one.",
    samples=[S(T(2, 3, 4)), S(T(2, 3, 4), 1), S(T(2, 3, 4), 0, 1), S(T()), S(T(2, 0, 3), 1)],
    errors=(
        E(S(T(3, 4), 1, 0), RuntimeError, r"flatten\(\) has invalid args: start_dim cannot come after end_dim"),
        E(S(T(3, 4), 2), IndexError, DIM_ERROR),
    ),
)
op(
    "unflatten(Tensor self, int dim, int[+] sizes) -> Tensor",
    kernel=composite(),
    aliases="maybe",
    doc="Splits one dimension into several; one of the sizes may be -1.",
    samples=[S(T(3, 4), 1, (2, 2)), S(T(6, 2), 0, (-1, 3)), S(T(6), -1, (2, 3))],
    errors=(
        E(S(T(3, 4), 1, (5, 2)), RuntimeError, r"unflatten: Provided sizes \[5, 2\] don't multiply up to the size of dim 1 \(4\)"),
        E(S(T(3, 4), 1, ()), RuntimeError, "unflatten: sizes must be non-empty"),
    ),
)
op(
    "ravel(Tensor self) -> Tensor",
    kernel=composite(),
    aliases="maybe",
    doc="A contiguous one-dimensional tensor of all elements.",
    samples=[S(T(2, 3)), S(T())],
)

# ---- order of dimensions ----

op(
    "permute(Tensor self, int[+] dims) -> Tensor",
    kernel=view(),
    grad={"self": "permute_backward(grad, dims)"},
    jvp="linear",
    batching=by("permute"),
    doc="The dimensions of self in another order.",
    samples=[S(T(2, 3, 4), (2, 0, 1)), S(T(2, 3, 4), (-1, 1, 0)), S(T(), ()), S(T(0, 3), (1, 0))],
    errors=(
        E(
            S(T(3, 4), (0,)),
            RuntimeError,
            "number of dimensions in the tensor input does not match the length of the desired ordering of dimensions",
        ),
        E(S(T(3, 4), (0, 0)), RuntimeError, r"permute\(\): duplicate dims are not allowed."),
        E(S(T(3, 4), (2, 0)), IndexError, DIM_ERROR),
    ),
    reference="numpy.transpose",
)
op(
    "transpose(Tensor self, int dim0, int dim1) -> Tensor",
    kernel=view(),
    grad={"self": "ops::transpose(grad, dim0, dim1)"},
    jvp="linear",
    batching=along("dim0", "dim1"),
    doc="Swaps two dimensions.",
    samples=[S(T(3, 4), 0, 1), S(T(2, 3, 4), -1, 0), S(T(), 0, -1), S(T(0, 3), 0, 1)],
    errors=(E(S(T(3, 4), 0, 2), IndexError, DIM_ERROR),),
    reference="numpy.swapaxes",
)
op(
    "transpose.inplace(Tensor self, int dim0, int dim1) -> Tensor",
    variants="inplace",
    kernel=composite(),
    doc="Swaps two dimensions of self itself.",
    samples=[S(T(3, 4), 0, 1)],
)
for _name in ("swapaxes", "swapdims"):
    _arg = "axis" if _name == "swapaxes" else "dim"
    op(
        f"{_name}(Tensor self, int {_arg}0, int {_arg}1) -> Tensor",
        variants="function method inplace",
        kernel=composite(),
        aliases="maybe",
        doc="Swaps two dimensions: `transpose` under another name.",
        samples=[S(T(3, 4), 0, 1)],
    )
op(
    "t(Tensor self) -> Tensor",
    kernel=view(),
    grad={"self": "ops::t(grad)"},
    jvp="linear",
    batching=by("matrix_t"),
    doc="The transpose of a matrix; tensors of fewer dimensions stay as they are.",
    samples=[S(T(3, 4)), S(T(3)), S(T())],
    errors=(E(S(T(2, 3, 4)), RuntimeError, r"t\(\) expects a tensor with <= 2 dimensions, but self is 3D"),),
)
op("t.inplace(Tensor self) -> Tensor", variants="inplace", kernel=composite(), doc="Transposes self itself.", samples=[S(T(3, 4))])
op(
    "movedim.int(Tensor self, int source, int destination) -> Tensor",
    kernel=composite(),
    aliases="maybe",
    doc="Moves dimensions to other places, keeping the order of the rest.",
    samples=[S(T(2, 3, 4), 0, 2), S(T(2, 3, 4), -1, 0), S(T(), 0, 0)],
)
op(
    "movedim.intlist(Tensor self, int[] source, int[] destination) -> Tensor",
    kernel=composite(),
    aliases="maybe",
    doc="Moves dimensions to other places, keeping the order of the rest.",
    samples=[S(T(2, 3, 4), (0, 1), (2, 0))],
    errors=(
        E(S(T(2, 3, 4), (0, 1), (2,)), RuntimeError, "movedim: Invalid source or destination dims"),
        E(S(T(2, 3, 4), (0, 0), (1, 2)), RuntimeError, "movedim: repeated dim in `source`"),
    ),
    reference="numpy.moveaxis",
)
alias("moveaxis", of="movedim")
op(
    "numpy_T(Tensor self) -> Tensor",
    variants="method",
    kernel=composite(),
    aliases="maybe",
    doc="Tensor.T: the dimensions in reverse order.",
    samples=[S(T(3, 4))],
)
op(
    "matrix_H(Tensor self) -> Tensor",
    variants="method",
    kernel=composite(),
    aliases="maybe",
    doc="Tensor.H: the conjugate transpose of a matrix.",
    samples=[S(T(3, 4))],
)
op(
    "adjoint(Tensor self) -> Tensor",
    kernel=composite(),
    aliases="maybe",
    doc="The conjugate transpose of matrices: the last two dimensions swapped, complex elements conjugated.",
    samples=[S(T(2, 3, 4))],
)

# ---- dimensions of size one, broadcasting ----

op(
    "expand(Tensor self, int[+] size, *, bool implicit=False) -> Tensor",
    variants="method internal",
    kernel=view(),
    grad={"self": "sum_to(grad, self_sizes)"},
    jvp="linear",
    batching=by("expand"),
    doc="Repeats dimensions of size one without a copy; -1 keeps a size.",
    samples=[S(T(3, 1), (3, 4)), S(T(4), (2, 3, 4)), S(T(1, 4), (3, -1)), S(T(), (2, 2)), S(T(1), (0,)), S(T(3), (3,))],
    errors=(
        E(
            S(T(3, 4), (3, 5)),
            RuntimeError,
            r"The expanded size of the tensor \(5\) must match the existing size \(4\) at non-singleton dimension 1",
        ),
        E(
            S(T(3, 4), (4,)),
            RuntimeError,
            r"the number of sizes provided \(1\) must be greater or equal to the number of dimensions in the tensor \(2\)",
        ),
        E(
            S(T(3, 4), (-1, 3, 4)),
            RuntimeError,
            r"The expanded size of the tensor \(-1\) isn't allowed in a leading, non-existing dimension 0",
        ),
    ),
    reference="numpy.broadcast_to",
)
op(
    "expand_as(Tensor self, Tensor other) -> Tensor",
    variants="method",
    kernel=composite(),
    crosses_devices=True,
    aliases="maybe",
    doc="`self.expand(other.size())`.",
    samples=[S(T(4), I(3, 4))],
)
op(
    "broadcast_to(Tensor self, int[+] size) -> Tensor",
    kernel=composite(),
    aliases="maybe",
    doc="`expand` as a function.",
    samples=[S(T(4), (3, 4)), S(T(), (2,))],
)
op(
    "broadcast_tensors(Tensor[] tensors) -> Tensor[]",
    variants="function",
    kernel=python("retrograd._ops.shape:broadcast_tensors", unchecked=IN_PYTHON),
    doc="All tensors expanded to their common shape.",
    samples=[S(T(3, 1), T(4)), S(T(), T(2)), S(T(0, 1), T(3))],
)
op(
    "broadcast_shapes(int[] shapes) -> int",
    variants="function",
    kernel=python("retrograd._ops.shape:broadcast_shapes", unchecked=IN_PYTHON),
    doc="The shape that tensors of the given shapes broadcast to.",
    samples=[S((3, 1), (4,)), S((), (2,)), S(3, (2, 1))],
)
op(
    "squeeze(Tensor self) -> Tensor",
    kernel=view(),
    grad={"self": "ops::reshape(grad, self_sizes)"},
    jvp="linear",
    batching=by("squeeze"),
    doc="Drops dimensions of size one: all of them, or those given.",
    samples=[S(T(1, 3, 1)), S(T(2, 3)), S(T(1)), S(T()), S(T(1, 0))],
    reference="numpy.squeeze",
)
op(
    "squeeze.dim(Tensor self, int dim) -> Tensor",
    kernel=view(),
    node="SqueezeBackward1",
    grad={"self": "ops::reshape(grad, self_sizes)"},
    jvp="linear",
    batching=by("squeeze_dims"),
    doc="Drops one dimension if its size is one.",
    samples=[S(T(1, 3), 0), S(T(2, 3), 0), S(T(3, 1), -1), S(T(), 0)],
    errors=(E(S(T(1, 4), 2), IndexError, DIM_ERROR),),
)
op(
    "squeeze.dims(Tensor self, int[] dim) -> Tensor",
    kernel=view(),
    node="SqueezeBackward2",
    grad={"self": "ops::reshape(grad, self_sizes)"},
    jvp="linear",
    batching=by("squeeze_dims"),
    doc="Drops those of the given dimensions whose size is one.",
    samples=[S(T(1, 3, 1), (0, 2)), S(T(1, 3), (0, 1))],
    errors=(E(S(T(1, 4), (0, 0)), RuntimeError, "dim 0 appears multiple times in the list of dims"),),
)
op(
    "squeeze.inplace(Tensor self) -> Tensor",
    variants="inplace",
    kernel=composite(),
    doc="Drops dimensions of size one of self itself.",
    samples=[S(T(1, 3))],
)
op(
    "squeeze.inplace_dim(Tensor self, int dim) -> Tensor",
    variants="inplace",
    kernel=composite(),
    doc="Drops one dimension of self itself.",
    samples=[S(T(1, 3), 0)],
)
op(
    "squeeze.inplace_dims(Tensor self, int[] dim) -> Tensor",
    variants="inplace",
    kernel=composite(),
    doc="Drops dimensions of self itself.",
    samples=[S(T(1, 3), (0, 1))],
)
op(
    "unsqueeze(Tensor self, int dim) -> Tensor",
    kernel=view(),
    grad={"self": "ops::squeeze_dim(grad, dim)"},
    jvp="linear",
    batching=along_new("dim"),
    doc="Adds a dimension of size one at dim.",
    samples=[S(T(3, 4), 0), S(T(3, 4), -1), S(T(3, 4), 1), S(T(), 0), S(T(0), 0)],
    errors=(E(S(T(3, 4), 3), IndexError, r"Dimension out of range \(expected to be in range of \[-3, 2\], but got 3\)"),),
    reference="numpy.expand_dims",
)
op(
    "unsqueeze.inplace(Tensor self, int dim) -> Tensor",
    variants="inplace",
    kernel=composite(),
    doc="Adds a dimension to self itself.",
    samples=[S(T(3), 0)],
)

# ---- parts ----

op(
    "select(Tensor self, int dim, int index) -> Tensor",
    kernel=view(),
    grad={"self": "ops::select_backward(grad, self_sizes, dim, index)"},
    jvp="linear",
    batching=along_some("dim"),
    doc="The slice at one index of one dimension, which disappears.",
    samples=[S(T(3, 4), 0, 1), S(T(3, 4), 1, -1), S(T(2, 3, 4), 1, 2), S(T(3, 0), 0, 1)],
    errors=(
        E(S(T(3, 4), 0, 3), IndexError, r"select\(\): index 3 out of range for tensor of size \[3, 4\] at dimension 0"),
        E(S(T(), 0, 0), IndexError, r"select\(\) cannot be applied to a 0-dim tensor"),
        E(S(T(3, 4), 2, 0), IndexError, DIM_ERROR),
    ),
)
op(
    "select_backward(Tensor self, int[+] input_sizes, int dim, int index) -> Tensor",
    variants="function internal",
    kernel=native(complex=True, guests="moves"),
    grad={"self": "ops::select(grad, dim, index)"},
    jvp="linear",
    home="",
    batching=sized("input_sizes", "dim"),
    doc="Zeros of input_sizes with self at one index of one dimension.",
    samples=[S(T(4), (3, 4), 0, 1), S(T(3), (3, 4), 1, -1)],
)
op(
    "slice(Tensor self, int dim=0, int? start=None, int? end=None, int step=1) -> Tensor",
    variants="function internal",
    kernel=view(),
    grad={"self": "ops::slice_backward(grad, self_sizes, dim, start, end, step)"},
    jvp="linear",
    home="",
    batching=along_some("dim"),
    doc="Every step-th index of one dimension from start up to end; negative ones count from the end, others are clamped.",
    samples=[S(T(5, 2), 0, 1, 4), S(T(5, 2), 0, None, None, 2), S(T(2, 5), 1, -3, -1), S(T(5), 0, 4, 2), S(T(5), 0, 1, 100)],
    errors=(E(S(T(5), 0, 0, 5, 0), RuntimeError, "slice step must be positive"),),
)
op(
    "slice_backward(Tensor self, int[+] input_sizes, int dim, int? start, int? end, int step) -> Tensor",
    variants="function internal",
    kernel=native(complex=True, guests="moves"),
    grad={"self": "ops::slice(grad, dim, start, end, step)"},
    jvp="linear",
    home="",
    batching=sized("input_sizes", "dim"),
    doc="Zeros of input_sizes with self in a slice of one dimension.",
    samples=[S(T(2, 2), (5, 2), 0, 1, 3, 1)],
)
op(
    "narrow(Tensor self, int dim, int start, int length) -> Tensor",
    kernel=composite(),
    aliases="maybe",
    doc="`length` indices of one dimension from start.",
    samples=[S(T(5, 2), 0, 1, 3), S(T(2, 5), 1, -2, 2), S(T(3), 0, 3, 0)],
    errors=(
        E(S(T(3, 4), 0, 1, 3), RuntimeError, r"start \(1\) \+ length \(3\) exceeds dimension size \(3\)."),
        E(S(T(3, 4), 0, -4, 1), IndexError, r"start out of range \(expected to be in range of \[-3, 3\], but got -4\)"),
        E(S(T(3, 4), 0, 0, -1), RuntimeError, r"narrow\(\): length must be non-negative"),
        E(S(T(), 0, 0, 1), RuntimeError, r"narrow\(\) cannot be applied to a 0-dim tensor"),
    ),
)
op(
    "narrow.tensor(Tensor self, int dim, Tensor start, int length) -> Tensor",
    kernel=composite(),
    aliases="maybe",
    syncs=True,
    doc="`length` indices of one dimension from start, a 0-d tensor of an integer.",
    samples=[S(T(5, 2), 0, I(values=(1,)), 3)],
    errors=(E(S(T(3, 4), 0, I(1), 1), RuntimeError, "start must be an 0-dim integral Tensor."),),
)
op(
    "diagonal(Tensor self, int offset=0, int dim1=0, int dim2=1) -> Tensor",
    kernel=view(),
    grad={"self": "ops::diagonal_backward(grad, self_sizes, offset, dim1, dim2)"},
    jvp="linear",
    batching=along_some("dim1", "dim2"),
    doc="The diagonal of the matrices in dim1 and dim2, as the last dimension.",
    samples=[S(T(3, 4)), S(T(3, 4), 1), S(T(3, 4), -2), S(T(2, 3, 4), 0, 0, 2), S(T(3, 4), 5), S(T(0, 3))],
    errors=(
        E(S(T(3, 4), 0, 0, 0), RuntimeError, "diagonal dimensions cannot be identical 0, 0"),
        E(S(T(3, 4), 0, 0, 2), IndexError, DIM_ERROR),
    ),
    reference="numpy.diagonal",
)
op(
    "diagonal_backward(Tensor self, int[+] input_sizes, int offset, int dim1, int dim2) -> Tensor",
    variants="function internal",
    kernel=native(complex=True, guests="moves"),
    grad={"self": "ops::diagonal(grad, offset, dim1, dim2)"},
    jvp="linear",
    home="",
    batching=sized("input_sizes", "dim1", "dim2"),
    doc="Zeros of input_sizes with self on a diagonal.",
    samples=[S(T(3), (3, 4), 0, 0, 1)],
)
op(
    "diagonal_copy(Tensor self, int offset=0, int dim1=0, int dim2=1) -> Tensor",
    variants="function internal",
    kernel=native(complex=True, guests="moves"),
    node="DiagonalBackward0_copy",
    grad={"self": "ops::diagonal_backward(grad, self_sizes, offset, dim1, dim2)"},
    jvp="linear",
    batching=along_some("dim1", "dim2"),
    doc="`diagonal` as a copy.",
    samples=[S(T(3, 4), 1)],
)
op(
    "diag_embed(Tensor self, int offset=0, int dim1=-2, int dim2=-1) -> Tensor",
    kernel=native(complex=True, guests="moves"),
    grad={"self": "ops::diagonal(grad, offset, dim1, dim2)"},
    jvp="linear",
    batching=by("diag_embed"),
    doc="Matrices in dim1 and dim2 whose diagonals are the last dimension of self.",
    samples=[S(T(3)), S(T(2, 3), 1), S(T(2, 3), -1, 0, 2), S(T(0))],
    errors=(E(S(T(3), 0, 1, 1), RuntimeError, "diagonal dimensions cannot be identical 1, 1"),),
)
op(
    "diag(Tensor self, int diagonal=0) -> Tensor",
    variants="function method out",
    kernel=composite(),
    out=Out(exact=EXPECTED),
    doc="The diagonal of a matrix, or the matrix with a vector on its diagonal.",
    samples=[S(T(3)), S(T(3), 1), S(T(3, 4)), S(T(3, 4), -1)],
    errors=(E(S(T(2, 3, 4)), RuntimeError, r"diag\(\): Supports 1D or 2D tensors. Got 3D"),),
    reference="numpy.diag",
)
op(
    "diagflat(Tensor self, int offset=0) -> Tensor",
    kernel=composite(),
    doc="The matrix with all elements of self on a diagonal.",
    samples=[S(T(2, 2)), S(T(3), 1), S(T())],
)
op(
    "unfold(Tensor self, int dimension, int size, int step) -> Tensor",
    variants="method internal",
    kernel=view(),
    grad={"self": "ops::unfold_backward(grad, self_sizes, dimension, size, step)"},
    jvp="linear",
    batching=along_some("dimension"),
    doc="Windows of `size` along a dimension, every `step`, as a new last dimension.",
    samples=[S(T(7), 0, 3, 1), S(T(7), 0, 2, 3), S(T(3, 5), 1, 2, 2), S(T(), 0, 1, 1), S(T(5, 2), 0, 3, 1)],
    errors=(
        E(S(T(3, 4), 1, 5, 1), RuntimeError, "maximum size for tensor at dimension 1 is 4 but size is 5"),
        E(S(T(3, 4), 1, -1, 1), RuntimeError, "size is -1 but must be >= 0"),
        E(S(T(3, 4), 1, 2, 0), RuntimeError, "step is 0 but must be > 0"),
    ),
)
op(
    "unfold_backward(Tensor self, int[+] input_sizes, int dim, int size, int step) -> Tensor",
    variants="function internal",
    kernel=native(complex=True),
    grad={"self": "ops::unfold(grad, dim, size, step)"},
    jvp="linear",
    home="",
    batching=sized("input_sizes", "dim"),
    doc="Adds windows up where they came from.",
    samples=[S(T(5, 3), (7,), 0, 3, 1)],
)
op(
    "as_strided(Tensor self, int[+] size, int[+] stride, int? storage_offset=None) -> Tensor",
    kernel=view(),
    grad={"self": "as_strided_backward(grad, self_sizes, self_strides, self_offset, size, stride, storage_offset)"},
    jvp="linear",
    batching=by("as_strided"),
    doc="Reads the memory of self with any sizes, strides and offset. Elements may overlap.",
    samples=[
        S(T(3, 4), (2, 2), (1, 2)),
        S(T(3, 4), (2, 2), (1, 2), 3),
        S(T(5), (3, 3), (1, 1)),
        S(T(4), (), (), 2),
        S(T(2, 2), (2, 0), (1, 1)),
    ],
    errors=(
        E(S(T(3, 4), (2, 2), (1, 2), 20), RuntimeError, "are out of bounds for storage of size"),
        E(S(T(3, 4), (2,), (1, 2)), RuntimeError, "mismatch in length of strides and shape"),
        E(S(T(3, 4), (2, 2), (-1, 2)), RuntimeError, "as_strided: Negative strides are not supported at the moment"),
        E(S(T(3, 4), (2, 2), (1, 2), -1), RuntimeError, "invalid storage offset -1"),
    ),
    # Non-contiguous versions of the input have other memory, so the result differs by construction.
    test={"noncontiguous": False},
)
op(
    "as_strided.inplace(Tensor self, int[+] size, int[+] stride, int? storage_offset=None) -> Tensor",
    variants="inplace",
    kernel=composite(),
    inplace_function=True,
    doc="Gives self itself another geometry on its memory.",
    samples=[S(T(3, 4), (2, 2), (1, 2))],
    test={"noncontiguous": False},
)
# The derivative of as_strided and, with the two geometries swapped, the derivative of that.
op(
    "_as_strided_transfer(Tensor self, int[] stride, int offset, int[] out_size, int[] out_stride, int out_offset, bool to_input)"
    " -> Tensor",
    variants="function internal",
    kernel=native(complex=True),
    node="AsStridedTransferBackward0",
    grad={"self": "ops::_as_strided_transfer(grad, out_stride, out_offset, self_sizes, stride, offset, !to_input)"},
    jvp="linear",
    batching=LOOP,
    doc="Adds self up in zeroed memory under one geometry and reads it under another. The one of the two that belongs to the input of "
    "as_strided (the second if to_input) shares each sum out over the elements it has in the same place.",
    samples=[
        S(T(2, 2), (1, 2), 1, (3, 4), (4, 1), 0, True),
        S(T(3, 3), (1, 1), 0, (5,), (1,), 0, True),
        S(T(2, 3), (1, 0), 2, (2, 2), (1, 1), 2, False),
    ],
    test={"compat": False},
)
op(
    "alias.view(Tensor self) -> Tensor",
    variants="function internal",
    kernel=view(),
    node="AliasBackward0",
    grad={"self": "grad"},
    jvp="linear",
    home="",
    batching=leading(),
    doc="A view of all of self.",
    samples=[S(T(3))],
    test={"compat": False},
)
op(
    "detach(Tensor self) -> Tensor",
    kernel=native(complex="lazy", whole=True, guests="moves"),
    no_grad=DETACHES,
    aliases="memory",
    batching=leading(),
    doc="The same memory without history.",
    samples=[S(T(3, 4, grad=False)), S(T(grad=False))],
)

# ---- splitting ----

op(
    "split.Tensor(Tensor self, int split_size, int dim=0) -> Tensor[]",
    kernel=view(),
    view_origin="MultiOutput",
    node="SplitBackward0",
    grad={"self": "split_backward(grads, split_size, dim, self_sizes, self_dtype, self_device)"},
    jvp="linear",
    batching=along_some("dim"),
    doc="Views of split_size indices each along a dimension; the last may have fewer.",
    samples=[S(T(5, 2), 2), S(T(2, 5), 3, 1), S(T(3), 5), S(T(0, 3), 1), S(T(0), 0)],
    errors=(
        E(S(T(3, 4), 0), RuntimeError, "split_size can only be 0 if dimension size is 0, but got dimension size of 3"),
        E(S(T(3, 4), -1), RuntimeError, "split expects split_size be non-negative, but got split_size=-1"),
        E(S(T(), 1), RuntimeError, "split expects at least a 1-dimensional tensor"),
    ),
)
_SPLIT_SIZES = {
    "samples": [S(T(5, 2), (2, 3)), S(T(2, 5), (1, 0, 4), 1)],
    "errors": (
        E(
            S(T(3, 4), (1, 1)),
            RuntimeError,
            r"split_with_sizes expects split_sizes to sum exactly to 3 \(input tensor's size at dimension 0\)",
        ),
        E(S(T(3, 4), (1, -1, 3)), RuntimeError, "split_with_sizes expects split_sizes have only non-negative entries"),
    ),
}
op(
    "split.sizes(Tensor self, int[] split_size, int dim=0) -> Tensor[]",
    kernel=composite(),
    aliases="maybe",
    doc="Views of the given sizes along a dimension.",
    **_SPLIT_SIZES,
)
# The function has a name of its own for the argument, the method has not.
op(
    "split.named(Tensor self, int split_size_or_sections, int dim=0) -> Tensor[]",
    variants="function",
    kernel=Kernel("alias", target="split_Tensor"),
    doc="Views of split_size_or_sections indices each along a dimension; the last may have fewer.",
    samples=[S(T(5, 2), split_size_or_sections=2), S(T(2, 5), split_size_or_sections=3, dim=1)],
)
op(
    "split.named_sizes(Tensor self, int[] split_size_or_sections, int dim=0) -> Tensor[]",
    variants="function",
    kernel=Kernel("alias", target="split_sizes"),
    doc="Views of the given sizes along a dimension.",
    samples=[S(T(5, 2), split_size_or_sections=(2, 3)), S(T(2, 5), split_size_or_sections=(1, 0, 4), dim=1)],
)
op(
    "split_with_sizes(Tensor self, int[+] split_sizes, int dim=0) -> Tensor[]",
    kernel=view(),
    view_origin="MultiOutput",
    grad={"self": "split_sizes_backward(grads, split_sizes, dim, self_sizes, self_dtype, self_device)"},
    jvp="linear",
    batching=along_some("dim"),
    doc="Views of the given sizes along a dimension.",
    **_SPLIT_SIZES,
)
op(
    "unsafe_split.Tensor(Tensor self, int split_size, int dim=0) -> Tensor[]",
    kernel=native(complex=True, whole=True, guests="moves"),
    node="UnsafeSplitBackward0",
    grad={"self": "split_backward(grads, split_size, dim, self_sizes, self_dtype, self_device)"},
    jvp="linear",
    aliases="memory",
    batching=along_some("dim"),
    doc="`split` whose results may be written in place, because they are not tracked as views.",
    samples=[S(T(5, 2), 2)],
)
op(
    "unsafe_split_with_sizes(Tensor self, int[+] split_sizes, int dim=0) -> Tensor[]",
    kernel=native(complex=True, whole=True, guests="moves"),
    grad={"self": "split_sizes_backward(grads, split_sizes, dim, self_sizes, self_dtype, self_device)"},
    jvp="linear",
    aliases="memory",
    batching=along_some("dim"),
    doc="`split_with_sizes` whose results may be written in place.",
    samples=[S(T(5, 2), (2, 3))],
)
op(
    "chunk(Tensor self, int chunks, int dim=0) -> Tensor[]",
    kernel=composite(),
    aliases="maybe",
    doc="At most `chunks` views of equal size along a dimension; the last may be smaller.",
    samples=[S(T(5, 2), 2), S(T(2, 7), 3, 1), S(T(3), 5), S(T(0, 3), 3)],
    errors=(
        E(S(T(3, 4), 0), RuntimeError, "chunk expects `chunks` to be greater than 0, got: 0"),
        E(S(T(), 1), RuntimeError, "chunk expects at least a 1-dimensional tensor"),
    ),
)
op(
    "unsafe_chunk(Tensor self, int chunks, int dim=0) -> Tensor[]",
    kernel=composite(),
    aliases="maybe",
    doc="`chunk` whose results may be written in place.",
    samples=[S(T(5, 2), 2)],
)
op(
    "unbind(Tensor self, int dim=0) -> Tensor[]",
    kernel=view(),
    view_origin="MultiOutput",
    grad={"self": "unbind_backward(grads, dim, self_sizes, self_dtype, self_device)"},
    jvp="linear",
    batching=along_some("dim"),
    doc="The slices along a dimension.",
    samples=[S(T(3, 4)), S(T(3, 4), 1), S(T(0, 3)), S(T(3))],
    errors=(E(S(T(3, 4), 2), IndexError, DIM_ERROR), E(S(T()), IndexError, "Dimension specified as 0 but tensor has no dimensions")),
)
op(
    "tensor_split.sections(Tensor self, int sections, int dim=0) -> Tensor[]",
    kernel=composite(),
    aliases="maybe",
    doc="Views along a dimension: `sections` of nearly equal size, or cut at the given indices.",
    samples=[S(T(7, 2), 3), S(T(2, 5), 2, 1)],
    errors=(
        E(S(T(3, 4), 0), RuntimeError, "number of sections must be larger than 0, got 0"),
        E(S(T(), 2), RuntimeError, "tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims"),
    ),
    reference="numpy.array_split",
)
op(
    "tensor_split.indices(Tensor self, int[] indices, int dim=0) -> Tensor[]",
    kernel=composite(),
    aliases="maybe",
    doc="Views along a dimension, cut at the given indices.",
    samples=[S(T(7, 2), (1, 4)), S(T(2, 5), (3, 1, 9), 1)],
)
op(
    "tensor_split.tensor(Tensor self, Tensor tensor_indices_or_sections, int dim=0) -> Tensor[]",
    kernel=composite(),
    aliases="maybe",
    syncs=True,
    doc="Views along a dimension, cut at indices from a tensor.",
    samples=[S(T(7, 2), I(2, values=(1, 4))), S(T(7, 2), I(values=(3,)))],
)
for _name, _least, _dim in (("hsplit", 1, 1), ("vsplit", 2, 0), ("dsplit", 3, 2)):
    op(
        f"{_name}.int(Tensor self, int sections) -> Tensor[]",
        kernel=composite(),
        aliases="maybe",
        doc=f"`tensor_split` along dimension {_dim}.",
        samples=[S(T(4, 4, 4), 2)],
        errors=(
            E(
                S(T(3, 3, 3), 2),
                RuntimeError,
                f"torch.{_name} attempted to split along dimension {_dim}, but the size of the dimension 3 "
                "is not divisible by the split_size 2!",
            ),
        ),
    )
    op(
        f"{_name}.array(Tensor self, int[] indices) -> Tensor[]",
        kernel=composite(),
        aliases="maybe",
        doc=f"`tensor_split` along dimension {_dim}.",
        samples=[S(T(4, 4, 4), (1, 3))],
        errors=(
            E(
                S(T(), (1,)),
                RuntimeError,
                f"torch.{_name} requires a tensor with at least {_least} dimension, but got a tensor with 0 dimensions!",
            ),
        ),
    )

# ---- joining ----

_CAT_ERRORS = (
    E(
        S((T(3, 4), T(3, 2))),
        RuntimeError,
        "Sizes of tensors must match except in dimension 0. Expected size 4 but got size 2 for tensor number 1 in the list.",
    ),
    E(S((T(3, 4), T(2, 3, 4))), RuntimeError, "Tensors must have same number of dimensions: got 2 and 3"),
    E(S((T(), T())), RuntimeError, r"zero-dimensional tensor \(at position 0\) cannot be concatenated"),
    E(S(()), ValueError, "expected a non-empty list of Tensors"),
    E(S((T(3, 4), T(3, 4)), 2), IndexError, DIM_ERROR),
)
op(
    "cat(Tensor[] tensors, int dim=0) -> Tensor",
    variants="function out",
    kernel=native(complex=True, guests="moves"),
    grad={"tensors": "cat_backward(grad, tensors_shapes, tensors_dtypes, dim)"},
    jvp="linear",
    out=Out(cast=CAT),
    autocast=PROMOTE,
    batching=by("cat"),
    doc="Joins tensors along an existing dimension.",
    samples=[
        S((T(3, 4), T(2, 4))),
        S((T(3, 4), T(3, 2), T(3, 1)), 1),
        S((T(2, 3), T(2, 3)), -1),
        S((T(0, 3), T(2, 3))),
        S((T(0), T(2, 3))),
        S((T(5),)),
    ],
    errors=_CAT_ERRORS,
    reference="numpy.concatenate",
)
alias("concat", of="cat")
alias("concatenate", of="cat")
op(
    "stack(Tensor[] tensors, int dim=0) -> Tensor",
    variants="function out",
    kernel=native(complex=True, guests="moves"),
    grad={"tensors": "stack_backward(grad, tensors_dtypes, dim)"},
    jvp="linear",
    out=Out(cast=CAT),
    autocast=PROMOTE,
    batching=along_new("dim"),
    doc="Joins tensors of one shape along a new dimension.",
    samples=[S((T(3, 4), T(3, 4))), S((T(3, 4), T(3, 4), T(3, 4)), 1), S((T(3, 4), T(3, 4)), -1), S((T(), T())), S((T(0), T(0)))],
    errors=(
        E(
            S((T(3, 4), T(4))),
            RuntimeError,
            r"stack expects each tensor to be equal size, but got \[3, 4\] at entry 0 and \[4\] at entry 1",
        ),
        E(S(()), RuntimeError, "stack expects a non-empty TensorList"),
    ),
    reference="numpy.stack",
)
for _name, _doc in (
    ("hstack", "Joins tensors column by column: along the second dimension, vectors along their only one."),
    ("vstack", "Joins tensors row by row: along the first dimension, vectors as rows."),
    ("dstack", "Joins tensors along the third dimension."),
    ("column_stack", "Joins tensors along the second dimension, vectors as columns."),
):
    op(
        f"{_name}(Tensor[] tensors) -> Tensor",
        variants="function out",
        kernel=composite(),
        out=Out(cast=CAT, name="cat"),
        doc=_doc,
        samples=[S((T(3, 2), T(3, 2))), S((T(3), T(3))), S((T(), T()))],
        errors=(E(S(()), RuntimeError, f"{_name} expects a non-empty TensorList"),),
        reference=f"numpy.{_name}",
    )
alias("row_stack", of="vstack")
op(
    "_block_diag(Tensor[] tensors) -> Tensor",
    variants="function",
    kernel=native(complex=True, guests="moves"),
    node="BlockDiagBackward0",
    grad={"tensors": "block_diag_backward(grad, tensors_shapes, tensors_dtypes)"},
    jvp="linear",
    batching=LOOP,
    doc="`block_diag` of a list.",
    samples=[S((T(2, 3), T(3), T()))],
)
op(
    "block_diag(Tensor[] tensors) -> Tensor",
    variants="function",
    kernel=python("retrograd._ops.shape:block_diag", unchecked=IN_PYTHON),
    doc="The block diagonal matrix of the given matrices.",
    samples=[S(T(2, 3), T(3), T())],
)

# ---- repeating and rearranging ----

op(
    "repeat(Tensor self, int[+] repeats) -> Tensor",
    variants="method internal",
    kernel=native(complex=True, guests="moves"),
    grad={"self": "repeat_backward(grad, repeats, self_sizes)"},
    jvp="linear",
    batching=by("repeat"),
    doc="Copies of self side by side, so many along each dimension.",
    samples=[
        S(T(2, 3), (2, 1)),
        S(T(3), (2, 2)),
        S(T(), (3,)),
        S(T(2, 3), (0, 1)),
        S(T(2, 3), (1, 1)),
        S(T(2, 3), (2, 1, 3)),
        S(T(0, 2), (2, 2)),
    ],
    errors=(
        E(S(T(3, 4), (2,)), RuntimeError, "Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor"),
        E(S(T(3, 4), (-1, 1)), RuntimeError, "Trying to create tensor with negative dimension -3"),
    ),
)
op(
    "tile(Tensor self, int[+] dims) -> Tensor",
    kernel=composite(),
    doc="`repeat` that allows fewer counts than dimensions.",
    samples=[S(T(2, 3), (2,)), S(T(3), (2, 2)), S(T(2, 3), ())],
    reference="numpy.tile",
)
op(
    "repeat_interleave.Tensor(Tensor repeats, *, int? output_size=None) -> Tensor",
    variants="function internal",
    kernel=native(complex=True, runs_on_empty=True),
    no_grad=INTEGERS,
    batching=LOOP,
    syncs=True,
    doc="Each index i of repeats, repeats[i] times.",
    samples=[S(I(4)), S(I(0))],
)
op(
    "repeat_interleave.self_Tensor(Tensor self, Tensor repeats, int? dim=None, *, int? output_size=None) -> Tensor",
    kernel=composite(),
    doc="Each slice of self along dim (of the flattened self without dim) repeated.",
    samples=[S(T(3, 2), I(3), 0), S(T(2, 2), I(4)), S(T(3, 2), I(1, values=(2,)), 1)],
    errors=(E(S(T(3, 4), I(2), 0), RuntimeError, "repeats must have the same size as input along dim"),),
)
op(
    "repeat_interleave.self_int(Tensor self, int repeats, int? dim=None, *, int? output_size=None) -> Tensor",
    kernel=composite(),
    doc="Each slice of self along dim (of the flattened self without dim) `repeats` times.",
    samples=[S(T(3, 2), 2), S(T(3, 2), 2, 0), S(T(3, 2), 3, -1), S(T(3), 0), S(T(), 2)],
    errors=(E(S(T(3, 4), -1), RuntimeError, "Repeats must be non-negative"),),
)
op(
    "flip(Tensor self, int[+] dims) -> Tensor",
    kernel=native(complex=True, guests="moves"),
    grad={"self": "ops::flip(grad, dims)"},
    jvp="linear",
    batching=by("flip"),
    doc="Reverses the order along the given dimensions.",
    samples=[S(T(3, 4), (0,)), S(T(3, 4), (0, -1)), S(T(3, 4), ()), S(T(), (0,)), S(T(0, 3), (1,))],
    errors=(
        E(S(T(3, 4), (0, 0)), RuntimeError, "dim 0 appears multiple times in the list of dims"),
        E(S(T(3, 4), (2,)), IndexError, DIM_ERROR),
    ),
    reference="numpy.flip",
)
op(
    "fliplr(Tensor self) -> Tensor",
    kernel=composite(),
    doc="Reverses the second dimension.",
    samples=[S(T(3, 4))],
    errors=(E(S(T(3)), RuntimeError, "Input must be >= 2-d."),),
    reference="numpy.fliplr",
)
op(
    "flipud(Tensor self) -> Tensor",
    kernel=composite(),
    doc="Reverses the first dimension.",
    samples=[S(T(3, 4)), S(T(3))],
    errors=(E(S(T()), RuntimeError, "Input must be >= 1-d."),),
    reference="numpy.flipud",
)
op(
    "roll(Tensor self, int[] shifts, int[] dims=[]) -> Tensor",
    kernel=native(complex=True, guests="moves"),
    grad={"self": "roll_backward(grad, shifts, dims)"},
    jvp="linear",
    batching=by("roll"),
    doc="Shifts along dimensions (of the flattened tensor without dims); what leaves at one end comes back at the other.",
    samples=[S(T(3, 4), (1,)), S(T(3, 4), (1,), (0,)), S(T(3, 4), (-1, 5), (0, 1)), S(T(), (1,)), S(T(0, 3), (1,), (0,))],
    errors=(
        E(S(T(3, 4), (1, 2), (0,)), RuntimeError, "shifts and dimensions must align. shifts: 2, dims:1"),
        E(S(T(3, 4), ()), RuntimeError, "`shifts` required"),
        E(S(T(3, 4), (1,), (2,)), IndexError, DIM_ERROR),
    ),
    reference="numpy.roll",
)
op(
    "rot90(Tensor self, int k=1, int[+] dims=[0, 1]) -> Tensor",
    kernel=native(complex=True, whole=True, guests="moves"),
    grad={"self": "ops::rot90(grad, -k, dims)"},
    jvp="linear",
    batching=by("rot90"),
    doc="Rotates the plane of two dimensions by k quarter turns.",
    samples=[S(T(3, 4)), S(T(3, 4), 2), S(T(3, 4), -1), S(T(3, 4), 4), S(T(2, 3, 4), 1, (1, 2))],
    errors=(
        E(S(T(3, 4), 1, (0, 0)), RuntimeError, "expected rotation dims to be different, but got dim0 = 0 and dim1 = 0"),
        E(S(T(3, 4), 1, (0,)), RuntimeError, "expected total rotation dims == 2, but got dims = 1"),
        E(S(T(3)), RuntimeError, "expected total dims >= 2, but got total dims = 1"),
    ),
    reference="numpy.rot90",
)
for _name in ("tril", "triu"):
    op(
        f"{_name}(Tensor self, int diagonal=0) -> Tensor",
        variants="function method inplace out",
        kernel=native(complex=True, guests="moves"),
        inplace=f"{_name}_",
        grad={"self": f"ops::{_name}(grad, diagonal)"},
        jvp="linear",
        out=Out(exact=EXPECTED),
        batching=leading(2),
        doc=f"The {'lower' if _name == 'tril' else 'upper'} triangle of matrices, zero elsewhere.",
        samples=[S(T(3, 4)), S(T(4, 3), 1), S(T(2, 3, 3), -1), S(T(0, 3))],
        errors=(E(S(T(3)), RuntimeError, f"{_name}_?: input tensor must have at least 2 dimensions"),),
        reference=f"numpy.{_name}",
    )
for _name, _doc, _samples in (
    (
        "meshgrid",
        "Vectors spread over the grid that they span.",
        [S(T(3), T(2), indexing="ij"), S(T(3), T(2), T(4), indexing="xy"), S(T(3), T(), indexing="ij")],
    ),
    ("cartesian_prod", "All combinations of one element of each vector.", [S(T(3), T(2)), S(T(3)), S(I(2), I(3), I(2))]),
    ("combinations", "All combinations of elements of a vector.", [S(T(4)), S(T(3), 2, True), S(T(3), 3), S(T(3), 0), S(T(2), 3)]),
    ("atleast_1d", "0-d tensors as vectors.", [S(T()), S(T(3)), S(T(), T(2, 3))]),
    ("atleast_2d", "Tensors with leading dimensions up to two.", [S(T()), S(T(3)), S(T(2, 3))]),
    ("atleast_3d", "Tensors with dimensions added up to three.", [S(T()), S(T(3)), S(T(2, 3)), S(T(2, 3, 4))]),
):
    op(
        f"{_name}(Tensor[] tensors) -> Tensor[]",
        variants="function",
        kernel=python(f"retrograd._ops.shape:{_name}", unchecked=WIDER if _name == "combinations" else IN_PYTHON),
        doc=_doc,
        samples=_samples,
    )

# ---- copies and conversions ----

op(
    "clone(Tensor self) -> Tensor",
    kernel=native(complex="lazy", guests="moves"),
    grad={"self": "grad"},
    jvp="linear",
    copies=True,
    batching=leading(),
    doc="A copy with memory of its own and the same stride order.",
    samples=[S(T(3, 4)), S(T()), S(T(0))],
    reference="numpy.copy",
)
op(
    "clone.format(Tensor self, *, memory_format? memory_format) -> Tensor",
    kernel=native(complex="lazy", guests="moves"),
    node="CloneBackward0",
    grad={"self": "grad"},
    jvp="linear",
    copies=True,
    batching=by("clone_format"),
    doc="A copy with the given memory format.",
    samples=[
        S(T(3, 4), memory_format="contiguous_format"),
        S(T(2, 3, 2, 2), memory_format="channels_last"),
        S(T(), memory_format="preserve_format"),
    ],
)
op(
    "_clone_as(Tensor self, int[] stride) -> Tensor",
    variants="function internal",
    kernel=native(complex="lazy", guests="moves"),
    node="CloneBackward0",
    grad={"self": "grad"},
    jvp="linear",
    batching=by("clone_as"),
    doc="A copy with the given strides.",
    samples=[S(T(3, 4), (1, 3))],
    test={"compat": False},
)
op(
    "contiguous(Tensor self) -> Tensor",
    variants="method internal",
    kernel=composite(),
    aliases="maybe",
    doc="Self if its memory is in row-major order, else a copy that is.",
    samples=[S(T(3, 4)), S(T())],
)
op(
    "contiguous.format(Tensor self, *, memory_format? memory_format) -> Tensor",
    variants="method",
    kernel=composite(),
    aliases="maybe",
    doc="Self if it has the memory format, else a copy that has.",
    samples=[S(T(3, 4), memory_format="contiguous_format"), S(T(2, 3, 2, 2), memory_format="channels_last")],
)
op(
    "_to_copy(Tensor self, *, dtype? dtype=None, device? device=None) -> Tensor",
    variants="function internal",
    kernel=native(complex="lazy", guests="moves"),
    grad={"self": "convert_back(grad, self_dtype, self_device)"},
    jvp="linear",
    copies=True,
    crosses_devices=True,
    batching=leading(),
    doc="A copy with another dtype or device.",
    samples=[S(T(3, 4))],
)
op(
    "to.dtype(Tensor self, dtype dtype, bool non_blocking=False, bool copy=False, *, memory_format? memory_format=None) -> Tensor",
    variants="method internal",
    kernel=composite(),
    crosses_devices=True,
    aliases="maybe",
    doc="Self with another dtype, device or both; self itself when nothing changes.",
    samples=[S(T(3, 4), "float32"), S(T(3, 4), "float64"), S(T(3), "int64"), S(T(), "float64", copy=True), S(T(0), "bool")],
)
op(
    "to.other(Tensor self, Tensor other, bool non_blocking=False, bool copy=False, *, memory_format? memory_format=None) -> Tensor",
    variants="method",
    kernel=composite(),
    crosses_devices=True,
    aliases="maybe",
    doc="Self with the dtype and device of another tensor.",
    samples=[S(T(3, 4), I(2)), S(T(3), T(2))],
)
op(
    "to.device(Tensor self, device? device=None, dtype? dtype=None, bool non_blocking=False, bool copy=False, *, "
    "memory_format? memory_format=None) -> Tensor",
    variants="method",
    kernel=composite(),
    crosses_devices=True,
    aliases="maybe",
    doc="Self on another device.",
    samples=[S(T(3, 4), "cpu"), S(T(3, 4))],
    errors=(E(S(T(3), "foo"), RuntimeError, "device type at start of device string: foo"),),
)
op(
    "type_as(Tensor self, Tensor other) -> Tensor",
    variants="method",
    kernel=composite(),
    crosses_devices=True,
    aliases="maybe",
    doc="Self with the dtype and device of another tensor.",
    samples=[S(T(3), I(2))],
)
for _name in ("float", "double", "half", "bfloat16", "int", "long", "short", "char", "byte", "bool", "cfloat", "cdouble"):
    # The overload keeps C++ from meeting its own keywords.
    op(
        f"{_name}.convert(Tensor self, *, memory_format? memory_format=None) -> Tensor",
        variants="method",
        kernel=composite(),
        aliases="maybe",
        doc=f"Self converted to torch.{_name}.",
        samples=[S(T(3, 4)), S(I(2))],
    )
op(
    "copy(Tensor self, Tensor src, bool non_blocking=False) -> Tensor",
    variants="inplace",
    kernel=native(complex="lazy", guests="moves"),
    inplace="copy_",
    node="CopyBackwards",
    grad={"self": "zeros_of(grad)", "src": "copy_backward(grad, src_sizes, src_dtype, src_device)"},
    jvp="linear",
    crosses_devices=True,
    batching=by("copy"),
    vmap_name="inplace arithmetic",
    doc="Writes src into self, broadcasting and converting.",
    samples=[S(T(3, 4), T(3, 4)), S(T(3, 4), T(4)), S(T(3, 4), T()), S(T(3, 4), I(3, 1)), S(T(0), T(1))],
    errors=(
        E(S(T(3), T(4)), RuntimeError, r"The size of tensor a \(3\) must match the size of tensor b \(4\) at non-singleton dimension 0"),
        E(S(T(3), T(2, 3)), RuntimeError, r"output with shape \[3\] doesn't match the broadcast shape \[2, 3\]"),
    ),
)
op(
    "copy.number(Tensor self, Scalar src, bool non_blocking=False) -> Tensor",
    variants="inplace",
    kernel=composite(),
    crosses_devices=True,
    vmap_name="inplace arithmetic",
    doc="Writes a number into every element.",
    samples=[S(T(3), 2)],
)
op(
    "fill.Scalar(Tensor self, Scalar value) -> Tensor",
    variants="function",
    kernel=native(complex="lazy", guests="moves"),
    node="FillBackward0",
    grad={"self": "zeros_of(grad)"},
    jvp="zero",
    batching=leading(),
    doc="A tensor like self, filled with one value.",
    samples=[S(T(3, 4), 2), S(T(), 1.5)],
)
op(
    "fill.Tensor(Tensor self, Tensor value) -> Tensor",
    variants="function",
    kernel=native(complex="lazy", guests="moves"),
    node="FillBackward1",
    grad={"self": "zeros_of(grad)", "value": "fill_value_backward(grad, value_dtype)"},
    jvp="linear",
    batching=by("fill"),
    doc="A tensor like self, filled with the value of a 0-d tensor.",
    samples=[S(T(3, 4), T())],
)
op(
    "fill.inplace_Tensor(Tensor self, Tensor value) -> Tensor",
    variants="inplace",
    kernel=native(complex="lazy", guests="moves"),
    inplace="fill_tensor_",
    node="FillBackward3",
    grad={"self": "zeros_of(grad)", "value": "fill_value_backward(grad, value_dtype)"},
    jvp="linear",
    inplace_function=True,
    batching=by("fill_in_place"),
    vmap_name="fill_",
    doc="Sets every element to the value of a 0-d tensor.",
    samples=[S(T(3, 4), T())],
    errors=(E(S(T(3), T(2)), RuntimeError, "fill_ only supports 0-dimension value tensor but got tensor with 1 dimensions."),),
)
op(
    "fill.inplace_Scalar(Tensor self, Scalar value) -> Tensor",
    variants="inplace",
    kernel=native(complex="lazy", guests="moves"),
    inplace="fill_scalar_",
    node="FillBackward2",
    grad={"self": "zeros_of(grad)"},
    jvp="linear",
    inplace_function=True,
    batching=leading(),
    vmap_name="fill_",
    doc="Sets every element to one value.",
    samples=[S(T(3, 4), 2), S(T(), 1.5), S(T(0), 1)],
)
op(
    "zero(Tensor self) -> Tensor",
    variants="inplace",
    kernel=native(complex="lazy", guests="moves"),
    inplace="zero_",
    grad={"self": "zeros_of(grad)"},
    jvp="linear",
    inplace_function=True,
    batching=leading(),
    doc="Sets every element to zero.",
    samples=[S(T(3, 4)), S(T()), S(T(0))],
)
op(
    "fill_diagonal(Tensor self, Scalar fill_value, bool wrap=False) -> Tensor",
    variants="inplace",
    kernel=composite(),
    doc="Sets the main diagonal to a value; with wrap, a tall matrix starts a new one below.",
    samples=[S(T(3, 3), 2.0), S(T(7, 3), 1, True), S(T(7, 3), 1), S(T(3, 3, 3), 5)],
    errors=(
        E(S(T(3), 1), RuntimeError, "dimensions must larger than 1"),
        E(S(T(2, 3, 3), 1), RuntimeError, "all dimensions of input must be of equal length"),
    ),
)
op(
    "resize(Tensor self, int[+] size, *, memory_format? memory_format=None) -> Tensor",
    variants="inplace",
    kernel=composite(),
    doc="Gives self another size in place; memory grows when it must, and what is new is not set.",
    samples=[S(T(3, 4, grad=False), (2, 3))],
    test={"inplace_grad": False},
)
op(
    "resize_as(Tensor self, Tensor the_template, *, memory_format? memory_format=None) -> Tensor",
    variants="inplace",
    kernel=composite(),
    crosses_devices=True,
    inplace_function=True,
    doc="`self.resize_(the_template.size())`.",
    samples=[S(T(3, 4, grad=False), I(2, 3))],
    test={"inplace_grad": False},
)
for _name in ("resize", "resize_as"):
    op(
        f"{_name}.copy(Tensor self) -> Tensor",
        variants="method",
        kernel=python(f"retrograd._ops.shape:{_name}", unchecked=IN_PYTHON),
        doc="A tensor of another size and as many elements: kept for old programs.",
        samples=[S(T(3, 4), 2, 6) if _name == "resize" else S(T(3, 4), I(2, 6))],
        test={"warns": True},
    )
op(
    "set(Tensor self) -> Tensor",
    variants="inplace",
    kernel=composite(),
    crosses_devices=True,
    doc="Makes self an empty tensor.",
    samples=[S(T(3, grad=False))],
)
op(
    "set.source_Tensor(Tensor self, Tensor source) -> Tensor",
    variants="inplace",
    kernel=composite(),
    crosses_devices=True,
    doc="Makes self use the memory and geometry of source.",
    samples=[S(T(3, grad=False), T(2, grad=False))],
)
op(
    "set.source_Tensor_storage_offset(Tensor self, Tensor source, int storage_offset, int[+] size, int[+] stride=[]) -> Tensor",
    variants="inplace",
    kernel=composite(),
    crosses_devices=True,
    doc="Makes self use the memory of source under the given geometry.",
    samples=[S(T(3, grad=False), T(4, grad=False), 1, (2,), (1,))],
)
op(
    "sum_to_size(Tensor self, int[+] size) -> Tensor",
    variants="method",
    kernel=composite(),
    aliases="maybe",
    doc="Sums over the dimensions that broadcasting from `size` would have expanded.",
    samples=[S(T(3, 4), (1, 4)), S(T(3, 4), (4,)), S(T(3, 4), (3, 4)), S(T(3, 4), ())],
    errors=(E(S(T(3, 4), (2, 4)), RuntimeError, r"size \{\[2, 4\]\} is not expandable to size \{\[3, 4\]\}."),),
)

# ---- views into memory of their own ----


# As an expression of other ops, where that is not the view itself.
_VIEWED = {"view": "ops::reshape(self, size)", "view_as_real": "ops::view_as_real(ops::resolve_conj(self))"}


def _copies(view: str, *overloads: str, **fields: Any) -> None:
    """`<view>_copy`, with the samples and errors of the view. Where out= is a list of any length, that is for Python to see."""
    for entry in [o for o in entries if o.name == view and o.overload in (overloads or ("",))]:
        overload = entry.overload if len(overloads) > 1 and entry.overload else ""
        arguments = entry.schema[entry.schema.index("(") :]
        shown = _VIEWED.get(entry.cname, f"ops::{entry.cname}({', '.join(p.name for p in entry.params)})")
        many = entry.returns[0].type == "Tensor[]"
        usual = {"variants": "function" if many else "function out", "test": entry.test, "errors": entry.errors}
        op(
            f"{view}_copy{'.' if overload else ''}{overload}{arguments}",
            kernel=python(f"retrograd._ops.copies:{view}_copy") if many else copy_of(shown),
            doc=f"`{view}` into memory of its own.",
            samples=entry.samples,
            out=Out(exact=EXPECTED),
            **usual | fields,
        )


for _view in (
    "as_strided", "expand", "permute", "select", "slice", "split_with_sizes", "t", "transpose", "unbind", "unfold", "unsqueeze",
    "view_as_complex", "view_as_real",
):  # fmt: skip
    _copies(_view)
_copies("alias", "view", test={})
_copies("detach", test={"grad": False})  # PyTorch's requires grad, and has no derivative
_copies("narrow", variants="function method out", errors=())  # those of narrow, which PyTorch words otherwise here
_copies("split", "Tensor")
_copies("squeeze", "", "dim", "dims")
_copies("view", "", "dtype")
entries[-1].samples = [s for s in entries[-1].samples or () if s.args[0].shape]  # a 0-d tensor has no dimension that could grow
op(
    "_copied(Tensor[] tensors) -> Tensor[]",
    variants="function internal",
    kernel=composite(),
    home="",
    doc="What some views show, each in memory of its own.",
    samples=[S((T(2, 3), T(3)))],
    test={"compat": False, "ours": True},
)
op(
    "_atleast(Tensor[] tensors, int dims) -> Tensor[]",
    variants="function internal",
    kernel=composite(),
    home="",
    aliases="maybe",
    doc="`atleast_1d`, `atleast_2d` and `atleast_3d` of a list.",
    samples=[S((T(), T(2, 3)), 1), S((T(3), T()), 2), S((T(3), T(2, 3), T(1, 2, 3)), 3)],
    test={"compat": False, "ours": True},
)
op(
    "_broadcast_tensors(Tensor[] tensors) -> Tensor[]",
    variants="function internal",
    kernel=composite(),
    home="",
    aliases="maybe",
    doc="`broadcast_tensors` of a list.",
    samples=[S((T(3, 1), T(4)))],
    test={"compat": False, "ours": True},
)
op(
    "_meshgrid(Tensor[] tensors, str indexing) -> Tensor[]",
    variants="function internal",
    kernel=composite(),
    home="",
    aliases="maybe",
    doc="`meshgrid` of a list.",
    samples=[S((T(3), T(2)), "ij"), S((T(3), T(2), T(4)), "xy")],
    test={"compat": False, "ours": True},
)
op(
    "vander(Tensor x, int? N=None, bool increasing=False) -> Tensor",
    variants="function",
    kernel=python("retrograd._ops.shape:vander"),
    doc="Powers of the elements of a vector, in columns.",
    samples=[S(T(3)), S(T(3), 2), S(T(3), 5, increasing=True), S(I(4), 3), S(T(2), 0), S(T(0)), S(T(3), 1)],
    errors=(E(S(T(2, 2)), RuntimeError, "x must be a one-dimensional tensor."), E(S(T(2), -1), RuntimeError, "N must be non-negative.")),
)
