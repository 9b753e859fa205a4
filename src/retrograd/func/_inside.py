"""functionalize, debug_unwrap and replace_all_batch_norm_modules_: what PyTorch needs for its inside, as far as a program can tell."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from retrograd import _C
from retrograd._C import Tensor
from retrograd.utils._pytree import tree_flatten, tree_unflatten

_REMOVES = ("mutations", "mutations_and_views")


def functionalize(func: Callable[..., Any], *, remove: str = "mutations") -> Callable[..., Any]:
    """The same function as far as its caller can tell, without writes in place inside it.

    Nothing here reads a program that was made free of writes, so the function runs as it is and writes to its arguments show outside, as they
    have to. With "mutations_and_views" a result that would be a view of an argument, or of another result, is a copy.

    Args:
        remove: "mutations" or "mutations_and_views".

    Example::

        >>> double = retrograd.func.functionalize(lambda x: x.clone().mul_(2))
        >>> double(retrograd.ones(2))
        tensor([2., 2.])
    """
    if remove not in _REMOVES:
        raise RuntimeError(
            f"functionalize(f, remove='mutations'): received invalid argument for remove={remove}. Valid options are: 'mutations' and "
            "'mutations_and_views'."
        )

    @functools.wraps(func)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        output = func(*args, **kwargs)
        if remove == "mutations":
            return output
        inputs = [leaf for leaf in tree_flatten((args, kwargs))[0] if isinstance(leaf, Tensor)]
        results, spec = tree_flatten(output)
        known = {id(leaf) for leaf in inputs}
        memory = {memory_of(leaf) for leaf in inputs}
        for i, result in enumerate(results):
            if not isinstance(result, Tensor) or id(result) in known:
                continue
            if memory_of(result) in memory:
                results[i] = result.clone()
            else:
                known.add(id(result))
                memory.add(memory_of(result))
        return tree_unflatten(results, spec)

    return wrapped


def version_of(t: Tensor) -> int:
    """The version of a tensor; inference tensors, which transforms may meet, have none."""
    return 0 if t.is_inference() else t._version


def memory_of(tensor: Tensor) -> int:
    """Which memory a tensor is on, inside vmap that of the whole batch."""
    while level := _C._batch_level(tensor):
        tensor = _C._unwrap_batched(tensor, level)[0]
    return tensor._storage_info()[0]


def debug_unwrap(tensor: Tensor, *, recurse: bool = True) -> Tensor:
    """What is behind a tensor inside a transform, to look at while debugging: inside vmap the whole batch.

    Args:
        recurse: look through all transforms, not only through the innermost.

    Example::

        >>> def f(x):
        ...     print(retrograd.func.debug_unwrap(x))
        ...     return x
        >>> _ = retrograd.vmap(f)(retrograd.arange(3))
        tensor([0, 1, 2])
    """
    if not isinstance(tensor, Tensor):
        raise TypeError(f"debug_unwrap(): argument 'tensor' must be Tensor, not {type(tensor).__name__}")
    while _C._in_transform():
        level = _C._batch_level(tensor)
        if tensor.requires_grad:
            tensor = _C._strip_history(tensor)
        elif level:
            tensor = _C._unwrap_batched(tensor, level)[0]
        else:
            break
        if not recurse:
            break
    return tensor


def replace_all_batch_norm_modules_(root: Any) -> Any:
    """Makes the batch norm modules of a module, itself included, forget their running statistics, which vmap and grad cannot update.

    Returns:
        `root`.
    """
    for module in root.modules():
        if hasattr(module, "track_running_stats") and hasattr(module, "running_var"):
            module.running_mean = None
            module.running_var = None
            module.num_batches_tracked = None
            module.track_running_stats = False
    return root
