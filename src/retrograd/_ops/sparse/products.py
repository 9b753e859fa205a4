"""Matrix products. Elements are found by rows and columns in any order, so that all layouts share one kernel, and a transpose costs nothing."""

from __future__ import annotations

from typing import Any

import retrograd as torch
from retrograd import _C, Tensor
from retrograd._ops.sparse.construct import converted, starts
from retrograd._ops.sparse.history import as_coo, coalesced, places, values_at, values_of, with_parts, with_values
from retrograd._ops.sparse.tensor import COO, CSR, WORDS, Parts, is_sparse, refuse
from retrograd._overridable import overridable

_product, _dots = _C._ops._sparse_mm, _C._ops._sparse_dots
# What the kernels take; other dtypes are computed in these.
_WIDE = {torch.float16: torch.float32, torch.bfloat16: torch.float32} | dict.fromkeys(
    (torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32), torch.int64
)


def _same_dtype(a: Tensor, b: Tensor) -> None:
    if a.dtype != b.dtype:
        from retrograd._ops.out import dtype_title

        raise RuntimeError(f"expected scalar type {dtype_title(a.dtype)} but found {dtype_title(b.dtype)}")


def _in_wide(kernel: Any, rows: Tensor, columns: Tensor, a: Tensor, b: Tensor, *rest: Any) -> Tensor:
    _same_dtype(a, b)
    wide = _WIDE.get(a.dtype)
    if wide is None:
        return kernel(rows, columns, a, b, *rest)
    return kernel(rows, columns, a.to(wide), b.to(wide), *rest).to(a.dtype)


def _elements(x: Any) -> tuple[Tensor, Tensor, Tensor]:
    if x.parts.blocks is not None:
        x = as_coo(x)
    rows, columns = places(x)
    return rows, columns, values_of(x)


def _check_matrix(x: Any, name: str) -> None:
    if x.parts.sparse_dim != 2 or x.dim() != 2:
        raise RuntimeError(
            f"{name}: Argument #2: matrices expected, got {x.dim()}D tensor with {x.parts.sparse_dim} sparse dimensions and "
            f"{x.dim() - x.parts.sparse_dim} dense ones"
        )


def mm(input: Any, mat2: Any) -> Any:
    """The product of two matrices, at least one of them sparse."""
    for x in (input, mat2):
        if is_sparse(x):
            _check_matrix(x, "addmm")
    if is_sparse(input) and is_sparse(mat2):
        return _sparse_sparse(input, mat2)
    if is_sparse(input):
        if mat2.dim() != 2:
            raise RuntimeError(f"addmm: Argument #3 (dense): Expected dim 2, got {mat2.dim()}")
        if mat2.shape[0] != input.shape[1]:
            raise RuntimeError(f"addmm: Argument #3 (dense): Expected dim 0 size {input.shape[1]}, got {mat2.shape[0]}")
        return _in_wide(_product, *_elements(input), mat2, input.shape[0])
    if input.dim() != 2:
        raise RuntimeError(f"addmm: Argument #2 (dense): Expected dim 2, got {input.dim()}")
    if input.shape[1] != mat2.shape[0]:
        raise RuntimeError(
            f"mat1 and mat2 shapes cannot be multiplied ({input.shape[0]}x{input.shape[1]} and {mat2.shape[0]}x{mat2.shape[1]})"
        )
    rows, columns, values = _elements(mat2)
    return _in_wide(_product, columns, rows, values, input.t(), mat2.shape[1]).t()


def _sparse_sparse(a: Any, b: Any) -> Any:
    """Each element of a meets the elements of one row of b."""
    if a.shape[1] != b.shape[0]:
        raise RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({a.shape[0]}x{a.shape[1]} and {b.shape[0]}x{b.shape[1]})")
    if (a.parts.layout is COO) != (b.parts.layout is COO):
        kind = WORDS[a.layout]
        raise RuntimeError(f"addmm: computation on CPU is not implemented for {kind} + {kind} @ {WORDS[b.layout]}")
    layout = a.parts.layout
    a, b = coalesced(as_coo(a)), coalesced(as_coo(b))
    _same_dtype(a.parts.values, b.parts.values)
    (rows, inner), (others, columns) = a.parts.plain, b.parts.plain
    bounds = starts(others, b.shape[0])
    counts = bounds.diff()[inner]
    left = torch.arange(inner.numel(), device=inner.device).repeat_interleave(counts)
    within = torch.arange(left.numel(), device=inner.device) - (counts.cumsum(0) - counts)[left]
    right = bounds[inner[left]] + within
    indices = torch.stack((rows[left], columns[right]))
    found = with_parts((a.shape[0], b.shape[1]), Parts(COO, None, indices, values_of(a)[left] * values_of(b)[right]))
    return converted(coalesced(found), COO if layout is COO else CSR)


def mv(input: Any, vec: Any) -> Tensor:
    """The product of a sparse matrix and a vector."""
    if not is_sparse(input) or is_sparse(vec):
        refuse("mv", vec if is_sparse(vec) else input)
    if input.dim() != 2 or vec.dim() != 1:
        raise RuntimeError(f"mv: two tensor dim should be 2 and 1, but got SparseTensor Dim: {input.dim()} Dense Dim: {vec.dim()}")
    if input.shape[1] != vec.shape[0]:
        raise RuntimeError(f"mv: expected self.size(-1) == vec.size(-1), got {input.shape[1]} and {vec.shape[0]}")
    return mm(input, vec.unsqueeze(1)).squeeze(1)


def bmm(input: Any, mat2: Any) -> Tensor:
    """The products of the matrices of a sparse batch with those of a dense one."""
    if not is_sparse(input) or is_sparse(mat2):
        refuse("bmm", mat2 if is_sparse(mat2) else input)
    if input.dim() != 3 or mat2.dim() != 3 or input.parts.layout is not COO or input.parts.sparse_dim != 3:
        raise RuntimeError(f"bmm_sparse: Tensor 'self' and 'mat2' must have 3 dimensions, got {input.dim()} and {mat2.dim()}")
    batch, height, depth = input.shape
    if mat2.shape[0] != batch:
        raise RuntimeError(f"bmm_sparse: 'self.size(0)' and 'mat2.size(0)' must match, got {batch} and {mat2.shape[0]}")
    if mat2.shape[1] != depth:
        raise RuntimeError(f"bmm_sparse: 'self.size(2)' and 'mat2.size(1)' must match, got {depth} and {mat2.shape[1]}")
    item, rows, columns = input.parts.plain
    whole = mat2.reshape(batch * depth, mat2.shape[2])
    product = _in_wide(_product, item * height + rows, item * depth + columns, values_of(input), whole, batch * height)
    return product.reshape(batch, height, mat2.shape[2])


def matmul(input: Any, other: Any) -> Any:
    """input @ other."""
    dims = input.dim(), other.dim()
    if dims == (2, 2):
        return mm(input, other)
    if dims == (2, 1):
        return mv(input, other)
    if dims == (1, 2) and not is_sparse(input):
        return mm(input.unsqueeze(0), other).squeeze(0)
    if dims == (1, 1):
        refuse("dot", input if is_sparse(input) else other)
    raise RuntimeError(
        "reshape is not implemented for sparse tensors: matmul takes matrices, and matrices with vectors; bmm() takes batches"
    )


def addmm(input: Any, mat1: Any, mat2: Any, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """beta * input + alpha * (mat1 @ mat2)."""
    if is_sparse(input) or (is_sparse(mat1) and is_sparse(mat2)):
        raise RuntimeError(f"addmm_sparse_dense: expected strided result tensor, got tensor with layout {WORDS[input.layout]}")
    product = mm(mat1, mat2)
    product = product if alpha == 1 else product * alpha
    if beta == 0:
        return product
    return (input if beta == 1 else input * beta).expand(product.shape) + product


def sampled_addmm(input: Any, mat1: Tensor, mat2: Tensor, *, beta: Any = 1.0, alpha: Any = 1.0, out: Any = None) -> Any:
    """beta * input + alpha * (mat1 @ mat2), computed where `input`, in CSR layout, has elements."""
    if out is not None:
        raise NotImplementedError("sampled_addmm: out= is not supported for sparse tensors")
    if not is_sparse(input) or input.parts.layout is not CSR:
        if not is_sparse(input):
            raise RuntimeError("sampled_addmm: Expected sparse CSR self tensor, but got one of layout torch.strided")
        refuse("sparse_sampled_addmm", input)
    for number, mat in ((1, mat1), (2, mat2)):
        if is_sparse(mat):
            raise RuntimeError(f"sampled_addmm: Expected mat{number} to have strided layout, but got {mat.layout}")
    if mat1.shape[-1] != mat2.shape[-2]:
        raise RuntimeError(
            f"sampled_addmm: mat1 and mat2 shapes cannot be multiplied ({mat1.shape[0]}x{mat1.shape[1]} and {mat2.shape[0]}x{mat2.shape[1]})"
        )
    if tuple(input.shape) != (mat1.shape[0], mat2.shape[1]):
        raise RuntimeError(
            f"sampled_addmm: self.shape[-2] and mat1.shape[-2] must match, and self.shape[-1] and mat2.shape[-1]: got {list(input.shape)} and "
            f"{[mat1.shape[0], mat2.shape[1]]}"
        )
    rows, columns, values = _elements(input)
    sampled = _in_wide(_dots, rows, columns, mat1, mat2.t())
    return with_values(input, (values if beta == 1 else values * beta) + (sampled if alpha == 1 else sampled * alpha))


def linear(input: Any, weight: Any, bias: Any = None) -> Any:
    """input @ weight.t() + bias."""
    if is_sparse(bias):
        refuse("linear", bias)
    product = matmul(input, weight.t())
    return product if bias is None else product + bias


# -- older names ----------------------------------------------------------------------------------


def _need_sparse(x: Any, name: str) -> None:
    if not is_sparse(x) or x.parts.layout is not COO:
        raise RuntimeError(f"tensor.{name}(...) can only be called on sparse tensors")


def spmm(input: Any, mat2: Any) -> Any:
    """The product of two matrices: torch.mm()."""
    return torch.mm(input, mat2)


@overridable
def smm(input: Any, mat: Tensor) -> Any:
    """The product of a sparse and a dense matrix, as a sparse one of all elements in the rows that have any."""
    _need_sparse(input, "sspaddmm")
    return _filled_rows(input, mat)


def _filled_rows(x: Any, mat: Tensor) -> Any:
    product = mm(x, mat)
    rows = x.parts.plain[0].unique()
    width = product.shape[1]
    indices = torch.stack((rows.repeat_interleave(width), torch.arange(width, device=rows.device).repeat(rows.numel())))
    return with_parts(product.shape, Parts(COO, None, indices, product[rows].reshape(-1)))


@overridable
def sspaddmm(input: Any, mat1: Any, mat2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """beta * input + alpha * (mat1 @ mat2), all but mat2 sparse."""
    _need_sparse(input, "sspaddmm")
    _need_sparse(mat1, "sspaddmm")
    product = _filled_rows(mat1, mat2)
    indices = torch.cat((input.parts.plain, product.parts.plain), 1)
    return with_parts(input.shape, Parts(COO, None, indices, torch.cat((values_of(input) * beta, values_of(product) * alpha))))


@overridable
def hspmm(mat1: Any, mat2: Tensor) -> Any:
    """The product of a sparse and a dense matrix, as a tensor with one sparse dimension."""
    _need_sparse(mat1, "hspmm")
    product = mm(mat1, mat2)
    rows = mat1.parts.plain[0].unique()
    return with_parts(product.shape, Parts(COO, None, rows.unsqueeze(0), product[rows]))


# -- masks ----------------------------------------------------------------------------------------


def sparse_mask(input: Any, mask: Any) -> Any:
    """The elements of a tensor at the places of a sparse one."""
    if not is_sparse(mask):
        raise NotImplementedError(
            "Could not run 'aten::sparse_mask' with arguments from the 'CPU' backend: the mask is not a sparse tensor"
        )
    if input.shape != mask.shape:
        raise RuntimeError(
            f"sparse_mask(): operands have incompatible sizes; self has size {list(input.shape)} but mask has size {list(mask.shape)}"
        )
    return with_values(mask.detach(), values_at(input, mask))
