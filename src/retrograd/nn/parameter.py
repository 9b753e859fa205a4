"""Parameter and Buffer: tensors that a Module keeps when they are assigned to it."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any, Self

from retrograd import _C
from retrograd._C import Tensor
from retrograd._utils import _rebuild_parameter, _rebuild_parameter_with_state

__all__ = ["Buffer", "Parameter"]


class _ParameterMeta(type(Tensor)):  # type: ignore[misc]
    """isinstance(t, Parameter) also holds for tensors of other subclasses that Parameter(...) has marked."""

    def __instancecheck__(cls, instance: Any) -> bool:
        if super().__instancecheck__(instance):
            return True
        return cls is Parameter and isinstance(instance, Tensor) and getattr(instance, "_is_param", False)


class Parameter(Tensor, metaclass=_ParameterMeta):
    """A tensor that is a parameter of the module it is assigned to. Operations on it give plain tensors.

    Args:
        data: the values, which are shared, not copied; an empty tensor if left out.
        requires_grad: whether gradients are wanted.
    """

    def __new__(cls, data: Any = None, requires_grad: bool = True) -> Self:
        if data is None:
            data = _C._ops.empty((0,))
        if type(data) is Tensor or type(data) is Parameter:
            return Tensor._make_subclass(cls, data, requires_grad)
        if not isinstance(data, Tensor):
            raise TypeError(f"Parameter() expects a Tensor, got {type(data).__name__}")
        # Another subclass stays what it is: it only gets marked.
        marked = data.detach().requires_grad_(requires_grad)
        if type(marked) is not type(data):
            raise RuntimeError(
                f"Creating a Parameter from an instance of type {type(data).__name__} requires that detach() returns an instance of the "
                f"same type, but return type {type(marked).__name__} was found instead. Give the type a detach() that returns one of "
                "its own."
            )
        marked.__dict__["_is_param"] = True
        return marked  # type: ignore[return-value]  # what isinstance() takes for a Parameter

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if id(self) in memo:
            return memo[id(self)]
        result = type(self)(self.data.clone(), self.requires_grad)
        memo[id(self)] = result
        return result

    def __repr__(self) -> str:  # type: ignore[override]
        return "Parameter containing:\n" + super().__repr__()

    def __reduce_ex__(self, protocol: int) -> tuple[Any, ...]:  # type: ignore[override]
        state = self.__getstate__()
        if state:
            return _rebuild_parameter_with_state, (self.data, self.requires_grad, OrderedDict(), state)
        return _rebuild_parameter, (self.data, self.requires_grad, OrderedDict())

    __torch_function__ = _C._disabled_torch_function_impl


_C._set_parameter_type(Parameter)


class _BufferMeta(type(Tensor)):  # type: ignore[misc]
    """isinstance(t, Buffer) asks for the mark that Buffer(...) leaves."""

    def __instancecheck__(cls, instance: Any) -> bool:
        if cls is Buffer:
            return isinstance(instance, Tensor) and getattr(instance, "_is_buffer", False)
        return super().__instancecheck__(instance)


class Buffer(Tensor, metaclass=_BufferMeta):
    """Marks a tensor, so that assigning it to a module registers it as a buffer.

    Args:
        data: the values, which are shared, not copied.
        persistent: whether the buffer belongs to the module's state_dict.
    """

    persistent: bool

    def __new__(cls, data: Any = None, *, persistent: bool = True) -> Self:
        if data is None:
            data = _C._ops.empty((0,))
        marked = data.detach()._mark_requires_grad(data.requires_grad)
        marked.persistent = persistent
        marked._is_buffer = True
        return marked

    __torch_function__ = _C._disabled_torch_function_impl
