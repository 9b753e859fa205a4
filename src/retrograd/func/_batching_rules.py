"""Fills the table of batching rules: one module for each family of ops."""

from retrograd.func import (  # noqa: F401
    _batching_attention,
    _batching_conv,
    _batching_image,
    _batching_index,
    _batching_linalg,
    _batching_nn,
    _batching_norm,
    _batching_pointwise,
    _batching_pool,
    _batching_random,
    _batching_reduce,
    _batching_shape,
)
