"""Storage objects: the memory behind tensors, as far as programs look at it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from retrograd import _C
from retrograd._C import Tensor

__all__ = ["TypedStorage", "UntypedStorage"]


class UntypedStorage:
    """A block of bytes that one or more tensors are views of."""

    def __init__(self, tensor: Tensor) -> None:
        self._tensor = tensor.detach()

    def data_ptr(self) -> int:
        """The address of the first byte."""
        return self._tensor._storage_info()[0]

    def nbytes(self) -> int:
        """The number of bytes."""
        return self._tensor._storage_info()[1]

    size = __len__ = nbytes

    @property
    def device(self) -> Any:
        return self._tensor.device

    @property
    def _cdata(self) -> int:
        """An identity that tensors on the same memory share."""
        return self.data_ptr()

    def _bytes(self) -> Tensor:
        base = _C._internal_ops._neg_view(self._tensor) if self._tensor.is_neg() else self._tensor  # as it is in memory
        base = base.conj() if base.is_conj() else base
        return base.as_strided((self.nbytes() // base.itemsize,), (1,), 0).view(_C.uint8)

    def tolist(self) -> list[int]:
        """The bytes as numbers."""
        return self._bytes().tolist()

    def __getitem__(self, index: Any) -> Any:
        value = self._bytes()[index]
        return value.item() if value.dim() == 0 else value

    def __iter__(self) -> Iterator[int]:
        return iter(self.tolist())

    def resize_(self, size: int) -> UntypedStorage:
        """Changes the number of bytes, keeping what fits."""
        flat = self._tensor.data.as_strided((0,), (1,), 0)  # no version moves, as nothing is written
        flat.resize_(size // flat.itemsize)
        return self

    def __eq__(self, other: object) -> bool:
        return isinstance(other, UntypedStorage) and self.data_ptr() == other.data_ptr()

    def __hash__(self) -> int:
        return hash(self.data_ptr())


class TypedStorage(UntypedStorage):
    """The same memory counted in elements."""

    @property
    def dtype(self) -> Any:
        return self._tensor.dtype

    def size(self) -> int:
        """The number of elements."""
        return self.nbytes() // self._tensor.itemsize

    __len__ = size

    def _bytes(self) -> Tensor:
        return self._tensor.as_strided((self.size(),), (1,), 0)

    def untyped(self) -> UntypedStorage:
        """The bytes."""
        return UntypedStorage(self._tensor)
