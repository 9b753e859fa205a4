"""Writes to sparse tensors, and of sparse tensors into dense ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import retrograd as torch
from retrograd import _C, Tensor
from retrograd._ops.sparse import arithmetic, products
from retrograd._ops.sparse.construct import converted, without_elements
from retrograd._ops.sparse.history import places, to_dense
from retrograd._ops.sparse.tensor import COO, Parts, detached, is_sparse, make, refuse, replace
from retrograd._types import name_of_dtype


def check_write(x: Any, name: str, *others: Any) -> None:
    """A write must not be one that autograd would have to see."""
    if not _C.is_grad_enabled():
        return
    if x.requires_grad and x.is_leaf:
        raise RuntimeError("a leaf Variable that requires grad is being used in an in-place operation.")
    if x.requires_grad or any(isinstance(o, Tensor) and o.requires_grad for o in others):
        raise NotImplementedError(
            f"{name}: writes to a sparse tensor are not recorded by autograd. Use the function without the underscore, or no_grad()."
        )


def in_place(name: str, function: Callable[..., Any], *, coalesced: bool = False) -> Callable[..., Any]:
    """The form of a function that writes its first argument."""

    def write(self: Any, *args: Any, **options: Any) -> Any:
        check_write(self, name, *args)
        if not is_sparse(self):
            refuse(name, next(a for a in args if is_sparse(a)))
        if coalesced and self.parts.layout is COO and not self.parts.coalesced:
            raise RuntimeError(f"{name} requires coalesced input")
        with _C.no_grad():
            result = function(self, *args, **options)
        if not is_sparse(result):
            refuse(name, self)
        if result.dtype != self.dtype:
            from retrograd._ops.out import dtype_title

            raise RuntimeError(
                f"result type {dtype_title(result.dtype)} can't be cast to the desired output type {dtype_title(self.dtype)}: {name} keeps it"
            )
        return replace(self, result)

    return write


def add_(self: Any, other: Any, *, alpha: Any = 1) -> Any:
    """self += alpha * other."""
    if is_sparse(self):
        return in_place("add_", arithmetic.add)(self, other, alpha=alpha)
    if list(self.shape) != list(other.shape):
        return arithmetic.add(self, other, alpha=alpha)  # which says why not
    if other.parts.blocks is not None or not other.parts.sparse_dim:
        return self.add_(to_dense(other), alpha=alpha)
    if other.requires_grad and _C.is_grad_enabled():
        return self.copy_(arithmetic.add(self, other, alpha=alpha))
    values = other.parts.values.to(self.dtype)
    return self.index_put_(tuple(places(other)), values if alpha == 1 else values * alpha, accumulate=True)


def sub_(self: Any, other: Any, *, alpha: Any = 1) -> Any:
    """self -= alpha * other."""
    return add_(self, other, alpha=-alpha)


def mul_(self: Any, other: Any) -> Any:
    """self *= other."""
    if is_sparse(self):
        return in_place("mul_", arithmetic.mul)(self, other)
    return self.mul_(to_dense(other))


def div_(self: Any, other: Any, *, rounding_mode: str | None = None) -> Any:
    """self /= other."""
    if not is_sparse(self):
        return arithmetic.div(self, other)  # which says why not
    return in_place("div_", arithmetic.div)(self, other, rounding_mode=rounding_mode)


def addmm_(self: Any, mat1: Any, mat2: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """self = beta * self + alpha * (mat1 @ mat2)."""
    if is_sparse(self):
        refuse("addmm_", self)
    return self.copy_(products.addmm(self, mat1, mat2, beta=beta, alpha=alpha))


def zero_(self: Any) -> Any:
    """Takes all elements away."""
    check_write(self, "zero_")
    parts = self.parts
    if parts.layout is COO:
        empty = Parts(COO, None, parts.plain[:, :0], parts.values[:0], True)
    else:
        empty = parts._replace(compressed=torch.zeros_like(parts.compressed), plain=parts.plain[:0], values=parts.values[:0])
    return replace(self, make(self.shape, empty))


def copy_(self: Any, src: Any, non_blocking: bool = False) -> Any:
    """The elements of another sparse tensor."""
    if is_sparse(self):
        check_write(self, "copy_", src)
    if not is_sparse(self) or not is_sparse(src):
        types = [
            f"torch.{'sparse.' if is_sparse(t) else ''}{name_of_dtype(t.dtype)}" if isinstance(t, Tensor) else type(t) for t in (self, src)
        ]
        raise RuntimeError(
            f"copy_() between dense and sparse Tensors is not implemented! Found self type = {types[0]} and src type = {types[1]}"
        )
    if self.parts.layout is not src.parts.layout or self.shape != src.shape:
        raise RuntimeError(
            f"copy_: a tensor of layout {src.layout} and size {list(src.shape)} cannot be copied to one of layout {self.layout} and size "
            f"{list(self.shape)}"
        )
    device = self.device
    new = src.parts.moved(lambda part: part.to(device, copy=True))
    return replace(self, make(self.shape, new._replace(values=new.values.to(self.dtype))))


def transpose_(self: Any, dim0: int, dim1: int) -> Any:
    """Exchanges two dimensions."""
    from retrograd._ops.sparse.shape import transpose

    return in_place("transpose_", transpose)(self, dim0, dim1)


def t_(self: Any) -> Any:
    """Turns a matrix over."""
    from retrograd._ops.sparse.shape import t

    return in_place("t_", t)(self)


# -- sizes ----------------------------------------------------------------------------------------


def sparse_resize_(self: Any, size: Any, sparse_dim: int, dense_dim: int) -> Any:
    """Another size, with the elements that there are."""
    size = tuple(size)
    _check_resize(self, "sparse_resize_", size, sparse_dim, dense_dim)
    parts = self.parts
    if parts.values.shape[0]:
        old = (list(self.shape[: parts.sparse_dim]), list(self.shape[parts.sparse_dim :]))
        new = (list(size[:sparse_dim]), list(size[sparse_dim:]))
        for kind, before, after in (("sparse", parts.sparse_dim, sparse_dim), ("dense", self.dim() - parts.sparse_dim, dense_dim)):
            if before != after:
                _refuse_resize(f"changing the number of {kind} dimensions (from {before} to {after})")
        for kind, was, wanted in zip(("sparse", "dense"), old, new, strict=True):
            if any(w < b for w, b in zip(wanted, was, strict=True)):
                _refuse_resize(f"shrinking the size of {kind} dimensions (from {was} to {wanted})")
        if new[1] != old[1]:
            values = parts.values.new_zeros((parts.values.shape[0], *new[1]))
            values[tuple(slice(0, s) for s in parts.values.shape)] = parts.values
            parts = parts._replace(values=values)
        return replace(self, make(size, parts))
    values = parts.values.new_zeros((0, *size[sparse_dim:]))
    return replace(self, make(size, Parts(COO, None, parts.plain.new_zeros((sparse_dim, 0)), values, True)))


def _check_resize(x: Any, name: str, size: Any, sparse_dim: int, dense_dim: int) -> None:
    if not is_sparse(x) or x.parts.layout is not COO:
        raise NotImplementedError(
            f"Could not run 'aten::{name}' with arguments from the 'CPU' backend: it takes sparse tensors of layout COO"
        )
    check_write(x, name)
    if len(size) != sparse_dim + dense_dim:
        raise RuntimeError(
            f"'len(size) == sparse_dim + dense_dim' is not satisfied: len(size) = {len(size)}, sparse_dim = {sparse_dim}, dense_dim = {dense_dim}"
        )


def _refuse_resize(what: str) -> None:
    raise RuntimeError(
        f"{what} on a non-empty sparse tensor is not supported. Make one of that size by torch.sparse_coo_tensor(indices, values, size)."
    )


def sparse_resize_and_clear_(self: Any, size: Any, sparse_dim: int, dense_dim: int) -> Any:
    """Another size, without elements."""
    _check_resize(self, "sparse_resize_and_clear_", tuple(size), sparse_dim, dense_dim)
    zero_(self)
    return sparse_resize_(self, size, sparse_dim, dense_dim)


def resize_as_sparse_(self: Any, other: Any) -> Any:
    """The size of another sparse tensor."""
    if not is_sparse(other):
        raise RuntimeError("resize_as_sparse_: expected a sparse tensor for the size")
    return sparse_resize_(self, tuple(other.shape), other.parts.sparse_dim, other.dim() - other.parts.sparse_dim)


def zeros_like(input: Any, *, dtype: Any = None, layout: Any = None, device: Any = None, requires_grad: bool = False, **_: Any) -> Any:
    """Zeros: without elements, unless another layout is asked for."""
    dtype, device = dtype or input.dtype, device or input.device
    if layout is _C.strided:
        return torch.zeros(tuple(input.shape), dtype=dtype, device=device, requires_grad=requires_grad)
    zeros = without_elements(tuple(input.shape), dtype, device)
    if input.parts.sparse_dim != input.dim() and input.parts.layout is COO:
        zeros = zero_(detached(input)).to(dtype=dtype, device=device)
    zeros = converted(zeros, layout or input.parts.layout, input.parts.blocks)
    return zeros.requires_grad_() if requires_grad else zeros


def new_zeros(self: Any, *size: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False, **_: Any) -> Any:
    """A COO tensor without elements."""
    given = size[0] if len(size) == 1 and not isinstance(size[0], int) else size
    if self.parts.layout is not COO:
        refuse("new_zeros", self)
    made = without_elements(tuple(given), dtype or self.dtype, device or self.device)
    return made.requires_grad_() if requires_grad else made
