"""What rebuilds tensors from files and pickles, under the names by which PyTorch's files call it; exceptions that cross processes."""

from __future__ import annotations

import sys
import traceback
from collections import OrderedDict
from typing import Any

from retrograd import _C
from retrograd._C import Tensor
from retrograd._tensor import _set_state


def _elements(storage: Any) -> Tensor:
    """The 1-d tensor on the memory of a storage."""
    return storage if isinstance(storage, Tensor) else storage._whole()


def _rebuild_tensor(storage: Any, storage_offset: int, size: Any, stride: Any) -> Tensor:
    flat = _elements(storage)
    if flat.is_meta:
        return _C._ops.empty_strided(tuple(size), tuple(stride), dtype=flat.dtype, device="meta")
    return _C._ops.empty((0,), dtype=flat.dtype, device=flat.device).set_(flat, storage_offset, tuple(size), tuple(stride))


def _rebuild_tensor_v2(
    storage: Any, storage_offset: int, size: Any, stride: Any, requires_grad: bool, backward_hooks: Any, metadata: Any = None
) -> Tensor:
    tensor = _rebuild_tensor(storage, storage_offset, size, stride)
    if metadata:
        tensor = tensor.conj() if metadata.get("conj") else tensor
        tensor = _C._internal_ops._neg_view(tensor) if metadata.get("neg") else tensor
        tensor = tensor.detach()
    return tensor.requires_grad_() if requires_grad else tensor


def _rebuild_tensor_v3(
    storage: Any, storage_offset: int, size: Any, stride: Any, requires_grad: bool, backward_hooks: Any, dtype: Any, metadata: Any = None
) -> Tensor:
    """Of files that keep storages as plain bytes and the dtype with the tensor."""
    flat = _elements(storage).view(dtype)
    return _rebuild_tensor_v2(flat, storage_offset, size, stride, requires_grad, backward_hooks, metadata)


def _rebuild_meta_tensor_no_storage(dtype: Any, size: Any, stride: Any, requires_grad: bool) -> Tensor:
    tensor = _C._ops.empty_strided(tuple(size), tuple(stride), dtype=dtype, device="meta")
    return tensor.requires_grad_() if requires_grad else tensor


def _rebuild_parameter(data: Tensor, requires_grad: bool, backward_hooks: Any) -> Any:
    from retrograd.nn.parameter import Parameter

    return Parameter(data, requires_grad)


def _rebuild_parameter_with_state(data: Tensor, requires_grad: bool, backward_hooks: Any, state: Any) -> Any:
    parameter = _rebuild_parameter(data, requires_grad, backward_hooks)
    _set_state(parameter, state)
    return parameter


class _Quoted(str):
    """An argument of KeyError, which shows the repr of it: lines stay lines."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


class ExceptionWrapper:
    """The exception that is being handled, as something another process or thread can raise again, with its traceback as text."""

    def __init__(self, exc_info: Any = None, where: str = "in background") -> None:
        info: Any = sys.exc_info() if exc_info is None else exc_info
        self.exc_type: type[BaseException] = info[0]
        self.exc_msg = "".join(traceback.format_exception(*info))
        self.where = where

    def reraise(self) -> None:
        """Raises an exception of the same type, or RuntimeError where that cannot be made from a message."""
        message = f"Caught {self.exc_type.__name__} {self.where}.\nOriginal {self.exc_msg}"
        if self.exc_type is KeyError:
            raise KeyError(_Quoted(message))
        try:
            exception = self.exc_type(message)
        except Exception:  # it wants other arguments than a message
            exception = RuntimeError(message)
        raise exception


def reduced_sparse(tensor: Any) -> tuple[Any, ...]:
    """A sparse tensor as files and pickles hold it: its parts, without requires_grad, as PyTorch writes it."""
    parts = tensor.parts
    own = (parts.coalesced,) if parts.layout is _C.sparse_coo else ()
    rebuild = (_rebuild_sparse_tensor, (parts.layout, (*parts.tensors, tensor.shape, *own)))
    if not getattr(tensor, "_is_param", False):
        return rebuild
    return _rebuild_parameter, (tensor.detach(), tensor.requires_grad, OrderedDict())


def _rebuild_sparse_tensor(layout: Any, data: tuple[Any, ...]) -> Tensor:
    from retrograd._ops.sparse.construct import sparse_compressed_tensor, sparse_coo_tensor

    if layout is _C.sparse_coo:
        indices, values, size, *coalesced = data
        return sparse_coo_tensor(indices, values, size, is_coalesced=bool(coalesced and coalesced[0]))
    compressed, plain, values, size = data
    return sparse_compressed_tensor(compressed, plain, values, size, layout=layout)


# -- what libraries borrow ---------------------------------------------------------------


class classproperty:
    """A property of the class itself."""

    def __init__(self, func: Any) -> None:
        self.fget = func

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self.fget(owner if owner is not None else type(instance))


def is_compiling() -> bool:
    """Whether a compiler runs this."""
    return False


def _flatten_dense_tensors(tensors: Any) -> Tensor:
    """Tensors one behind the other."""
    return _C._ops.cat([tensor.contiguous().view(-1) for tensor in tensors]) if len(tensors) else _C._ops.empty((0,))


def _unflatten_dense_tensors(flat: Tensor, tensors: Any) -> tuple[Tensor, ...]:
    """The parts of such a tensor, as views."""
    parts = flat.split([tensor.numel() for tensor in tensors])
    return tuple(part.view(tensor.shape) for part, tensor in zip(parts, tensors, strict=True))


def _get_device_index(device: Any, optional: bool = False, allow_cpu: bool = False) -> int:
    """The number of a device; -1 for the CPU where that is allowed."""
    if isinstance(device, int):
        return device
    device = None if device is None else _C.device(device)
    if device is not None and device.type == "cpu" and not allow_cpu:
        raise ValueError(f"Expected a non cpu device, but got: {device}")
    if device is None and not optional:
        raise ValueError(f"Expected a torch.device with a specified index or an integer, but got:{device}")
    return -1 if device is None or device.index is None else device.index


def _get_available_device_type() -> str | None:
    """The kind of accelerator that there is."""
    return None


def _get_all_device_indices() -> list[int]:
    """The accelerators that there are."""
    return []
