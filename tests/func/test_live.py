"""Transforms on PyTorch and on retrograd side by side: every nesting to depth 3, writes in place, containers, modules."""

import warnings

import pytest

torch = pytest.importorskip("torch")

import retrograd  # noqa: E402
import retrograd.func  # noqa: E402
import retrograd.nn  # noqa: E402
from retrograd.utils._pytree import tree_flatten  # noqa: E402
from tests.func.programs import PROGRAMS, WRITES, chains, nested, written  # noqa: E402


def numbers(engine, tree):
    return [t.detach().tolist() if isinstance(t, engine.Tensor) else t for t in tree_flatten(tree)[0]]


def compare(program):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours, theirs = program(retrograd), program(torch)
    ours_leaves, our_spec = tree_flatten(ours)
    their_leaves, their_spec = tree_flatten(theirs)
    assert our_spec == their_spec
    for a, b in zip(ours_leaves, their_leaves, strict=True):
        assert tuple(a.shape) == tuple(b.shape) and str(a.dtype) == str(b.dtype)
        assert torch.allclose(torch.tensor(a.tolist(), dtype=b.dtype).reshape(b.shape), b.detach(), rtol=1e-9, atol=1e-10)


# PyTorch's linearize runs a trace of the function, which knows nothing of what is outside.
COMPARED = [c for depth in (1, 2) for c in chains(depth) if depth == 1 or "linearize" not in c]


@pytest.mark.parametrize("chain", COMPARED, ids="-".join)
def test_nested(chain):
    compare(lambda engine: nested(engine, chain))


@pytest.mark.parametrize("first", sorted({c[0] for c in chains(1)}))
def test_nested_three_deep(first):
    for chain in chains(3):
        if chain[0] == first and "linearize" not in chain:
            compare(lambda engine, chain=chain: nested(engine, chain))


@pytest.mark.parametrize("function", WRITES, ids=lambda f: f.__name__)
def test_writes_in_place(function):
    compare(lambda engine: written(engine, function))


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name):
    compare(PROGRAMS[name])
