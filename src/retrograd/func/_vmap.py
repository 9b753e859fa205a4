"""vmap: a function of one example becomes a function of a batch."""

from __future__ import annotations

import functools
import itertools
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from retrograd import _C
from retrograd._C import Tensor
from retrograd.func._batching import Batch
from retrograd.utils._pytree import _broadcast_to_and_flatten, tree_flatten, tree_structure, tree_unflatten

_ops = _C._ops
_make, _unwrap = _C._make_batched, _C._unwrap_batched
_push, _pop = _C._push_batch_handler, _C._pop_op_handler


class _Running(threading.local):
    """The vmaps that run in this thread, outermost first."""

    def __init__(self) -> None:
        self.levels: list[int] = []
        self.batches: list[Batch] = []

    def enter(self, batch: Batch) -> None:
        self.levels.append(batch.level)
        self.batches.append(batch)
        _push(batch, batch.level)

    def leave(self) -> None:
        _pop()
        self.levels.pop()
        self.batches.pop()


_running = _Running()
# A number for each call of vmap: a tensor that outlives its level is not taken for one of another.
_numbers = itertools.count(1)
_LARGEST = 0x3FFFFFFF


def current_level() -> int:
    """How many vmaps are running in this thread."""
    return len(_running.levels)


def depth_of(level: int) -> int:
    """Which of the running vmaps a level is, counted from 1, outermost first; 0 for one that is over."""
    return _running.levels.index(level) + 1 if level in _running.levels else 0


@contextmanager
def batch_level(size: int, randomness: str = "error") -> Iterator[Batch]:
    """Enters a vmap level: ops that meet a tensor that was made with `close()` of the batch run on all examples."""
    batch = Batch(next(_numbers) & _LARGEST, size, randomness)
    _running.enter(batch)
    try:
        yield batch
    finally:
        _running.leave()


@contextmanager
def surrounded(surroundings: Any) -> Iterator[None]:
    """Runs the block inside the transforms that `_C._surroundings()` noted, and inside no others: those that run now are out of sight, those that
    are over are entered once more. The second run of a checkpoint meets the tensors of the first."""
    levels, batches = _running.levels, _running.batches
    with _C._Surrounded(surroundings):
        _running.batches = [batch for batch, *_ in surroundings[1]]
        _running.levels = [batch.level for batch in _running.batches]
        try:
            yield
        finally:
            _running.levels, _running.batches = levels, batches


def vmap(
    func: Callable[..., Any],
    in_dims: Any = 0,
    out_dims: Any = 0,
    randomness: str = "error",
    *,
    chunk_size: int | None = None,
) -> Callable[..., Any]:
    """Maps a function over a dimension of its inputs, as if it were called for each slice and the results were stacked.

    Nothing is looped over: ops run on the whole batch. Transforms nest in any order, `vmap(grad(f))` gives the gradient of each example.

    Args:
        func: takes and returns tensors, or containers of them.
        in_dims: the dimension to map over for each input, None for inputs that all examples share. An int for all inputs, or a container
            of ints and None with the structure of the inputs.
        out_dims: where the batch goes in the results: an int, or a container of ints with the structure of the results. None for a
            result that does not depend on the batch.
        randomness: what random ops do: "error", "different" numbers for each example, or the "same".
        chunk_size: at most so many examples at a time, to need less memory.

    Example::

        >>> dot = retrograd.vmap(retrograd.dot)
        >>> dot(retrograd.tensor([[1.0, 2.0], [3.0, 4.0]]), retrograd.ones(2, 2))
        tensor([3., 7.])
    """
    if randomness not in ("error", "different", "same"):
        raise RuntimeError(f"Only allowed values for randomness are 'error', 'different', or 'same'. Got {randomness}")
    if chunk_size is not None and chunk_size <= 0:
        raise ValueError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")

    @functools.wraps(func)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        size, dims, leaves, spec = _inputs(func, in_dims, args)
        if chunk_size is not None:
            return _chunked(func, dims, out_dims, randomness, chunk_size, size, leaves, spec, kwargs)
        return _run(func, dims, out_dims, randomness, size, leaves, spec, kwargs)

    return wrapped


def _name(func: Any) -> str:
    return getattr(func, "__name__", None) or repr(func)


# -- inputs ---------------------------------------------------------------------------------------


def _inputs(func: Any, in_dims: Any, args: tuple[Any, ...]) -> tuple[int, list[Any], list[Any], Any]:
    """(the size of the batch, the dimension of each leaf, the leaves, their structure; None where the arguments are the leaves)."""
    if in_dims == 0 and args and type(in_dims) is int:  # one dimension for tensors of one size
        size = -1
        for arg in args:
            if not isinstance(arg, Tensor) or not arg.ndim or (size >= 0 and arg.shape[0] != size):
                break
            size = arg.shape[0]
        else:
            return size, [0] * len(args), list(args), None
    if not isinstance(in_dims, (int, tuple)):
        raise ValueError(
            f"vmap({_name(func)}, in_dims={in_dims}, ...)(<inputs>): expected `in_dims` to be int or a (potentially nested) tuple of "
            f"the structure of inputs, got: {type(in_dims)}."
        )
    if not args:
        raise ValueError(f"vmap({_name(func)})(<inputs>): got no inputs. vmap needs at least one to map over.")
    leaves, spec = tree_flatten(args)
    dims = _broadcast_to_and_flatten(in_dims, spec)
    if dims is None:
        raise ValueError(
            f"vmap({_name(func)}, in_dims={in_dims}, ...)(<inputs>): in_dims is not compatible with the structure of `inputs`. in_dims has "
            f"structure {tree_structure(in_dims)} but inputs has structure {spec}."
        )
    sizes = []
    for i, (leaf, dim) in enumerate(zip(leaves, dims, strict=True)):
        if dim is None:
            continue
        dims[i] = _checked_dim(func, in_dims, leaf, dim)
        sizes.append(leaf.shape[dim])
    if not sizes:
        raise ValueError("vmap: Expected at least one Tensor to vmap over")
    if any(n != sizes[0] for n in sizes):
        raise ValueError(
            f"vmap: Expected all tensors to have the same size in the mapped dimension, got sizes {sizes} for the mapped dimension"
        )
    return sizes[0], dims, leaves, spec


def _checked_dim(func: Any, in_dims: Any, leaf: Any, dim: Any) -> int:
    where = f"vmap({_name(func)}, in_dims={in_dims}, ...)(<inputs>): Got in_dim={dim} for"
    if not isinstance(dim, int):
        raise ValueError(f"{where} an input but in_dim must be either an integer dimension or None.")
    if not isinstance(leaf, Tensor):
        raise ValueError(
            f"{where} an input but the input is of type {type(leaf)}. We cannot vmap over non-Tensor arguments, pass None as its in_dim"
        )
    if not -leaf.ndim <= dim < leaf.ndim:
        raise ValueError(
            f"{where} some input, but that input is a Tensor of dimensionality {leaf.ndim} so expected in_dim to satisfy -{leaf.ndim} <= "
            f"in_dim < {leaf.ndim}."
        )
    return dim % leaf.ndim


# -- running --------------------------------------------------------------------------------------


def _run(
    func: Any, dims: list[Any], out_dims: Any, randomness: str, size: int, leaves: list[Any], spec: Any, kwargs: dict[str, Any]
) -> Any:
    level = next(_numbers) & _LARGEST
    batch = Batch(level, size, randomness)
    inside = [
        leaf if dim is None else _make(leaf.movedim(dim, 0) if dim else leaf, 0, level) for leaf, dim in zip(leaves, dims, strict=True)
    ]
    _running.enter(batch)
    try:
        results, out_spec = tree_flatten(func(*(inside if spec is None else tree_unflatten(inside, spec)), **kwargs))
        for i, dim in enumerate(_out_dims(func, out_dims, out_spec)):
            results[i] = _unbatched(func, batch, results[i], dim)
    finally:
        _running.leave()
    return results[0] if out_spec.is_leaf() else tree_unflatten(results, out_spec)


def _out_dims(func: Any, out_dims: Any, spec: Any) -> list[Any]:
    if isinstance(out_dims, int) or out_dims is None:
        return [out_dims] * spec.num_leaves
    dims = _broadcast_to_and_flatten(out_dims, spec)
    if any(
        not isinstance(d, int) and d is not None for d in (dims if dims is not None else [out_dims] if isinstance(out_dims, str) else [])
    ):
        raise ValueError(
            f"vmap({_name(func)}, ..., out_dims={out_dims}): `out_dims` must be an int, None or a python collection of ints that says "
            "where each output has the mapped dimension."
        )
    if dims is None and isinstance(out_dims, tuple) and len(out_dims) == 1 and spec.is_leaf():
        return [out_dims[0]]  # a tuple of one for a function that returns a tensor
    if dims is None:
        raise ValueError(
            f"vmap({_name(func)}, ..., out_dims={out_dims})(<inputs>): out_dims is not compatible with the structure of `outputs`. out_dims "
            f"has structure {tree_structure(out_dims)} but outputs has structure {spec}."
        )
    return dims


def _unbatched(func: Any, batch: Batch, result: Any, dim: int | None) -> Any:
    """A result as the caller of vmap gets it."""
    if not isinstance(result, Tensor):
        if dim is None:
            return result
        raise ValueError(
            f"vmap({_name(func)}, ...): `{_name(func)}` must only return Tensors, got type {type(result)}. Did you mean to set out_dims= to "
            "None for output?"
        )
    value, batched = batch.open(result)
    if dim is None:
        if batched:
            raise ValueError(f"vmap({_name(func)}, ...): `{_name(func)}` can not return a BatchedTensor when out_dim is None")
        return value
    value = batch.full(value, batched)
    return value.movedim(0, dim) if dim else value


# -- chunks ---------------------------------------------------------------------------------------


def _chunked(
    func: Any,
    dims: list[Any],
    out_dims: Any,
    randomness: str,
    chunk_size: int,
    size: int,
    leaves: list[Any],
    spec: Any,
    kwargs: dict[str, Any],
) -> Any:
    generator = _C.default_generator
    state = generator.get_state() if randomness == "same" else None
    parts: list[list[Any]] = []
    out_spec: Any = None
    for start in range(0, max(size, 1), chunk_size):
        count = min(chunk_size, size - start)
        if state is not None:
            generator.set_state(state)
        some = [leaf if dim is None else leaf.narrow(dim, start, count) for leaf, dim in zip(leaves, dims, strict=True)]
        part = _run(func, dims, out_dims, randomness, count, some, spec, kwargs)
        flat, out_spec = tree_flatten(part)
        parts.append(flat)
    flat_dims = _out_dims(func, out_dims, out_spec)
    return tree_unflatten([_joined([p[i] for p in parts], dim) for i, dim in enumerate(flat_dims)], out_spec)


def _joined(chunks: Sequence[Any], dim: int | None) -> Any:
    """A result that does not depend on the batch is the same in each chunk."""
    return chunks[0] if dim is None or len(chunks) == 1 else _ops.cat(list(chunks), dim)
