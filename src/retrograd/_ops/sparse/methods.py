"""Methods that dense and sparse tensors share: conversions, and what a sparse tensor is made of."""

from __future__ import annotations

from typing import Any

from retrograd import Tensor
from retrograd._ops.sparse import history, products, writes
from retrograd._ops.sparse.construct import converted
from retrograd._ops.sparse.tensor import BSC, BSR, COO, CSC, CSR, is_sparse, only


def to_sparse(
    self: Tensor, sparse_dim: int | None = None, *, layout: Any = None, blocksize: Any = None, dense_dim: int | None = None
) -> Any:
    """The elements that are not zero, as a sparse tensor: of layout COO, or another."""
    if sparse_dim is not None and layout is not None:
        raise TypeError("to_sparse(): sparse_dim is for the layout torch.sparse_coo alone: give one of sparse_dim and layout")
    return converted(self, COO if layout is None else layout, blocksize, dense_dim, sparse_dim)


def to_sparse_coo(self: Tensor) -> Any:
    """The elements that are not zero, with their indices."""
    return converted(self, COO)


def to_sparse_csr(self: Tensor, dense_dim: int | None = None) -> Any:
    """A matrix by its elements that are not zero, row by row."""
    return converted(self, CSR, dense_dim=dense_dim)


def to_sparse_csc(self: Tensor, dense_dim: int | None = None) -> Any:
    """A matrix by its elements that are not zero, column by column."""
    return converted(self, CSC, dense_dim=dense_dim)


def to_sparse_bsr(self: Tensor, blocksize: Any, dense_dim: int | None = None) -> Any:
    """A matrix by its blocks that are not zero, row by row."""
    return converted(self, BSR, blocksize, dense_dim)


def to_sparse_bsc(self: Tensor, blocksize: Any, dense_dim: int | None = None) -> Any:
    """A matrix by its blocks that are not zero, column by column."""
    return converted(self, BSC, blocksize, dense_dim)


def to_dense(self: Tensor, dtype: Any = None, *, masked_grad: bool | None = None) -> Tensor:
    """All elements, in memory one after the other."""
    if not is_sparse(self):
        return self if dtype is None else self.to(dtype)
    if dtype is not None:
        raise RuntimeError("dtype argument is not supported by sparse_to_dense")
    return history.to_dense(self)


def coalesce(self: Tensor) -> Any:
    """Every place once, in order: values that share one are summed."""
    only(self, "coalesce", (COO,), "sparse coordinate")
    return history.coalesced(self)


def is_coalesced(self: Tensor) -> bool:
    """Whether every place is there once, in order."""
    return only(self, "is_coalesced", (COO,), "sparse coordinate").coalesced


def _coalesced_part(x: Any, name: str) -> None:
    if x.parts.layout is COO and not x.parts.coalesced:
        raise RuntimeError(f"Cannot get {name} on an uncoalesced tensor, please call .coalesce() first")


def indices(self: Tensor) -> Tensor:
    """The places of the elements, a column for each."""
    parts = only(self, "indices", (COO,), "sparse coordinate")
    _coalesced_part(self, "indices")
    return parts.plain.detach()


def values(self: Tensor) -> Tensor:
    """The values of the elements."""
    only(self, "values", (COO, CSR, CSC, BSR, BSC), "sparse")
    _coalesced_part(self, "values")
    return history.values_of(self)


def _raw(x: Any, name: str) -> Any:
    if not is_sparse(x) or (x.parts.layout is not COO and name != "_nnz"):
        backend = "SparseCsrCPU" if is_sparse(x) else "CPU"
        raise NotImplementedError(f"Could not run 'aten::{name}' with arguments from the '{backend}' backend: it takes sparse tensors")
    return x.parts


def _indices(self: Tensor) -> Tensor:
    """The places of the elements as they are, a column for each."""
    return _raw(self, "_indices").plain.detach()


def _values(self: Tensor) -> Tensor:
    """The values of the elements as they are, without a history."""
    return _raw(self, "_values").values.detach()


def _nnz(self: Tensor) -> int:
    """How many elements there are."""
    return _raw(self, "_nnz").values.shape[0]


def crow_indices(self: Tensor) -> Tensor:
    """Where each row begins among the elements."""
    return only(self, "crow_indices", (CSR, BSR), "sparse row compressed").compressed.detach()  # type: ignore[union-attr]


def col_indices(self: Tensor) -> Tensor:
    """The column of each element."""
    return only(self, "col_indices", (CSR, BSR), "sparse row compressed").plain.detach()


def ccol_indices(self: Tensor) -> Tensor:
    """Where each column begins among the elements."""
    return only(self, "ccol_indices", (CSC, BSC), "sparse column compressed").compressed.detach()  # type: ignore[union-attr]


def row_indices(self: Tensor) -> Tensor:
    """The row of each element."""
    return only(self, "row_indices", (CSC, BSC), "sparse column compressed").plain.detach()


def sparse_dim(self: Tensor) -> int:
    """How many dimensions have indices."""
    return self.parts.sparse_dim if is_sparse(self) else 0  # type: ignore[attr-defined]


def dense_dim(self: Tensor) -> int:
    """How many dimensions each value has."""
    return self.dim() - sparse_dim(self)


# -- what products.py and writes.py do ------------------------------------------------------------


def sparse_mask(self: Tensor, mask: Tensor) -> Any:
    """The elements at the places of a sparse tensor."""
    return products.sparse_mask(self, mask)


def smm(self: Tensor, mat: Tensor) -> Any:
    """The product of a sparse and a dense matrix, as a sparse one."""
    return products.smm.__wrapped__(self, mat)  # type: ignore[attr-defined]  # in itself: this is what its override calls


def sspaddmm(self: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """beta * self + alpha * (mat1 @ mat2), all but mat2 sparse."""
    return products.sspaddmm.__wrapped__(self, mat1, mat2, beta=beta, alpha=alpha)  # type: ignore[attr-defined]


def sparse_resize_(self: Tensor, size: Any, sparse_dim: int, dense_dim: int) -> Any:
    """Another size, with the elements that there are."""
    return writes.sparse_resize_(self, size, sparse_dim, dense_dim)


def sparse_resize_and_clear_(self: Tensor, size: Any, sparse_dim: int, dense_dim: int) -> Any:
    """Another size, without elements."""
    return writes.sparse_resize_and_clear_(self, size, sparse_dim, dense_dim)


def resize_as_sparse_(self: Tensor, other: Tensor) -> Any:
    """The size of another sparse tensor."""
    return writes.resize_as_sparse_(self, other)
