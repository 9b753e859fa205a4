"""swap_tensors."""

from __future__ import annotations

import weakref
from typing import Any

from retrograd import _C
from retrograd._C import Tensor


def swap_tensors(t1: Tensor, t2: Tensor) -> None:
    """Exchanges two leaves in all but their identity: memory, size, dtype, class, attributes, requires_grad and grad.

    A gradient that a graph made before has yet to bring goes to the object it was made with.
    """
    for name, tensor in (("t1", t1), ("t2", t2)):
        if not isinstance(tensor, Tensor):
            raise TypeError(f"swap_tensors(): argument '{name}' must be Tensor, not {type(tensor).__name__}")
        if not tensor.is_leaf:
            raise RuntimeError(f"Cannot swap {name} because it is not a leaf: its history belongs to it")
        if tensor._is_view():
            raise RuntimeError(f"Cannot swap {name} because it is a view of another tensor")
        if weakref.getweakrefs(tensor):
            raise RuntimeError(f"Cannot swap {name} because it has weakref associated with it")
    slots = [{s for kind in type(t).__mro__ for s in kind.__dict__.get("__slots__", ())} for t in (t1, t2)]
    if slots[0] != slots[1]:
        raise RuntimeError("Cannot swap t1 and t2 if they have different slots")
    if t1 is t2:
        return
    parts: list[dict[str, Any]] = [
        {"data": t.data, "class": type(t), "dict": dict(t.__dict__), "requires_grad": t.requires_grad, "grad": t.grad} for t in (t1, t2)
    ]
    with _C.no_grad():
        for tensor, new in ((t1, parts[1]), (t2, parts[0])):
            tensor.grad = None
            tensor.requires_grad_(False)
            tensor.data = new["data"]
            tensor.__class__ = new["class"]
            tensor.__dict__.clear()
            tensor.__dict__.update(new["dict"])
            tensor.requires_grad_(new["requires_grad"])
            tensor.grad = new["grad"]
