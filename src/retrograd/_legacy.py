"""Calls that fit no signature of an op and are accepted nonetheless, as PyTorch does: Tensor.set_() of a storage; and, with a warning, argument orders of
old, numbers before tensors, as in addcmul(input, value, tensor1, tensor2)."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from retrograd._C import Tensor


def call(function: Callable[..., Any], name: str, is_method: bool, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The call in today's order; NotImplemented where it is in no order that ever was. Asked for what fits no signature."""
    if name == "set_":
        return _set_storage(function, args, kwargs)
    if not kwargs.keys().isdisjoint(names := _OTHER_NAMES.get(name, {})):
        return function(*args, **{names.get(key, key): value for key, value in kwargs.items()})
    if name == "randint_like":
        return _randint_like(function, args, kwargs)
    if name in ("subtract", "subtract_") and len(args) == 3 and isinstance(args[1], (int, float)) and not isinstance(args[2], Tensor):
        return function(args[0], args[2], alpha=args[1], **kwargs)
    older = _order(name.rstrip("_"), is_method, args)
    if older is None or not kwargs.keys().isdisjoint(older[1]):
        return NotImplemented
    positional, named = older
    spelled = ", ".join(f"{key}=..." for key in named)
    warnings.warn(f"This overload of {name} is deprecated: pass the tensors first, and {spelled} by name.", stacklevel=2)
    return function(*positional, **named, **kwargs)


# Arguments that PyTorch knows by another name too: in another overload of its own.
_OTHER_NAMES = {"copy_": {"other": "src"}, "isin": {"element": "elements", "test_element": "test_elements"}}


def _randint_like(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Below a tensor of one number, of any dtype."""
    *rest, high = args if "high" not in kwargs else (*args, kwargs.pop("high"))
    if len(rest) != 1 or not isinstance(high, Tensor):
        return NotImplemented
    if high.dim():
        raise RuntimeError(f"high must be a scalar tensor and on CPU, got one of size {tuple(high.shape)}: index it, or call .item()")
    return function(*rest, int(high.item()), **kwargs)


_WITH_NUMBERS = {"addcmul", "addcdiv", "add", "sub", "addmm", "addbmm", "baddbmm", "addmv", "addr"}


def _set_storage(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    from retrograd.overrides import handle_torch_function, has_torch_function
    from retrograd.storage import StorageBase, memory_of

    self, *rest = args
    source = rest.pop(0) if rest else kwargs.get("source")
    if not isinstance(source, StorageBase):
        return NotImplemented
    if has_torch_function((self,)):
        return handle_torch_function(function, (self,), *args, **kwargs)
    return function(self, memory_of(source, self.dtype), *rest, **{name: given for name, given in kwargs.items() if name != "source"})


def _is_number(a: Tensor) -> bool:
    return a.dim() == 0 and not a.requires_grad


def _order(name: str, is_method: bool, args: tuple[Any, ...]) -> tuple[tuple[Any, ...], dict[str, Any]] | None:
    if name not in _WITH_NUMBERS:
        return None
    args = (*args[:1], *(a.item() if isinstance(a, Tensor) and _is_number(a) else a for a in args[1:-1]), *args[1:][-1:])
    numbers = [isinstance(a, (int, float, complex)) for a in args]
    match name, numbers:
        case (("addcmul" | "addcdiv"), [False, True, False, False]):
            return (args[0], *args[2:]), {"value": args[1]}
        case (("add" | "sub"), [False, True, _]):
            return (args[0], args[2]), {"alpha": args[1]}
        case (("addmm" | "addbmm" | "baddbmm" | "addmv" | "addr"), [False, True, True, False, False]) if is_method:
            return (args[0], *args[3:]), {"beta": args[1], "alpha": args[2]}
        case (("addmm" | "addbmm" | "baddbmm" | "addmv" | "addr"), [False, True, False, False]) if is_method:
            return (args[0], *args[2:]), {"beta": args[1]}
        case (("addmm" | "addbmm" | "baddbmm" | "addmv" | "addr"), [True, False, True, False, False]):
            return (args[1], *args[3:]), {"beta": args[0], "alpha": args[2]}
        case (("addmm" | "addbmm" | "baddbmm" | "addmv" | "addr"), [True, False, False, False]):
            return args[1:], {"beta": args[0]}
    return None
