"""Derivatives of flex_attention, which PyTorch has not on the CPU, and what is refused."""

import pytest

import retrograd as torch
from retrograd.nn.attention.flex_attention import AuxRequest, create_block_mask, flex_attention


def leaves(*sizes):
    torch.manual_seed(0)
    return [torch.randn(2, heads, 5, 3, dtype=torch.float64, requires_grad=True) for heads in sizes]


def test_derivatives_of_masked_and_changed_scores():
    mask = create_block_mask(lambda b, h, q, k: q >= k, None, None, 5, 5, BLOCK_SIZE=2)
    slope = torch.tensor([0.5, -0.2], dtype=torch.float64, requires_grad=True)

    def attention(q, k, v, slope):
        out, aux = flex_attention(q, k, v, lambda s, b, h, i, j: s * 0.5 + slope[h] * (i - j), mask, return_aux=AuxRequest(lse=True))
        return out, aux.lse

    assert torch.autograd.gradcheck(attention, (*leaves(2, 2, 2), slope))


def test_derivatives_where_a_row_is_empty():
    mask = create_block_mask(lambda b, h, q, k: q > k, None, None, 5, 5)
    q, k, v = leaves(2, 1, 1)
    out = flex_attention(q, k, v, block_mask=mask, enable_gqa=True)
    out.sum().backward()
    assert (out[:, :, 0] == 0).all() and all(x.grad.isfinite().all() for x in (q, k, v)) and (q.grad[:, :, 0] == 0).all()


def test_half_precision_is_computed_in_single():
    q, k, v = (x.detach() for x in leaves(2, 2, 2))
    low = flex_attention(q.bfloat16(), k.bfloat16(), v.bfloat16())
    assert low.dtype == torch.bfloat16 and torch.allclose(low.double(), flex_attention(q, k, v), atol=0.05)


def test_what_does_not_fit():
    q, k, v = leaves(2, 2, 2)
    with pytest.raises(ValueError, match="enable_gqa=True"):
        flex_attention(q, k[:, :1], v[:, :1])
    with pytest.raises(ValueError, match="same embedding dimension"):
        flex_attention(q, k[..., :2], v)
    with pytest.raises(ValueError, match="same dtype"):
        flex_attention(q, k.float(), v)
    with pytest.raises(NotImplementedError, match="4D"):
        flex_attention(q[0], k[0], v[0])
    with pytest.raises(ValueError, match="smaller length"):
        flex_attention(q, k, v, block_mask=create_block_mask(lambda b, h, i, j: i >= j, 1, 1, 4, 4))
    with pytest.raises(ValueError, match="batches and heads"):
        flex_attention(q, k, v, block_mask=create_block_mask(lambda b, h, i, j: i >= j, 1, 3, 5, 5))
