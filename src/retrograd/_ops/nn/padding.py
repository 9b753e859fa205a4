"""nn.functional.pad."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import retrograd as torch
from retrograd import _C, Tensor


def pad(input: Tensor, pad: Sequence[int], mode: str = "constant", value: float | None = None) -> Tensor:
    """Pads the last len(pad) / 2 dimensions, given as (before, after) pairs from the last one; negative amounts cut."""
    pad = [int(n) for n in pad]
    if len(pad) % 2:
        raise RuntimeError("Padding length must be divisible by 2")
    if len(pad) // 2 > input.dim():
        raise RuntimeError(
            f"Padding length should be less than or equal to two times the input dimension but got padding length {len(pad)} and "
            f"input of dimension {input.dim()}"
        )
    if mode == "constant":
        return _C._ops.constant_pad_nd(input, pad, 0 if value is None else value)
    if value is not None and value != 0:
        raise RuntimeError(f'Padding mode "{mode}" doesn\'t take in value argument')
    index_of = _MODES.get(mode)
    if index_of is None:
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    dims = len(pad) // 2
    if not 1 <= dims <= 3 or input.dim() not in (dims + 1, dims + 2):
        raise NotImplementedError(
            f"Padding size {len(pad)} is not supported for {input.dim()}D input tensor.\nWith mode={mode!r} the padded dimensions, one to three, "
            "follow one for channels, or one for examples and one for channels."
        )
    if mode != "circular" and 0 in input.shape[-dims - 1 :]:
        raise RuntimeError(
            f"Expected {dims + 1}D or {dims + 2}D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for input, "
            f"but got: {list(input.shape)}"
        )
    if not any(pad):
        return input.clone()  # memory of its own, as ever
    last = {2: torch.channels_last, 3: torch.channels_last_3d}.get(dims) if mode != "circular" and input.dim() == dims + 2 else None
    keeps = last is not None and input.is_contiguous(memory_format=last) and not input.is_contiguous()
    for i in range(dims):
        input = _pad_dim(input, input.dim() - 1 - i, pad[2 * i], pad[2 * i + 1], mode, index_of)
    return input.contiguous(memory_format=last) if keeps else input


def _pad_dim(input: Tensor, dim: int, before: int, after: int, mode: str, index_of: Callable[[Tensor, int], Tensor]) -> Tensor:
    if not before and not after:
        return input
    if mode == "circular" and input.size(dim) + min(before, 0) + min(after, 0) < 0:
        raise RuntimeError(
            f"Negative padding value is resulting in an empty dimension: padding ({before}, {after}) of size {input.size(dim)}"
        )
    if mode == "circular" and min(before, after) < 0:  # what is cut is gone before the rest wraps around
        input = input.narrow(dim, max(-before, 0), input.size(dim) + min(before, 0) + min(after, 0))
        before, after = max(before, 0), max(after, 0)
    size = input.size(dim)
    if mode == "reflect" and max(before, after) >= size:
        raise RuntimeError(
            f"Argument #4: Padding size should be less than the corresponding input dimension, but got: padding ({before}, {after}) "
            f"at dimension {dim} of input {list(input.shape)}"
        )
    if mode == "circular" and max(before, after) > size:
        raise RuntimeError("Padding value causes wrapping around more than once.")
    if size + before + after < 0:
        letter = "WHD"[input.dim() - 1 - dim]
        raise RuntimeError(f"input ({letter}: {size}) is too small. Calculated output {letter}: {size + before + after}")
    return input.index_select(dim, index_of(torch.arange(-before, size + after, device=input.device), size))


_MODES = {
    "reflect": lambda at, size: (size - 1) - ((size - 1) - at.abs()).abs(),
    "replicate": lambda at, size: at.clamp(0, size - 1),
    "circular": lambda at, size: at.remainder(size),
}
