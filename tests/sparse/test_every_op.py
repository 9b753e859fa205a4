"""Every op of the table with a sparse tensor in the place of each of its tensors: it gives what it gives for the dense one, or it says that it does not
take sparse tensors. Nothing is ever computed from the tensor without memory that a sparse one is to C++."""

import warnings

import pytest

import optable
import retrograd as torch
from tests.ops.cases import Case, cases
from tests.ops.harness import bound, entries, variants_of
from tests.ops.tensors import flatten

# What may be said to somebody who hands over a sparse tensor. An error of the package's own code (KeyError, AttributeError) is none of them.
REFUSALS = (NotImplementedError, RuntimeError, TypeError, IndexError, ValueError)


def stored(dense, layout):
    """A sparse tensor that has every element, zeros too, so that any op that takes it gives what it gives for the dense one."""
    indices = torch.ones(dense.shape).nonzero().t()
    made = torch.sparse_coo_tensor(indices, dense[tuple(indices)], tuple(dense.shape), is_coalesced=True)
    return made if layout == "coo" else made.to_sparse_csr()


def as_dense(value):
    return [t.to_dense() if isinstance(t, torch.Tensor) else t for t in flatten(value)]


def replaced(tree, wanted, layout, counter):
    if isinstance(tree, torch.Tensor):
        here = next(counter) == wanted
        return stored(tree, layout) if here else tree.clone()
    if isinstance(tree, (list, tuple)):
        return type(tree)(replaced(item, wanted, layout, counter) for item in tree)
    if isinstance(tree, dict):
        return {key: replaced(item, wanted, layout, counter) for key, item in tree.items()}
    return tree


def counted():
    n = -1
    while True:
        n += 1
        yield n


def outcome(entry, variant, args, kwargs):
    if entry.random:
        torch.manual_seed(0)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return as_dense(bound(torch, entry, variant)(*args, **kwargs))
    except Exception as error:  # the caller looks at what kind it is
        return error


@pytest.mark.parametrize("family", optable.FAMILIES)
@pytest.mark.parametrize("layout", ["coo", "csr"])
def test_op_on_a_sparse_tensor(family, layout):
    problems, taken = [], 0
    for entry in (e for e in entries() if e.family == family):
        for case in cases(entry)[:3]:
            taken += check(case, layout, problems)
    assert not problems, "\n".join(problems[:20])
    if family in ("pointwise", "reduce", "shape", "linalg"):
        assert taken, f"no op of {family} took a sparse tensor"


def check(case: Case, layout: str, problems: list[str]) -> int:
    args, kwargs, _ = case.bind(torch, "float32", grad=False)
    taken = 0
    tensors = [t for t in flatten((args, list(kwargs.values()))) if isinstance(t, torch.Tensor)]
    for wanted, tensor in enumerate(tensors):
        if (tensor.dim() != 2 if layout == "csr" else tensor.dim() == 0) or tensor.numel() > 4096:
            continue
        for variant in variants_of(case.entry):
            counter = counted()
            given = replaced((list(args), kwargs), wanted, layout, counter)
            sparse = outcome(case.entry, variant, *given)
            if isinstance(sparse, Exception):
                if not isinstance(sparse, REFUSALS) or "meta" in str(sparse).lower():
                    problems.append(f"{case} {variant}, tensor {wanted}: {type(sparse).__name__}: {sparse}")
                continue
            taken += 1
            dense = outcome(case.entry, variant, *replaced((list(args), kwargs), -1, layout, counted()))
            if isinstance(dense, Exception):
                problems.append(f"{case} {variant}, tensor {wanted}: taken, but the dense one is refused: {dense}")
                continue
            for a, b in zip(sparse, dense, strict=True) if not case.entry.uninitialized else ():
                same = torch.allclose(a, b, equal_nan=True) if isinstance(b, torch.Tensor) and b.is_floating_point() else _equal(a, b)
                if isinstance(a, torch.Tensor) and (a.is_meta or a.shape != b.shape or a.dtype != b.dtype or not same):
                    problems.append(f"{case} {variant}, tensor {wanted}: {a} where the dense one gives {b}")
    return taken


def _equal(a, b):
    return torch.equal(a, b) if isinstance(b, torch.Tensor) else a == b
