"""How a tensor shows itself in a notebook: what `repr` says, under a line about its sizes and the range of its values."""

from __future__ import annotations

from retrograd import _C, Tensor, no_grad, strided
from retrograd._memory import _readable
from retrograd._pages import escape

LOOKED_AT = 1 << 20  # elements up to which the range is worth the time


def about(tensor: Tensor) -> list[str]:
    """Facts that stand above the values."""
    sizes = " \u00d7 ".join(map(str, tensor.shape)) or "one number"
    facts = [sizes, str(tensor.dtype).removeprefix("torch."), str(tensor.device)]
    if tensor.layout != strided:
        return [*facts, str(tensor.layout).removeprefix("torch.")]
    facts.append(_readable(tensor.numel() * tensor.element_size()))
    if tensor.grad_fn is not None:
        facts.append(tensor.grad_fn.name())
    elif tensor.requires_grad:
        facts.append("leaf that requires grad" + ("" if tensor.grad is None else ", has a gradient"))
    return facts


def range_of(tensor: Tensor) -> list[str]:
    """Least, mean and greatest value, and how many are no numbers; of real tensors of a moderate size."""
    plain = tensor.layout == strided and tensor.device.type == "cpu" and tensor.is_floating_point() and not _C._batch_level(tensor)
    if not plain or not 1 < tensor.numel() <= LOOKED_AT:
        return []
    values = tensor.detach().double()
    finite = values[values.isfinite()]
    odd = values.numel() - finite.numel()
    words = [f"{finite.min().item():.4g} \u2026 {finite.max().item():.4g}", f"mean {finite.mean().item():.4g}"] if finite.numel() else []
    return [*words, f"{odd:,} not finite"] if odd else words


def tensor_html(tensor: Tensor) -> str:
    with no_grad(), _C.DisableTorchFunctionSubclass():
        facts = [type(tensor).__name__, *about(tensor), *range_of(tensor)]
    line = " \u00b7 ".join(map(escape, facts))
    return f'<div style="font-size:90%;opacity:.75">{line}</div><pre style="margin:.3em 0">{escape(repr(tensor))}</pre>'
