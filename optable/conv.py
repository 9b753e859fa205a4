"""Convolutions, their transposes, and sliding blocks as columns."""

from __future__ import annotations

from optable import composite, native, op
from optable.facts import LOWER_PRECISION, by
from optable.samples import E, S, T

_NUMBERS = "int[] stride, int[] padding, int[] dilation, bool transposed, int[] output_padding, int groups"
_ARGUMENTS = "stride, padding, dilation, transposed, output_padding, groups"
_PLAIN = ((1,), (0,), (1,), False, (0,), 1)

op(
    f"convolution(Tensor input, Tensor weight, Tensor? bias, {_NUMBERS}) -> Tensor",
    variants="function internal",
    kernel=native(complex=True),
    grad={
        "input": f"ops::_convolution_input(grad, weight, input_sizes, {_ARGUMENTS})",
        "weight": f"ops::_convolution_weight(grad, input, weight_sizes, {_ARGUMENTS})",
        "bias": "convolution_bias_grad(grad)",
    },
    jvp=f"convolution_tangent(input_t, weight_t, bias_t, input, weight, {_ARGUMENTS})",
    batching=by("convolution"),
    doc="What every convolution is: weight slides over input [N, C, ...], whose channels it meets in groups.",
    samples=[
        S(T(2, 3, 6), T(4, 3, 3), T(4), *_PLAIN),
        S(T(2, 4, 5, 6), T(6, 2, 3, 2), T(6), (2, 1), (1, 0), (1, 2), False, (0, 0), 2),
        S(T(1, 2, 3, 4, 3), T(3, 2, 2, 2, 2), None, (1, 2, 1), (1, 0, 1), (1, 1, 2), False, (0, 0, 0), 1),
        S(T(2, 4, 3, 4), T(4, 2, 3, 2), T(4), (2, 3), (1, 0), (1, 2), True, (1, 1), 2),
        S(T(2, 3, 5), T(3, 2, 3), None, (3,), (0,), (2,), True, (2,), 1),
        S(T(0, 3, 6), T(4, 3, 3), T(4), *_PLAIN),
        S(T(1, 3, 9, 9), T(3, 1, 3, 3), T(3), (1,), (1,), (1,), False, (0,), 3),
    ],
    errors=(
        E(S(T(3, 8), T(4, 3), None, *_PLAIN), RuntimeError, "weight should have at least three dimensions"),
        E(S(T(3, 8, 8), T(4, 3, 3, 3), None, *_PLAIN), RuntimeError, "Expected 4-dimensional input for 4-dimensional weight"),
        E(S(T(1, 3, 2, 2, 2, 2), T(4, 3, 1, 1, 1, 1), None, *_PLAIN), RuntimeError, "unsupported ConvNd parameters"),
    ),
)
# Each of the three is linear in the two it is computed from, so their derivatives are one another.
op(
    f"_convolution_input(Tensor grad_output, Tensor weight, int[] input_size, {_NUMBERS}) -> Tensor",
    variants="function internal",
    kernel=native(complex=True),
    grad={
        "grad_output": f"ops::convolution(grad, weight, Tensor(), {_ARGUMENTS})",
        "weight": f"ops::_convolution_weight(grad_output, grad, weight_sizes, {_ARGUMENTS})",
    },
    jvp="multilinear",
    home="",
    batching=by("convolution_input"),
    doc="The gradient of convolution for its input, from that of its result.",
    samples=[
        S(T(2, 4, 4), T(4, 3, 3), (2, 3, 6), *_PLAIN),
        S(T(2, 6, 3, 4), T(6, 2, 3, 2), (2, 4, 5, 6), (2, 1), (1, 0), (1, 2), False, (0, 0), 2),
        S(T(2, 4, 6, 13), T(4, 2, 3, 2), (2, 4, 3, 4), (2, 3), (1, 0), (1, 2), True, (1, 1), 2),
    ],
    errors=(
        E(S(T(2, 4, 5), T(4, 3, 3), (2, 3, 6), *_PLAIN), RuntimeError, r"_convolution_input: expected a gradient of size \[2, 4, 4\], got"),
    ),
    test={"compat": False},  # PyTorch computes the gradients together
)
op(
    f"_convolution_weight(Tensor grad_output, Tensor input, int[] weight_size, {_NUMBERS}) -> Tensor",
    variants="function internal",
    kernel=native(complex=True),
    grad={
        "grad_output": f"ops::convolution(input, grad, Tensor(), {_ARGUMENTS})",
        "input": f"ops::_convolution_input(grad_output, grad, input_sizes, {_ARGUMENTS})",
    },
    jvp="multilinear",
    home="",
    batching=by("convolution_weight"),
    doc="The gradient of convolution for its weight, from that of its result.",
    samples=[
        S(T(2, 4, 4), T(2, 3, 6), (4, 3, 3), *_PLAIN),
        S(T(2, 6, 3, 4), T(2, 4, 5, 6), (6, 2, 3, 2), (2, 1), (1, 0), (1, 2), False, (0, 0), 2),
        S(T(2, 4, 6, 13), T(2, 4, 3, 4), (4, 2, 3, 2), (2, 3), (1, 0), (1, 2), True, (1, 1), 2),
    ],
    errors=(
        E(
            S(T(2, 4, 5), T(2, 3, 6), (4, 3, 3), *_PLAIN),
            RuntimeError,
            r"_convolution_weight: expected a gradient of size \[2, 4, 4\], got",
        ),
    ),
    test={"compat": False},
)

_CONV = "int[] stride=1, {padding}, int[] dilation=1, int groups=1"


def _convolution(dims: int, samples: list, same: list, errors: tuple) -> None:
    words = ("", "signals", "images", "volumes")[dims]
    shared = {
        "variants": "function internal",
        "kernel": composite(),
        "autocast": LOWER_PRECISION,
        "doc": f"Convolution of {words} [N, C, {', '.join('DHW'[3 - dims :])}], or without the batch, by weight [O, C / groups, ...].",
    }
    head = f"(Tensor input, Tensor weight, Tensor? bias=None, {_CONV}) -> Tensor"
    op(f"conv{dims}d" + head.format(padding="int[] padding=0"), samples=samples, errors=errors, **shared)
    op(f"conv{dims}d.padding" + head.format(padding='str padding="valid"'), samples=same, **shared)


_convolution(
    1,
    [S(T(2, 3, 7), T(4, 3, 3)), S(T(3, 7), T(4, 3, 3), T(4), 2, 1), S(T(2, 4, 9), T(4, 2, 3), T(4), 1, (2,), 2, 2)],
    [
        S(T(2, 3, 7), T(4, 3, 3), T(4), 1, "same"),
        S(T(2, 3, 7), T(4, 3, 4), None, 1, "same", 3),
        S(T(2, 3, 7), T(4, 3, 3), None, 2, "valid"),
    ],
    (
        E(S(T(8), T(4, 3, 3)), RuntimeError, r"Expected 2D \(unbatched\) or 3D \(batched\) input to conv1d, but got input of size: \[8\]"),
        E(S(T(1, 3, 8), T(4, 3, 3, 3)), RuntimeError, "Expected 4-dimensional input for 4-dimensional weight"),
        E(
            S(T(1, 2, 8), T(4, 3, 3)),
            RuntimeError,
            r"Given groups=1, weight of size \[4, 3, 3\], expected input\[1, 2, 8\] to have 3 channels, but got 2 channels instead",
        ),
        E(
            S(T(1, 3, 2), T(4, 3, 5)),
            RuntimeError,
            r"Calculated padded input size per channel: \(2\). Kernel size: \(5\). Kernel size can't be greater than actual input size",
        ),
    ),
)
_convolution(
    2,
    [
        S(T(2, 3, 5, 6), T(4, 3, 3, 3), T(4), 1, 1),
        S(T(3, 5, 6), T(4, 3, 3, 2), None, (2, 1), (1, 0)),
        S(T(2, 4, 6, 5), T(8, 1, 3, 3), T(8), 1, 1, 1, 4),
        S(T(1, 2, 7, 8), T(2, 2, 3, 3), T(2), 2, 2, 2),
        S(T(2, 3, 4, 4), T(5, 3, 1, 1), T(5)),
        S(T(0, 3, 5, 6), T(4, 3, 3, 3), T(4), 1, 1),
    ],
    [S(T(2, 3, 5, 6), T(4, 3, 3, 3), T(4), 1, "same"), S(T(3, 5, 6), T(4, 3, 2, 4), None, 1, "same"), S(T(1, 3, 5, 6), T(4, 3, 3, 3))],
    (
        E(
            S(T(1, 3, 2, 2), T(4, 3, 5, 5)),
            RuntimeError,
            r"Calculated padded input size per channel: \(2 x 2\). Kernel size: \(5 x 5\). Kernel size can't be greater than actual input size",
        ),
        E(
            S(T(1, 3, 8, 8), T(4, 3, 3, 3), None, 1, 0, 4),
            RuntimeError,
            r"Calculated padded input size per channel: \(8 x 8\). Kernel size: \(9 x 9\)",
        ),
        E(
            S(T(1, 4, 8, 8), T(5, 2, 3, 3), None, 1, 0, 1, 2),
            RuntimeError,
            r"Given groups=2, expected weight to be divisible by 2 at dimension 0, but got weight of size \[\[5, 2, 3, 3\]\] instead",
        ),
        E(
            S(T(1, 3, 8, 8), T(2, 1, 3, 3), None, 1, 0, 1, 3),
            RuntimeError,
            "Given groups=3, expected weight to be at least 3 at dimension 0",
        ),
        E(S(T(1, 3, 8, 8), T(4, 3, 3, 3), None, 1, -1), RuntimeError, "negative padding is not supported"),
        E(S(T(1, 3, 8, 8), T(4, 3, 3, 3), None, 0), RuntimeError, "non-positive stride is not supported"),
        E(S(T(1, 3, 8, 8), T(4, 3, 3, 3), None, 1, 0, 0), RuntimeError, "dilation should be greater than zero"),
        E(S(T(1, 3, 8, 8), T(4, 3, 3, 3), None, 1, 0, 1, 0), RuntimeError, "non-positive groups is not supported"),
        E(
            S(T(3, 8), T(4, 3, 3, 3)),
            RuntimeError,
            r"Expected 3D \(unbatched\) or 4D \(batched\) input to conv2d, but got input of size: \[3, 8\]",
        ),
        E(
            S(T(1, 3, 8, 8), T(4, 3, 3)),
            RuntimeError,
            "expected stride to be a single integer value or a list of 1 values to match the convolution dim",
        ),
        E(
            S(T(1, 3, 8, 8), T(4, 3, 3, 3), T(3)),
            RuntimeError,
            r"Given weight of size \[4, 3, 3, 3\], expected bias to be 1-dimensional with 4 elements, but got bias of size \[3\] instead",
        ),
        E(
            S(T(1, 3, 8, 8), T(4, 3, 3, 3), None, 1, (1, 1, 1)),
            RuntimeError,
            "expected padding to be a single integer value or a list of 2 values",
        ),
        E(S(T(1, 3, 8, 8), T(4, 3, 3, 3), None, 2, "same"), RuntimeError, "padding='same' is not supported for strided convolutions"),
        E(S(T(1, 3, 8, 8), T(4, 3, 3, 3), None, 1, "some"), RuntimeError, "Invalid padding string: 'some'"),
        E(
            S(T(1, 3, 8, 8), T(4, 3, 0, 3)),
            RuntimeError,
            "kernel size should be greater than zero, but got kernel_height: 0 kernel_width: 3",
        ),
    ),
)
_convolution(
    3,
    [
        S(T(1, 2, 3, 4, 4), T(3, 2, 2, 3, 3), T(3), 1, 1),
        S(T(2, 3, 4, 4), T(3, 2, 2, 3, 3), None, (1, 2, 1), 1),
        S(T(1, 2, 4, 4, 5), T(4, 1, 2, 2, 2), T(4), 2, (0, 1, 1), (2, 1, 1), 2),
    ],
    [S(T(1, 2, 3, 4, 4), T(3, 2, 2, 3, 3), T(3), 1, "same")],
    (
        E(
            S(T(4, 4, 4), T(4, 3, 3, 3, 3)),
            RuntimeError,
            r"Expected 4D \(unbatched\) or 5D \(batched\) input to conv3d, but got input of size",
        ),
    ),
)


def _transposed(dims: int, samples: list, errors: tuple = ()) -> None:
    op(
        f"conv_transpose{dims}d(Tensor input, Tensor weight, Tensor? bias=None, int[] stride=1, int[] padding=0, int[] output_padding=0, "
        "int groups=1, int[] dilation=1) -> Tensor",
        variants="function internal",
        kernel=composite(),
        autocast=LOWER_PRECISION,
        doc=f"The transpose of conv{dims}d as a linear map: what its gradient does with that of the input, for weight [C, O / groups, ...].",
        samples=samples,
        errors=errors,
    )


_transposed(1, [S(T(2, 3, 5), T(3, 4, 3)), S(T(3, 5), T(3, 4, 3), T(4), 2, 1, 1), S(T(2, 4, 5), T(4, 3, 2), T(6), 3, 1, 0, 2, 2)])
_transposed(
    2,
    [
        S(T(2, 3, 3, 4), T(3, 4, 3, 3), T(4)),
        S(T(3, 3, 4), T(3, 2, 3, 2), None, 2, 1, 1),
        S(T(2, 4, 3, 3), T(4, 2, 3, 3), T(4), (2, 1), 1, (1, 0), 2, (1, 2)),
        S(T(1, 2, 3, 3), T(2, 2, 2, 2), T(2), 4, 1, 3),
    ],
    (
        E(
            S(T(1, 2, 8, 8), T(3, 4, 3, 3)),
            RuntimeError,
            r"Given transposed=1, weight of size \[3, 4, 3, 3\], expected input\[1, 2, 8, 8\] to have 3 channels, but got 2 channels instead",
        ),
        E(S(T(1, 3, 8, 8), T(3, 4, 3, 3), None, 1, 0, 1), RuntimeError, "output padding must be smaller than either stride or dilation"),
        E(S(T(1, 3, 8, 8), T(3, 4, 3, 3), None, 2, 0, -1), RuntimeError, "negative output_padding is not supported"),
        E(
            S(T(1, 3, 1, 1), T(3, 4, 3, 3), None, 1, 4),
            RuntimeError,
            r"Given input size per channel: \(1 x 1\). Calculated output size per channel: \(-5 x -5\). Output size is too small",
        ),
        E(
            S(T(1, 4, 8, 8), T(4, 2, 3, 3), T(2), 1, 0, 0, 2),
            RuntimeError,
            r"Given transposed=1, weight of size \[4, 2, 3, 3\], expected bias to be",
        ),
    ),
)
_transposed(3, [S(T(1, 2, 2, 3, 2), T(2, 3, 2, 3, 2), T(3), 2, 1, 1), S(T(2, 2, 3, 2), T(2, 3, 2, 2, 2))])

op(
    "conv_tbc(Tensor self, Tensor weight, Tensor bias, int pad=0) -> Tensor",
    variants="function method",
    kernel=composite(),
    autocast=LOWER_PRECISION,
    doc="Convolution of [time, batch, channels] by weight [width, channels, out channels], with `pad` zeros at both ends.",
    samples=[S(T(5, 2, 3), T(3, 3, 4), T(4), 1), S(T(4, 1, 2), T(2, 2, 3), T(3))],
    errors=(
        E(S(T(5, 2), T(3, 2, 4), T(4)), RuntimeError, "Input must have 3 dims: time, batch, in_channel"),
        E(S(T(5, 2, 3), T(3, 4), T(4)), RuntimeError, "Weight tensor must have 3 dims: kernel_width, in_channels, out_channels."),
        E(S(T(5, 2, 3), T(3, 3, 4), T(4, 1)), RuntimeError, "Bias must be 1-D"),
        E(S(T(5, 2, 3), T(3, 2, 4), T(4)), RuntimeError, r"Input dim 2 \(input channels\) is not == dim 1 in the weight tensor"),
        E(S(T(5, 2, 3), T(3, 3, 4), T(5)), RuntimeError, r"Bias size must equal dim 2 in the weight tensor \(output channels\)."),
    ),
)

# ---- sliding blocks ----

op(
    "im2col(Tensor self, int[] kernel_size, int[] dilation, int[] padding, int[] stride) -> Tensor",
    variants="function internal",
    kernel=native(complex=True),
    node="Im2ColBackward0",
    grad={"self": "ops::col2im(grad, self_sizes.last(2), kernel_size, dilation, padding, stride)"},
    jvp="linear",
    home="",
    batching=by("folding"),
    doc="Each block that a kernel would meet as a column: [N, C * kernel, blocks].",
    samples=[
        S(T(2, 3, 4, 5), (2, 3), (1, 1), (0, 0), (1, 1)),
        S(T(3, 6, 5), (2, 2), (2, 1), (1, 2), (2, 1)),
        S(T(0, 3, 4, 4), (3, 3), (1, 1), (0, 0), (1, 1)),
    ],
    errors=(
        E(
            S(T(1, 3, 4, 4), (5, 5), (1, 1), (0, 0), (1, 1)),
            RuntimeError,
            r"Given input with spatial size \(4, 4\), kernel_size=\(5, 5\), dilation=",
        ),
        E(
            S(T(1, 3, 4, 4), (3, 3), (1, 1), (0, 0), (0, 0)),
            RuntimeError,
            "stride should be greater than zero, but got stride_height: 0 stride_width: 0",
        ),
        E(S(T(1, 3, 4, 4), (3, 3, 3), (1, 1), (0, 0), (1, 1)), RuntimeError, "It is expected kernel_size equals to 2, but got size 3"),
        E(
            S(T(1, 0, 4, 4), (3, 3), (1, 1), (0, 0), (1, 1)),
            RuntimeError,
            r"Expected 3D or 4D \(batch mode\) tensor with possibly 0 batch size",
        ),
    ),
)
op(
    "col2im(Tensor self, int[] output_size, int[] kernel_size, int[] dilation, int[] padding, int[] stride) -> Tensor",
    variants="function internal",
    kernel=native(complex=True),
    node="Col2ImBackward0",
    grad={"self": "ops::im2col(grad, kernel_size, dilation, padding, stride)"},
    jvp="linear",
    home="",
    batching=by("folding"),
    doc="The sums of columns where im2col takes them from: [N, C, height, width].",
    samples=[
        S(T(2, 18, 9), (4, 5), (2, 3), (1, 1), (0, 0), (1, 1)),
        S(T(12, 24), (6, 5), (2, 2), (2, 1), (1, 2), (2, 1)),
        S(T(0, 27, 4), (4, 4), (3, 3), (1, 1), (0, 0), (1, 1)),
    ],
    errors=(
        E(
            S(T(1, 28, 4), (4, 4), (3, 3), (1, 1), (0, 0), (1, 1)),
            RuntimeError,
            r"Expected size of input's dimension 1 to be divisible by the product of kernel_size, but got input.size\(1\)=28 and kernel_size=\(3, 3\).",
        ),
        E(
            S(T(1, 27, 5), (4, 4), (3, 3), (1, 1), (0, 0), (1, 1)),
            RuntimeError,
            r"Given output_size=\(4, 4\), kernel_size=\(3, 3\), dilation=\(1, 1\)",
        ),
        E(
            S(T(27), (4, 4), (3, 3), (1, 1), (0, 0), (1, 1)),
            RuntimeError,
            r"Expected 2D or 3D \(batch mode\) tensor for input with possibly 0",
        ),
    ),
)
