"""The vmap that was there before `torch.vmap`, under the names that programs still import: a result is a tensor or a tuple of tensors."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

from retrograd import _C
from retrograd._C import Tensor
from retrograd.func import vmap as _new_vmap

__all__ = ["vmap"]


def _vmap(func: Callable[..., Any], in_dims: Any = 0, out_dims: Any = 0, allow_none_pass_through: bool = False) -> Callable[..., Any]:
    """`torch.vmap` of a function of positional arguments. With `allow_none_pass_through`, None may stand in a tuple of results."""
    name = getattr(func, "__name__", None) or repr(func)
    if not (isinstance(out_dims, int) or (isinstance(out_dims, tuple) and all(isinstance(dim, int) for dim in out_dims))):
        raise ValueError(f"vmap({name}, ..., out_dims={out_dims}): `out_dims` must be an int or a tuple of int, one for each output.")

    @functools.wraps(func)
    def wrapped(*args: Any) -> Any:
        missing: set[int] = set()

        @functools.wraps(func)
        def checked(*args: Any) -> Any:
            """Zeros stand for None."""
            results = func(*args)
            if not isinstance(results, (Tensor, tuple)):
                raise ValueError(f"vmap({name}, ...): `{name}` must only return Tensors, got type {type(results)} as the return.")
            if isinstance(results, Tensor):
                return results
            for place, result in enumerate(results):
                if not isinstance(result, Tensor) and not (allow_none_pass_through and result is None):
                    raise ValueError(f"vmap({name}, ...): `{name}` must only return Tensors, got type {type(result)} for return {place}.")
            if isinstance(out_dims, tuple) and len(out_dims) != len(results):
                raise ValueError(
                    f"vmap({name}, ..., out_dims={out_dims}): `out_dims` must have one dim per output (got {len(results)} outputs) of {name}."
                )
            missing.update(place for place, result in enumerate(results) if result is None)
            return tuple(_C._ops.zeros(()) if result is None else result for result in results)

        results = _new_vmap(checked, in_dims, out_dims)(*args)
        return tuple(None if place in missing else result for place, result in enumerate(results)) if missing else results

    return wrapped


def vmap(func: Callable[..., Any], in_dims: Any = 0, out_dims: Any = 0) -> Callable[..., Any]:
    """Please use torch.vmap instead of this API."""
    warnings.warn("Please use `torch.vmap` instead of `torch._vmap_internals.vmap`.", FutureWarning, stacklevel=2)
    return _vmap(func, in_dims, out_dims)
