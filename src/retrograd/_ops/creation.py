"""Methods that make a tensor of the kind of another one from Python data."""

from __future__ import annotations

from typing import Any

import retrograd
from retrograd._C import Tensor

__all__ = ["new", "new_tensor"]


def new_tensor(self: Tensor, data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """Copy data into a new tensor that has the dtype and device of self unless told otherwise.

    >>> retrograd.zeros(1, dtype=retrograd.float64).new_tensor([1, 2]).dtype
    torch.float64
    """
    return retrograd.tensor(
        data,
        dtype=self.dtype if dtype is None else dtype,
        device=self.device if device is None else device,
        requires_grad=requires_grad,
    )


def new(self: Tensor, *args: Any, device: Any = None) -> Tensor:
    """Make a tensor of the dtype and device of self: of given sizes (not set), or from a sequence.

    >>> retrograd.zeros(1).new(2, 3).shape
    torch.Size([2, 3])
    """
    device = self.device if device is None else device
    if len(args) == 1 and isinstance(args[0], Tensor):
        return args[0].to(device=device, dtype=self.dtype).view_as(args[0])
    if len(args) == 1 and not isinstance(args[0], (int, retrograd.Size)):
        return retrograd.tensor(args[0], dtype=self.dtype, device=device)
    sizes = args[0] if len(args) == 1 and isinstance(args[0], retrograd.Size) else (args or (0,))
    return self.new_empty(sizes, device=device)
