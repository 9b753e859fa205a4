"""Pooling: the largest elements or the means of windows, and largest elements put back where they were."""

from __future__ import annotations

from optable import composite, native, op
from optable.facts import FLOAT32, by
from optable.samples import E, I, S, T

_STEPS = "int[] kernel_size, int[]? stride=None, int[] padding=0, int[] dilation=1, bool ceil_mode=False"
_MEANS = "int[] kernel_size, int[]? stride=None, int[] padding=0, bool ceil_mode=False, bool count_include_pad=True"


def D(*shape: int):
    """Values that a window has one largest of."""
    return T(*shape, distinct=True)


_NAN = float("nan")


def _put(dims: int, follows: bool) -> str:
    """The gradient, which may have to follow the memory format of the input."""
    last = f"lies_channels_last(self_sizes, self_strides, {dims})" if follows else "false"
    return f"ops::_pool_put(grad, result1, self_sizes, {dims}, {last})"


# ---- what derivatives are made of ----

op(
    "_pool_take(Tensor self, Tensor indices, int dims) -> Tensor",
    variants="function internal",
    kernel=native(),
    grad={"self": "ops::_pool_put(grad, indices, self_sizes, dims, lies_channels_last(self_sizes, self_strides, dims))"},
    nondiff=("indices",),
    jvp="ops::_pool_take(self_t, indices, dims)",
    home="",
    batching=by("pool"),
    syncs=True,
    doc="The elements at places of the last `dims` dimensions, which are counted as one; 0 where a place is -1.",
    samples=[
        S(T(1, 2, 2, 3), I(1, 2, 2, 2, values=(0, 1, 5, 5, 3, -1, 2, 0)), 2),
        S(T(2, 3, 2), I(2, 1, 2, values=(0, 5, 4, 4)), 2),
        S(T(1, 1, 2, 2, 2), I(1, 1, 1, 2, 2, values=(7, 0, 3, 7)), 3),
        S(T(0, 2, 2, 3), I(0, 2, 1, 1), 2),
    ],
    errors=(
        E(S(T(1, 2, 3), I(1, 1, 2, values=(0, 6)), 2), RuntimeError, "Found an invalid max index: 6"),
        E(S(T(1, 2, 3), I(2, 1, 2), 2), RuntimeError, "_pool_take: indices of size"),
    ),
    test={"compat": False},
)
op(
    "_pool_put(Tensor values, Tensor indices, int[] size, int dims, bool channels_last) -> Tensor",
    variants="function internal",
    kernel=native(),
    grad={"values": "ops::_pool_take(grad, indices, dims)"},
    nondiff=("indices",),
    jvp="ops::_pool_put(values_t, indices, size, dims, channels_last)",
    home="",
    batching=by("pool"),
    syncs=True,
    doc="The sums of values at places of a tensor that is 0 elsewhere: the transpose of _pool_take.",
    samples=[
        S(T(1, 2, 2, 2), I(1, 2, 2, 2, values=(0, 1, 5, 5, 3, -1, 2, 0)), (1, 2, 2, 3), 2, False),
        S(T(1, 2, 2, 2), I(1, 2, 2, 2, values=(0, 1, 5, 5, 3, 4, 2, 0)), (1, 2, 2, 3), 2, True),
        S(T(2, 1, 2), I(2, 1, 2, values=(0, 5, 4, 4)), (2, 3, 2), 2, False),
        S(T(1, 1, 1, 2, 2), I(1, 1, 1, 2, 2, values=(7, 0, 3, 7)), (1, 1, 2, 2, 2), 3, False),
        S(T(1, 2, 0, 2), I(1, 2, 0, 2), (1, 2, 2, 3), 2, False),
    ],
    errors=(
        E(S(T(1, 1, 2), I(1, 1, 2, values=(0, -2)), (1, 2, 3), 2, False), RuntimeError, "Found an invalid max index: -2"),
        E(S(T(1, 1, 2), I(1, 2, 2), (1, 2, 3), 2, False), RuntimeError, "_pool_put: values of size"),
    ),
    test={"compat": False},
)
op(
    "_avg_pool_backward(Tensor grad_output, int[] input_size, int[] kernel_size, int[]? stride, int[] padding, bool ceil_mode, "
    "bool count_include_pad, int? divisor_override, int dims, bool channels_last) -> Tensor",
    variants="function internal",
    kernel=native(),
    grad={"grad_output": "avg_pool(grad, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override, dims)"},
    jvp="linear",
    home="",
    batching=by("pool"),
    doc="The transpose of avg_pool2d and avg_pool3d.",
    samples=[
        S(T(1, 2, 2, 3), (1, 2, 4, 6), (2, 2), None, (0, 0), False, True, None, 2, False),
        S(T(1, 2, 3, 4), (1, 2, 5, 6), (3, 2), (2, 2), (1, 1), True, False, None, 2, True),
        S(T(2, 3, 4), (2, 5, 4), (3, 1), (2, 1), (1, 0), False, True, 3, 2, False),
        S(T(1, 1, 2, 2, 2), (1, 1, 3, 4, 4), (2, 3, 3), (2, 2, 2), (1, 1, 1), False, True, None, 3, False),
    ],
    errors=(
        E(
            S(T(1, 2, 2, 2), (1, 2, 4, 6), (2, 2), None, (0, 0), False, True, None, 2, False),
            RuntimeError,
            r"_avg_pool_backward: expected a gradient of size \[1, 2, 2, 3\], got",
        ),
    ),
    test={"compat": False},
)
op(
    "_adaptive_avg_pool_backward(Tensor grad_output, int[] input_size, int dims, bool channels_last) -> Tensor",
    variants="function internal",
    kernel=native(),
    grad={"grad_output": "adaptive_avg_pool(grad, grad_output_sizes, dims)"},
    jvp="linear",
    home="",
    batching=by("pool"),
    doc="The transpose of _adaptive_avg_pool2d and _adaptive_avg_pool3d.",
    samples=[
        S(T(1, 2, 2, 3), (1, 2, 5, 4), 2, False),
        S(T(1, 2, 2, 3), (1, 2, 5, 7), 2, True),
        S(T(2, 4, 2), (2, 3, 2), 2, False),
        S(T(1, 1, 2, 3, 2), (1, 1, 3, 5, 4), 3, False),
        S(T(1, 2, 0, 3), (1, 2, 5, 4), 2, False),
    ],
    errors=(E(S(T(2, 3), (2, 5, 4), 2, False), RuntimeError, "_adaptive_avg_pool_backward: a gradient of size"),),
    test={"compat": False},
)

# ---- largest elements ----


def _max_pool(dims: int, samples: list, errors: tuple) -> None:
    words = ("", "signals [N, C, L]", "images [N, C, H, W]", "volumes [N, C, D, H, W]")[dims]
    op(
        f"max_pool{dims}d(Tensor self, {_STEPS}) -> Tensor",
        variants="function internal",
        kernel=composite(),
        autocast=FLOAT32 if dims == 3 else "",
        doc=f"The largest element of each window of {words}, or of one without the batch.",
        samples=samples,
        errors=errors,
    )
    shared = {"doc": f"max_pool{dims}d, and where in its plane each element is from.", "samples": samples, "variants": "function internal"}
    schema = f"max_pool{dims}d_with_indices(Tensor self, {_STEPS}) -> (Tensor, Tensor)"
    if dims == 1:
        op(schema, kernel=composite(), **shared)
        return
    op(
        schema,
        kernel=native(),
        grad={"self": _put(dims, True)},
        node=f"MaxPool{dims}DWithIndicesBackward0",
        outputs_nondiff=("result1",),
        jvp=f"std::tuple(ops::_pool_take(self_t, result1, {dims}))",
        home="",
        batching=by("pool"),
        **shared,
    )


_max_pool(
    2,
    [
        S(D(1, 2, 4, 6), 2),
        S(D(2, 5, 6), (3, 2), (2, 1), (1, 0)),
        S(D(1, 1, 7, 8), 3, 2, 1, 2),
        S(D(1, 2, 5, 5), 2, ceil_mode=True),
        S(D(1, 1, 3, 26), (2, 3), (1, 2), (1, 1)),
        S(D(1, 1, 2, 20), (1, 3), (1, 1), 0, (1, 2), True),
        S(T(1, 1, 2, 4, values=(1, _NAN, 2, 3, _NAN, 0, 5, 5), grad=False), 2),
        S(D(0, 2, 4, 4), 2),
        S(I(1, 2, 4, 4, low=-5, high=5), 2, [], 1),
    ],
    (
        E(S(T(1, 2, 4, 4), 5), RuntimeError, r"Given input size: \(2x4x4\). Calculated output size: \(2x0x0\). Output size is too small"),
        E(S(T(1, 2, 4, 4), 2, 1, 2), RuntimeError, "pad should be at most half of effective kernel size, but got pad=2, kernel_size=2 and"),
        E(S(T(1, 1, 9, 9), 3, 1, 2, 2), RuntimeError, "pad should be smaller than or equal to half of kernel size, but got padW = 2"),
        E(S(T(1, 2, 4, 4), 2, 1, -1), RuntimeError, "pad must be non-negative, but got pad: -1"),
        E(S(T(1, 2, 4, 4), 0, 1), RuntimeError, "kernel size should be greater than zero, but got kH: 0 kW: 0"),
        E(S(T(1, 2, 4, 4), 2, 0), RuntimeError, "stride should not be zero"),
        E(S(T(1, 2, 4, 4), 2, -1), RuntimeError, "stride should be greater than zero, but got dH: -1 dW: -1"),
        E(S(T(1, 2, 4, 4), 2, 1, 0, 0), RuntimeError, "dilation should be greater than zero, but got dilationH: 0 dilationW: 0"),
        E(S(T(4, 4), 2), RuntimeError, r"non-empty 3D or 4D \(batch mode\) tensor expected for input"),
        E(S(T(2, 0, 4, 4), 2), RuntimeError, "Expected 3D or 4D .batch mode. tensor with optional 0 dim batch size for input, but got:"),
        E(S(T(1, 2, 4, 4), (2, 2, 2)), RuntimeError, "max_pool2d: kernel_size must either be a single int, or a tuple of two ints"),
        E(S(T(1, 2, 4, 4), 2, (1, 1, 1)), RuntimeError, "max_pool2d: stride must either be omitted, a single int, or a tuple of two ints"),
        E(S(T(1, 2, 4, 4), 2, 1, 0, (1, 1, 1)), RuntimeError, "max_pool2d: dilation must be either a single int, or a tuple of two ints"),
        E(S(T(1, 2, 4, 4), 2.0), TypeError, "must be tuple of ints, not float"),
    ),
)
_max_pool(
    3,
    [
        S(D(1, 2, 4, 4, 2), 2),
        S(D(1, 3, 5, 5), (2, 3, 2), (1, 2, 2), (1, 1, 0)),
        S(D(1, 1, 5, 5, 6), 2, 1, 0, 2, True),
        S(D(0, 2, 2, 2, 2), 2),
    ],
    (
        E(S(T(1, 2, 4, 4, 4), 5), RuntimeError, r"Given input size: \(2x4x4x4\). Calculated output size: \(2x0x0x0\)."),
        E(S(T(1, 1, 9, 9, 9), 3, 1, 2, 2), RuntimeError, "pad should be smaller than or equal to half of kernel size, but got kT: 3"),
        E(S(T(4, 4, 4), 2), RuntimeError, r"non-empty 4D or 5D \(batch mode\) tensor expected for input"),
        E(S(T(1, 0, 4, 4, 4), 2), RuntimeError, "Expected input's non-batch dimensions to have positive length"),
        E(S(T(1, 2, 4, 4, 4), (2, 2)), RuntimeError, "max_pool3d: kernel_size must either be a single int, or a tuple of three ints"),
    ),
)
_max_pool(
    1,
    [S(D(2, 3, 7), 2), S(D(3, 8), 3, 1, 1, 2), S(D(1, 2, 5), 2, 2, ceil_mode=True), S(D(0, 2, 4), 2)],
    (
        E(S(T(1, 2, 4), 5), RuntimeError, "max_pool1d.. Invalid computed output size: 0"),
        E(S(T(1, 2, 4), 2, 1, 2), RuntimeError, "max_pool1d.. padding should be at most half of kernel size, but got padding=2"),
        E(S(T(1, 2, 4), 2, 1, -1), RuntimeError, "max_pool1d.. padding must be non-negative, but got -1"),
        E(S(T(1, 2, 4), 0), RuntimeError, "max_pool1d.. kernel_size must be greater than zero, but got 0"),
        E(S(T(1, 2, 4), 2, 0), RuntimeError, "max_pool1d.. stride must be greater than zero, but got 0"),
        E(S(T(1, 2, 4), 2, 1, 0, 0), RuntimeError, "max_pool1d.. dilation must be greater than zero, but got 0"),
        E(S(T(4), 2), RuntimeError, r"max_pool1d: Expected 2D or 3D \(batch mode\) tensor with optional 0 dim batch size for input"),
        E(S(T(1, 2, 4), (2, 2)), RuntimeError, "max_pool1d.. kernel_size must be an int, list of ints or tuple of ints of size 1 but got"),
    ),
)


def _adaptive_max(dims: int, samples: list, errors: tuple = ()) -> None:
    made = (
        {"kernel": composite()}
        if dims == 1
        else {
            "kernel": native(),
            "grad": {"self": _put(dims, dims == 2)},
            "node": f"AdaptiveMaxPool{dims}DBackward0",
            "outputs_nondiff": ("result1",),
            "jvp": f"std::tuple(ops::_pool_take(self_t, result1, {dims}))",
            "home": "",
            "batching": by("pool"),
        }
    )
    op(
        f"adaptive_max_pool{dims}d(Tensor self, int[] output_size) -> (Tensor, Tensor)",
        variants="function internal",
        autocast=FLOAT32 if dims == 3 else "",
        doc="The largest elements of as many windows as results are asked for, which share the input out, and where they are from.",
        samples=samples,
        errors=errors,
        **made,
    )


_adaptive_max(
    2,
    [S(D(1, 2, 5, 7), (2, 3)), S(D(2, 4, 6), (2, 3)), S(D(1, 2, 3, 3), (5, 1)), S(D(0, 2, 3, 3), (2, 2))],
    (
        E(S(T(4, 4), (2, 2)), RuntimeError, r"adaptive_max_pool2d.*: Expected 3D or 4D tensor, but got: \[4, 4\]"),
        E(S(T(1, 2, 4, 4), (-1, 2)), RuntimeError, "Trying to create tensor with negative dimension -1"),
        E(S(T(1, 2, 0, 4), (1, 2)), RuntimeError, "Expected input to have non-zero size for non-batch dimensions"),
        E(S(T(1, 2, 4, 4), (2, 2, 2)), RuntimeError, r"output_size.size\(\) must be 2"),
    ),
)
_adaptive_max(3, [S(D(1, 2, 3, 5, 4), (2, 3, 2)), S(D(1, 4, 4, 2), (2, 2, 1))])
_adaptive_max(
    1,
    [S(D(2, 3, 7), 3), S(D(3, 8), 4)],
    (
        E(S(T(4), 2), RuntimeError, "Expected 2 to 3 dimensions, but got 1-dimensional tensor for argument #1 'self'"),
        E(S(T(1, 2, 4), (2, 2)), RuntimeError, "adaptive_max_pool1d.. argument 'output_size' should contain one int"),
    ),
)


def _fractional(dims: int, samples: list, errors: tuple = ()) -> None:
    op(
        f"fractional_max_pool{dims}d(Tensor self, int[] kernel_size, int[] output_size, Tensor random_samples) -> (Tensor, Tensor)",
        variants="function internal",
        kernel=native(),
        grad={"self": _put(dims, False)},
        nondiff=("random_samples",),
        node=f"FractionalMaxPool{dims}DBackward0",
        autocast=FLOAT32,
        outputs_nondiff=("result1",),
        jvp=f"std::tuple(ops::_pool_take(self_t, result1, {dims}))",
        home="",
        batching=by("pool"),
        doc="The largest elements of windows that begin where numbers in [0, 1) say, [N, C, dims] of them, and where they are from.",
        samples=samples,
        errors=errors,
    )


def U(*shape: int):
    return T(*shape, low=0, high=1, grad=False)


_fractional(
    2,
    [
        S(D(1, 2, 5, 7), 2, 3, U(1, 2, 2)),
        S(D(2, 6, 8), (1, 3), (4, 3), U(1, 2, 2)),
        S(D(2, 1, 4, 4), 2, (1, 3), U(3, 1, 2)),
        S(D(0, 2, 5, 5), 2, 2, U(0, 2, 2)),
    ],
    (
        E(S(T(1, 2, 5, 5), 4, 3, U(1, 2, 2)), RuntimeError, "fractional_max_pool2d.*: pool height 4 too large relative to input height 5"),
        E(S(T(5, 5), 2, 2, U(1, 2, 2)), RuntimeError, "Expected 3D or 4D tensor, but got"),
        E(S(T(1, 2, 5, 5), 2, 2, U(1, 3, 2)), RuntimeError, r"Expect _random_samples.size\(1\) equals to input channel size."),
        E(S(T(1, 2, 5, 5), 2, 2, U(1, 2, 3)), RuntimeError, r"Expect _random_samples.size\(2\) equals to 2; got 3."),
        E(S(T(2, 2, 5, 5), 2, 2, U(1, 2, 2)), RuntimeError, r"Expect _random_samples.size\(0\) no less then input batch size."),
        E(S(T(1, 2, 5, 5), 2, 2, U(2, 2)), RuntimeError, "Expect _random_samples to have 3 dimensions, got 2"),
        E(S(T(1, 2, 5, 5), (2, 2, 2), 2, U(1, 2, 2)), RuntimeError, "kernel_size must either be a single Int or tuple of Ints"),
        E(S(T(1, 2, 5, 5), 2, -1, U(1, 2, 2)), RuntimeError, "Trying to create tensor with negative dimension -1"),
    ),
)
_fractional(3, [S(D(1, 2, 5, 5, 6), 2, 3, U(1, 2, 3)), S(D(1, 4, 4, 3), (1, 2, 1), (3, 2, 2), U(1, 1, 3))])

op(
    "max_unpool2d(Tensor self, Tensor indices, int[] output_size) -> Tensor",
    variants="function internal",
    kernel=native(),
    grad={"self": "ops::_pool_take(grad, indices, 2)"},
    nondiff=("indices",),
    node="MaxUnpool2DBackward0",
    autocast=FLOAT32,
    jvp="ops::max_unpool2d(self_t, indices, output_size)",
    home="",
    batching=by("pool"),
    syncs=True,
    doc="Elements at the places that max_pool2d gives, of planes of `output_size` that are 0 elsewhere.",
    samples=[
        S(T(1, 2, 2, 2), I(1, 2, 2, 2, values=(0, 3, 8, 10, 1, 2, 13, 15)), (4, 4)),
        S(T(2, 1, 2), I(2, 1, 2, values=(0, 5, 4, 3)), (2, 3)),
        S(T(0, 2, 2, 2), I(0, 2, 2, 2), (4, 4)),
    ],
    errors=(
        E(
            S(T(1, 1, 1, 2), I(1, 1, 1, 2, values=(0, 16)), (4, 4)),
            RuntimeError,
            r"Found an invalid max index: 16 \(output volumes are of size 4x4\)",
        ),
        E(S(T(1, 1, 1, 2), I(1, 1, 1, 2, values=(0, -1)), (4, 4)), RuntimeError, "Found an invalid max index: -1"),
        E(S(T(1, 1, 1, 2), T(1, 1, 1, 2), (4, 4)), RuntimeError, "elements in indices should be type int64 but got: "),
        E(S(T(1, 1, 1, 2), I(1, 1, 1, 1), (4, 4)), RuntimeError, "Expected shape of indices to be same as that of the input tensor"),
        E(S(T(1, 2), I(1, 2), (4, 4)), RuntimeError, "Input to max_unpooling2d should be a 3d or 4d Tensor, but got a tensor with 2"),
        E(S(T(1, 1, 1, 2), I(1, 1, 1, 2), (4,)), RuntimeError, r"There should be exactly two elements \(height, width\) in output_size"),
        E(S(T(1, 1, 1, 2), I(1, 1, 1, 2), (-1, 4)), RuntimeError, "output_size must contain non-negative spatial dimensions"),
        E(S(T(1, 0, 1, 2), I(1, 0, 1, 2), (4, 4)), RuntimeError, "Expected input to have non-zero size for non-batch dimensions"),
    ),
)
op(
    "max_unpool3d(Tensor self, Tensor indices, int[] output_size, int[] stride, int[] padding) -> Tensor",
    variants="function internal",
    kernel=native(),
    grad={"self": "ops::_pool_take(grad, indices, 3)"},
    nondiff=("indices",),
    node="MaxUnpool3DBackward0",
    autocast=FLOAT32,
    jvp="ops::max_unpool3d(self_t, indices, output_size, stride, padding)",
    home="",
    batching=by("pool"),
    syncs=True,
    doc="Elements at the places that max_pool3d gives, of volumes of `output_size` that are 0 elsewhere.",
    samples=[
        S(T(1, 2, 1, 1, 2), I(1, 2, 1, 1, 2, values=(0, 3, 7, 6)), (2, 2, 2), (2, 2, 1), (0, 0, 0)),
        S(T(2, 1, 1, 2), I(2, 1, 1, 2, values=(0, 5, 4, 3)), (1, 2, 3), (1, 2, 2), (0, 0, 0)),
    ],
    errors=(
        E(
            S(T(1, 1, 1, 1, 2), I(1, 1, 1, 1, 2, values=(0, 8)), (2, 2, 2), (2, 2, 2), (0, 0, 0)),
            RuntimeError,
            r"Found an invalid max index: 8 \(output volumes are of size 2x2x2\)",
        ),
        E(
            S(T(1, 1, 1, 1, 2), I(1, 1, 1, 1, 2), (2, 2, 2), (2, 2, 0), (0, 0, 0)),
            RuntimeError,
            "strides should be greater than zero, but got stride: ",
        ),
        E(S(T(1, 1, 1, 1, 2), I(1, 1, 1, 1, 2), (2, 2, 2), (2, 2), (0, 0, 0)), RuntimeError, "There should be exactly three elements"),
    ),
)

# ---- means ----


def _avg_pool(dims: int, samples: list, errors: tuple) -> None:
    words = ("", "signals [N, C, L]", "images [N, C, H, W]", "volumes [N, C, D, H, W]")[dims]
    shared = {"doc": f"The mean of each window of {words}, or of one without the batch.", "samples": samples, "errors": errors}
    if dims == 1:
        op(f"avg_pool1d(Tensor self, {_MEANS}) -> Tensor", variants="function internal", kernel=composite(), **shared)
        return
    op(
        f"avg_pool{dims}d(Tensor self, {_MEANS}, int? divisor_override=None) -> Tensor",
        variants="function internal",
        kernel=native(),
        grad={
            "self": "ops::_avg_pool_backward(grad, self_sizes, kernel_size, stride, padding, ceil_mode, count_include_pad, "
            f"divisor_override, {dims}, {'lies_channels_last(self_sizes, self_strides, 2)' if dims == 2 else 'false'})"
        },
        node=f"AvgPool{dims}DBackward0",
        autocast=FLOAT32 if dims == 3 else "",
        jvp="linear",
        home="nn.functional",
        batching=by("pool"),
        **shared,
    )


_avg_pool(
    2,
    [
        S(T(1, 2, 4, 6), 2),
        S(T(2, 5, 6), (3, 2), (2, 1), (1, 0)),
        S(T(1, 2, 5, 5), 2, 2, 1, True, False),
        S(T(1, 2, 5, 5), 3, 2, 1, True),
        S(T(1, 1, 4, 4), 2, divisor_override=3),
        S(T(1, 1, 3, 22), (2, 3), 2, 1, divisor_override=-2),
        S(T(0, 2, 4, 4), 2),
        S(I(1, 1, 4, 4, low=-8, high=8), 3, 2, 1),
    ],
    (
        E(S(T(1, 2, 4, 4), 5), RuntimeError, r"Given input size: \(2x4x4\). Calculated output size: \(2x0x0\). Output size is too small"),
        E(S(T(1, 2, 4, 4), 2, 1, 2), RuntimeError, "pad should be at most half of effective kernel size, but got pad=2"),
        E(S(T(1, 2, 4, 4), 2, divisor_override=0), RuntimeError, "divisor must be not zero"),
        E(S(T(4, 4), 2), IndexError, "Dimension out of range .expected to be in range of"),
        E(S(T(1, 1, 1, 4, 4), 2), RuntimeError, "Expected 3D or 4D .batch mode. tensor with optional 0 dim batch size"),
        E(S(T(1, 2, 4, 4), 2, 0), RuntimeError, "stride should not be zero"),
        E(S(T(1, 2, 4, 4), (2, 2, 2)), RuntimeError, "avg_pool2d: kernel_size must either be a single int, or a tuple of two ints"),
    ),
)
_avg_pool(
    3,
    [S(T(1, 2, 4, 4, 2), 2), S(T(1, 3, 5, 5), (2, 3, 2), (1, 2, 2), (1, 1, 0), True, False), S(T(1, 1, 3, 3, 3), 2, 1, divisor_override=5)],
    (
        E(S(T(1, 2, 4, 4, 4), 5), RuntimeError, r"input image \(T: 4 H: 4 W: 4\) smaller than kernel size \(kT: 5 kH: 5 kW: 5\)"),
        E(S(T(4, 4, 4), 2), RuntimeError, r"non-empty 4D or 5D \(batch mode\) tensor expected for input"),
        E(S(T(1, 2, 4, 4, 4), (2, 2)), RuntimeError, "avg_pool3d: kernel_size must be a single int, or a tuple of three ints"),
    ),
)
_avg_pool(
    1,
    [S(T(2, 3, 7), 2), S(T(3, 8), 3, 1, 1, False, False), S(T(1, 2, 5), 2, 2, ceil_mode=True)],
    (
        E(S(T(4), 2), RuntimeError, "Expected 2 to 3 dimensions, but got 1-dimensional tensor for argument #1 'self'"),
        E(S(T(1, 2, 4), (2, 2)), RuntimeError, "avg_pool1d.. argument 'kernel_size' should contain one int .got 2"),
        E(S(T(1, 2, 4), 5), RuntimeError, r"Given input size: \(2x1x4\). Calculated output size: \(2x1x0\). Output size is too small"),
    ),
)


def _adaptive_avg(dims: int, samples: list, errors: tuple = ()) -> None:
    doc = "The means of as many windows as results are asked for, which share the input out."
    if dims > 1:
        op(
            f"_adaptive_avg_pool{dims}d(Tensor self, int[] output_size) -> Tensor",
            variants="function internal",
            kernel=native(),
            grad={
                "self": f"ops::_adaptive_avg_pool_backward(grad, self_sizes, {dims}, "
                f"{'lies_channels_last(self_sizes, self_strides, 2)' if dims == 2 else 'false'})"
            },
            node=f"AdaptiveAvgPool{dims}DBackward0",
            jvp="linear",
            batching=by("pool"),
            doc=doc,
            samples=samples,
        )
    op(
        f"adaptive_avg_pool{dims}d(Tensor self, int[] output_size) -> Tensor",
        variants="function internal",
        kernel=composite(),
        home="torch" if dims == 1 else "",
        autocast=FLOAT32 if dims == 3 else "",
        doc=doc,
        samples=[*samples, S(T(1, 2, *(4, 5, 3)[:dims]), (1,) * dims)],
        errors=errors,
    )


_adaptive_avg(
    2,
    [S(T(1, 2, 5, 7), (2, 3)), S(T(2, 4, 6), (2, 3)), S(T(1, 2, 3, 3), (5, 1)), S(T(0, 2, 3, 3), (2, 2))],
    (
        E(S(T(4, 4), (2, 2)), RuntimeError, r"adaptive_avg_pool2d.*: Expected 3D or 4D tensor, but got \[4, 4\]"),
        E(S(T(1, 2, 4, 4), (-1, 2)), RuntimeError, "elements of output_size must be greater than or equal to 0 but received"),
        E(S(T(1, 2, 0, 4), (1, 2)), RuntimeError, "Expected input to have non-zero size for non-batch dimensions"),
        E(S(T(1, 2, 4, 4), (2, 2, 2)), RuntimeError, "adaptive_avg_pool2d: output_size must be 2"),
    ),
)
_adaptive_avg(3, [S(T(1, 2, 3, 5, 4), (2, 3, 2)), S(T(1, 4, 4, 2), (2, 2, 1))])
_adaptive_avg(
    1,
    [S(T(2, 3, 7), 3), S(T(3, 8), 4)],
    (
        E(S(T(4), 2), RuntimeError, "Expected 2 to 3 dimensions, but got 1-dimensional tensor for argument #1 'self'"),
        E(S(T(1, 2, 4), (2, 2)), RuntimeError, "adaptive_avg_pool1d.. argument 'output_size' should contain one int"),
    ),
)
