"""Older names of sparse products, and the parts of sparse tensors as copies."""

from __future__ import annotations

from typing import Any

from retrograd import Tensor
from retrograd._ops.sparse.products import hspmm, spmm, sspaddmm
from retrograd._ops.sparse.writes import resize_as_sparse_ as _resize_as
from retrograd._overridable import overridable

dsmm, hsmm, saddmm = spmm, hspmm, sspaddmm


def resize_as_sparse_(input: Any, the_template: Any) -> Any:
    """The size of another sparse tensor."""
    return _resize_as(input, the_template)


@overridable
def indices_copy(input: Any) -> Tensor:
    """A copy of the places of the elements of a COO tensor."""
    return input.indices().clone()


@overridable
def values_copy(input: Any) -> Tensor:
    """A copy of the elements of a sparse tensor."""
    return input.values().clone()


@overridable
def crow_indices_copy(input: Any) -> Tensor:
    """A copy of where the rows of a CSR tensor begin."""
    return input.crow_indices().clone()


@overridable
def col_indices_copy(input: Any) -> Tensor:
    """A copy of the columns of the elements of a CSR tensor."""
    return input.col_indices().clone()


@overridable
def ccol_indices_copy(input: Any) -> Tensor:
    """A copy of where the columns of a CSC tensor begin."""
    return input.ccol_indices().clone()


@overridable
def row_indices_copy(input: Any) -> Tensor:
    """A copy of the rows of the elements of a CSC tensor."""
    return input.row_indices().clone()
