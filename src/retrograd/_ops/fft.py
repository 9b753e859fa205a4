"""Frequencies of transforms, and the transforms of short pieces of a signal. The functions of torch.fft themselves are C++, csrc/ops/fft."""

from __future__ import annotations

import warnings
from typing import Any

import retrograd as torch
from retrograd import _C, Tensor
from retrograd._batched import any_true
from retrograd._ops.out import dtype_title

# ---- frequencies ----


def _frequencies(name: str, count: int, n: int, d: float, out: Any, options: dict[str, Any]) -> Tensor:
    """0, 1, ..., count - 1 in a tensor of their own; those of an out= in it."""
    if not isinstance(n, int):
        raise TypeError(f"fft_{name}(): argument 'n' (position 1) must be int, not {type(n).__name__}")
    if not isinstance(d, (int, float)):
        raise TypeError(f"fft_{name}(): argument 'd' (position 2) must be float, not {type(d).__name__}")
    dtype = (out.dtype if out is not None else None) if options["dtype"] is None else options["dtype"]
    dtype = torch.get_default_dtype() if dtype is None else dtype
    if not (dtype.is_floating_point or dtype.is_complex):
        raise RuntimeError(f"{name} requires a floating point or complex dtype")
    if dtype.is_complex:
        raise NotImplementedError(f"\"arange_cpu\" not implemented for '{dtype_title(dtype)}'")
    if count < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {count}: [{count}]")
    if out is not None:
        return torch.arange(count, out=out)
    return torch.arange(count, **{**options, "dtype": dtype})


def _per_point(n: int, d: float) -> float:
    return 1.0 / (n * d) if n * d else float("inf")


def fftfreq(
    n: int,
    d: float = 1.0,
    *,
    out: Tensor | None = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """The frequencies of the elements of fft(), for n samples that are d apart: from zero up, then the negative ones.

    >>> torch.fft.fftfreq(5)
    tensor([ 0.0000,  0.2000,  0.4000, -0.4000, -0.2000])
    """
    made = _frequencies("fftfreq", n, n, d, out, {"dtype": dtype, "layout": layout, "device": device, "pin_memory": pin_memory})
    with torch.no_grad():
        made[(n + 1) // 2 :] -= n
        made *= _per_point(n, d)
    return made.requires_grad_() if requires_grad else made


def rfftfreq(
    n: int,
    d: float = 1.0,
    *,
    out: Tensor | None = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """The frequencies of the elements of rfft(), for n samples that are d apart.

    >>> torch.fft.rfftfreq(5)
    tensor([0.0000, 0.2000, 0.4000])
    """
    count = int(n / 2) + 1 if isinstance(n, int) else 0
    made = _frequencies("rfftfreq", count, n, d, out, {"dtype": dtype, "layout": layout, "device": device, "pin_memory": pin_memory})
    with torch.no_grad():
        made *= _per_point(n, d)
    return made.requires_grad_() if requires_grad else made


# ---- short pieces of a signal ----


def _shown(value: bool | int | None) -> str:
    return str(None if value is None else int(value))


def _shown_type(t: Tensor) -> str:
    return f"CPU{dtype_title(t.dtype)}Type" if t.is_complex() else f"torch.{dtype_title(t.dtype)}Tensor"


def _shown_window(window: Tensor | None) -> str:
    return "None" if window is None else f"{_shown_type(window)}{{{list(window.shape)}}}"


def _ones(n: int, like: Tensor) -> Tensor:
    return torch.ones(n, dtype=like.dtype, device=like.device)


def _padded_window(window: Tensor | None, win_length: int, n_fft: int, like: Tensor) -> Tensor | None:
    """n_fft weights: those of a shorter window in the middle. None where there is none, and all are 1."""
    if window is None and win_length == n_fft:
        return None
    if window is None:
        window = _ones(win_length, like)
    left = (n_fft - win_length) // 2
    return torch.constant_pad_nd(window, (left, n_fft - win_length - left)) if win_length < n_fft else window


def _centered(input: Tensor, n_fft: int, pad_mode: str) -> Tensor:
    dims, by = input.dim(), n_fft // 2
    padded = _C._ops.pad(input.view((1,) * (3 - dims) + input.shape), (by, by), pad_mode)
    return padded.view(padded.shape[-dims:] if dims else ())


def stft(
    input: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    center: bool = True,
    pad_mode: str = "reflect",
    normalized: bool = False,
    onesided: bool | None = None,
    return_complex: bool | None = None,
    align_to_window: bool | None = None,
) -> Tensor:
    """The transforms of overlapping pieces of a signal [batch, time], each times a window: [batch, frequencies, pieces]."""
    if center and align_to_window is not None:
        raise RuntimeError("stft align_to_window should only be set when center = false")
    if center:
        input = _centered(input, n_fft, pad_mode)
    hop_length = n_fft // 4 if hop_length is None else hop_length
    win_length = n_fft if win_length is None else win_length
    if window is None:
        warnings.warn(
            "A window was not provided. A rectangular window will be applied,which is known to cause spectral leakage. Other windows such as "
            "torch.hann_window or torch.hamming_window are recommended to reduce spectral leakage.To suppress this warning and use a rectangular "
            "window, explicitly set `window=torch.ones(n_fft, device=<device>)`."
        )
    complex_numbers = input.is_complex() or (window is not None and window.is_complex())
    if return_complex is None and not complex_numbers:
        raise RuntimeError(
            "stft requires the return_complex parameter be given for real inputs, and will further require that return_complex=True in a future "
            "PyTorch release."
        )
    return_complex = True if return_complex is None else return_complex
    if not return_complex:
        warnings.warn(
            "stft with return_complex=False is deprecated. In a future pytorch release, stft will return complex tensors for all inputs, and "
            "return_complex=False will raise an error.\nNote: you can still call torch.view_as_real on the complex output to recover the old "
            "return format."
        )

    def wrong(words: str) -> RuntimeError:  # made only where it is said: these texts take longer than the transform of a short signal
        return RuntimeError(
            f"stft({_shown_type(input)}{list(input.shape)}, n_fft={n_fft}, hop_length={hop_length}, win_length={win_length}, "
            f"window={_shown_window(window)}, normalized={int(normalized)}, onesided={_shown(onesided)}, "
            f"return_complex={_shown(return_complex)}, align_to_window={_shown(align_to_window)}) : expected {words}"
        )

    if not (input.is_floating_point() or input.is_complex()):
        raise wrong("a tensor of floating point or complex values")
    if input.dim() not in (1, 2):
        raise wrong("a 1D or 2D tensor")
    length = input.shape[-1]
    if align_to_window:
        length += n_fft - win_length
    if not 0 < n_fft <= length:
        raise wrong(f"0 < n_fft < {length}, but got n_fft={n_fft}")
    if hop_length <= 0:
        raise wrong(f"hop_length > 0, but got hop_length={hop_length}")
    if not 0 < win_length <= n_fft:
        raise wrong(f"0 < win_length <= n_fft, but got win_length={win_length}")
    if window is not None and (window.dim() != 1 or window.shape[0] != win_length):
        raise wrong(f"a 1D window tensor of size equal to win_length={win_length}, but got window with size {list(window.shape)}")
    if onesided and complex_numbers:
        raise RuntimeError("Cannot have onesided output if window or input is complex")
    if align_to_window and win_length < n_fft:
        left = (n_fft - win_length) // 2
        input = torch.constant_pad_nd(input, (left, n_fft - win_length - left))
    weights = _padded_window(window, win_length, n_fft, input)
    pieces = input.unfold(-1, n_fft, hop_length)
    if weights is not None:
        pieces = pieces * weights
    if complex_numbers:
        result = torch._fft_c2c(pieces, (-1,), int(normalized), True)
    else:
        result = torch._fft_r2c(pieces, (-1,), int(normalized), onesided is None or onesided)
    result = result.transpose(-1, -2)
    return result if return_complex else torch.view_as_real(result)


def istft(
    input: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    center: bool = True,
    normalized: bool = False,
    onesided: bool | None = None,
    length: int | None = None,
    return_complex: bool = False,
) -> Tensor:
    """The signal whose stft this is; where none has it, the one that comes closest."""
    hop_length = n_fft // 4 if hop_length is None else hop_length
    win_length = n_fft if win_length is None else win_length
    if window is None:
        warnings.warn(
            "A window was not provided. A rectangular window will be applied.Please provide the same window used by stft to make the inversion "
            "lossless.To suppress this warning and use a rectangular window, explicitly set `window=torch.ones(n_fft, device=<device>)`."
        )

    def wrong(words: str) -> RuntimeError:
        return RuntimeError(
            f"istft({_shown_type(input)}{list(input.shape)}, n_fft={n_fft}, hop_length={hop_length}, win_length={win_length}, "
            f"window={_shown_window(window)}, center={int(center)}, normalized={int(normalized)}, onesided={_shown(onesided)}, "
            f"length={_shown(length)}, return_complex={int(return_complex)}){words}"
        )

    if not input.is_complex():
        raise RuntimeError("istft requires a complex-valued input tensor matching the output from stft with return_complex=True.")
    dims = input.dim()
    if dims < 2:
        raise IndexError(f"Dimension out of range (expected to be in range of [-{dims + 1}, {dims}], but got -3)")
    if not input.numel():
        raise wrong(" : input tensor cannot be empty.")
    if dims > 3:
        raise wrong(f" : expected a tensor with 3 or 4 dimensions, but got {dims + 1}")
    bins, frames = input.shape[-2:]
    halved = bins != n_fft if onesided is None else onesided
    if bins != (n_fft // 2 + 1 if halved else n_fft):
        head = " : expected the frequency dimension (3rd to the last) of the input tensor to match n_fft"
        raise wrong(f"{head} / 2 + 1 when onesided=True, but got {bins}" if halved else f"{head} when onesided=False, but got {bins}")
    if not 0 < hop_length <= win_length:
        raise wrong(" : expected 0 < hop_length <= win_length")
    if not 0 < win_length <= n_fft:
        raise wrong(" : expected 0 < win_length <= n_fft")
    if window is not None and (window.dim() != 1 or window.shape[0] != win_length):
        raise wrong(" : Invalid window shape. window has to be 1D and length of `win_length`")
    if halved and return_complex:
        raise RuntimeError("Cannot have onesided output if window or input is complex")
    if window is not None and window.is_complex() and not return_complex:
        raise RuntimeError("Complex windows are incompatible with return_complex=False")

    mode = 1 if normalized else 2
    pieces = input.transpose(-1, -2)
    if return_complex:
        pieces = torch._fft_c2c(pieces, (-1,), mode, False)
    else:
        pieces = torch._fft_c2r(pieces if halved else pieces[..., : n_fft // 2 + 1], (-1,), mode, n_fft)
    weights = _padded_window(window, win_length, n_fft, pieces)
    if weights is None:
        weights = _ones(n_fft, pieces)
    whole = n_fft + hop_length * (frames - 1)

    def overlapped(parts: Tensor) -> Tensor:
        return _C._ops.unfold_backward(parts, (*parts.shape[:-2], whole), -1, n_fft, hop_length)

    summed = overlapped(pieces * weights)
    envelope = overlapped((weights * weights).expand(frames, n_fft))
    start = n_fft // 2 if center else 0
    end = start + length if length is not None else whole - n_fft // 2 if center else whole
    envelope = envelope[start:end]
    if not envelope.numel():
        raise RuntimeError(
            f"min(): Expected reduction dim to be specified for input.numel() == 0. A signal of {length} samples was asked for"
        )
    if any_true(envelope.abs() < 1e-11):
        raise wrong(" window overlap add min: 1. The windows of the pieces leave samples out, which nothing is known of")
    signal = summed[..., start:end] / envelope
    if end > whole:
        warnings.warn(
            "The length of signal is shorter than the length parameter. Result is being padded with zeros in the tail. Please check your center "
            "and hop_length settings."
        )
        signal = torch.constant_pad_nd(signal, (0, end - whole))
    return signal
