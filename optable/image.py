"""Images, signals and volumes: in another size, sampled at points, and with their pixels in another order."""

from __future__ import annotations

from optable import alias, composite, native, op, python
from optable.facts import FLOAT32, LOOP, PART, by, leading
from optable.samples import E, S, T

# ---- another size ----

# What an element is made of, as csrc/kernels/image.h numbers it.
_NEAREST, _NEAREST_EXACT, _LINEAR, _CUBIC, _SMOOTH_LINEAR, _SMOOTH_CUBIC, _SMOOTH_LANCZOS = range(7)

op(
    "_interpolate(Tensor self, int[] output_size, int mode, bool align_corners, float scale_d, float scale_h, float scale_w) -> Tensor",
    variants="function internal",
    kernel=native(),
    grad={"self": "ops::_interpolate_backward(grad, self_sizes, mode, align_corners, scale_d, scale_h, scale_w)"},
    jvp="linear",
    home="",
    batching=by("resize"),
    doc="[N, C, ...] in another size, by any mode; how many times larger it is, or 0 where the sizes say so.",
    samples=[
        S(T(1, 2, 5), (3,), _LINEAR, True, 0.0, 0.0, 0.0),
        S(T(1, 2, 3, 4), (7, 3), _CUBIC, False, 0.0, 2.4, 0.9),
        S(T(2, 1, 2, 3, 2), (3, 2, 4), _NEAREST, False, 0.0, 0.0, 0.0),
    ],
    errors=(
        E(S(T(2, 5), (3,), _LINEAR, True, 0.0, 0.0, 0.0), RuntimeError, r"_interpolate: expected images \[N, C, ...\]"),
        E(S(T(1, 2, 5), (3,), 7, True, 0.0, 0.0, 0.0), RuntimeError, "there is no way of interpolating with number 7"),
    ),
    test={"compat": False, "ours": True},  # PyTorch has an op for each mode
)
# The transposed map: linear too, so each is the derivative of the other.
op(
    "_interpolate_backward(Tensor grad_output, int[] input_size, int mode, bool align_corners, float scale_d, float scale_h, float scale_w) "
    "-> Tensor",
    variants="function internal",
    kernel=native(),
    grad={"grad_output": "ops::_interpolate(grad, grad_output_sizes.subspan(2), mode, align_corners, scale_d, scale_h, scale_w)"},
    jvp="linear",
    home="",
    batching=by("resize_backward"),
    doc="The gradient of _interpolate, from that of its result.",
    samples=[
        S(T(1, 2, 3), (1, 2, 5), _LINEAR, True, 0.0, 0.0, 0.0),
        S(T(1, 2, 7, 3), (1, 2, 3, 4), _CUBIC, False, 0.0, 2.4, 0.9),
        S(T(1, 2, 3, 3), (1, 2, 7, 8), _SMOOTH_CUBIC, False, 0.0, 0.0, 0.0),
        S(T(2, 1, 3, 2, 4), (2, 1, 2, 3, 2), _NEAREST_EXACT, False, 0.0, 0.0, 0.0),
    ],
    errors=(
        E(
            S(T(1, 2, 3), (1, 3, 5), _LINEAR, True, 0.0, 0.0, 0.0),
            RuntimeError,
            r"_interpolate_backward: expected a gradient of images of size \[1, 3, 5\], got \[1, 2, 3\]",
        ),
    ),
    test={"compat": False, "ours": True},
)

_AXES = {1: ("scales",), 2: ("scales_h", "scales_w"), 3: ("scales_d", "scales_h", "scales_w")}


def _upsample(name: str, node: str, dims: int, mode: int, doc: str) -> None:
    aligns = mode >= _LINEAR
    scales = _AXES[dims]
    given = ["0"] * (3 - dims) + [f"{s}.value_or(0)" for s in scales]
    align = (False,) if aligns else ()
    x, small, large = T(*(2, 2, 3, 4, 3)[: dims + 2]), (2, 3, 1)[:dims], (5, 7, 4)[:dims]
    samples = [S(x, small, *align), S(x, large, *align), S(T(*(0, 2, 3, 4, 3)[: dims + 2]), large, *align), S(x, (3, 4, 3)[:dims], *align)]
    samples.append(S(x, (7, 9, 7)[:dims], *align, *(2.4,) * dims))  # no size at all is PyTorch's to refuse, and tested by interpolate
    if aligns and mode != _SMOOTH_LANCZOS:
        samples += [S(x, small, True), S(x, large, True)]
    if mode >= _SMOOTH_LINEAR:
        samples.append(S(T(1, 1, 11, 9), (3, 4), False))
    sizes = ("D", "H", "W")[3 - dims :]
    op(
        f"{name}(Tensor self, int[] output_size, {'bool align_corners, ' if aligns else ''}"
        f"{', '.join(f'float? {s}=None' for s in scales)}) -> Tensor",
        variants="function internal",
        kernel=native(whole=True),
        grad={
            "self": f"ops::_interpolate_backward(grad, self_sizes, {mode}, {'align_corners' if aligns else 'false'}, {', '.join(given)})"
        },
        jvp="linear",
        node=node,
        home="",
        batching=by("resize"),
        doc=doc,
        samples=samples,
        errors=(
            E(S(x, (2,) * (dims + 1), *align), RuntimeError, f"It is expected output_size equals to {dims}, but got size {dims + 1}"),
            E(S(T(2, 2), (2,) * dims, *align), RuntimeError, f"It is expected input_size equals to {dims + 2}, but got size 2"),
            E(
                S(x, (0,) * dims, *align),
                RuntimeError,
                rf"Input and output sizes should be greater than 0, but got input \({sizes[0]}: \d.*\) (and )?output \({sizes[0]}: 0",
            ),
            E(
                S(T(1, 0, *(3,) * dims), (2,) * dims, *align),
                RuntimeError,
                rf"Non-empty {dims + 2}D data tensor expected but got a tensor with sizes \[1, 0, 3",
            ),
        ),
    )


for _dims in (1, 2, 3):
    _upsample(
        f"upsample_nearest{_dims}d",
        f"UpsampleNearest{_dims}DBackward0",
        _dims,
        _NEAREST,
        "Each element from the one at or before its place.",
    )
    _upsample(
        f"_upsample_nearest_exact{_dims}d",
        f"UpsampleNearestExact{_dims}DBackward0",
        _dims,
        _NEAREST_EXACT,
        "Each element from the one nearest to its centre.",
    )
_upsample("upsample_linear1d", "UpsampleLinear1DBackward0", 1, _LINEAR, "Each element on the line between its two neighbours.")
_upsample("upsample_bilinear2d", "UpsampleBilinear2DBackward0", 2, _LINEAR, "Each pixel from the four around its place.")
_upsample("upsample_trilinear3d", "UpsampleTrilinear3DBackward0", 3, _LINEAR, "Each voxel from the eight around its place.")
_upsample(
    "upsample_bicubic2d", "UpsampleBicubic2DBackward0", 2, _CUBIC, "Each pixel from the sixteen around its place, by cubic polynomials."
)
_upsample(
    "_upsample_bilinear2d_aa",
    "UpsampleBilinear2DAaBackward0",
    2,
    _SMOOTH_LINEAR,
    "Each pixel from all that it covers, weighted by a triangle.",
)
_upsample(
    "_upsample_bicubic2d_aa", "UpsampleBicubic2DAaBackward0", 2, _SMOOTH_CUBIC, "Each pixel from all that it covers, weighted by a cubic."
)
_upsample(
    "_upsample_lanczos2d_aa",
    "UpsampleLanczos2DAaBackward0",
    2,
    _SMOOTH_LANCZOS,
    "Each pixel from all that it covers, weighted by a sinc in a window.",
)

# ---- sampling at points ----

_SAMPLER = "int interpolation_mode, int padding_mode, bool align_corners"
_NUMBERS = "interpolation_mode, padding_mode, align_corners"


def _sampler(dims: int, modes: tuple[int, ...]) -> None:
    image, grid = (2, 2, 2, 3, 4)[: 5 - (3 - dims)] if dims == 3 else (2, 2, 3, 4), (2, 2, 2, 3, 3) if dims == 3 else (2, 3, 2, 2)
    op(
        f"grid_sampler_{dims}d(Tensor input, Tensor grid, {_SAMPLER}) -> Tensor",
        variants="function internal",
        kernel=native(complex=True),  # which it refuses, in words of its own
        grad={"input, grid": f"grid_sampler_grad(grad, input, grid, {_NUMBERS}, needs_input, needs_grid)"},
        jvp=f"grid_sampler_tangent(input_t, grid_t, input, grid, {_NUMBERS})",
        node=f"GridSampler{dims}DBackward0",
        autocast=FLOAT32,
        batching=by("grid_sampler"),
        doc=f"{('Images', 'Volumes')[dims - 2]} at points of a grid, whose corners are -1 and 1. Modes: bilinear, nearest, bicubic; beyond the edge: zeros, "
        "border, reflection.",
        samples=[
            *(
                S(T(*image), T(*grid, low=-1.3, high=1.3), mode, padding, align)
                for mode in modes
                for padding in (0, 1, 2)
                for align in (False, True)
            ),
            S(T(0, *image[1:]), T(0, *grid[1:]), 0, 0, False),
            S(T(*image), T(grid[0], 0, *grid[2:]), 0, 0, False),
        ],
        errors=(
            E(
                S(T(*image), T(3, *grid[1:]), 0, 0, False),
                RuntimeError,
                r"grid_sampler\(\): expected grid and input to have same batch size",
            ),
            E(
                S(T(*image), T(*grid[:-1], 4), 0, 0, False),
                RuntimeError,
                rf"grid_sampler\(\): expected grid to have size {dims} in last dimension",
            ),
            E(
                S(T(*image[:-1], 0), T(*grid), 0, 0, False),
                RuntimeError,
                r"grid_sampler\(\): expected input to have non-empty spatial dimensions, but input has sizes",
            ),
            E(
                S(T(*image), T(2, 3, dims), 0, 0, False),
                RuntimeError,
                rf"grid_sampler\(\): expected {dims + 2}D input and grid with same number of dimensions, but got input with sizes",
            ),
            *(
                [E(S(T(*image), T(*grid), 2, 0, False), RuntimeError, r"grid_sampler\(\): bicubic interpolation only supports 4D input")]
                if dims == 3
                else []
            ),
        ),
    )


_sampler(2, (0, 1, 2))
_sampler(3, (0, 1))
op(
    f"_grid_sampler_backward(Tensor grad_output, Tensor input, Tensor grid, {_SAMPLER}, bool needs_input, bool needs_grid) -> "
    "(Tensor grad_input, Tensor grad_grid)",
    variants="function internal",
    kernel=native(),
    no_grad=PART,
    home="",
    batching=LOOP,
    doc="The gradients of grid_sampler, without derivative; those that are not needed are None.",
    samples=[
        S(T(2, 2, 3, 2, grad=False), T(2, 2, 3, 4, grad=False), T(2, 3, 2, 2, grad=False), 0, 0, False, True, True),
        S(T(1, 2, 1, 3, 2, grad=False), T(1, 2, 2, 3, 4, grad=False), T(1, 1, 3, 2, 3, grad=False), 0, 2, True, True, True),
        S(T(1, 2, 3, 2, grad=False), T(1, 2, 3, 4, grad=False), T(1, 3, 2, 2, grad=False), 2, 1, False, True, True),
    ],
    errors=(
        E(
            S(T(2, 2, 3, 3), T(2, 2, 3, 4), T(2, 3, 2, 2), 0, 0, False, True, True),
            RuntimeError,
            "_grid_sampler_backward: a gradient of size",
        ),
    ),
    test={"compat": False, "ours": True},  # PyTorch has one for images and one for volumes, and takes what is needed as a list
)
op(
    f"grid_sampler(Tensor input, Tensor grid, {_SAMPLER}) -> Tensor",
    variants="function internal",
    kernel=composite(),
    autocast=FLOAT32,
    doc="Images or volumes at points of a grid; nn.functional.grid_sample with numbers for the modes.",
    samples=[
        S(T(2, 2, 3, 4), T(2, 3, 2, 2, low=-1.3, high=1.3), 0, 0, False),
        S(T(1, 2, 2, 3, 4), T(1, 2, 2, 3, 3, low=-1.3, high=1.3), 0, 1, True),
    ],
    errors=(
        E(S(T(2, 2, 3, 4), T(1, 3, 2, 2), 0, 0, False), RuntimeError, r"grid_sampler\(\): expected grid and input to have same batch size"),
    ),
)

# ---- something around ----

# As csrc/kernels/image.h numbers them.
_REFLECTION, _REPLICATION, _CIRCULAR = range(3)

op(
    "_pad_around(Tensor self, int[] padding, int mode) -> Tensor",
    variants="function internal",
    kernel=native(complex=True, guests="moves"),
    grad={"self": "ops::_pad_around_backward(grad, self_sizes, padding, mode)"},
    jvp="linear",
    home="",
    batching=by("pad_around"),
    doc="Surrounds the last one to three dimensions with elements from within; negative amounts cut.",
    samples=[S(T(2, 2, 4), (3, 2), _CIRCULAR), S(T(2, 3, 4), (-1, 2, 1, -1), _CIRCULAR), S(T(2, 2, 3, 4), (-1, 3, 2, 0), _REFLECTION)],
    errors=(
        E(S(T(2, 2, 4), (3, 2), 3), RuntimeError, "there is no padding with number 3"),
        E(S(T(2, 2, 4), (5, 2), _CIRCULAR), RuntimeError, "Padding value causes wrapping around more than once."),
        E(S(T(2, 2, 4), (-3, -3), _CIRCULAR), RuntimeError, "Negative padding value is resulting in an empty dimension"),
    ),
    test={"compat": False, "ours": True},  # PyTorch has an op for each mode
)
# The transposed map: linear too, so each is the derivative of the other.
op(
    "_pad_around_backward(Tensor grad_output, int[] input_size, int[] padding, int mode) -> Tensor",
    variants="function internal",
    kernel=native(complex=True),
    grad={"grad_output": "ops::_pad_around(grad, padding, mode)"},
    jvp="linear",
    home="",
    batching=by("pad_around_backward"),
    doc="The gradient of _pad_around, from that of its result.",
    samples=[
        S(T(2, 2, 9), (2, 2, 4), (3, 2), _CIRCULAR),
        S(T(2, 3, 5), (2, 3, 4), (-1, 2, 1, -1), _CIRCULAR),
        S(T(2, 2, 5, 6), (2, 2, 3, 4), (-1, 3, 2, 0), _REFLECTION),
        S(T(1, 2, 5, 6, 4), (1, 2, 3, 4, 2), (2, 0, 1, 1, 1, 1), _REPLICATION),
    ],
    errors=(
        E(
            S(T(2, 2, 8), (2, 2, 4), (3, 2), _CIRCULAR),
            RuntimeError,
            r"_pad_around_backward: a gradient of size \[2, 2, 8\] does not fit an input of size \[2, 2, 4\] with a padding of \[3, 2\]",
        ),
    ),
    test={"compat": False, "ours": True},
)


def _pad(name: str, node: str, dims: int, mode: int, doc: str) -> None:
    image = (2, 2, 4, 3, 5)[: dims + 2]
    op(
        f"{name}{dims}d(Tensor self, int[] padding) -> Tensor",
        variants="function internal",
        kernel=native(whole=True, complex=True),
        grad={"self": f"ops::_pad_around_backward(grad, self_sizes, padding, {mode})"},
        jvp="linear",
        node=f"{node}{dims}DBackward0",
        autocast="" if (mode, dims) == (_REFLECTION, 3) else FLOAT32,  # as PyTorch's list has it
        home="",
        batching=by("pad_around"),
        doc=doc,
        samples=[
            S(T(*image), (1, 2, 2, 1, 1, 0)[: 2 * dims]),
            S(T(*image[1:]), (2, 0, 1, 1, 0, 1)[: 2 * dims]),
            S(T(*image), (-1, 2, 1, -1, 0, 1)[: 2 * dims]),
            S(T(*image), (0,) * (2 * dims)),
            S(T(0, *image[1:]), (1,) * (2 * dims)),
        ],
        errors=(
            E(S(T(*image), (1, 1, 1)), RuntimeError, f"padding size is expected to be {2 * dims}"),
            *(
                E(x, RuntimeError, rf"Expected {dims + 1}D or {dims + 2}D \(batch mode\) tensor")
                for x in (S(T(*image[:-2]), (1, 1) * dims), S(T(1, 0, *(3,) * dims), (1, 1) * dims))
            ),
            *(
                [
                    E(
                        S(T(*image), (9, 1) * dims),
                        RuntimeError,
                        "Argument #4: Padding size should be less than the corresponding input dimension",
                    )
                ]
                if mode == _REFLECTION
                else []
            ),
            E(S(T(*image), (-3, -4) * dims), RuntimeError, r"input \(.*W: \d ?\) is too small. Calculated output .*W: -\d"),
        ),
    )


for _dims in (1, 2, 3):
    _pad("reflection_pad", "ReflectionPad", _dims, _REFLECTION, "Surrounds with the mirror image about the outermost elements.")
    _pad("replication_pad", "ReplicationPad", _dims, _REPLICATION, "Surrounds with copies of the outermost elements.")
op(
    "_pad_circular(Tensor self, int[+] pad) -> Tensor",
    variants="function internal",
    kernel=composite(),
    home="",
    doc="Surrounds with the other end.",
    samples=[S(T(2, 2, 4), (3, 2)), S(T(2, 3, 4), (-1, 2, 1, -1)), S(T(1, 2, 2, 3, 4), (1, 2, 3, 0, 1, 1)), S(T(0, 2, 4), (1, 1))],
    errors=(E(S(T(2, 2, 4), (5, 2)), RuntimeError, "Padding value causes wrapping around more than once."),),
)
op(
    'pad(Tensor input, int[+] pad, str mode="constant", Scalar? value=None) -> Tensor',
    variants="function internal",
    kernel=composite(),
    home="nn.functional",
    doc="Pads the last len(pad) / 2 dimensions, given as (before, after) pairs from the last one; negative amounts cut. Modes: constant, reflect, "
    "replicate, circular.",
    samples=[
        S(T(3, 4), (1, 2)),
        S(T(3, 4), (1, 2, 0, 3), "constant", 1.5),
        S(T(2, 3, 4), (1, 2), "reflect"),
        S(T(2, 3, 4), (1, 2, 0, 1), "replicate"),
        S(T(1, 2, 3, 4), (1, 2, 0, 1), "circular"),
    ],
    errors=(
        E(S(T(3), (1, 2, 3)), RuntimeError, "Padding length must be divisible by 2"),
        E(S(T(3), (1, 1, 1, 1)), RuntimeError, "Padding length should be less than or equal to two times the input dimension but got"),
        E(S(T(2, 3, 4), (1, 1), "some"), NotImplementedError, "Unrecognised padding mode some"),
        E(S(T(2, 3, 4), (1, 1), "reflect", 2.0), RuntimeError, """Padding mode "reflect" doesn't take in value argument"""),
        E(S(T(1, 2, 3, 4), (1, 1), "replicate"), NotImplementedError, "Padding size 2 is not supported for 4D input tensor."),
    ),
)

# ---- another order ----

op(
    "pixel_shuffle(Tensor input, int upscale_factor) -> Tensor",
    variants="function",
    kernel=native(complex=True, guests="moves"),
    grad={"input": "ops::pixel_unshuffle(grad, upscale_factor)"},
    jvp="linear",
    batching=leading(3),
    doc="Channels turned into pixels: [*, C r^2, H, W] as [*, C, H r, W r].",
    samples=[S(T(1, 8, 2, 3), 2), S(T(9, 1, 2), 3), S(T(2, 2, 4, 1, 1), 2), S(T(2, 3, 4), 1)],
    errors=(
        E(
            S(T(1, 3, 2, 2), 2),
            RuntimeError,
            "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of upscale_factor",
        ),
        E(S(T(2, 2), 2), RuntimeError, "pixel_shuffle expects input to have at least 3 dimensions, but got input with 2 dimension"),
        E(S(T(1, 4, 2, 2), 0), RuntimeError, "pixel_shuffle expects a positive upscale_factor, but got 0"),
    ),
)
op(
    "pixel_unshuffle(Tensor input, int downscale_factor) -> Tensor",
    variants="function",
    kernel=native(complex=True, guests="moves"),
    grad={"input": "ops::pixel_shuffle(grad, downscale_factor)"},
    jvp="linear",
    batching=leading(3),
    doc="Pixels turned into channels: [*, C, H r, W r] as [*, C r^2, H, W].",
    samples=[S(T(1, 2, 4, 6), 2), S(T(1, 3, 6), 3), S(T(2, 2, 1, 2, 2), 2), S(T(2, 3, 4), 1)],
    errors=(
        E(S(T(1, 3, 3, 2), 2), RuntimeError, "pixel_unshuffle expects height to be divisible by downscale_factor"),
        E(S(T(1, 3, 2, 3), 2), RuntimeError, "pixel_unshuffle expects width to be divisible by downscale_factor"),
        E(S(T(1, 4, 2, 2), -1), RuntimeError, "pixel_unshuffle expects a positive downscale_factor, but got -1"),
    ),
)
op(
    "channel_shuffle(Tensor input, int groups) -> Tensor",
    variants="function",
    kernel=composite(),
    doc="Channels in turn from each of some groups of neighbours.",
    samples=[S(T(1, 4, 2, 2), 2), S(T(2, 6, 3), 3), S(T(2, 4, 1, 2, 2), 4), S(T(0, 4, 2), 2), S(T(2, 3, 4), 1)],
    errors=(
        E(S(T(1, 3, 2), 2), RuntimeError, "Number of channels must be divisible by groups. Got 3 channels and 2 groups"),
        E(S(T(2, 2), 2), RuntimeError, "channel_shuffle expects input with > 2 dims, but got input with sizes"),
        E(S(T(1, 4, 2), 0), RuntimeError, "Number of groups to divide channels in must be positive."),
    ),
)
op(
    "affine_grid_generator(Tensor theta, int[+] size, bool align_corners) -> Tensor",
    variants="function",
    kernel=python("retrograd._ops.nn.images:affine_grid_generator"),
    doc="Where an affine map takes the pixels of images, in coordinates from -1 to 1.",
    samples=[
        S(T(2, 2, 3), (2, 1, 3, 4), True),
        S(T(1, 2, 3), (1, 1, 2, 1), False),
        S(T(2, 3, 4), (2, 1, 2, 3, 2), False),
        S(T(1, 2, 3), (1, 3, 1, 1), True),
    ],
    errors=(E(S(T(2, 2, 3), (2, 1, 3), True), RuntimeError, "AffineGridGenerator needs 4d"),),
)
alias("native_channel_shuffle", of="channel_shuffle")
