"""Attention beyond what PyTorch can be asked: many tiles, memory, higher derivatives, transforms. Programs that both run are in tests/programs/attention.py."""

import itertools
import math

import pytest

import retrograd as torch
from retrograd.nn import functional as F
from retrograd.nn.attention import SDPBackend, sdpa_kernel
from retrograd.utils.checkpoint import checkpoint


def made(*shapes, dtype=torch.float64, grad=True):
    torch.manual_seed(0)
    return [torch.randn(s, dtype=dtype, requires_grad=grad) for s in shapes]


def in_ops(*args, **options):
    with sdpa_kernel(SDPBackend.MATH):
        return F.scaled_dot_product_attention(*args, **options)


def mask_of(kind, batch, heads, queries, keys):
    torch.manual_seed(1)
    if kind == "bool":
        mask = torch.rand(batch, 1, queries, keys) > 0.3
        mask[:, :, ::7] = False  # queries that meet nothing
        return mask
    if kind == "keys":
        return torch.rand(keys) > 0.5 if queries == 0 else (torch.rand(1, 1, 1, keys) > 0.5)
    if kind == "float":
        return torch.randn(heads, queries, keys, dtype=torch.float64)
    return None


# A tile is 128 queries, or 64 where it is causal, and 256 keys; 8 heads or more are done in one pass, fewer in two.
SHAPES = [
    (1, 2, 2, 300, 600, 8, 8),
    (3, 4, 4, 130, 257, 5, 5),
    (1, 4, 1, 129, 300, 8, 3),
    (4, 4, 2, 200, 520, 4, 6),
    (1, 1, 1, 600, 100, 2, 2),
]


@pytest.mark.parametrize("kind", ["none", "causal", "bool", "keys", "float"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_many_tiles(shape, kind):
    batch, heads, key_heads, queries, keys, width, value_width = shape
    leaves = made((batch, heads, queries, width), (batch, key_heads, keys, width), (batch, key_heads, keys, value_width))
    options = {"attn_mask": mask_of(kind, batch, heads, queries, keys), "is_causal": kind == "causal", "enable_gqa": heads != key_heads}
    results = []
    for attend in (F.scaled_dot_product_attention, in_ops):
        out = attend(*leaves, **options)
        results.append([out, *torch.autograd.grad((out * torch.linspace(-1, 1, out.numel()).reshape(out.shape)).sum(), leaves)])
    for ours, plain in zip(*results, strict=True):
        torch.testing.assert_close(ours, plain, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("needed", [n for n in itertools.product([True, False], repeat=3) if any(n)])
@pytest.mark.parametrize("heads", [2, 8])
def test_gradients_that_are_needed_alone(needed, heads):
    inputs = made((1, heads, 200, 4), (1, heads, 300, 4), (1, heads, 300, 4))
    whole = torch.autograd.grad(F.scaled_dot_product_attention(*inputs, is_causal=True).square().sum(), inputs)
    leaves = [t.detach().requires_grad_(n) for t, n in zip(inputs, needed, strict=True)]
    F.scaled_dot_product_attention(*leaves, is_causal=True).square().sum().backward()
    for leaf, grad, wanted in zip(leaves, whole, needed, strict=True):
        assert torch.equal(leaf.grad, grad) if wanted else leaf.grad is None


def test_layouts():
    """Heads as layers make them, transposed matrices, expanded batches."""
    x = made((2, 5, 3, 4, 8))[0]  # [batch, length, 3, heads, width]
    q, k, v = x.permute(2, 0, 3, 1, 4).unbind()
    out = F.scaled_dot_product_attention(q, k, v)
    assert out.transpose(1, 2).is_contiguous()
    torch.testing.assert_close(out, in_ops(q, k, v))
    torch.testing.assert_close(torch.autograd.grad(out.sum(), x)[0], torch.autograd.grad(in_ops(q, k, v).sum(), x)[0])
    columns = made((2, 4, 8, 5))[0].transpose(-2, -1)
    shared = made((1, 4, 6, 8))[0].expand(2, -1, -1, -1)
    row = made((2, 4, 1, 8))[0].expand(-1, -1, 6, -1)
    torch.testing.assert_close(F.scaled_dot_product_attention(columns, shared, row), in_ops(columns, shared, row))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_narrow_floats_are_rounded_once(dtype):
    q, k, v = (t.to(dtype) for t in made((1, 2, 150, 16), (1, 2, 300, 16), (1, 2, 300, 16), grad=False))
    exact = F.scaled_dot_product_attention(q.double(), k.double(), v.double())
    out = F.scaled_dot_product_attention(q, k, v)
    torch.testing.assert_close(out, exact.to(dtype), rtol=torch.finfo(dtype).eps, atol=1e-6)


def test_same_bits_on_any_number_of_threads():
    leaves = made((2, 3, 300, 32), (2, 3, 400, 32), (2, 3, 400, 32), dtype=torch.float32)
    before, found = torch.get_num_threads(), []
    try:
        for threads in (1, 2, 3):
            torch.set_num_threads(threads)
            out = F.scaled_dot_product_attention(*leaves, is_causal=True)
            found.append([out.detach(), *torch.autograd.grad(out.square().sum(), leaves)])
    finally:
        torch.set_num_threads(before)
    assert all(torch.equal(a, b) for other in found[1:] for a, b in zip(found[0], other, strict=True))


def test_memory_is_linear_in_the_length():
    """All pairs of 2048 would be 16 MB a head; a tensor of the inputs' size is 131 KB."""
    leaves = made((1, 2, 2048, 8), (1, 2, 2048, 8), (1, 2, 2048, 8), dtype=torch.float32)
    kept = []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: kept.append(t.numel()) or t, lambda t: t):
        F.scaled_dot_product_attention(*leaves, is_causal=True).sum().backward()
    assert 0 < sum(kept) <= 5 * leaves[0].numel()
    for leaf in leaves:
        leaf.grad = None
    before = torch.memory_allocated()
    torch.reset_peak_memory_stats()
    F.scaled_dot_product_attention(*leaves, is_causal=True).sum().backward()
    assert torch.max_memory_allocated() - before <= 8 * 4 * leaves[0].numel()


def test_memory_of_second_derivatives_is_linear_in_the_length():
    """All pairs of 4096 would be 67 MB; some queries at a time with all keys are 4 MB for each of what is computed with them."""
    leaves = made((1, 1, 4096, 4), (1, 1, 4096, 4), (1, 1, 4096, 4), dtype=torch.float32)

    def run():
        out = F.scaled_dot_product_attention(*leaves, is_causal=True)
        first = torch.autograd.grad(out.square().sum(), leaves, create_graph=True)
        return torch.autograd.grad(sum(g.square().sum() for g in first), leaves)

    before = torch.memory_allocated()
    torch.reset_peak_memory_stats()
    found = run()
    assert torch.max_memory_allocated() - before <= 12 * 4 * 2**20
    with sdpa_kernel(SDPBackend.MATH):
        expected = run()
    torch.testing.assert_close(found, expected, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("shape", [(1, 2, 1024, 1024), (1, 1024), (2, 2, 1, 1024)])
def test_gradient_of_a_mask_in_pieces(shape):
    """More pairs than are in memory at a time."""
    q, k, v = made((2, 2, 1024, 4), (2, 2, 1024, 4), (2, 2, 1024, 4), dtype=torch.float32, grad=False)
    mask = torch.randn(shape, requires_grad=True)
    (found,) = torch.autograd.grad(F.scaled_dot_product_attention(q, k, v, mask).square().sum(), mask)
    (expected,) = torch.autograd.grad(in_ops(q, k, v, mask).square().sum(), mask)
    torch.testing.assert_close(found, expected, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("kind", ["none", "causal", "bool", "float"])
def test_higher_derivatives(kind):
    leaves = made((1, 4, 3, 2), (1, 2, 4, 2), (1, 2, 4, 3))
    mask = mask_of(kind, 1, 4, 3, 4)
    if kind == "float":
        leaves.append(mask.requires_grad_())

    def attend(q, k, v, float_mask=None):
        return F.scaled_dot_product_attention(q, k, v, float_mask if kind == "float" else mask, is_causal=kind == "causal", enable_gqa=True)

    assert torch.autograd.gradcheck(attend, leaves, check_forward_ad=True)
    assert torch.autograd.gradgradcheck(attend, leaves)


def test_transforms():
    q, k, v = made((3, 2, 2, 4, 8), (3, 2, 2, 5, 8), (2, 2, 5, 8), grad=False)
    mask = torch.rand(3, 2, 1, 4, 5) > 0.3
    attend = F.scaled_dot_product_attention
    one_by_one = torch.stack([attend(q[i], k[i], v, mask[i]) for i in range(3)])
    torch.testing.assert_close(torch.func.vmap(attend, (0, 0, None, 0))(q, k, v, mask), one_by_one)
    torch.testing.assert_close(torch.func.vmap(lambda q, k: attend(q, k, v, mask[0, 0]))(q, k)[1], attend(q[1], k[1], v, mask[0, 0]))

    def loss(q, k, v):
        return attend(q, k, v, is_causal=True).square().sum()

    grads = torch.func.vmap(torch.func.grad(loss, (0, 1, 2)), (0, 0, None))(q, k, v)
    for i in range(3):
        for whole, one in zip(grads, torch.func.grad(loss, (0, 1, 2))(q[i], k[i], v), strict=True):
            torch.testing.assert_close(whole[i], one)
    direction = torch.randn_like(q[0])
    _, tangent = torch.func.jvp(lambda q: loss(q, k[0], v), (q[0],), (direction,))
    torch.testing.assert_close(tangent, (torch.func.grad(loss)(q[0], k[0], v) * direction).sum())


def test_meta():
    q, k, v = (torch.empty(s, device="meta", requires_grad=True) for s in ((2, 4, 6, 8), (2, 2, 5, 8), (2, 2, 5, 8)))
    out = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
    out.sum().backward()
    assert out.shape == q.shape
    assert (q.grad.shape, k.grad.shape, v.grad.shape) == (q.shape, k.shape, v.shape)
    m = torch.nn.TransformerEncoder(torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, device="meta"), 2)
    assert m(q[0], src_key_padding_mask=torch.zeros(4, 6, dtype=torch.bool, device="meta")).shape == (4, 6, 8)


@pytest.mark.parametrize("use_reentrant", [True, False])
@pytest.mark.parametrize("p", [0.0, 0.5])
def test_checkpointed(use_reentrant, p):
    leaves, found = made((2, 4, 5, 8), (2, 4, 6, 8), (2, 4, 6, 8)), []

    def attend(q, k, v):
        return F.scaled_dot_product_attention(q, k, v, dropout_p=p)

    for run in (lambda *args: checkpoint(attend, *args, use_reentrant=use_reentrant), attend):
        torch.manual_seed(3)
        found.append(torch.autograd.grad(run(*leaves).square().sum(), leaves) if not use_reentrant else _backward(run(*leaves), leaves))
    for a, b in zip(*found, strict=True):
        assert torch.equal(a, b)


def _backward(out, leaves):
    out.square().sum().backward()
    grads = [leaf.grad for leaf in leaves]
    for leaf in leaves:
        leaf.grad = None
    return grads


def test_numbers_that_are_none():
    """nan spreads to the queries that meet it, and no further."""
    q, k, v = made((1, 1, 3, 2), (1, 1, 3, 2), (1, 1, 3, 2), grad=False)
    k[0, 0, 2] = math.nan
    out = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    assert out[0, 0, :2].isfinite().all()
    assert out[0, 0, 2].isnan().all()


def test_names_of_modules():
    assert torch.nn.MultiheadAttention.__module__ == "retrograd.nn.modules.activation"
    assert torch.nn.Transformer.__module__ == "retrograd.nn.modules.transformer"
