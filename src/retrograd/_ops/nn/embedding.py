"""Rows of a table, and bags of them."""

from __future__ import annotations

import retrograd as torch
from retrograd import _C, Tensor


def wrap_padding_idx(padding_idx: int | None, rows: int) -> int | None:
    """The row that stands for padding, counted from the first."""
    if padding_idx is None:
        return None
    if not -rows <= padding_idx < rows:
        raise AssertionError("Padding_idx must be within num_embeddings")
    return padding_idx % rows


def _renormed(weight: Tensor, indices: Tensor, max_norm: float, norm_type: float) -> None:
    """Scales the rows that are about to be read down to max_norm, in place."""
    with torch.no_grad():
        used = indices.reshape(-1).unique()
        table = weight.detach()  # no derivative sees this, forward mode neither
        rows = table.index_select(0, used)
        norms = rows.norm(norm_type, 1, keepdim=True)
        table.index_copy_(0, used, torch.where(norms > max_norm, rows * (max_norm / (norms + 1e-7)), rows))


def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    """Rows of `weight`."""
    if weight.dim() == 0:
        raise RuntimeError("'weight' must be 2-D, got a number")
    padding = wrap_padding_idx(padding_idx, weight.size(0))
    if max_norm is not None:
        _renormed(weight, input, max_norm, norm_type)
    if sparse and weight.requires_grad and torch.is_grad_enabled():
        from retrograd._ops.sparse.embedding import Embedding

        return Embedding.apply(weight, input, padding, scale_grad_by_freq)
    return _C._ops.embedding(weight, input, -1 if padding is None else padding, scale_grad_by_freq)


def embedding_bag(
    input: Tensor,
    weight: Tensor,
    offsets: Tensor | None = None,
    max_norm: float | None = None,
    norm_type: float = 2,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Tensor:
    """Sums, means or maxima of bags of rows of `weight`."""
    if mode not in ("sum", "mean", "max"):
        raise ValueError("mode has to be one of sum, mean or max")
    if mode == "max" and sparse:
        raise ValueError("max mode does not support sparse weights")
    if per_sample_weights is not None and mode != "sum":
        raise NotImplementedError(
            f"embedding_bag: per_sample_weights was not None. per_sample_weights needs mode='sum' (got mode='{mode}')."
        )
    if per_sample_weights is not None and per_sample_weights.size() != input.size():
        raise ValueError(
            f"embedding_bag: If per_sample_weights ({per_sample_weights.shape}) is not None, then it must have the same shape as "
            f"the input ({input.shape})"
        )
    if input.dim() == 2:
        if offsets is not None:
            raise ValueError(
                "if input is 2D, then offsets has to be None, as each row of input is a bag. Got offsets of type " + str(type(offsets))
            )
        bags, length = input.shape
        bag_of = torch.arange(bags, device=input.device).repeat_interleave(length)
        input = input.reshape(-1)
        if per_sample_weights is not None:
            per_sample_weights = per_sample_weights.reshape(-1)
    elif input.dim() == 1:
        if offsets is None:
            raise ValueError("offsets has to be a 1D Tensor but got None")
        if offsets.dim() != 1:
            raise ValueError("offsets has to be a 1D Tensor")
        if offsets.numel() and int(offsets[0]) != 0:
            raise ValueError(
                f"offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from position 0. However, got "
                f"{int(offsets[0])}"
            )
        bags = offsets.numel() - 1 if include_last_offset else offsets.numel()
        ends = offsets[1:] if include_last_offset else torch.cat([offsets[1:], offsets.new_full((1,), input.numel())])
        bag_of = torch.arange(bags, device=input.device).repeat_interleave(ends - offsets[:bags])
    else:
        raise ValueError(f"input has to be 1D or 2D Tensor, but got Tensor of dimension {input.dim()}")
    rows = embedding(input, weight, padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse)
    counted = None if padding_idx is None else input != wrap_padding_idx(padding_idx, weight.size(0))
    if counted is not None:
        rows, bag_of = rows[counted], bag_of[counted]
        per_sample_weights = per_sample_weights if per_sample_weights is None else per_sample_weights[counted]
    if per_sample_weights is not None:
        rows = rows * per_sample_weights.unsqueeze(1)
    out = rows.new_zeros((bags, weight.size(1)))
    if mode == "max":
        return out.index_reduce(0, bag_of, rows, "amax", include_self=False)
    out = out.index_add(0, bag_of, rows)
    if mode == "mean":
        count = torch.zeros(bags, dtype=rows.dtype, device=rows.device).index_add(0, bag_of, torch.ones_like(bag_of, dtype=rows.dtype))
        out = out / count.clamp(min=1).unsqueeze(1)
    return out
