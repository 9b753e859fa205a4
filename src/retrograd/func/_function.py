"""autograd.Function inside vmap: by its own rule, or by running forward and backward on batched tensors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from retrograd import _C
from retrograd._C import Tensor
from retrograd.autograd.function import Function
from retrograd.func._batching import Batch
from retrograd.func._vmap import batch_level
from retrograd.utils._pytree import _broadcast_to_and_flatten, tree_flatten, tree_structure, tree_unflatten

_ops = _C._ops


class VmapInfo(NamedTuple):
    """What the vmap staticmethod of a Function is told: the size of the batch, and the randomness that vmap was given."""

    batch_size: int
    randomness: str


def forward_batched(cls: Any, batch: Batch, args: tuple[Any, ...]) -> Any:
    """The outputs of a Function for arguments that are batched at a level. Runs below that level."""
    own_rule = cls.vmap is not Function.vmap
    if cls.generate_vmap_rule and own_rule:
        raise RuntimeError(
            f"You tried to vmap over {cls.__name__}, but it has both generate_vmap_rule=True and an overridden vmap staticmethod. Which of "
            "the two is meant? Drop one of them."
        )
    if not cls.generate_vmap_rule and not own_rule:
        raise RuntimeError(
            f"You tried to vmap over {cls.__name__}, but it does not have vmap support. Give it a vmap staticmethod, or set "
            "generate_vmap_rule=True if all it does can be batched."
        )
    leaves, spec = tree_flatten(args)
    pairs = [batch.open(leaf) for leaf in leaves]
    values, flags = [p[0] for p in pairs], [p[1] for p in pairs]
    if any(flags) and own_rule:
        return _by_own_rule(cls, batch, values, flags, spec)
    if any(flags):
        run = _Run(cls, batch, flags, spec)
        results = _Vmapped.apply(run, *values)
        out_flags = run.out_flags
    else:
        results = cls.apply(*tree_unflatten(values, spec))
        out_flags = [False] * (len(results) if isinstance(results, tuple) else 1)
    many = isinstance(results, tuple)
    items = results if many else (results,)
    inputs = {id(value): leaf for value, leaf in zip(values, leaves, strict=True)}
    closed = tuple([inputs[id(r)] if id(r) in inputs else batch.close(r, 0 if f else None) for r, f in zip(items, out_flags, strict=True)])
    return closed if many else closed[0]


def _by_own_rule(cls: Any, batch: Batch, values: list[Any], flags: list[bool], spec: Any) -> Any:
    in_dims = tree_unflatten([0 if f else None for f in flags], spec)
    result = cls.vmap(VmapInfo(batch.size, batch.randomness), in_dims, *tree_unflatten(values, spec))
    expected = "Expected the vmap staticmethod to have two returns, an output and out_dims of its structure. "
    if not isinstance(result, tuple):
        raise RuntimeError(f"{expected}Got a {type(result)} instead")
    if len(result) != 2:
        raise RuntimeError(f"{expected}Got {len(result)} returns instead")
    output, out_dims = result
    leaves, out_spec = tree_flatten(output)
    dims = _broadcast_to_and_flatten(out_dims, out_spec)
    if dims is None:
        raise RuntimeError(
            f"The autograd.Function's vmap staticmethod returned an incompatible (output, out_dims) tuple: out_dims={out_dims} has "
            f"structure {tree_structure(out_dims)} but output has structure {out_spec}."
        )
    return tree_unflatten([_placed(batch, leaf, dim) for leaf, dim in zip(leaves, dims, strict=True)], out_spec)


def _placed(batch: Batch, leaf: Any, dim: int | None) -> Any:
    if not isinstance(leaf, Tensor) or dim is None:
        return batch.close(leaf, None) if isinstance(leaf, Tensor) else leaf
    return batch.close(leaf.movedim(dim, 0) if dim else leaf)


# -- generate_vmap_rule ---------------------------------------------------------------------------
#
# The batch of a Function is a Function of whole batches, whose forward and backward enter a vmap level and run the ones of the
# original on examples. So the derivative outside of vmap is the one that the original defines, not that of the ops in its forward.


class _Run:
    """One call of a Function on a batch: which arguments, results and saved tensors have the batch at dimension 0."""

    def __init__(self, cls: Any, batch: Batch, flags: list[bool], spec: Any) -> None:
        self.cls, self.spec, self.flags = cls, spec, flags
        self.size, self.randomness = batch.size, batch.randomness
        self.out_flags: list[bool] = []
        self.many = False

    def forward(self, values: Sequence[Any]) -> Any:
        with batch_level(self.size, self.randomness) as batch:
            outputs = self.cls.forward(*self.arguments(batch, values))
            self.many = isinstance(outputs, tuple)
            pairs = [batch.open(o) for o in (outputs if self.many else (outputs,))]
        self.out_flags = [p[1] for p in pairs]
        results = tuple([p[0] for p in pairs])
        return results if self.many else results[0]

    def arguments(self, batch: Batch, values: Sequence[Any]) -> Any:
        return tree_unflatten(_entered(batch, values, self.flags), self.spec)

    def setup(self, ctx: Any, values: Sequence[Any], output: Any) -> None:
        with batch_level(self.size, self.randomness) as batch:
            inner = ctx.inner = _Context(batch, ctx)
            outputs = _entered(batch, output if self.many else (output,), self.out_flags)
            self.cls.setup_context(inner, self.arguments(batch, values), tuple(outputs) if self.many else outputs[0])
            inner.finish()

    def backward(self, ctx: Any, grads: Sequence[Any]) -> list[Any]:
        with batch_level(self.size, self.randomness) as batch, ctx.inner.lent(batch, ctx.saved_tensors):
            found = self.cls._backward_by_hand(ctx.inner, _entered(batch, grads, self.out_flags))
            found = list(found) if isinstance(found, tuple) else [found]
            while len(found) > len(self.flags) and found[-1] is None:
                found.pop()
            if len(found) != len(self.flags):
                return found  # says how many are missing
            return [
                None if g is None else self.gradient(batch, g, flag, shape)
                for g, flag, shape in zip(found, self.flags, ctx.shapes, strict=True)
            ]

    def gradient(self, batch: Batch, grad: Tensor, flag: bool, shape: Any) -> Tensor:
        """The gradient of an argument: summed over the batch where all examples share it."""
        example = shape[1:] if flag else shape
        if tuple(grad.shape) != tuple(example):
            grad = _ops._sum_to(grad, tuple(example))
        value, batched = batch.open(grad)
        if flag:
            return batch.full(value, batched)
        return value.sum(0) if batched else value * self.size

    def jvp(self, ctx: Any, tangents: Sequence[Any]) -> Any:
        with batch_level(self.size, self.randomness) as batch, ctx.inner.lent(batch, ctx.saved_tensors, forward=True):
            found = self.cls.jvp(ctx.inner, *_entered(batch, tangents, self.flags))
            items = found if isinstance(found, tuple) else (found,)
            pairs = [(*batch.open(t), f) for t, f in zip(items, self.out_flags, strict=True)]
            results = tuple([batch.full(v, b) if f and isinstance(v, Tensor) else v for v, b, f in pairs])
        return results if isinstance(found, tuple) else results[0]


def _entered(batch: Batch, values: Sequence[Any], flags: Sequence[bool]) -> list[Any]:
    """Whole batches as examples of a level."""
    return [batch.close(v) if f and isinstance(v, Tensor) else v for v, f in zip(values, flags, strict=True)]


class _Context:
    """The ctx that the original Function sees: the real one behind it keeps whole batches."""

    def __init__(self, batch: Batch, ctx: Any) -> None:
        self._batch: Any = batch  # both while setup_context runs
        self._ctx: Any = ctx
        self._saved: tuple[Any, ...] = ()
        self._for_forward: tuple[Any, ...] = ()
        self._flags: list[bool] = []
        self._forward_flags: list[bool] = []
        self.saved_tensors: tuple[Any, ...] = ()  # while backward or jvp runs
        self.needs_input_grad: tuple[bool, ...] = ctx.needs_input_grad[1:]

    def save_for_backward(self, *tensors: Any) -> None:
        self._saved = tensors

    def save_for_forward(self, *tensors: Any) -> None:
        self._for_forward = tensors

    def mark_dirty(self, *tensors: Any) -> None:
        self._ctx.mark_dirty(*(self._batch.open(t)[0] for t in tensors))

    def mark_non_differentiable(self, *tensors: Any) -> None:
        self._ctx.mark_non_differentiable(*(self._batch.open(t)[0] for t in tensors))

    def mark_shared_storage(self, *pairs: Any) -> None:
        """Accepted for PyTorch's sake, as on any ctx."""

    def set_materialize_grads(self, value: bool) -> None:
        self._ctx.set_materialize_grads(value)

    def finish(self) -> None:
        """After setup_context: what was saved goes to the real ctx."""
        self._flags = self._keep(self._saved, self._ctx.save_for_backward)
        self._forward_flags = self._keep(self._for_forward, self._ctx.save_for_forward)
        self._saved, self._for_forward, self._batch, self._ctx = (), (), None, None

    def _keep(self, tensors: Sequence[Any], save: Any) -> list[bool]:
        pairs = [self._batch.open(t) for t in tensors]
        save(*(p[0] for p in pairs))
        return [p[1] for p in pairs]

    @contextmanager
    def lent(self, batch: Batch, saved: Sequence[Any], forward: bool = False) -> Iterator[None]:
        """Has the saved tensors, as examples of the level that runs, until the end of the block."""
        self.saved_tensors = tuple(_entered(batch, saved, self._forward_flags if forward else self._flags))
        try:
            yield
        finally:
            self.saved_tensors = ()


class _Vmapped(Function):
    """A Function on a whole batch: its first argument says which, and how."""

    generate_vmap_rule = True

    @staticmethod
    def forward(run: _Run, *values: Any) -> Any:
        return run.forward(values)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        run, *values = inputs
        ctx.run = run
        ctx.shapes = [tuple(v.shape) if isinstance(v, Tensor) else () for v in values]
        run.setup(ctx, values, output)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        return (None, *ctx.run.backward(ctx, grads))

    @staticmethod
    def jvp(ctx: Any, _: Any, *tangents: Any) -> Any:
        return ctx.run.jvp(ctx, tangents)
