"""Automatic differentiation: backward, grad and the modes."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from retrograd import _C
from retrograd._C import SavedTensor as SavedTensor, Tensor
from retrograd.autograd import _functions, grad_mode, graph
from retrograd.autograd.anomaly_mode import detect_anomaly, set_detect_anomaly
from retrograd.autograd.function import Function, NestedIOFunction
from retrograd.autograd.grad_mode import (
    _unsafe_preserve_version_counter as _unsafe_preserve_version_counter,
    enable_grad,
    enforce_grad_layout_policy,
    inference_mode,
    is_multithreading_enabled as is_multithreading_enabled,
    no_grad,
    set_grad_enabled,
    set_multithreading_enabled,
)
from retrograd.autograd.graph import GradientEdge
from retrograd.autograd.variable import Variable

__all__ = [
    "Function", "NestedIOFunction", "Variable", "backward", "detect_anomaly", "enable_grad", "enforce_grad_layout_policy", "forward_ad",
    "functional", "grad", "grad_mode", "gradcheck", "gradgradcheck", "graph", "inference_mode", "no_grad", "set_detect_anomaly",
    "set_grad_enabled", "set_multithreading_enabled", "variable",
]  # fmt: skip

_C._functions = _functions

_Roots = Tensor | GradientEdge | Sequence[Tensor | GradientEdge]


def _as_tuple(value: Any) -> tuple[Any, ...]:
    if isinstance(value, Tensor) or isinstance(value, GradientEdge):  # noqa: SIM101  (quicker than a tuple of classes)
        return (value,)
    return tuple(value)


def _make_grads(outputs: tuple[Any, ...], grads: tuple[Any, ...], batched: bool = False) -> tuple[Any, ...]:
    edges = False
    for output, grad in zip(outputs, grads):  # noqa: B905  (their lengths: below)
        if grad is not None and not isinstance(grad, Tensor):
            raise TypeError("gradients can be either Tensors or None, but got " + type(grad).__name__)
        if not isinstance(output, Tensor):
            if not isinstance(output, GradientEdge):
                raise AssertionError(f"Expected output to be a torch.Tensor or a GradientEdge, but got {type(output).__name__}")
            edges = True
    if len(grads) != len(outputs):
        raise RuntimeError(
            f"got {len(outputs)} tensors and {len(grads)} gradients: give one for each tensor, or None for those of one element"
        )
    if edges and not batched:
        pairs = enumerate(zip(outputs, grads, strict=True))
        grads = tuple(graph._gradient_for(o, g, i) if isinstance(o, GradientEdge) else g for i, (o, g) in pairs)
    return grads


def backward(
    tensors: _Roots,
    grad_tensors: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: Any = None,
    inputs: _Roots | dict[Any, Tensor] | None = None,
) -> None:
    """Adds the gradients of `tensors` to `.grad` of the leaves they were computed from.

    Args:
        tensors: where to start.
        grad_tensors: the gradient of each of them; may be left out for tensors with one element.
        retain_graph: keep what the graph saved, so that it can be run again. Default: `create_graph`.
        create_graph: record the computation of the gradients, for higher derivatives.
        inputs: accumulate into these only.
    """
    if _C._in_transform():
        raise RuntimeError(
            "backward() called inside a functorch transform. Use torch.func.grad or torch.func.vjp there, or call backward() outside "
            "the transform."
        )
    if grad_variables is not None:
        warnings.warn("`grad_variables` is deprecated. Use `grad_tensors` instead.", FutureWarning, stacklevel=2)
        if grad_tensors is not None:
            raise RuntimeError(
                "`grad_tensors` and `grad_variables` (deprecated) arguments both passed to `backward()`. Pass `grad_tensors` only."
            )
        grad_tensors = grad_variables
    wanted = None if inputs is None else _as_tuple(inputs.values() if isinstance(inputs, Mapping) else inputs)
    if wanted is not None and not wanted:
        raise RuntimeError("`inputs` argument to `backward()` cannot be empty. Leave it out, and all leaves get their gradients.")
    roots = _as_tuple(tensors)
    grads = (None,) * len(roots) if grad_tensors is None else (grad_tensors,) if isinstance(grad_tensors, Tensor) else tuple(grad_tensors)
    if retain_graph is None:
        retain_graph = create_graph
    _C._run_backward(roots, _make_grads(roots, grads), retain_graph, create_graph, wanted, True, True)


def grad(
    outputs: _Roots,
    inputs: _Roots | dict[Any, Tensor],
    grad_outputs: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> Any:
    """The gradients of `outputs` with respect to `inputs`, without touching `.grad`: a tuple, or for a dict of inputs a dict.

    Args:
        allow_unused: give None for inputs the outputs do not depend on, instead of an error.
        materialize_grads: give zeros for them.
        is_grads_batched: `grad_outputs` has a leading batch dimension; one gradient is computed for each entry.
    """
    if not isinstance(inputs, (Tensor, tuple, list)) and isinstance(inputs, Mapping):
        if type(inputs) is not dict:
            raise TypeError(
                f"`inputs` argument to `grad()` must be a dict, not {type(inputs).__name__}. Other Mapping types are not supported."
            )
        rest = (grad_outputs, retain_graph, create_graph, only_inputs, allow_unused, is_grads_batched, materialize_grads)
        return dict(zip(inputs, grad(outputs, tuple(inputs.values()), *rest), strict=True))
    if _C._overloaded((outputs, inputs)):
        kwargs = {
            "grad_outputs": grad_outputs,
            "retain_graph": retain_graph,
            "create_graph": create_graph,
            "only_inputs": only_inputs,
            "allow_unused": allow_unused,
            "is_grads_batched": is_grads_batched,
            "materialize_grads": materialize_grads,
        }
        return _C._call_torch_function(grad, (outputs, inputs), kwargs)
    return _grad(outputs, inputs, grad_outputs, retain_graph, create_graph, only_inputs, allow_unused, is_grads_batched, materialize_grads)


def _grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any,
    retain_graph: bool | None,
    create_graph: bool,
    only_inputs: bool,
    allow_unused: bool | None,
    is_grads_batched: bool,
    materialize_grads: bool,
) -> tuple[Any, ...]:
    """grad() when nobody overrides it."""
    if materialize_grads and allow_unused is False:
        raise ValueError("Expected allow_unused to be True or not passed when materialize_grads=True, but got: allow_unused=False.")
    if not only_inputs:
        warnings.warn("only_inputs argument is deprecated and is ignored now (defaults to True)", FutureWarning, stacklevel=2)
    allow = materialize_grads if allow_unused is None else allow_unused
    roots, wanted = _as_tuple(outputs), _as_tuple(inputs)
    if not wanted:
        raise RuntimeError("`inputs` argument to `grad()` cannot be empty. Pass the tensors whose gradients you want.")
    grads = (None,) * len(roots) if grad_outputs is None else (grad_outputs,) if isinstance(grad_outputs, Tensor) else tuple(grad_outputs)
    grads = _make_grads(roots, grads, is_grads_batched)
    if retain_graph is None:
        retain_graph = create_graph
    if is_grads_batched:
        result = _batched_grad(roots, wanted, grads, retain_graph, create_graph, allow)
    else:
        result = _C._run_backward(roots, grads, retain_graph, create_graph, wanted, allow, False)
    if materialize_grads:
        result = tuple(_zeros_for(w, create_graph) if r is None else r for r, w in zip(result, wanted, strict=True))
    return result


def _zeros_for(wanted: Any, create_graph: bool) -> Tensor:
    if isinstance(wanted, GradientEdge):
        raise RuntimeError("materialize_grads cannot be used when the given input is a GradientEdge")
    return _C._ops.zeros_like(wanted, requires_grad=create_graph)


def _batched_grad(roots: Any, wanted: Any, grads: Any, retain_graph: bool, create_graph: bool, allow: bool) -> tuple[Any, ...]:
    """One run for the whole batch, by vmap."""
    from retrograd.func._vmap import batch_level

    for i, (root, g) in enumerate(zip(roots, grads, strict=False)):
        if g is None and root.numel() != 1:
            raise RuntimeError(
                "grad can be implicitly created only for scalar outputs: pass a batch of gradients in grad_outputs for the output "
                f"{i}, which has shape {list(root.shape)}"
            )
        if g is None or not g.ndim:
            raise ValueError(
                "vmap(vjp, in_dims=0, ...)(<inputs>): Got in_dim=0 for some input, but that input is a Tensor of dimensionality 0: with "
                "is_grads_batched=True every grad_output needs a leading batch dimension"
            )
        if isinstance(root, Tensor) and g.shape[1:] != root.shape:
            raise RuntimeError(
                "If `is_grads_batched=True`, we interpret the first dimension of each grad_output as the batch: the others must be the "
                f"shape of its output, but grad_output[{i}] has a shape of {g.shape[1:]} and output[{i}] has a shape of {root.shape}."
            )
    sizes = [g.shape[0] for g in grads]
    if len(set(sizes)) != 1:
        raise ValueError(
            f"vmap: Expected all tensors to have the same size in the mapped dimension, got sizes {sizes} for the mapped dimension"
        )
    with batch_level(sizes[0]) as batch:
        vectors = tuple(batch.close(g) for g in grads)
        found = _C._run_backward(roots, vectors, retain_graph, create_graph, wanted, allow, False)
        rows = [None if g is None else batch.full(*batch.open(g)) for g in found]
    return tuple(rows)


# The function hides the module of its name, as in PyTorch; `from retrograd.autograd.gradcheck import ...` still finds it.
from retrograd.autograd.gradcheck import gradcheck, gradgradcheck  # noqa: E402  isort: skip


if TYPE_CHECKING:
    from retrograd.autograd import (
        forward_ad as forward_ad,
        functional as functional,
        profiler as profiler,
        profiler_util as profiler_util,
    )
else:  # imported when first used
    _MODULES = ("forward_ad", "functional", "profiler", "profiler_util")

    def __getattr__(name):
        if name in _MODULES:
            return importlib.import_module(f"retrograd.autograd.{name}")
        from retrograd._missing import missing

        raise missing(__name__, name)

    def __dir__():
        return sorted({*globals(), *_MODULES})
