"""flex_attention with functions of scores and masks, and BlockMask. PyTorch has no derivatives of it on the CPU: tests/nn/test_flex_attention.py."""

from importlib import import_module


def _of(torch):
    flex = import_module(f"{torch.__name__}.nn.attention.flex_attention")
    torch.manual_seed(0)
    return flex, *(torch.randn(2, 2, 6, 4, dtype=torch.float64) for _ in range(3))


def _causal(b, h, q, k):
    return q >= k


def _window(b, h, q, k):
    return (q - k).abs() <= 2


def plain(torch, F, show):
    flex, q, k, v = _of(torch)
    out = flex.flex_attention(q, k, v)
    show(torch.allclose(out, F.scaled_dot_product_attention(q, k, v)), out.sum())
    show(flex.flex_attention(q, k, v, scale=0.3).sum())


def scores_changed(torch, show):
    flex, q, k, v = _of(torch)
    slopes = torch.tensor([0.5, 0.25], dtype=torch.float64)
    out = flex.flex_attention(q, k, v, score_mod=lambda score, b, h, i, j: score + slopes[h] * (j - i) - 0.1 * b)
    show(out[0, 1, 2], out[1, 0, 5])
    out = flex.flex_attention(q, k, v, score_mod=lambda score, b, h, i, j: torch.where(i >= j, score, -float("inf")))
    show(out[0, 0, 0] - v[0, 0, 0], out[1, 1, 3])


def masks(torch, show):
    flex, q, k, v = _of(torch)
    for mod in (_causal, _window, flex.and_masks(_causal, _window), flex.or_masks(_causal, _window), flex.noop_mask):
        mask = flex.create_block_mask(mod, 1, 1, 6, 6, device="cpu", BLOCK_SIZE=2)
        show(flex.flex_attention(q, k, v, block_mask=mask)[1, 1, 4], mask.to_dense().flatten().tolist(), mask.sparsity())
        show(flex.create_mask(mod, 1, 1, 6, 6, device="cpu").int().sum())


def logarithms_of_sums(torch, show):
    flex, q, k, v = _of(torch)
    mask = flex.create_block_mask(_causal, None, None, 6, 6, device="cpu")
    _, lse = flex.flex_attention(q, k, v, score_mod=lambda s, b, h, i, j: s * 0.5 + (i - j) * 0.01, block_mask=mask, return_lse=True)
    show(lse[0, 0])


def groups_of_heads(torch, show, attempt):
    flex, q, k, v = _of(torch)
    show(flex.flex_attention(q, k[:, :1], v[:, :1], enable_gqa=True)[1, 1, 0])
    attempt(lambda: flex.flex_attention(q, k[:, :1], v[:, :1]))


def rows_without_keys(torch, show):
    flex, q, k, v = _of(torch)
    mask = flex.create_block_mask(lambda b, h, i, j: i > j, 1, 1, 6, 6, device="cpu", BLOCK_SIZE=3)
    show(flex.flex_attention(q, k, v, block_mask=mask)[0, 0, :2])


def block_masks(torch, show):
    flex, *_ = _of(torch)
    mask = flex.create_block_mask(_causal, 2, 1, 7, 5, device="cpu", BLOCK_SIZE=(2, 2))
    show(mask.shape, mask.BLOCK_SIZE, mask.numel(), mask.kv_num_blocks[0, 0], mask.full_kv_num_blocks[0, 0], mask.mask_mod is _causal)
