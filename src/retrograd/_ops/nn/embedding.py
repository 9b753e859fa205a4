"""Rows of a table, and bags of them."""

from __future__ import annotations

import warnings

import retrograd as torch
from retrograd import _C, Tensor

_MODES = {"sum": 0, "mean": 1, "max": 2}


def wrap_padding_idx(padding_idx: int | None, rows: int, words: str = "Padding_idx must be within num_embeddings") -> int | None:
    """The row that stands for padding, counted from the first."""
    if padding_idx is None:
        return None
    if not -rows <= padding_idx < rows:
        raise AssertionError(words)
    return padding_idx % rows


def embedding_renorm_(self: Tensor, indices: Tensor, max_norm: float, norm_type: float) -> Tensor:
    """Scales the rows of a table that indices name down to max_norm, in place."""
    if self.dim() != 2:
        raise RuntimeError(
            f"Expected 2-dimensional tensor, but got {self.dim()}-dimensional tensor for argument #1 'self' (while checking arguments for "
            "embedding_renorm_)"
        )
    if indices.dtype not in (torch.int64, torch.int32):
        raise RuntimeError(
            "Expected tensor for argument #2 'indices' to have one of the following scalar types: Long, Int; but got "
            f"{indices.type()} instead (while checking arguments for embedding_renorm_)"
        )
    with torch.no_grad():
        used = indices.reshape(-1)  # a row that is named twice is written twice, with the same numbers
        rows = self.detach().index_select(0, used)
        norms = rows.norm(norm_type, 1, keepdim=True)
        rows = torch.where(norms > max_norm, rows * (max_norm / (norms + 1e-7)), rows)
    return self.index_copy_(0, used, rows)


def _renormed(weight: Tensor, indices: Tensor, max_norm: float, norm_type: float) -> None:
    """Scales the rows that are about to be read, which no derivative sees, forward mode neither."""
    with torch.no_grad():
        embedding_renorm_(weight.detach(), indices, max_norm, norm_type)


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
    """Sums, means or maxima of bags of rows of `weight`.

    Args:
        input: [N, L], N bags of L indices, or a vector of all indices, which offsets divide.
        per_sample_weights: a factor for each index, for sums.
        include_last_offset: offsets has one more entry at its end, the length of the input.
    """
    if weight.dtype == torch.int64 and input.is_floating_point():
        warnings.warn(
            "Argument order of nn.functional.embedding_bag was changed. Usage `embedding_bag(weight, input, ...)` is deprecated, and should "
            "now be `embedding_bag(input, weight, ...)`.",
            stacklevel=2,
        )
        input, weight = weight, input
    if weight.dim() != 2:
        raise ValueError(f"weight has to be a 2D Tensor, but got Tensor of dimension {weight.dim()}")
    if per_sample_weights is not None and per_sample_weights.size() != input.size():
        raise ValueError(
            f"embedding_bag: If per_sample_weights ({per_sample_weights.shape}) is not None, then it must have the same shape as "
            f"the input ({input.shape})"
        )
    if input.dim() == 2:
        if offsets is not None:
            raise ValueError(
                "if input is 2D, then offsets has to be None, as input is treated is a mini-batch of fixed length sequences. However, found "
                f"offsets of type {type(offsets)}"
            )
        bags, length = input.shape
        offsets = torch.arange(bags, dtype=input.dtype, device=input.device) * length
        input = input.reshape(-1)
        include_last_offset = False
        if per_sample_weights is not None:
            per_sample_weights = per_sample_weights.reshape(-1)
    elif input.dim() == 1:
        if offsets is None:
            raise ValueError("offsets has to be a 1D Tensor but got None")
        if offsets.dim() != 1:
            raise ValueError(f"offsets has to be a 1D Tensor, got shape {list(offsets.shape)}")
    else:
        raise ValueError(f"input has to be 1D or 2D Tensor, but got Tensor of dimension {input.dim()}")
    if mode not in _MODES:
        raise ValueError(f"mode has to be one of sum, mean or max, got {mode!r}")
    if mode == "max" and scale_grad_by_freq:
        raise ValueError("max mode does not support scaling the gradient by the frequency")
    if mode == "max" and sparse:
        raise ValueError("max mode does not support sparse weights")
    if max_norm is not None:
        _renormed(weight, input, max_norm, norm_type)
    if per_sample_weights is not None and mode != "sum":
        raise NotImplementedError(
            f"embedding_bag: per_sample_weights was not None. per_sample_weights is only supported for mode='sum' (got mode='{mode}')."
        )
    if sparse and weight.requires_grad and torch.is_grad_enabled():
        return _bags_of_rows(input, weight, offsets, scale_grad_by_freq, mode, per_sample_weights, include_last_offset, padding_idx)
    return _C._ops.embedding_bag(
        weight, input, offsets, scale_grad_by_freq, _MODES[mode], False, per_sample_weights, include_last_offset, padding_idx
    )[0]


def _bags_of_rows(
    input: Tensor,
    weight: Tensor,
    offsets: Tensor,
    scale_grad_by_freq: bool,
    mode: str,
    per_sample_weights: Tensor | None,
    include_last_offset: bool,
    padding_idx: int | None,
) -> Tensor:
    """Sums or means of rows that are made, for the sake of their sparse gradient."""
    how = (False, _MODES[mode], False, None, include_last_offset, padding_idx)
    _, bag_of, sizes, _ = _C._ops.embedding_bag(weight.detach(), input, offsets, *how)
    rows = embedding(input, weight, padding_idx, scale_grad_by_freq=scale_grad_by_freq, sparse=True)
    if per_sample_weights is not None:
        rows = rows * per_sample_weights.unsqueeze(1)
    if padding_idx is not None:
        kept = input != wrap_padding_idx(padding_idx, weight.size(0))
        rows, bag_of = rows[kept], bag_of[kept]
    out = rows.new_zeros((sizes.size(0), weight.size(1))).index_add(0, bag_of, rows)
    return out / sizes.clamp(min=1).unsqueeze(1) if mode == "mean" else out
