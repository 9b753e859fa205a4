"""Making sparse tensors from places and values, from dense tensors and from each other. Places outside of a tensor are refused when it is made,
so that nothing has to ask again."""

from __future__ import annotations

from typing import Any

import retrograd as torch
from retrograd import _C, Tensor
from retrograd._ops.sparse.history import (
    as_coo,
    coalesced,
    group,
    keys_of,
    to_dense,
    values_of,
    with_parts,
)
from retrograd._ops.sparse.tensor import BSC, BSR, COO, CSC, CSR, WORDS, Parts, is_sparse

NAMES = {CSR: ("crow_indices", "col_indices", "ncols"), CSC: ("ccol_indices", "row_indices", "nrows")}
NAMES |= {BSR: NAMES[CSR], BSC: NAMES[CSC]}


def _data(value: Any, dtype: Any = None, device: Any = None) -> Tensor:
    """What was given, with its memory and history, as a tensor."""
    if isinstance(value, Tensor):
        return value.to(dtype=value.dtype if dtype is None else dtype, device=device if device is not None else value.device)
    return torch.tensor(value, dtype=dtype, device=device)


def _finish(x: Any, requires_grad: bool) -> Any:
    return x.requires_grad_() if requires_grad else x


# -- COO ------------------------------------------------------------------------------------------


def sparse_coo_tensor(
    *args: Any,
    dtype: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    check_invariants: bool | None = None,
    is_coalesced: bool | None = None,
    **named: Any,
) -> Any:
    """A tensor of `values` at `indices`, [sparse_dim, nnz], and zeros elsewhere; or of a size alone, without elements.

    Args:
        indices: the places, a column for each value. One that is there several times counts as the sum of its values.
        values: [nnz, ...]: numbers, or a dense tensor for each place.
        size: by default as large as the indices ask for.
        check_invariants: accepted: indices are always checked.
        is_coalesced: whether every place is there once, and in order.
    """
    names = ("indices", "values", "size")
    given = dict(zip(names, args, strict=False)) | named
    if set(given) - set(names) or len(args) > 3 or not given or (len(args) > 1 and set(names[: len(args)]) & set(named)):
        unknown = sorted(set(given) - set(names))
        raise TypeError(f"sparse_coo_tensor() received an invalid combination of arguments - got {unknown or len(args)}")
    if "values" not in given:
        size = given.get("size", given.get("indices"))
        if isinstance(size, Tensor):
            raise TypeError("sparse_coo_tensor(): argument 'size' (position 1) must be tuple of ints, not Tensor")
        return _finish(without_elements(_sizes(size), dtype, device), requires_grad)
    indices, values = given["indices"], _data(given["values"], dtype, device)
    indices = _data(indices, torch.int64, values.device).detach()
    if values.dim() == 0:
        values = values.reshape(1)
    return _finish(coo(indices, values, given.get("size"), is_coalesced), requires_grad)


def _sizes(size: Any) -> tuple[int, ...]:
    return (size,) if isinstance(size, int) else tuple(int(s) for s in size)


def without_elements(size: tuple[int, ...], dtype: Any, device: Any) -> Any:
    values = torch.zeros((0,), dtype=dtype, device=device)
    return with_parts(size, Parts(COO, None, torch.zeros((len(size), 0), dtype=torch.int64, device=device), values, True))


def coo(indices: Tensor, values: Tensor, size: Any = None, is_coalesced: bool | None = None) -> Any:
    """A COO tensor, after all checks."""
    if indices.dim() != 2:
        raise RuntimeError(f"indices must be sparse_dim x nnz, but got: {list(indices.shape)}")
    if indices.shape[1] != values.shape[0]:
        raise RuntimeError(
            f"indices and values must have same nnz, but got nnz from indices: {indices.shape[1]}, nnz from values: {values.shape[0]}"
        )
    sparse_dim, dense_dim = indices.shape[0], values.dim() - 1
    low, high = [0] * sparse_dim, [-1] * sparse_dim
    if indices.numel():
        low, high = (bound.tolist() for bound in torch.aminmax(indices, dim=1))
    for d, least in enumerate(low):
        if least < 0:
            raise RuntimeError(f"found negative index {least} for dim {d}")
    if size is None:
        size = (*(most + 1 for most in high), *values.shape[1:])
    size = _sizes(size)
    if len(size) != sparse_dim + dense_dim:
        raise RuntimeError(
            f"'len(size) == sparse_dim + dense_dim' is not satisfied: len(size) = {len(size)}, sparse_dim = {sparse_dim}, "
            f"dense_dim = {dense_dim}"
        )
    for d, most in enumerate(high):
        if most >= size[d]:
            raise RuntimeError(f"size is inconsistent with indices: for dim {d}, size is {size[d]} but found index {most}")
    expected = [indices.shape[1], *size[sparse_dim:]]
    if list(values.shape) != expected:
        raise RuntimeError(f"values has incorrect size, expected {expected}, got {list(values.shape)}")
    if is_coalesced and values.shape[0] > 1:
        keys = keys_of(indices, size)
        if not bool((keys[1:] > keys[:-1]).all()):
            raise RuntimeError("cannot set is_coalesced to true if indices correspond to uncoalesced COO tensor")
    return with_parts(size, Parts(COO, None, indices, values, bool(is_coalesced)))


# -- compressed layouts ---------------------------------------------------------------------------


def sparse_compressed_tensor(
    compressed_indices: Any,
    plain_indices: Any,
    values: Any,
    size: Any = None,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    check_invariants: bool | None = None,
) -> Any:
    """A matrix whose elements are listed row by row (CSR, BSR) or column by column (CSC, BSC); those of BSR and BSC are blocks.

    Args:
        compressed_indices: where the elements of each row begin, and at last where they end.
        plain_indices: the column of each element.
        values: [nnz, ...].
        check_invariants: accepted: indices are always checked.
    """
    if layout not in NAMES:
        raise RuntimeError("sparse_compressed_tensor expected sparse compressed tensor layout but got " + str(layout))
    values = _data(values, dtype, device)
    index_dtype = torch.int32 if all(getattr(t, "dtype", None) is torch.int32 for t in (compressed_indices, plain_indices)) else torch.int64
    compressed = _data(compressed_indices, index_dtype, values.device).detach()
    plain = _data(plain_indices, index_dtype, values.device).detach()
    if compressed.dim() != 1 or plain.dim() != 1:
        raise NotImplementedError(
            f"{WORDS[layout]} tensors with batch dimensions are not supported: expected vectors of indices, got {list(compressed.shape)} "
            f"and {list(plain.shape)}"
        )
    blocks = layout in (BSR, BSC)
    if blocks and values.dim() < 3:
        raise RuntimeError(f"values must have dimensionality > sum of batch and block dimensionalities (=0 + 2) but got {values.dim()}")
    if values.dim() < 1:
        raise RuntimeError(f"values must have dimensionality > sum of batch and block dimensionalities (=0 + 0) but got {values.dim()}")
    block = tuple(values.shape[1:3]) if blocks else (1, 1)
    if size is None:
        lines = (compressed.numel() - 1) * block[layout in (CSC, BSC)]
        across = (int(plain.max()) + 1 if plain.numel() else 0) * block[layout in (CSR, BSR)]
        size = (lines, across) if layout in (CSR, BSR) else (across, lines)
        size = (*size, *values.shape[3 if blocks else 1 :])
    size = _sizes(size)
    _check_compressed(layout, compressed, plain, values, size, block)
    return _finish(with_parts(size, Parts(layout, compressed, plain, values)), requires_grad)


def _check_compressed(
    layout: Any, compressed: Tensor, plain: Tensor, values: Tensor, size: tuple[int, ...], block: tuple[int, ...]
) -> None:
    outer, inner, number = NAMES[layout]

    def need(fact: bool, words: str) -> None:
        if not fact:
            raise RuntimeError(f"`{words}` is not satisfied.")

    dense = values.dim() - (3 if layout in (BSR, BSC) else 1)
    if len(size) != 2 + dense:
        raise RuntimeError(
            f"tensor dimensionality must be sum of batch, base, and dense dimensionalities (=0 + 2 + {dense}) but got {len(size)}"
        )
    need(size[0] % block[0] == 0 and size[1] % block[1] == 0, f"tensor shape {list(size)} is divisible by blocksize {list(block)}")
    lines, width = size[0] // block[0], size[1] // block[1]
    if layout in (CSC, BSC):
        lines, width = width, lines
    need(compressed.numel() == lines + 1, f"{outer}.shape[-1] == number of {'rows' if number == 'ncols' else 'columns'} + 1")
    if plain.shape[0] != values.shape[0]:
        raise RuntimeError(f"number of values and of {inner} must be the same, but got {values.shape[0]} and {plain.shape[0]}")
    if list(values.shape[3 if layout in (BSR, BSC) else 1 :]) != list(size[2:]):
        raise RuntimeError(f"values has incorrect size, expected dense dimensions {list(size[2:])}, got {list(values.shape)}")
    bounds = compressed.tolist() if lines < 16 else None
    need((bounds[0] if bounds else int(compressed[0])) == 0, f"{outer}[..., 0] == 0")
    need((bounds[-1] if bounds else int(compressed[-1])) == plain.numel(), f"{outer}[..., -1] == nnz")
    steps = compressed.diff()
    need(bool(((steps >= 0) & (steps <= width)).all()), f"0 <= {outer}[..., 1:] - {outer}[..., :-1] <= {number}")
    if plain.numel():
        need(int(plain.min()) >= 0 and int(plain.max()) < width, f"0 <= {inner} < {number}")
        line = torch.arange(lines, device=plain.device).repeat_interleave(steps.long())
        keys = line * width + plain
        need(
            bool((keys[1:] > keys[:-1]).all()),
            f"{inner}[..., {outer}[..., i - 1]:{outer}[..., i]] for all i = 1, ..., {'nrows' if number == 'ncols' else 'ncols'} are sorted and "
            "distinct along the last dimension values",
        )


def sparse_csr_tensor(crow_indices: Any, col_indices: Any, values: Any, size: Any = None, **options: Any) -> Any:
    """A matrix whose elements are listed row by row."""
    return sparse_compressed_tensor(crow_indices, col_indices, values, size, layout=_layout(options, CSR), **options)


def sparse_csc_tensor(ccol_indices: Any, row_indices: Any, values: Any, size: Any = None, **options: Any) -> Any:
    """A matrix whose elements are listed column by column."""
    return sparse_compressed_tensor(ccol_indices, row_indices, values, size, layout=_layout(options, CSC), **options)


def sparse_bsr_tensor(crow_indices: Any, col_indices: Any, values: Any, size: Any = None, **options: Any) -> Any:
    """A matrix of blocks, listed row by row."""
    return sparse_compressed_tensor(crow_indices, col_indices, values, size, layout=_layout(options, BSR), **options)


def sparse_bsc_tensor(ccol_indices: Any, row_indices: Any, values: Any, size: Any = None, **options: Any) -> Any:
    """A matrix of blocks, listed column by column."""
    return sparse_compressed_tensor(ccol_indices, row_indices, values, size, layout=_layout(options, BSC), **options)


def _layout(options: dict[str, Any], own: Any) -> Any:
    if options.pop("layout", None) not in (None, own):
        raise RuntimeError(f"expected layout {own}, which the name of the function says")
    return own


# -- from one layout to another -------------------------------------------------------------------


def dense_to_coo(x: Tensor, sparse_dim: int | None = None) -> Any:
    """The elements that are not zero; with fewer sparse dimensions the slices that have any."""
    if sparse_dim is None:
        sparse_dim = x.dim()
    if not 0 <= sparse_dim <= x.dim():
        raise RuntimeError(f"dense_to_sparse: sparse_dim argument must be in [0,{x.dim()}] range, but {sparse_dim} is given")
    if sparse_dim == 0 and x.dim() > 0:
        raise RuntimeError("dense_to_sparse: sparse_dim argument must be in >0 when self.dim()>0")
    if x.dim() == 0:
        count = int(x.detach() != 0)
        return with_parts((), Parts(COO, None, torch.zeros((0, count), dtype=torch.int64, device=x.device), x.reshape(1)[:count], True))
    there = x.detach() != 0
    if sparse_dim < x.dim():
        there = there.flatten(sparse_dim).any(-1)
    indices = there.nonzero().t().contiguous()
    return with_parts(x.shape, Parts(COO, None, indices, x[tuple(indices)], True))


def coo_to_compressed(x: Any, layout: Any) -> Any:
    if x.parts.sparse_dim != 2:
        raise RuntimeError(f"{WORDS[layout]} tensors have two sparse dimensions, but got {x.parts.sparse_dim}: batches are not supported")
    x = coalesced(x)
    indices, values = x.parts.plain, values_of(x)
    if layout is CSC:
        order, _, _ = group(indices[1] * x.shape[0] + indices[0])
        indices, values = indices[:, order], values[order]
    lines, across = (indices[0], indices[1]) if layout is CSR else (indices[1], indices[0])
    count = x.shape[0 if layout is CSR else 1]
    return with_parts(x.shape, Parts(layout, starts(lines, count), across, values))


def starts(lines: Tensor, count: int) -> Tensor:
    """Where each of `count` lines begins in a list of the lines of elements, and where the last ends."""
    counts = torch.bincount(lines, minlength=count) if lines.numel() else torch.zeros(count, dtype=torch.int64, device=lines.device)
    return torch.cat((counts.new_zeros(1), counts.cumsum(0)))


def to_blocks(x: Any, layout: Any, blocksize: Any, name: str) -> Any:
    """BSR or BSC, of all blocks that have an element."""
    if blocksize is None or len(tuple(blocksize)) != 2:
        raise RuntimeError(f"{name} for {WORDS[layout]} conversion expects blocksize to be a tuple of two ints, got {blocksize}")
    height, width = blocksize
    dense = to_dense(x) if is_sparse(x) else x
    if dense.dim() != 2:
        raise RuntimeError(f"{name}: expected a matrix, got {dense.dim()} dimensions: batches of blocks are not supported")
    if min(height, width) <= 0 or dense.shape[0] % height or dense.shape[1] % width:
        raise RuntimeError(
            f"{name}: tensor sparse size ({dense.shape[0]},{dense.shape[1]}) must be divisible by given blocksize ({height},{width})"
        )
    tiles = dense.reshape(dense.shape[0] // height, height, dense.shape[1] // width, width).transpose(1, 2)
    if layout is BSC:
        tiles = tiles.transpose(0, 1)
    there = (tiles.detach() != 0).flatten(2).any(-1).nonzero().t()
    return with_parts(dense.shape, Parts(layout, starts(there[0], tiles.shape[0]), there[1].contiguous(), tiles[tuple(there)]))


def converted(
    x: Any, layout: Any, blocksize: Any = None, dense_dim: int | None = None, sparse_dim: int | None = None, name: str = "to_sparse"
) -> Any:
    """x, dense or sparse, in a layout."""
    if layout is _C.strided:
        return to_dense(x) if is_sparse(x) else x
    if blocksize is not None and layout not in (BSR, BSC):
        raise RuntimeError(f"{name} for {WORDS[x.layout]} to {WORDS[layout]} conversion does not use specified blocksize")
    if is_sparse(x) and x.parts.layout is layout and (x.parts.blocks is None or blocksize is None or x.parts.blocks == tuple(blocksize)):
        if sparse_dim not in (None, x.parts.sparse_dim):
            raise RuntimeError(
                f"{name}: conversion from {WORDS[x.layout]} to {WORDS[layout]} with sparse_dim argument !=self.sparse_dim() is not supported"
            )
        return x
    if layout in (BSR, BSC):
        words = f"dense_to_sparse_{'bsr' if layout is BSR else 'bsc'}"
        return to_blocks(x, layout, blocksize, words)
    if not is_sparse(x):
        if layout is COO:
            return dense_to_coo(x, sparse_dim)
        words = f"dense_to_sparse_{'csr' if layout is CSR else 'csc'}"
        least = x.dim() - 2
        if dense_dim is not None and not 0 <= dense_dim <= max(least, 0):
            raise RuntimeError(f"{words}: dense_dim argument must be in [0,{least}] range, but {dense_dim} is given")
        if x.dim() != 2 + (dense_dim or 0):
            raise RuntimeError(
                f"{words}: expected a matrix, got a tensor of {x.dim()} dimensions: batches of compressed matrices are not supported"
            )
        return coo_to_compressed(dense_to_coo(x, 2), layout)
    x = as_coo(x)
    return x if layout is COO else coo_to_compressed(x, layout)
