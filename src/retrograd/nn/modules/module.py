"""Module: the base class of everything that has parameters."""

from __future__ import annotations

import copy
import itertools
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from retrograd import _C, __future__ as _conversion
from retrograd._C import Tensor
from retrograd._types import typename
from retrograd.nn.modules import _hooks, _mode_calls
from retrograd.nn.modules._hooks import (
    CallWithHooks,
    register_module_backward_hook,
    register_module_buffer_registration_hook,
    register_module_forward_hook,
    register_module_forward_pre_hook,
    register_module_full_backward_hook,
    register_module_full_backward_pre_hook,
    register_module_module_registration_hook,
    register_module_parameter_registration_hook,
)
from retrograd.nn.modules._state import StateDict, _IncompatibleKeys  # noqa: F401
from retrograd.nn.parameter import Buffer, Parameter

__all__ = [
    "Module", "register_module_backward_hook", "register_module_buffer_registration_hook", "register_module_forward_hook",
    "register_module_forward_pre_hook", "register_module_full_backward_hook", "register_module_full_backward_pre_hook",
    "register_module_module_registration_hook", "register_module_parameter_registration_hook",
]  # fmt: skip

T = TypeVar("T", bound="Module")

_INIT_FIRST = "Call super().__init__() first, at the beginning of __init__()."
_object_setattr = object.__setattr__
_ATOMS = frozenset((bool, int, float, str, type(None)))  # which are their own copies
_CONTAINERS = frozenset((dict, list, set, OrderedDict))
_watcher: Any = None  # of the doctor, while it looks closely: told of zero_grad()


def _forward_unimplemented(self: Any, *input: Any) -> None:
    """To be defined by every subclass: what the module computes."""
    raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')


class Module(CallWithHooks, StateDict):
    """Base class of neural network modules.

    Assigning a Parameter, a Buffer or another Module to an attribute registers it; calling the module calls its forward().

    Example:
        >>> import retrograd as torch
        >>> class Twice(torch.nn.Module):
        ...     def __init__(self):
        ...         super().__init__()
        ...         self.scale = torch.nn.Parameter(torch.tensor(2.0))
        ...
        ...     def forward(self, x):
        ...         return x * self.scale
        >>> Twice()(torch.ones(2)).tolist()
        [2.0, 2.0]
    """

    dump_patches: bool = False
    training: bool
    call_super_init: bool = False
    _compiled_call_impl: Callable[..., Any] | None = None
    T_destination = TypeVar("T_destination", bound=dict[str, Any])

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        _C._quicken_module(cls)  # see Note [Quick modules] in csrc/python/module_type.cpp

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if not self.call_super_init and kwargs:
            raise TypeError(f"{type(self).__name__}.__init__() got an unexpected keyword argument '{next(iter(kwargs))}'")
        if not self.call_super_init and args:
            raise TypeError(f"{type(self).__name__}.__init__() takes 1 positional argument but {len(args) + 1} were given")
        # Past __setattr__, which asks for these.
        _object_setattr(self, "training", True)
        _object_setattr(self, "_parameters", {})
        _object_setattr(self, "_buffers", {})
        _object_setattr(self, "_non_persistent_buffers_set", set())
        _object_setattr(self, "_modules", {})
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    forward: Callable[..., Any] = _forward_unimplemented

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._hooked:
            return self._call_impl(*args, **kwargs)
        return self.forward(*args, **kwargs)

    _wrapped_call_impl = __call__

    def compile(self, *args: Any, **kwargs: Any) -> None:
        """Accepted for PyTorch's sake: the module runs as it is."""

    # -- attributes -----------------------------------------------------------

    def __getattr__(self, name: str) -> Any:
        members = self.__dict__
        for table in ("_parameters", "_buffers", "_modules"):
            if table in members and name in members[table]:
                return members[table][name]
        if name in _hooks.TABLES:  # see Note [Hook tables]
            members[name] = table_of_hooks = OrderedDict[int, Any]()
            if name in _hooks.CALL_TABLES:
                members["_hooked"] = True
            return table_of_hooks
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __setattr__(self, name: str, value: Any) -> None:
        members = self.__dict__
        if isinstance(value, Tensor):
            if isinstance(value, Parameter):
                if "_parameters" not in members:
                    raise AttributeError(f"cannot assign parameters before Module.__init__() call: '{name}'. {_INIT_FIRST}")
                self._forget(name, "_parameters")
                self.register_parameter(name, value)
                return
        elif isinstance(value, Module):
            if "_modules" not in members:
                raise AttributeError(f"cannot assign module before Module.__init__() call: '{name}'. {_INIT_FIRST}")
            self._forget(name, "_modules")
            members["_modules"][name] = _after_hooks(_hooks._global_module_registration_hooks, self, name, value)
            return
        if "_parameters" in members and name in members["_parameters"]:
            if value is not None:
                raise TypeError(f"cannot assign '{typename(value)}' as parameter '{name}' (torch.nn.Parameter or None expected)")
            self.register_parameter(name, value)
        elif "_modules" in members and name in members["_modules"]:
            if value is not None:
                raise TypeError(f"cannot assign '{typename(value)}' as child module '{name}' (torch.nn.Module or None expected)")
            members["_modules"][name] = _after_hooks(_hooks._global_module_registration_hooks, self, name, value)
        elif "_buffers" in members and (name in members["_buffers"] or isinstance(value, Buffer)):
            self._set_buffer(name, value)
        else:
            if name in _hooks.CALL_TABLES:
                members["_hooked"] = True
            _object_setattr(self, name, value)

    def _set_buffer(self, name: str, value: Any) -> None:
        if value is not None and not isinstance(value, Tensor):
            raise TypeError(f"cannot assign '{typename(value)}' as buffer '{name}' (torch.nn.Buffer, torch.Tensor or None expected)")
        persistent = value.persistent if isinstance(value, Buffer) else name not in self._non_persistent_buffers_set
        if isinstance(value, Buffer):
            self._forget(name, "_buffers")
        if type(self).register_buffer is Module.register_buffer or name not in self._buffers:
            self.register_buffer(name, value, persistent)
        else:  # a subclass that registers buffers in its own way need not expect the name to be there
            self._buffers[name] = _after_hooks(_hooks._global_buffer_registration_hooks, self, name, value)

    def _forget(self, name: str, kept: str) -> None:
        """Removes an attribute from wherever it is, except from the table it is about to enter."""
        members = self.__dict__
        members.pop(name, None)
        for table in ("_parameters", "_buffers", "_modules"):
            if table != kept:
                members[table].pop(name, None)
        if kept != "_buffers":
            self._non_persistent_buffers_set.discard(name)

    def __delattr__(self, name: str) -> None:
        if name in self._parameters:
            del self._parameters[name]
        elif name in self._buffers:
            del self._buffers[name]
            self._non_persistent_buffers_set.discard(name)
        elif name in self._modules:
            del self._modules[name]
        else:
            super().__delattr__(name)

    def __dir__(self) -> list[str]:
        keys = itertools.chain(dir(type(self)), self.__dict__, self._parameters, self._modules, self._buffers)
        return sorted(key for key in keys if not key[0].isdigit())

    def __getstate__(self) -> dict[str, Any]:
        state = {**self.__dict__}
        for name in _hooks.CALL_TABLES + _hooks.STATE_TABLES:  # PyTorch, which may read this, wants them all
            state.setdefault(name, OrderedDict())
        state.setdefault("_is_full_backward_hook", None)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        members = self.__dict__
        members.update(state)
        for name in _hooks.TABLES:
            if not members.get(name, True):
                del members[name]
        if any(name in members for name in _hooks.CALL_TABLES):
            members["_hooked"] = True
        else:
            members.pop("_hooked", None)
        members.setdefault("_non_persistent_buffers_set", set())

    def __deepcopy__(self: T, memo: dict[int, Any]) -> T:
        """What copy.deepcopy() would do by itself, without the eleven empty tables of hooks that are in a pickle, and with little ado for what is no container or empty."""
        cls = type(self)
        if any(getattr(cls, name) is not getattr(Module, name) for name in ("__getstate__", "__setstate__", "__reduce_ex__", "__reduce__")):
            return copy._reconstruct(self, memo, *self.__reduce_ex__(4))  # type: ignore[attr-defined]
        new = memo[id(self)] = cls.__new__(cls)
        members = new.__dict__
        for name, value in self.__dict__.items():
            kind = type(value)
            if kind in _ATOMS:
                members[name] = value
            elif kind in _CONTAINERS and not value:
                members[name] = memo.setdefault(id(value), kind())
            else:
                members[name] = copy.deepcopy(value, memo)
        return new

    # -- registration ---------------------------------------------------------

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Adds a parameter under a name; None keeps the name free for one."""
        self._check_name("parameter", name, "_parameters")
        if param is not None:
            if not isinstance(param, Parameter):
                raise TypeError(f"cannot assign '{typename(param)}' object to parameter '{name}' (torch.nn.Parameter or None required)")
            if param.grad_fn is not None:
                raise ValueError(
                    f"Cannot assign non-leaf Tensor to parameter '{name}'. Model parameters must be created explicitly. To express "
                    f"'{name}' as a function of another Tensor, compute the value in the forward() method."
                )
            param = _after_hooks(_hooks._global_parameter_registration_hooks, self, name, param)
        self._parameters[name] = param

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Adds a tensor that is not a parameter but belongs to the module: it moves with it and, if persistent, is in its state_dict."""
        self._check_name("buffer", name, "_buffers")
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(f"cannot assign '{typename(tensor)}' object to buffer '{name}' (torch Tensor or None required)")
        self._buffers[name] = _after_hooks(_hooks._global_buffer_registration_hooks, self, name, tensor)
        if persistent:
            self._non_persistent_buffers_set.discard(name)
        else:
            self._non_persistent_buffers_set.add(name)

    def add_module(self, name: str, module: Module | None) -> None:
        """Adds a child module under a name."""
        if module is not None and not isinstance(module, Module):
            raise TypeError(f"{typename(module)} is not a Module subclass")
        self._check_name("module", name, "_modules")
        self._modules[name] = _after_hooks(_hooks._global_module_registration_hooks, self, name, module)

    def register_module(self, name: str, module: Module | None) -> None:
        """The same as add_module()."""
        self.add_module(name, module)

    def _check_name(self, kind: str, name: Any, table: str) -> None:
        if table not in self.__dict__:
            raise AttributeError(f"cannot assign {kind} before Module.__init__() call: '{name}'. {_INIT_FIRST}")
        if not isinstance(name, str):
            raise TypeError(f"{kind} name should be a string. Got {typename(name)}")
        if hasattr(self, name) and name not in self.__dict__[table]:
            raise KeyError(f"attribute '{name}' already exists")
        if "." in name:
            raise KeyError(f'{kind} name can\'t contain "."' + (f", got: {name}" if kind == "module" else ""))
        if name == "":
            raise KeyError(f'{kind} name can\'t be empty string ""')

    # -- looking up -----------------------------------------------------------

    def get_submodule(self, target: str) -> Module:
        """The module at a path such as "encoder.0.linear"; "" is this one."""
        module: Any = self
        for item in target.split(".") if target else ():
            if not hasattr(module, item):
                raise AttributeError(f"{module._get_name()} has no attribute `{item}`")
            module = getattr(module, item)
            if not isinstance(module, Module):
                raise AttributeError(f"`{item}` is not an nn.Module")
        return module

    def set_submodule(self, target: str, module: Module, strict: bool = False) -> None:
        """Puts a module at a path; strict wants one to be there already."""
        if target == "":
            raise ValueError("Cannot set the submodule without a target name!")
        parent_path, _, name = target.rpartition(".")
        if not isinstance(module, Module):
            raise ValueError(f"`module` is not an nn.Module, found {type(module)}")
        parent = self.get_submodule(parent_path)
        if strict and not hasattr(parent, name):
            raise AttributeError(f"{parent._get_name()} has no attribute `{name}`")
        if hasattr(parent, name) and not isinstance(getattr(parent, name), Module):
            raise AttributeError(f"`{name}` is not an nn.Module")
        setattr(parent, name, module)

    def get_parameter(self, target: str) -> Parameter:
        """The parameter at a path such as "encoder.0.weight"."""
        module, name = self._owner(target)
        found = getattr(module, name)
        if not isinstance(found, Parameter):
            raise AttributeError(f"`{name}` is not an nn.Parameter")
        return found

    def get_buffer(self, target: str) -> Tensor:
        """The buffer at a path such as "norm.running_mean"."""
        module, name = self._owner(target)
        found = getattr(module, name)
        if name not in module._buffers:
            raise AttributeError(f"`{name}` is not a buffer")
        return found

    def _owner(self, target: str) -> tuple[Module, str]:
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        if not hasattr(module, name):
            raise AttributeError(f"{module._get_name()} has no attribute `{name}`")
        return module, name

    # -- walking --------------------------------------------------------------

    def _named_members(
        self, get_members_fn: Callable[[Module], Any], prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Any]]:
        seen = set()
        modules = self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate) if recurse else [(prefix, self)]
        for module_prefix, module in modules:
            for name, value in get_members_fn(module):
                if value is None or value in seen:
                    continue
                if remove_duplicate:
                    seen.add(value)
                yield module_prefix + ("." if module_prefix else "") + name, value

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """The parameters, each once, of this module and, with recurse, of those below it."""
        named = lambda: (param for _, param in self.named_parameters(recurse=recurse))  # noqa: E731
        yield from _C._module_tree(self, "_parameters", None, named, True) if recurse else named()

    def named_parameters(self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True) -> Iterator[tuple[str, Parameter]]:
        """(full name, parameter) for each parameter."""
        general = lambda: self._named_members(lambda module: module._parameters.items(), prefix, recurse, remove_duplicate)  # noqa: E731
        yield from _C._module_tree(self, "_parameters", prefix, general, remove_duplicate) if recurse else general()

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """The buffers, each once."""
        named = lambda: (buffer for _, buffer in self.named_buffers(recurse=recurse))  # noqa: E731
        yield from _C._module_tree(self, "_buffers", None, named, True) if recurse else named()

    def named_buffers(self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True) -> Iterator[tuple[str, Tensor]]:
        """(full name, buffer) for each buffer."""
        general = lambda: self._named_members(lambda module: module._buffers.items(), prefix, recurse, remove_duplicate)  # noqa: E731
        yield from _C._module_tree(self, "_buffers", prefix, general, remove_duplicate) if recurse else general()

    def children(self) -> Iterator[Module]:
        """The modules directly below this one, each once."""
        for _, module in self.named_children():
            yield module

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """(name, module) for each module directly below this one."""
        seen = set()
        for name, module in self._modules.items():
            if module is not None and module not in seen:
                seen.add(module)
                yield name, module

    def modules(self, remove_duplicate: bool = True) -> Iterator[Module]:
        """This module and all below it."""
        named = lambda: (module for _, module in self.named_modules(remove_duplicate=remove_duplicate))  # noqa: E731
        yield from _C._module_tree(self, None, None, named, remove_duplicate)

    def named_modules(
        self, memo: set[Module] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Module]]:
        """(full name, module) for this module, whose name is the prefix, and all below it."""
        if memo is None:
            general = lambda: Module.named_modules(self, set(), prefix, remove_duplicate)  # noqa: E731
            yield from _C._module_tree(self, None, prefix, general, remove_duplicate)
            return
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self
        for name, module in self._modules.items():
            if module is not None:
                yield from module.named_modules(memo, prefix + ("." if prefix else "") + name, remove_duplicate)

    # -- changing all of it ---------------------------------------------------

    def apply(self: T, fn: Callable[[Module], None]) -> T:
        """Calls fn on every module, this one last."""
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    def _apply(self: T, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> T:
        """Replaces the data of every parameter, of its gradient, and every buffer, by fn of it. Parameters stay the same objects."""
        if recurse:
            for module in self.children():
                module._apply(fn)
        for name, param in self._parameters.items():
            if param is None:
                continue
            with _C.no_grad():
                changed = fn(param)
            grad = param.grad
            if changed.is_meta == param.is_meta and (_conversion._swap_params or not _conversion._overwrite_params):
                param.data = changed
            elif _conversion._swap_params:
                from retrograd.utils import swap_tensors

                swap_tensors(param, Parameter(changed, param.requires_grad))
            else:
                param = self._parameters[name] = Parameter(changed, param.requires_grad)
            if grad is not None:
                with _C.no_grad():
                    changed = fn(grad)
                if changed is not grad:
                    param.grad = None
                    param.grad = changed.requires_grad_(grad.requires_grad)
        for name, buffer in self._buffers.items():
            if buffer is not None:
                self._buffers[name] = fn(buffer)
        return self

    def to(self: T, *args: Any, **kwargs: Any) -> T:
        """to(device=None, dtype=None, non_blocking=False), to(dtype), to(tensor): converts parameters and buffers in place.

        The dtype applies to floating point and complex tensors only.
        """
        device, dtype, memory_format = _parse_to(*args, **kwargs)
        if dtype is not None and not (dtype.is_floating_point or dtype.is_complex):
            raise TypeError(f"nn.Module.to only accepts floating point or complex dtypes, but got desired dtype={dtype}")

        def convert(t: Tensor) -> Tensor:
            options = {"device": device, "dtype": dtype if t.is_floating_point() or t.is_complex() else None}
            if memory_format is not None and t.dim() in (4, 5):
                options["memory_format"] = memory_format
            return t.to(**{k: v for k, v in options.items() if v is not None})

        return self._apply(convert)

    def to_empty(self: T, *, device: Any, recurse: bool = True) -> T:
        """Moves parameters and buffers to a device without copying their values."""
        return self._apply(lambda t: _C._ops.empty_like(t, device=device), recurse=recurse)

    def type(self: T, dst_type: Any) -> T:
        """Casts all parameters and buffers."""
        return self._apply(lambda t: t.type(dst_type))

    def float(self: T) -> T:
        """Casts floating point parameters and buffers to float32."""
        return self._apply(lambda t: t.float() if t.is_floating_point() else t)

    def double(self: T) -> T:
        """Casts floating point parameters and buffers to float64."""
        return self._apply(lambda t: t.double() if t.is_floating_point() else t)

    def half(self: T) -> T:
        """Casts floating point parameters and buffers to float16."""
        return self._apply(lambda t: t.half() if t.is_floating_point() else t)

    def bfloat16(self: T) -> T:
        """Casts floating point parameters and buffers to bfloat16."""
        return self._apply(lambda t: t.bfloat16() if t.is_floating_point() else t)

    def cpu(self: T) -> T:
        """Moves parameters and buffers to the CPU."""
        return self._apply(lambda t: t.cpu())

    def cuda(self: T, device: Any = None) -> T:
        """Moves parameters and buffers to a CUDA device."""
        return self._apply(lambda t: t.cuda(device))

    def xpu(self: T, device: Any = None) -> T:
        """Moves parameters and buffers to an XPU, which no build here has."""
        return self._apply(lambda t: t.to("xpu" if device is None else device))

    def share_memory(self: T) -> T:
        """Moves parameters and buffers to memory that processes share."""
        return self._apply(lambda t: t.share_memory_())

    def train(self: T, mode: bool = True) -> T:
        """Sets training mode on this module and all below it."""
        if not isinstance(mode, bool):
            raise ValueError(f"training mode is expected to be boolean, got {type(mode).__name__}")
        if _mode_calls.depth == 0:
            _mode_calls.note(self, mode)
        if _C._set_training(self, mode):
            return self
        self.training = mode
        _mode_calls.depth += 1
        try:
            for module in self.children():
                module.train(mode)
        finally:
            _mode_calls.depth -= 1
        return self

    def eval(self: T) -> T:
        """Sets evaluation mode: the same as train(False)."""
        return self.train(False)

    def requires_grad_(self: T, requires_grad: bool = True) -> T:
        """Says for all parameters whether gradients are wanted."""
        for param in self.parameters():
            param.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Resets the gradients of all parameters, to None or to zeros."""
        params = list(self.parameters())
        if _watcher is not None:
            _watcher.zeroed(self, params)
        if set_to_none:
            _C._drop_grads(params)
            return
        for param in params:
            grad = param.grad
            if grad is None:
                continue
            if grad.grad_fn is not None:
                grad.detach_()
            else:
                grad.requires_grad_(False)
            grad.zero_()

    # -- text -----------------------------------------------------------------

    def _get_name(self) -> str:
        return type(self).__name__

    def extra_repr(self) -> str:
        """What repr() shows about the module itself; for subclasses to define."""
        return ""

    def __repr__(self) -> str:
        extra = self.extra_repr()
        extra_lines = extra.split("\n") if extra else []
        child_lines = [f"({name}): " + repr(module).replace("\n", "\n  ") for name, module in self._modules.items()]
        if len(extra_lines) == 1 and not child_lines:
            body = extra
        elif extra_lines or child_lines:
            body = "\n  " + "\n  ".join(extra_lines + child_lines) + "\n"
        else:
            body = ""
        return f"{self._get_name()}({body})"


def _addindent(s_: str, numSpaces: int) -> str:
    """Text with all lines but the first moved to the right, as modules with a __repr__ of their own show their children."""
    return s_.replace("\n", "\n" + " " * numSpaces)


def _explain(*failure: Any) -> None:
    from retrograd.nn.modules import _errors  # needed by failures alone

    _errors.explain(*failure)


_C._set_module_class(Module)
_C._explain_errors_with(_explain)


def _after_hooks(hooks: OrderedDict[int, Any], module: Module, name: str, value: Any) -> Any:
    for hook in hooks.values():
        changed = hook(module, name, value)
        if changed is not None:
            value = changed
    return value


def _parse_to(*args: Any, **kwargs: Any) -> tuple[Any, Any, Any]:
    """(device, dtype, memory_format) from the arguments of Module.to in any of its forms."""
    device, dtype = kwargs.pop("device", None), kwargs.pop("dtype", None)
    other, memory_format = kwargs.pop("tensor", None), kwargs.pop("memory_format", None)
    kwargs.pop("non_blocking", None)
    for argument in args:
        if isinstance(argument, Tensor):
            other = argument
        elif isinstance(argument, _C.dtype):
            dtype = argument
        elif device is None and (isinstance(argument, (str, _C.device)) or type(argument) is int):
            device = argument
        elif argument is not None and not isinstance(argument, bool):
            raise TypeError(f"to() received an invalid combination of arguments - got ({', '.join(type(a).__name__ for a in args)})")
    if kwargs:
        raise TypeError(f"to() got an unexpected keyword argument '{next(iter(kwargs))}'")
    if dtype is not None and not isinstance(dtype, _C.dtype):
        raise TypeError(f"to() received an invalid combination of arguments - got (dtype={type(dtype).__name__})")
    if other is not None:
        device, dtype = other.device, other.dtype
    return None if device is None else _C.device(device), dtype, memory_format
