"""The graph: nodes, edges and hooks on them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from retrograd import _C
from retrograd._C import Node, Tensor
from retrograd.utils.hooks import RemovableHandle

__all__ = ["GradientEdge", "Node", "get_gradient_edge", "increment_version"]


class GradientEdge(NamedTuple):
    """One output of a node: where a gradient can be fed in or asked for."""

    node: Node
    output_nr: int
    ownership_token: Any = None


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """The edge along which the gradient of a tensor arrives."""
    node, output_nr = _C._gradient_edge(tensor)
    return GradientEdge(node, output_nr)


def increment_version(tensor: Tensor | Iterable[Tensor]) -> None:
    """Tells autograd that the data of tensors was changed in a way it could not see."""
    for t in (tensor,) if isinstance(tensor, Tensor) else tensor:
        if t.is_inference():
            raise RuntimeError("Inplace update to inference tensor outside InferenceMode is not allowed.")
        t._bump_version()


def _register(node: Node, attribute: str, hook: Callable[..., Any]) -> RemovableHandle:
    hooks = getattr(node, attribute)
    if hooks is None:
        hooks = OrderedDict()
        setattr(node, attribute, hooks)
    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    return handle


def _register_hook(self: Node, hook: Callable[[Sequence[Tensor], Sequence[Tensor]], Any]) -> RemovableHandle:
    """Calls hook(grad_inputs, grad_outputs) after this node ran; a returned tuple takes the place of grad_inputs."""
    return _register(self, "_hooks", hook)


def _register_prehook(self: Node, hook: Callable[[Sequence[Tensor]], Any]) -> RemovableHandle:
    """Calls hook(grad_outputs) before this node runs; a returned tuple takes its place."""
    return _register(self, "_pre_hooks", hook)


Node.register_hook = _register_hook
Node.register_prehook = _register_prehook
