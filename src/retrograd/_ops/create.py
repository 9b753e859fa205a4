"""Tensors from other Python objects."""

from __future__ import annotations

import functools
import os
import sys
import warnings
from typing import Any

from retrograd import _C
from retrograd._C import Tensor
from retrograd._overridable import overridable


def _place(tensor: Tensor, device: Any, requires_grad: bool) -> Tensor:
    if device is not None and device is not tensor.device and _C.device(device) != tensor.device:
        tensor = tensor.to(device)
    if not requires_grad:
        return tensor
    if not (tensor.is_floating_point() or tensor.is_complex()):
        raise RuntimeError(
            f"Only Tensors of floating point and complex dtype can require gradients, and this one is of {tensor.dtype}\n"
            "  Hint: make it of floats, with 1.0 for 1 or dtype=torch.float32."
        )
    return tensor._mark_requires_grad(True)


def tensor(data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False, pin_memory: bool = False) -> Tensor:
    """A new leaf tensor with a copy of `data`: nested sequences, a number, an array or a tensor.

    Example::

        >>> retrograd.tensor([[1., 2.], [3., 4.]])
        tensor([[1., 2.],
                [3., 4.]])
    """
    if _C._is_torch_function_mode_enabled():
        return _C._call_torch_function(tensor, (data,), {"dtype": dtype, "device": device, "requires_grad": requires_grad})
    kind = type(data)
    if kind not in _PLAIN:
        if isinstance(data, Tensor):
            warnings.warn(
                "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone(), and requires_grad_() of that for "
                "a new leaf.",
                UserWarning,
                stacklevel=2,
            )
            if data.layout is not _C.strided:
                return _place(data.detach().to(dtype or data.dtype).clone(), device, requires_grad)
        if kind.__module__ == _STORAGES:
            data = _elements_of(data, dtype)
    made = _C._tensor_from(data, dtype)
    return made if device is None and not requires_grad else _place(made, device, requires_grad)


_STORAGES = __name__.partition(".")[0] + ".storage"
_PLAIN = frozenset((float, int, bool, complex, list, tuple))  # what data mostly are: no tensor, no storage


def _elements_of(data: Any, dtype: Any) -> Any:
    """A storage as the tensor of its elements; bytes are read as elements of the dtype that is asked for, as in PyTorch."""
    from retrograd.storage import memory_of

    return memory_of(data.untyped(), getattr(data, "dtype", None) or dtype or _C.int64)


@overridable
def as_tensor(data: Any, dtype: Any = None, device: Any = None) -> Tensor:
    """`data` as a tensor, without a copy where that is possible."""
    if isinstance(data, Tensor):
        return _place(data if dtype is None or data.dtype == dtype else data.to(dtype), device, False)
    shared = _C._from_array(data)
    if shared is NotImplemented:
        shared = from_numpy(data) if _is_array(data) else _C._tensor_from(data, dtype)
    if dtype is not None and shared.dtype != dtype:
        shared = shared.to(dtype)
    return shared if device is None else _place(shared, device, False)


@overridable
def asarray(obj: Any, *, dtype: Any = None, device: Any = None, copy: bool | None = None, requires_grad: bool = False) -> Tensor:
    """`obj` as a tensor; `copy` says whether memory is shared (False: it must be)."""
    if _C._is_torch_function_mode_enabled():
        return _C._call_torch_function(asarray, (obj,), {"dtype": dtype, "device": device, "copy": copy, "requires_grad": requires_grad})
    if isinstance(obj, Tensor):
        out = _place(obj.to(dtype=dtype or obj.dtype), device, False)
        if copy:
            out = out.clone() if out is obj or out._storage_info()[0] == obj._storage_info()[0] else out
        elif copy is False and out.device != obj.device:
            raise ValueError(f"can't alias tensor from device '{obj.device}' to '{out.device}'")
        elif copy is False and out is not obj:
            raise ValueError("can't alias tensor with dtype " + str(dtype))
        return out.detach()._mark_requires_grad(True) if requires_grad else out
    if hasattr(obj, "__dlpack__") or _is_buffer(obj):
        shared = from_numpy(obj) if _is_array(obj) else from_dlpack(obj) if hasattr(obj, "__dlpack__") else _C._from_buffer(obj)[0]
        if dtype is not None and shared.dtype != dtype:
            if copy is False:
                raise ValueError(f"can't alias memory of dtype {shared.dtype} as {dtype}")
            shared = shared.to(dtype)
        elif copy:
            shared = shared.clone()
        return _place(shared, device, requires_grad)
    if copy is False:
        raise ValueError("can't alias arbitrary sequence into a tensor.")
    return _place(_C._tensor_from(obj, dtype), device, requires_grad)


def _is_array(data: Any) -> bool:
    numpy = sys.modules.get("numpy")  # nobody has an array who has not imported it
    return numpy is not None and isinstance(data, numpy.ndarray)


def _is_buffer(data: Any) -> bool:
    try:
        memoryview(data)
    except TypeError:
        return False
    return not isinstance(data, str)


@functools.partial(overridable, most=1, native=_C._from_array)
def from_numpy(ndarray: Any) -> Tensor:
    """A tensor on the memory of a NumPy array."""
    if not _is_array(ndarray):
        kind = type(ndarray)
        raise TypeError(
            f"expected np.ndarray (got {kind.__name__ if kind.__module__ == 'builtins' else f'{kind.__module__}.{kind.__name__}'})"
        )
    out, read_only = _C._from_buffer(ndarray)
    if read_only:
        warnings.warn(
            "The given NumPy array is not writable: writing to the tensor would write to memory that NumPy protects. Copy the array first.",
            UserWarning,
            stacklevel=2,
        )
    return out


def frombuffer(buffer: Any, *, dtype: Any, count: int = -1, offset: int = 0, requires_grad: bool = False) -> Tensor:
    """A one-dimensional tensor on the memory of an object with the buffer protocol."""
    if not _is_buffer(buffer):
        raise ValueError(f"object does not implement Python buffer protocol. Got {type(buffer).__name__}.")
    view = memoryview(buffer).cast("B")
    if len(view) == 0 or count == 0:
        raise ValueError(f"both buffer length ({len(view)}) and count ({count}) must not be 0")
    if not 0 <= offset < len(view):
        raise ValueError(f"offset ({offset} bytes) must be non-negative and no greater than buffer length ({len(view)} bytes) minus 1")
    room = len(view) - offset
    if count < 0:
        if room % dtype.itemsize:
            raise ValueError(
                f"buffer length ({len(view)} bytes) after offset ({offset} bytes) must be a multiple of element size ({dtype.itemsize})"
            )
        count = room // dtype.itemsize
    if count * dtype.itemsize > room:
        raise ValueError(
            f"requested buffer length ({count} * {dtype.itemsize} bytes) after offset ({offset} bytes) must not be greater than "
            f"actual buffer length ({len(view)} bytes)"
        )
    raw, read_only = _C._from_buffer(view[offset : offset + count * dtype.itemsize])
    if read_only:
        warnings.warn(
            "The given buffer is not writable, and tensors do not support non-writable memory: copy it first.", UserWarning, stacklevel=2
        )
    return _place(raw.view(dtype), None, requires_grad)


def from_file(
    filename: str,
    shared: bool | None = None,
    size: int | None = 0,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """A one-dimensional tensor of `size` elements on a file that is mapped into memory.

    With shared=True what is written to the tensor goes to the file, which is made, and made long enough, if need be; otherwise it stays
    with the tensor.
    """
    from retrograd.storage import UntypedStorage, memory_of

    dtype, count = dtype or _C.get_default_dtype(), size or 0
    length = count * dtype.itemsize
    if length < 0:
        raise RuntimeError(f"unable to mmap {length} bytes from file <{filename}>: the size is negative")
    try:
        if not shared and (there := os.path.getsize(filename)) < length:
            raise RuntimeError(f"file <{filename}> size <{there}> is smaller than the required mapping size <{length}>")
        made = memory_of(UntypedStorage.from_file(filename, bool(shared), length), dtype) if length else _C._ops.empty((0,), dtype=dtype)
    except OSError as error:
        mode = "read-write" if shared else "read-only"
        raise RuntimeError(f"unable to open file <{filename}> in {mode} mode: {error.strerror} ({error.errno})") from error
    return _place(made, device, requires_grad)


def from_dlpack(ext_tensor: Any, *, device: Any = None, copy: bool | None = None) -> Tensor:
    """A tensor on the memory of an object with `__dlpack__`, or of a DLPack capsule."""
    source = ext_tensor
    if hasattr(ext_tensor, "__dlpack__"):
        kind = ext_tensor.__dlpack_device__()[0]
        if kind != 1:
            raise BufferError(f"only CPU memory can be imported, and this object's DLPack device type is {kind}")
        try:
            ext_tensor = ext_tensor.__dlpack__(max_version=(1, 0))
        except TypeError:  # a producer from before versions
            ext_tensor = ext_tensor.__dlpack__()
    out = _C._note_data(_C._from_dlpack(ext_tensor), source)
    return out.clone() if copy else out


def new_tensor(self: Tensor, data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """Copy data into a new tensor that has the dtype and device of self unless told otherwise.

    >>> retrograd.zeros(1, dtype=retrograd.float64).new_tensor([1, 2]).dtype
    torch.float64
    """
    dtype = self.dtype if dtype is None else dtype
    if type(data) in _PLAIN and device is None and not requires_grad and self.is_cpu:  # what tensor() would find out again
        return _C._tensor_from(data, dtype)
    return tensor(data, dtype=dtype, device=self.device if device is None else device, requires_grad=requires_grad)


def new(self: Tensor, *args: Any, device: Any = None) -> Tensor:
    """Make a tensor of the dtype and device of self: of given sizes (not set), or from a sequence.

    >>> retrograd.zeros(1).new(2, 3).shape
    torch.Size([2, 3])
    """
    if len(args) != 1 or isinstance(args[0], int):
        return self.new_empty(args or (0,), device=device)
    data = args[0]
    if isinstance(data, _C.Size):
        return self.new_empty(data, device=device)
    if type(data) not in _PLAIN and isinstance(data, Tensor):
        return data.to(device=self.device if device is None else device, dtype=self.dtype).view_as(data)
    return new_tensor(self, data, device=device)
