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
