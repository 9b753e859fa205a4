"""A mode under which `x[i]` with a tensor for an index can be traced: it can anyway."""

from __future__ import annotations

from typing import Any

import retrograd as torch
from retrograd.overrides import TorchFunctionMode

__all__ = ["TransformGetItemToIndex"]


class TransformGetItemToIndex(TorchFunctionMode):
    """Inside, `x[i]` with tensors for indices never reads them: a 0-d index selects as `index_select` does."""

    def __torch_function__(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None) -> Any:
        if func is torch.Tensor.__getitem__:
            indices = args[1] if isinstance(args[1], tuple) else (args[1],)
            return args[0][tuple(i.reshape(()) if isinstance(i, torch.Tensor) and i.dim() == 0 else i for i in indices)]
        return func(*args, **(kwargs or {}))
