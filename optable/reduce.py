"""Reductions and what goes with them: sums, extrema, moments, norms, scans, softmax, sorting, counting.

A list of dims that is None or empty means all of them (any and all: an empty list means none). Derivatives at the points where there
is none follow PyTorch: extrema without an index share the gradient evenly between equals, those with one give it to the element they named,
a norm or standard deviation of zero has derivative 0.
"""

from __future__ import annotations

from . import alias, composite, native, op, python, view
from .facts import (
    BITS,
    COUNTS,
    EXPECTED,
    FLOAT32,
    IN_PYTHON,
    INPUT_AND_OUT,
    INTEGERS,
    LOOP,
    MEDIAN,
    SCALAR_TYPE,
    SEARCH,
    Out,
    along,
    by,
    over_example,
)
from .samples import B, E, I, S, T

FUNCTION = "function method out"
INF = float("inf")
NAN = float("nan")

OUT_OF_RANGE = E(S(T(2, 3), 5), IndexError, r"Dimension out of range \(expected to be in range of \[-2, 1\], but got 5\)")
OUT_OF_RANGE_0D = E(S(T(), 1), IndexError, r"Dimension out of range \(expected to be in range of \[-1, 0\], but got 1\)")
REPEATED = E(S(T(2, 3), (0, -2)), RuntimeError, "dim 0 appears multiple times in the list of dims")
EMPTY_MATRIX = T(2, 0, grad=False)
PLACES = "function method out"


def over_all(**kwargs):
    """A reduction of everything."""
    return [S(T(*shape, **kwargs)) for shape in ((5,), (3, 4), (), (2, 3, 4), (67,), (1, 1))]


def over_dims(**kwargs):
    """Any set of dims, kept or dropped; negative; 0-d; odd lengths past a vector register."""
    return [
        S(T(3, 4, **kwargs), 1),
        S(T(3, 4, **kwargs), 0, True),
        S(T(3, 4, **kwargs), -1, keepdim=True),
        S(T(2, 3, 4, **kwargs), (0, 2)),
        S(T(2, 3, 4, **kwargs), dim=(1, -1), keepdim=True),
        S(T(2, 3, 4, **kwargs), 1),
        S(T(2, 3, **kwargs), dim=None, keepdim=True),
        S(T(**kwargs), 0),
        S(T(1, 5, **kwargs), 0),
        S(T(3, 37, **kwargs), 1),
        S(T(37, 3, **kwargs), 0),
    ]


def along_dim(*args, **kwargs):
    """One dim, by position in the schema after self."""
    spec = {"distinct": True}
    return [
        S(T(4, **spec), *args, 0, **kwargs),
        S(T(3, 4, **spec), *args, 1, **kwargs),
        S(T(3, 4, **spec), *args, -2, **kwargs),
        S(T(2, 3, 4, **spec), *args, 1, **kwargs),
        S(T(**spec), *args, 0, **kwargs),
        S(T(5, 19, **spec), *args, 1, **kwargs),
    ]


# ---- helpers of derivatives ----

op(
    "_sum_to(Tensor self, int[] size) -> Tensor",
    variants="function",
    kernel=native(complex=True),
    grad={"self": "ops::expand(grad, self_sizes, false)"},
    jvp="linear",
    batching=by("sum_to"),
    doc="Sums over the dims that broadcasting from `size` expanded.",
    samples=[S(T(3, 4), (1, 4)), S(T(3, 4), (4,)), S(T(2, 3, 4), (3, 1)), S(T(3, 4), ()), S(T(40, 60), (60,))],
    test={"compat": False},  # ours
)
op(
    "_expand_reduced(Tensor self, int[] size, int[]? dim, bool keepdim) -> Tensor",
    variants="function",
    kernel=view(),
    grad={"self": "ops::sum_dim(grad, dim, keepdim, {})"},
    jvp="linear",
    batching=by("expand_reduced"),
    doc="Repeats the result of a reduction over `dim` along those dims, to `size`, without copying.",
    samples=[S(T(3), (3, 4), 1, False), S(T(3, 1), (3, 4), -1, True), S(T(), (2, 3), None, False), S(T(3), (2, 3, 4), (0, 2), False)],
    test={"compat": False},  # ours
)
op(
    "_take_along(Tensor self, int dim, Tensor indices, bool keepdim) -> Tensor",
    variants="function",
    kernel=native(),
    grad={"self": "ops::_put_along(grad, dim, indices, self_sizes, keepdim, true)"},
    jvp="linear",
    nondiff=("indices",),
    batching=by("take_along"),
    syncs=True,
    doc="The elements of self that the indices of a selecting reduction name.",
    samples=[
        S(T(3, 4), 1, I(3), False),
        S(T(3, 4), 0, I(2, 4, high=3), True),
        S(T(4), 0, I(), False),
        S(T(), 0, I(high=1), False),
        S(T(2, 3, 4), 1, I(2, 1, 4, high=3), True),
    ],
    test={"compat": False},  # ours
)
op(
    "_put_along(Tensor self, int dim, Tensor indices, int[] size, bool keepdim, bool accumulate) -> Tensor",
    variants="function",
    kernel=native(),
    grad={"self": "ops::_take_along(grad, dim, indices, keepdim)"},
    jvp="linear",
    nondiff=("indices",),
    batching=by("put_along"),
    syncs=True,
    doc="Zeros of `size` with self at the places that the indices of a selecting reduction name.",
    samples=[
        S(T(3), 1, I(3), (3, 4), False, False),
        S(T(3, 4), 0, I(3, 4, high=3), (3, 4), True, True),
        S(T(), 0, I(), (4,), False, False),
        S(T(2, 1, 4), 1, I(2, 1, 4, high=3), (2, 3, 4), True, False),
    ],
    test={"compat": False},  # ours
)

# ---- sums and products ----

op(
    "sum(Tensor self, *, dtype? dtype=None) -> Tensor",
    kernel=native(complex=True, guests="value"),
    grad={"self": "sum_backward(grad, self_sizes, std::nullopt, false, self_dtype)"},
    jvp="linear",
    batching=over_example("sum.dim"),
    doc="Sum of all elements. Integers and bool give int64.",
    samples=[*over_all(), S(T(0)), S(T(2, 0, 3)), S(I(3, 4)), S(B(5)), S(T(9000, grad=False)), S(I(3), dtype="float32")],
    errors=(E(S([1, 2]), TypeError, "must be Tensor, not list|invalid combination of arguments"),),
    reference="numpy.sum",
)
op(
    "sum.dim(Tensor self, int[]? dim, bool keepdim=False, *, dtype? dtype=None) -> Tensor",
    variants=FUNCTION,
    kernel=native(complex=True, guests="value"),
    grad={"self": "sum_backward(grad, self_sizes, dim, keepdim, self_dtype)"},
    node="SumBackward1",
    jvp="linear",
    out=Out(exact=EXPECTED, in_dtype_of_out=True),
    batching=along("dim"),
    doc="Sum over dims.",
    samples=[*over_dims(), S(T(3, 4), ()), S(T(0, 3), 0), S(T(0, 3), 1), S(I(3, 4), 0), S(B(3, 4), 1)],
    errors=(OUT_OF_RANGE, OUT_OF_RANGE_0D, REPEATED, E(S(T(2, 3), 0.5), TypeError, "invalid combination of arguments")),
)
op(
    "nansum(Tensor self, int[]? dim=None, bool keepdim=False, *, dtype? dtype=None) -> Tensor",
    no_complex="nansum on CPU does not support complex inputs",
    variants=FUNCTION,
    kernel=native(guests="value"),
    grad={"self": "sum_backward(grad, self_sizes, dim, keepdim, self_dtype) * ops::eq(self, self)"},
    out=Out(in_dtype_of_out=True),
    batching=along("dim"),
    doc="Sum over dims that leaves out NaN.",
    samples=[S(T(3, 4)), S(T(3, 4), 1), S(T(2, 3, 4), (0, 2), True), S(T(4, values=[1, NAN, 2, NAN], grad=False)), S(I(3)), S(T(0))],
    errors=(OUT_OF_RANGE, REPEATED),
)
op(
    "mean(Tensor self, *, dtype? dtype=None) -> Tensor",
    variants=FUNCTION,
    kernel=native(complex=True, guests="value"),
    grad={"self": "mean_backward(grad, self_sizes, std::nullopt, false, self_dtype)"},
    jvp="linear",
    out=Out(cast="mean.dtype_out(): input types can't be cast to the desired output type {out}"),
    batching=over_example("mean.dim"),
    doc="Mean of all elements.",
    samples=[*over_all(), S(T(0)), S(I(3, 4), dtype="float32")],
    errors=(
        E(
            S(I(3)),
            RuntimeError,
            r"mean\(\): could not infer output dtype. Input dtype must be either a floating point or complex dtype. Got: Long",
        ),
        E(
            S(T(3), dtype="int64"),
            RuntimeError,
            r"mean\(\): could not infer output dtype. Optional dtype must be either a floating point or complex dtype. Got: Long",
        ),
    ),
    reference="numpy.mean",
)
op(
    "mean.dim(Tensor self, int[]? dim, bool keepdim=False, *, dtype? dtype=None) -> Tensor",
    variants=FUNCTION,
    kernel=native(complex=True, guests="value"),
    grad={"self": "mean_backward(grad, self_sizes, dim, keepdim, self_dtype)"},
    node="MeanBackward1",
    jvp="linear",
    batching=along("dim"),
    doc="Mean over dims.",
    samples=[*over_dims(), S(T(3, 4), []), S(T(0, 3), 1), S(T(0, 3), 0)],
    errors=(
        OUT_OF_RANGE,
        OUT_OF_RANGE_0D,
        REPEATED,
        E(S(I(2, 3), 0), RuntimeError, "Input dtype must be either a floating point or complex dtype. Got: Long"),
    ),
)
op(
    "prod(Tensor self, *, dtype? dtype=None) -> Tensor",
    steep=True,
    kernel=native(complex=True, guests="value"),
    grad={"self": "prod_backward(grad, self, result)"},
    autocast=FLOAT32,
    batching=over_example("prod.dim_int"),
    doc="Product of all elements.",
    samples=[
        *over_all(),
        S(T(0)),
        S(I(4, low=1)),
        S(B(3)),
        S(T(4, values=[2, 0, 3, -1])),
        S(T(2, 2, values=[2, 0, 0, -1])),
        S(T(4, values=[0, 0, 0, 1])),
    ],
    reference="numpy.prod",
)
op(
    "prod.dim_int(Tensor self, int dim, bool keepdim=False, *, dtype? dtype=None) -> Tensor",
    steep=True,
    variants=FUNCTION,
    kernel=native(complex=True, guests="value"),
    grad={"self": "prod_backward(grad, self, result, dim, keepdim)"},
    node="ProdBackward1",
    out=Out(exact=EXPECTED, in_dtype_of_out=True),
    autocast=FLOAT32,
    batching=along("dim"),
    doc="Product over a dim.",
    samples=[
        *along_dim(),
        S(T(3, 4), 0, True),
        S(T(0, 3), 0),
        S(T(3, 3, values=[2, 0, 3, -1, 0.5, 1, 0, 0, 2]), 1),
        S(T(3, 3, values=[2, 0, 3, -1, 0.5, 1, 0, 0, 2]), 0, keepdim=True),
        S(I(3, 4), 0),
    ],
    errors=(OUT_OF_RANGE, OUT_OF_RANGE_0D, E(S(T(2, 3), (0, 1)), TypeError, "invalid combination of arguments")),
)
op(
    "trace(Tensor self) -> Tensor",
    variants="function method",
    kernel=native(complex=True, guests="value"),
    grad={"self": "trace_backward(grad, self_sizes)"},
    jvp="linear",
    autocast=FLOAT32,
    batching=by("trace"),
    doc="Sum of the diagonal of a matrix.",
    samples=[S(T(3, 3)), S(T(2, 4)), S(T(5, 2)), S(T(0, 3)), S(I(3, 3))],
    errors=(
        E(S(T(3)), RuntimeError, "trace: expected a matrix, but got tensor with dim 1"),
        E(S(B(2, 2)), RuntimeError, "\"trace\" not implemented for 'Bool'"),
    ),
)

# ---- truth ----

for name, doc in (("any", "Whether any element is true (nonzero)."), ("all", "Whether every element is true (nonzero).")):
    truth = Out(exact=(f"{name} only supports bool tensor for result, got: {{out}}",), bytes=True)
    op(
        f"{name}(Tensor self) -> Tensor",
        variants=FUNCTION,
        kernel=native(complex=True, guests="value"),
        no_grad=INTEGERS,
        out=truth,
        batching=over_example(f"{name}.dims"),
        doc=doc,
        samples=[S(B(5)), S(B()), S(B(0)), S(T(3, 4, grad=False)), S(I(2, 3))],
    )
    op(
        f"{name}.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor",
        variants=FUNCTION,
        kernel=native(complex=True, guests="value"),
        no_grad=INTEGERS,
        out=truth,
        batching=by("along_listed", "dim"),
        doc=doc[:-1] + " along dims.",
        samples=[
            S(B(3, 4), 1),
            S(B(3, 4), 0, True),
            S(B(2, 3, 4), (0, 2)),
            S(B(3, 4), ()),
            S(B(3, 4), None),
            S(I(2, 3), -1),
            S(B(), 0),
            S(B(3, 0), 1),
        ],
        errors=(OUT_OF_RANGE, REPEATED),
    )
op(
    "count_nonzero(Tensor self, int[]? dim=None) -> Tensor",
    kernel=native(complex=True, guests="value"),
    no_grad=INTEGERS,
    batching=along("dim"),
    doc="Number of elements that are not zero, along dims.",
    samples=[S(I(3, 4)), S(I(3, 4), 0), S(I(3, 4), (0, 1)), S(B(5)), S(T(3, grad=False)), S(I(), 0), S(I(0))],
    errors=(OUT_OF_RANGE,),
)

# ---- extrema ----

for name, largest in (("max", True), ("min", False)):
    Name, word = name.capitalize(), "Largest" if largest else "Smallest"
    nothing = rf"{name}\(\): Expected reduction dim to be specified for input.numel\(\) == 0\."
    op(
        f"{name}(Tensor self) -> Tensor",
        variants=FUNCTION,
        kernel=native(guests="order"),
        grad={"self": "shared_backward(grad, self, result, std::nullopt, false)"},
        node=f"{Name}Backward1",
        batching=over_example(f"a{name}"),
        doc=f"{word} element. NaN wins; equal elements share the gradient.",
        samples=[*over_all(distinct=True), S(I(3, 4)), S(B(3)), S(T(3, values=[1, NAN, 2], grad=False))],
        errors=(E(S(T(0)), RuntimeError, nothing),),
    )
    # Before .dim: a 0-d integer tensor would do as a dim too, but means a tensor here.
    op(
        f"{name}.other(Tensor self, Tensor other) -> Tensor",
        variants=FUNCTION,
        kernel=composite(),
        out=Out(name=f"{name}imum"),
        doc=f"{word} of two tensors, elementwise: `{name}imum`.",
        samples=[S(T(3, 4, distinct=True), T(3, 4)), S(T(3, 4, distinct=True), T(4)), S(T(distinct=True), T(3))],
    )
    op(
        f"{name}.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
        variants=FUNCTION,
        kernel=native(guests="order"),
        grad={"self": "ops::_put_along(grad, dim, indices, self_sizes, keepdim, false)"},
        node=f"{Name}Backward0",
        outputs_nondiff=("indices",),
        out=Out(exact=EXPECTED),
        batching=along("dim"),
        doc=f"{word} element along a dim and its first index.",
        samples=[
            *along_dim(),
            S(T(3, 4, distinct=True), 0, True),
            S(T(3, 4, distinct=True), dim=-1, keepdim=True),
            S(EMPTY_MATRIX, 0),
            S(I(3, 4), 1),
        ],
        errors=(
            OUT_OF_RANGE,
            OUT_OF_RANGE_0D,
            E(S(EMPTY_MATRIX, 1), IndexError, rf"{name}\(\): Expected reduction dim 1 to have non-zero size."),
        ),
    )
for name, largest in (("amax", True), ("amin", False)):
    op(
        f"{name}(Tensor self, int[]? dim=[], bool keepdim=False) -> Tensor",
        variants=FUNCTION,
        kernel=native(guests="order"),
        grad={"self": "shared_backward(grad, self, result, dim, keepdim)"},
        out=Out(exact=INPUT_AND_OUT),
        batching=along("dim"),
        doc=f"{'Largest' if largest else 'Smallest'} element over dims. Equal elements share the gradient.",
        samples=[*over_dims(distinct=True), *over_all(distinct=True), S(EMPTY_MATRIX, 0), S(I(3, 4), (0, 1)), S(B(2, 2))],
        errors=(
            OUT_OF_RANGE,
            REPEATED,
            E(S(EMPTY_MATRIX, 1), IndexError, rf"{name}\(\): Expected reduction dim 1 to have non-zero size."),
            E(S(T(0)), RuntimeError, rf"{name}\(\): Expected reduction dim to be specified for input.numel\(\) == 0"),
        ),
    )
op(
    "aminmax(Tensor self, *, int? dim=None, bool keepdim=False) -> (Tensor min, Tensor max)",
    variants=FUNCTION,
    kernel=native(guests="order"),
    grad={"self": "aminmax_backward(grads[0], grads[1], self, min, max, dim, keepdim)"},
    out=Out(exact=EXPECTED),
    batching=by("along_or_over_example", "dim", "keepdim"),
    doc="Smallest and largest element, over everything or along a dim.",
    samples=[
        S(T(3, 4, distinct=True)),
        S(T(3, 4, distinct=True), dim=1),
        S(T(3, 4, distinct=True), dim=0, keepdim=True),
        S(T(5, distinct=True), keepdim=True),
        S(T(distinct=True)),
    ],
    errors=(
        E(S(T(2, 3), dim=5), IndexError, "Dimension out of range"),
        E(S(T(0)), RuntimeError, r"aminmax\(\): cannot compute aminmax over an empty dimension as the operation has no identity."),
        E(S(EMPTY_MATRIX, dim=1), IndexError, "aminmax: Expected reduction dim 1 to have non-zero size."),
    ),
)
for name in ("argmax", "argmin"):
    op(
        f"{name}(Tensor self, int? dim=None, bool keepdim=False) -> Tensor",
        no_complex=f"{name}(): does not support complex input",
        variants=PLACES,
        kernel=native(guests="order"),
        no_grad=INTEGERS,
        out=Out(exact=EXPECTED),
        batching=by("along_or_over_example", "dim", "keepdim"),
        doc=f"Index of the {'largest' if name == 'argmax' else 'smallest'} element along a dim or of all; the first among equals.",
        samples=[
            S(T(3, 4, distinct=True, grad=False)),
            S(T(3, 4, distinct=True, grad=False), 1),
            S(T(3, 4, distinct=True, grad=False), 0, True),
            S(T(2, 3, 4, distinct=True, grad=False), -1),
            S(T(3, 4, distinct=True, grad=False), keepdim=True),
            S(T(grad=False)),
            S(T(grad=False), 0),
            S(I(3, 4), 1),
            S(T(5, values=[1, NAN, 3, NAN, 0], grad=False)),
            S(EMPTY_MATRIX, 0),
        ],
        errors=(
            OUT_OF_RANGE,
            E(S(T(0)), IndexError, rf"{name}\(\): Expected reduction dim to be specified for input.numel\(\) == 0."),
            E(S(EMPTY_MATRIX, 1), IndexError, rf"{name}\(\): Expected reduction dim 1 to have non-zero size."),
            E(S(B(3)), RuntimeError, rf"{name}\(\): does not support bool input"),
            E(S(T(2, 3), (0, 1)), TypeError, "must be int, not tuple"),
        ),
    )

# ---- variance ----

NO_INTEGERS = E(S(I(3)), RuntimeError, "std and var only support floating point and complex dtypes")
for name, word in (("var", "Variance"), ("std", "Standard deviation")):
    op(
        f"{name}(Tensor self, bool unbiased=True) -> Tensor",
        variants="function method",
        kernel=composite(),
        doc=f"{word} of all elements.",
        samples=[S(T(5)), S(T(3, 4)), S(T(3, 4), False), S(T(67), unbiased=False)],
        errors=(NO_INTEGERS,),
    )
    op(
        f"{name}.dim(Tensor self, int[]? dim, bool unbiased=True, bool keepdim=False) -> Tensor",
        variants=FUNCTION,
        kernel=composite(),
        doc=f"{word} over dims.",
        samples=[
            S(T(3, 4), 1),
            S(T(3, 4), 0, False),
            S(T(2, 3, 4), (0, 2), True, True),
            S(T(3, 4), dim=1, keepdim=True),
            S(T(3, 4), None, False),
        ],
        errors=(OUT_OF_RANGE, REPEATED),
    )
    op(
        f"{name}.correction(Tensor self, int[]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> Tensor",
        steep=True,
        variants=FUNCTION,
        kernel=native(complex=True, guests="value"),
        wirtinger=True,
        grad={
            "self": "var_backward(grad, self, dim, correction, keepdim)"
            if name == "var"
            else "std_backward(grad, self, result, dim, correction, keepdim)"
        },
        batching=along("dim"),
        doc=f"{word} over dims: squared deviations divided by n - correction.",
        samples=[
            S(T(3, 4), 1, correction=0),
            S(T(3, 4), correction=2),
            S(T(2, 3, 4), (0, 2), correction=0.5, keepdim=True),
            S(T(3, 37), 1, correction=1),
        ],
        errors=(E(S(I(3), correction=1), RuntimeError, "std and var only support floating point and complex dtypes"),),
    )
for name, word in (("var_mean", "Variance and mean"), ("std_mean", "Standard deviation and mean")):
    op(
        f"{name}(Tensor self, bool unbiased=True) -> (Tensor, Tensor)",
        variants="function",
        kernel=composite(),
        doc=f"{word} of all elements.",
        samples=[S(T(5)), S(T(3, 4), False)],
        errors=(E(S(I(3)), RuntimeError, f"{name} only support floating point and complex dtypes"),),
    )
    op(
        f"{name}.dim(Tensor self, int[]? dim, bool unbiased=True, bool keepdim=False) -> (Tensor, Tensor)",
        variants="function",
        kernel=composite(),
        doc=f"{word} over dims.",
        samples=[S(T(3, 4), 1), S(T(2, 3, 4), (0, 2), False, True)],
        errors=(OUT_OF_RANGE,),
    )
    args = (
        "grads[0], grads[1], self, dim, correction, keepdim"
        if name == "var_mean"
        else "grads[0], grads[1], self, result0, dim, correction, keepdim"
    )
    op(
        f"{name}.correction(Tensor self, int[]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> (Tensor, Tensor)",
        variants="function",
        kernel=native(complex=True, guests="value"),
        wirtinger=True,
        grad={"self": f"{name}_backward({args})"},
        batching=along("dim"),
        doc=f"{word} over dims: squared deviations divided by n - correction.",
        samples=[S(T(3, 4), 1, correction=0), S(T(3, 4), correction=2), S(T(2, 3, 4), (0, 2), correction=0.5, keepdim=True)],
    )

# ---- norms and distances ----

ORDERS = [S(T(3, 4, low=0.3), p, 1) for p in (1, 2, 3, 1.5, 0.5, 0, -1.0)] + [S(T(3, 4, distinct=True, low=0.3), p, 0) for p in (INF, -INF)]
NO_INTEGER_NORM = E(S(I(3)), RuntimeError, "linalg.vector_norm: Expected a floating point or complex tensor as input. Got Long")
op(
    "linalg_vector_norm(Tensor self, Scalar ord=2, int[]? dim=None, bool keepdim=False, *, dtype? dtype=None) -> Tensor",
    steep=True,
    variants="function out",
    kernel=native(complex=True, guests="value"),
    wirtinger=True,
    grad={"self": "vector_norm_backward(grad, self, ord, result, dim, keepdim)"},
    home="linalg",
    out=Out(exact=EXPECTED),
    batching=along("dim"),
    doc="Vector norm over dims: (sum |x|^ord)^(1/ord), the number of nonzeros for 0, the extremes of |x| for inf and -inf.",
    samples=[*ORDERS, S(T(3, 4)), S(T(3, 4), 2, (0, 1), True), S(T(2, 3, 4), 3, (0, 2)), S(T()), S(T(0))],
    errors=(
        NO_INTEGER_NORM,
        E(S(T(2, 3), 2, 5), IndexError, "Dimension out of range"),
        E(
            S(T(0), INF),
            RuntimeError,
            "linalg.vector_norm cannot compute the inf norm on an empty tensor because the operation does not have an identity",
        ),
        E(S(T(3), "a"), TypeError, "must be Number, not str"),
    ),
)
op(
    "norm(Tensor self, Scalar? p=2, int[]? dim=None, bool keepdim=False, *, dtype? dtype=None) -> Tensor",
    variants=FUNCTION,
    kernel=composite(),
    out=Out(exact=EXPECTED, name="linalg_vector_norm"),
    doc="Vector norm over dims; of all elements without them.",
    samples=[*ORDERS, S(T(5)), S(T(3, 4)), S(T(3, 4), dim=0), S(T(3, 4), 2, (0, 1), True)],
    errors=(NO_INTEGER_NORM, E(S(T(2, 3), dim=5), IndexError, "Dimension out of range")),
)
op(
    "norm.str(Tensor self, str p, int[]? dim=None, bool keepdim=False, *, dtype? dtype=None) -> Tensor",
    variants=FUNCTION,
    kernel=composite(),
    out=Out(exact=("linalg.matrix_norm expected out tensor dtype {result} but got: {out}",), name="linalg_vector_norm"),
    doc="Frobenius norm ('fro'), or the sum of singular values ('nuc').",
    samples=[S(T(3, 4), "nuc"), S(T(2, 4, 3), "nuc", (2, 0), True), S(T(3, 4), "fro"), S(T(3, 4), "fro", dim=1), S(T(3, 4), "fro", (0, 1))],
    errors=(E(S(T(3, 4), "xx"), RuntimeError, "linalg.matrix_norm: Order xx not supported."),),
)
op(
    "dist(Tensor self, Tensor other, Scalar p=2) -> Tensor",
    steep=True,
    kernel=native(complex=True, whole=True),
    wirtinger=True,
    grad={"self": "dist_backward(grad, self, other, p, result)", "other": "dist_backward(grad, other, self, p, result)"},
    batching=by("dist"),
    doc="p-norm of self - other.",
    samples=[
        S(T(3, 4), T(3, 4)),
        S(T(3, 4), T(4), 1),
        S(T(3), T(2, 3), 3),
        S(T(3), T(3), 1.5),
        S(T(), T()),
        S(T(3, grad=False), T(3, grad=False), 0),
    ],
    errors=(E(S(T(2, 3), T(5)), RuntimeError, "must match the size of tensor b"),),
)
op(
    "_cdist_forward(Tensor x1, Tensor x2, float p) -> Tensor",
    steep=True,
    variants="function",
    kernel=native(),
    grad={
        "x1": "cdist_backward(grad, x1, x2, p, result)",
        "x2": "cdist_backward(ops::transpose(grad, -2, -1), x2, x1, p, ops::transpose(result, -2, -1))",
    },
    node="CdistBackward0",
    autocast=FLOAT32,
    batching=by("cdist"),
    doc="Distances between the rows of two batches of matrices.",
    samples=[S(T(3, 4), T(2, 4), 2.0), S(T(2, 3, 4), T(2, 5, 4), 1.0), S(T(2, 20), T(9, 20), 3.0), S(T(2, 20), T(9, 20), INF)],
    test={"compat": False},  # PyTorch's takes a compute_mode
)
op(
    "_pdist_forward(Tensor self, float p=2.0) -> Tensor",
    no_complex="pdist only supports floating-point dtypes",
    steep=True,
    variants="function internal",
    kernel=native(),
    grad={"self": "pdist_backward(grad, self, p, result)"},
    home="",
    node="PdistBackward0",
    batching=LOOP,
    doc="`pdist`, as a node of the graph.",
    samples=[S(T(4, 3)), S(T(3, 2), 3.0)],
    test={"compat": False},  # a method of nothing there
)
op(
    "cdist(Tensor x1, Tensor x2, float p=2.0, str? compute_mode=None) -> Tensor",
    variants="function",
    kernel=composite(),
    autocast=FLOAT32,
    doc="p-norm distance between each pair of rows of two batches of matrices.",
    samples=[
        S(T(3, 4), T(2, 4)),
        S(T(3, 4), T(2, 4), p=1.0),
        S(T(2, 3, 4), T(5, 4), 3.0),
        S(T(3, 4), T(2, 4), p=INF),
        S(T(2, 3), T(0, 3)),
        S(T(3, 4), T(2, 4), p=0.0),
    ],
    errors=(
        E(S(T(3), T(2, 3)), RuntimeError, "cdist only supports at least 2D tensors, X1 got: 1D"),
        E(S(T(2, 3), T(2, 2)), RuntimeError, "X1 and X2 must have the same number of columns. X1: 3 X2: 2"),
        E(S(T(2, 3), T(2, 3), p=-1.0), RuntimeError, "cdist only supports non-negative p values"),
        E(S(I(2, 3), I(2, 3)), RuntimeError, "cdist only supports floating-point dtypes, X1 got: Long"),
    ),
)
op(
    "renorm(Tensor self, Scalar p, int dim, Scalar maxnorm) -> Tensor",
    variants="function method inplace out",
    kernel=native(complex=True),
    wirtinger=True,
    grad={"self": "renorm_backward(grad, self, p, dim, maxnorm)"},
    out=Out(exact=EXPECTED),
    batching=LOOP,
    doc="Scales down the slices along dim whose p-norm exceeds maxnorm.",
    samples=[S(T(3, 4), 2, 0, 1.0), S(T(3, 4), 1, 1, 2.5), S(T(2, 3, 4), 2, 1, 2), S(T(3, 4, low=0.3), 3, -1, 1.5)],
    errors=(
        E(S(T(2, 3), 2, 5, 1.0), IndexError, "Dimension out of range"),
        E(S(T(2, 3), -1, 0, 1.0), RuntimeError, "renorm: non-positive-norm not supported"),
        E(S(T(2, 3), 2, 0, -1.0), RuntimeError, "renorm: expected maxnorm to be >= 0 but got -1"),
        E(S(T(3), 2, 0, 1.0), RuntimeError, "renorm: input needs at least 2 dimensions, got 1 dimensions"),
    ),
)

# ---- softmax ----

op(
    "logsumexp(Tensor self, int[] dim, bool keepdim=False) -> Tensor",
    variants=FUNCTION,
    kernel=native(complex=True, guests="value"),
    grad={"self": "logsumexp_backward(grad, self, result, dim, keepdim)"},
    out=Out(cast="logsumexp(): Expected floating point type for result tensor, but got: {out}"),
    batching=along("dim"),
    doc="log(sum(exp(x))) over dims, without overflow.",
    samples=[s for s in over_dims() if s.kwargs.get("dim", 0) is not None]
    + [S(T(3, 4, low=300, high=900), 1), S(T(2, 0), 1), S(I(3, 4), 0)],
    errors=(OUT_OF_RANGE, OUT_OF_RANGE_0D),
)
for name in ("softmax", "log_softmax"):
    backward = f"ops::_{name}_backward_data(grad, result, dim, self_dtype)"
    op(
        f"{name}(Tensor self, int dim, dtype? dtype=None) -> Tensor",
        variants=FUNCTION,
        kernel=native(guests="value"),
        grad={"self": backward},
        jvp="symmetric" if name == "softmax" else "log_softmax_backward_grad(self_t, result, dim, result_dtype)",
        out=Out(exact=EXPECTED, name=f"aten::{name}"),
        batching=along("dim"),
        doc="Softmax along a dim." if name == "softmax" else "Logarithm of softmax along a dim, without overflow.",
        samples=[*along_dim(), S(T(3, 4, low=300, high=900), 1), S(T(2, 0), 1), S(T(3, 67), -1), S(I(3, 4), 0, dtype="float32")],
        errors=(
            OUT_OF_RANGE,
            OUT_OF_RANGE_0D,
            E(S(I(2, 3), 0), RuntimeError, f"\"{name}_kernel_impl\" not implemented for 'Long'"),
            E(S(T(2, 3)), TypeError, 'missing 1 required positional arguments?: "dim"'),
        ),
    )
op(
    "_softmax_backward_data(Tensor grad_output, Tensor output, int dim, dtype input_dtype) -> Tensor",
    variants="function",
    kernel=native(),
    grad={
        "grad_output": "ops::_softmax_backward_data(cast_to(grad, output.dtype()), output, dim, grad_output_dtype)",
        "output": "softmax_backward_output(grad, grad_output, output, dim)",
    },
    batching=along("dim"),
    doc="Gradient of softmax from that of its result and the result.",
    samples=[S(T(3, 4), T(3, 4), 1, "float64"), S(T(2, 3, 4), T(2, 3, 4), 1, "float64")],
    test={"compat": False},  # PyTorch refuses dtypes that differ
)
op(
    "_log_softmax_backward_data(Tensor grad_output, Tensor output, int dim, dtype input_dtype) -> Tensor",
    variants="function",
    kernel=native(),
    grad={
        "grad_output": "log_softmax_backward_grad(grad, output, dim, grad_output_dtype)",
        "output": "log_softmax_backward_output(grad, grad_output, output, dim)",
    },
    batching=along("dim"),
    doc="Gradient of log_softmax from that of its result and the result.",
    samples=[S(T(3, 4), T(3, 4), 1, "float64"), S(T(2, 3, 4), T(2, 3, 4), 1, "float64")],
    test={"compat": False},  # PyTorch refuses dtypes that differ
)

# ---- scans ----

op(
    "cumsum(Tensor self, int dim, *, dtype? dtype=None) -> Tensor",
    variants="function method inplace out",
    kernel=native(complex=True, guests="value"),
    grad={"self": "ops::_reverse_cumsum(cast_to(grad, self_dtype), dim)"},
    jvp="linear",
    out=Out(exact=EXPECTED, in_dtype_of_out=True),
    batching=along("dim"),
    doc="Running sum along a dim.",
    samples=[*along_dim(), S(T(0, 3), 0), S(T(2, 0), 1), S(I(3, 4), 0), S(B(4), 0)],
    errors=(OUT_OF_RANGE, OUT_OF_RANGE_0D, E(S(T(2, 3)), TypeError, 'missing 1 required positional arguments?: "dim"')),
)
op(
    "_reverse_cumsum(Tensor self, int dim) -> Tensor",
    variants="function",
    kernel=native(complex=True),
    grad={"self": "ops::cumsum(grad, dim, {})"},
    jvp="linear",
    batching=along("dim"),
    doc="Running sum from the end of a dim.",
    samples=along_dim(),
    test={"compat": False},  # ours
)
op(
    "cumprod(Tensor self, int dim, *, dtype? dtype=None) -> Tensor",
    steep=True,
    variants="function method inplace out",
    kernel=native(complex=True, guests="value"),
    grad={"self": "cumprod_backward(grad, self, dim, result)"},
    out=Out(exact=EXPECTED, in_dtype_of_out=True),
    batching=along("dim"),
    doc="Running product along a dim.",
    samples=[
        *along_dim()[:5],
        S(T(0, 3), 0),
        S(I(3, 4, low=1), 0),
        S(T(2, 4, values=[2, 0, 3, -1, 0, 1, 0, 2]), 1),
        S(T(4, 2, values=[2, 0, 3, -1, 0, 1, 0, 2]), 0),
    ],
    errors=(OUT_OF_RANGE, OUT_OF_RANGE_0D),
)
op(
    "_linear_recurrence(Tensor self, Tensor factor, int dim, bool reverse) -> Tensor",
    variants="function",
    kernel=native(complex=True),
    grad={
        "self": "ops::_linear_recurrence(grad, factor, dim, !reverse)",
        "factor": "recurrence_factor_backward(grad, factor, dim, reverse, result)",
    },
    batching=along("dim"),
    doc="out[i] = self[i] + factor[i] * out[i - 1] along dim; reverse: out[i] = self[i] + factor[i + 1] * out[i + 1].",
    samples=[
        S(T(5), T(5), 0, False),
        S(T(5), T(5), 0, True),
        S(T(2, 3, 4), T(2, 3, 4), 1, True),
        S(T(2, 3, 4), T(2, 3, 4), 2, False),
        S(T(0, 3), T(0, 3), 0, True),
    ],
    test={"compat": False},  # no such function in PyTorch
)
for name in ("cummax", "cummin"):
    op(
        f"{name}(Tensor self, int dim) -> (Tensor values, Tensor indices)",
        variants=FUNCTION,
        kernel=native(guests="order"),
        grad={"self": "ops::_put_along(grad, dim, indices, self_sizes, true, true)"},
        outputs_nondiff=("indices",),
        out=Out(exact=SCALAR_TYPE),
        batching=along("dim"),
        doc=f"Running {'maximum' if name == 'cummax' else 'minimum'} along a dim and its index.",
        samples=[*along_dim(), S(EMPTY_MATRIX, 1), S(I(3, 4), 0), S(T(5, values=[1, NAN, 3, 0, NAN], grad=False), 0)],
        errors=(OUT_OF_RANGE, E(S(T(), 1), IndexError, "Dimension out of range|Expected reduction dim")),
    )
op(
    "logcumsumexp(Tensor self, int dim) -> Tensor",
    variants=FUNCTION,
    kernel=native(complex=True),
    grad={"self": "logcumsumexp_backward(grad, self, dim, result)"},
    out=Out(exact=SCALAR_TYPE),
    batching=along("dim"),
    doc="log(cumsum(exp(x))) along a dim, without overflow.",
    samples=[*along_dim(), S(T(3, 4, low=300, high=900), 1), S(T(0, 3), 0)],
    errors=(OUT_OF_RANGE, OUT_OF_RANGE_0D, E(S(I(3), 0), RuntimeError, "\"logcumsumexp_out_cpu\" not implemented for 'Long'")),
)

# ---- order ----

SORT_SAMPLES = [
    S(T(5, distinct=True)),
    S(T(3, 4, distinct=True)),
    S(T(3, 4, distinct=True), 0, True),
    S(T(2, 3, 4, distinct=True), 1),
    S(T(2, 3, 4, distinct=True), dim=-1, descending=True),
    S(T(distinct=True)),
    S(EMPTY_MATRIX, 1),
    S(T(70, distinct=True)),
    S(I(3, 4, distinct=True), 1),
    S(B(2), 0),
    S(T(5, values=[1, NAN, 3, -INF, INF], grad=False)),
]
STABLE_SAMPLES = [S(I(20), stable=True), S(I(20), stable=True, descending=True), S(T(3, 4, distinct=True), stable=True, dim=0)]
op(
    "sort(Tensor self, int dim=-1, bool descending=False) -> (Tensor values, Tensor indices)",
    no_complex=" Sort does not support complex dtypes on CPU",
    variants=FUNCTION,
    kernel=native(guests="order"),
    grad={"self": "ops::_put_along(grad, dim, indices, self_sizes, true, false)"},
    outputs_nondiff=("indices",),
    out=Out(exact=EXPECTED),
    batching=along("dim"),
    doc="Sorts along a dim; NaN counts as largest. Equal elements keep their order.",
    samples=SORT_SAMPLES,
    errors=(OUT_OF_RANGE, OUT_OF_RANGE_0D),
)
op(
    "sort.stable(Tensor self, *, bool? stable, int dim=-1, bool descending=False) -> (Tensor values, Tensor indices)",
    no_complex=" Sort does not support complex dtypes on CPU",
    variants=FUNCTION,
    kernel=native(guests="order"),
    grad={"self": "ops::_put_along(grad, dim, indices, self_sizes, true, false)"},
    node="SortBackward1",
    outputs_nondiff=("indices",),
    out=Out(exact=EXPECTED),
    batching=along("dim"),
    doc="Sorts along a dim, keeping the order of equal elements.",
    samples=STABLE_SAMPLES,
)
op(
    "argsort(Tensor self, int dim=-1, bool descending=False) -> Tensor",
    no_complex=" Sort does not support complex dtypes on CPU",
    variants="function method",
    kernel=native(guests="order"),
    no_grad=INTEGERS,
    batching=along("dim"),
    doc="Indices that sort along a dim.",
    samples=SORT_SAMPLES,
    errors=(OUT_OF_RANGE,),
)
op(
    "argsort.stable(Tensor self, *, bool stable, int dim=-1, bool descending=False) -> Tensor",
    no_complex=" Sort does not support complex dtypes on CPU",
    variants=FUNCTION,
    kernel=native(guests="order"),
    no_grad=INTEGERS,
    out=Out(exact=EXPECTED, name="sort"),
    batching=along("dim"),
    doc="Indices that sort along a dim, keeping the order of equal elements.",
    samples=STABLE_SAMPLES,
)
op(
    "msort(Tensor self) -> Tensor",
    variants=FUNCTION,
    kernel=composite(),
    out=Out(exact=EXPECTED, name="sort"),
    doc="Sorts along the first dim.",
    samples=[S(T(4, 3, distinct=True)), S(T(5, distinct=True)), S(T())],
)
op(
    "topk(Tensor self, int k, int dim=-1, bool largest=True, bool sorted=True) -> (Tensor values, Tensor indices)",
    no_complex=" topk does not support complex dtypes on CPU",
    variants=FUNCTION,
    kernel=native(guests="order"),
    grad={"self": "ops::_put_along(grad, dim, indices, self_sizes, true, false)"},
    outputs_nondiff=("indices",),
    out=Out(exact=EXPECTED),
    batching=along("dim"),
    doc="The k largest (or smallest) elements along a dim and their indices.",
    samples=[
        S(T(5, distinct=True), 2),
        S(T(3, 4, distinct=True), 3, 0),
        S(T(3, 4, distinct=True), 2, 1, False),
        S(T(2, 3, 4, distinct=True), k=1, dim=1),
        S(T(distinct=True), 1),
        S(T(100, distinct=True), 10),
        S(T(3, 4, distinct=True), 4),
        S(T(3, 4, distinct=True), 0),
        S(I(3, 4, distinct=True), 2),
    ],
    errors=(
        E(S(T(2, 3), 5), RuntimeError, "selected index k out of range"),
        E(S(T(2, 3), -1), RuntimeError, "selected index k out of range"),
        E(S(T(2, 3), 1, 5), IndexError, "Dimension out of range"),
    ),
)
op(
    "kthvalue(Tensor self, int k, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)",
    variants=FUNCTION,
    kernel=native(guests="order"),
    grad={"self": "ops::_put_along(grad, dim, indices, self_sizes, keepdim, false)"},
    outputs_nondiff=("indices",),
    out=Out(
        exact=(
            "output values must be of same type as input",
            "output indices must be of scalar type Long",
        )
    ),
    batching=along("dim"),
    doc="The k-th smallest element along a dim and its index.",
    samples=[
        S(T(5, distinct=True), 2),
        S(T(3, 4, distinct=True), 3, 0),
        S(T(3, 4, distinct=True), 1, 1, True),
        S(T(distinct=True), 1),
        S(EMPTY_MATRIX, 1, 0),
        S(T(2, 3, 4, distinct=True), 2, 1),
    ],
    errors=(
        E(S(T(2, 3), 5, 1), RuntimeError, r"kthvalue\(\): selected number k out of range for dimension 1"),
        E(S(EMPTY_MATRIX, 1, 1), IndexError, r"kthvalue\(\): Expected reduction dim 1 to have non-zero size."),
    ),
)
for name, nan in (("median", "NaN wins"), ("nanmedian", "NaN is left out")):
    Name = name.capitalize()
    op(
        f"{name}(Tensor self) -> Tensor",
        variants="function method",
        kernel=native(guests="order"),
        grad={"self": "shared_backward(grad, self, result, std::nullopt, false)"},
        batching=over_example(f"{name}.dim"),
        doc=f"Lower median of all elements; {nan}.",
        samples=[
            *over_all(distinct=True),
            S(T(4, distinct=True)),
            S(I(3, 3)),
            S(T(4, values=[1, NAN, 3, 2], grad=False)),
            S(T(0, grad=False)),
        ],
    )
    op(
        f"{name}.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
        variants=FUNCTION,
        kernel=native(guests="order"),
        grad={"self": "ops::_put_along(grad, dim, indices, self_sizes, keepdim, false)"},
        node=f"{Name}Backward1",
        outputs_nondiff=("indices",),
        out=Out(exact=MEDIAN),
        batching=along("dim"),
        doc=f"Lower median along a dim and its index; {nan}.",
        samples=[
            *along_dim(),
            S(T(3, 4, distinct=True), 0, True),
            S(T(2, 3, values=[1, NAN, 3, 2, 5, 4], grad=False), 1),
            S(EMPTY_MATRIX, 0),
        ],
        errors=(OUT_OF_RANGE, E(S(EMPTY_MATRIX, 1), IndexError, r"median\(\): Expected reduction dim 1 to have non-zero size.")),
    )
op(
    "mode(Tensor self, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)",
    variants=FUNCTION,
    kernel=native(guests="order"),
    grad={"self": "ops::_put_along(grad, dim, indices, self_sizes, keepdim, false)"},
    outputs_nondiff=("indices",),
    out=Out(
        exact=(
            "expected scalar type '{result}' but got '{out}' for values output",
            "expected scalar type '{result}' but got '{out}' for indices output",
        )
    ),
    batching=along("dim"),
    doc="The most frequent value along a dim (the smallest of them) and the index of its last occurrence.",
    samples=[S(I(7)), S(I(3, 6), 1), S(I(6, 3), 0, True), S(T(3, 4, distinct=True)), S(T()), S(EMPTY_MATRIX, 0), S(I(2, 5, 3), 1)],
    errors=(OUT_OF_RANGE, E(S(EMPTY_MATRIX, 1), IndexError, r"mode\(\): Expected reduction dim 1 to have non-zero size.")),
)
QUANTILE_ERRORS = (
    (S(T(3), 1.5), r"q must be in the range \[0, 1\] but got 1.5"),
    (S(I(3), 0.5), "input tensor must be either float or double dtype"),
    (S(T(3), T(2, 2)), "q must be a scalar or 1D tensor"),
    (S(T(3), 0.5, interpolation="foo"), "interpolation must be one of linear, lower, higher, midpoint or nearest, but got foo"),
    (S(T(0), 0.5), "input tensor must be non-empty"),
)
for name in ("quantile", "nanquantile"):
    op(
        f"{name}(Tensor self, Operand q, int? dim=None, bool keepdim=False, *, str interpolation='linear') -> Tensor",
        variants="function method",
        kernel=python(f"retrograd._ops.reduce:{name}"),
        autocast=FLOAT32,
        doc="Quantiles along a dim" + (", without NaN." if name == "nanquantile" else "."),
        samples=[
            S(T(5, distinct=True), 0.3),
            S(T(3, 4, distinct=True), 0.5, 1),
            S(T(3, 4, distinct=True), T(2, low=0, high=1, grad=False), 0, True),
        ]
        + [S(T(6, distinct=True), 0.37, interpolation=i) for i in ("lower", "higher", "midpoint", "nearest")],
        errors=tuple(E(s, RuntimeError, rf"quantile\(\) {text}") for s, text in QUANTILE_ERRORS),
    )

# ---- counting and searching ----

SIDE = "bool out_int32=False, bool right=False"
op(
    f"searchsorted.Tensor(Tensor sorted_sequence, Tensor self, *, {SIDE}, str? side=None, Tensor? sorter=None) -> Tensor",
    variants="function out",
    kernel=native(runs_on_empty=True, guests="order"),
    no_grad=INTEGERS,
    out=Out(exact=SEARCH),
    batching=by("searchsorted"),
    syncs=True,
    doc="Where to insert values into a sorted sequence to keep it sorted.",
    samples=[
        S(T(4, values=[1, 3, 5, 7], grad=False), T(2, 3, low=0, high=8, grad=False)),
        S(I(4, values=[1, 3, 3, 7]), I(3, values=[3, 0, 8]), right=True),
        S(I(4, values=[1, 3, 3, 7]), I(3, values=[3, 0, 8]), side="left", out_int32=True),
        S(I(2, 3, values=[1, 3, 5, 2, 4, 6]), I(2, 2, values=[3, 0, 4, 9])),
        S(I(3, values=[5, 1, 3]), I(2, values=[2, 6]), sorter=I(3, values=[1, 2, 0])),
        S(I(3, values=[1, 2, 3]), T(2, low=0, high=4, grad=False)),
    ],
    errors=(
        E(S(T(), T(3)), RuntimeError, "boundaries tensor should have positive dimension"),
        E(S(T(2, 3), T(1, 3)), RuntimeError, "boundaries tensor should be 1 dimension or the first N-1 dimensions"),
        E(S(T(3), T(3), side="foo"), RuntimeError, "side can only be 'left' or 'right' but got foo"),
        E(S(T(3), T(3), side="left", right=True), RuntimeError, "side and right can't be set to opposites"),
        E(S(T(3), T(3), sorter=I(2)), RuntimeError, "boundary and sorter must have the same size"),
        E(S(T(3), T(3), sorter=I(3, values=[0, 1, 7])), RuntimeError, "sorter index out of range"),
    ),
)
op(
    f"searchsorted.Scalar(Tensor sorted_sequence, Scalar self, *, {SIDE}, str? side=None, Tensor? sorter=None) -> Tensor",
    variants="function out",
    kernel=native(whole=True),
    no_grad=INTEGERS,
    out=Out(exact=SEARCH),
    batching=LOOP,
    doc="Where to insert a number into a sorted sequence.",
    samples=[S(I(4, values=[1, 3, 3, 7]), 3), S(I(4, values=[1, 3, 3, 7]), 3, right=True), S(T(3, values=[1, 2, 3], grad=False), 2.5)],
    errors=(E(S(T(2, 3), 1.5), RuntimeError, "input value can be a scalar only when boundaries tensor dimension is 1"),),
)
op(
    f"bucketize.Tensor(Tensor self, Tensor boundaries, *, {SIDE}) -> Tensor",
    variants="function out",
    kernel=native(guests="order"),
    no_grad=INTEGERS,
    out=Out(exact=SEARCH),
    batching=by("bucketize"),
    doc="The bucket each value falls into, between sorted boundaries.",
    samples=[S(T(2, 3, grad=False), T(3, values=[-1, 0, 1], grad=False)), S(I(4), I(2, values=[1, 2]), right=True, out_int32=True)],
    errors=(E(S(T(3), T(2, 3)), RuntimeError, r"boundaries tensor must be 1 dimension, but got dim\(2\)"),),
)
op(
    f"bucketize.Scalar(Scalar self, Tensor boundaries, *, {SIDE}) -> Tensor",
    variants="function",
    kernel=native(whole=True),
    no_grad=INTEGERS,
    batching=LOOP,
    doc="The bucket a number falls into, between sorted boundaries.",
    samples=[S(0.5, T(3, values=[-1, 0, 1], grad=False)), S(2, I(2, values=[1, 2]), right=True)],
)
op(
    "bincount(Tensor self, Tensor? weights=None, int minlength=0) -> Tensor",
    kernel=native(needs_values=True, guests="value"),
    grad={"weights": "cast_to(ops::index_select(grad, 0, self), weights_dtype)"},
    nondiff=("self",),
    batching=LOOP,
    syncs=True,
    doc="How often each non-negative integer occurs, or the sum of the weights of its occurrences.",
    samples=[S(I(10)), S(I(5), minlength=9), S(I(5), T(5)), S(I(0), minlength=3)],
    errors=(
        E(S(I(2, values=[-1, 2])), RuntimeError, "bincount only supports 1-d non-negative integral inputs."),
        E(S(I(2, 2)), RuntimeError, "bincount only supports 1-d non-negative integral inputs."),
        E(S(I(3), T(2)), RuntimeError, "weights should be 1-d and have the same length as input"),
        E(S(I(3), minlength=-1), RuntimeError, "minlength should be >= 0"),
        E(S(T(3)), RuntimeError, "\"bincount_cpu\" not implemented for 'Float'"),
    ),
)
op(
    "histc(Tensor self, int bins=100, Scalar min=0, Scalar max=0) -> Tensor",
    variants=FUNCTION,
    kernel=native(),
    no_grad=COUNTS,
    out=Out(
        exact=("torch.histogram: input tensor and hist tensor should have the same dtype, but got input {result_cpp} and hist {out_cpp}",)
    ),
    batching=LOOP,
    syncs=True,
    doc="Histogram with equal bins between min and max, or over the range of the data.",
    samples=[S(T(50, grad=False), 5), S(T(3, 4, grad=False), 4, -1, 1), S(T(0), 4), S(T(3, values=[1, 1, 1], grad=False), 4)],
    errors=(
        E(S(T(3), 0), RuntimeError, "bins must be > 0, but got 0"),
        E(S(T(3), 4, 3, 1), RuntimeError, "torch.histc: max must be larger than min"),
        E(S(T(3), 4, INF, 1), RuntimeError, r"torch.histc: range of \[inf, 1\] is not finite"),
        E(S(I(3)), RuntimeError, "\"histogram_cpu\" not implemented for 'Long'"),
    ),
)
op(
    "_histogramdd_counts(Tensor points, Tensor edges, int[] bins, Tensor? weight=None) -> Tensor",
    variants="function internal",
    kernel=native(),
    home="",
    no_grad=COUNTS,
    batching=LOOP,
    doc="How many rows of points, or what weight of them, fall into each bin; the edges of all dimensions are one list.",
    samples=[S(T(30, 2, grad=False), T(7, values=[-1, 0, 0.5, 1, -2, 0, 2], grad=False), [3, 2])],
    test={"compat": False, "ours": True},
)
op(
    "_even_edges(Tensor points, int bins, float low, float high, int dim) -> Tensor",
    variants="function internal",
    kernel=composite(),
    home="",
    doc="The edges of so many bins evenly over a range, for a histogram of points; `dim` is what errors call it.",
    samples=[S(T(5, 2, grad=False), 3, 0.0, 1.0, 0), S(T(3, 1, grad=False), 2, 1.0, 1.0, 0)],
    errors=(E(S(T(5, 2), 3, 2.0, 1.0, 1), RuntimeError, "min should not exceed max, but got min 2 max 1 for dimension 1"),),
    test={"compat": False, "ours": True},
)
op(
    "_histogram_edges(Tensor points, int[] bins) -> Tensor[]",
    variants="function internal",
    kernel=composite(),
    home="",
    syncs=True,
    doc="The edges of so many bins in each column of points, evenly from the least to the largest.",
    samples=[S(T(5, 2, grad=False), [3, 2]), S(T(0, 1, grad=False), [3])],
    test={"compat": False, "ours": True},
)
op(
    "histogram(Tensor self, Operand bins=100, *, float[]? range=None, Tensor? weight=None, bool density=False)"
    " -> (Tensor hist, Tensor bin_edges)",
    variants="function method",
    kernel=python("retrograd._ops.histogram:histogram"),
    doc="Histogram and the edges of its bins.",
    samples=[
        S(T(30, grad=False), 5),
        S(T(30, grad=False), T(4, values=[-1, 0, 0.5, 1], grad=False)),
        S(T(30, grad=False), 3, range=(-1.0, 1.0)),
        S(T(6, grad=False), 3, weight=T(6, grad=False), density=True),
    ],
)
op(
    "histogramdd(Tensor self, int[] bins, *, float[]? range=None, Tensor? weight=None, bool density=False)"
    " -> (Tensor hist, Tensor[] bin_edges)",
    variants="function",
    kernel=python("retrograd._ops.histogram:histogramdd"),
    doc="Histogram of points, and the edges of its bins in each dimension.",
    samples=[
        S(T(30, 2, grad=False), [3, 4]),
        S(T(3, 10, 2, grad=False), 3, range=(-1.0, 1.0, -2.0, 2.0)),
        S(T(30, 2, grad=False), [T(4, values=[-1, 0, 0.5, 1], grad=False), T(3, values=[-2, 0, 2], grad=False)]),
        S(T(12, 3, grad=False), [2, 1, 3], weight=T(12, grad=False), density=True),
        S(T(0, 2, grad=False), [2, 2]),
    ],
    errors=(
        E(S(T(3), [2]), RuntimeError, "torch.histogramdd: input tensor should have at least 2 dimensions"),
        E(S(T(3, 2), [2]), RuntimeError, "histogramdd: The size of bins must be equal to the innermost dimension of the input."),
        E(S(T(3, 2), [2, 0]), RuntimeError, r"torch.histogram\(\): bins must be > 0, but got 0 for dimension 1"),
        E(S(T(3, 2), [2, 2], range=(0.0, 1.0)), RuntimeError, "for a 2-dimensional histogram range should have 4 elements, but got 2"),
        E(S(T(3, 2), [2, 2], range=(1.0, 0.0, 0.0, 1.0)), RuntimeError, "min should not exceed max, but got min 1 max 0 for dimension 0"),
    ),
)
op(
    "hash_tensor(Tensor self, int[]? dim=None, *, bool keepdim=False, int mode=0) -> Tensor",
    variants="function method out",
    kernel=native(complex=True),
    no_grad=BITS,
    out=Out(exact=("Expected result to be of dtype uint64, but got {out}",)),
    batching=along("dim"),
    doc="The exclusive or of the bits of all elements along `dim`, as uint64.",
    samples=[
        S(T(2, 3, grad=False)),
        S(T(2, 3, grad=False), 1),
        S(T(2, 3, grad=False), (0, -1), keepdim=True),
        S(I(2, 3), 0, keepdim=True),
        S(T(grad=False)),
        S(T(0, 3, grad=False), 1),
    ],
    errors=(
        E(S(T(2, 3, grad=False), mode=1), RuntimeError, "Unknown hash_tensor mode: 1"),
        E(S(T(2, 3, grad=False), 2), IndexError, "Dimension out of range"),
        E(S(T(2, 3, grad=False), (0, 0)), RuntimeError, "dim 0 appears multiple times in the list of dims"),
        E(S(T(0, 3, grad=False)), RuntimeError, r"hash_tensor: Expected reduction dim to be specified for input.numel\(\) == 0"),
        E(S(T(0, 3, grad=False), 0), IndexError, "hash_tensor: Expected reduction dim 0 to have non-zero size."),
    ),
)
op(
    "_segment_owners(Tensor given, int size, bool offsets=False, bool unsafe=False) -> (Tensor owner, Tensor counts)",
    variants="function internal",
    kernel=native(),
    home="",
    no_grad=INTEGERS,
    batching=LOOP,
    syncs=True,
    doc="Which segment each place of a dimension is in, counted over all rows with one more for those in none, and the lengths of segments.",
    samples=[S(I(2, 2, values=(2, 1, 0, 3)), 3), S(I(3, values=(0, 2, 3)), 4, True)],
    errors=(E(S(I(2, values=(-1, 4)), 3), RuntimeError, "lengths contains negative value!"),),
    test={"compat": False, "ours": True},
)
_LENGTHS = I(4, values=(2, 0, 1, 3))
op(
    "segment_reduce(Tensor data, str reduce, *, Tensor? lengths=None, Tensor? indices=None, Tensor? offsets=None, int axis=0, "
    "bool unsafe=False, Scalar? initial=None) -> Tensor",
    variants="function",
    kernel=composite(),
    doc="One sum, mean, extremum or product per run of neighbouring elements.",
    samples=[
        *(S(T(6, distinct=True), r, lengths=_LENGTHS, initial=i) for r in ("sum", "mean", "max", "min", "prod") for i in (0.5, 3.0)),
        *(S(T(6, 2, distinct=True), r, lengths=I(2, values=(4, 2))) for r in ("sum", "mean", "max", "min", "prod")),
        S(T(3, 2, 2), "sum", lengths=I(3, 2, values=(1, 1, 2, 0, 0, 2)), axis=1),
        S(T(2, 5), "mean", offsets=I(2, 3, values=(0, 2, 5, 0, 1, 5)), axis=1),
        S(T(6), "sum", lengths=I(2, values=(1, 2)), unsafe=True),
        S(T(0), "sum", lengths=I(2, values=(0, 0))),
    ],
    errors=(
        E(S(T(6), "other", lengths=_LENGTHS), RuntimeError, "reduce argument must be either sum, prod, mean, amax or amin, got other"),
        E(S(T(6), "sum"), RuntimeError, r"segment_reduce\(\): Either lengths or offsets must be defined."),
        E(S(T(6), "sum", indices=I(6)), RuntimeError, r"segment_reduce\(\): indices based reduction is not supported yet."),
        E(S(T(6), "sum", lengths=I(1, values=(5,))), RuntimeError, "Expected all rows of lengths along axis to sum to data.size"),
        E(S(T(6), "sum", lengths=I(2, values=(-1, 7))), RuntimeError, "lengths contains negative value!"),
        E(S(T(6), "sum", offsets=I(3, values=(0, 3, 2))), RuntimeError, "Expected segment_length >= 0"),
        E(S(T(6), "sum", lengths=_LENGTHS, axis=1), IndexError, "Dimension out of range"),
        E(S(I(6), "sum", lengths=_LENGTHS), NotImplementedError, "not implemented for"),
    ),
)
COUNTED = {"outputs_nondiff": ("result1", "result2"), "variants": "function"}
op(
    "_unique2(Tensor self, bool sorted=True, bool return_inverse=False, bool return_counts=False) -> (Tensor, Tensor, Tensor)",
    kernel=native(needs_values=True, guests="order"),
    grad={"self": 'not_implemented("_unique2")'},
    batching=by("dynamic_shape", "_unique2"),
    syncs=True,
    doc="Distinct elements, with the place of each element among them and their counts.",
    test={"grad": False},  # not differentiable in PyTorch either
    samples=[S(I(10)), S(I(3, 4), True, True, True), S(T(5, grad=False)), S(I(0), True, True, True), S(I())],
    **COUNTED,
)
op(
    "_unique_dim(Tensor self, int dim, bool sorted=True, bool return_inverse=False, bool return_counts=False) -> (Tensor, Tensor, Tensor)",
    kernel=native(needs_values="unique_dim", guests="order"),
    grad={"self": 'not_implemented("unique_dim")'},
    batching=by("dynamic_shape", "unique_dim"),
    syncs=True,
    doc="Distinct slices along a dim.",
    samples=[S(I(6, 2, high=2), 0), S(I(3, 6, high=2), 1, True, True, True)],
    test={"grad": False, "compat": False},  # PyTorch has it under another name
    **COUNTED,
)
op(
    "_unique_consecutive(Tensor self, bool return_inverse=False, bool return_counts=False, int? dim=None) -> (Tensor, Tensor, Tensor)",
    kernel=native(needs_values="unique_consecutive", guests="order"),
    grad={"self": 'not_implemented("unique_consecutive")'},
    batching=by("dynamic_shape", "unique_consecutive"),
    syncs=True,
    doc="Elements (or slices along a dim) without repetitions of the one before.",
    samples=[S(I(10, high=2)), S(I(10, high=2), True, True), S(I(6, 2, high=2), True, True, 0)],
    test={"grad": False, "compat": False},  # PyTorch has it under another name
    **COUNTED,
)
op(
    "unique(Tensor self, bool sorted=True, bool return_inverse=False, bool return_counts=False, int? dim=None) -> (Tensor, Tensor, Tensor)",
    kernel=python("retrograd._ops.reduce:unique", unchecked=IN_PYTHON),
    doc="Distinct elements, sorted; optionally the index of each element among them and how often each occurs.",
    samples=[
        S(I(10)),
        S(I(3, 4), return_inverse=True),
        S(I(3, 4), return_counts=True),
        S(I(6, 2, high=2), dim=0),
        S(I(6, 2, high=2), return_inverse=True, return_counts=True, dim=0),
    ],
    test={"grad": False},
)
op(
    "unique_consecutive(Tensor self, bool return_inverse=False, bool return_counts=False, int? dim=None) -> (Tensor, Tensor, Tensor)",
    kernel=python("retrograd._ops.reduce:unique_consecutive", unchecked=IN_PYTHON),
    doc="Elements without repetitions of the one before.",
    samples=[S(I(10, high=2)), S(I(10, high=2), return_inverse=True, return_counts=True), S(I(6, 2, high=2), dim=0)],
    test={"grad": False},
)
op(
    "equal(Tensor self, Tensor other) -> bool",
    kernel=native(complex=True, needs_values=True, guests="moves"),
    no_grad=INTEGERS,
    batching=by("one_answer"),
    syncs=True,
    doc="Whether two tensors have the same size and elements.",
    samples=[
        S(I(3), I(3)),
        S(T(3, grad=False), T(3, grad=False)),
        S(I(3), I(2)),
        S(T(2, values=[1, 2], grad=False), T(2, values=[1, 2], grad=False)),
        S(T(0, grad=False), T(0, grad=False)),
        S(I(2, values=[1, 2]), T(2, values=[1, 2], grad=False)),
    ],
)
op(
    "_all_within(Tensor self, float low, float high) -> bool",
    variants="function",
    kernel=native(needs_values=True),
    home="",
    no_grad=COUNTS,
    batching=by("one_answer"),
    syncs=True,
    doc="Whether all elements are in [low, high], which no nan is: a check of arguments in one go.",
    samples=[S(T(3, grad=False), -10.0, 10.0), S(T(3, grad=False), 5.0, 10.0), S(I(3), 0.0, 9.0), S(T(0, grad=False), 0.0, 1.0)],
)

# ---- statistics and calculus, in Python ----

op(
    "nanmean(Tensor self, int[]? dim=None, bool keepdim=False, *, dtype? dtype=None) -> Tensor",
    kernel=python("retrograd._ops.reduce:nanmean"),
    doc="Mean over dims that leaves out NaN.",
    samples=[S(T(3, 4)), S(T(3, 4), 1, True), S(T(4, values=[1, NAN, 2, NAN], grad=False))],
    errors=(E(S(I(3)), RuntimeError, r"nanmean\(\): expected input to have floating point or complex dtype but got Long"),),
)
op(
    "cov(Tensor self, *, int correction=1, Tensor? fweights=None, Tensor? aweights=None) -> Tensor",
    kernel=python("retrograd._ops.reduce:cov"),
    doc="Covariance matrix of variables in rows.",
    samples=[
        S(T(3, 5)),
        S(T(5)),
        S(T(3, 5), correction=0),
        S(T(2, 4), fweights=I(4, low=1)),
        S(T(2, 4), aweights=T(4, low=0.5, grad=False)),
    ],
    errors=(
        E(S(T(1, 2, 3)), RuntimeError, r"cov\(\): expected input to have two or fewer dimensions but got an input with 3 dimensions"),
        E(S(B(3)), RuntimeError, r"cov\(\): bool dtype is not supported for input"),
        E(S(T(2, 3), fweights=I(3, values=[1, 2, -1])), RuntimeError, r"cov\(\): fweights cannot be negative"),
    ),
)
op(
    "corrcoef(Tensor self) -> Tensor",
    kernel=python("retrograd._ops.reduce:corrcoef"),
    doc="Correlation coefficients of variables in rows.",
    samples=[S(T(3, 5)), S(T(5))],
)
op(
    "diff(Tensor self, int n=1, int dim=-1, Tensor? prepend=None, Tensor? append=None) -> Tensor",
    variants="function method out",
    kernel=composite(),
    doc="n-th differences along a dim.",
    samples=[S(T(5)), S(T(3, 4), 2), S(T(3, 4), 1, 0), S(T(3), prepend=T(2), append=T(1)), S(B(4)), S(I(4)), S(T(3), 5)],
    errors=(
        E(S(T(3), -1), RuntimeError, "order must be non-negative but got -1"),
        E(S(T()), RuntimeError, "diff expects input to be at least one-dimensional"),
    ),
)
for name, extra in (("trapezoid", ""), ("cumulative_trapezoid", "cumulative ")):
    op(
        f"{name}(Tensor y, Tensor? x=None, *, Scalar? dx=None, int dim=-1) -> Tensor",
        variants="function",
        kernel=composite(),
        doc=f"The {extra}integral of samples by the trapezoidal rule.".replace("  ", " "),
        samples=[S(T(5)), S(T(3, 4), dx=0.5), S(T(3, 4), T(4, distinct=True)), S(T(3, 4), dim=0), S(T(3, 4), T(3, 4), dim=1), S(T(1))],
    )
alias("trapz", of="trapezoid")
op(
    "_even_gradient(Tensor self, Scalar spacing, int dim, int edge_order) -> Tensor",
    variants="function internal",
    kernel=composite(),
    home="",
    doc="gradient() along one dim, of samples at equal distances.",
    samples=[S(T(5), 1, 0, 1), S(T(4, 3), 0.5, 0, 2), S(T(4, 3), 2, 1, 1)],
    test={"compat": False, "ours": True},
)
op(
    "gradient(Tensor self, *, Scalar spacing=1, int[]? dim=None, int edge_order=1) -> Tensor[]",
    variants="function",
    kernel=python("retrograd._ops.reduce:gradient"),
    doc="Numerical derivative of samples along dims, by central differences.",
    samples=[
        S(T(5)),
        S(T(4, 3)),
        S(T(4, 5), spacing=0.5, dim=1),
        S(T(4, 5), dim=(0, 1), edge_order=2),
        S(T(4), spacing=(T(4, values=[0, 1, 3, 4], grad=False),)),
        S(T(4, 5), spacing=(2.0, 0.5)),
        S(T(5), spacing=(T(5, values=[0, 1, 3, 4, 6], grad=False),), edge_order=2),
    ],
    errors=(
        E(S(T(1)), RuntimeError, r"expected each dimension size to be at least edge_order\+1"),
        E(S(T(5), edge_order=3), RuntimeError, "only supports edge_order=1 and edge_order=2"),
    ),
)
