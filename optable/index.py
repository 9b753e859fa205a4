"""Reading and writing at places that other tensors name."""

from __future__ import annotations

from optable import composite, native, op, python
from optable.facts import EXPECTED, IN_PYTHON, INTEGERS, LOOP, PART, PROMOTE, Out, along, along_some, by
from optable.samples import B, E, I, S, T

DIM_ERROR = "Dimension out of range"

# ---- one index per element ----

op(
    "gather(Tensor self, int dim, Tensor index, *, bool sparse_grad=False) -> Tensor",
    variants="function method out",
    kernel=native(complex=True, guests="moves"),
    grad={"self": "gather_grad(grad, self_sizes, dim, index)"},
    jvp="linear",
    nondiff=("index",),
    out=Out(exact=EXPECTED),
    batching=along("dim"),
    syncs=True,
    doc="out[i][j] = self[index[i][j]][j] for dim 0. sparse_grad is accepted and ignored: gradients are dense.",
    samples=[
        S(T(3, 4), 0, I(2, 4, high=3)),
        S(T(3, 4), 1, I(3, 6, high=4)),
        S(T(3, 4), -1, I(2, 2, high=4)),
        S(T(5), 0, I(3, high=5)),
        S(T(), 0, I(high=1)),
        S(T(3, 4), 0, I(0, 4)),
        S(T(2, 3, 4), 1, I(2, 2, 3, high=3)),
    ],
    errors=(
        E(S(T(2, 3), 0, I(2)), RuntimeError, "Index tensor must have the same number of dimensions as input tensor"),
        E(S(T(2, 3), 2, I(2, 3)), IndexError, DIM_ERROR),
        E(S(T(2, 3), 0, T(2, 3)), RuntimeError, r"gather\(\): Expected dtype int32/int64 for index"),
        E(S(T(2, 3), 0, I(1, 1, values=(5,))), RuntimeError, "index 5 is out of bounds for dimension 0 with size 2"),
        E(S(T(2, 3), 0, I(1, 1, values=(-1,))), RuntimeError, "index -1 is out of bounds for dimension 0 with size 2"),
        E(
            S(T(2, 3), 0, I(2, 4, high=2)),
            RuntimeError,
            r"Size does not match at dimension 1 expected index \[2, 4\] to be no larger than self \[2, 3\] apart from dimension 0",
        ),
    ),
    reference="numpy.take_along_axis",
)

# Distinct positions: which of several writes to one place is the last is defined, but its derivative is not smooth to test.
_PERMUTED = I(2, 3, values=(2, 0, 1, 0, 1, 2))
_SCATTER_ERRORS = (
    E(S(T(2, 3), 0, I(2, high=2), T(2)), RuntimeError, "Index tensor must have the same number of dimensions as self tensor"),
    E(
        S(T(2, 3), 0, I(2, 3, high=2), T(2, 2)),
        RuntimeError,
        r"Expected index \[2, 3\] to be no larger than self \[2, 3\] apart from dimension 0 and to be no larger size than src \[2, 2\]",
    ),
    E(S(T(2, 3), 2, I(2, 3, high=2), T(2, 3)), IndexError, DIM_ERROR),
    E(S(T(2, 3), 0, I(1, 1, values=(3,)), T(1, 1)), RuntimeError, "index 3 is out of bounds for dimension 0 with size 2"),
    E(S(T(2, 3), 0, I(1, 1, values=(-1,)), T(1, 1)), RuntimeError, "index -1 is out of bounds for dimension 0 with size 2"),
    E(S(T(2, 3), 0, I(2, 3, high=2), I(2, 3)), RuntimeError, r"scatter\(\): Expected self.dtype to be equal to src.dtype"),
)
op(
    "scatter.src(Tensor self, int dim, Tensor index, Tensor src) -> Tensor",
    variants="function method inplace out",
    kernel=native(complex=True, on_copy="contiguous", runs_on_empty=True, guests="moves"),
    inplace="scatter_src_into",
    grad={"self": "ops::scatter_value(grad, dim, index, 0)", "src": "scatter_src_grad(grad, dim, index, src_sizes)"},
    node="ScatterBackward0",
    jvp="linear",
    nondiff=("index",),
    out=Out(exact=EXPECTED),
    batching=along("dim"),
    syncs=True,
    doc="self with out[index[i][j]][j] = src[i][j] for dim 0.",
    samples=[
        S(T(3, 3), 0, _PERMUTED, T(2, 3)),
        S(T(2, 4), 1, _PERMUTED, T(2, 3)),
        S(T(3, 3), 0, I(1, 2, values=(2, 0)), T(2, 3, grad=False)),
        S(T(), 0, I(values=(0,)), T()),
        S(T(3), 0, I(0), T(2, grad=False)),
    ],
    errors=_SCATTER_ERRORS,
)
op(
    "scatter.value(Tensor self, int dim, Tensor index, Scalar value) -> Tensor",
    variants="function method inplace out",
    kernel=native(complex=True, on_copy="contiguous", runs_on_empty=True, guests="moves"),
    inplace="scatter_value_into",
    grad={"self": "ops::scatter_value(grad, dim, index, 0)"},
    node="ScatterBackward1",
    jvp="symmetric",
    nondiff=("index",),
    out=Out(exact=EXPECTED),
    batching=along("dim"),
    syncs=True,
    doc="self with out[index[i][j]][j] = value for dim 0.",
    samples=[S(T(3, 3), 0, I(2, 3, high=3), 1.5), S(T(2, 4), -1, I(2, 3), -2), S(T(), 0, I(values=(0,)), 3.0), S(I(3), 0, I(2, high=3), 7)],
    errors=(
        E(
            S(T(2, 3), 0, I(2, 4, high=2), 1.0),
            RuntimeError,
            r"Expected index \[2, 4\] to be no larger than self \[2, 3\] apart from dimension 0",
        ),
        E(S(T(2, 3), 0, T(2, 3), 1.0), RuntimeError, r"scatter\(\): Expected dtype int32/int64 for index"),
    ),
)
# Unlike PyTorch's these two have a derivative: they are scatter_reduce under an older name.
op(
    "scatter.reduce(Tensor self, int dim, Tensor index, Tensor src, *, str reduce) -> Tensor",
    variants="function method inplace out",
    kernel=composite(),
    out=Out(exact=EXPECTED, name="aten::scatter"),
    doc="self with src added to it or multiplied in (reduce='add', 'multiply') at the indices.",
    samples=[
        S(T(3, 3, grad=False), 0, I(2, 3, high=3), T(2, 3, grad=False), reduce="add"),
        S(T(2, 4, grad=False), 1, I(2, 3), T(2, 3, low=0.5, grad=False), reduce="multiply"),
    ],
    errors=(E(S(T(2, 3), 0, I(2, 3, high=2), T(2, 3), reduce="foo"), RuntimeError, "reduce argument must be either add or multiply."),),
)
op(
    "scatter.value_reduce(Tensor self, int dim, Tensor index, Scalar value, *, str reduce) -> Tensor",
    variants="function method inplace out",
    kernel=composite(),
    out=Out(exact=EXPECTED, name="aten::scatter"),
    doc="self with a number added to it or multiplied in (reduce='add', 'multiply') at the indices.",
    samples=[S(T(3, 3, grad=False), 0, I(2, 3, high=3), 2.0, reduce="add"), S(T(2, 4, grad=False), 1, I(2, 3), 3.0, reduce="multiply")],
    errors=(E(S(T(2, 3), 0, I(2, 3, high=2), 1.0, reduce="foo"), RuntimeError, "reduce argument must be either add or multiply."),),
)
op(
    "scatter_add(Tensor self, int dim, Tensor index, Tensor src) -> Tensor",
    variants="function method inplace out",
    kernel=native(complex=True, on_copy="contiguous", runs_on_empty=True),
    inplace="scatter_add_into",
    grad={"self": "grad", "src": "scatter_src_grad(grad, dim, index, src_sizes)"},
    jvp="linear",
    nondiff=("index",),
    out=Out(exact=EXPECTED),
    batching=along("dim"),
    vmap_name="scatter_add_",
    syncs=True,
    doc="self with out[index[i][j]][j] += src[i][j] for dim 0.",
    samples=[
        S(T(3, 4), 0, I(2, 4, high=3), T(2, 4)),
        S(T(2, 3), 1, I(2, 5, high=3), T(2, 5)),
        S(T(3, 4), 0, I(1, 2, high=3), T(2, 4, grad=False)),
        S(T(), 0, I(high=1), T()),
        S(T(3), 0, I(0), T(0)),
    ],
    errors=_SCATTER_ERRORS,
)

_REDUCED = [
    S(T(3, 4, distinct=True), 0, I(2, 4, high=3), T(2, 4, distinct=True), _how, include_self=_with)
    for _how in ("sum", "prod", "mean", "amax", "amin")
    for _with in (True, False)
]
op(
    "scatter_reduce.two(Tensor self, int dim, Tensor index, Tensor src, str reduce, *, bool include_self=True) -> Tensor",
    variants="function method inplace out",
    kernel=native(complex=True, on_copy="contiguous", runs_on_empty=True),
    inplace="scatter_reduce_into",
    node="ScatterReduceBackward0",
    grad={"self, src": "scatter_reduce_grad(grad, self, dim, index, src, reduce, include_self, result, needs_self, needs_src)"},
    nondiff=("index",),
    out=Out(exact=EXPECTED),
    batching=along("dim"),
    syncs=True,
    doc="Combines self with src at the indices along dim: reduce is sum, prod, mean, amax or amin; without include_self the old "
    "values there do not count.",
    samples=[
        *_REDUCED,
        S(T(), 0, I(high=1), T(), "sum"),
        S(T(3), 0, I(0), T(0), "amax"),
        S(
            T(2, 2, values=(0.0, 1.5, 2.0, 0.5), grad=False),
            1,
            I(2, 2, values=(0, 0, 1, 1)),
            T(2, 2, values=(0.0, 2.0, 3.0, 0.0), grad=False),
            "prod",
        ),
    ],
    errors=(
        E(
            S(T(2, 3), 0, I(2, 3, high=2), T(2, 3), "foo"),
            RuntimeError,
            "reduce argument must be either sum, prod, mean, amax or amin, got foo",
        ),
    ),
)

op(
    "take(Tensor self, Tensor index) -> Tensor",
    variants="function method out",
    kernel=native(complex=True, guests="moves"),
    grad={"self": "take_grad(grad, self_sizes, index)"},
    jvp="linear",
    nondiff=("index",),
    out=Out(exact=("take(): self and out expected to have the same dtype, but got self.dtype = {result} and out.dtype = {out}",)),
    batching=by("take"),
    syncs=True,
    doc="Elements of the flattened tensor.",
    samples=[S(T(3, 4), I(2, 2, low=-12, high=12)), S(T(5), I(7, high=5)), S(T(), I(2, high=1)), S(T(3), I(0)), S(T(3), I(high=3))],
    errors=(
        E(S(T(2, 3), I(1, values=(6,))), IndexError, "out of range: tried to access index 6 on a tensor of 6 elements"),
        E(S(T(2, 3), T(2)), RuntimeError, r"take\(\): Expected a long tensor for index, but got"),
        E(S(T(0), I(1, high=1)), IndexError, r"take\(\): tried to take from an empty tensor"),
    ),
    reference="numpy.take",
)
op(
    "put(Tensor self, Tensor index, Tensor source, bool accumulate=False) -> Tensor",
    variants="function method inplace",
    kernel=native(complex=True, on_copy="preserve", guests="moves"),
    inplace="put_into",
    grad={"self": "put_self_grad(grad, index, accumulate)", "source": "ops::reshape(ops::take(grad, index), source_sizes)"},
    jvp="linear",
    nondiff=("index",),
    batching=LOOP,
    syncs=True,
    doc="self with elements of its flattened form replaced by, or with accumulate increased by, source.",
    samples=[
        S(T(3, 4), I(2, values=(3, -1)), T(2)),
        S(T(3, 4), I(4, high=12), T(2, 2), True),
        S(T(), I(1, high=1), T(1)),
        S(T(3), I(0), T(0)),
    ],
    errors=(
        E(
            S(T(2, 3), I(2, high=6), T(3)),
            IndexError,
            r"put_\(\): Expected source and index to have the same number of elements, but got source.numel\(\) = 3, index.numel\(\) = 2",
        ),
        E(S(T(2, 3), I(1, values=(6,)), T(1)), IndexError, "out of range: tried to access index 6 on a tensor of 6 elements"),
        E(S(T(2, 3), I(2, high=6), I(2)), RuntimeError, r"put_\(\): self and source expected to have the same dtype"),
    ),
)
op(
    "take_along_dim(Tensor self, Tensor indices, int? dim=None) -> Tensor",
    variants="function method out",
    kernel=composite(),
    out=Out(exact=EXPECTED, name="gather"),
    doc="gather with the other dimensions broadcast; without dim, from the flattened tensor.",
    samples=[S(T(3, 4), I(3, 1), 1), S(T(3, 4), I(1, 4, high=3), 0), S(T(3, 4), I(2, 2, high=12)), S(T(2, 3), I(2, 0), 1)],
    errors=(
        E(
            S(T(2, 3), I(2), 1),
            RuntimeError,
            "input and indices should have the same number of dimensions, but got 2 dimensions for input, and 1 dimensions for indices",
        ),
        E(S(T(2, 3), T(2, 3), 1), RuntimeError, "dtype of indices should be Long but got"),
    ),
    reference="numpy.take_along_axis",
)

# ---- one index per slice ----

op(
    "index_select(Tensor self, int dim, Tensor index) -> Tensor",
    variants="function method out",
    kernel=native(complex=True, runs_on_empty=True, guests="moves"),
    grad={"self": "index_select_grad(grad, self_sizes, dim, index)"},
    jvp="linear",
    nondiff=("index",),
    out=Out(exact=("index_select(): self and result must have the same scalar type",)),
    batching=by("index_select"),
    syncs=True,
    doc="The slices along dim that a vector of indices names.",
    samples=[
        S(T(3, 4), 0, I(2, high=3)),
        S(T(3, 4), 1, I(6, high=4)),
        S(T(3, 4), -1, I(0)),
        S(T(5), 0, I(high=5)),
        S(T(), 0, I(1, high=1)),
        S(T(2, 3, 4), 1, I(4, high=3)),
    ],
    errors=(
        E(S(T(2, 3), 0, I(1, values=(5,))), IndexError, "index out of range in self"),
        E(S(T(2, 3), 3, I(1)), IndexError, DIM_ERROR),
        E(S(T(2, 3), 0, I(2, 2, high=2)), IndexError, r"index_select\(\): Index is supposed to be a vector"),
        E(S(T(2, 3), 0, T(2)), RuntimeError, r"index_select\(\): Expected dtype int32 or int64 for index"),
    ),
    reference="numpy.take",
)
op(
    "index_add(Tensor self, int dim, Tensor index, Tensor source, *, Scalar alpha=1) -> Tensor",
    variants="function method inplace out",
    kernel=native(complex=True, on_copy="contiguous", runs_on_empty=True),
    inplace="index_add_into",
    grad={"self": "grad", "source": "scaled(index_copy_source_grad(grad, dim, index, source_sizes), alpha)"},
    jvp="linear",
    nondiff=("index",),
    out=Out(exact=EXPECTED),
    batching=by("index_write", "add"),
    vmap_name="index_add_",
    syncs=True,
    doc="self with alpha * source added to the slices along dim that index names.",
    samples=[
        S(T(3, 4), 0, I(2, high=3), T(2, 4)),
        S(T(3, 4), 1, I(6), T(3, 6), alpha=-2.0),
        S(T(3), 0, I(0), T(0)),
        S(T(5), 0, I(3, high=5), T(3)),
        S(T(), 0, I(1, high=1), T()),
    ],
    errors=(
        E(S(T(2, 3), 0, I(1, values=(5,)), T(1, 3)), RuntimeError, "index 5 is out of bounds for dimension 0 with size 2"),
        E(
            S(T(2, 3), 0, I(2, high=2), T(3, 3)),
            RuntimeError,
            r"index_add_\(\): Number of indices \(2\) should be equal to source.size\(dim\): \(3\), for dim: 0",
        ),
        E(
            S(T(2, 3), 0, I(2, high=2), T(2, 4)),
            RuntimeError,
            "source tensor shape must match self tensor shape, excluding the specified dimension",
        ),
        E(
            S(T(2, 3), 0, I(2, high=2), I(2, 3)),
            RuntimeError,
            r"index_add_\(\): self \(.*\) and source \(Long\) must have the same scalar type",
        ),
        E(S(T(2, 3), 0, T(2), T(2, 3)), RuntimeError, r"index_add_\(\): Expected dtype int32/int64 for index but got"),
    ),
)
op(
    "index_copy(Tensor self, int dim, Tensor index, Tensor source) -> Tensor",
    variants="function method inplace out",
    kernel=native(complex=True, on_copy="contiguous", runs_on_empty=True, guests="moves"),
    inplace="index_copy_into",
    grad={"self": "ops::index_fill_int_Scalar(grad, dim, index, 0)", "source": "index_copy_source_grad(grad, dim, index, source_sizes)"},
    jvp="linear",
    nondiff=("index",),
    out=Out(exact=EXPECTED),
    autocast=PROMOTE,
    batching=by("index_write", "copy"),
    syncs=True,
    doc="self with the slices along dim that index names replaced by source.",
    samples=[
        S(T(3, 4), 0, I(2, values=(2, 0)), T(2, 4)),
        S(T(3, 4), 1, I(3, values=(1, 3, 0)), T(3, 3)),
        S(T(3), 0, I(0), T(0)),
        S(T(3), 0, I(1, values=(1,)), T()),
        S(T(), 0, I(1, high=1), T(1)),
    ],
    errors=(
        E(S(T(2, 3), 0, I(1, values=(5,)), T(1, 3)), IndexError, r"index_copy_\(\): index 5 is out of bounds for dimension 0 with size 2"),
        E(
            S(T(2, 3), 0, I(2, high=2), T(3, 3)),
            IndexError,
            r"index_copy_\(\): Number of indices \(2\) should be equal to source.size\(dim\) \(3\)",
        ),
        E(
            S(T(2, 3), 0, I(2, high=2), T(2, 4)),
            RuntimeError,
            "Source/destination tensor must have same slice shapes. Destination slice shape: 3 at dimension 0 and source slice "
            "shape: 4 at dimension 0",
        ),
        E(S(T(2, 3), 0, I(2, high=2), I(2, 3)), RuntimeError, r"index_copy_\(\): self and source expected to have the same dtype"),
    ),
)
op(
    "index_fill.int_Scalar(Tensor self, int dim, Tensor index, Scalar value) -> Tensor",
    variants="function method inplace",
    kernel=native(complex=True, on_copy="preserve", guests="moves"),
    inplace="index_fill_into",
    grad={"self": "ops::index_fill_int_Scalar(grad, dim, index, 0)"},
    node="IndexFillBackward0",
    jvp="symmetric",
    nondiff=("index",),
    batching=by("index_fill"),
    vmap_name="index_fill_",
    syncs=True,
    doc="self with the slices along dim that index names set to a number.",
    samples=[S(T(3, 4), 0, I(2, low=-3, high=3), 1.5), S(T(3, 4), -1, I(2), -2), S(T(3), 0, I(0), 1), S(T(), 0, I(1, high=1), 4.0)],
    errors=(
        E(S(T(2, 3), 0, I(1, values=(5,)), 2.0), IndexError, "index 5 is out of bounds for dimension 0 with size 2"),
        E(S(T(2, 3), 0, I(2, 2, high=2), 2.0), RuntimeError, "Index has to be a vector/scalar"),
    ),
)
op(
    "index_fill.int_Tensor(Tensor self, int dim, Tensor index, Tensor value) -> Tensor",
    variants="function method inplace",
    kernel=native(complex=True, on_copy="preserve", guests="moves"),
    inplace="index_fill_tensor_into",
    grad={
        "self": "ops::index_fill_int_Scalar(grad, dim, index, 0)",
        "value": "cast_to(ops::sum(where_filled(grad, dim, index), std::nullopt), value_dtype)",
    },
    node="IndexFillBackward1",
    jvp="linear",
    nondiff=("index",),
    batching=LOOP,
    vmap_name="index_fill_",
    syncs=True,
    doc="self with the slices along dim that index names set to the value of a 0-d tensor.",
    samples=[S(T(3, 4), 0, I(2, values=(2, 0)), T()), S(T(3, 4), -1, I(1), T())],
    errors=(
        E(
            S(T(2, 3), 0, I(1, high=2), T(2)),
            RuntimeError,
            r"index_fill_ only supports a 0-dimensional value tensor, but got tensor with 1 dimension\(s\).",
        ),
    ),
)
op(
    "index_reduce(Tensor self, int dim, Tensor index, Tensor source, str reduce, *, bool include_self=True) -> Tensor",
    variants="function method inplace out",
    kernel=native(complex=True, on_copy="contiguous", runs_on_empty=True),
    inplace="index_reduce_into",
    grad={"self, source": "index_reduce_grad(grad, self, dim, index, source, reduce, include_self, result, needs_self, needs_source)"},
    nondiff=("index",),
    out=Out(exact=EXPECTED),
    batching=by("index_write", "reduce"),
    syncs=True,
    doc="Combines self with source in the slices along dim that index names: reduce is prod, mean, amax or amin.",
    samples=[
        S(T(3, 4, distinct=True), 0, I(2, high=3), T(2, 4, distinct=True), _how, include_self=_with)
        for _how in ("prod", "mean", "amax", "amin")
        for _with in (True, False)
    ],
    errors=(
        E(S(T(2, 3), 0, I(1, values=(5,)), T(1, 3), "prod"), IndexError, "index out of range in self"),
        E(
            S(T(2, 3), 0, I(2, high=2), T(2, 3), "sum"),
            RuntimeError,
            r"index_reduce\(\): Expected reduce to be one of prod, mean, amax or amin but got sum.",
        ),
    ),
)

# ---- advanced indexing ----

op(
    "index(Tensor self, Tensor?[] indices) -> Tensor",
    variants="internal",
    kernel=native(complex=True, plan="IndexPlan", guests="moves"),
    grad={"self": "index_grad(grad, self_sizes, indices)"},
    jvp="linear",
    nondiff=("indices",),
    crosses_devices=True,  # indices may be on the CPU
    batching=by("index"),
    syncs=True,
    doc="self[i0, :, i1, ...] for tensors of integers or masks; None takes a dimension whole.",
    samples=[
        S(T(3, 4), [I(2, low=-3, high=3)]),
        S(T(3, 4), [None, I(2, 2)]),
        S(T(3, 4, 2), [I(2, high=3), None, I(2, high=2)]),
        S(T(3, 4), [I(2, 1, high=3), I(3)]),
        S(T(3, 4), [B(3)]),
        S(T(3, 4), [B(3, 4)]),
        S(T(3), [I(0)]),
    ],
)
op(
    "index_put(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor",
    variants="function method inplace",
    kernel=native(complex=True, plan="PutPlan", on_copy="preserve", guests="moves"),
    inplace="index_put_into",
    grad={"self": "index_put_self_grad(grad, indices, accumulate)", "values": "index_put_values_grad(grad, indices, values_sizes)"},
    jvp="linear",
    inplace_function=True,
    nondiff=("indices",),
    crosses_devices=True,  # indices may be on the CPU
    batching=by("index_put"),
    syncs=True,
    vmap_name="index_put_",
    doc="self with self[indices] = values, or with accumulate self[indices] += values.",
    samples=[
        S(T(3, 4), [I(2, values=(2, 0))], T(2, 4)),
        S(T(3, 4), [I(3, high=3), I(3)], T(3), True),
        S(T(3, 4), [B(3)], T()),
        S(T(3, 4), [B(3, 4)], T(1)),
        S(T(3, 4), [I(2, values=(0, 1))], T(4)),
        S(T(3), [I(0)], T(0)),
        S(T(3, 4), [I(2, 2, high=3)], T(2, 1, 4), True),
    ],
    errors=(
        E(S(T(2, 3), [I(1, values=(5,))], T(1, 3)), IndexError, "index 5 is out of bounds for dimension 0 with size 2"),
        E(
            S(T(2, 3), [I(2, high=2)], T(4)),
            RuntimeError,
            r"shape mismatch: value tensor of shape \[4\] cannot be broadcast to indexing result of shape \[2, 3\]",
        ),
        E(S(T(2, 3), [I(2, high=2)], I(2, 3)), RuntimeError, "Index put requires the source and destination dtypes match"),
        E(S(T(2, 3), [I(1, high=2), I(1, high=2), I(1, high=1)], T(1)), IndexError, "too many indices for tensor of dimension 2"),
        E(
            S(T(2, 3), [I(2, high=2), I(3, high=2)], T(1)),
            IndexError,
            r"shape mismatch: indexing tensors could not be broadcast together with shapes \[2\], \[3\]",
        ),
        E(S(T(2, 3), [T(2)], T(1)), IndexError, "tensors used as indices must be long, int, byte or bool tensors"),
        E(
            S(T(2, 3), [B(3)], T(1)),
            IndexError,
            r"The shape of the mask \[3\] at index 0 does not match the shape of the indexed tensor \[2, 3\] at index 0",
        ),
    ),
)

# ---- masks ----

op(
    "masked_select(Tensor self, Tensor mask) -> Tensor",
    variants="function method out",
    kernel=native(complex=True, needs_values=True, guests="moves"),
    grad={"self": "masked_select_grad(grad, self_sizes, mask)"},
    jvp="linear",
    nondiff=("mask",),
    out=Out(exact=("masked_select(): self and result must have the same scalar type",)),
    batching=by("masked_select"),
    syncs=True,
    doc="The elements where a mask is true, as a vector.",
    samples=[S(T(3, 4), B(3, 4)), S(T(3, 4), B(4)), S(T(4), B(3, 4)), S(T(), B(2)), S(T(), B()), S(T(0), B(0))],
    errors=(
        E(S(T(2, 3), T(2, 3)), RuntimeError, "masked_select: expected BoolTensor for mask"),
        E(S(T(2, 3), B(2)), RuntimeError, "must match the size of tensor b"),
    ),
)
op(
    "masked_scatter(Tensor self, Tensor mask, Tensor source) -> Tensor",
    variants="function method inplace",
    kernel=native(complex=True, guests="moves"),
    inplace="masked_scatter_into",
    grad={"self": "masked_scatter_self_grad(grad, mask, self_sizes)", "source": "masked_scatter_source_grad(grad, mask, source_sizes)"},
    jvp="linear",
    nondiff=("mask",),
    batching=LOOP,
    syncs=True,
    doc="self with the elements where a mask is true taken from source in order.",
    samples=[S(T(3, 4), B(3, 4), T(12)), S(T(3, 4), B(4), T(3, 4)), S(T(4), B(4), T(5)), S(T(), B(), T(1)), S(T(0), B(0), T(0))],
    errors=(
        E(S(T(2, 3), B(3, values=(1, 1, 1)), T(5)), RuntimeError, "Number of elements of source < number of ones in mask"),
        E(S(T(2, 3), T(3), T(6)), RuntimeError, "masked_scatter_ only supports boolean masks, but got mask with dtype"),
        E(S(T(2, 3), B(3), I(6)), RuntimeError, "masked_scatter: expected self and source to have same dtypes"),
    ),
)
op(
    "nonzero(Tensor self, *, bool as_tuple=False) -> Tensor",
    kernel=python("retrograd._ops.index:nonzero", straight=("_nonzero", 1)),
    doc="The indices of the elements that are not zero: one row each, or with as_tuple one tensor per dimension.",
    samples=[S(I(3, 4, high=2)), S(B(5)), S(I(high=2)), S(I(0)), S(I(3, high=2), as_tuple=True), S(I(high=2), as_tuple=True)],
    reference="numpy.argwhere",
)
op(
    "_nonzero(Tensor self) -> Tensor",
    variants="function internal",
    kernel=native(complex=True, needs_values="nonzero", guests="value"),
    no_grad=INTEGERS,
    batching=by("dynamic_shape", "nonzero"),
    syncs=True,
    doc="nonzero() without as_tuple.",
    samples=[S(I(3, 4, high=2))],
)
op(
    "nonzero_static(Tensor self, *, int size, int fill_value=-1) -> Tensor",
    variants="function method out",
    kernel=native(complex=True, guests="moves"),
    no_grad=INTEGERS,
    out=Out(exact=("nonzero_static: Expected out tensor to have scalar type {result} but got scalar type {out}",)),
    batching=LOOP,
    syncs=True,
    doc="nonzero() of a given number of rows, cut or filled up.",
    samples=[
        S(I(3, 4, high=2), size=2),
        S(B(5), size=7),
        S(I(3, 4, high=2), size=20, fill_value=3),
        S(I(high=2), size=2),
        S(I(0, 3), size=2),
        S(I(4), size=0),
    ],
    errors=(E(S(I(3), size=-1), RuntimeError, "nonzero_static: 'size' must be an non-negative integer"),),
)
op(
    "unravel_index(Tensor indices, int[] shape) -> Tensor[]",
    variants="function",
    kernel=python("retrograd._ops.index:unravel_index", unchecked=IN_PYTHON),
    doc="Where flat indices are in an array of a shape: one tensor of coordinates per dimension.",
    samples=[
        S(I(5, high=24), (2, 3, 4)),
        S(I(2, 3, high=5), (5,)),
        S(I(high=12), (3, 4)),
        S(I(0), (0, 4)),
        S(I(3, low=-30, high=40), (3, 4)),
        S(I(2), ()),
    ],
    errors=(
        E(S(T(3), (3, 4)), TypeError, "expected 'indices' to be integer dtype, but got"),
        E(S(I(3), (-3, 4)), ValueError, r"'shape' cannot have negative values, but got \(-3, 4\)"),
        E(S(I(3), (3.0, 4)), TypeError, "expected 'shape' sequence to only contain ints, but got"),
        E(S(I(3), (0, 4)), RuntimeError, "ZeroDivisionError"),
    ),
)
op(
    "argwhere(Tensor self) -> Tensor",
    kernel=composite(),
    doc="The indices of the elements that are not zero, one row each.",
    samples=[S(I(3, 4, high=2)), S(I(high=2))],
    reference="numpy.argwhere",
)
op(
    "_among(Tensor self, Tensor values) -> Tensor",
    variants="function internal",
    kernel=native(guests="order"),
    home="",
    no_grad=INTEGERS,
    batching=by("bucketize"),
    doc="Whether each element is one of a few values.",
    samples=[S(I(3, 4), I(2)), S(T(5, grad=False), T(3, grad=False)), S(I(3), I(0))],
    errors=(E(S(I(3), T(2)), RuntimeError, "_among: expected a list of"),),
    test={"compat": False, "ours": True},
)
op(
    "isin(Operand elements, Operand test_elements, *, bool assume_unique=False, bool invert=False) -> Tensor",
    variants="function out",
    kernel=composite(),
    out=Out(exact=EXPECTED),
    doc="Whether each element is among test_elements; either may be a number.",
    samples=[
        S(I(3, 4), I(2)),
        S(I(3, 4), 2),
        S(3, I(5)),
        S(I(4), I(3), invert=True),
        S(I(0), I(3)),
        S(I(3), I(0)),
        S(T(3, grad=False), I(3)),
        S(I(40), I(30, high=9)),
        S(I(300), I(16), invert=True),
        S(I(200), I(30)),
    ],
    errors=(E(S(B(2), I(3)), RuntimeError, r"Unsupported input type encountered for isin\(\): Bool"),),
    reference="numpy.isin",
)

# ---- a copy of a tensor with a view of it replaced ----

_SCATTER_SIZE = r"expected src to have a size equal to the slice of self. src size = \[2\], slice size = \[3\]"
op(
    "select_scatter(Tensor self, Tensor src, int dim, int index) -> Tensor",
    kernel=native(complex=True, whole=True, guests="moves"),
    grad={
        "self": "ops::select_scatter(grad, zeros(src_sizes, grad.dtype(), grad.device()), dim, index)",
        "src": "cast_to(ops::select(grad, dim, index), src_dtype)",
    },
    jvp="linear",
    batching=along_some("dim"),
    doc="self with self.select(dim, index) replaced by src.",
    samples=[S(T(3, 4), T(4), 0, 1), S(T(3, 4), T(3), 1, -1)],
    errors=(
        E(S(T(3, 3), T(2), 0, 1), RuntimeError, _SCATTER_SIZE),
        E(S(T(3, 3), T(3), 0, 5), IndexError, "index 5 out of range for tensor of size"),
    ),
)
op(
    "slice_scatter(Tensor self, Tensor src, int dim=0, int? start=None, int? end=None, int step=1) -> Tensor",
    variants="function method out",
    out=Out(exact=EXPECTED),
    kernel=native(complex=True, whole=True, guests="moves"),
    grad={
        "self": "ops::slice_scatter(grad, zeros(src_sizes, grad.dtype(), grad.device()), dim, start, end, step)",
        "src": "cast_to(ops::slice(grad, dim, start, end, step), src_dtype)",
    },
    jvp="linear",
    batching=along_some("dim"),
    doc="self with self[start:end:step] along dim replaced by src.",
    samples=[S(T(5, 2), T(2, 2), 0, 1, 3), S(T(2, 5), T(2, 3), 1, 0, 5, 2), S(T(3), T(3))],
    errors=(E(S(T(3, 3), T(1, 3), 0, 1), RuntimeError, "expected src to have a size equal to the slice of self"),),
)
op(
    "diagonal_scatter(Tensor self, Tensor src, int offset=0, int dim1=0, int dim2=1) -> Tensor",
    kernel=native(complex=True, whole=True, guests="moves"),
    grad={
        "self": "ops::diagonal_scatter(grad, zeros(src_sizes, grad.dtype(), grad.device()), offset, dim1, dim2)",
        "src": "cast_to(ops::diagonal(grad, offset, dim1, dim2), src_dtype)",
    },
    jvp="linear",
    batching=along_some("dim1", "dim2"),
    doc="self with self.diagonal(offset, dim1, dim2) replaced by src.",
    samples=[S(T(3, 3), T(3)), S(T(3, 4), T(3), 1), S(T(2, 3, 3), T(3, 2), 0, 0, 2)],
    errors=(E(S(T(3, 3), T(2)), RuntimeError, _SCATTER_SIZE),),
)
op(
    "_as_strided_scatter(Tensor self, Tensor src, int[] size, int[] stride, int offset, int[] self_stride, int self_offset) -> Tensor",
    variants="internal",
    kernel=native(complex=True, whole=True, guests="moves"),
    node="AsStridedScatterBackward0",
    grad={
        "self": "ops::_as_strided_scatter(grad, zeros(src_sizes, grad.dtype(), grad.device()), size, stride, offset, self_stride, self_offset)",
        "src": "cast_to(ops::_as_strided_transfer(grad, self_stride, self_offset, size, stride, offset, true), src_dtype)",
    },
    jvp="linear",
    batching=LOOP,
    doc="as_strided_scatter of a tensor that lies in memory as self_stride and self_offset say.",
)
op(
    "as_strided_scatter(Tensor self, Tensor src, int[+] size, int[+] stride, int? storage_offset=None) -> Tensor",
    kernel=composite(),
    doc="A copy of self, laid out in memory as self is, with its as_strided(size, stride, storage_offset) replaced by src.",
    samples=[S(T(3, 3), T(2, 2), (2, 2), (1, 2)), S(T(9), T(3), (3,), (2,), 1)],
    errors=(E(S(T(3, 3), T(2, 3), (2, 2), (1, 2)), RuntimeError, "expected src to have a size equal to the slice of self"),),
    # The geometry refers to memory, which non-contiguous versions of the input have more of.
    test={"noncontiguous": False},
)

# ---- embedding ----

op(
    "embedding(Tensor weight, Tensor indices, int padding_idx=-1, bool scale_grad_by_freq=False, bool sparse=False) -> Tensor",
    variants="function",
    kernel=native(complex=True, runs_on_empty=True, guests="moves"),
    grad={"weight": "ops::embedding_dense_backward(grad, indices, weight_sizes[0], padding_idx, scale_grad_by_freq)"},
    jvp="linear",
    nondiff=("indices",),
    batching=by("embedding"),
    syncs=True,
    doc="Rows of a table. The row padding_idx gets no gradient; scale_grad_by_freq divides each row's by how often it was read. "
    "Sparse gradients are for nn.functional.embedding to give.",
    samples=[
        S(T(5, 3), I(4, high=5)),
        S(T(5, 3), I(2, 3, high=5)),
        S(T(5, 3), I(high=5)),
        S(T(5, 3), I(0)),
        S(T(5, 3), I(6, high=5), 2),
        S(T(5, 3), I(6, high=5), -1, True),
    ],
    errors=(
        E(S(T(3, 2), I(1, values=(5,))), IndexError, "index out of range in self"),
        E(S(T(3, 2), T(2)), RuntimeError, "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int"),
        E(S(T(3), I(2, high=3)), RuntimeError, "'weight' must be 2-D"),
    ),
)
op(
    "embedding_dense_backward(Tensor grad_output, Tensor indices, int num_weights, int padding_idx, bool scale_grad_by_freq) -> Tensor",
    variants="function internal",
    kernel=native(complex=True, runs_on_empty=True),
    grad={"grad_output": "embedding_grad_grad(grad, indices, padding_idx, scale_grad_by_freq)"},
    node="EmbeddingDenseBackwardBackward0",
    jvp="linear",
    home="",
    nondiff=("indices",),
    batching=by("embedding_backward"),
    syncs=True,
    doc="The gradient of a table from the gradient of the rows read from it.",
    samples=[S(T(4, 3), I(4, high=5), 5, -1, False), S(T(2, 2, 3), I(2, 2, high=5), 5, 1, True)],
)
_BAGS = (I(5, values=(0, 2, 2, 4, 1)), I(4, values=(0, 2, 2, 4)))
_BAG_WORDS = "bool scale_grad_by_freq=False, int mode=0, bool sparse=False, Tensor? per_sample_weights=None, bool include_last_offset=False"
_BAG_RESULTS = "(Tensor output, Tensor offset2bag, Tensor bag_size, Tensor max_indices)"
_BAG_SAMPLES = [
    S(T(5, 3), *_BAGS),
    S(T(5, 3), *_BAGS, False, 1),
    S(T(5, 3, distinct=True), *_BAGS, False, 2),
    S(T(5, 3), *_BAGS, False, 0, False, T(5)),
    S(T(5, 3), _BAGS[0], I(3, values=(0, 3, 5)), False, 1, False, None, True),
    S(T(5, 3), I(0), I(2, values=(0, 0)), False, 1),
    S(T(5, 3), I(0), I(0)),
]
_BAG_ERRORS = (
    E(
        S(T(3, 2), I(1, values=(5,)), I(1, values=(0,))),
        RuntimeError,
        "embedding_bag: Expected idx >= 0 && idx < num_embeddings but found idx to be 5",
    ),
    E(S(T(3, 2), I(2, high=3), I(1, values=(1,))), RuntimeError, r"offsets\[0\] has to be 0, i.e., the first sequence"),
    E(
        S(T(3, 2), I(2, high=3), I(2, values=(0, 5))),
        RuntimeError,
        r"offsets\[-1\] can not be greater than input's length 2 but got offsets\[-1\] of 5",
    ),
    E(
        S(T(3, 2), T(2), I(1, values=(0,))),
        RuntimeError,
        "Expected tensor for argument #1 'indices' to have one of the following scalar types",
    ),
    E(
        S(T(3, 2), I(2, high=3), I(1, values=(0,)), False, 1, False, T(2)),
        RuntimeError,
        "embedding_bag: per_sample_weights only supported with mode='sum'",
    ),
)
# PyTorch reads what lies beyond, or goes by other offsets for some dtypes.
_BAG_OWN_ERRORS = (
    E(S(T(3, 2), I(4, high=3), I(3, values=(0, 3, 2))), RuntimeError, "offsets must not fall"),
    E(S(T(3, 2), I(4, high=3), I(0)), RuntimeError, "there are 4 indices, but no bag for them"),
    E(
        S(T(3, 2), I(4, high=3), I(2, values=(0, 3)), False, 0, False, None, True),
        RuntimeError,
        "Your input appears to be incorrect: the last offset",
    ),
)
op(
    f"_embedding_bag(Tensor weight, Tensor indices, Tensor offsets, {_BAG_WORDS}, int padding_idx=-1) -> {_BAG_RESULTS}",
    variants="function internal",
    kernel=native(),
    grad={
        "weight": "embedding_bag_grad(grad, indices, offset2bag, bag_size, max_indices, weight_sizes[0], scale_grad_by_freq, mode, per_sample_weights, "
        "padding_idx)",
        "per_sample_weights": "embedding_bag_weights_grad(grad, weight, indices, offsets, offset2bag, padding_idx)",
    },
    outputs_nondiff=("offset2bag", "bag_size", "max_indices"),
    nondiff=("indices", "offsets"),
    node="EmbeddingBagBackward0",
    home="",
    batching=LOOP,
    syncs=True,
    doc="Sums (mode 0), means (1) or maxima (2) of bags of rows of a table; the bag of each index; of each bag how many indices count (zeros for sums); "
    "and for maxima the rows they come from.",
    samples=[*_BAG_SAMPLES, S(T(5, 3), *_BAGS, False, 1, False, None, False, 2), S(T(5, 3), *_BAGS, False, 0, False, T(5), False, 4)],
    errors=_BAG_ERRORS + _BAG_OWN_ERRORS,
    test={
        "compat": False
    },  # PyTorch leaves offset2bag empty for some dtypes, and divides by the count of another row with scale_grad_by_freq
)
op(
    "_embedding_bag_dense_backward(Tensor grad, Tensor indices, Tensor offset2bag, Tensor bag_size, Tensor maximum_indices, int num_weights, "
    "bool scale_grad_by_freq, int mode, Tensor? per_sample_weights, int padding_idx=-1) -> Tensor",
    variants="function internal",
    kernel=native(),
    no_grad=PART,
    home="",
    batching=LOOP,
    syncs=True,
    doc="The gradient of the table of embedding_bag, for sums and means, without derivative.",
    samples=[
        S(T(2, 3, grad=False), I(3, high=4), I(3, values=(0, 0, 1)), I(2, values=(2, 1)), I(2), 4, False, 1, None),
        S(T(2, 3, grad=False), I(3, high=4), I(3, values=(0, 0, 1)), I(2), I(2), 4, False, 0, T(3, grad=False), 1),
    ],
    test={"compat": False},  # PyTorch reads bag_size as if it lay side by side
)
op(
    "_embedding_bag_per_sample_weights_backward(Tensor grad, Tensor weight, Tensor indices, Tensor offsets, Tensor offset2bag, int mode, "
    "int padding_idx=-1) -> Tensor",
    variants="function internal",
    kernel=native(),
    no_grad=PART,
    home="",
    batching=LOOP,
    syncs=True,
    doc="The gradient of the weights of embedding_bag, without derivative.",
    samples=[
        S(T(2, 3, grad=False), T(4, 3, grad=False), I(3, high=4), I(2, values=(0, 2)), I(3, values=(0, 0, 1)), 0),
        S(T(2, 3, grad=False), T(4, 3, grad=False), I(3, values=(1, 3, 1)), I(2, values=(0, 2)), I(3, values=(0, 0, 1)), 0, 1),
    ],
)
op(
    f"embedding_bag(Tensor weight, Tensor indices, Tensor offsets, {_BAG_WORDS}) -> {_BAG_RESULTS}",
    variants="function internal",
    kernel=composite(),
    doc="Sums (mode 0), means (1) or maxima (2) of bags of rows of a table, without the rows in between; and how they were put together.",
    samples=_BAG_SAMPLES,
    errors=_BAG_ERRORS,
    test={"compat": False},  # see _embedding_bag
)
op(
    "embedding_bag.padding_idx(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq, int mode, bool sparse, "
    f"Tensor? per_sample_weights, bool include_last_offset, int? padding_idx) -> {_BAG_RESULTS}",
    variants="function internal",
    kernel=composite(),
    doc="The same, without the row padding_idx.",
    samples=[S(T(5, 3), *_BAGS, False, m, False, None, False, p) for m, p in ((0, 2), (1, -3), (1, None))]
    + [S(T(5, 3, distinct=True), *_BAGS, False, 2, False, None, False, 2)],
    errors=(
        E(
            S(T(3, 2), I(2, high=3), I(1, values=(0,)), False, 0, False, None, False, 3),
            RuntimeError,
            "padding_idx must be within the number of embeddings, -3 through 2, but got 3",
        ),
    ),
    test={"compat": False},  # see _embedding_bag
)
op(
    "embedding_renorm_(Tensor self, Tensor indices, float max_norm, float norm_type) -> Tensor",
    variants="function",
    kernel=python("retrograd._ops.nn.embedding:embedding_renorm_"),
    mutates=("self",),
    doc="Scales the rows of a table that indices name down to max_norm, in place.",
    errors=(
        E(
            S(T(3), I(2, high=3), 1.0, 2.0),
            RuntimeError,
            "Expected 2-dimensional tensor, but got 1-dimensional tensor for argument #1 'self'",
        ),
        E(
            S(T(3, 2), T(2), 1.0, 2.0),
            RuntimeError,
            "Expected tensor for argument #2 'indices' to have one of the following scalar types: Long, Int",
        ),
    ),
)
op(
    "one_hot(Tensor self, int num_classes=-1) -> Tensor",
    variants="function",
    kernel=native(),
    home="nn.functional",
    no_grad=INTEGERS,
    batching=by("one_hot"),
    syncs=True,
    doc="A vector of zeros with a one at each index, as nn.functional.one_hot; num_classes -1 takes one more than the largest index.",
    samples=[S(I(4)), S(I(2, 3), 5), S(I()), S(I(0), 3)],
    errors=(
        E(S(I(2, values=(0, 5)), 3), RuntimeError, "Class values must be smaller than num_classes."),
        E(S(I(1, values=(-1,))), RuntimeError, "Class values must be non-negative."),
        E(S(T(3)), RuntimeError, "one_hot is only applicable to index tensor of type LongTensor."),
        E(S(I(0)), RuntimeError, "Can not infer total number of classes from empty tensor."),
    ),
)
