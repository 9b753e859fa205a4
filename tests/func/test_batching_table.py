"""Every op of the table on a batch: what vmap gives is what a loop over the examples gives."""

import pytest

import optable
import retrograd
from retrograd import _C
from retrograd.func import _batching, grad, vmap
from retrograd.func._batching import batching_rule
from tests.func.batches import NOT_BATCHED, UNBATCHED_SELF, Batched, batchable, compare, patterns, usual
from tests.ops.cases import all_cases
from tests.ops.harness import cotangent, ids, report, variants_of
from tests.ops.references import stored

ENTRIES = [entry for entry in optable.load() if batchable(entry)]


def failures_of(entry, cases, make=None, variants=None, dtype="float64"):
    """In place only the first tensor may be one that is not batched, and that is refused."""
    found = []
    for case in cases:
        for variant in variants or variants_of(entry)[:1]:
            batch = Batched(case, variant, dtype)
            function = batch.function if make is None else make(batch)
            refusals = (UNBATCHED_SELF,) if variant == "inplace" else ()
            for batched, dim in patterns(batch.count):
                if function is not None and (message := compare(batch, function, batched, dim, () if batched[0] else refusals)):
                    found.append(f"{case} {variant} batched={batched} dim={dim}: {message}")
    return found


@pytest.mark.parametrize("entry", ENTRIES, ids=ids)
def test_values(entry):
    # Edges of an op that only derivatives call need not make sense.
    report(failures_of(entry, usual(entry) if entry.name.startswith("_") else all_cases(entry)))


@pytest.mark.parametrize("entry", [e for e in ENTRIES if "inplace" in e.variants and f"{e.name}_" not in NOT_BATCHED], ids=ids)
def test_values_in_place(entry):
    report(failures_of(entry, usual(entry), variants=["inplace"]))


@pytest.mark.parametrize("entry", [e for e in ENTRIES if e.batching.rule == "elementwise"], ids=ids)
def test_values_of_integers(entry):
    report(failures_of(entry, usual(entry)[:3], dtype="int64"))


def weighted(batch):
    """The op as a function that gives one number: gradients of all its outputs at once."""
    wanted = batch.case.differentiable

    def function(*tensors):
        chosen = [tensors[i] for i in wanted]

        def total(*floats):
            full = list(tensors)
            for i, value in zip(wanted, floats, strict=True):
                full[i] = value
            outputs = [o for o in batch.function(*full) if isinstance(o, retrograd.Tensor) and o.requires_grad]
            products = [(o * cotangent(retrograd, o, k)).sum() for k, o in enumerate(outputs)]
            return sum([p.real for p in products], retrograd.zeros((), dtype=retrograd.float64))

        return grad(total, argnums=tuple(range(len(chosen))))(*chosen)

    return function if wanted else None


@pytest.mark.parametrize("entry", [e for e in ENTRIES if e.test.get("grad") is not False], ids=ids)
def test_gradients(entry):
    """vmap(grad(f)): derivatives run on batched tensors."""
    report(failures_of(entry, usual(entry), make=weighted))


def complex_cases(entry):
    """As complex numbers, where PyTorch takes them."""
    return [c.as_complex() for c in usual(entry) if (expected := stored(c, "complex128")) is not None and not expected.error]


COMPLEX_ENTRIES = [e for e in ENTRIES if complex_cases(e)]


@pytest.mark.parametrize("entry", COMPLEX_ENTRIES, ids=ids)
def test_complex_values(entry):
    report(failures_of(entry, complex_cases(entry)))


@pytest.mark.parametrize("entry", [e for e in COMPLEX_ENTRIES if e.test.get("grad") is not False], ids=ids)
def test_complex_gradients(entry):
    report(failures_of(entry, complex_cases(entry), make=weighted))


@pytest.mark.parametrize("name", sorted(_C._op_names()))
def test_every_op_names_a_rule_that_exists(name):
    assert callable(batching_rule(_C._find_op(name)))


def test_every_rule_serves_an_op():
    batching_rule(_C._find_op("sin"))
    assert set(_batching._rules) | set(_batching._makers) == {_C._find_op(name).batching[0] for name in _C._op_names()}


def test_vmap_of_a_sum_is_one_op():
    seen = []

    def log(op, args, kwargs):
        seen.append(op.name)
        return op(*args)

    x = retrograd.ones(4, 5)
    _C._push_op_handler(log)
    try:
        vmap(lambda x: x.sum())(x)
    finally:
        _C._pop_op_handler()
    assert seen == ["sum.dim"]
