"""Discrete Fourier transforms. torch.fft names the functions; three ops compute them all, along any dimensions, of any length."""

from __future__ import annotations

from . import composite, native, op, python
from .facts import FLOAT32, IN_PYTHON, Out, by
from .samples import E, I, S, T

DIM_ERROR = "Dimension out of range"

# ---- the three that have kernels. `normalization`: 0 nothing, 1 over the root of the number of points, 2 over that number ----

op(
    "_fft_c2c(Tensor self, int[+] dim, int normalization, bool forward) -> Tensor",
    variants="function internal",
    kernel=native(complex=True),
    node="FftC2CBackward0",
    wirtinger=True,
    grad={"self": "ops::_fft_c2c(grad, dim, normalization, !forward)"},
    jvp="linear",
    batching=by("along_listed", "dim"),
    doc="The transform of complex numbers along dimensions.",
    samples=[
        S(T(8), (0,), 0, True),
        S(T(3, 6), (1,), 1, False),
        S(T(5, 4), (0,), 2, True),
        S(T(2, 3, 4), (0, 2), 1, True),
        S(T(3, 4), (), 0, True),
        S(T(2, 17), (1,), 0, False),
        S(T(0, 4), (1,), 0, True),
    ],
    errors=(
        E(S(I(3), (0,), 0, True), RuntimeError, "Only supports complex dtypes, but found: Long"),
    ),
    test={"only_complex": True},
)
op(
    "_fft_r2c(Tensor self, int[+] dim, int normalization, bool onesided) -> Tensor",
    variants="function internal",
    kernel=native(),
    node="FftR2CBackward0",
    wirtinger=True,
    grad={"self": "fft_r2c_grad(grad, dim, normalization, onesided, self_sizes)"},
    jvp="linear",
    batching=by("along_listed", "dim"),
    doc="The transform of real numbers along dimensions; of the last one only the first half and one more if onesided: the rest is their conjugates.",
    samples=[
        S(T(8), (0,), 0, True),
        S(T(7), (0,), 0, True),
        S(T(3, 6), (1,), 1, False),
        S(T(5, 4), (0,), 2, True),
        S(T(2, 3, 4), (0, 2), 1, True),
        S(T(2, 3, 5), (1, 0), 0, False),
        S(T(0, 4), (1,), 0, True),
    ],
    errors=(
        E(S(I(3), (0,), 0, True), RuntimeError, "Only supports floating-point dtypes, but found: Long"),
    ),
)
op(
    "_fft_c2r(Tensor self, int[+] dim, int normalization, int last_dim_size) -> Tensor",
    variants="function internal",
    kernel=native(complex=True),
    node="FftC2RBackward0",
    wirtinger=True,
    grad={"self": "fft_c2r_grad(grad, dim, normalization)"},
    jvp="linear",
    batching=by("along_listed", "dim"),
    doc="The reverse of _fft_r2c, onesided: the real numbers, last_dim_size of them, whose transform these are the first half of.",
    samples=[
        S(T(5), (0,), 0, 8),
        S(T(4), (0,), 0, 7),
        S(T(3, 4), (1,), 1, 6),
        S(T(3, 4), (0,), 2, 5),
        S(T(2, 3, 3), (0, 2), 1, 4),
        S(T(0, 3), (1,), 0, 4),
    ],
    errors=(
        E(S(I(3), (0,), 0, 4), RuntimeError, "Only supports complex dtypes, but found: Long"),
    ),
    test={"only_complex": True},
)

# ---- torch.fft ----

_NORM = "str? norm=None"
_NO_POINTS = r"Invalid number of data points \(0\) specified"
_BAD_NORM = 'Invalid normalization mode: "sideways"'


def _transform(name: str, kind: str, doc: str, node: str) -> None:
    """One of the functions. kind: "" along one dimension, "2" along two, "n" along any. node: the op that writes out=."""
    real_out = name in ("irfft", "hfft")
    full = {"": name, "2": name + "2", "n": name + "n"}[kind]
    numbers = {
        "": f"int? n=None, int dim=-1, {_NORM}",
        "2": f"int[]? s=None, int[] dim=[-2, -1], {_NORM}",
        "n": f"int[]? s=None, int[]? dim=None, {_NORM}",
    }[kind]
    if kind == "":
        samples = [S(T(8)), S(T(3, 5)), S(T(2, 6), 4), S(T(2, 3), 8, 0), S(T(4, 3), None, 0, "ortho"), S(T(7), 7, -1, "forward"), S(I(4)), S(T(0, 4))]
        errors = [
            E(S(T(3), 0), RuntimeError, _NO_POINTS),
            E(S(T(3, 0)), RuntimeError, _NO_POINTS if not real_out else r"Invalid number of data points \(-2\) specified"),
            E(S(T(3), None, 2), IndexError, DIM_ERROR),
            E(S(T()), IndexError, "Dimension specified as -1 but tensor has no dimensions"),
            E(S(T(3), None, -1, "sideways"), RuntimeError, _BAD_NORM),
        ]
        if real_out:
            errors.append(E(S(T(1)), RuntimeError, _NO_POINTS))
    else:
        samples = [S(T(4, 6)), S(T(2, 3, 5)), S(T(2, 3, 4), (4, 3)), S(T(3, 4, 2), (2, 5), (0, 1), "ortho"), S(T(3, 4), None, (1, 0), "forward")]
        errors = [
            E(S(T(3, 4), (2, 0)), RuntimeError, _NO_POINTS),
            E(S(T(3, 4), (2, 3, 4), (0, 1)), RuntimeError, "When given, dim and shape arguments must have the same length"),
            E(S(T(3, 4), None, (0, 0)), RuntimeError, "FFT dims must be unique"),
            E(S(T(3, 4), None, (0, 2)), IndexError, DIM_ERROR),
            E(S(T(3, 4), None, (0, 1), "sideways"), RuntimeError, _BAD_NORM),
        ]
        if not real_out:  # whose float32 is compared too closely
            samples.append(S(I(3, 4)))
        if kind == "n":
            samples += [S(T(5), (3,)), S(T(2, 3, 2), (-1, 4), (2, 0))]
            errors.append(E(S(T(3), (2, 3)), RuntimeError, "Got shape with 2 values but input tensor only has 1 dimensions."))
        if kind == "n" and name not in ("fft", "ifft"):
            errors.append(E(S(T(3), None, ()), RuntimeError, f"{full} must transform at least one axis"))
        else:
            samples.append(S(T(3, 4), None, ()) if kind == "n" else S(T(2, 1, 4)))
    words = full if kind == "" else {"ifft": "fft"}.get(name, name) + "n"
    wanted = "floating point" if real_out else "complex"
    op(
        f"fft_{full}(Tensor self, {numbers}) -> Tensor",
        variants="function out",
        kernel=composite(),
        autocast="" if kind and name in ("hfft", "ihfft") else FLOAT32,
        home="fft",
        doc=doc + {"": ", along one dimension.", "2": ", along two dimensions.", "n": ", along several dimensions, or all."}[kind],
        samples=samples,
        errors=tuple(errors),
        out=Out(cast=f"{words} expects a {wanted} output tensor, but got {{out}}", same_kind=True, name=node),
    )


for _kind in ("", "2", "n"):
    _transform("fft", _kind, "The discrete Fourier transform", "_fft_c2c")
    _transform("ifft", _kind, "The inverse of the discrete Fourier transform", "_fft_c2c")
    _transform("rfft", _kind, "The transform of real numbers, of which the second half is left out: it is the conjugates of the first", "_fft_r2c")
    _transform("irfft", _kind, "The inverse of rfft: real numbers from the first half of their transform", "_fft_c2r")
    _transform("hfft", _kind, "The transform of numbers of which the second half is left out: it is the conjugates of the first, and the result is real", "_fft_c2r")
    _transform("ihfft", _kind, "The inverse of hfft: the first half of numbers whose transform is real", "_fft_c2c")

for _name, _doc in (
    ("fftshift", "Brings frequency zero to the middle: the halves along each dimension change places."),
    ("ifftshift", "The reverse of fftshift, which differs from it for odd sizes."),
):
    op(
        f"fft_{_name}(Tensor self, int[]? dim=None) -> Tensor",
        variants="function",
        kernel=composite(),
        home="fft",
        doc=_doc,
        samples=[S(T(4)), S(T(5)), S(T(3, 4)), S(T(3, 4), (0,)), S(T(2, 3, 5), (2, 0)), S(I(4))],
        errors=(E(S(T(3), (1,)), IndexError, DIM_ERROR), E(S(T()), RuntimeError, "`shifts` required")),
    )

# ---- short pieces of a signal ----

_FRAMES = "int n_fft, int? hop_length=None, int? win_length=None, Tensor? window=None, bool center=True"

op(
    f'stft(Tensor self, {_FRAMES}, str pad_mode="reflect", bool normalized=False, bool? onesided=None, bool? return_complex=None, '
    "bool? align_to_window=None) -> Tensor",
    variants="function method",
    kernel=python("retrograd._ops.fft:stft", unchecked=IN_PYTHON),
    autocast=FLOAT32,
    doc="The transforms of overlapping pieces of a signal [batch, time], each times a window: [batch, frequencies, pieces].",
    samples=[
        S(T(20), 8, return_complex=True),
        S(T(2, 20), 8, 3, 6, T(6, low=0.5), return_complex=True),
        S(T(2, 20), 8, 2, center=False, return_complex=True),
        S(T(20), 8, pad_mode="constant", normalized=True, onesided=False, return_complex=True),
        S(T(20), 7, return_complex=False),
    ],
    errors=(
        E(S(T(20), 8), RuntimeError, "stft requires the return_complex parameter be given for real inputs"),
        E(S(T(2, 2, 20), 8, return_complex=True), RuntimeError, r"stft\(torch.*\[2, 2, 28\], n_fft=8, hop_length=2, win_length=8, window=None, .* : expected a 1D or 2D tensor"),
        E(S(T(20), 30, center=False, return_complex=True), RuntimeError, r".*expected 0 < n_fft < 20, but got n_fft=30"),
        E(S(T(20), 8, 0, return_complex=True), RuntimeError, r".*expected hop_length > 0, but got hop_length=0"),
        E(S(T(20), 8, None, 9, return_complex=True), RuntimeError, r".*expected 0 < win_length <= n_fft, but got win_length=9"),
        E(S(T(20), 8, window=T(4), return_complex=True), RuntimeError, r".*expected a 1D window tensor of size equal to win_length=8, but got window with size \[4\]"),
        E(S(I(20), 8, return_complex=True, center=False), RuntimeError, r".*expected a tensor of floating point or complex values"),
        E(S(T(20), 8, return_complex=True, align_to_window=True), RuntimeError, "stft align_to_window should only be set when center = false"),
    ),
)
op(
    f"istft(Tensor self, {_FRAMES}, bool normalized=False, bool? onesided=None, int? length=None, bool return_complex=False) -> Tensor",
    variants="function method",
    kernel=python("retrograd._ops.fft:istft"),
    doc="The signal whose stft this is; where none has it, the one that comes closest.",
    samples=[
        S(T(5, 11), 8),
        S(T(2, 5, 7), 8, 3),
        S(T(5, 11), 8, normalized=True, length=16),
        S(T(2, 8, 6), 8, 4, 6, T(6, low=0.5), onesided=False, return_complex=True),
    ],
    errors=(E(S(I(5, 11), 8), RuntimeError, "istft requires a complex-valued input tensor matching the output from stft with return_complex=True."),),
    test={"only_complex": True},
)
