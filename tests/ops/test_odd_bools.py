"""A bool may be any byte in memory: bytes seen as bools, masks from elsewhere, memory that nobody has set. All but 0 are true, for every op."""

import pytest

import retrograd as torch
from tests.ops.cases import cases, fits
from tests.ops.harness import call, entries, ids, report
from tests.ops.tensors import flatten


def odd(t):
    """The same bools in bytes that are neither 0 nor 1."""
    bytes_ = t.to(torch.uint8) * torch.tensor([190, 2, 255, 128, 1], dtype=torch.uint8)[torch.arange(t.numel()) % 5].reshape(t.shape)
    return bytes_.view(torch.bool)


def replaced(tree, f):
    if isinstance(tree, torch.Tensor):
        return f(tree) if tree.dtype == torch.bool else tree
    if isinstance(tree, (list, tuple)):
        return type(tree)(replaced(item, f) for item in tree)
    return {k: replaced(v, f) for k, v in tree.items()} if isinstance(tree, dict) else tree


def shown(value):
    return [v.tolist() if isinstance(v, torch.Tensor) else v for v in flatten(value)]


def outcome(entry, args, kwargs):
    torch.manual_seed(0)
    try:
        with torch.no_grad():
            result = call(torch, entry, args, kwargs)
        return shown(result), shown([a for a in (*args, *kwargs.values()) if isinstance(a, torch.Tensor)])
    except (RuntimeError, TypeError, ValueError, IndexError, NotImplementedError) as error:
        return type(error).__name__


def same(a, b):
    return a == b or repr(a) == repr(b)  # the second for nan


def shows_bytes(entry):
    """The bytes as they are, or memory that nobody has set."""
    return entry.qualified in ("view.dtype", "view_copy.dtype") or "empty" in entry.name


@pytest.mark.parametrize("entry", entries(lambda e: not shows_bytes(e)), ids=ids)
def test_as_with_clean_ones(entry):
    failures = []
    for case in cases(entry):
        for dtype in ("bool", "float64"):  # all tensors that may be, or those that are masks
            if case.complex or not fits(case, dtype):
                continue
            args, kwargs, _ = case.bind(torch, dtype)
            if not any(isinstance(t, torch.Tensor) and t.dtype == torch.bool for t in flatten((args, kwargs))):
                continue
            clean = outcome(entry, args, kwargs)
            args, kwargs, _ = case.bind(torch, dtype)
            if not same(clean, found := outcome(entry, replaced(args, odd), replaced(kwargs, odd))):
                failures.append(f"{case} in {dtype}: {found}, not {clean}")
    report(failures)


CLEAN = [True, True, False, True, True, True]
USES = {
    "index": lambda x, b: x[b],
    "index with more": lambda x, b: x.reshape(6, 1)[b, 0],
    "assignment": lambda x, b: x.__setitem__(b, 5.0) or x,
    "assignment of several": lambda x, b: x.__setitem__(b, torch.arange(5.0)) or x,
    "tolist": lambda x, b: b.tolist(),
    "item": lambda x, b: [b[1].item(), bool(b[1]), int(b[1]), float(b[4])],
    "fill": lambda x, b: x.fill_(b[1]),
    "full": lambda x, b: torch.full((2,), b[1]),
    "repr": lambda x, b: repr(b),
    "numbers": lambda x, b: b * 3 + 1,
    "tensor of": lambda x, b: torch.tensor([b[1], b[2]], dtype=torch.float32),
    "unique": lambda x, b: torch.unique(b, return_counts=True)[1],
    "copies": lambda x, b: [b.clone().int(), b.flip(0).float(), b.reshape(2, 3).t().contiguous().double(), torch.cat([b, x])],
    "conversions": lambda x, b: [b.to(dtype) for dtype in (torch.uint8, torch.int8, torch.int16, torch.half, torch.bfloat16, torch.complex64)],
    "long": lambda x, b: [b.repeat(400).sum(), b.repeat(400).nonzero(), x.repeat(400)[b.repeat(400)], b.repeat(400).to(torch.float64)],
}  # fmt: skip


@pytest.mark.parametrize("use", USES.values(), ids=USES.keys())
def test_uses(use):
    found = use(torch.arange(6.0), torch.tensor([2, 190, 0, 1, 255, 128], dtype=torch.uint8).view(torch.bool))
    assert shown([found]) == shown([use(torch.arange(6.0), torch.tensor(CLEAN))])


def test_bytes_are_not_changed():
    memory = torch.tensor([2, 190, 0], dtype=torch.uint8)
    view = memory.view(torch.bool)
    assert view.sum().item() == 2 and view.nonzero().tolist() == [[0], [1]]
    assert memory.tolist() == [2, 190, 0]
