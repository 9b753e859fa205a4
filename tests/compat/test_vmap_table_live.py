"""Every op of the table inside vmap, on PyTorch and on retrograd: plain, nested, and with a gradient taken inside and outside.

tests/func/test_batching_table.py compares with a loop of our own; here the oracle is PyTorch's vmap, where it has a result and where that
is what PyTorch gives in a loop.
"""

import re
import warnings

import pytest

torch = pytest.importorskip("torch")

import retrograd  # noqa: E402
from tests.func.batches import SIZE, Batched, batchable, patterns  # noqa: E402
from tests.ops.cases import cases  # noqa: E402
from tests.ops.differences import NO_DERIVATIVE, comparable  # noqa: E402
from tests.ops.harness import call, cotangent, entries, ids, report  # noqa: E402
from tests.ops.tensors import flatten  # noqa: E402

torch.set_num_threads(1)
ENTRIES = entries(lambda e: comparable(e) and batchable(e))
FORGETFUL = ("embedding_dense_backward",)  # PyTorch forgets scale_grad_by_freq in its derivative


class Run:
    """A batch of a case on one engine: the same numbers, as its tensors."""

    def __init__(self, engine, batch):
        self.engine, self.case, self.count = engine, batch.case, batch.count
        self.args, self.kwargs, _ = batch.case.bind(engine, "float64", grad=False)
        bound = [self._tensors(row) for row in batch.rows]
        self.rows = bound

    def _tensors(self, row):
        if self.engine is retrograd:
            return row
        return [torch.tensor(t.tolist(), dtype=getattr(torch, str(t.dtype).removeprefix("torch."))).reshape(tuple(t.shape)) for t in row]

    def function(self, *tensors):
        given = iter(tensors)

        def put(tree):
            if isinstance(tree, self.engine.Tensor):
                return next(given)
            if isinstance(tree, dict):
                return {k: put(v) for k, v in tree.items()}
            return type(tree)(put(v) for v in tree) if isinstance(tree, (list, tuple)) else tree

        args, kwargs = put(self.args), put(self.kwargs)
        result = call(self.engine, self.case.entry, args, kwargs)
        return tuple(t for t in flatten(result) if isinstance(t, self.engine.Tensor))

    def inputs(self, batched, dim):
        columns = zip(*self.rows, strict=True)
        return [self.engine.stack(list(column), dim) if batched[k] else column[0] for k, column in enumerate(columns)]

    def total(self, outputs):
        floats = [o for o in outputs if o.is_floating_point()]
        return sum(
            [(o * cotangent(self.engine, o, k)).sum() for k, o in enumerate(floats)], self.engine.zeros((), dtype=self.engine.float64)
        )

    def plain(self, batched, dim):
        dims = tuple(dim if b else None for b in batched)
        return self.engine.func.vmap(self.function, in_dims=dims)(*self.inputs(batched, dim))

    def nested(self, batched, dim):
        """The batch of the batch: twice the same examples."""
        dims = tuple(dim if b else None for b in batched)
        inner = self.engine.func.vmap(self.function, in_dims=dims)
        outer = tuple(0 if b else None for b in batched)
        inputs = [self.engine.stack([t, t]) if b else t for t, b in zip(self.inputs(batched, dim), batched, strict=True)]
        return self.engine.func.vmap(inner, in_dims=outer)(*inputs)

    def _wanted(self):
        return self.case.differentiable

    # The same in a loop.

    def looped(self, function, inputs, dims):
        rows = []
        for i in range(SIZE):
            rows.append(function(*[t if d is None else t.select(d, i) for t, d in zip(inputs, dims, strict=True)]))
        return tuple(self.engine.stack(column) for column in zip(*rows, strict=True))

    def in_a_loop(self, way, batched, dim):
        dims, inputs, wanted = tuple(dim if b else None for b in batched), self.inputs(batched, dim), tuple(self._wanted())
        if way == "plain":
            return self.looped(self.function, inputs, dims)
        if way == "nested":
            return tuple(self.engine.stack([t, t]) for t in self.looped(self.function, inputs, dims))
        if way == "grad_inside":
            return self.looped(self.engine.func.grad(lambda *t: self.total(self.function(*t)), argnums=wanted), inputs, dims)
        return self.engine.func.grad(lambda *t: self.total(self.looped(self.function, t, dims)), argnums=wanted)(*inputs)

    def grad_inside(self, batched, dim):
        dims = tuple(dim if b else None for b in batched)
        wanted = tuple(self._wanted())

        def gradient(*tensors):
            return self.engine.func.grad(lambda *t: self.total(self.function(*t)), argnums=wanted)(*tensors)

        return self.engine.func.vmap(gradient, in_dims=dims)(*self.inputs(batched, dim))

    def grad_outside(self, batched, dim):
        dims = tuple(dim if b else None for b in batched)
        whole = lambda *t: self.total(self.engine.func.vmap(self.function, in_dims=dims)(*t))
        return self.engine.func.grad(whole, argnums=tuple(self._wanted()))(*self.inputs(batched, dim))


def outcome(function, *args):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return function(*args)
        except Exception as error:
            return error


def difference(ours, theirs):
    if isinstance(theirs, Exception):
        return ""  # what PyTorch cannot do, the loop checks
    if isinstance(ours, Exception):
        return f"{type(ours).__name__}: {str(ours)[:200]}"
    for i, (a, b) in enumerate(zip(ours, theirs, strict=True)):
        if tuple(a.shape) != tuple(b.shape) or str(a.dtype) != str(b.dtype):
            return f"output {i} is {a.dtype} {tuple(a.shape)}, expected {b.dtype} {tuple(b.shape)}"
        mine = torch.tensor(a.detach().tolist(), dtype=b.dtype).reshape(b.shape)
        if not torch.allclose(mine, b.detach(), rtol=1e-6, atol=1e-8, equal_nan=True):
            return f"output {i} is {mine}, expected {b}"
    return ""


@pytest.mark.parametrize("way", ["plain", "nested", "grad_inside", "grad_outside"])
@pytest.mark.parametrize("entry", ENTRIES, ids=ids)
def test_the_same(entry, way):
    failures = []
    if way.startswith("grad") and (entry.test.get("grad") is False or entry.name in FORGETFUL or re.fullmatch(NO_DERIVATIVE, entry.name)):
        return
    for case in cases(entry)[:6]:
        if way.startswith("grad") and not case.differentiable:
            continue
        batch = Batched(case)
        runs = Run(retrograd, batch), Run(torch, batch)
        for batched, dim in patterns(batch.count):
            ours, theirs = (outcome(getattr(run, way), batched, dim) for run in runs)
            message = difference(ours, theirs)
            if message and not difference(theirs, outcome(runs[1].in_a_loop, way, batched, dim)):
                failures.append(f"{case} batched={batched} dim={dim}: {message}")
    report(failures)
