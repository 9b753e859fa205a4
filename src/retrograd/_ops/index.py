"""Index ops that are written in other ops."""

from __future__ import annotations

from typing import Literal, overload

import retrograd as torch
from retrograd import Tensor
from retrograd._ops.out import written


@overload
def nonzero(input: Tensor, *, out: Tensor | None = None, as_tuple: Literal[False] = False) -> Tensor: ...
@overload
def nonzero(input: Tensor, *, out: Tensor | None = None, as_tuple: Literal[True]) -> tuple[Tensor, ...]: ...
def nonzero(input: Tensor, *, out: Tensor | None = None, as_tuple: bool = False) -> Tensor | tuple[Tensor, ...]:
    """The indices of the elements that are not zero: one row each, or with as_tuple one tensor per dimension."""
    if as_tuple:
        if out is not None:
            raise TypeError("nonzero() got an unexpected keyword argument 'out' together with as_tuple=True")
        return torch._nonzero(input if input.dim() else input.unsqueeze(0)).unbind(1)
    return written(torch._nonzero(input), out, "nonzero: Expected out tensor to have scalar type {result} but got scalar type{out}")


def isin(
    elements: Tensor | float, test_elements: Tensor | float, *, assume_unique: bool = False, invert: bool = False, out: Tensor | None = None
) -> Tensor:
    """Whether each element is among test_elements; either may be a number, not both."""
    if not isinstance(elements, torch.Tensor) and not isinstance(test_elements, torch.Tensor):
        raise TypeError(
            f"isin(): one of elements and test_elements must be a Tensor, got {type(elements).__name__} and {type(test_elements).__name__}"
        )
    elements = torch.as_tensor(elements)
    test_elements = torch.as_tensor(test_elements)
    for t in (elements, test_elements):
        if t.dtype == torch.bool:
            raise RuntimeError("Unsupported input type encountered for isin(): Bool")
        if t.is_complex():
            raise RuntimeError(f"Unsupported input type encountered for isin(): {t.dtype}")
    dtype = torch.result_type(elements, test_elements)
    values = test_elements.detach().to(dtype).reshape(-1)
    wanted = elements.detach().to(dtype)
    if values.numel() <= 16:  # a few comparisons are cheaper than a sort
        found = torch.zeros(wanted.shape, dtype=torch.bool, device=wanted.device)
        for value in values:
            found = found | (wanted == value)
    else:
        values = values.sort().values
        at = torch.searchsorted(values, wanted.contiguous()).clamp(max=values.numel() - 1)
        found = values[at] == wanted
    found = ~found if invert else found
    return written(found, out)
