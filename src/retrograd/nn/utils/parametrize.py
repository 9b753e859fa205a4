"""Parameters that are computed from others: each read of `module.weight` runs the parametrizations of its original."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any
from weakref import WeakValueDictionary

from retrograd import _C
from retrograd._C import Tensor
from retrograd.nn.modules.container import ModuleDict, ModuleList
from retrograd.nn.modules.module import Module
from retrograd.nn.parameter import Parameter

__all__ = [
    "ParametrizationList", "cached", "is_parametrized", "register_parametrization", "remove_parametrizations",
    "transfer_parametrizations_and_params", "type_before_parametrizations",
]  # fmt: skip

_cache_enabled = 0
_cache: dict[tuple[int, str], Tensor] = {}
_classes: WeakValueDictionary[tuple[type, frozenset[str]], type] = WeakValueDictionary()


@contextmanager
def cached() -> Iterator[None]:
    """Inside the block a parametrized tensor is computed when it is first read, and kept until the outermost block ends."""
    global _cache_enabled
    _cache_enabled += 1
    try:
        yield
    finally:
        _cache_enabled -= 1
        if not _cache_enabled:
            _cache.clear()


def _set(target: Tensor, value: Tensor) -> None:
    """Gives a tensor, which somebody may hold (an optimizer, say), other values and maybe another size."""
    if value.dtype == target.dtype and value is not target:
        target.data = value.detach()


def _register(module: Module, name: str, tensor: Tensor) -> None:
    if isinstance(tensor, Parameter):
        module.register_parameter(name, tensor)
    else:
        module.register_buffer(name, tensor)


def _name(value: Any) -> str:
    return type(value).__name__


class ParametrizationList(ModuleList):
    """The parametrizations of one tensor, in the order they apply, and what they start from: `original`, or `original0`, `original1`, ...

    Args:
        modules: the parametrizations.
        original: the tensor as it was; what it starts from is computed from it by right_inverse, where the parametrizations have one.
        unsafe: shape and dtype may change, and are not checked.
    """

    unsafe: bool
    is_tensor: bool
    ntensors: int

    def __init__(self, modules: Sequence[Module], original: Tensor, unsafe: bool = False) -> None:
        if not modules:
            raise ValueError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        shape, dtype = original.shape, original.dtype
        started = self._inverted(original)
        if isinstance(started, Tensor):
            self.is_tensor, self.ntensors = True, 1
            self._take_one(original, started)
        else:
            self.is_tensor, self.ntensors = False, len(started)
            for i, part in enumerate(started):
                if not isinstance(part, Tensor):
                    raise ValueError(
                        "'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). "
                        f"Got element {i} of the sequence with type {_name(part)}."
                    )
                if isinstance(original, Parameter):
                    part = Parameter(part, original.requires_grad)
                _register(self, f"original{i}", part)
        if not unsafe:
            self._check(shape, dtype)

    def _inverted(self, value: Any) -> Any:
        """What to start from to get `value`, from the last parametrization to the first; those that offer no inverse are passed over."""
        with _C.no_grad():
            for parametrization in reversed(list(self)):
                if hasattr(parametrization, "right_inverse"):
                    with suppress(NotImplementedError):
                        value = parametrization.right_inverse(value)
        if not isinstance(value, (Tensor, Sequence)):
            raise ValueError(f"'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). Got {_name(value)}")
        return value

    def _take_one(self, original: Tensor, started: Tensor) -> None:
        if started is not original:
            if started.dtype != original.dtype:
                raise ValueError(
                    "When `right_inverse` outputs one tensor, it may not change the dtype.\n"
                    f"original.dtype: {original.dtype}\nright_inverse(original).dtype: {started.dtype}"
                )
            if started.device != original.device:
                raise ValueError(
                    "When `right_inverse` outputs one tensor, it may not change the device.\n"
                    f"original.device: {original.device}\nright_inverse(original).device: {started.device}"
                )
            _set(original, started)
        _register(self, "original", original)

    def _check(self, shape: _C.Size, dtype: _C.dtype) -> None:
        made = self()
        if not isinstance(made, Tensor):
            raise ValueError(f"A parametrization must return a tensor. Got {_name(made)}.")
        if made.dtype != dtype:
            raise ValueError(
                "Registering a parametrization may not change the dtype of the tensor, unless `unsafe` flag is enabled.\n"
                f"unparametrized dtype: {dtype}\nparametrized dtype: {made.dtype}"
            )
        if made.shape != shape:
            raise ValueError(
                "Registering a parametrization may not change the shape of the tensor, unless `unsafe` flag is enabled.\n"
                f"unparametrized shape: {shape}\nparametrized shape: {made.shape}"
            )

    def _originals(self) -> list[Tensor]:
        return [self.original] if self.is_tensor else [getattr(self, f"original{i}") for i in range(self.ntensors)]

    def right_inverse(self, value: Tensor) -> None:
        """Sets the originals so that the parametrized tensor is `value`, as far as the parametrizations' right_inverse can."""
        with _C.no_grad():
            given: Any = value
            for parametrization in reversed(list(self)):
                inverse = getattr(parametrization, "right_inverse", None)
                if inverse is None:
                    raise RuntimeError(f"parametrization {_name(parametrization)} does not implement right_inverse.")
                given = inverse(given)
        if self.is_tensor:
            if not isinstance(given, Tensor):
                raise ValueError(f"`right_inverse` should return a tensor. Got {_name(given)}")
            given = [given]
        elif not isinstance(given, Sequence):
            raise ValueError(f"'right_inverse' must return a sequence of tensors. Got {_name(given)}.")
        elif len(given) != self.ntensors:
            raise ValueError(
                f"'right_inverse' must return a sequence of tensors of length {self.ntensors}. Got a sequence of length {len(given)}."
            )
        for i, (original, part) in enumerate(zip(self._originals(), given, strict=True)):
            name = "original" if self.is_tensor else f"original{i}"
            if not isinstance(part, Tensor):
                raise ValueError(f"'right_inverse' must return a sequence of tensors. Got element {i} of type {_name(part)}")
            if part.dtype != original.dtype:
                where = "The tensor" if self.is_tensor else f"Tensor {i}"
                raise ValueError(f"{where} returned by `right_inverse` has dtype {part.dtype} while `{name}` has dtype {original.dtype}")
            _set(original, part)

    def forward(self) -> Tensor:
        first, *others = self
        value = first(*self._originals())
        for parametrization in others:
            value = parametrization(value)
        return value


# -- classes of parametrized modules ------------------------------------------

# Note [Parametrized classes]
# A property can only live in a class, so a module with parametrizations is an instance of a subclass of what it was, which has one property per parametrized
# name and nothing else of its own. Such a class depends on the class below it and on the names alone; modules with the same two share it, and a
# change of the names moves a module to another class. So copies of a module never meet each other's changes.


def _property(name: str) -> property:
    def read(self: Any) -> Tensor:
        made = self.parametrizations[name]
        if not _cache_enabled:
            return made()
        key = (id(self), name)
        if key not in _cache:
            _cache[key] = made()
        return _cache[key]

    def write(self: Any, value: Tensor) -> None:
        self.parametrizations[name].right_inverse(value)

    return property(read, write)


def _getstate(self: Any) -> Any:
    raise RuntimeError(
        "Serialization of parametrized modules is only supported through state_dict(): their class exists in this process only. Save "
        "module.state_dict(), and load it into a module with the same parametrizations."
    )


def _deepcopy(self: Any, memo: dict[int, Any]) -> Any:
    if id(self) in memo:
        return memo[id(self)]
    new = memo[id(self)] = self.__new__(type(self))
    new.__setstate__(copy.deepcopy(super(type(self), self).__getstate__(), memo))
    return new


def _class_of(base: type, names: frozenset[str]) -> type:
    """See Note [Parametrized classes]."""
    if not names:
        return base
    found = _classes.get((base, names))
    if found is None:
        members: dict[str, Any] = {name: _property(name) for name in names}
        members["__getstate__"] = _getstate
        if getattr(base, "__deepcopy__", None) in (None, Module.__deepcopy__):
            members["__deepcopy__"] = _deepcopy
        found = _classes[base, names] = type(f"Parametrized{base.__name__}", (base,), members)
    return found


def _put_in_class(module: Module, base: type, names: frozenset[str]) -> None:
    module.__class__ = _class_of(base, names)


def _parametrized_names(module: Module) -> frozenset[str]:
    found = getattr(module, "parametrizations", None)
    return frozenset(found) if isinstance(found, ModuleDict) else frozenset()


# -- the tools ----------------------------------------------------------------


def is_parametrized(module: Module, tensor_name: str | None = None) -> bool:
    """Whether a module has parametrizations, or has them for the tensor of a name."""
    names = _parametrized_names(module)
    return bool(names) if tensor_name is None else tensor_name in names


def type_before_parametrizations(module: Module) -> type:
    """The class a module had before anything of it was parametrized."""
    return type(module).__bases__[0] if is_parametrized(module) else type(module)


def register_parametrization(module: Module, tensor_name: str, parametrization: Module, *, unsafe: bool = False) -> Module:
    """From now on module.<tensor_name> is parametrization(original), computed when it is read.

    Args:
        tensor_name: of a parameter or buffer; one that is parametrized gets another parametrization on top.
        parametrization: its forward computes the tensor, its right_inverse, if it has one, what to start from.
        unsafe: the parametrization may change shape and dtype, which is not checked.
    """
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        if not unsafe:
            _check_next(getattr(module, tensor_name), parametrization)
        present: Any = module.parametrizations[tensor_name]
        present.append(parametrization)
        present.unsafe |= unsafe
    elif isinstance(original := module._parameters.get(tensor_name, module._buffers.get(tensor_name)), Tensor):
        made = ParametrizationList([parametrization], original, unsafe=unsafe)
        delattr(module, tensor_name)
        base, names = type_before_parametrizations(module), _parametrized_names(module)
        if not names:
            module.parametrizations = ModuleDict()
        _put_in_class(module, base, names | {tensor_name})
        module.parametrizations[tensor_name] = made
    else:
        raise ValueError(f"Module '{module}' does not have a parameter, a buffer, or a parametrized element with name '{tensor_name}'")
    return module


def _check_next(value: Tensor, parametrization: Any) -> None:
    """One more parametrization keeps shape and dtype, and so does its inverse."""
    made = parametrization(value)
    if not isinstance(made, Tensor):
        raise ValueError(f"A parametrization must return a tensor. Got {_name(made)}.")
    for what in ("dtype", "shape"):
        if getattr(made, what) != getattr(value, what):
            raise ValueError(
                f"Registering a parametrization may not change the {what} of the tensor, unless the `unsafe` flag is enabled.\n"
                f"module.weight.{what}: {getattr(value, what)}\nparametrization(module.weight).{what}: {getattr(made, what)}"
            )
    if not hasattr(parametrization, "right_inverse"):
        return
    try:
        started = parametrization.right_inverse(made)
    except NotImplementedError:
        return
    if not isinstance(started, Tensor):
        raise ValueError(f"parametrization.right_inverse must return a tensor. Got: {_name(started)}")
    for what in ("shape", "dtype"):
        if getattr(started, what) != getattr(value, what):
            raise ValueError(
                f"The tensor returned by parametrization.right_inverse must have the same {what} as module.weight, unless the `unsafe` "
                f"flag is enabled.\nmodule.weight.{what}: {getattr(value, what)}\nreturned {what}: {getattr(started, what)}"
            )


def remove_parametrizations(module: Module, tensor_name: str, leave_parametrized: bool = True) -> Module:
    """Makes module.<tensor_name> an ordinary parameter or buffer again.

    Args:
        leave_parametrized: with the value the parametrizations gave it last; otherwise with that of the original.
    """
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    parametrizations: Any = module.parametrizations
    made = parametrizations[tensor_name]
    tensor: Tensor
    if made.is_tensor:
        tensor = made.original
        if leave_parametrized:
            with _C.no_grad():
                value = getattr(module, tensor_name)
            if value.dtype == tensor.dtype:
                _set(tensor, value)
            else:
                tensor = Parameter(value, tensor.requires_grad) if isinstance(tensor, Parameter) else value
    elif leave_parametrized:
        value = getattr(module, tensor_name)
        tensor = Parameter(value.detach()) if value.requires_grad else value
    else:
        raise ValueError(
            "Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is parametrized in terms of a sequence of tensors."
        )
    base = type_before_parametrizations(module)
    del parametrizations[tensor_name]
    if not len(parametrizations):
        del module.parametrizations
    _put_in_class(module, base, _parametrized_names(module))
    _register(module, tensor_name, tensor)
    return module


def transfer_parametrizations_and_params(from_module: Module, to_module: Module, tensor_name: str | None = None) -> Module:
    """Parametrizes the tensors of one module as those of another are, and gives them the values of the other's originals.

    Args:
        tensor_name: of the one tensor to do it for; all that are parametrized if left out.
    """
    if not is_parametrized(from_module):
        return to_module
    sources: Any = from_module.parametrizations
    for name in list(sources) if tensor_name is None else [tensor_name]:
        source = sources[name]
        if not hasattr(to_module, name):
            value = getattr(from_module, name)
            _register(to_module, name, Parameter(value) if isinstance(source._originals()[0], Parameter) else value)
        for parametrization in source:
            register_parametrization(to_module, name, parametrization, unsafe=source.unsafe)
        targets: Any = to_module.parametrizations
        for kept, key in zip(source._originals(), _keys(source), strict=True):
            setattr(targets[name], key, kept)
    return to_module


def _keys(made: ParametrizationList) -> list[str]:
    return ["original"] if made.is_tensor else [f"original{i}" for i in range(made.ntensors)]
