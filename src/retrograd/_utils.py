"""What rebuilds tensors from files and pickles, under the names by which PyTorch's files call it."""

from __future__ import annotations

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
