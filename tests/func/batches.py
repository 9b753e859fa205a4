"""Batches made of the samples of the op table: the same sample with other numbers in each example."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import optable
import retrograd
from retrograd import Tensor
from retrograd.func import vmap
from tests.ops.cases import Case, cases, specs_of
from tests.ops.harness import call, variants_of
from tests.ops.tensors import flatten, numbers, seed_of

SIZE = 3

# Results that depend on numbers, or on memory, in a way that examples of a batch cannot.
NOT_BATCHED = {
    "linspace.tensors": "fills memory from numbers; says so",
    "logspace.tensors": "fills memory from numbers; says so",
    "_nonzero": "as many rows as there are numbers",
    "nonzero": "as many rows as there are numbers",
    "argwhere": "as many rows as there are numbers",
    "_unique2": "as many as there are distinct numbers",
    "_unique_dim": "as many as there are distinct numbers",
    "_unique_consecutive": "as many as there are distinct numbers",
    "unique": "as many as there are distinct numbers",
    "unique_consecutive": "as many as there are distinct numbers",
    "masked_select": "as many as the mask picks",
    "_all_within": "one bool for the whole",
    "equal": "one bool for the whole",
    "allclose": "one bool for the whole",
    "resize": "changes memory",
    "resize_as": "changes memory",
    "set": "changes memory",
    "transpose.inplace": "changes the shape of the tensor itself",
    "t.inplace": "changes the shape of the tensor itself",
    "squeeze.inplace": "changes the shape of the tensor itself",
    "squeeze.inplace_dim": "changes the shape of the tensor itself",
    "squeeze.inplace_dims": "changes the shape of the tensor itself",
    "unsqueeze.inplace": "changes the shape of the tensor itself",
    "as_strided.inplace": "changes the shape of the tensor itself",
    "as_strided": "strides of an example mean nothing where the batch is laid out otherwise",
    "as_strided_copy": "strides of an example mean nothing where the batch is laid out otherwise",
    "as_strided_scatter": "strides of an example mean nothing where the batch is laid out otherwise",
    "repeat_interleave.Tensor": "as many as the numbers say",
    "repeat_interleave.self_Tensor": "as many as the numbers say",
    "tensor_split.tensor": "cuts where the numbers say",
    "ctc_loss.Tensor": "as many steps and labels as the numbers say",
    "gru.data": "as many steps as the numbers say",
    "lstm.data": "as many steps as the numbers say",
    "rnn_relu.data": "as many steps as the numbers say",
    "rnn_tanh.data": "as many steps as the numbers say",
    "_histogram_edges": "reads the numbers to find its edges",
    "histogram": "reads the numbers to find its edges",
    "histogramdd": "reads the numbers to find its edges",
    "bincount": "as many bins as the largest number says",
    "where.nonzero": "as many rows as there are numbers",
    "one_hot": "as many classes as the largest number says, where it is not given",
    "swapaxes_": "changes the shape of the tensor itself",
    "swapdims_": "changes the shape of the tensor itself",
    "new": "a tensor without memory of its own shape",
}  # fmt: skip


# A tensor that is not batched cannot hold a batch.
UNBATCHED_SELF = "being vmapped over but `self` not being vmapped over"
REFUSALS = (
    "which will be updated in place, were not batched",  # running statistics
    "A boolean mask picks another number of elements",
    "self.stride(-1) must be 1 to view",  # examples are apart
    "Tensor must have a last dimension with stride 1",
)


def batchable(entry: optable.Op) -> bool:
    if entry.name in NOT_BATCHED or entry.qualified in NOT_BATCHED or not entry.samples or not variants_of(entry):
        return False
    return not entry.random and entry.test.get("values") is not False


def examples(case: Case) -> list[Case]:
    """The case itself, and others with numbers of the same kind."""
    found = [case]
    for i in range(1, SIZE):
        rng = seed_of(f"example {i} {case.sample!r}")
        other = Case(case.entry, case.index, case.sample, tuple(numbers(spec, rng) for spec in specs_of(case.sample)), case.edge)
        found.append(other.as_complex() if case.complex else other)
    return found


def patterns(count: int) -> Iterator[tuple[tuple[bool, ...], int]]:
    """(which of the tensors are batched, along which dimension): all, and each alone."""
    if not count:
        return
    yield (True,) * count, 0
    yield (True,) * count, -1
    if count > 1:
        for i in range(count):
            yield tuple(i == k for k in range(count)), 0


def tensors_in(tree: Any) -> list[Tensor]:
    if isinstance(tree, Tensor):
        return [tree]
    if isinstance(tree, dict):
        tree = list(tree.values())
    return [t for item in tree for t in tensors_in(item)] if isinstance(tree, (list, tuple)) else []


def with_tensors(tree: Any, tensors: Iterator[Tensor]) -> Any:
    if isinstance(tree, Tensor):
        return next(tensors)
    if isinstance(tree, dict):
        return {k: with_tensors(v, tensors) for k, v in tree.items()}
    return type(tree)(with_tensors(v, tensors) for v in tree) if isinstance(tree, (list, tuple)) else tree


class Batched:
    """A case as a function of its tensors, with `SIZE` sets of them."""

    def __init__(self, case: Case, variant: str = "", dtype: str = "float64") -> None:
        self.case, self.variant = case, variant
        bound = [example.bind(retrograd, dtype, grad=False)[:2] for example in examples(case)]
        self.tree = bound[0]
        self.rows = [tensors_in(arguments) for arguments in bound]
        self.count = len(self.rows[0])

    def function(self, *tensors: Tensor) -> tuple[Any, ...]:
        args, kwargs = with_tensors(self.tree, iter(tensors))
        results = flatten(call(retrograd, self.case.entry, args, kwargs, self.variant))
        return tuple(r for r in results if r is not None)  # gradients that were not asked for

    def example(self, i: int, batched: tuple[bool, ...]) -> list[Tensor]:
        return [self.rows[i][k] if batched[k] else self.rows[0][k] for k in range(self.count)]

    def inputs(self, batched: tuple[bool, ...], dim: int) -> list[Tensor]:
        columns = zip(*self.rows, strict=True)
        return [retrograd.stack(column, dim) if batched[k] else column[0] for k, column in enumerate(columns)]


def outcome(function: Callable[[], Any]) -> Any:
    """The result, or the error."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return function()
    except Exception as error:
        return error


def compare(
    batch: Batched, function: Callable[..., tuple[Any, ...]], batched: tuple[bool, ...], dim: int, refusals: tuple[str, ...] = ()
) -> str:
    """Runs a function by vmap and in a loop; says what differs, or nothing. vmap may refuse in the words of `refusals`."""
    rows = [outcome(lambda i=i: function(*batch.example(i, batched))) for i in range(SIZE)]
    dims = tuple(dim if b else None for b in batched)
    together = outcome(lambda: vmap(function, in_dims=dims)(*batch.inputs(batched, dim)))
    if isinstance(together, Exception) and any(reason in str(together) for reason in (*REFUSALS, *refusals)):
        return ""
    failed = [row for row in rows if isinstance(row, Exception)]
    if failed:
        return "" if isinstance(together, Exception) else f"vmap gives a result where an example gives {failed[0]!r}"
    if isinstance(together, Exception):
        return f"vmap gives {type(together).__name__}: {str(together)[:300]}"
    for i, (result, expected) in enumerate(zip(together, zip(*rows, strict=True), strict=True)):
        if not isinstance(expected[0], Tensor):
            continue
        if result.dtype is not expected[0].dtype or tuple(result.shape[1:]) != tuple(expected[0].shape):
            return f"output {i} is {result.dtype} {tuple(result.shape)}, expected {expected[0].dtype} {(SIZE, *expected[0].shape)}"
        if not retrograd.allclose(result, retrograd.stack(expected), rtol=1e-7, atol=1e-9, equal_nan=True):
            return f"output {i} is {result}, expected {retrograd.stack(expected)}"
    return ""


def usual(entry: optable.Op) -> list[Case]:
    return cases(entry)
