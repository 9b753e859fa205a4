"""Running a graph once to note the shapes of all results."""

from __future__ import annotations

from typing import Any, NamedTuple

import retrograd as torch
from retrograd.fx.interpreter import Interpreter
from retrograd.fx.node import Node, map_aggregate

__all__ = ["ShapeProp", "TensorMetadata"]


class TensorMetadata(NamedTuple):
    """What is noted of a tensor."""

    shape: torch.Size
    dtype: torch.dtype
    requires_grad: bool
    stride: tuple[int, ...]
    memory_format: torch.memory_format | None
    is_quantized: bool
    qparams: dict[str, Any]


def _extract_tensor_metadata(result: torch.Tensor, include_contiguity: bool = True) -> TensorMetadata:
    formats = {
        2: (torch.contiguous_format,),
        4: (torch.contiguous_format, torch.channels_last),
        5: (torch.contiguous_format, torch.channels_last_3d),
    }
    memory_format = None
    if include_contiguity:
        possible = formats.get(result.dim(), (torch.contiguous_format,))
        memory_format = next((f for f in possible if result.is_contiguous(memory_format=f)), None)
    return TensorMetadata(result.shape, result.dtype, result.requires_grad, result.stride(), memory_format, False, {})


class ShapeProp(Interpreter):
    """Runs a graph module and puts into `node.meta` what kind of tensor each node gives: "tensor_meta" and "type"."""

    def __init__(self, gm: Any, fake_mode: Any = None) -> None:
        super().__init__(gm)
        if fake_mode is not None:
            raise NotImplementedError("ShapeProp(fake_mode=...): there is no fake tensor mode; propagate tensors on device 'meta' instead")

    def run_node(self, n: Node) -> Any:
        try:
            result = super().run_node(n)
        except Exception as error:
            raise RuntimeError(f"ShapeProp error for: node={n.format_node()} with meta={n.meta}") from error
        found = False

        def note(x: Any) -> Any:
            nonlocal found
            if isinstance(x, torch.Tensor):
                found = True
                return _extract_tensor_metadata(x)
            return x

        meta = map_aggregate(result, note)
        if found:
            n.meta["tensor_meta"] = meta
        n.meta["type"] = type(result)
        return result

    def propagate(self, *args: Any) -> Any:
        """Runs the module on these arguments; its result."""
        return super().run(*args)
