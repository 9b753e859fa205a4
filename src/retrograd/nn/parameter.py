"""Parameter and Buffer: tensors that a Module keeps when they are assigned to it."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any, Self

from retrograd import _C
from retrograd._C import Tensor
from retrograd._utils import _rebuild_parameter, _rebuild_parameter_with_state

__all__ = ["Buffer", "Parameter", "UninitializedBuffer", "UninitializedParameter", "UninitializedTensorMixin", "is_lazy"]


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


# -- tensors without a size yet -----------------------------------------------

# What may be asked of them, and what Module.to() and its like do to them.
_ALLOWED = frozenset(
    getattr(Tensor, name)
    for name in (
        "__hash__", "size", "copy_", "is_complex", "is_floating_point", "half", "float", "double", "char", "short", "int", "long", "cuda",
        "cpu", "to", "get_device", "_has_compatible_shallow_copy_type",
    )
    if hasattr(Tensor, name)
)  # fmt: skip


class UninitializedTensorMixin:
    """A tensor that gets its size later, by materialize(); until then nothing can be computed with it."""

    cls_to_become: type

    def materialize(self, shape: Any, device: Any = None, dtype: Any = None) -> None:
        """Gives it a size, memory that nobody has filled, and the class it was to have."""
        tensor: Any = self
        with _C.no_grad():
            memory = _C._ops.empty(
                tuple(shape), device=tensor.data.device if device is None else device, dtype=tensor.data.dtype if dtype is None else dtype
            )
        tensor.data = memory
        tensor.__class__ = self.cls_to_become

    @property
    def shape(self) -> Any:
        raise RuntimeError(
            "Can't access the shape of an uninitialized parameter or buffer. This error usually happens in `load_state_dict` when trying "
            "to load an uninitialized parameter into an initialized one. Call `forward` to initialize the parameters first."
        )

    def share_memory_(self) -> Any:
        raise RuntimeError(
            "Can't share memory on an uninitialized parameter or buffer. Call `forward` to initialize the parameters before calling "
            "`module.share_memory()`."
        )

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        tensor: Any = self
        return type(self), (tensor.requires_grad,)

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        # Attributes come as method wrappers, and as the setters and getters of properties.
        if func in _ALLOWED or type(func).__name__ == "method-wrapper":
            return _C._disabled_torch_function_impl(func, types, args, kwargs or {})
        raise ValueError(
            f"Attempted to use an uninitialized parameter in {func}. This error happens when you are using a `LazyModule` or explicitly "
            "manipulating `UninitializedParameter` objects. Call the module on an example first, which gives its parameters sizes."
        )


class UninitializedParameter(UninitializedTensorMixin, Parameter):  # type: ignore[misc]
    """A Parameter whose size is not known yet."""

    cls_to_become = Parameter

    def __new__(cls, requires_grad: bool = True, device: Any = None, dtype: Any = None) -> Self:
        return Tensor._make_subclass(cls, _C._ops.empty((0,), device=device, dtype=dtype), requires_grad)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if id(self) in memo:
            return memo[id(self)]
        result = memo[id(self)] = type(self)(self.requires_grad, self.data.device, self.data.dtype)
        return result


class UninitializedBuffer(UninitializedTensorMixin, Tensor):  # type: ignore[misc]
    """A buffer whose size is not known yet."""

    cls_to_become = Tensor
    persistent: bool

    def __new__(cls, requires_grad: bool = False, device: Any = None, dtype: Any = None, persistent: bool = True) -> Self:
        made = Tensor._make_subclass(cls, _C._ops.empty((0,), device=device, dtype=dtype), requires_grad)
        made.persistent = persistent
        made._is_buffer = True  # type: ignore[attr-defined]
        return made

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = super().__torch_function__(func, types, args, kwargs)
        if type(result) is Tensor and func in _ALLOWED:  # converted by Module.to() and its like, which has no other place to keep it in
            return cls(device=result.device, dtype=result.dtype, persistent=args[0].persistent)
        return result


def is_lazy(param: Any) -> bool:
    """Whether a parameter or buffer has no size yet."""
    return isinstance(param, UninitializedTensorMixin)
