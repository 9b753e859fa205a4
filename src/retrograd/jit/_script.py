"""`script`, and the classes of what it gives."""

from __future__ import annotations

import builtins
import copy
import functools
import inspect
import types
import typing
from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn, TypeVar

from retrograd import nn

F = TypeVar("F", bound=Callable[..., Any])


class Error(Exception):
    """An error inside a scripted program. Programs here raise their own."""


class ScriptWarning(Warning):
    """A warning about something that TorchScript does not support."""


class Attribute(NamedTuple):
    """A value with a type, to assign to an attribute of a ScriptModule."""

    value: Any
    type: Any


def _no_code(what: str) -> NoReturn:
    raise NotImplementedError(
        f"{what}: there is no TorchScript here; modules and functions run as the Python they are. torch.fx.symbolic_trace() gives a graph and code"
    )


# -- functions ----------------------------------------------------------------


class ScriptFunction:
    """A function that was scripted or traced: the function."""

    def __init__(self, function: Callable[..., Any]) -> None:
        functools.update_wrapper(self, function)
        self._function = function
        self.name = getattr(function, "__name__", type(function).__name__)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._function(*args, **kwargs)

    def __get__(self, owner: Any, kind: type | None = None) -> Any:
        return self if owner is None else types.MethodType(self, owner)

    @property
    def qualified_name(self) -> str:
        return f"__torch__.{self.name}"

    @property
    def code(self) -> str:
        return _no_code("ScriptFunction.code")

    @property
    def graph(self) -> Any:
        return _no_code("ScriptFunction.graph")

    def graph_for(self, *args: Any, **kwargs: Any) -> Any:
        return _no_code("ScriptFunction.graph_for()")

    def save(self, *args: Any, **kwargs: Any) -> None:
        _no_code("ScriptFunction.save()")


# -- modules ------------------------------------------------------------------


class _NoCode:
    """An attribute that TorchScript would have, unless the module has one of that name."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, module: Any, kind: type | None = None) -> Any:
        for table in ("_parameters", "_buffers", "_modules"):
            if self.name in module.__dict__.get(table, ()):
                return module.__dict__[table][self.name]
        return _no_code(f"ScriptModule.{self.name}")


class ScriptModule(nn.Module):
    """A module whose methods are marked by `script_method`, and the base of what `script` gives."""

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value.value if builtins.isinstance(value, Attribute) else value)

    code = _NoCode()
    graph = _NoCode()
    inlined_graph = _NoCode()
    code_with_constants = _NoCode()
    graph_for = _NoCode()

    def save(self, f: Any, **kwargs: Any) -> None:
        """Writes the module; see `jit.save`."""
        from retrograd.jit._serialization import save

        save(self, f, **kwargs)


class RecursiveScriptModule(ScriptModule):
    """A module that was scripted: of the class it was, with the same parameters and attributes of its own."""

    _original: type[nn.Module]

    @property
    def original_name(self) -> str:
        """The name of the class that was scripted."""
        return self._original.__name__

    def _get_name(self) -> str:
        return "RecursiveScriptModule"

    def extra_repr(self) -> str:
        return f"original_name={self.original_name}"

    def _unscripted(self) -> nn.Module:
        """The module as it was, to save it."""
        made = self._original.__new__(self._original)
        made.__dict__.update(self.__dict__)
        children = self._modules.items()
        made.__dict__["_modules"] = {
            name: child._unscripted() if builtins.isinstance(child, RecursiveScriptModule) else child for name, child in children
        }
        return made

    def __deepcopy__(self, memo: dict[int, Any]) -> RecursiveScriptModule:
        made = type(self).__new__(type(self))
        memo[id(self)] = made
        made.__dict__.update({name: copy.deepcopy(value, memo) for name, value in self.__dict__.items()})
        return made

    def __reduce_ex__(self, protocol: typing.SupportsIndex) -> Any:
        raise RuntimeError("a scripted module cannot be pickled: use torch.jit.save, or save its state_dict()")


@functools.cache
def _class_of(original: type[nn.Module], base: type[RecursiveScriptModule]) -> type[RecursiveScriptModule]:
    members: dict[str, Any] = {"_original": original, "__module__": base.__module__}
    for name in ("original_name", "extra_repr", "_get_name", "__reduce_ex__", "__deepcopy__"):
        members[name] = inspect.getattr_static(base, name)
    return type("RecursiveScriptModule", (original, base), members)


def scripted(module: nn.Module, base: type[RecursiveScriptModule] = RecursiveScriptModule, memo: dict[int, Any] | None = None) -> Any:
    """A module of the same class and with the same parameters that is a RecursiveScriptModule, as are its submodules."""
    memo = {} if memo is None else memo
    if builtins.isinstance(module, ScriptModule):
        return module
    if id(module) not in memo:
        classes: Any = (type(module), base)  # for mypy, which takes a class for an instance of itself
        kind = _class_of(*classes)
        made = kind.__new__(kind)
        memo[id(module)] = made
        for name, value in module.__dict__.items():
            plain = builtins.isinstance(value, (dict, set)) and name.startswith("_")
            made.__dict__[name] = copy.copy(value) if plain else value
        made.__dict__["_modules"] = {n: None if c is None else scripted(c, base, memo) for n, c in module._modules.items()}
    return memo[id(module)]


def script(
    obj: Any,
    optimize: Any = None,
    _frames_up: int = 0,
    _rcb: Any = None,
    example_inputs: Any = None,
) -> Any:
    """A module as a ScriptModule that shares its parameters, a function as a ScriptFunction; both run as they did. Classes stay as they are."""
    if builtins.isinstance(obj, nn.Module):
        return scripted(obj)
    if builtins.isinstance(obj, (ScriptFunction, dict, list)):
        return obj
    if inspect.isclass(obj):
        if issubclass(obj, nn.Module):
            raise RuntimeError(f"Type '{obj}' cannot be compiled since it inherits from nn.Module, consider passing an instance instead")
        return obj
    if not callable(obj):
        raise TypeError(f"{type(obj)} is a built-in class: torch.jit.script() takes a module, a function or a class")
    return ScriptFunction(obj)


def script_method(fn: F) -> F:
    """Marks a method of a ScriptModule."""
    return fn


# -- marks and questions ------------------------------------------------------


def is_scripting() -> bool:
    """Whether TorchScript runs this: never."""
    return False


def ignore(drop: Any = False, **kwargs: Any) -> Any:
    """Marks a method that TorchScript leaves to Python."""
    return drop if callable(drop) else lambda fn: fn


def unused(fn: F) -> F:
    """Marks a method that TorchScript replaces by an error."""
    return fn


def _overload(func: F) -> F:
    """A signature that TorchScript is to know of; the definition after it is what runs."""
    return func


_overload_method = _overload


def export(fn: F) -> F:
    """Marks a method that TorchScript compiles although nobody calls it."""
    return fn


def interface(obj: F) -> F:
    """Marks a class as an interface."""
    if not inspect.isclass(obj):
        raise RuntimeError("interface must be applied to a class")
    return obj


def annotate(the_type: Any, the_value: Any) -> Any:
    """The value; the type is for TorchScript."""
    return the_value


def isinstance(obj: Any, target_type: Any) -> bool:
    """isinstance() for types with parameters: `List[int]`, `Dict[str, Tensor]`, `Optional[int]`, looking at every element."""
    if type(target_type) is tuple:
        return any(isinstance(obj, kind) for kind in target_type)
    origin, arguments = typing.get_origin(target_type), typing.get_args(target_type)
    if origin is None:
        return builtins.isinstance(obj, type(None) if target_type is None else target_type)
    if origin in (typing.Union, types.UnionType):
        return any(isinstance(obj, kind) for kind in arguments)
    if origin is dict:
        return builtins.isinstance(obj, dict) and all(isinstance(k, arguments[0]) and isinstance(v, arguments[1]) for k, v in obj.items())
    if origin is list:
        return builtins.isinstance(obj, list) and all(isinstance(v, arguments[0]) for v in obj)
    if origin is tuple:
        if not builtins.isinstance(obj, tuple):
            return False
        if arguments[1:] == (...,):
            return all(isinstance(v, arguments[0]) for v in obj)
        return len(obj) == len(arguments) and all(isinstance(v, kind) for v, kind in zip(obj, arguments, strict=True))
    return builtins.isinstance(obj, origin)


class CompilationUnit:
    """Refused: functions from a text of TorchScript."""

    def __init__(self, lang: str | None = None, _frames_up: int = 0) -> None:
        _no_code("CompilationUnit")
