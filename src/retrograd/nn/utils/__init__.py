"""Tools for the gradients and parameters of modules."""

import importlib as _importlib
import typing as _typing

from retrograd.nn.utils import rnn, stateless
from retrograd.nn.utils.clip_grad import clip_grad_norm, clip_grad_norm_, clip_grad_value_, clip_grads_with_norm_, get_total_norm
from retrograd.nn.utils.convert_parameters import parameters_to_vector, vector_to_parameters
from retrograd.nn.utils.spectral_norm import remove_spectral_norm, spectral_norm
from retrograd.nn.utils.weight_norm import remove_weight_norm, weight_norm

__all__ = [
    "clip_grad_norm", "clip_grad_norm_", "clip_grad_value_", "clip_grads_with_norm_", "convert_conv2d_weight_memory_format",
    "convert_conv3d_weight_memory_format", "fuse_conv_bn_eval", "fuse_conv_bn_weights", "fuse_linear_bn_eval", "fuse_linear_bn_weights",
    "get_total_norm", "parameters_to_vector", "parametrizations", "parametrize", "prune", "remove_spectral_norm", "remove_weight_norm",
    "rnn", "skip_init", "spectral_norm", "stateless", "vector_to_parameters", "weight_norm",
]  # fmt: skip

if _typing.TYPE_CHECKING:
    from retrograd.nn.utils import parametrizations, parametrize, prune
    from retrograd.nn.utils.fusion import fuse_conv_bn_eval, fuse_conv_bn_weights, fuse_linear_bn_eval, fuse_linear_bn_weights
    from retrograd.nn.utils.init import skip_init
    from retrograd.nn.utils.memory_format import convert_conv2d_weight_memory_format, convert_conv3d_weight_memory_format
else:  # imported when first used: {name: its file}
    _LATER = {
        "convert_conv2d_weight_memory_format": "memory_format",
        "convert_conv3d_weight_memory_format": "memory_format",
        "fuse_conv_bn_eval": "fusion",
        "fuse_conv_bn_weights": "fusion",
        "fuse_linear_bn_eval": "fusion",
        "fuse_linear_bn_weights": "fusion",
        "skip_init": "init",
    }
    _MODULES = ("fusion", "init", "memory_format", "parametrizations", "parametrize", "prune")

    def __getattr__(name):
        if name in _MODULES:
            return _importlib.import_module(f"retrograd.nn.utils.{name}")
        if name not in _LATER:
            from retrograd._missing import missing

            raise missing(__name__, name)
        value = globals()[name] = getattr(_importlib.import_module(f"retrograd.nn.utils.{_LATER[name]}"), name)
        return value

    def __dir__():
        return sorted({*globals(), *_LATER, *_MODULES})
