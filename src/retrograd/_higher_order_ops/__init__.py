"""torch._higher_order_ops: control flow as functions, as far as it is there."""

from typing import Any

from retrograd._control import cond as cond, while_loop as while_loop

__all__ = ["cond", "while_loop"]


def __getattr__(name: str) -> Any:
    raise AttributeError(f"torch._higher_order_ops.{name} is not there: of PyTorch's higher-order ops there are {' and '.join(__all__)}")
