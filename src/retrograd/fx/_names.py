"""What PyTorch calls our functions, and how its own hand a call to `__torch_function__`.

The text of a graph names functions as PyTorch does, so that it is the same text, and runs: `torch._C._nn.gelu` is a name here too.
Functions that PyTorch has written in Python pass what has no default by position and the rest by name, defaults included.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from types import BuiltinFunctionType, MethodDescriptorType, ModuleType
from typing import Any

import retrograd as torch
from retrograd import _C, fft, functional, linalg, special
from retrograd.nn import functional as F

# Of torch.nn.functional, what PyTorch has in torch._C._nn, and what it has in torch although ours is in Python.
_NATIVE = (
    "avg_pool2d",
    "avg_pool3d",
    "elu_",
    "gelu",
    "hardtanh_",
    "leaky_relu_",
    "linear",
    "log_sigmoid",
    "one_hot",
    "scaled_dot_product_attention",
    "softplus",
    "softshrink",
)
_OF_TORCH = {
    "bilinear",
    "channel_shuffle",
    "cosine_similarity",
    "native_channel_shuffle",
    "pairwise_distance",
    "pdist",
    "pixel_shuffle",
    "pixel_unshuffle",
    "rrelu_",
}

METHODS = (F.sigmoid, F.tanh)  # which call the method of their argument


def _fill(name: str, members: dict[str, Any]) -> dict[int, str]:
    """Makes `torch._C.<name>` have these members; their ids and qualified names."""
    module = getattr(_C, name, None)
    if module is None:
        module = ModuleType(f"retrograd._C.{name}")
        setattr(_C, name, module)
    for member, value in members.items():
        if not hasattr(module, member):
            setattr(module, member, value)
    return {id(value): f"torch._C.{name}.{member}" for member, value in members.items()}


@functools.cache
def _table() -> tuple[dict[int, str], dict[int, inspect.Signature]]:
    """Names by the id of a function, and signatures of those that PyTorch has in Python."""
    names = {id(getattr(functional, name)): f"torch.functional.{name}" for name in functional.__all__}
    names |= _fill("_special", {f"special_{name}": getattr(special, name) for name in special.__all__})
    plain = {id(value): f"torch.{name}" for name, value in vars(torch).items() if id(value) in names}  # sigmoid is torch.sigmoid first
    names |= {key: name for key, name in plain.items() if not names[key].startswith("torch.functional")}
    names |= _fill("_linalg", {f"linalg_{name}": getattr(linalg, name) for name in linalg.__all__ if callable(getattr(linalg, name))})
    names[id(torch.matmul)] = "torch.matmul"
    names |= _fill("_fft", {f"fft_{name}": getattr(fft, name) for name in fft.__all__ if callable(getattr(fft, name))})
    names |= _fill("_nn", {name: getattr(F, {"log_sigmoid": "logsigmoid"}.get(name, name)) for name in _NATIVE})
    python = {
        name: getattr(F, name)
        for name in F.__all__
        if name == "pad" or (callable(getattr(F, name)) and not isinstance(getattr(F, name), (BuiltinFunctionType, MethodDescriptorType)))
    }
    python = {name: value for name, value in python.items() if name not in _OF_TORCH and name not in _NATIVE}
    names |= {id(value): f"torch.nn.functional.{name}" for name, value in python.items()}
    written = [*python.values(), *(getattr(functional, name) for name in functional.__all__)]
    signatures = {id(value): inspect.signature(value) for value in written}
    signatures[id(torch.norm)] = inspect.signature(lambda input, p="fro", dim=None, keepdim=False, out=None, dtype=None: None)
    signatures[id(torch.split)] = inspect.signature(lambda tensor, split_size_or_sections, dim=0: None)
    return names, signatures


def _op_name(op: Any) -> str:
    """An op of the table as one of PyTorch's overloads: the first that is this op here."""
    base, _, overload = op.name.partition(".")
    packet = getattr(torch.ops.aten, base, None)
    binary = len(op.parameters) > 1 and op.parameters[1].name == "other"
    plain = ["Tensor", "default"] if binary else ["default"]
    wanted = {"scalar": ["Tensor_Scalar"], "dim": ["dim_IntList"] if base in ("sum", "mean") else ["dim"], "": plain}.get(overload, [])
    for name in [*wanted, overload]:
        if getattr(packet, name, None) is op:
            return f"torch.ops.aten.{base}.{name}"
    return f"torch.ops.aten.{op.name}"


def torch_name(function: Callable[..., Any]) -> str | None:
    """The qualified name in PyTorch of one of our functions; None for others."""
    if type(function) is _C.Op:
        return _op_name(function)
    name = _table()[0].get(id(function))
    if name is None:
        module = getattr(function, "__module__", None) or ""
        if module.partition(".")[0] in ("retrograd", "torch") and not isinstance(function, type):
            home = "torch" + module.removeprefix("retrograd").removeprefix("torch")
            name = f"{'torch' if home.startswith('torch._ops') else home}.{function.__name__}"
    return name


def as_handed_over(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments as PyTorch's function of that name hands them on."""
    signature = _table()[1].get(id(function))
    if signature is None:
        return args, kwargs
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError:  # for the function itself to refuse
        return args, kwargs
    bound.apply_defaults()
    first: list[Any] = []
    named: dict[str, Any] = {}
    for name, parameter in signature.parameters.items():
        if parameter.kind is parameter.VAR_POSITIONAL:
            first.extend(bound.arguments[name])
        elif parameter.kind is parameter.VAR_KEYWORD:
            named |= bound.arguments[name]
        elif parameter.default is parameter.empty and not named:
            first.append(bound.arguments[name])
        else:
            named[name] = bound.arguments[name]
    return tuple(first), named
