"""The class of sparse tensors: a tensor without memory that keeps places and values, see Note [Sparse tensors] in csrc/autograd/sparse.h."""

from __future__ import annotations

from typing import Any, NamedTuple, NoReturn

import retrograd as torch
from retrograd import _C, Tensor

COO, CSR, CSC, BSR, BSC = _C.sparse_coo, _C.sparse_csr, _C.sparse_csc, _C.sparse_bsr, _C.sparse_bsc
# What PyTorch's errors call them, and the backend of each.
WORDS = {COO: "Sparse", CSR: "SparseCsr", CSC: "SparseCsc", BSR: "SparseBsr", BSC: "SparseBsc", _C.strided: "Strided"}


class Parts(NamedTuple):
    """What a sparse tensor is made of. All are ordinary tensors without a history, and none is written while another tensor has them too."""

    layout: Any
    compressed: Tensor | None  # crow_indices or ccol_indices
    plain: Tensor  # COO: indices, one column for each element; else col_indices or row_indices
    values: Tensor
    coalesced: bool = False  # COO: every place once, in order

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        return tuple(t for t in (self.compressed, self.plain, self.values) if t is not None)

    @property
    def sparse_dim(self) -> int:
        return self.plain.shape[0] if self.layout is COO else 2

    @property
    def blocks(self) -> tuple[int, int] | None:
        return tuple(self.values.shape[1:3]) if self.layout in (BSR, BSC) else None  # type: ignore[return-value]

    def moved(self, move: Any) -> Parts:
        """With move(t) in place of each tensor."""
        compressed = None if self.compressed is None else move(self.compressed)
        return self._replace(compressed=compressed, plain=move(self.plain), values=move(self.values))


class SparseTensor(Tensor):
    """A sparse tensor. What is computed with one is in calls.py."""

    __slots__ = ("parts",)
    parts: Parts

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        raise TypeError("a sparse tensor is made by torch.sparse_coo_tensor() and its like")

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None) -> Any:
        from retrograd._ops.sparse.calls import call

        return call(func, args, kwargs or {})

    # -- attributes that are not those of the tensor without memory --

    @property
    def layout(self) -> Any:
        return self.parts.layout

    @property
    def device(self) -> Any:
        return self.parts.values.device

    @property
    def is_cpu(self) -> bool:
        return self.parts.values.is_cpu

    @property
    def is_meta(self) -> bool:
        return self.parts.values.is_meta

    @property
    def is_sparse(self) -> bool:
        return self.parts.layout is COO

    @property
    def is_sparse_csr(self) -> bool:
        return self.parts.layout is CSR

    @property
    def data(self) -> Any:
        return detached(self)

    @data.setter
    def data(self, other: Any) -> None:
        replace(self, as_sparse(other, "data"))

    @property
    def nbytes(self) -> int:
        raise RuntimeError(
            "nbytes is not defined for sparse tensors.  If you want the size of the constituent tensors, add the nbytes of the indices and "
            "values.  If you want the size of the  equivalent dense tensor, multiply numel() by element_size()"
        )

    @property
    def T(self) -> Any:
        return self.permute(*reversed(range(self.dim())))

    @property
    def mT(self) -> Any:
        return self.transpose(-2, -1)

    @property
    def H(self) -> Any:
        return self.adjoint()

    @property
    def mH(self) -> Any:
        return self.adjoint()

    @property
    def real(self) -> Any:  # type: ignore[override]
        return torch.real(self)

    @property
    def imag(self) -> Any:  # type: ignore[override]
        return torch.imag(self)

    def stride(self, dim: int | None = None) -> Any:
        if self.parts.layout is not COO:
            raise RuntimeError("Sparse CSR tensors do not have strides")
        return (0,) * self.dim() if dim is None else 0

    def dim_order(self, **_: Any) -> NoReturn:
        raise AttributeError("Can't get dim order on sparse type: use Tensor.to_dense() to convert to a dense tensor first.")

    def storage_offset(self) -> int:
        return 0

    def is_contiguous(self, memory_format: Any = None) -> bool:
        if self.parts.layout is not COO:
            raise RuntimeError("Tensors of type SparseCsrTensorImpl do not have is_contiguous")
        return False

    def data_ptr(self) -> NoReturn:
        raise RuntimeError("Cannot access data pointer of Tensor that doesn't have storage")

    def _storage_info(self) -> NoReturn:
        raise NotImplementedError(f"Cannot access storage of {'SparseTensorImpl' if self.is_sparse else 'SparseCsrTensorImpl'}")

    _storage_resize = as_subclass = _storage_info  # type: ignore[assignment]

    def __len__(self) -> int:
        if not self.dim():
            raise TypeError("len() of a 0-d tensor")
        return self.shape[0]

    def __hash__(self) -> int:
        return id(self)

    def __repr__(self, *, tensor_contents: str | None = None) -> str:  # type: ignore[override]  # the same, as the stub has it
        from retrograd._ops.sparse.text import text

        return text(self)

    def __copy__(self) -> Any:
        return make(self.shape, self.parts, self.requires_grad)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if not self.is_leaf:
            return Tensor.__deepcopy__.__wrapped__(self, memo)  # type: ignore[attr-defined]  # which says why not
        if id(self) not in memo:
            new = memo[id(self)] = make(self.shape, self.parts.moved(Tensor.clone), self.requires_grad)
            if self.__dict__:
                new.__dict__.update(self.__dict__)
            if self.grad is not None:
                new.grad = self.grad.clone()
        return memo[id(self)]

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        from retrograd._utils import reduced_sparse

        return reduced_sparse(self)


SparseTensor.__name__ = SparseTensor.__qualname__ = "Tensor"
SparseTensor.__module__ = __name__.partition(".")[0]
_C._set_sparse_type(SparseTensor)


def make(size: Any, parts: Parts, requires_grad: bool = False) -> Any:
    """A sparse tensor of these parts, as a leaf."""
    with _C.DisableTorchFunction():
        shape = _C._ops.empty(tuple(size), dtype=parts.values.dtype, device="meta")
    new = Tensor._make_subclass(SparseTensor, shape, requires_grad)
    new.parts = parts
    return new


def detached(x: Any) -> Any:
    return make(x.shape, x.parts)


def replace(x: Any, other: Any) -> Any:
    """Gives x the parts of another tensor: all that a write to a sparse tensor is."""
    if other.shape != x.shape or other.dtype != x.dtype:
        with _C.DisableTorchFunction():
            Tensor.data.__set__(x, _C._ops.empty(tuple(other.shape), dtype=other.dtype, device="meta"))  # type: ignore[attr-defined]
    x.parts = other.parts
    x._bump_version()
    return x


def is_sparse(x: Any) -> bool:
    return type(x) is SparseTensor


def as_sparse(x: Any, name: str) -> Any:
    if not is_sparse(x):
        raise RuntimeError(f"{name}: expected a sparse tensor, got one of layout torch.strided")
    return x


def refuse(name: str, x: Any) -> NoReturn:
    """Says that there is no such op on sparse tensors, as PyTorch does."""
    backend = "SparseCPU" if x.parts.layout is COO else "SparseCsrCPU"
    raise NotImplementedError(
        f"Could not run 'aten::{name}' with arguments from the '{backend}' backend. This op is not there for tensors of layout "
        f"{x.parts.layout}: to_dense() gives one that every op takes."
    )


def only(x: Any, name: str, layout: Any, words: str) -> Parts:
    """The parts of x, which must have a layout."""
    if is_sparse(x) and x.parts.layout in layout:
        return x.parts
    raise RuntimeError(f"{name} expected {words} tensor layout but got {WORDS[x.layout]}")
