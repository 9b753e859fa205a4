"""Storage objects: the memory behind tensors. A storage is a handle on that memory, not a copy; writing through it writes every tensor there.

`UntypedStorage` counts bytes, `TypedStorage` elements of a dtype. `FloatStorage(...)` and its like are typed storages of a fixed dtype.
"""

from __future__ import annotations

import mmap
import os
import sys
from collections.abc import Iterator
from typing import Any, ClassVar

from retrograd import _C
from retrograd._C import Tensor

__all__ = [
    "BFloat16Storage",
    "BoolStorage",
    "ByteStorage",
    "CharStorage",
    "ComplexDoubleStorage",
    "ComplexFloatStorage",
    "DoubleStorage",
    "FloatStorage",
    "HalfStorage",
    "IntStorage",
    "LongStorage",
    "ShortStorage",
    "Storage",
    "StorageBase",
    "TypedStorage",
    "UntypedStorage",
]

_EXTERNAL = 2  # the flag of memory that belongs to somebody else, csrc/core/storage.h


def _bytes_of(tensor: Tensor) -> Tensor:
    """The whole memory behind a tensor as bytes. What is written to them is seen by no version counter, as in PyTorch."""
    plain = tensor.data.as_subclass(Tensor)
    plain = _C._internal_ops._neg_view(plain) if plain.is_neg() else plain  # as it is in memory
    plain = plain.conj() if plain.is_conj() else plain
    return plain.as_strided((0,), (1,), 0).view(_C.uint8).as_strided((tensor._storage_info()[1],), (1,), 0)


class StorageBase:
    """What both kinds have in common. `_elements` is a 1-d tensor on the whole of the memory."""

    _elements: Tensor
    is_cuda = is_hpu = is_sparse = is_sparse_csr = False
    filename: str | None = None

    def data_ptr(self) -> int:
        """The address of the first byte."""
        return self._elements._storage_info()[0]

    def nbytes(self) -> int:
        """The number of bytes."""
        return self._elements._storage_info()[1]

    def size(self) -> int:
        """The number of elements; bytes for an untyped storage."""
        return self.nbytes() // self.element_size()

    def __len__(self) -> int:
        return self.size()

    def element_size(self) -> int:
        """Bytes of one element."""
        return self._elements.element_size()

    @property
    def device(self) -> Any:
        return self._elements.device

    def get_device(self) -> int:
        """The index of the device; -1 for the CPU."""
        return self._elements.get_device()

    @property
    def _cdata(self) -> int:
        """An identity that storages of the same memory share."""
        return self.data_ptr()

    def _whole(self) -> Tensor:
        return self._elements.as_strided((self.size(),), (1,), 0)  # the memory may have been resized since

    def _like(self, elements: Tensor) -> Any:
        raise NotImplementedError

    def tolist(self) -> list[Any]:
        """The elements as numbers."""
        return self._whole().tolist()

    def __iter__(self) -> Iterator[Any]:
        return iter(self.tolist())

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return self._like(self._whole()[index].clone()) if index.step not in (None, 1) else self._part(index)
        return self._at(index).item()

    def _part(self, index: slice) -> Any:
        return self._like(self._whole()[index].clone())

    def __setitem__(self, index: Any, value: Any) -> None:
        (self._whole()[index] if isinstance(index, slice) else self._at(index)).fill_(value)

    def _at(self, index: Any) -> Tensor:
        if not isinstance(index, int):
            raise TypeError(f"can't index a {type(self).__module__}.{type(self).__name__} with {type(index).__name__}")
        if not -self.size() <= index < self.size():
            raise IndexError(f"index {index} out of range for storage of size {self.size()}")
        return self._whole()[index]

    def clone(self) -> Any:
        """A copy, with memory of its own."""
        return self._like(self._whole().clone())

    def __copy__(self) -> Any:
        return self.clone()

    def __deepcopy__(self, memo: dict[Any, Any]) -> Any:
        key = ("storage", self.data_ptr(), self._elements.dtype)
        if key not in memo:
            memo[key] = self.clone()
        return memo[key]

    def fill_(self, value: Any) -> Any:
        """Writes one value everywhere."""
        self._whole().fill_(value)
        return self

    def copy_(self, source: Any, non_blocking: bool | None = None) -> Any:
        """Writes what another storage of the same number of elements holds, converted."""
        self._whole().copy_(source._whole())
        return self

    def cpu(self) -> Any:
        """A storage on the CPU: this one."""
        return self if self.device.type == "cpu" else self._like(self._whole().cpu())

    def to(self, *, device: Any, non_blocking: bool = False) -> Any:
        """A storage on that device: this one where it is there."""
        return self if _C.device(device) == self.device else self._like(self._whole().to(device))

    def cuda(self, device: Any = None, non_blocking: bool = False) -> Any:
        """A copy on a CUDA device."""
        return self._like(self._whole().cuda(device))

    def is_pinned(self, device: Any = "cuda") -> bool:
        """Whether the memory is pinned for an accelerator."""
        return self._elements.is_pinned()

    def is_shared(self) -> bool:
        """Whether other processes share the memory."""
        return self._elements.is_shared()

    def share_memory_(self) -> Any:
        """Moves the memory to where other processes can reach it."""
        self._elements.share_memory_()
        return self

    @classmethod
    def _new_shared(cls, size: int, *, device: Any = "cpu") -> Any:
        make: Any = cls
        return make(size, device=device).share_memory_()

    def pin_memory(self, device: Any = None) -> Any:
        """A copy in memory that an accelerator reaches; there is none."""
        return self._like(self._whole().pin_memory())

    def hpu(self, device: Any = None, non_blocking: bool = False) -> Any:
        """There is no HPU."""
        raise AssertionError("HPU device module is not loaded")

    def mps(self) -> Any:
        """There is no MPS."""
        raise RuntimeError("torch.UntypedStorage(): Storage device not recognized: mps")

    def resizable(self) -> bool:
        """Whether resize_() can change the size: not of memory that belongs to somebody else."""
        return not self._elements._storage_info()[4] & _EXTERNAL

    def resize_(self, size: int) -> Any:
        """Changes the number of elements, keeping what fits."""
        if not self.resizable():
            raise RuntimeError("Trying to resize storage that is not resizable: its memory belongs to another object, or to a file.")
        self._elements._storage_resize(size * self.element_size())  # no version moves, as nothing is written
        return self

    def _converted(self, dtype: Any) -> TypedStorage:
        return TypedStorage._of(self._whole().to(dtype))

    def bool(self) -> Any:
        """A copy as bool."""
        return self._converted(_C.bool)

    def byte(self) -> Any:
        """A copy as uint8."""
        return self._converted(_C.uint8)

    def char(self) -> Any:
        """A copy as int8."""
        return self._converted(_C.int8)

    def short(self) -> Any:
        """A copy as int16."""
        return self._converted(_C.int16)

    def int(self) -> Any:
        """A copy as int32."""
        return self._converted(_C.int32)

    def long(self) -> Any:
        """A copy as int64."""
        return self._converted(_C.int64)

    def half(self) -> Any:
        """A copy as float16."""
        return self._converted(_C.float16)

    def bfloat16(self) -> Any:
        """A copy as bfloat16."""
        return self._converted(_C.bfloat16)

    def float(self) -> Any:
        """A copy as float32."""
        return self._converted(_C.float32)

    def double(self) -> Any:
        """A copy as float64."""
        return self._converted(_C.float64)

    def complex_float(self) -> Any:
        """A copy as complex64."""
        return self._converted(_C.complex64)

    def complex_double(self) -> Any:
        """A copy as complex128."""
        return self._converted(_C.complex128)

    def __eq__(self, other: object) -> Any:
        return isinstance(other, type(self)) and self.data_ptr() == other.data_ptr() and self.nbytes() == other.nbytes()

    def __hash__(self) -> Any:
        return hash(self.data_ptr())

    def __repr__(self) -> str:
        values = "..." if self.device.type == "meta" else " " + "\n ".join(str(v) for v in self.tolist())
        return f"{values}\n[{self._described()} of size {self.size()}]"

    def _described(self) -> str:
        raise NotImplementedError


def _numbers_or_size(given: tuple[Any, ...], dtype: Any, device: Any) -> Tensor:
    """The memory that the constructors of storages ask for: nothing, a number of elements, or the elements."""
    if len(given) > 1:
        raise TypeError(f"a storage is made from at most one argument, a size or a sequence, got {len(given)}")
    if not given:
        return _C._ops.empty((0,), dtype=dtype, device=device)
    if isinstance(given[0], int):
        return _C._ops.empty((given[0],), dtype=dtype, device=device)
    if isinstance(given[0], (str, bytes)) or not hasattr(given[0], "__len__"):
        raise TypeError(f"a storage is made from a size or a sequence of numbers, got {type(given[0]).__name__}")
    return _C._tensor_from(list(given[0]), dtype).reshape(-1).to(device)


class UntypedStorage(StorageBase):
    """A block of bytes that one or more tensors are views of."""

    def __init__(self, *args: Any, device: Any = "cpu") -> None:
        self._elements = _numbers_or_size(args, _C.uint8, device)

    @classmethod
    def _of(cls, tensor: Tensor) -> UntypedStorage:
        """The storage behind a tensor."""
        self = cls.__new__(cls)
        self._elements = _bytes_of(tensor)
        return self

    def _like(self, elements: Tensor) -> UntypedStorage:
        return UntypedStorage._of(elements)

    def _part(self, index: slice) -> UntypedStorage:
        """Memory that is shared, as PyTorch's is."""
        part = UntypedStorage.__new__(UntypedStorage)
        view = memoryview(self._whole())[index]
        part._elements = _C._from_buffer(view)[0] if len(view) else _C._ops.empty((0,), dtype=_C.uint8, device="cpu")
        return part

    def new(self) -> UntypedStorage:
        """An empty storage."""
        return UntypedStorage(device=self.device)

    def type(self, dtype: Any = None, non_blocking: bool = False) -> Any:
        """The name of the type; with a dtype, a typed copy."""
        return "torch.storage.UntypedStorage" if dtype is None else self._converted(dtype)

    def untyped(self) -> UntypedStorage:
        """This storage."""
        return self

    def byteswap(self, dtype: Any) -> None:
        """Turns the order of the bytes of each element of this dtype around, in place."""
        width = dtype.itemsize // (2 if dtype.is_complex else 1)
        if self.nbytes() % width:
            raise RuntimeError(f"the length of data is {self.nbytes()} bytes, not a multiple of the {width} of {dtype}")
        rows = self._whole().view(-1, width)
        rows.copy_(rows.flip(1))

    @classmethod
    def from_buffer(
        cls, buffer: Any, byte_order: str | None = None, count: int = -1, offset: int = 0, *, dtype: Any = None
    ) -> UntypedStorage:
        """A copy of the bytes of an object with the buffer protocol; byte_order is that of its elements of `dtype`."""
        dtype = dtype or _C.uint8
        if byte_order not in (None, "native", "little", "big"):
            raise ValueError(f"invalid byte_order {byte_order!r} (expected 'big', 'little', or 'native')")
        view, size = memoryview(buffer).cast("B"), dtype.itemsize
        if not 0 <= offset <= len(view):
            raise ValueError(f"offset must be non-negative and no greater than the length of the buffer, {len(view)}, got {offset}")
        if count < 0 and (len(view) - offset) % size:
            raise ValueError(f"buffer size ({len(view) - offset}) must be a multiple of element size ({size})")
        if count >= 0 and count * size > len(view) - offset:
            raise ValueError(
                f"buffer has only {(len(view) - offset) // size} elements after offset {offset}, but specified a size of {count}"
            )
        data = view[offset : offset + count * size] if count >= 0 else view[offset:]
        storage = cls(len(data))
        if len(data):
            memoryview(storage._elements)[:] = data
        if byte_order in ("little", "big") and byte_order != sys.byteorder and size > 1:
            storage.byteswap(dtype)
        return storage

    @classmethod
    def from_file(cls, filename: Any, shared: bool = False, nbytes: int = 0) -> UntypedStorage:
        """The bytes of a file, mapped. Shared: writes reach the file, which is made or made longer where it is needed."""
        size = _grown(filename, nbytes) if shared else nbytes or os.path.getsize(filename)
        with open(filename, "r+b" if shared else "rb") as file:
            mapped = mmap.mmap(file.fileno(), size, access=mmap.ACCESS_WRITE if shared else mmap.ACCESS_COPY)
        storage = cls.__new__(cls)
        storage._elements = _C._from_buffer(memoryview(mapped))[0]
        storage.filename = os.fspath(filename)
        return storage

    def _described(self) -> str:
        return f"torch.storage.UntypedStorage(device={self.device})"


def _grown(filename: Any, nbytes: int) -> int:
    """Makes sure that a file has at least as many bytes; returns how many are asked for."""
    with open(filename, "ab") as file:
        size = file.tell()
        if size < nbytes:
            file.truncate(nbytes)
    return nbytes or size


class TypedStorage(StorageBase):
    """The same memory counted in elements of a dtype."""

    _dtype: ClassVar[Any] = None  # that of FloatStorage and its like

    def __init__(
        self, *args: Any, wrap_storage: UntypedStorage | None = None, dtype: Any = None, device: Any = None, _internal: bool = False
    ) -> None:
        dtype = dtype or _C.get_default_dtype()
        if wrap_storage is None:
            self._elements = _numbers_or_size(args, dtype, device or "cpu")
        elif args:
            raise RuntimeError("a TypedStorage is made from wrap_storage= or from a size or sequence, not from both")
        elif not isinstance(wrap_storage, UntypedStorage):
            raise TypeError(f"Argument 'wrap_storage' must be UntypedStorage, but got {type(wrap_storage)}")
        else:
            self._elements = _elements_of(wrap_storage, dtype)

    @classmethod
    def _of(cls, tensor: Tensor) -> TypedStorage:
        """The storage behind a tensor, in elements of its dtype."""
        self = TypedStorage.__new__(TypedStorage)
        self._elements = _elements_of(UntypedStorage._of(tensor), tensor.dtype)
        return self

    def _like(self, elements: Tensor) -> TypedStorage:
        return TypedStorage._of(elements)

    @property
    def dtype(self) -> Any:
        return self._elements.dtype

    def untyped(self) -> UntypedStorage:
        """The bytes."""
        return UntypedStorage._of(self._elements)

    @property
    def _untyped_storage(self) -> UntypedStorage:
        return self.untyped()

    def type(self, dtype: Any = None, non_blocking: bool = False) -> Any:
        """The name of the type, such as torch.FloatStorage; with a dtype, a copy of that dtype."""
        return f"torch.{_NAMES.get(self.dtype, 'storage.TypedStorage')}" if dtype is None else self._converted(dtype)

    def pickle_storage_type(self) -> str:
        """The name of the type in files."""
        if self.dtype not in _NAMES:
            raise KeyError(f"dtype {self.dtype} is not recognized")
        return _NAMES[self.dtype]

    @classmethod
    def from_buffer(
        cls, buffer: Any, byte_order: str | None = None, count: int = -1, offset: int = 0, *, dtype: Any = None, device: Any = None
    ) -> TypedStorage:
        """A copy of the memory of an object with the buffer protocol."""
        dtype = dtype or cls._dtype or _C.get_default_dtype()
        return TypedStorage(wrap_storage=UntypedStorage.from_buffer(buffer, byte_order, count, offset, dtype=dtype), dtype=dtype)

    @classmethod
    def from_file(cls, filename: Any, shared: bool = False, size: int = 0, *, dtype: Any = None) -> TypedStorage:
        """The elements of a file, mapped: see UntypedStorage.from_file()."""
        dtype = dtype or cls._dtype or _C.get_default_dtype()
        return TypedStorage(wrap_storage=UntypedStorage.from_file(filename, shared, size * dtype.itemsize), dtype=dtype)

    def _described(self) -> str:
        return f"torch.storage.TypedStorage(dtype={self.dtype}, device={self.device})"


def _elements_of(storage: UntypedStorage, dtype: Any) -> Tensor:
    """A storage as a 1-d tensor of this dtype; bytes that are left over at the end are left out."""
    data = storage._whole()
    return data[: data.numel() - data.numel() % dtype.itemsize].view(dtype)


def memory_of(storage: Any, dtype: Any) -> Tensor:
    """What Tensor.set_() of a tensor of this dtype makes of a storage."""
    if isinstance(storage, TypedStorage) and storage.dtype != dtype:
        raise RuntimeError(
            f"Expected a Storage of type {dtype} or an UntypedStorage, but got type {storage.dtype} for argument 1 'storage'. Pass storage.untyped()."
        )
    return _elements_of(storage.untyped(), dtype)


class _LegacyStorageMeta(type):
    """isinstance(s, torch.FloatStorage) asks for the dtype, and FloatStorage(3) makes a TypedStorage of it."""

    _dtype: Any

    @property
    def dtype(cls) -> Any:
        return cls._dtype or _C.get_default_dtype()

    def __instancecheck__(cls, instance: object) -> Any:
        return isinstance(instance, TypedStorage) and instance.dtype == cls.dtype

    def __call__(cls, *args: Any, wrap_storage: UntypedStorage | None = None, dtype: Any = None, device: Any = None) -> TypedStorage:
        if dtype is not None and dtype != cls.dtype:
            raise RuntimeError(f"{cls.__name__} holds {cls.dtype}, got dtype={dtype}")
        return TypedStorage(*args, wrap_storage=wrap_storage, dtype=cls.dtype, device=device)


class _LegacyStorage(TypedStorage, metaclass=_LegacyStorageMeta):
    """The names of typed storages, by dtype. There are no instances of them: a storage is a TypedStorage."""


class BoolStorage(_LegacyStorage):
    _dtype = _C.bool


class ByteStorage(_LegacyStorage):
    _dtype = _C.uint8


class CharStorage(_LegacyStorage):
    _dtype = _C.int8


class ShortStorage(_LegacyStorage):
    _dtype = _C.int16


class IntStorage(_LegacyStorage):
    _dtype = _C.int32


class LongStorage(_LegacyStorage):
    _dtype = _C.int64


class HalfStorage(_LegacyStorage):
    _dtype = _C.float16


class BFloat16Storage(_LegacyStorage):
    _dtype = _C.bfloat16


class FloatStorage(_LegacyStorage):
    _dtype = _C.float32


class DoubleStorage(_LegacyStorage):
    _dtype = _C.float64


class ComplexFloatStorage(_LegacyStorage):
    _dtype = _C.complex64


class ComplexDoubleStorage(_LegacyStorage):
    _dtype = _C.complex128


class Storage(_LegacyStorage):
    """The storages of the default dtype."""


_NAMES = {kind._dtype: kind.__name__ for kind in _LegacyStorage.__subclasses__() if kind._dtype is not None}


def is_storage(obj: Any) -> bool:
    """Whether an object is a storage."""
    return isinstance(obj, StorageBase)


def _load_from_bytes(data: bytes) -> Any:
    """What pickles of PyTorch's storages call."""
    import io

    from retrograd.serialization import load

    return load(io.BytesIO(data), weights_only=False)
