"""Modules that learn the sizes of their parameters from the first input."""

from __future__ import annotations

import itertools
from typing import Any

from retrograd import _C
from retrograd.nn.parameter import UninitializedBuffer, UninitializedParameter, is_lazy

__all__ = ["LazyModuleMixin"]


class LazyModuleMixin:
    """Stands before a class of modules, `class LazyX(LazyModuleMixin, X)`, whose parameters have no sizes before the first call.

    That call runs initialize_parameters, for the class to define, on its arguments first, and then makes the module one of `cls_to_become`.
    """

    cls_to_become: type | None = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        module: Any = self
        self._load_hook = module._register_load_state_dict_pre_hook(self._lazy_load_hook)
        self._initialize_hook = module.register_forward_pre_hook(self._infer_parameters, with_kwargs=True)

    def _lazy_tensors(self) -> Any:
        module: Any = self
        return itertools.chain(module._parameters.items(), module._buffers.items())

    def _save_to_state_dict(self, destination: dict[str, Any], prefix: str, keep_vars: bool) -> None:
        module: Any = self
        for name, tensor in self._lazy_tensors():
            if tensor is not None and name not in module._non_persistent_buffers_set:
                destination[prefix + name] = tensor if is_lazy(tensor) or keep_vars else tensor.detach()

    def _lazy_load_hook(self, state_dict: Any, prefix: str, *rest: Any) -> None:
        """Takes the sizes from a state_dict, where it has them."""
        for name, tensor in self._lazy_tensors():
            given = state_dict.get(prefix + name)
            if is_lazy(tensor) and given is not None and not is_lazy(given):
                with _C.no_grad():
                    tensor.materialize(given.shape)

    def initialize_parameters(self, *args: Any, **kwargs: Any) -> None:
        """To be defined by subclasses: gives the parameters sizes and values, from the arguments of forward."""
        raise NotImplementedError(f"initialize_parameters is not implemented for {type(self).__name__}")

    def has_uninitialized_params(self) -> bool:
        """Whether a parameter or buffer has no size yet."""
        return any(is_lazy(tensor) for _, tensor in self._lazy_tensors())

    def _infer_parameters(self, module: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None) -> None:
        """The hook of the first call."""
        module.initialize_parameters(*args, **(kwargs or {}))
        if module.has_uninitialized_params():
            raise RuntimeError(
                f"module {type(module).__name__} has not been fully initialized: its initialize_parameters() left some without a size"
            )
        module._initialize_hook.remove()
        module._load_hook.remove()
        del module._initialize_hook, module._load_hook
        if module.cls_to_become is not None:
            module.__class__ = module.cls_to_become

    def _replicate_for_data_parallel(self) -> Any:
        raise RuntimeError(
            "Modules with uninitialized parameters can't be used with `DataParallel`. Run a dummy forward pass to correctly initialize "
            "the modules"
        )


class LazyInput(LazyModuleMixin):
    """What the lazy layers share: one size, read from a dimension of the input. A family says which, and what shapes follow from it.

    The constructor of the class behind is called with 0 for that size, and then its tensors forget theirs.
    """

    _size_name: str  # the attribute that holds it
    _size_dim: int  # the dimension of the input

    def _shapes(self, size: int) -> dict[str, tuple[int, ...]]:
        """The shapes of the tensors that depend on it, or on others that are drawn with them."""
        raise NotImplementedError

    def _forget_shapes(self, device: Any, dtype: Any) -> None:
        """For the end of a constructor."""
        module: Any = self
        for name in self._shapes(0):
            if module._parameters.get(name) is not None:
                module._parameters[name] = UninitializedParameter(device=device, dtype=dtype)
            elif module._buffers.get(name) is not None:
                module._buffers[name] = UninitializedBuffer(device=device, dtype=dtype)

    def reset_parameters(self) -> None:
        """Draws the parameters anew, once they have sizes."""
        if not self.has_uninitialized_params() and getattr(self, self._size_name) != 0:
            super().reset_parameters()  # type: ignore[misc]

    def _size_of(self, input: Any) -> int:
        return input.shape[self._size_dim]

    def initialize_parameters(self, input: Any, *args: Any, **kwargs: Any) -> None:
        """Takes the size from the input, and gives the parameters shapes and values."""
        module: Any = self
        size = self._size_of(input)
        if not self.has_uninitialized_params():
            if getattr(self, self._size_name) == 0:  # sizes came with a state_dict
                setattr(self, self._size_name, size)
            return
        with _C.no_grad():
            setattr(self, self._size_name, size)
            for name, shape in self._shapes(size).items():
                tensor = getattr(module, name)
                if is_lazy(tensor):
                    tensor.materialize(shape)
            self.reset_parameters()
