"""Ops written in Python over other ops: what is not on a hot path. The op table names them; see ops/README.md."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import Any

from retrograd import _C
from retrograd._generated.python_ops import PYTHON_OPS


def _lazy(name: str, target: str, doc: str) -> Callable[..., Any]:
    """A function that imports its implementation when it is first called, and lets __torch_function__ see the call."""
    module, _, attribute = target.partition(":")
    implementation: Callable[..., Any] | None = None

    def function(*args: Any, **kwargs: Any) -> Any:
        nonlocal implementation
        if implementation is None:
            implementation = getattr(importlib.import_module(module), attribute)
            functools.update_wrapper(function, implementation)
            function.__name__ = name
        if _C._overloaded(args, kwargs):
            return _C._call_torch_function(function, args, kwargs)
        return implementation(*args, **kwargs)

    function.__name__ = function.__qualname__ = name
    function.__module__ = "retrograd"
    function.__doc__ = doc
    return function


# In-place methods that are functions too: torch.relu_(x).
_INPLACE_FUNCTIONS = """
abs_ acos_ acosh_ addmv_ alpha_dropout_ arccos_ arccosh_ arcsin_ arcsinh_ arctan_ arctanh_ as_strided_ asin_ asinh_ atan_ atanh_ ceil_ celu_
clamp_ clamp_max_ clamp_min_ clip_ cos_ cosh_ deg2rad_ detach_ dropout_ erf_ erfc_ exp2_ exp_ expm1_ feature_alpha_dropout_ feature_dropout_
fill_ fix_ floor_ frac_ gcd_ i0_ index_put_ lcm_ ldexp_ log10_ log1p_ log2_ log_ logit_ nan_to_num_ neg_ negative_ rad2deg_ reciprocal_
relu_ resize_as_ round_ rrelu_ rsqrt_ selu_ sigmoid_ sin_ sinc_ sinh_ sqrt_ square_ tan_ tanh_ threshold_ trunc_ xlogy_ zero_
""".split()  # noqa: SIM905 - a paragraph reads better than a list of strings


def install(namespace: dict[str, Any]) -> None:
    """Adds the functions to `namespace` and the methods to Tensor."""
    for name, variants, target, doc in PYTHON_OPS:
        function = _lazy(name, target, doc)
        if "function" in variants:
            namespace[name] = function
        if "method" in variants:
            setattr(_C.Tensor, name, function)
        if "inplace" in variants:
            setattr(_C.Tensor, name + "_", _lazy(name + "_", target + "_", doc))
    for name in _INPLACE_FUNCTIONS:
        if hasattr(_C.Tensor, name):
            namespace.setdefault(name, getattr(_C.Tensor, name))
