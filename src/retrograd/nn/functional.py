"""torch.nn.functional: functions over the op table, with PyTorch's signatures. Those in Python are in retrograd/_ops/nn/."""

from __future__ import annotations

import retrograd as torch
from retrograd import _C, Tensor
from retrograd._ops.nn.activations import (
    celu,
    elu,
    glu,
    gumbel_softmax,
    hardsigmoid,
    hardswish,
    hardtanh,
    leaky_relu,
    log_softmax,
    mish,
    relu,
    relu6,
    rrelu,
    rrelu_,
    selu,
    sigmoid,
    silu,
    softmax,
    softmin,
    softsign,
    tanh,
    tanhshrink,
    threshold,
)
from retrograd._ops.nn.attention import scaled_dot_product_attention
from retrograd._ops.nn.dropout import alpha_dropout, dropout, dropout1d, dropout2d, dropout3d, feature_alpha_dropout
from retrograd._ops.nn.embedding import embedding, embedding_bag
from retrograd._ops.nn.fold import fold, unfold
from retrograd._ops.nn.grouped import grouped_mm
from retrograd._ops.nn.images import (
    GRID_SAMPLE_INTERPOLATION_MODES,  # noqa: F401  not functions, so not in __all__
    GRID_SAMPLE_PADDING_MODES,  # noqa: F401
    affine_grid,
    grid_sample,
    interpolate,
    upsample,
    upsample_bilinear,
    upsample_nearest,
)
from retrograd._ops.nn.linear_cross_entropy import linear_cross_entropy
from retrograd._ops.nn.losses import (
    binary_cross_entropy,
    binary_cross_entropy_with_logits,
    cosine_embedding_loss,
    cross_entropy,
    ctc_loss,
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
from retrograd._ops.nn.multihead import (  # noqa: F401
    canonical_mask as _canonical_mask,
    in_projection as _in_projection,
    in_projection_packed as _in_projection_packed,
    mha_shape_check as _mha_shape_check,
    multi_head_attention_forward,
    none_or_dtype as _none_or_dtype,
)
from retrograd._ops.nn.normalize import batch_norm, group_norm, instance_norm, layer_norm, local_response_norm, normalize
from retrograd._ops.nn.pool import (
    adaptive_avg_pool2d,
    adaptive_avg_pool3d,
    adaptive_max_pool1d,
    adaptive_max_pool1d_with_indices,
    adaptive_max_pool2d,
    adaptive_max_pool2d_with_indices,
    adaptive_max_pool3d,
    adaptive_max_pool3d_with_indices,
    fractional_max_pool2d,
    fractional_max_pool2d_with_indices,
    fractional_max_pool3d,
    fractional_max_pool3d_with_indices,
    lp_pool1d,
    lp_pool2d,
    lp_pool3d,
    max_pool1d,
    max_pool1d_with_indices,
    max_pool2d,
    max_pool2d_with_indices,
    max_pool3d,
    max_pool3d_with_indices,
    max_unpool1d,
    max_unpool2d,
    max_unpool3d,
)
from retrograd._ops.nn.scaled import ScalingType, SwizzleType, scaled_grouped_mm, scaled_mm
from retrograd._overridable import offer

__all__ = [
    "ScalingType",
    "SwizzleType",
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
    "adaptive_avg_pool3d",
    "adaptive_max_pool1d",
    "adaptive_max_pool1d_with_indices",
    "adaptive_max_pool2d",
    "adaptive_max_pool2d_with_indices",
    "adaptive_max_pool3d",
    "adaptive_max_pool3d_with_indices",
    "affine_grid",
    "alpha_dropout",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "batch_norm",
    "bilinear",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "celu",
    "celu_",
    "channel_shuffle",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_tbc",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "cosine_embedding_loss",
    "cosine_similarity",
    "cross_entropy",
    "ctc_loss",
    "dropout",
    "dropout1d",
    "dropout2d",
    "dropout3d",
    "elu",
    "elu_",
    "embedding",
    "embedding_bag",
    "feature_alpha_dropout",
    "fold",
    "fractional_max_pool2d",
    "fractional_max_pool2d_with_indices",
    "fractional_max_pool3d",
    "fractional_max_pool3d_with_indices",
    "gaussian_nll_loss",
    "gelu",
    "glu",
    "grid_sample",
    "group_norm",
    "grouped_mm",
    "gumbel_softmax",
    "hardshrink",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "hardtanh_",
    "hinge_embedding_loss",
    "huber_loss",
    "instance_norm",
    "interpolate",
    "kl_div",
    "l1_loss",
    "layer_norm",
    "leaky_relu",
    "leaky_relu_",
    "linear",
    "linear_cross_entropy",
    "local_response_norm",
    "log_softmax",
    "logsigmoid",
    "lp_pool1d",
    "lp_pool2d",
    "lp_pool3d",
    "margin_ranking_loss",
    "max_pool1d",
    "max_pool1d_with_indices",
    "max_pool2d",
    "max_pool2d_with_indices",
    "max_pool3d",
    "max_pool3d_with_indices",
    "max_unpool1d",
    "max_unpool2d",
    "max_unpool3d",
    "mish",
    "mse_loss",
    "multi_head_attention_forward",
    "multi_margin_loss",
    "multilabel_margin_loss",
    "multilabel_soft_margin_loss",
    "native_channel_shuffle",
    "nll_loss",
    "normalize",
    "one_hot",
    "pad",
    "pairwise_distance",
    "pdist",
    "pixel_shuffle",
    "pixel_unshuffle",
    "poisson_nll_loss",
    "prelu",
    "relu",
    "relu6",
    "relu_",
    "rms_norm",
    "rrelu",
    "rrelu_",
    "scaled_dot_product_attention",
    "scaled_grouped_mm",
    "scaled_mm",
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
    "unfold",
    "upsample",
    "upsample_bilinear",
    "upsample_nearest",
]  # fmt: skip

_ops = _C._ops

# What an op of the table says already.
linear = _ops.linear
conv1d = _ops.conv1d
conv2d = _ops.conv2d
conv3d = _ops.conv3d
conv_transpose1d = _ops.conv_transpose1d
conv_transpose2d = _ops.conv_transpose2d
conv_transpose3d = _ops.conv_transpose3d
conv_tbc = _ops.conv_tbc
avg_pool1d = _ops.avg_pool1d
avg_pool2d = _ops.avg_pool2d
avg_pool3d = _ops.avg_pool3d
adaptive_avg_pool1d = _ops.adaptive_avg_pool1d
gelu = _ops.gelu
softplus = _ops.softplus
logsigmoid = _ops.log_sigmoid
prelu = _ops.prelu
hardshrink = _ops.hardshrink
softshrink = _ops.softshrink
one_hot = _ops.one_hot
pad = _ops.pad
bilinear = torch.bilinear
cosine_similarity = torch.cosine_similarity
rms_norm = torch.rms_norm
pairwise_distance = torch.pairwise_distance
pdist = torch.pdist
pixel_shuffle = torch.pixel_shuffle
pixel_unshuffle = torch.pixel_unshuffle
channel_shuffle = native_channel_shuffle = torch.channel_shuffle
relu_ = Tensor.relu_
leaky_relu_ = Tensor.leaky_relu_
elu_ = Tensor.elu_
selu_ = Tensor.selu_
celu_ = Tensor.celu_
hardtanh_ = Tensor.hardtanh_
threshold_ = Tensor.threshold_

# How many arguments these hand straight to the op of their name.
_STRAIGHT = {
    "celu": 2, "elu": 2, "hardsigmoid": 1, "hardswish": 1, "hardtanh": 3, "layer_norm": 5, "leaky_relu": 2, "max_pool1d": 6, "max_pool2d": 6, "max_pool3d": 6,
    "mish": 1, "nll_loss": 2, "relu": 1, "selu": 1, "silu": 1, "soft_margin_loss": 2, "threshold": 3,
}  # fmt: skip
offer(globals(), _STRAIGHT)


def __dir__() -> list[str]:
    return __all__
