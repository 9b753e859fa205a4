"""What the transforms share: picking arguments, checking them, and taking history off results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from retrograd import _C
from retrograd._C import Tensor
from retrograd.utils._pytree import TreeSpec, tree_flatten, tree_map

_ops = _C._ops
Argnums = int | tuple[int, ...]


def check_real(name: str, kind: str, tree: Any) -> None:
    """A Jacobian of complex numbers would need a convention: which of their derivatives it has."""
    for i, leaf in enumerate(tree_flatten(tree)[0]):
        if isinstance(leaf, Tensor) and leaf.is_complex():
            raise RuntimeError(f"{name}: Expected all {kind} to be real but received complex tensor at flattened input idx: {i}")


# -- argnums --------------------------------------------------------------------------------------


def wrap_argnum(argnum: Any, count: int) -> int:
    if not isinstance(argnum, int):
        raise RuntimeError(f"argnum must be int, got: {type(argnum)}")
    if not -count <= argnum < count:
        raise RuntimeError(f"Got argnum={argnum}, but only {count} positional inputs")
    return argnum % count


def wrap_argnums(argnums: Any, count: int) -> Any:
    """The same argnums counted from the front: an int, or a tuple of different ones."""
    if isinstance(argnums, int):
        return wrap_argnum(argnums, count)
    if not isinstance(argnums, tuple):
        raise RuntimeError(f"argnums must be int or Tuple[int, ...], got: {type(argnums)}")
    if not argnums:
        raise RuntimeError("argnums must be non-empty")
    wrapped = tuple([wrap_argnum(a, count) for a in argnums])
    if len(set(wrapped)) != len(wrapped):
        raise RuntimeError(f"argnums elements must be unique, got {wrapped}")
    return wrapped


def picked(args: Sequence[Any], argnums: Argnums) -> Any:
    """The arguments to differentiate with respect to: one, or a tuple of them."""
    return args[argnums] if isinstance(argnums, int) else tuple([args[i] for i in argnums])


def entered(args: Sequence[Any], argnums: Argnums, new: Any) -> list[Any]:
    """The arguments as the function inside a transform gets them: `new` ones, and the rest as tensors that it may write to."""
    if len(args) == 1:
        return [new] if isinstance(argnums, int) else list(new)
    picks = (argnums,) if isinstance(argnums, int) else argnums
    result = [None if i in picks else map_tensors(_C._entered, arg) for i, arg in enumerate(args)]
    for i, value in ((argnums, new),) if isinstance(argnums, int) else zip(argnums, new, strict=True):
        result[i] = value
    return result


def entered_keywords(kwargs: dict[str, Any]) -> dict[str, Any]:
    return {name: map_tensors(_C._entered, value) for name, value in kwargs.items()} if kwargs else kwargs


# -- values ---------------------------------------------------------------------------------------


def check_inputs(leaves: Sequence[Any]) -> None:
    for leaf in leaves:
        if not isinstance(leaf, Tensor):
            raise ValueError(f"Thing passed to transform API must be Tensor, got {type(leaf)}")
        if not (leaf.is_floating_point() or leaf.is_complex()):
            raise RuntimeError(f"only Tensors of floating point dtype can require gradients, got {leaf.dtype}")


def split_aux(result: Any, api: str) -> tuple[Any, Any]:
    if not (isinstance(result, tuple) and len(result) == 2):
        raise RuntimeError(f"{api}: output of function f should be a tuple: (output, aux) if has_aux is True")
    return result


def check_aux(aux: Any) -> None:
    for leaf in tree_flatten(aux)[0]:
        if not isinstance(leaf, Tensor):
            raise RuntimeError(f"Expected tensors, got unsupported type {type(leaf)}")


def output_tensors(output: Any, api: str) -> tuple[list[Tensor], TreeSpec]:
    """The outputs of a function, which have to be tensors, at least one."""
    leaves, spec = tree_flatten(output)
    if not leaves:
        raise RuntimeError(f"{api}: Expected f to be a function that has non-empty output (got output = {leaves})")
    for leaf in leaves:
        if not isinstance(leaf, Tensor):
            raise RuntimeError(f"{api}: expected f(*primals) to return only tensors, got unsupported type {type(leaf)}")
    return leaves, spec


def map_tensors(function: Callable[[Tensor], Any], tree: Any) -> Any:
    if isinstance(tree, Tensor):
        return function(tree)
    if tree is None or isinstance(tree, (int, float, str)):
        return tree
    return tree_map(lambda leaf: function(leaf) if isinstance(leaf, Tensor) else leaf, tree)


# -- history --------------------------------------------------------------------------------------
#
# A transform differentiates with respect to leaves of its own. What it returns may still depend on tensors outside that are tracked, by
# another transform or by the program: then the result keeps its history, and so does the computation of gradients (create_graph).
# A batched tensor has two histories: its own, inside vmap, and that of the tensor with the whole batch.


def tracked_below(tensor: Tensor) -> bool:
    """Whether a tensor stands for one that is tracked outside of the vmap that shows it."""
    while level := _C._batch_level(tensor):
        tensor = _C._unwrap_batched(tensor, level)[0]
        if tensor.requires_grad:
            return True
    return False


def tracked_outside(outputs: Sequence[Tensor], leaves: Sequence[Tensor]) -> bool:
    """Whether outputs depend on tracked tensors other than the leaves of the transform."""
    return any(map(tracked_below, outputs)) or _C._reaches_other_leaf(list(outputs), list(leaves))


def released(tensor: Tensor, leaves: Sequence[Tensor], keep: bool) -> Tensor:
    """A result as the caller gets it: with history only where it leads out of the transform."""
    if not tensor.requires_grad or (keep and _C._reaches_other_leaf([tensor], list(leaves))):
        return tensor
    return _C._strip_history(tensor)
