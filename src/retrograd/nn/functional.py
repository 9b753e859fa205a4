"""torch.nn.functional: thin functions over the op table, with PyTorch's signatures."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence

import retrograd as torch
from retrograd import _C, Tensor
from retrograd._overridable import all_overridable
from retrograd.nn._losses import (
    binary_cross_entropy,
    binary_cross_entropy_with_logits,
    cosine_embedding_loss,
    cross_entropy,
    gaussian_nll_loss,
    hinge_embedding_loss,
    huber_loss,
    kl_div,
    l1_loss,
    margin_ranking_loss,
    mse_loss,
    multi_margin_loss,
    multilabel_margin_loss,
    multilabel_soft_margin_loss,
    nll_loss,
    poisson_nll_loss,
    smooth_l1_loss,
    soft_margin_loss,
    triplet_margin_loss,
    triplet_margin_with_distance_loss,
)
from retrograd.nn._padding import pad

__all__ = [
    "alpha_dropout",
    "bilinear",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "celu",
    "celu_",
    "cosine_embedding_loss",
    "cosine_similarity",
    "cross_entropy",
    "dropout",
    "dropout1d",
    "dropout2d",
    "dropout3d",
    "elu",
    "elu_",
    "embedding",
    "embedding_bag",
    "feature_alpha_dropout",
    "gaussian_nll_loss",
    "gelu",
    "glu",
    "gumbel_softmax",
    "hardshrink",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "hardtanh_",
    "hinge_embedding_loss",
    "huber_loss",
    "kl_div",
    "l1_loss",
    "layer_norm",
    "leaky_relu",
    "leaky_relu_",
    "linear",
    "local_response_norm",
    "log_softmax",
    "logsigmoid",
    "margin_ranking_loss",
    "mish",
    "mse_loss",
    "multi_margin_loss",
    "multilabel_margin_loss",
    "multilabel_soft_margin_loss",
    "nll_loss",
    "normalize",
    "one_hot",
    "pad",
    "pairwise_distance",
    "poisson_nll_loss",
    "prelu",
    "relu",
    "relu6",
    "relu_",
    "rms_norm",
    "rrelu",
    "rrelu_",
    "scaled_dot_product_attention",
    "selu",
    "selu_",
    "sigmoid",
    "silu",
    "smooth_l1_loss",
    "soft_margin_loss",
    "softmax",
    "softmin",
    "softplus",
    "softshrink",
    "softsign",
    "tanh",
    "tanhshrink",
    "threshold",
    "threshold_",
    "triplet_margin_loss",
    "triplet_margin_with_distance_loss",
]

_ops = _C._ops

# ---- what an op of the table says already ----

linear = _ops.linear
gelu = _ops.gelu
softplus = _ops.softplus
logsigmoid = _ops.log_sigmoid
prelu = _ops.prelu
hardshrink = _ops.hardshrink
softshrink = _ops.softshrink
one_hot = _ops.one_hot
bilinear = torch.bilinear
cosine_similarity = torch.cosine_similarity
pairwise_distance = torch.pairwise_distance
relu_ = Tensor.relu_
leaky_relu_ = Tensor.leaky_relu_
elu_ = Tensor.elu_
selu_ = Tensor.selu_
celu_ = Tensor.celu_
hardtanh_ = Tensor.hardtanh_
threshold_ = Tensor.threshold_

# ---- activations ----


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """max(0, x)."""
    return input.relu_() if inplace else _ops.relu(input)


def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """x where positive, else negative_slope * x."""
    return input.leaky_relu_(negative_slope) if inplace else _ops.leaky_relu(input, negative_slope)


def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """x where positive, else alpha * (exp(x) - 1)."""
    return input.elu_(alpha) if inplace else _ops.elu(input, alpha)


def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """Self-normalising elu."""
    return input.selu_() if inplace else _ops.selu(input)


def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """x where positive, else alpha * (exp(x / alpha) - 1)."""
    return input.celu_(alpha) if inplace else _ops.celu(input, alpha)


def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """x * sigmoid(x)."""
    return input.silu_() if inplace else _ops.silu(input)


def mish(input: Tensor, inplace: bool = False) -> Tensor:
    """x * tanh(softplus(x))."""
    return input.mish_() if inplace else _ops.mish(input)


def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Tensor:
    """x clamped to [min_val, max_val]."""
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    return input.hardtanh_(min_val, max_val) if inplace else _ops.hardtanh(input, min_val, max_val)


def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """x clamped to [0, 6]."""
    return input.hardtanh_(0.0, 6.0) if inplace else _ops.hardtanh(input, 0.0, 6.0)


def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """relu6(x + 3) / 6."""
    return input.hardsigmoid_() if inplace else _ops.hardsigmoid(input)


def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    """x * relu6(x + 3) / 6."""
    return input.hardswish_() if inplace else _ops.hardswish(input)


def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """x where it exceeds the threshold, else value."""
    return input.threshold_(threshold, value) if inplace else _ops.threshold(input, threshold, value)


def rrelu(input: Tensor, lower: float = 1.0 / 8, upper: float = 1.0 / 3, training: bool = False, inplace: bool = False) -> Tensor:
    """leaky_relu with a slope drawn for each element that is not positive while training, else the mean slope."""
    for name, bound in (("lower", lower), ("upper", upper)):
        if not math.isfinite(bound):
            raise RuntimeError(f"rrelu: {name} bound must be finite, got {bound}")
    if lower > upper:
        raise RuntimeError(f"Lower bound should be less than or equal to the upper bound, got lower={lower} and upper={upper}")
    if not training:
        return leaky_relu(input, (lower + upper) / 2, inplace)
    bent = input.detach() <= 0
    # Drawn in double whatever the dtype, and only where it is used: the stream goes on as PyTorch's does.
    drawn = torch.empty(int(bent.sum()), dtype=torch.float64, device=input.device).uniform_(lower, upper)
    slope = torch.ones_like(input).masked_scatter_(bent, drawn.to(input.dtype))
    return input.mul_(slope) if inplace else input * slope


def rrelu_(input: Tensor, lower: float = 1.0 / 8, upper: float = 1.0 / 3, training: bool = False) -> Tensor:
    """rrelu in place."""
    return rrelu(input, lower, upper, training, inplace=True)


def tanh(input: Tensor) -> Tensor:
    """Hyperbolic tangent."""
    return input.tanh()


def sigmoid(input: Tensor) -> Tensor:
    """1 / (1 + exp(-x))."""
    return input.sigmoid()


def tanhshrink(input: Tensor) -> Tensor:
    """x - tanh(x)."""
    return input - input.tanh()


def softsign(input: Tensor) -> Tensor:
    """x / (1 + |x|)."""
    return input / (input.abs() + 1)


def glu(input: Tensor, dim: int = -1) -> Tensor:
    """The first half along dim times the sigmoid of the second."""
    if input.dim() == 0:
        raise RuntimeError("glu does not support scalars because halving size must be even")
    return _ops.glu(input, dim)


def _softmax_dim(name: str, ndim: int, stacklevel: int) -> int:
    warnings.warn(
        f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an argument.", stacklevel=stacklevel
    )
    return 0 if ndim in (0, 1, 3) else 1


def softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: _C.dtype | None = None) -> Tensor:
    """exp(x) / sum(exp(x)) along dim."""
    if dim is None:
        dim = _softmax_dim("softmax", input.dim(), _stacklevel)
    return input.softmax(dim) if dtype is None else input.softmax(dim, dtype=dtype)


def softmin(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: _C.dtype | None = None) -> Tensor:
    """softmax(-x)."""
    if dim is None:
        dim = _softmax_dim("softmin", input.dim(), _stacklevel)
    return (-input).softmax(dim) if dtype is None else (-input).softmax(dim, dtype=dtype)


def log_softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: _C.dtype | None = None) -> Tensor:
    """log(softmax(x)) along dim."""
    if dim is None:
        dim = _softmax_dim("log_softmax", input.dim(), _stacklevel)
    return input.log_softmax(dim) if dtype is None else input.log_softmax(dim, dtype=dtype)


def gumbel_softmax(logits: Tensor, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1) -> Tensor:
    """A sample of the Gumbel-softmax distribution; hard: one-hot forward, soft in the derivative."""
    if eps != 1e-10:
        warnings.warn("`eps` parameter is deprecated and has no effect.", stacklevel=2)
    gumbels = -torch.empty_like(logits).exponential_().log()
    soft = ((logits + gumbels) / tau).softmax(dim)
    if not hard:
        return soft
    index = soft.max(dim, keepdim=True)[1]
    return torch.zeros_like(logits).scatter_(dim, index, 1.0) - soft.detach() + soft


# ---- dropout ----


def _check_probability(p: float) -> None:
    if p < 0.0 or p > 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")


def _dropped(input: Tensor, p: float, shape: Sequence[int], training: bool, inplace: bool) -> Tensor:
    """input with elements (of the broadcast `shape`) zeroed with probability p and the rest scaled up."""
    if not training or p == 0 or input.numel() == 0:
        return input
    keep = 1.0 - p
    mask = torch.bernoulli(torch.empty(shape, dtype=input.dtype, device=input.device), keep)
    if keep > 0:
        mask.div_(keep)
    return input.mul_(mask) if inplace else input * mask


def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Zeroes elements with probability p while training, scaling the rest by 1 / (1 - p)."""
    _check_probability(p)
    return _dropped(input, p, input.shape, training, inplace)


def _feature_shape(input: Tensor) -> list[int]:
    return [n if d < 2 else 1 for d, n in enumerate(input.shape)]


def _dropout_nd(name: str, input: Tensor, dims: int, p: float, training: bool, inplace: bool) -> Tensor:
    _check_probability(p)
    if input.dim() not in (dims + 1, dims + 2):
        warnings.warn(
            f"{name}: Received a {input.dim()}-D input, which is deprecated. It expects {dims + 1}-D or {dims + 2}-D.", stacklevel=3
        )
    batched = input if input.dim() == dims + 2 else input.unsqueeze(0)
    out = _dropped(batched, p, _feature_shape(batched), training, inplace)
    return out if input.dim() == dims + 2 else out.squeeze(0)


def dropout1d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Zeroes whole channels of [N, C, L] or [C, L]."""
    _check_probability(p)
    if input.dim() not in (2, 3):
        raise RuntimeError(
            f"dropout1d: Expected 2D or 3D input, but received a {input.dim()}D input. Pass (C, L) or (N, C, L): whole channels are "
            "dropped."
        )
    return _dropout_nd("dropout1d", input, 1, p, training, inplace)


def dropout2d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Zeroes whole channels of [N, C, H, W] or [C, H, W]."""
    _check_probability(p)
    return _dropped(input, p, _feature_shape(input), training, inplace)


def dropout3d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Zeroes whole channels of [N, C, D, H, W] or [C, D, H, W]."""
    return _dropout_nd("dropout3d", input, 3, p, training, inplace)


def _alpha_dropped(input: Tensor, p: float, shape: Sequence[int], training: bool, inplace: bool) -> Tensor:
    """Dropout that keeps the mean and variance of selu's outputs: dropped elements become its negative limit."""
    _check_probability(p)
    if not training or p == 0 or input.numel() == 0:
        return input
    if p == 1:
        return input.mul_(0) if inplace else input * 0
    limit = -1.7580993408473766
    scale = 1.0 / math.sqrt((1 - p) * (1 + p * limit * limit))
    keep = torch.bernoulli(torch.empty(shape, dtype=input.dtype, device=input.device), 1 - p)
    shift = (1 - keep) * (scale * limit) - scale * limit * p
    keep = keep * scale
    return input.mul_(keep).add_(shift) if inplace else input * keep + shift


def alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """Dropout for selu networks."""
    return _alpha_dropped(input, p, input.shape, training, inplace)


def feature_alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """alpha_dropout of whole channels."""
    return _alpha_dropped(input, p, _feature_shape(input), training, inplace)


# ---- tables ----


def _wrap_padding_idx(padding_idx: int | None, rows: int) -> int:
    if padding_idx is None:
        return -1
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
    padding_idx = _wrap_padding_idx(padding_idx, weight.size(0))
    if max_norm is not None:
        _renormed(weight, input, max_norm, norm_type)
    return _ops.embedding(weight, input, padding_idx, scale_grad_by_freq, sparse)


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
    counted = None if padding_idx is None else input != _wrap_padding_idx(padding_idx, weight.size(0))
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


# ---- normalisation ----


def normalize(input: Tensor, p: float = 2.0, dim: int = 1, eps: float = 1e-12, out: Tensor | None = None) -> Tensor:
    """input / max(norm(input, p, dim), eps)."""
    norm = input.norm(p, dim, keepdim=True).clamp_min(eps).expand_as(input)
    return input / norm if out is None else torch.div(input, norm, out=out)


def layer_norm(
    input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-5
) -> Tensor:
    """Normalises the last dimensions to mean 0 and variance 1, then scales and shifts."""
    return _ops.layer_norm(input, normalized_shape, weight, bias, eps)


def rms_norm(input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None = None, eps: float | None = None) -> Tensor:
    """input / sqrt(mean(input ** 2) + eps) over the last dimensions, times weight."""
    shape = tuple(normalized_shape)
    if not shape:
        raise RuntimeError(
            "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, but got normalized_shape = []"
        )
    if tuple(input.shape[-len(shape) :]) != shape:
        raise RuntimeError(
            f"Given normalized_shape={list(shape)}, expected input with shape [*, {', '.join(map(str, shape))}], but got input of "
            f"size{list(input.shape)}"
        )
    if not input.is_floating_point() and not input.is_complex():
        raise NotImplementedError(f'"rms_norm" not implemented for {input.dtype}')
    dims = tuple(range(-len(shape), 0))
    wide = input.float() if input.dtype in (torch.float16, torch.bfloat16) else input
    eps = torch.finfo(wide.dtype).eps if eps is None else eps
    out = (wide * torch.rsqrt((wide * wide).mean(dims, keepdim=True) + eps)).to(input.dtype)
    return out if weight is None else out * weight


def local_response_norm(input: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> Tensor:
    """input / (k + alpha * mean of squares over `size` neighbouring channels) ** beta."""
    if input.dim() < 3:
        raise ValueError(f"Expected 3D or higher dimensionality                          input (got {input.dim()} dimensions)")
    if input.numel() == 0:
        return input
    squares = pad(input * input, [0, 0] * (input.dim() - 2) + [size // 2, (size - 1) // 2])
    windows = squares.unfold(1, size, 1)
    # Of integers the mean is an integer, as in PyTorch.
    mean = windows.mean(-1) if windows.is_floating_point() or windows.is_complex() else windows.sum(-1) // size
    return input / (mean * alpha + k) ** beta


# ---- attention ----


def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """softmax(query @ key.mT * scale + mask) @ value."""
    if min(query.dim(), key.dim(), value.dim()) < 2:
        raise RuntimeError(
            f"Expected query, key, and value to all be  at least 2 dimensional, but got query.dim: {query.dim()} key.dim: "
            f"{key.dim()} and value.dim: {value.dim()} instead."
        )
    if not query.dtype == key.dtype == value.dtype:
        raise RuntimeError(
            f"Expected query, key, and value to have the same dtype, but got query.dtype: {query.dtype} key.dtype: {key.dtype} and "
            f"value.dtype: {value.dtype} instead."
        )
    if is_causal and attn_mask is not None:
        raise RuntimeError("_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True")
    if attn_mask is not None and attn_mask.dtype not in (torch.bool, torch.float32, query.dtype):
        raise RuntimeError(
            f"Expected attn_mask dtype to be bool or float or to match query dtype, but got attn_mask.dtype: {attn_mask.dtype} and  "
            f"query.dtype: {query.dtype} instead."
        )
    if enable_gqa:
        key = key.repeat_interleave(query.size(-3) // key.size(-3), -3)
        value = value.repeat_interleave(query.size(-3) // value.size(-3), -3)
    scale = 1 / math.sqrt(query.size(-1)) if scale is None else scale
    dtype = query.dtype
    if dtype in (torch.float16, torch.bfloat16):  # scores and weights keep their digits until the result is rounded
        query, key, value = query.float(), key.float(), value.float()
    # The root of the scale on either side keeps products of 16-bit floats in range.
    root = math.sqrt(abs(scale))
    scores = (query * math.copysign(root, scale)) @ (key * root).transpose(-2, -1)
    if is_causal:
        attn_mask = torch.ones(query.size(-2), key.size(-2), dtype=torch.bool, device=query.device).tril()
    if attn_mask is not None:
        if attn_mask.dtype == torch.bool:
            dead = ~attn_mask.any(-1, keepdim=True)  # rows that may look at nothing give zeros
            weights = scores.masked_fill(~attn_mask, -math.inf).softmax(-1).masked_fill(dead, 0.0)
        else:
            weights = (scores + attn_mask).softmax(-1).to(scores.dtype)
    else:
        weights = scores.softmax(-1)
    if dropout_p > 0.0:
        weights = dropout(weights, dropout_p)
    return (weights @ value).to(dtype)


# These hand their arguments straight to a native function of the same name, which asks for overrides itself.
_STRAIGHT = {
    "celu", "elu", "hardsigmoid", "hardswish", "hardtanh", "kl_div", "layer_norm", "leaky_relu", "mish", "nll_loss", "relu", "selu", "silu",
    "soft_margin_loss", "threshold",
}  # fmt: skip
all_overridable(globals(), [name for name in __all__ if name not in _STRAIGHT])


def __dir__() -> list[str]:
    return __all__
