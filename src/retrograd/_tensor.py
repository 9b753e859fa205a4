"""Methods of Tensor that are written in Python: whatever is not on a hot path."""

from __future__ import annotations

import copy
import functools
import sys
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any

from retrograd import _C
from retrograd._C import Tensor
from retrograd._overridable import overridable
from retrograd.utils.hooks import RemovableHandle, warn_if_has_hooks

_METHODS: dict[str, Any] = {}


def _method(function: Callable[..., Any]) -> Callable[..., Any]:
    _METHODS[function.__name__] = function
    return function


def _property(function: Callable[..., Any]) -> Callable[..., Any]:
    _METHODS[function.__name__] = property(function)
    return function


def install() -> None:
    """Puts the functions of this module, and PyTorch's old names, on the Tensor type."""
    from retrograd._old_names import METHODS

    for name, value in (_METHODS | METHODS).items():
        setattr(Tensor, name, value)


# -- making tensors -----------------------------------------------------------


def _is_size(given: Any) -> bool:
    return isinstance(given, int) or (hasattr(given, "__index__") and not hasattr(given, "__len__"))


def _legacy_new(*args: Any, **kwargs: Any) -> Tensor:
    """Tensor(), Tensor(2, 3), Tensor([1, 2]), Tensor(tensor): PyTorch's oldest constructor, always of the default dtype."""
    device = kwargs.pop("device", None)
    dtype = kwargs.pop("dtype", None) or _C.get_default_dtype()
    if kwargs:
        raise TypeError(f"new() received an unexpected keyword argument {next(iter(kwargs))!r}")
    if len(args) == 1 and isinstance(args[0], Tensor):
        return args[0].detach() if args[0].dtype == dtype else args[0].detach().to(dtype)
    if len(args) == 1 and not _is_size(args[0]):
        if isinstance(args[0], (float, complex)):
            raise TypeError(f"new(): data must be a sequence (got {type(args[0]).__name__})")
        if isinstance(args[0], _C.Size):
            return _C._ops.empty(args[0], dtype=dtype, device=device)
        return _C._tensor_from(args[0], dtype)
    for place, size in enumerate(args, 1):
        if not _is_size(size):
            raise TypeError(
                f"new(): argument 'size' failed to unpack the object at pos {place} with error \"type must be tuple of ints,but got "
                f'{type(size).__name__}": sizes are ints, or data is one sequence'
            )
    return _C._ops.empty(tuple(args) if args else (0,), dtype=dtype, device=device)


# -- autograd -----------------------------------------------------------------


def _backward(self: Tensor, gradient=None, retain_graph=None, create_graph=False, inputs=None) -> None:
    """The general form of Tensor.backward."""
    if _C._is_torch_function_mode_enabled() or _C._has_torch_function(self):
        kwargs = {"gradient": gradient, "retain_graph": retain_graph, "create_graph": create_graph, "inputs": inputs}
        return _C._call_torch_function(Tensor.backward, (self,), kwargs)
    from retrograd import autograd

    autograd.backward(self, gradient, retain_graph, create_graph, inputs=inputs)
    return None


@_method
@overridable
def register_hook(self: Tensor, hook: Callable[[Tensor], Tensor | None]):
    """Calls hook(grad) whenever a gradient of this tensor is computed; a returned tensor takes the gradient's place.

    Returns a handle whose remove() takes the hook off again.
    """
    if not self.requires_grad:
        raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
    hooks = self._backward_hooks
    if hooks is None:
        hooks = self._backward_hooks = OrderedDict()
    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    return handle


@_method
@overridable
def register_post_accumulate_grad_hook(self: Tensor, hook: Callable[[Tensor], None]):
    """Calls hook(param) after a gradient was accumulated into .grad of this leaf."""
    if not self.requires_grad:
        raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
    if self.grad_fn is not None:
        raise RuntimeError("post accumulate grad hooks cannot be registered on non-leaf tensors")
    if self._post_accumulate_grad_hooks is None:
        self._post_accumulate_grad_hooks = OrderedDict()
    handle = RemovableHandle(self._post_accumulate_grad_hooks)
    self._post_accumulate_grad_hooks[handle.id] = hook
    return handle


@_method
@overridable
def retain_grad(self: Tensor) -> None:
    """Keeps .grad of a tensor that is not a leaf."""
    if not self.requires_grad:
        raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
    if _C._in_transform():
        raise RuntimeError(
            "You are attempting to call Tensor.retain_grad() inside of a function being transformed (by grad, vmap or another). Call "
            "it outside, or take the derivative with torch.func."
        )
    node = self.grad_fn if self._has_history and not self.retains_grad else None
    if node is None:
        return
    if node._retain_grad is None:
        node._retain_grad = {}
    node._retain_grad[self.output_nr] = weakref.ref(self)
    self._set_retains_grad(True)


@_method
def why_no_grad(self: Tensor) -> str:
    """Says where the history of this tensor was cut, or that it was not."""
    if self.grad_fn is not None:
        from retrograd._cuts import blocks

        return f"this tensor has a history: its grad_fn is {self.grad_fn.name()}{blocks(self.grad_fn)}"
    if self.requires_grad:
        return "this tensor is a leaf that requires grad"
    from retrograd._cuts import explain

    return "this tensor does not require grad:" + explain(self)


# -- Python protocols ---------------------------------------------------------


@_method
def __repr__(self: Tensor, *, tensor_contents: str | None = None) -> str:
    if _C._is_torch_function_mode_enabled() or _C._has_torch_function(self):
        return _C._call_torch_function(Tensor.__repr__, (self,), {})
    from retrograd._tensor_str import tensor_repr

    return tensor_repr(self)


@_method
def _repr_html_(self: Tensor) -> str:
    """For notebooks; terminals and everything else take `__repr__`."""
    from retrograd._notebook import tensor_html

    return tensor_html(self)


@_method
@overridable
def __format__(self: Tensor, spec: str) -> str:
    if self.dim() == 0 and not self.is_meta and issubclass(type(self), Tensor):
        return self.item().__format__(spec)
    return object.__format__(self, spec)


@_method
def __iter__(self: Tensor) -> Iterator[Tensor]:
    if self.dim() == 0:
        raise TypeError("iteration over a 0-d tensor")
    return iter(self.unbind(0))


@_method
@overridable
def __contains__(self: Tensor, element: Any) -> bool:
    if isinstance(element, (Tensor, int, float, bool)):
        return bool((element == self).any().item())  # type: ignore[union-attr]
    raise RuntimeError(f"Tensor.__contains__ only supports Tensor or scalar, but you passed in a {type(element)}.")


@_method
@overridable
def __reversed__(self: Tensor) -> Tensor:
    return self if self.dim() == 0 else self.flip(0)


@_method
def __dir__(self: Tensor) -> list[str]:
    return sorted(set(dir(type(self))) | set(self.__dict__))


@_method
def __copy__(self: Tensor) -> Tensor:
    """A new tensor object on the same memory."""
    new = Tensor._make_subclass(type(self), self.detach(), self.requires_grad)
    _set_state(new, self.__getstate__())
    return new


def _set_state(tensor: Any, state: Any) -> None:
    """Gives a tensor what __getstate__() of another returned: attributes, __slots__, or what a __getstate__ of its own made."""
    own = getattr(type(tensor), "__setstate__", None)
    if state is None:
        return
    if own is not None:
        own(tensor, state)
    else:
        attributes, slots = state if isinstance(state, tuple) else (state, None)
        tensor.__dict__.update(attributes or {})
        for name, value in (slots or {}).items():
            setattr(tensor, name, value)


class _Memory:
    """The memory of a tensor on its way through copy or pickle: copies share it, pickles hold its bytes."""

    def __init__(self, flat: Tensor) -> None:
        self.flat = flat

    @classmethod
    def of(cls, tensor: Tensor) -> _Memory:
        with _C.no_grad():
            plain = tensor.detach().as_subclass(Tensor)
            return cls(plain.as_strided((tensor._storage_info()[1] // tensor.element_size(),), (1,), 0))

    def __reduce__(self) -> tuple[Any, ...]:
        data = bytes(memoryview(self.flat.resolve_conj().resolve_neg().cpu().view(_C.uint8))) if self.flat.numel() else b""
        where = () if self.flat.device.type == "cpu" else (str(self.flat.device),)
        return (_memory_from_bytes, (data, self.flat.dtype, *where))


def _memory_from_bytes(data: bytes, dtype: Any, device: str = "cpu") -> _Memory:
    raw = _C._ops.empty((len(data),), dtype=_C.uint8, device="cpu")
    if data:
        memoryview(raw)[:] = data
    return _Memory(raw.view(dtype).to(device))


def _rebuild(
    cls: type,
    memory: _Memory,
    offset: int,
    size: tuple[int, ...],
    stride: tuple[int, ...],
    requires_grad: bool,
    state: Any,
) -> Tensor:
    tensor = _C._ops.empty((0,), dtype=memory.flat.dtype, device=memory.flat.device).set_(memory.flat, offset, size, stride)
    if cls is not Tensor:
        tensor = Tensor._make_subclass(cls, tensor)
    if requires_grad:
        tensor.requires_grad_()
    _set_state(tensor, state)
    return tensor


def _rebuild_from_type_v2(function: Callable[..., Any], cls: type, args: tuple[Any, ...], state: Any) -> Tensor:
    """A tensor of a subclass, or one with attributes, as files hold it."""
    tensor = function(*args)
    if type(tensor) is not cls:
        tensor = tensor.as_subclass(cls)
    _set_state(tensor, state)
    return tensor


@_method
@overridable
def __deepcopy__(self: Tensor, memo: dict[int, Any]) -> Tensor:
    if not self.is_leaf:
        raise RuntimeError(
            "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the moment. Copy its detach() "
            "instead; in a module, look for an attribute computed from parameters (as by weight_norm)."
        )
    if id(self) in memo:
        return memo[id(self)]
    if self.is_meta:
        new = _C._ops.empty_strided(self.shape, self.stride(), dtype=self.dtype, device="meta").requires_grad_(self.requires_grad)
    else:
        address, nbytes = self._storage_info()[:2]
        key: Any = ("storage", address if nbytes else id(self), self.dtype)  # tensors on the same memory are copied onto the same memory
        if key not in memo:
            memo[key] = _Memory(_Memory.of(self).flat.clone())
        new = _rebuild(type(self), memo[key], self.storage_offset(), tuple(self.shape), self.stride(), self.requires_grad, None)
    memo[id(self)] = new
    if self._cut and not self.requires_grad:
        _C._note_data(new, self)
    if self.grad is not None:
        new.grad = copy.deepcopy(self.grad, memo)
    _set_state(new, copy.deepcopy(self.__getstate__(), memo))
    return new


@_method
@overridable
def __reduce_ex__(self: Tensor, protocol: Any) -> tuple[Any, ...]:
    warn_if_has_hooks(self)
    state = self.__getstate__()
    return (_rebuild, (type(self), _Memory.of(self), self.storage_offset(), tuple(self.shape), self.stride(), self.requires_grad, state))


@_method
@overridable
def __array__(self: Tensor, dtype: Any = None, copy: bool | None = None):
    array = self.numpy()
    if dtype is not None and array.dtype != dtype:
        return array.astype(dtype)
    return array.copy() if copy else array


@_method
@overridable
def __array_wrap__(self: Tensor, array: Any, context: Any = None, return_scalar: bool = False) -> Tensor:
    from retrograd import from_numpy

    return from_numpy(array)


Tensor.__array_priority__ = 1000


# -- NumPy and DLPack ---------------------------------------------------------

_watcher: Any = None  # of the doctor, while it looks closely: told of what becomes an array


@_method
@functools.partial(overridable, most=1, native=_C._to_array)
def numpy(self: Tensor, *, force: bool = False):
    """A NumPy array on the same memory."""
    import numpy as np

    if force:
        return self.detach().cpu().resolve_conj().resolve_neg().numpy()
    if self.requires_grad and _C.is_grad_enabled():
        raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
    if self.is_floating_point() and (self.dtype is _C.bfloat16 or self.dtype.itemsize == 1):
        raise TypeError(f"Got unsupported ScalarType {self.dtype._title}")
    if not self.is_cpu:
        raise TypeError(
            f"can't convert {self.device} device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host memory first."
        )
    if _watcher is not None:
        _watcher.exported(self)
    return np.asarray(memoryview(self.detach() if self.requires_grad else self))


@_method
@overridable
def __dlpack__(self: Tensor, *, stream: Any = None, max_version: Any = None, dl_device: Any = None, copy: bool | None = None):
    if stream is not None and not isinstance(stream, int):
        raise TypeError(f"stream must be ``int`` or ``none``, got {type(stream).__name__}")
    if stream is not None and stream != -1:
        raise AssertionError(f"stream should be None on cpu. Got {stream}: only accelerators have streams")
    if dl_device is not None and tuple(dl_device) != (1, 0):
        raise NotImplementedError(f"Could not run a copy to DLPack device {tuple(dl_device)}: this build has the CPU alone, (1, 0)")
    return _C._to_dlpack(self.clone() if copy else self, max_version is not None and max_version[0] >= 1, bool(copy))


@_method
@overridable
def __dlpack_device__(self: Tensor) -> tuple[int, int]:
    if not self.is_cpu:
        raise ValueError(f"Unknown device type {self.device.type} for Dlpack: only CPU memory can be shared")
    return (1, 0)


# -- attributes ---------------------------------------------------------------


@_property
def layout(self: Tensor):
    """How the elements lie in memory: torch.strided."""
    return _C.strided


@_property
def names(self: Tensor) -> tuple[None, ...]:
    """The names of the dimensions: there are none."""
    return (None,) * self.dim()


@_method
@overridable
def get_device(self: Tensor) -> int:
    """The index of the device; -1 for the CPU."""
    return -1 if self.device.index is None else self.device.index


@_method
@overridable
def cpu(self: Tensor, memory_format: Any = None) -> Tensor:
    """The same tensor on the CPU."""
    return self.to("cpu")


@_method
@overridable
def cuda(self: Tensor, device: Any = None, non_blocking: bool = False, memory_format: Any = None) -> Tensor:
    """The same tensor on a GPU; this build has none."""
    kind = _C.device("cuda" if device is None else device)
    if kind.type != "cuda":
        raise RuntimeError(f"Invalid device, must be cuda device, not {kind}")
    return self.to(kind)


def _type(self: Tensor, dtype: Any = None, non_blocking: bool = False) -> Any:
    """The name of the type, 'torch.FloatTensor'; with a dtype, or the name of a type, the tensor as one of that."""
    from retrograd._types import dtype_of_name, name_of_dtype

    if dtype is None:
        return "torch." + name_of_dtype(self.dtype)
    if isinstance(dtype, (str, type)):
        return self.to(dtype_of_name(dtype))
    if not isinstance(dtype, _C.dtype):
        raise TypeError("dtype must be a type, str, or dtype object")
    return self.to(dtype)


_type.__name__ = _type.__qualname__ = "type"
_METHODS["type"] = overridable(_type)


@_method
@overridable
def is_same_size(self: Tensor, other: Tensor) -> bool:
    """Whether two tensors have the same sizes."""
    return self.shape == other.shape


@_method
@overridable
def is_set_to(self: Tensor, tensor: Tensor) -> bool:
    """Whether two tensors show the same memory in the same way."""
    return self._storage_info()[0] == tensor._storage_info()[0] and self.shape == tensor.shape and self.stride() == tensor.stride()


@_method
@overridable
def pin_memory(self: Tensor, device: Any = None) -> Tensor:
    """Not available: only a GPU has a use for pinned memory."""
    raise RuntimeError("Cannot access accelerator device when none is available: pin_memory() needs one")


@_method
@overridable
def is_pinned(self: Tensor, device: Any = None) -> bool:
    """Whether the memory is pinned: it never is."""
    return False


@_method
@overridable
def share_memory_(self: Tensor) -> Tensor:
    """Moves the tensor to memory that other processes share: those that are forked from here on, and those it is sent to."""
    from retrograd.multiprocessing.reductions import share

    return share(self)


@_method
@overridable
def is_shared(self: Tensor) -> bool:
    """Whether other processes share the memory."""
    reductions = sys.modules.get("retrograd.multiprocessing.reductions")  # nothing is shared before that is imported
    return reductions is not None and reductions.segment_of(self) is not None


@_method
@overridable
def apply_(self: Tensor, callable: Callable[[Any], Any]) -> Tensor:
    """Replaces each element by callable(element): slow, for one-off use."""
    if self.requires_grad:
        raise RuntimeError("cannot apply_ a function to a tensor that requires grad")
    flat = [callable(v) for v in self.reshape(-1).tolist()]
    with _C.no_grad():
        self.copy_(_C._tensor_from(flat, self.dtype).reshape(self.shape))
    return self


@_method
@overridable
def map_(self: Tensor, other: Tensor, callable: Callable[[Any, Any], Any]) -> Tensor:
    """Replaces each element by callable(element, element of other): slow, for one-off use."""
    return _map(self, "map_", {"other": other}, callable)


@_method
@overridable
def map2_(self: Tensor, x: Tensor, y: Tensor, callable: Callable[[Any, Any, Any], Any]) -> Tensor:
    """Replaces each element by callable(element, element of x, element of y): slow, for one-off use."""
    return _map(self, "map2_", {"x": x, "y": y}, callable)


def _map(self: Tensor, name: str, others: dict[str, Any], callable: Callable[..., Any]) -> Tensor:
    for position, (argument, t) in enumerate(others.items(), 1):
        if not isinstance(t, Tensor):
            raise TypeError(f"{name}(): argument '{argument}' (position {position}) must be Tensor, not {type(t).__name__}")
        if t.dtype != self.dtype:
            raise TypeError(f"{name}: expected {self.type()} for argument '{argument}' (got {t.type()})")
    if any(t.requires_grad for t in (self, *others.values())):
        raise RuntimeError(f"Can't call {name}() on Variable that requires grad. Use var.detach().{name}() instead.")
    columns = [t.expand_as(self).reshape(-1).tolist() for t in (self, *others.values())]
    values = [callable(*row) for row in zip(*columns, strict=True)]
    with _C.no_grad():
        self.copy_(_C._tensor_from(values, self.dtype).reshape(self.shape))
    return self


@_method
@overridable
def storage_type(self: Tensor) -> type:
    """The type of a storage of this dtype."""
    from retrograd import storage

    return getattr(storage, self.type().rpartition(".")[2].replace("Tensor", "Storage"))


@_method
@overridable
def slice_inverse(self: Tensor, src: Tensor, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1) -> Tensor:
    """The tensor that this one is a slice of: its memory, laid out as that of src."""
    return self.as_strided(src.shape, src.stride(), src.storage_offset())


@_method
@overridable
def dim_order(self: Tensor, *, ambiguity_check: Any = False) -> tuple[int, ...]:
    """The dimensions from the outermost in memory to the innermost.

    ambiguity_check: True raises where another order would describe the memory as well; a list of memory formats raises unless the tensor is
    laid out in exactly one of them.
    """
    formats = ambiguity_check if isinstance(ambiguity_check, (list, tuple)) else ()
    if not isinstance(ambiguity_check, bool) and (
        not isinstance(ambiguity_check, (list, tuple)) or not all(isinstance(f, _C.memory_format) for f in formats)
    ):
        raise TypeError("The ambiguity_check argument must be a bool or a list of memory formats.")
    sizes, strides = self.shape, self.stride()
    plain = self.is_contiguous() and not (self.dim() == 4 and self.is_contiguous(memory_format=_C.channels_last))
    order = range(self.dim()) if plain else sorted(range(self.dim()), key=lambda d: (-strides[d], sizes[d] == 1))
    if ambiguity_check is not False:
        unique = 1 not in sizes and 0 not in strides and len(set(strides)) == len(strides)
        known = (_C.contiguous_format, _C.channels_last, _C.channels_last_3d)
        fitting = [f for f in known if self.is_contiguous(memory_format=f)]
        if not unique and not (len(fitting) == 1 and fitting[0] in formats):
            raise RuntimeError("The tensor does not have unique dim order, or cannot map to exact one of the given memory formats.")
    return tuple(order)


@_method
@overridable
def module_load(self: Tensor, other: Any, assign: bool = False) -> Tensor:
    """What load_state_dict() puts in place of self when it is told to swap: self with the numbers of other, or other itself."""
    if assign:
        return other.detach()
    return self.copy_(other).detach()


@_method
def _is_contiguous_as(self: Tensor, memory_format: Any) -> bool:
    order = {"channels_last": (0, 2, 3, 1), "channels_last_3d": (0, 2, 3, 4, 1)}.get(str(memory_format).removeprefix("torch."))
    if order is None:
        return self.is_contiguous()
    if self.dim() != len(order):
        return False
    return self.detach().permute(order).is_contiguous()


# -- reflected operators ------------------------------------------------------
# Called by the number slots with a number on the left. Not named __rsub__ and so on: setting those on the type would replace the slots.


@_method
def _reflected_sub(self: Tensor, other: Any) -> Tensor:
    return _C._ops.rsub(self, other)


@_method
def _reflected_div(self: Tensor, other: Any) -> Tensor:
    return self.reciprocal() * other


@_method
def _reflected_pow(self: Tensor, other: Any) -> Tensor:
    return _C._ops.pow(other, self)


@_method
def _reflected_floor_divide(self: Tensor, other: Any) -> Tensor:
    return _C._ops.floor_divide(_as_operand(other, self), self)


@_method
def _reflected_remainder(self: Tensor, other: Any) -> Tensor:
    return _C._ops.remainder(_as_operand(other, self), self)


@_method
def _reflected_lshift(self: Tensor, other: Any) -> Tensor:
    return _C._ops.bitwise_left_shift(_as_operand(other, self), self)


@_method
def _reflected_rshift(self: Tensor, other: Any) -> Tensor:
    return _C._ops.bitwise_right_shift(_as_operand(other, self), self)


@_method
def _reflected_matmul(self: Tensor, other: Any) -> Tensor:
    return _C._ops.matmul(other, self) if isinstance(other, Tensor) else NotImplemented


def _as_operand(value: Any, like: Tensor) -> Tensor:
    """A number as a 0-d tensor of the dtype the operation would give it."""
    return _C._tensor_from(value, _C.result_type(like, value))


# -- __torch_function__ of subclasses ----------------------------------------


@classmethod  # type: ignore[misc]
def __torch_function__(cls, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None) -> Any:
    """Runs the function on plain tensors and makes results instances of the subclass."""
    from retrograd.overrides import _default_torch_function

    return _default_torch_function(cls, func, types, args, kwargs)


_METHODS["__torch_function__"] = __torch_function__


# -- storage ------------------------------------------------------------------


@_method
@overridable
def untyped_storage(self: Tensor):
    """The memory behind this tensor, shared with its views."""
    from retrograd.storage import UntypedStorage

    self._storage_info()  # refuses a tensor inside vmap, which has no memory
    return UntypedStorage._of(self)


@_method
@overridable
def is_nonzero(self: Tensor) -> bool:
    """Whether a tensor of one element is not zero."""
    from retrograd._ops.queries import is_nonzero

    return is_nonzero(self)


@_method
@overridable
def storage(self: Tensor):
    """The memory behind this tensor as elements of its dtype."""
    from retrograd.storage import TypedStorage

    return TypedStorage._of(self)


_METHODS["_typed_storage"] = storage
