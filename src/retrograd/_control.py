"""Control flow as functions, which PyTorch's compiler keeps in its graphs: here they choose and loop as Python does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from retrograd._C import Tensor

__all__ = ["cond", "while_loop"]


def _truth(value: Any, what: str) -> bool:
    if isinstance(value, Tensor):
        if value.numel() != 1:
            raise RuntimeError(f"Expected {what} to be bool or single-element tensor, but got {value}.")
        return bool(value)
    if not isinstance(value, (bool, int, float)):
        raise RuntimeError(f"Expected {what} to be bool or tensor, but got {value}.")
    return bool(value)


def _check_callable(*functions: Any, names: str) -> None:
    if not all(map(callable, functions)):
        raise RuntimeError(f"Expect {names} to be callable.")


def cond(pred: Any, true_fn: Callable[..., Any], false_fn: Callable[..., Any], operands: Sequence[Any] = ()) -> Any:
    """true_fn(*operands) if pred, a truth value or a tensor of one element, is true, else false_fn(*operands); the other is not run.

    Example:
        >>> import retrograd as torch
        >>> x = torch.tensor(3.0)
        >>> torch.cond(x > 0, torch.sqrt, torch.neg, (x,))
        tensor(1.7321)
    """
    if not isinstance(operands, (tuple, list)):
        raise RuntimeError(f"Expect operands to be a tuple or a list of what the branches take, but got {type(operands).__name__}.")
    _check_callable(true_fn, false_fn, names="true_fn and false_fn")
    return (true_fn if _truth(pred, "pred") else false_fn)(*operands)


def while_loop(cond_fn: Callable[..., Any], body_fn: Callable[..., Any], carried_inputs: Sequence[Any]) -> tuple[Any, ...]:
    """What body_fn makes of carried_inputs, again and again while cond_fn of them is true. Shapes and dtypes stay as they are.

    Example:
        >>> import retrograd as torch
        >>> torch.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * 2), (torch.tensor(0), torch.ones(2)))
        (tensor(3), tensor([8., 8.]))
    """
    _check_callable(cond_fn, body_fn, names="cond_fn and body_fn")
    if not isinstance(carried_inputs, (tuple, list)):
        raise RuntimeError(f"Expect carried_inputs to be a tuple or a list, but got {type(carried_inputs).__name__}.")
    carried = tuple(carried_inputs)
    while _truth(cond_fn(*carried), "the result of cond_fn"):
        made = body_fn(*carried)
        made = tuple(made) if isinstance(made, (tuple, list)) else (made,)
        if len(made) != len(carried):
            raise RuntimeError(
                f"Expected body_fn_output and carried_inputs to have the same number of items, but got {len(made)} and {len(carried)}."
            )
        for i, (new, old) in enumerate(zip(made, carried, strict=True)):
            if isinstance(old, Tensor) and (not isinstance(new, Tensor) or (new.shape, new.dtype) != (old.shape, old.dtype)):
                raise RuntimeError(
                    f"Expected body_fn_output and carried_inputs to have same metadata but item {i} is {_described(new)} instead of {_described(old)}."
                )
        carried = made
    return carried


def _described(value: Any) -> str:
    return f"a tensor of shape {list(value.shape)} and {value.dtype}" if isinstance(value, Tensor) else f"a {type(value).__name__}"
