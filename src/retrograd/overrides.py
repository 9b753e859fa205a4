"""``__torch_function__``: how other types, and modes, take over calls of this package's functions.

A call is offered, until someone returns anything but NotImplemented,

1. to the innermost active `TorchFunctionMode`, which is switched off while it looks at the call;
2. to the arguments whose type has a ``__torch_function__``, subclasses before their bases and
   otherwise from left to right, one of each type.

Functions written in C++ do this by themselves; Python functions ask `has_torch_function` first and
then go through `handle_torch_function`, or are wrapped by `wrap_torch_function`.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import retrograd
from retrograd import _C

__all__ = [
    "BaseTorchFunctionMode",
    "TorchFunctionMode",
    "enable_reentrant_dispatch",
    "get_ignored_functions",
    "get_overridable_functions",
    "get_testing_overrides",
    "handle_torch_function",
    "has_torch_function",
    "is_tensor_like",
    "is_tensor_method_or_property",
    "resolve_name",
    "wrap_torch_function",
]

# -- asking -------------------------------------------------------------------


def has_torch_function(relevant_args: Iterable[Any]) -> bool:
    """Whether a call with these arguments must go through `handle_torch_function`."""
    return _C._is_torch_function_mode_enabled() or any(map(_C._has_torch_function, relevant_args))


def has_torch_function_unary(arg: Any) -> bool:
    """`has_torch_function` for one argument."""
    return _C._is_torch_function_mode_enabled() or _C._has_torch_function(arg)


def has_torch_function_variadic(*args: Any) -> bool:
    """`has_torch_function` with the arguments spelled out."""
    return _C._is_torch_function_mode_enabled() or any(map(_C._has_torch_function, args))


def is_tensor_like(inp: Any) -> bool:
    """Whether `inp` is a tensor or has a ``__torch_function__`` to act as one."""
    return type(inp) is retrograd.Tensor or hasattr(inp, "__torch_function__")


# -- calling ------------------------------------------------------------------


def handle_torch_function(public_api: Callable[..., Any], relevant_args: Iterable[Any], *args: Any, **kwargs: Any) -> Any:
    """Offer the call ``public_api(*args, **kwargs)`` to modes and arguments, in the order above.

    Args:
        public_api: the function the user called, as `__torch_function__` shall see it.
        relevant_args: the arguments whose types have a say.

    Raises:
        TypeError: if all of them return NotImplemented.
    """
    overloaded = _get_overloaded_args(relevant_args)
    kinds = tuple(map(type, overloaded))
    declined = ""
    if _C._is_torch_function_mode_enabled():
        with _pop_mode_temporarily() as mode:
            result = mode.__torch_function__(public_api, kinds, args, kwargs)
        if result is not NotImplemented:
            return result
        declined = f" nor in mode {mode}"
    for arg in overloaded:
        result = arg.__torch_function__(public_api, kinds, args, kwargs)
        if result is not NotImplemented:
            return result
    name = f"{public_api.__module__}.{public_api.__name__}"
    raise TypeError(f"no implementation found for '{name}' on types that implement __torch_function__: {list(kinds)}{declined}")


def _get_overloaded_args(relevant_args: Iterable[Any]) -> list[Any]:
    """One argument of each type that has a say: subclasses first, else from left to right."""
    chosen: list[Any] = []
    for arg in relevant_args:
        kind = type(arg)
        if any(type(other) is kind for other in chosen):
            continue
        method = getattr(kind, "__torch_function__", None)
        if method is None or method is _C._disabled_torch_function_impl:
            continue
        place = next((i for i, other in enumerate(chosen) if issubclass(kind, type(other))), len(chosen))
        chosen.insert(place, arg)
    return chosen


def wrap_torch_function(
    dispatcher: Callable[..., Iterable[Any]],
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Let modes and arguments take over a Python function.

    Args:
        dispatcher: called as the function is, returns the arguments that may take over.

    Example::

        >>> @retrograd.overrides.wrap_torch_function(lambda x, n: (x,))
        ... def repeat(x, n):
        ...     return retrograd.cat([x] * n)
    """

    def decorate(func: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(func)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            relevant = dispatcher(*args, **kwargs)
            if has_torch_function(relevant):
                return handle_torch_function(wrapper, relevant, *args, **kwargs)
            return func(*args, **kwargs)

        return wrapper

    return decorate


# -- the default of Tensor ----------------------------------------------------


@functools.cache
def get_default_nowrap_functions() -> set[Any]:
    """Functions whose results `Tensor.__torch_function__` leaves as they are."""
    tensor = retrograd.Tensor
    return {getattr(tensor, name).__get__ for name in ("_base", "grad", "_grad") if hasattr(tensor, name)}


def _default_torch_function(cls: type, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
    """What a subclass gets that defines no ``__torch_function__``: results are of the subclass too."""
    if not all(issubclass(cls, kind) for kind in types):
        return NotImplemented
    with _C.DisableTorchFunctionSubclass():
        result = func(*args, **(kwargs or {}))
        return result if func in get_default_nowrap_functions() else _convert(result, cls)


def _convert(result: Any, cls: type) -> Any:
    """`result` with its tensors, also those in tuples and lists, turned into `cls`."""
    if cls is retrograd.Tensor:
        return result
    if isinstance(result, retrograd.Tensor) and not isinstance(result, cls):
        return result.as_subclass(cls)
    if isinstance(result, tuple | list):
        items = [_convert(item, cls) for item in result]
        named = hasattr(result, "_make") and not hasattr(result, "n_sequence_fields")
        return type(result)(*items) if named else type(result)(items)
    return result


# -- modes --------------------------------------------------------------------


class TorchFunctionMode:
    """Sees every call of this package's functions made in a ``with`` block, in this thread.

    Define ``__torch_function__``. While it runs the mode is off, so calling `func` does the real work
    (or asks the next outer mode); ``with self:`` switches it on again.

    Example::

        >>> class Log(retrograd.overrides.TorchFunctionMode):
        ...     def __torch_function__(self, func, types, args=(), kwargs=None):
        ...         print(func.__name__)
        ...         return func(*args, **(kwargs or {}))
        >>> with Log():
        ...     _ = retrograd.zeros(2) + 1
        zeros
        add
    """

    def __init__(self) -> None:
        pass

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        raise NotImplementedError(f"{type(self).__name__} must define __torch_function__")

    def __enter__(self) -> TorchFunctionMode:
        _C._push_function_mode(self)
        return self

    def __exit__(self, *exc_info: object) -> None:
        _C._pop_function_mode()

    @classmethod
    def push(cls, *args: Any, **kwargs: Any) -> TorchFunctionMode:
        """The older spelling of ``cls(...)``."""
        return cls(*args, **kwargs)


class BaseTorchFunctionMode(TorchFunctionMode):
    """The mode that changes nothing."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


@contextlib.contextmanager
def _pop_mode_temporarily() -> Iterator[TorchFunctionMode]:
    mode = _C._pop_function_mode()
    try:
        yield mode
    finally:
        _C._push_function_mode(mode)


def _get_current_function_mode() -> TorchFunctionMode | None:
    depth = _C._len_function_modes()
    return _C._get_function_mode(depth - 1) if depth else None


def _get_current_function_mode_stack() -> list[TorchFunctionMode]:
    """The active modes, outermost first."""
    return [_C._get_function_mode(i) for i in range(_C._len_function_modes())]


@contextlib.contextmanager
def _enable_torch_function() -> Iterator[None]:
    """Undo `DisableTorchFunction` and `DisableTorchFunctionSubclass` for a block."""
    before = _C._get_torch_function_state()
    _C._set_torch_function_state(0)
    try:
        yield
    finally:
        _C._set_torch_function_state(before)


@contextlib.contextmanager
def enable_reentrant_dispatch() -> Iterator[None]:
    """Accepted for PyTorch's sake: there is one point of interception here, and it can be re-entered."""
    yield


# -- lists of functions -------------------------------------------------------

# Looked through in this order: the first name found for a function is the one `resolve_name` gives.
_NAMESPACES = ("", "functional", "nn.functional", "nn.init", "Tensor", "linalg", "fft", "special")

_CALLABLES = (
    types.FunctionType,
    _C._Overridable,
    types.BuiltinFunctionType,
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
)
_PROPERTIES = (property, types.GetSetDescriptorType, types.MemberDescriptorType)

# Public functions without a tensor among their arguments.
_IGNORED = """
    Generator arange are_deterministic_algorithms_enabled as_tensor asarray can_cast compile empty
    empty_strided eye finfo from_dlpack from_file from_numpy frombuffer full get_default_device
    get_default_dtype get_deterministic_debug_mode get_float32_matmul_precision get_num_interop_threads
    get_num_threads get_printoptions get_rng_state iinfo inference_mode initial_seed is_anomaly_enabled
    is_autocast_enabled is_deterministic_algorithms_warn_only_enabled is_grad_enabled
    is_inference_mode_enabled is_storage is_tensor is_warn_always_enabled linspace load logspace
    manual_seed normal ones promote_types rand randint randn randperm range result_type save
    scalar_tensor seed set_anomaly_enabled set_default_device set_default_dtype
    set_default_tensor_type set_deterministic_debug_mode set_float32_matmul_precision
    set_num_interop_threads set_num_threads set_printoptions set_rng_state set_warn_always tensor
    tril_indices triu_indices typename use_deterministic_algorithms vitals_enabled zeros
""".split()  # noqa: SIM905 - a paragraph reads better than a list of ninety strings


def _namespace(path: str) -> Any:
    found: Any = retrograd
    for part in path.split(".") if path else ():
        found = getattr(found, part, None)
    return found


def _members(owner: Any) -> Iterator[tuple[str, Any]]:
    """The functions of a module; of Tensor, also its properties and operators."""
    for name in sorted(dir(owner)):
        member = inspect.getattr_static(owner, name) if isinstance(owner, type) else getattr(owner, name, None)
        special = name.startswith("__") and name.endswith("__")
        if isinstance(member, _PROPERTIES):
            wanted = isinstance(owner, type) and not special
        elif special:
            wanted = isinstance(owner, type) and getattr(object, name, None) is not member
        else:
            wanted = not name.startswith("_")
        if wanted:
            yield name, member


@functools.cache
def _overridable() -> tuple[dict[Any, list[Any]], dict[Any, str]]:
    functions: dict[Any, list[Any]] = {}
    names: dict[Any, str] = {}
    ignored = get_ignored_functions()
    for path in _NAMESPACES:
        owner = _namespace(path)
        if owner is None:
            continue
        for name, member in _members(owner):
            full = ".".join(filter(None, ("torch", path, name)))
            if isinstance(member, _PROPERTIES):
                functions.setdefault(member, []).append(member.__get__)
                names.setdefault(member.__get__, full + ".__get__")
                names.setdefault(member.__set__, full + ".__set__")
            elif isinstance(member, _CALLABLES) and member not in ignored and member not in names:
                functions.setdefault(owner, []).append(member)
                names[member] = full
    return functions, names


def get_ignored_functions() -> set[Any]:
    """Public functions that cannot be taken over, because no tensor is among their arguments."""
    return {getattr(retrograd, name) for name in _IGNORED if hasattr(retrograd, name)}


def get_overridable_functions() -> dict[Any, list[Any]]:
    """Every function that can be taken over, by the module, class or property it belongs to."""
    return {owner: list(functions) for owner, functions in _overridable()[0].items()}


def get_testing_overrides() -> dict[Any, Callable[..., Any]]:
    """For each function that can be taken over, one that takes the same arguments and returns -1."""

    def stand_in(*args: Any, **kwargs: Any) -> int:
        return -1

    return {function: stand_in for functions in _overridable()[0].values() for function in functions}


def resolve_name(f: Any) -> str | None:
    """The name under which `f` is known, like ``torch.Tensor.add``; None if it is not one of ours."""
    return _overridable()[1].get(f)


def is_tensor_method_or_property(func: Any) -> bool:
    """Whether `func` belongs to Tensor: a method, or the ``__get__`` or ``__set__`` of a property."""
    if getattr(func, "__name__", None) == "__get__":
        return True
    name = resolve_name(func)
    return name is not None and name.startswith("torch.Tensor.")
