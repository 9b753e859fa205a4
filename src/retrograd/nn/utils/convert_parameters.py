"""Parameters as one vector."""

from __future__ import annotations

from collections.abc import Iterable

from retrograd import _C
from retrograd._C import Tensor


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """All parameters, one after the other, in one vector."""
    flat = [p.view(-1) for p in parameters]
    if not flat:
        raise ValueError("torch.cat(): expected a non-empty list of Tensors")
    return _C._ops.cat(flat)


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Makes parameters views of successive pieces of a vector."""
    if not isinstance(vec, Tensor):
        raise TypeError(
            "expected torch.Tensor, but got: "
            f"{type(vec).__module__ + '.' if type(vec).__module__ != 'builtins' else ''}{type(vec).__name__}"
        )
    start = 0
    for p in parameters:
        end = start + p.numel()
        p.data = vec[start:end].view_as(p).data
        start = end
