"""torch.sparse: products, sums and softmax of sparse tensors, and PyTorch's old constructors of them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import retrograd as torch
from retrograd import Tensor
from retrograd._ops.sparse import products, reduce
from retrograd._ops.sparse.construct import converted, coo, sparse_coo_tensor, without_elements
from retrograd._ops.sparse.history import places, values_of
from retrograd._ops.sparse.tensor import COO, CSR, is_sparse
from retrograd._types import _NAMES

__all__ = [
    "BFloat16Tensor", "ByteTensor", "CharTensor", "DoubleTensor", "FloatTensor", "HalfTensor", "IntTensor", "LongTensor", "ShortTensor",
    "addmm", "check_sparse_tensor_invariants", "log_softmax", "mm", "sampled_addmm", "softmax", "spdiags", "sum",
]  # fmt: skip

sampled_addmm = products.sampled_addmm


def mm(mat1: Tensor, mat2: Tensor, reduce: str | None = None) -> Tensor:
    """The product of two matrices, any of which may be sparse.

    Args:
        reduce: for a sparse mat1 in CSR layout what is done instead of summing: "mean", "amax" or "amin" of the products.
    """
    if reduce is None:
        return torch.mm(mat1, mat2)
    if reduce not in ("sum", "mean", "amax", "amin"):
        raise RuntimeError(f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")
    if not is_sparse(mat1) or mat1.layout is not CSR:
        raise RuntimeError(f"sparse.mm: expected a matrix in CSR layout where reduce is given, got one of layout {mat1.layout}")
    if reduce == "sum":
        return torch.mm(mat1, mat2)
    rows, columns = places(mat1)
    terms = values_of(mat1).unsqueeze(1) * mat2[columns]
    return terms.new_zeros((mat1.shape[0], mat2.shape[1])).index_reduce(0, rows, terms, reduce, include_self=False)


def addmm(mat: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Any = 1.0, alpha: Any = 1.0) -> Tensor:
    """beta * mat + alpha * (mat1 @ mat2), for a sparse mat1."""
    return torch.addmm(mat, mat1, mat2, beta=beta, alpha=alpha)


def sum(input: Tensor, dim: Any = None, dtype: Any = None) -> Tensor:
    """The sum of all elements, or along dimensions: a sparse tensor where a sparse dimension is left."""
    return reduce.sparse_sum(input, dim, dtype)


def softmax(input: Tensor, dim: int, *, dtype: Any = None) -> Tensor:
    """Softmax of the elements that are there; those that are not count as minus infinity."""
    return reduce.softmax(input, dim, dtype=dtype)


def log_softmax(input: Tensor, dim: int, *, dtype: Any = None) -> Tensor:
    """The logarithm of softmax()."""
    return reduce.softmax(input, dim, dtype=dtype, log=True)


def spdiags(diagonals: Tensor, offsets: Tensor, shape: Any, layout: Any = None) -> Tensor:
    """A matrix with the rows of `diagonals` on the diagonals that `offsets` names; element j of a row stands in column j."""
    if diagonals.dim() == 1:
        diagonals = diagonals.unsqueeze(0)
    offsets = offsets.reshape(-1)
    if diagonals.dim() != 2:
        raise RuntimeError("Diagonals must be vector or matrix")
    if len(tuple(shape)) != 2:
        raise RuntimeError("Output shape must be 2d")
    if offsets.dtype != torch.int64:
        raise RuntimeError(f"Offset Tensor must have dtype Long but got {offsets.dtype}")
    if diagonals.shape[0] != offsets.numel():
        raise RuntimeError(f"Number of diagonals ({diagonals.shape[0]}) does not match the number of offsets ({offsets.numel()})")
    if offsets.unique().numel() != offsets.numel():
        raise RuntimeError("Offset tensor contains duplicate values")
    if layout not in (None, torch.sparse_coo, torch.sparse_csr, torch.sparse_csc):
        raise RuntimeError(f"Only output layouts (Sparse, SparseCsc, and SparseCsr) are supported, got {layout}")
    columns = torch.arange(diagonals.shape[1]).expand(diagonals.shape)
    rows = columns - offsets.unsqueeze(1)
    inside = (rows >= 0) & (rows < shape[0]) & (columns < shape[1])
    made = coo(torch.stack((rows[inside], columns[inside])), diagonals[inside], tuple(shape))
    return made if layout in (None, torch.sparse_coo) else converted(made, layout)


class check_sparse_tensor_invariants:
    """Switches checks of indices on, for a block, a function or the program. Here they are always made; this remembers what was asked."""

    _enabled = False

    def __init__(self, enable: bool = True) -> None:
        self._wanted = enable
        self._before: bool | None = None

    @staticmethod
    def is_enabled() -> bool:
        """Whether checks were asked for."""
        return check_sparse_tensor_invariants._enabled

    @staticmethod
    def enable() -> None:
        """Asks for checks."""
        check_sparse_tensor_invariants._enabled = True

    @staticmethod
    def disable() -> None:
        """Asks for none."""
        check_sparse_tensor_invariants._enabled = False

    def __enter__(self) -> None:
        if self._before is not None:
            raise RuntimeError(
                "This context manager instance is already activated. Use a different context manager instance for context nesting."
            )
        self._before = self.is_enabled()
        check_sparse_tensor_invariants._enabled = self._wanted

    def __exit__(self, *exc_info: object) -> None:
        assert self._before is not None
        check_sparse_tensor_invariants._enabled = self._before
        self._before = None

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def checked(*args: Any, **kwargs: Any) -> Any:
            with type(self)(self._wanted):
                return function(*args, **kwargs)

        return checked


# -- torch.sparse.FloatTensor and its like --------------------------------------------------------


class _SparseTypeMeta(type):
    """isinstance(t, torch.sparse.FloatTensor) asks for layout and dtype."""

    dtype: Any

    def __instancecheck__(cls, instance: Any) -> bool:
        return is_sparse(instance) and instance.layout is COO and instance.dtype == cls.dtype

    def __call__(cls, *args: Any, device: Any = None) -> Any:
        if args and isinstance(args[0], Tensor):
            if len(args) > 1 and isinstance(args[1], Tensor):
                return sparse_coo_tensor(*args, device=device)
            return args[0]
        if args and not all(isinstance(a, int) for a in args) and not (len(args) == 1 and isinstance(args[0], (torch.Size, tuple))):
            kinds = ", ".join(type(a).__name__ for a in args)
            raise TypeError(
                f"new() received an invalid combination of arguments - got ({kinds}), but expected tensors of indices and values"
            )
        size = tuple(args[0]) if args and not isinstance(args[0], int) else args or (0,)
        return without_elements(size, cls.dtype, device)


def _make(name: str) -> type:
    facts = {"dtype": _NAMES[name], "__module__": "torch.sparse", "__doc__": f"Old constructor of sparse tensors of {_NAMES[name]}."}
    return _SparseTypeMeta(name, (), facts)


FloatTensor: Any = _make("FloatTensor")
DoubleTensor: Any = _make("DoubleTensor")
HalfTensor: Any = _make("HalfTensor")
BFloat16Tensor: Any = _make("BFloat16Tensor")
LongTensor: Any = _make("LongTensor")
IntTensor: Any = _make("IntTensor")
ShortTensor: Any = _make("ShortTensor")
CharTensor: Any = _make("CharTensor")
ByteTensor: Any = _make("ByteTensor")
