"""One element in the place of many, as gradients of sums are, beside tensors that have all of theirs: a quick way of its own."""

from __future__ import annotations

import numpy as np
import pytest

import retrograd as torch

BINARY = ("add", "sub", "mul", "div", "maximum", "atan2", "pow", "lt", "fmod")


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int32, torch.complex64])
@pytest.mark.parametrize("size", [(3,), (4, 4), (2, 3, 4), (1, 1), (0, 3), (700, 70)])
@pytest.mark.parametrize("name", BINARY)
def test_values_and_layouts(name, size, dtype):
    op = getattr(torch, name)
    if dtype.is_complex and name in ("maximum", "atan2", "lt", "fmod"):
        pytest.skip("complex numbers have no order")
    whole = (torch.arange(float(np.prod(size))).reshape(size) % 7 + 1).to(dtype)
    one = torch.full((), 2.0).to(dtype).expand(size)
    for a, b in ((whole, one), (one, whole), (one, one)):
        result, expected = op(a, b), op(a.contiguous(), b.contiguous())
        assert result.dtype == expected.dtype
        assert result.is_contiguous()
        torch.testing.assert_close(result, expected, rtol=0, atol=0)


def test_in_place():
    whole, one = torch.arange(6.0).reshape(2, 3), torch.tensor(2.0).expand(2, 3)
    assert whole.mul_(one).tolist() == [[0, 2, 4], [6, 8, 10]]
    with pytest.raises(RuntimeError, match="single memory location"):
        one.add_(whole)
    base = torch.ones(2, 3)
    base.add_(base[0, 0].expand(2, 3))  # of its own memory
    assert base.tolist() == [[2, 2, 2], [2, 2, 2]]


def test_three_operands():
    whole, one = torch.arange(4.0), torch.tensor(3.0).expand(4)
    assert torch.addcmul(whole, one, whole).tolist() == [0, 4, 8, 12]
    assert torch.where(whole > 1, one, whole).tolist() == [0, 1, 3, 3]
    assert torch.lerp(one, whole, 0.5).tolist() == [1.5, 2, 2.5, 3]


def test_gradients_of_sums_are_added():
    x = torch.ones(3, 3, requires_grad=True)
    for _ in range(3):
        x.sum().backward()
    assert x.grad.tolist() == [[3.0] * 3] * 3
