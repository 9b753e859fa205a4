"""rearrange: permute, split and merge dimensions by a pattern of names."""

from __future__ import annotations

import keyword
import math
import re
from collections.abc import Sequence
from typing import Any

from retrograd import _C
from retrograd._C import Tensor

_ops = _C._ops
_DOTS = "..."
_TOKEN = re.compile(r"\s+|\.{3}|[()]|[^\s().]+|\.")

# One side of a pattern: for each dimension the names that are merged in it; a plain one has one name, "1" none. _DOTS stands for the rest.
_Side = list[list[str] | str]


def _parsed(text: str) -> _Side:
    side: _Side = []
    group: list[str] | None = None
    seen: set[str] = set()
    for token in _TOKEN.findall(text):
        if token.isspace():
            continue
        if token in "()":
            if (token == "(") != (group is None):
                raise ValueError(f"Imbalanced parentheses in expression: '{text}'")
            if token == "(":
                group = []
            elif group is not None:
                side.append(group)
                group = None
            continue
        if token == "." or (token == _DOTS and _DOTS in seen):
            raise ValueError("Expression may contain dots only inside ellipsis (...); only one ellipsis for tensor ")
        if token == _DOTS:
            if group is not None:
                raise ValueError(f"Ellipsis inside parentheses is not supported: '{text}'")
            side.append(_DOTS)
            seen.add(_DOTS)
            continue
        names = [] if token == "1" else [_checked_name(token, seen)]
        if group is None:
            side.append(names)
        else:
            group += names
    if group is not None:
        raise ValueError(f"Imbalanced parentheses in expression: '{text}'")
    return side


def _checked_name(name: str, seen: set[str]) -> str:
    if name.isdecimal():
        raise ValueError("rearrange only supports unnamed axes of size 1")
    if not name.isidentifier() or keyword.iskeyword(name):
        raise ValueError(f"Invalid axis identifier: {name}\nnot a valid python identifier")
    if name.startswith("_") or name.endswith("_"):
        raise ValueError(f"Invalid axis identifier: {name}\naxis name should should not start or end with underscore")
    if name in seen:
        raise ValueError(f"Indexing expression contains duplicate dimension '{name}'")
    seen.add(name)
    return name


def _names(side: _Side) -> list[str]:
    return [name for part in side for name in ([part] if isinstance(part, str) else part)]


def _sizes(part: list[str], size: int, lengths: dict[str, int]) -> list[int]:
    """The size of each name that is merged in a dimension: at most one is not given."""
    unknown = [name for name in part if name not in lengths]
    known = math.prod(lengths[name] for name in part if name in lengths)
    if len(unknown) > 1:
        raise ValueError(f"cannot infer the sizes of two dimensions at once {unknown[0]} and {unknown[1]}")
    if (not unknown and known != size) or (unknown and (known == 0 or size % known)):
        raise ValueError(f"a dimension of size {size} cannot be split into ({' '.join(part)}) with {lengths}")
    return [lengths[name] if name in lengths else size // known for name in part]


def rearrange(tensor: Tensor | Sequence[Tensor], pattern: str, **axes_lengths: int) -> Tensor:
    """A tensor with its dimensions in another order, split or merged, as a pattern says.

    Args:
        tensor: a tensor, or a sequence of tensors, which are stacked first.
        pattern: names of the dimensions before and after `->`; parentheses split on the left and merge on the right, `...` stands for the
            dimensions in between, and `1` for one of size 1.
        axes_lengths: sizes of names that a split does not tell.

    Example::

        >>> x = retrograd.arange(6).reshape(2, 3)
        >>> retrograd.func.rearrange(x, "a b -> b a").shape
        torch.Size([3, 2])
        >>> retrograd.func.rearrange(x, "a (b c) -> (a b) c", c=1).shape
        torch.Size([6, 1])
    """
    if not isinstance(tensor, Tensor):
        tensor = _ops.stack(tensor)
    parts = pattern.split("->")
    if len(parts) != 2:
        raise ValueError("Pattern must contain a single '->' separator")
    left, right = _parsed(parts[0]), _parsed(parts[1])
    apart = set(_names(left)) ^ set(_names(right))
    if apart:
        raise ValueError(f"Identifiers only on one side of rearrange expression (should be on both): {apart}")
    unknown = set(axes_lengths) - set(_names(left))
    if unknown:
        raise ValueError(f"Identifiers not found in rearrange expression: {unknown}")
    return _moved(tensor, left, right, axes_lengths)


def _moved(tensor: Tensor, left: _Side, right: _Side, lengths: dict[str, int]) -> Tensor:
    given = len(left) - (_DOTS in left)
    if tensor.ndim < given or (tensor.ndim != given and _DOTS not in left):
        many = "less than" if _DOTS in left else "equal to"
        raise ValueError(f"Number of dimensions in pattern ({given}) must be {many} the number of dimensions in the tensor ({tensor.ndim})")
    sizes: list[int] = []
    places: dict[str, Any] = {}  # name: its dimensions after the split
    at = 0
    for part in left:
        if isinstance(part, str):
            rest = tensor.ndim - given
            places[_DOTS] = range(len(sizes), len(sizes) + rest)
            sizes += tensor.shape[at : at + rest]
            at += rest
            continue
        if not part and tensor.shape[at] != 1:
            raise ValueError(f"an unnamed axis must have size 1, got {tensor.shape[at]}")
        for name, size in zip(part, _sizes(part, tensor.shape[at], lengths), strict=True):
            places[name] = [len(sizes)]
            sizes.append(size)
        at += 1
    order = [d for name in _names(right) for d in places[name]]
    merged: list[int] = []
    for part in right:
        merged += [sizes[d] for d in places[_DOTS]] if isinstance(part, str) else [math.prod(sizes[places[n][0]] for n in part)]
    return tensor.reshape(sizes).permute(order).reshape(merged)
