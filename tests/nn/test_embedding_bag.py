"""embedding_bag: derivatives of any order, what is refused, and rows that are never made."""

import pytest

import retrograd as torch
from retrograd import _memory as memory
from retrograd.autograd import gradcheck, gradgradcheck

F = torch.nn.functional
WORDS, OFFSETS = torch.tensor([0, 2, 2, 5, 1]), torch.tensor([0, 2, 2, 4])


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
@pytest.mark.parametrize("padding_idx", [None, 2])
@pytest.mark.parametrize("by_count", [False, True])
def test_derivatives(mode, padding_idx, by_count):
    if mode == "max" and by_count:
        return
    table = torch.randn(6, 3, dtype=torch.float64, requires_grad=True)
    f = lambda t: F.embedding_bag(WORDS, t, OFFSETS, mode=mode, padding_idx=padding_idx)
    assert gradcheck(f, (table,), check_forward_ad=True, check_batched_grad=True)
    assert gradgradcheck(f, (table,))
    if by_count:  # not the derivative, by design: a row of it is divided
        counts = torch.tensor([1, 1, 2, 1, 1, 1]).unsqueeze(1)
        plain = torch.autograd.grad(f(table).sum(), table)[0]
        scaled = F.embedding_bag(WORDS, table, OFFSETS, mode=mode, padding_idx=padding_idx, scale_grad_by_freq=True)
        for create_graph in (False, True):
            (grad,) = torch.autograd.grad(scaled.sum(), table, create_graph=create_graph, retain_graph=True)
            torch.testing.assert_close(grad.detach(), plain / counts)


@pytest.mark.parametrize("padding_idx", [None, 2])
def test_derivatives_of_weights(padding_idx):
    table, factors = torch.randn(6, 3, dtype=torch.float64, requires_grad=True), torch.randn(5, dtype=torch.float64, requires_grad=True)
    f = lambda t, w: F.embedding_bag(WORDS, t, OFFSETS, mode="sum", per_sample_weights=w, padding_idx=padding_idx)
    assert gradcheck(f, (table, factors), check_forward_ad=True, check_batched_grad=True)
    assert gradgradcheck(f, (table, factors))


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.float16])
def test_large_tables(mode, dtype):
    """As the rows themselves, reduced; with columns beyond a block and a table that is no block of memory."""
    torch.manual_seed(0)
    table = torch.randn(600, 50).to(dtype).T.requires_grad_()
    words = torch.randint(0, 50, (400, 7))
    out = F.embedding_bag(words, table, mode=mode)
    (grad,) = torch.autograd.grad(out.double().sin().sum(), table)
    exact = table.detach().double().requires_grad_()
    rows = exact[words]
    wanted = rows.sum(1) if mode == "sum" else rows.mean(1) if mode == "mean" else rows.amax(1)
    rough = {torch.float32: 1e-5, torch.float64: 1e-12, torch.bfloat16: 3e-2, torch.float16: 3e-3}[dtype]
    torch.testing.assert_close(out.double(), wanted.detach(), rtol=rough, atol=rough)
    if dtype in (torch.float32, torch.float64) and mode != "max":
        (expected,) = torch.autograd.grad(wanted.sin().sum(), exact)
        torch.testing.assert_close(grad.double(), expected, rtol=1e-4 if dtype == torch.float32 else 1e-10, atol=rough * 10)


@pytest.mark.parametrize(
    ("offsets", "words"),
    [
        ([0, 3, 2], "offsets must not fall, but offsets\\[2\\] is 2"),
        ([0, -1], "offsets must not fall"),
        ([], "there are 5 indices, but no bag for them"),
        ([2], "offsets\\[0\\] has to be 0"),
        ([0, 6], "offsets\\[-1\\] can not be greater than input's length 5 but got offsets\\[-1\\] of 6"),
    ],
)
def test_refused_offsets(offsets, words):
    with pytest.raises(RuntimeError, match=words):
        F.embedding_bag(WORDS, torch.zeros(6, 3), torch.tensor(offsets, dtype=torch.long))


def test_refused_ends():
    for ends in ([0, 2, 4], [0, 2, 6]):
        with pytest.raises(
            RuntimeError, match="Your input appears to be incorrect: the last offset value should be the size of the indices"
        ):
            F.embedding_bag(WORDS, torch.zeros(6, 3), torch.tensor(ends), include_last_offset=True)


def test_rows_are_not_made():
    """A million words of 64 columns: what is allocated is far less than their rows."""
    table = torch.randn(100, 64, requires_grad=True)
    words = torch.randint(0, 100, (1000, 1000))
    F.embedding_bag(words[:2], table, mode="sum").sum().backward()
    memory.reset_peak_memory_stats()
    before = memory.memory_allocated()
    F.embedding_bag(words, table, mode="sum").sum().backward()
    assert memory.max_memory_allocated() - before < 64e6  # the indices thrice; the rows would be 256 MB
